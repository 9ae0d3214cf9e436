package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/report"
)

func newCompareCmd() *cobra.Command {
	opts, format, gate := reportOptions(), "text", gateFlags{}
	cmd := newCommand("compare", func(cmd *cobra.Command, args []string) error {
		if err := gate.check(false); err != nil {
			return err
		}
		c, card, err := compareFiles(cmd, args, opts)
		if err != nil {
			return err
		}
		data := map[string]func(io.Writer) error{
			"csv":  func(w io.Writer) error { return report.CSV(w, c) },
			"json": func(w io.Writer) error { return report.JSON(w, c, card) },
		}
		for name, write := range report.Services {
			data[name] = func(w io.Writer) error { return write(w, c) }
		}
		err = comparison(cmd.OutOrStdout(), c, report.Extra{Card: card, Again: again(cmd, args...)}).show(cmd.OutOrStdout(), format, data)
		if err != nil {
			return err
		}
		return gate.report(cmd.ErrOrStderr(), c)
	}, compareFields(&opts), gate.fields(), fields{"format": &format})
	cmd.Flags().Lookup("gate").NoOptDefVal = gateSlower
	cmd.Args = needFiles
	return cmd
}
