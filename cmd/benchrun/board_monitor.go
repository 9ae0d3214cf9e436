package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardMonitorCmd() *cobra.Command {
	var c boardrun.Command
	return newImageCommand("board_monitor", &c, false, func(cmd *cobra.Command) error { return c.Monitor(cmd.Context(), cmd.InOrStdin()) }, nil)
}
