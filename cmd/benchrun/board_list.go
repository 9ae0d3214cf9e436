package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
	"github.com/dynolab/dyno/internal/report"
)

func newBoardListCmd() *cobra.Command {
	var mapFile string
	format := "text"
	cmd := newCommand("board_list", func(cmd *cobra.Command, _ []string) error {
		all, err := boardrun.List(cmd.Context(), mapFile)
		if err != nil {
			return err
		}
		if format == "json" {
			return report.WriteJSON(cmd.OutOrStdout(), all)
		}
		return boardrun.ListDoc(all).Text(cmd.OutOrStdout(), report.TextOptions{})
	}, fields{"map": &mapFile, "format": &format})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return errors.New("board list takes no arguments: it lists all boards")
		}
		return nil
	}
	return cmd
}
