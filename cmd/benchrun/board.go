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
	cmd := newCommand("board", func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		msg := fmt.Sprintf("unknown command %q of board", args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return fmt.Errorf("%s; did you mean %q?", msg, near[0])
		}
		return fmt.Errorf("%s; benchrun board --help has the list", msg)
	}
	cmd.SuggestionsMinimumDistance = 2
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

// newImageCommand is newCommand for one that builds images of c, for several boards or one.
func newImageCommand(name string, c *boardrun.Command, several bool, run func(cmd *cobra.Command) error, more fields) *cobra.Command {
	cmd := newCommand(name, func(cmd *cobra.Command, args []string) error {
		c.Boards, c.Con, c.Out = args, consoleOf(cmd), cmd.OutOrStdout()
		c.Text = report.TextOptions{Color: wantsColor(c.Out)}
		o, err := boardrun.Tell(c.Con, run(cmd))
		if o != hw.OK {
			return exitError(o.ExitCode())
		}
		return err
	}, fields{"impl": &c.Impls, "parts": &c.Parts, "map": &c.Map}, more)
	if several {
		cmd.Flags().Bool("all", false, "") // as before 2026-11-23: it is the default now
		_ = cmd.Flags().MarkHidden("all")
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		name := strings.TrimPrefix(cmd.CommandPath(), "benchrun ")
		switch {
		case len(args) == 0:
			return fmt.Errorf("%s needs the name of a board; benchrun board list has them", name)
		case !several && len(args) > 1:
			return fmt.Errorf("%s takes one board, and these are %d", name, len(args))
		}
		return nil
	}
	_ = cmd.RegisterFlagCompletionFunc("parts", cobra.FixedCompletions(append(hw.Parts(), "conform"), cobra.ShellCompDirectiveNoFileComp))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		boards, _ := hw.Boards()
		return boards.Names(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}
