package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report/serve"
	"github.com/dynolab/dyno/internal/targets"
)

func newServeCmd() *cobra.Command {
	addr := serve.DefaultAddr
	cmd := newCommand("serve", func(cmd *cobra.Command, args []string) error {
		folder := "results"
		if len(args) > 0 {
			folder = args[0]
		}
		return serve.Folder(cmd.Context(), folder, addr, serve.Options{Card: cardOf}, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}, fields{"addr": &addr})
	cmd.Args = cobra.MaximumNArgs(1)
	return cmd
}

// cardOf judges a results file by the targets that it decides.
func cardOf(c *compare.Comparison, d *compare.Data) (*targets.Scorecard, error) {
	return scorecard(c, d, compare.Options{Alpha: c.Alpha})
}
