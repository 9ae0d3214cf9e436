package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardFlashCmd() *cobra.Command {
	var c boardrun.Command
	return newImageCommand("board_flash", &c, false, func(cmd *cobra.Command) error { return c.Flash(cmd.Context()) }, nil)
}
