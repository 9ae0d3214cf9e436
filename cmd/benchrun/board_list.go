package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
	"github.com/dynolab/dyno/internal/report"
)

func newBoardListCmd() *cobra.Command {
	var mapFile, format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the boards, and what is missing here for each",
		Long: `List prints the boards that firmware can be built for: chip, RAM and flash, whether
it is real or emulated, which implementations fit, as kept results say, which of the
hardware map are of that kind, and what this machine lacks to build and run it.
What fits is read from the results that the checkout keeps.`,
		Example: `  benchrun board list
  benchrun board list --format json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("board list takes no arguments: it lists all boards")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--format", format, []string{"text", "json"}); err != nil {
				return err
			}
			all, err := boardrun.List(cmd.Context(), mapFile)
			if err != nil {
				return err
			}
			if format == "json" {
				return report.WriteJSON(cmd.OutOrStdout(), all)
			}
			return boardrun.ListDoc(all).Text(cmd.OutOrStdout(), report.TextOptions{})
		},
	}
	mapFlag(cmd, &mapFile)
	boardFormatFlag(cmd, &format)
	return cmd
}
