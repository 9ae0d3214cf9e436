package main

import (
	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report/serve"
	"github.com/dynolab/dyno/internal/targets"
)

func newServeCmd() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve [folder]",
		Short: "Show results, profiles and a run's progress in a browser",
		Long: `Serve shows the results below a folder, by default results, in a browser: a list
of runs, the report of each, the progress of one that goes on, and the profiles
that explain its differences, in pprof's own pages. It prints the address, and
goes on until Ctrl-C.

It only reads, and nothing outside of the folder. It listens on this machine
only; --addr says otherwise, and then everybody who reaches this machine can
read all results.

Exit status: 0 after Ctrl-C, 2 on an error.`,
		Example: `  benchrun serve
  benchrun serve results/my-machine --addr 127.0.0.1:0`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "results"
			if len(args) > 0 {
				folder = args[0]
			}
			return serve.Folder(cmd.Context(), folder, addr, serve.Options{Card: cardOf}, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&addr, "addr", serve.DefaultAddr, "listen at this `host:port`; port 0 is any that is free")
	return cmd
}

// cardOf judges a results file by the targets that it decides.
func cardOf(c *compare.Comparison, d *compare.Data) (*targets.Scorecard, error) {
	return scorecard(c, d, compare.Options{Alpha: c.Alpha})
}
