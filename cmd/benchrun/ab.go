package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/why"
)

// The values of --gate; "" is none.
const (
	gateSlower = "slower"
	gateStrict = "strict"
)

// abFlags are the flags of ab.
type abFlags struct {
	runner.AB
	gate    string
	comment string
	why     bool
}

func newABCmd() *cobra.Command {
	c := &abFlags{AB: runner.DefaultAB()}
	cmd := newCommand("ab", c.run, configFields(&c.Config), compareFields(&c.Compare), fields{
		"within": &c.Within, "gate": &c.gate, "comment": &c.comment, "why": &c.why, "dir": &c.Dir,
		"identical": &c.Identical, "trimpath": &c.Trimpath, "no-cache": &c.NoCache,
	})
	cmd.Flags().Lookup("gate").NoOptDefVal = gateSlower
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 && c.Resume == "" {
			return errors.New("ab needs a version to compare to, such as main or HEAD~1")
		}
		return nil
	}
	return cmd
}

// run compares two versions of a module, and reports what was found. Its error may be the
// gate's status.
func (c *abFlags) run(cmd *cobra.Command, args []string) error {
	if c.gate == gateSlower && slices.Contains(args, gateStrict) {
		return errors.New("the value of --gate follows a =: --gate=strict")
	}
	c.Args, c.Packages = versionsAndPackages(cmd, args)
	c.Given = cmd.Flags().Changed
	con := consoleOf(cmd)
	var compared *compare.Comparison
	run, err := runner.New(con, "benchrun ab").AB(cmd.Context(), &c.AB, func(ctx context.Context, run *runner.ABRun) (err error) {
		compared, _, err = compareFiles(cmd, []string{run.Path}, c.AB.Compare)
		if err != nil || !c.why {
			return err
		}
		file := why.File{Comparison: compared, Plan: run.Plan, Binaries: run.Binaries}
		return file.Explain(ctx, con, con, why.Options{Draw: report.WriteFlames})
	})
	if err != nil {
		return err
	}
	compared = cmp.Or(run.Unmeasured, compared)
	if err := c.show(cmd, compared, run); err != nil {
		return err
	}
	switch {
	case compared == nil:
	case c.gate != "":
		g := compared.Gate()
		if err := judge(cmd.ErrOrStderr(), g); c.gate == gateStrict || g.Bad() {
			return err
		}
	case run.Unmeasured != nil:
		return runner.ErrNothing
	}
	return nil
}
