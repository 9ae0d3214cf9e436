package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardRunCmd() *cobra.Command {
	var c boardrun.Command
	o := boardrun.RunOptions{Count: 1, Timeout: 5 * time.Minute, Silence: time.Minute}
	return newImageCommand("board_run", &c, true, func(cmd *cobra.Command) error {
		o.Given = cmd.Flags().Changed
		return c.Run(cmd.Context(), o)
	}, fields{"case": &o.Case, "count": &o.Count, "timeout": &o.Timeout, "silence": &o.Silence, "out": &o.Out, "resume": &o.Resume})
}
