// Benchfleet has machines measure for one another. See docs/fleet.md, or run it with --help.
// benchrun fleet is the same.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/console"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command; it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	stdout, stderr = console.NewScreen(stdout), console.NewScreen(stderr)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errInterrupted):
		return 130 // as shells have it
	}
	fmt.Fprintln(stderr, "benchfleet:", err)
	return 2
}

// errInterrupted is the error of a command that was interrupted, which it has said.
var errInterrupted = errors.New("interrupted")

// common are the flags that all commands have.
type common struct {
	fleet.Options
}

func newRoot() *cobra.Command {
	c := new(common)
	root := &cobra.Command{
		Use: "benchfleet", Short: "Have machines measure for one another", SilenceErrors: true, SilenceUsage: true,
		Long: `A fleet is a server that keeps what is queued, machines that have joined it, and
people who send them jobs with benchrun run|ab|bisect|calibrate|board run --on. A job is
a plan that one machine carries out alone, with all its binaries: what is compared is never
spread over machines.`,
		Example: `  benchrun fleet serve                  # a fleet, for this user, on this machine
  benchrun fleet join                   # this machine measures for it
  benchrun run --on any                 # measured by a machine that is free
  benchrun fleet status --watch         # who measures what, and for how long still`,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if c.Home, err = fleet.Home(); err == nil && c.URL == "" {
				c.URL = os.Getenv("BENCHFLEET_SERVER")
			}
			return err
		},
	}
	root.PersistentFlags().StringVar(&c.URL, "server", "", "`URL` of the server, a NATS server of your own among them (default: $BENCHFLEET_SERVER, else that of benchfleet serve of this user)")
	root.PersistentFlags().StringVar(&c.CA, "ca", "", "`file` with the certificate of a server that is reached by TLS (default: those of the system)")
	root.AddCommand(newServe(c), newJoin(c), newStatus(c), newDrain(c), newSubmit(c), newMachines(c), newFetch(c), newCancel(c), newKey(c), newInside())
	return root
}

// connected does something with a connection to the fleet.
func connected(cmd *cobra.Command, c *common, do func(ctx context.Context, f *fleet.Client) error) error {
	f, err := fleet.Connect(c.Options)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = do(ctx, f)
	if err != nil && ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// newInside is what a job's sandbox begins with.
func newInside() *cobra.Command {
	return &cobra.Command{
		Use: fleet.InsideCommand, Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return fleet.Inside(args) },
	}
}
