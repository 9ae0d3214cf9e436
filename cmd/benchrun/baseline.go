package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/baseline"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/runner"
)

// newBaselineCmd lists what ab --save-baseline has kept, and removes it.
func newBaselineCmd() *cobra.Command {
	remove, dir := false, "."
	cmd := newCommand("baseline", func(cmd *cobra.Command, args []string) error {
		store, err := runner.Baselines()
		if err != nil {
			return err
		}
		if !remove {
			return listBaselines(cmd, store)
		}
		module, err := runner.New(consoleOf(cmd), "").BaselineModule(cmd.Context(), dir)
		if err != nil {
			return err
		}
		for _, name := range args {
			if err := store.Remove(module, name); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "removed the baseline %s of %s\n", name, module)
		}
		return nil
	}, fields{"remove": &remove, "dir": &dir})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case remove && len(args) == 0:
			return errors.New("baseline --remove needs the names of those to remove; benchrun baseline lists them")
		case !remove && len(args) > 0:
			return fmt.Errorf("baseline lists what is kept: to measure against %s, benchrun ab --baseline %[1]s; to keep it, --save-baseline", console.ShellWord(args[0]))
		}
		return nil
	}
	return cmd
}

// listBaselines prints the baselines of all modules. One that cannot be read is an error, behind
// the others.
func listBaselines(cmd *cobra.Command, store baseline.Store) error {
	all, err := store.All()
	if len(all) == 0 && err == nil {
		fmt.Fprintln(cmd.OutOrStdout(), "no baselines are kept: benchrun ab --save-baseline NAME keeps one")
		return nil
	}
	for module := range slices.Values(modulesOf(all)) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s:\n", module)
		for _, b := range all {
			if b.Module == module {
				fmt.Fprintf(cmd.OutOrStdout(), "  %-16s %s, %s, %s, %d MB: %s\n", b.Name, b.Made.Format(time.DateTime), b.Settings["GOVERSION"],
					console.Count(len(b.Packages), "package"), (b.Size()+1<<20-1)>>20, strings.TrimPrefix(b.Again(), "benchrun ab --save-baseline "+b.Name+" "))
			}
		}
	}
	return err
}

func modulesOf(all []*baseline.Baseline) (modules []string) {
	for _, b := range all {
		modules = append(modules, b.Module)
	}
	return slices.Compact(modules) // they are sorted
}
