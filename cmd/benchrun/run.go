package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

func newRunCmd() *cobra.Command {
	c := defaultRun()
	var files record.Files // that are measured beside packages
	on, allowEmpty, builds := "", false, newBuildFlags()
	return newCommand("run", func(cmd *cobra.Command, args []string) (err error) {
		if c.Build, err = runner.ParseBuild(builds.words()); err != nil {
			return err
		}
		if err := refuse(cmd, rule{len(files.Programs) > 0, runner.BuildFlags, "is for packages: a program is built already"},
			rule{len(files.Binaries) > 0, []string{"go", "goexperiment", "tags", "pgo"}, "is for packages: a test binary of --binary is built already"}); err != nil {
			return err
		}
		switch {
		case files.Any() && cmd.Flags().Changed("layouts"):
			return errors.New("--layouts is for packages: what --binary and --program name is linked already")
		case files.Dir != "" && !files.Any():
			return errors.New("--dir is the folder in which files of --binary and --program run, and there are none")
		case files.Dir != "" && !isFolder(files.Dir):
			return fmt.Errorf("--dir %s: there is no such folder", files.Dir)
		}
		c.Packages = append(args, files.Marked()...)
		return measureRun(cmd, "benchrun run", c, on, allowEmpty)
	}, fields{"on": &on, "count": &c.Count, "allow-empty": &allowEmpty, "binary": (*paths)(&files.Binaries), "program": (*paths)(&files.Programs), "dir": &files.Dir}, configFields(&c), builds.fields())
}

// defaultRun is how run measures, if nothing is said of it.
func defaultRun() runner.Config {
	return runner.Config{
		Bench: ".", Blocks: 12, Time: "200ms", Idle: runner.IdleWarn,
		Mode: record.ModeAuto, Control: true, Rounds: 20, Slice: session.FigureSlice, Schedule: runner.ScheduleFixed,
	}
}

// measureRun measures the packages of c, and says where the results are and what to do with
// them. command is the one that goes on with them. on selects machines of the fleet; "" is
// this one. That there is not one figure is an error, unless allowEmpty is set.
func measureRun(cmd *cobra.Command, command string, c runner.Config, on string, allowEmpty bool) error {
	c.Given = cmd.Flags().Changed
	return elsewhere(cmd, command, on, func(r *runner.Runner, m runner.Machine) error {
		one := c
		measuredOn(&one, m)
		path, err := r.Packages(cmd.Context(), one, nil)
		files := r.Results(path)
		for i, file := range files {
			fmt.Fprintln(cmd.OutOrStdout(), file)
			files[i] = console.ShellWord(file)
		}
		all := strings.Join(files, " ")
		if all != "" && err == nil && !allowEmpty {
			err = anyFigure(r.Results(path))
		}
		if all != "" && err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "next:\n  benchrun compare %s\n  benchrun report %s\n", all, all)
		}
		return err
	})
}

// anyFigure returns an error if there is not one figure in files.
func anyFigure(files []string) error {
	for _, file := range files {
		f, err := record.ReadFile(file)
		if err != nil {
			return err
		}
		if len(f.Results) > 0 {
			return nil
		}
	}
	return emptyError{fmt.Errorf("not one benchmark gave a figure; why stands above, and in %s", strings.Join(files, " "))}
}
