package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardBuildCmd() *cobra.Command {
	var c boardrun.Command
	var out string
	format := "text"
	return newImageCommand("board_build", &c, true, func(cmd *cobra.Command) error {
		return c.Build(cmd.Context(), boardrun.BuildOptions{Out: out, JSON: format == "json"})
	}, fields{"out": &out, "format": &format})
}
