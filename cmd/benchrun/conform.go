package main

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/conform"
	"github.com/dynolab/dyno/internal/report"
)

// conformFormats are the values of conform's --format.
var conformFormats = []string{"text", "md", "json"}

func newConformCmd() *cobra.Command {
	var (
		opts   conform.Options
		format string
	)
	cmd := &cobra.Command{
		Use:   "conform [packages]",
		Short: "Show which clauses of the contract each implementation passes",
		Long: `Conform runs the conformance test of packages (TestConformance, by default of
./impls/...) and prints a matrix: each clause of the suite, and which package
passed it, skipped it (and why), or failed it (with the seed and the command
that repeats the failure).

The exit status is 0 if everything was passed or skipped, 1 if a clause was not,
and 2 on an error: no conformance test, a package that does not build, or a
crash, whose output is shown.`,
		Example: `  benchrun conform
  benchrun conform ./impls/channel --timeout 1m
  benchrun conform --format md ./... > conformance.md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--format", format, conformFormats); err != nil {
				return err
			}
			if opts.Timeout <= 0 {
				return errors.New("--timeout must be more than zero, such as 10m")
			}
			opts.Packages = args
			opts.Progress = cmd.ErrOrStderr()
			m, err := conform.Run(cmd.Context(), opts)
			if err != nil {
				return err
			}
			matrix := documentOf(func(form report.Form) report.Doc { return report.Conformance(m, form) })
			err = matrix.show(cmd.OutOrStdout(), format, map[string]func(io.Writer) error{
				"json": func(w io.Writer) error { return report.ConformJSON(w, m) },
			})
			switch {
			case err != nil:
				return err
			case m.Broken():
				return errors.New("some packages have a problem besides their clauses; see their output")
			case !m.Conforms():
				return exitError(exitSlower)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "how to print: "+strings.Join(conformFormats, ", "))
	cmd.Flags().DurationVar(&opts.Timeout, "timeout", 10*time.Minute, "give the tests of one package this `duration` at most")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(conformFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
