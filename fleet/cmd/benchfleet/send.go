package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/runner"
)

func newSubmit(c *common) *cobra.Command {
	var on, out string
	cmd := &cobra.Command{
		Use: "submit <folder>", Short: "Send a packed job to a machine, and wait for its results", Args: cobra.ExactArgs(1),
		Long: `Submit sends the job in a folder, as benchrun run --on packs it, to one machine, says how
it gets on, and writes the results. An interrupt leaves the job in the fleet.`,
		Example: `  benchfleet submit ./job --on epyc-1 --out results.bench`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return connected(cmd, c, func(ctx context.Context, f *fleet.Client) error { return submit(ctx, cmd, f, args[0], on, out) })
		},
	}
	cmd.Flags().StringVar(&on, "on", "", "the `machine`")
	cmd.Flags().StringVar(&out, "out", "", "the new `file` for the results")
	_, _ = cmd.MarkFlagRequired("on"), cmd.MarkFlagRequired("out")
	return cmd
}

// submit sends a job, waits, and writes the results to out.
func submit(ctx context.Context, cmd *cobra.Command, f *fleet.Client, folder, machine, out string) error {
	con := console.New(cmd.ErrOrStderr(), console.Width(cmd.ErrOrStderr()))
	for times := 1; ; times++ {
		stored, id, err := submitOnce(ctx, con, f, folder, machine)
		switch {
		case err == nil:
			return fetch(ctx, f, stored, machine, out)
		case errors.Is(err, fleet.ErrForgotten) && times < mostTimes:
			fmt.Fprintf(con, "%v: it is sent again\n", err)
			continue
		case ctx.Err() != nil && id != "":
			fmt.Fprintf(con, "interrupted; %s goes on with the job. To have its results, or to end it:\n  benchrun fleet fetch %s %s\n  benchrun fleet cancel %s %s\n",
				machine, machine, id, machine, id)
		}
		return err
	}
}

// mostTimes is how often a job is sent that the fleet forgets.
const mostTimes = 3

// submitOnce sends a job, and waits until it is known what became of it. Its id is "" as long as
// it was not sent.
func submitOnce(ctx context.Context, con *console.Console, f *fleet.Client, folder, machine string) (stored *fleet.Stored, id string, err error) {
	away := false
	id, err = f.Submit(ctx, folder, machine, func(at fleet.Sending) {
		if at.Away != nil && !away {
			fmt.Fprintf(con, "the fleet is away: %v; it goes on when that is back, and an interrupt ends it\n", at.Away)
		}
		away = at.Away != nil
		con.Status(fmt.Sprintf("sending to %s: %.1f of %.1f MB", machine, float64(at.Sent)/1e6, float64(at.Of)/1e6))
	})
	con.Clear()
	if err != nil {
		return nil, "", err
	}
	fmt.Fprintf(con, "%s has job %s; benchrun fleet status shows how it gets on\n", machine, id[:12])
	stored, err = wait(ctx, con, f, machine, id)
	return stored, id, err
}

// wait waits for what becomes of a job, and says meanwhile how it gets on.
func wait(ctx context.Context, con *console.Console, f *fleet.Client, machine, id string) (stored *fleet.Stored, err error) {
	ctx, refused := context.WithCancelCause(ctx)
	defer refused(nil)
	if con.Terminal() {
		go watch(ctx, con, f, machine, id)
	}
	stored, err = f.Wait(ctx, machine, id, func(text string) {
		if why, ok := strings.CutPrefix(text, "refused: "); ok {
			refused(errors.New(why))
			return
		}
		fmt.Fprintf(con, "%s: %s\n", machine, text)
	})
	con.Clear()
	return stored, err
}

// watch shows in the status line how a job gets on.
func watch(ctx context.Context, con *console.Console, f *fleet.Client, machine, id string) {
	for ctx.Err() == nil {
		if s, err := f.Status(ctx); err == nil {
			con.Status(s.Line(machine, id))
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

// fetch writes the results of a job to out.
func fetch(ctx context.Context, f *fleet.Client, stored *fleet.Stored, machine, out string) error {
	if err := stored.Err(); err != nil {
		return fmt.Errorf("%s: %w", machine, err)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return f.Fetch(ctx, stored, out)
}

func newMachines(c *common) *cobra.Command {
	on, board, asJSON := "all", "", false
	cmd := &cobra.Command{
		Use: "machines", Short: "List the machines that a selector names", Args: cobra.NoArgs,
		Long: `A selector has terms with commas between: a name; a pattern such as 'epyc-*'; all; any, which
is one machine that is free first; or conditions with & between, such as 'arch=arm64&os=linux'
or 'any&cores=64'. Conditions ask for os, arch, cpu, cores (at least) or a label.`,
		Example: "  benchfleet machines --on 'arch=arm64'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return connected(cmd, c, func(ctx context.Context, f *fleet.Client) error {
				s, err := f.Status(ctx)
				if err != nil {
					return err
				}
				chosen, err := s.Select(on, board)
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(cmd.OutOrStdout()).Encode(plain(chosen))
				}
				for _, m := range chosen {
					fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\t%s\t%s\n", m.Name, m.Platform, console.Count(m.Cores, "core"), m.CPU)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&on, "on", on, "the `selector`")
	cmd.Flags().StringVar(&board, "board", "", "machines that are boards of this `kind`, or have one connected")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// plain is what benchrun needs to know of machines.
func plain(chosen []fleet.MachineStatus) (all []runner.Machine) {
	for _, m := range chosen {
		all = append(all, m.Machine.Machine)
	}
	return all
}

func newFetch(c *common) *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use: "fetch <machine> <job>", Short: "Wait for the results of a job, and write them", Args: cobra.ExactArgs(2),
		Example: "  benchfleet fetch epyc-1 4be02a91c7d3… --out results.bench",
		RunE: func(cmd *cobra.Command, args []string) error {
			return connected(cmd, c, func(ctx context.Context, f *fleet.Client) error {
				machine, id, err := named(args)
				if err != nil {
					return err
				}
				if out == "" {
					out = filepath.Join("results", machine, id[:12]+".bench")
				}
				con := console.New(cmd.ErrOrStderr(), console.Width(cmd.ErrOrStderr()))
				stored, err := wait(ctx, con, f, machine, id)
				if err == nil {
					err = fetch(ctx, f, stored, machine, out)
				}
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), out)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the new `file` for the results (default: results/<machine>/<job>.bench)")
	return cmd
}

// named are a machine and a job that were typed.
func named(args []string) (machine, id string, err error) {
	if err := fleet.CheckMachine(args[0]); err != nil {
		return "", "", err
	}
	return args[0], args[1], fleet.CheckJob(args[1])
}

func newCancel(c *common) *cobra.Command {
	return &cobra.Command{
		Use: "cancel <machine> <job>", Short: "End a job, or take it out of the queue", Args: cobra.ExactArgs(2),
		Example: "  benchfleet cancel epyc-1 4be02a91c7d3…",
		RunE: func(cmd *cobra.Command, args []string) error {
			return connected(cmd, c, func(ctx context.Context, f *fleet.Client) error {
				machine, id, err := named(args)
				if err != nil {
					return err
				}
				return f.Cancel(ctx, machine, id)
			})
		},
	}
}

func newDrain(c *common) *cobra.Command {
	off := false
	cmd := &cobra.Command{
		Use: "drain <machine>...", Short: "Have machines finish what they do, and take no more", Args: cobra.MinimumNArgs(1),
		Long: `A machine that is drained finishes its job and takes no other, until --off. What is queued
for it waits. It is for a machine that is to be used otherwise, or restarted.`,
		Example: "  benchfleet drain epyc-1\n  benchfleet drain --off epyc-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			return connected(cmd, c, func(ctx context.Context, f *fleet.Client) error {
				s, err := f.Status(ctx)
				if err != nil {
					return err
				}
				for _, name := range args {
					if err := s.Has(name); err != nil {
						return err
					}
					if err := f.Drain(ctx, name, !off); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "have them take jobs again")
	return cmd
}

func newStatus(c *common) *cobra.Command {
	watch, format := false, "text"
	cmd := &cobra.Command{
		Use: "status", Short: "Say who measures what, since when, and for how long still", Args: cobra.NoArgs,
		Example: "  benchfleet status --watch\n  benchfleet status --format json\n  benchfleet status --format html > status.html",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return connected(cmd, c, func(ctx context.Context, f *fleet.Client) error {
				if !watch {
					return show(ctx, cmd, f, format)
				}
				ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
				defer stop()
				for ctx.Err() == nil {
					fmt.Fprint(console.Raw(cmd.OutOrStdout()), "\x1b[H\x1b[2J")
					if err := show(ctx, cmd, f, "text"); err != nil && ctx.Err() == nil {
						return err
					}
					select {
					case <-ctx.Done():
					case <-time.After(2 * time.Second):
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it again every two seconds, until an interrupt")
	cmd.Flags().StringVar(&format, "format", format, "how to print: text, json or html")
	return cmd
}

func show(ctx context.Context, cmd *cobra.Command, f *fleet.Client, format string) error {
	s, err := f.Status(ctx)
	if err != nil {
		return err
	}
	switch format {
	case "text":
		return s.Text(cmd.OutOrStdout())
	case "json":
		return s.JSON(cmd.OutOrStdout())
	case "html":
		return s.HTML(cmd.OutOrStdout())
	}
	return fmt.Errorf("--format is %q; it must be one of text, json, html", format)
}
