package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardMonitorCmd() *cobra.Command {
	var c boardrun.Command
	cmd := &cobra.Command{
		Use:   "monitor board",
		Short: "Show what a board says, and send it commands",
		Long: `Monitor shows the lines of a board as they come, and sends it the lines that are
typed: hello, list, run <case>, reset, quit. Ctrl-C ends it.

A line of the firmware's stands behind its number. What begins with | is noise,
such as a boot loader or a panic; what begins with ! was damaged or lost on the way.

A board with a serial port is listened to as it is. For others, emulated ones and
those behind ssh, an image is built and started, and ended with the input.`,
		Example: `  benchrun board monitor pico
  echo list | benchrun board monitor linux-arm64-qemu --impl serial`,
		Args: needBoard(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onBoards(cmd, &c, args, func() error { return c.Monitor(cmd.Context(), cmd.InOrStdin()) })
		},
	}
	imageFlags(cmd, &c, false)
	mapFlag(cmd, &c.Map)
	return cmd
}
