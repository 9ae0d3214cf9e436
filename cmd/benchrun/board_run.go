package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
	"github.com/dynolab/dyno/internal/runner"
)

func newBoardRunCmd() *cobra.Command {
	var c boardrun.Command
	o := boardrun.RunOptions{Count: 1, Timeout: 5 * time.Minute, Silence: time.Minute}
	on := ""
	return newImageCommand("board_run", &c, true, func(cmd *cobra.Command) error {
		o.Given = cmd.Flags().Changed
		if on != "" {
			return c.RunOn(cmd.Context(), o, boardrun.Fleet{
				Boards: func(ctx context.Context, kind string) ([]runner.Machine, error) { return machinesOf(ctx, on, kind) },
				Send:   sender(consoleOf(cmd)),
			})
		}
		return c.Run(cmd.Context(), o)
	}, fields{"on": &on, "case": &o.Case, "count": &o.Count, "timeout": &o.Timeout, "silence": &o.Silence, "out": &o.Out, "resume": &o.Resume})
}
