package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/baseline"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/why"
)

// abFlags are the flags of ab.
type abFlags struct {
	runner.AB
	gateFlags
	builds  buildFlags
	comment string
	why     bool
	on      string
	save    string
	against string

	unnamed bool // nothing says what is to be compared
}

func newABCmd() *cobra.Command {
	c := &abFlags{AB: runner.DefaultAB(), builds: newBuildFlags()}
	cmd := newCommand("ab", c.run, configFields(&c.Config), compareFields(&c.Compare), c.gateFlags.fields(), c.builds.fields(), fields{
		"within": &c.Within, "comment": &c.comment, "why": &c.why, "on": &c.on, "dir": &c.Dir,
		"command": &c.Command, "shell": &c.Shell, "count": &c.Count, "identical": &c.Identical, "trimpath": &c.Trimpath, "no-cache": &c.NoCache,
		"baseline": &c.Baseline, "save-baseline": &c.save, "against": &c.against,
	})
	cmd.Flags().Lookup("gate").NoOptDefVal = gateSlower
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		kept := cmd.Flags().Changed("baseline") || cmd.Flags().Changed("save-baseline") || c.against != ""
		both, err := runner.ParseBuilds(c.builds.words())
		c.unnamed = !kept && len(args) == 0 && c.Resume == "" && maps.Equal(both[0], both[1])
		c.Builds = both
		return err
	}
	return cmd
}

// run compares two versions of a module, and reports what was found. Its error may be the
// gate's status.
func (c *abFlags) run(cmd *cobra.Command, args []string) error {
	c.Args, c.Packages = versionsAndPackages(cmd, args)
	if c.unnamed {
		if commit, differs := session.Commit(cmd.Context(), ".", ""); c.Command || commit == "" || differs == "false" {
			return errors.New("ab needs a version to compare to, such as main or HEAD~1, or two builds such as --go go1.26.8,go1.27.4, or --command and two commands; without one it compares what is not committed with HEAD")
		}
		c.Args = []string{"HEAD"}
	}
	c.Given = cmd.Flags().Changed
	if err := c.check(true); err != nil {
		return err
	}
	if err := refuse(cmd, rule{c.Command, []string{"baseline", "why", "on", "bench", "dir", "cpu", "layouts", "benchmem", "identical", "trimpath", "no-cache"}, "is for versions of a module: leave out --command"},
		rule{c.Command, runner.BuildFlags, "is for versions of a module: leave out --command"},
		rule{!c.Command, []string{"shell"}, "is for --command"}); err != nil {
		return err
	}
	kept := cmd.Flags().Changed("baseline") || cmd.Flags().Changed("save-baseline")
	if err := refuse(cmd, rule{kept && !maps.Equal(c.Builds[0], c.Builds[1]), runner.BuildFlags, "has one value with a baseline, which is built as the new version is"}); err != nil {
		return err
	}
	if err := refuse(cmd, rule{cmd.Flags().Changed("baseline"), []string{"on", "resume"}, "does not go with --baseline, which is for this machine, and is noted in what is resumed"}); err != nil {
		return err
	}
	if err := refuse(cmd, rule{c.on != "", []string{"why", "out", "resume"}, "is for this machine: leave out --on"}); err != nil {
		return err
	}
	if c.against != "" {
		return c.compareAgainst(cmd, append(c.Args, c.Packages...))
	}
	if cmd.Flags().Changed("save-baseline") {
		return c.keep(cmd)
	}
	if cmd.Flags().Changed("baseline") {
		if err := baseline.CheckName(c.Baseline); err != nil {
			return err
		}
	}
	var files []string
	var run *runner.ABRun
	var compared *compare.Comparison
	err := elsewhere(cmd, "benchrun ab", c.on, func(r *runner.Runner, m runner.Machine) (err error) {
		one := c.AB
		measuredOn(&one.Config, m)
		run, err = r.AB(cmd.Context(), &one, func(ctx context.Context, run *runner.ABRun) (err error) {
			if files = append(files, r.Results(run.Path)...); len(files) > 1 {
				return nil
			}
			compared, err = c.compared(ctx, cmd, &one, run)
			return err
		})
		return err
	})
	if err != nil {
		return err
	}
	if len(files) > 1 {
		return c.several(cmd, files)
	}
	compared = cmp.Or(run.Unmeasured, compared)
	if err := c.show(cmd, compared, run); err != nil {
		return err
	}
	switch {
	case compared == nil:
		return nil
	case c.gate == "" && run.Unmeasured != nil:
		return c.nothing()
	}
	return c.report(cmd.ErrOrStderr(), compared)
}

// notKept are the flags that say how it is measured and judged.
var notKept = []string{
	"baseline", "within", "gate", "allow-empty", "comment", "why", "command", "bench", "count", "against", "on", "out", "resume", "blocks", "rounds", "slice",
	"plan", "time", "seed", "idle", "identical", "alpha", "margin", "accept", "gogc", "gomemlimit",
}

// keep keeps a build of one version.
func (c *abFlags) keep(cmd *cobra.Command) error {
	if err := refuse(cmd, rule{true, notKept, "is for measuring: --save-baseline builds and keeps, and measures nothing"}); err != nil {
		return err
	}
	kept, err := runner.New(consoleOf(cmd), "").Keep(cmd.Context(), &c.AB, c.save)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "to measure against it: benchrun ab --baseline %s\n", console.ShellWord(kept.Name))
	return nil
}

// compared judges a comparison while its binaries are still there.
func (c *abFlags) compared(ctx context.Context, cmd *cobra.Command, one *runner.AB, run *runner.ABRun) (*compare.Comparison, error) {
	compared, _, err := compareFiles(cmd, []string{run.Path}, one.Compare)
	if err != nil || !c.why {
		return compared, err
	}
	con := consoleOf(cmd)
	file := why.File{Comparison: compared, Plan: run.Plan, Binaries: run.Binaries}
	return compared, file.Explain(ctx, con, con, why.Options{})
}

// several shows what several machines say of the same two versions: each by itself, then
// how many say so. Times of different machines are not compared.
func (c *abFlags) several(cmd *cobra.Command, files []string) error {
	var bad error
	var names []string
	var each []*compare.Comparison
	for _, file := range files {
		compared, _, err := compareFiles(cmd, []string{file}, c.AB.Compare)
		if err != nil {
			return err
		}
		names, each = append(names, filepath.Base(filepath.Dir(file))), append(each, compared)
		fmt.Fprintf(cmd.OutOrStdout(), "%s:\n", names[len(names)-1])
		if err := comparison(cmd.OutOrStdout(), compared, report.Extra{Again: again(cmd, file)}).show(cmd.OutOrStdout(), "text", nil); err != nil {
			return err
		}
		bad = cmp.Or(bad, c.report(cmd.ErrOrStderr(), compared))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\n%s:\n", console.Count(len(names), "machine"))
	for _, a := range compare.Machines(names, each) {
		fmt.Fprintf(cmd.OutOrStdout(), "  %s %s: %s\n", a.Row, a.Unit, &a)
	}
	return bad
}
