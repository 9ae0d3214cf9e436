package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

func newRunCmd() *cobra.Command {
	c := defaultRun()
	var files record.Files // that are measured beside packages
	return newCommand("run", func(cmd *cobra.Command, args []string) error {
		switch {
		case files.Any() && cmd.Flags().Changed("layouts"):
			return errors.New("--layouts is for packages: what --binary and --program name is linked already")
		case files.Dir != "" && !files.Any():
			return errors.New("--dir is the folder in which files of --binary and --program run, and there are none")
		case files.Dir != "" && !isFolder(files.Dir):
			return fmt.Errorf("--dir %s: there is no such folder", files.Dir)
		}
		c.Packages = append(args, files.Marked()...)
		return measureRun(cmd, "benchrun run", c)
	}, fields{"binary": (*paths)(&files.Binaries), "program": (*paths)(&files.Programs), "dir": &files.Dir}, configFields(&c))
}

// defaultRun is how run measures, if nothing is said of it.
func defaultRun() runner.Config {
	return runner.Config{
		Bench: ".", Blocks: 12, Time: "200ms", Idle: runner.IdleWarn,
		Mode: record.ModeAuto, Control: true, Rounds: 20, Slice: session.FigureSlice, Schedule: runner.ScheduleFixed,
	}
}

// measureRun measures the packages of c, and says where the results are and what to do with
// them. command is the one that goes on with them.
func measureRun(cmd *cobra.Command, command string, c runner.Config) error {
	c.Given = cmd.Flags().Changed
	path, err := runner.New(consoleOf(cmd), command).Packages(cmd.Context(), c, nil)
	if path != "" {
		fmt.Fprintln(cmd.OutOrStdout(), path)
		if err == nil {
			file := console.ShellWord(path)
			fmt.Fprintf(cmd.ErrOrStderr(), "next:\n  benchrun compare %s\n  benchrun report %s\n", file, file)
		}
	}
	return err
}
