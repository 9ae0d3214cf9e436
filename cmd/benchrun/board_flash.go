package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardFlashCmd() *cobra.Command {
	var c boardrun.Command
	cmd := &cobra.Command{
		Use:   "flash board",
		Short: "Build firmware and bring it to a board",
		Long: `Flash builds one image and brings it to the board: a microcontroller by TinyGo's own
flasher, after which it waits for its port to come back. The board is named by its ID
in the hardware map, or by its kind if there is only one.

benchrun board run flashes by itself.`,
		Example: `  benchrun board flash pico --impl serial
  benchrun board flash pico-left --parts bench`,
		Args: needBoard(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onBoards(cmd, &c, args, func() error { return c.Flash(cmd.Context()) })
		},
	}
	imageFlags(cmd, &c, false)
	mapFlag(cmd, &c.Map)
	return cmd
}
