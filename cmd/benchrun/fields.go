package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/runner"
)

// configFields are the flags that say what is measured and how.
func configFields(c *runner.Config) fields {
	return fields{
		"bench": &c.Bench, "blocks": &c.Blocks, "time": &c.Time, "cpu": &c.CPU, "seed": &c.Seed, "benchmem": &c.Benchmem,
		"timeout": &c.Timeout, "out": &c.Out, "machine": &c.Machine, "resume": &c.Resume, "idle": &c.Idle,
		"mode": &c.Mode, "plan": &c.Schedule, "rounds": &c.Rounds, "slice": &c.Slice, "layouts": &c.Layouts, "control": &c.Control,
	}
}

// compareFields are the flags that say what is compared.
func compareFields(o *compare.Options) fields {
	return fields{"col": &o.Col, "filter": &o.Filter, "base": &o.Base, "alpha": &o.Alpha, "margin": &o.Margin, "accept": &o.Accept}
}

// buildFlags are the words that the flags of a build are given.
type buildFlags map[string]*paths

func newBuildFlags() buildFlags {
	f := make(buildFlags)
	for _, name := range runner.BuildFlags {
		f[name] = new(paths)
	}
	return f
}

func (f buildFlags) fields() fields {
	all := make(fields)
	for name, words := range f {
		all[name] = words
	}
	return all
}

func (f buildFlags) words() map[string][]string {
	all := make(map[string][]string)
	for name, words := range f {
		all[name] = *words
	}
	return all
}

// reportOptions are the options of a report if nothing is said of them.
func reportOptions() compare.Options {
	return compare.Options{Alpha: compare.DefaultAlpha, Margin: compare.DefaultMargin}
}

// consoleOf is where cmd says what it does.
func consoleOf(cmd *cobra.Command) *console.Console {
	return console.New(cmd.ErrOrStderr(), console.Width(cmd.ErrOrStderr()))
}

// versionsAndPackages are the arguments of a command that compares versions: those behind
// -- are packages.
func versionsAndPackages(cmd *cobra.Command, args []string) (versions, packages []string) {
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		dash = len(args)
	}
	return args[:dash], args[dash:]
}

// A rule is of flags that make no sense if something holds; why goes on behind the name of
// one.
type rule struct {
	holds bool
	flags []string
	why   string
}

// refuse returns an error for the first flag that was given against a rule.
func refuse(cmd *cobra.Command, rules ...rule) error {
	for _, r := range rules {
		if i := slices.IndexFunc(r.flags, cmd.Flags().Changed); r.holds && i >= 0 {
			return fmt.Errorf("--%s %s", r.flags[i], r.why)
		}
	}
	return nil
}
