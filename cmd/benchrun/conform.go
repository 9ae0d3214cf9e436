package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/conform"
	"github.com/dynolab/dyno/internal/report"
)

func newConformCmd() *cobra.Command {
	opts, format := conform.Options{Timeout: 10 * time.Minute}, "text"
	return newCommand("conform", func(cmd *cobra.Command, args []string) error {
		if opts.Timeout <= 0 {
			return errors.New("--timeout must be more than zero, such as 10m")
		}
		con := consoleOf(cmd)
		opts.Packages, opts.Progress = args, con.Status
		m, err := conform.Run(cmd.Context(), opts)
		con.Clear()
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
	}, fields{"format": &format, "timeout": &opts.Timeout})
}
