package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/targets"
)

func newReportCmd() *cobra.Command {
	opts, dir, format, site := reportOptions(), "", "", ""
	cmd := newCommand("report", func(cmd *cobra.Command, args []string) error {
		if format != "" && dir != "" {
			return errors.New("--format prints the report and --out writes it: give one of them")
		}
		if site != "" {
			if err := refuse(cmd, rule{true, []string{"col", "base", "out", "format"}, "is for a report, and a site has one of each file"}); err != nil {
				return err
			}
			return writeSite(cmd, args, site, opts)
		}
		d, err := compare.Read(args, cmd.InOrStdin())
		if err != nil {
			return err
		}
		places := d.Places()
		sideBySide := len(places) > 1 && slices.ContainsFunc(places, func(p compare.Place) bool { return p.Board })
		why := "is for what is compared, and these are figures of " + placeNames(places) + ", which are shown side by side"
		if err := refuse(cmd, rule{sideBySide, []string{"col", "base"}, why}); err != nil {
			return err
		}
		if err := opts.Check(); err != nil {
			return err
		}
		if sideBySide {
			return reportSideBySide(cmd, d, opts, report.SideBySidePath(args, dir), format)
		}
		c, card, err := compareData(cmd, d, opts)
		if err != nil {
			return err
		}
		return comparison(cmd.OutOrStdout(), c, report.Extra{Card: card, Again: again(cmd, args...)}).give(cmd.OutOrStdout(), format,
			func(w io.Writer) error { return report.JSON(w, c, card) },
			report.Path(args, dir), func(path string) error { return report.Write(c, card, path) })
	}, compareFields(&opts), fields{"out": &dir, "format": &format, "site": &site})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if site != "" && len(args) > 0 {
			return nil // folders, which writeSite looks at
		}
		return needFiles(cmd, args)
	}
	return cmd
}

func placeNames(places []compare.Place) string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// reportSideBySide reports results of several machines and boards, at path or as format.
func reportSideBySide(cmd *cobra.Command, d *compare.Data, o compare.Options, path, format string) error {
	s, err := d.SideBySide(o)
	if err != nil {
		return err
	}
	for _, c := range s.Comparisons {
		leftOut(cmd, c.Problems)
	}
	card, err := targets.Measured(d, o)
	if err != nil {
		return err
	}
	doc := documentOf(func(form report.Form) report.Doc { return report.SideBySide(s, form, card) })
	return doc.give(cmd.OutOrStdout(), format,
		func(w io.Writer) error { return report.SideBySideJSON(w, s, card) },
		path, func(path string) error { return report.WriteSideBySide(s, card, path) })
}
