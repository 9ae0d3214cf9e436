package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/boardrun"
	"github.com/dynolab/dyno/internal/report"
)

func newBoardCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "board",
		Short: "Build firmware, flash it, and measure on boards",
		Long: `Board measures on microcontrollers, through TinyGo, and on Linux boards, real and
emulated: the same implementations, workloads and clauses as here, in results
files of the same format. docs/boards.md goes from unpacking a board to the first
report.

What goes wrong with a board has a name, a hint and an exit status; of several the
status is the greatest:

` + outcomeTable("  ") + `
Errors that are not about a board have the status 2, an interrupt 130.`,
		Example: `  benchrun board list
  benchrun board build cortex-m3-qemu --parts bench
  benchrun board run linux-arm64-qemu
  benchrun board run pico --impl serial --case workload=pingpong
  benchrun board monitor pico`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			msg := fmt.Sprintf("unknown command %q of board", args[0])
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("%s; did you mean %q?", msg, near[0])
			}
			return fmt.Errorf("%s; benchrun board --help has the list", msg)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newBoardListCmd(), newBoardBuildCmd(), newBoardFlashCmd(), newBoardRunCmd(), newBoardMonitorCmd())
	return cmd
}

// outcomeTable has each outcome that is not ok with its exit status and what to do.
func outcomeTable(indent string) string {
	var b strings.Builder
	for _, o := range hw.Outcomes() {
		if o != hw.OK {
			fmt.Fprintf(&b, "%s%d  %s\n", indent, o.ExitCode(), o)
		}
	}
	return b.String()
}

// imageFlags are the flags that say what is built.
func imageFlags(cmd *cobra.Command, c *boardrun.Command, several bool) {
	f := cmd.Flags()
	what := "the `name` of the implementation (default: serial)"
	if several {
		what = "the `names` of implementations, with commas between (default: all, and one that does not fit is skipped)"
		f.Bool("all", false, "") // as before 2026-11-23: it is the default now
		_ = f.MarkHidden("all")
	}
	f.StringSliceVar(&c.Impls, "impl", nil, what)
	f.StringSliceVar(&c.Parts, "parts", nil, "the `parts` of the firmware, with commas between: "+strings.Join(hw.Parts(), ", ")+", or conform or conform/actor for all below (default: all)")
	_ = cmd.RegisterFlagCompletionFunc("parts", cobra.FixedCompletions(append(hw.Parts(), "conform", "conform/actor"), cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		boards, _ := hw.Boards()
		return boards.Names(), cobra.ShellCompDirectiveNoFileComp
	}
}

func mapFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "map", "", "the hardware map, a `file` (default: "+hw.DefaultMap+" in the working directory, if it is there)")
	_ = cmd.MarkFlagFilename("map", "yaml", "yml")
}

func boardFormatFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", "how to print: text, json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// needBoard is the argument check of commands that take boards.
func needBoard(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s needs the name of a board; benchrun board list has them", strings.TrimPrefix(cmd.CommandPath(), "benchrun "))
		case most > 0 && len(args) > most:
			return fmt.Errorf("%s takes one board, and these are %d", strings.TrimPrefix(cmd.CommandPath(), "benchrun "), len(args))
		}
		return nil
	}
}

// onBoards has do done with the boards that are named. The command ends with the status of
// the outcome, if it has one.
func onBoards(cmd *cobra.Command, c *boardrun.Command, names []string, do func() error) error {
	c.Boards, c.Con, c.Out = names, consoleOf(cmd), cmd.OutOrStdout()
	c.Text = report.TextOptions{Color: wantsColor(c.Out)}
	o, err := boardrun.Tell(c.Con, do())
	if o != hw.OK {
		return exitError(o.ExitCode())
	}
	return err
}
