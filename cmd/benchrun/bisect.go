package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
)

// newBisectCmd is the search for the commit that made a benchmark slower.
func newBisectCmd() *cobra.Command {
	c, asJSON, on := runner.DefaultBisect(), false, ""
	return newCommand("bisect", func(cmd *cobra.Command, args []string) error {
		c.Args, c.Packages = versionsAndPackages(cmd, args)
		c.Given = cmd.Flags().Changed
		var found *bisect.Result
		err := elsewhere(cmd, "benchrun bisect", on, func(r *runner.Runner, m runner.Machine) (err error) {
			if found != nil || !r.Alone() {
				return errors.New("--on names several machines, and a search is on one: any is one that is free")
			}
			measuredOn(&c.Config, m)
			found, err = r.Bisect(cmd.Context(), &c)
			return err
		})
		if err != nil {
			return err
		}
		format := "text"
		if asJSON {
			format = "json"
		}
		document := documentOf(func(report.Form) report.Doc { return report.Bisection(found) })
		err = document.show(cmd.OutOrStdout(), format, map[string]func(io.Writer) error{
			"json": func(w io.Writer) error { return report.WriteJSON(w, found) },
		})
		if err != nil {
			return err
		}
		switch found.Outcome {
		case bisect.NoStep:
			return exitError(exitNothing)
		case bisect.Unsure:
			return exitError(exitInconclusive)
		}
		return nil
	}, configFields(&c.Config), compareFields(&c.Compare), fields{
		"on": &on, "within": &c.Within, "dir": &c.Dir, "trimpath": &c.Trimpath, "no-cache": &c.NoCache, "unit": &c.Unit, "count": &c.Count, "memory": &c.Memory, "json": &asJSON,
	})
}
