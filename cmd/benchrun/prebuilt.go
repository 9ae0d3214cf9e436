package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// checkFiles returns an error for flags that cannot be carried out with files. changed names
// the flags that were given.
func checkFiles(f record.Files, changed func(flag string) bool) error {
	switch {
	case f.Any() && changed("layouts"):
		return errors.New("--layouts is for packages: what --binary and --program name is linked already")
	case f.Dir != "" && !f.Any():
		return errors.New("--dir is the folder in which files of --binary and --program run, and there are none")
	case f.Dir != "" && !isFolder(f.Dir):
		return fmt.Errorf("--dir %s: there is no such folder", f.Dir)
	}
	return nil
}

func newOverlayCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "overlay folder",
		Short: "Write what makes a test binary drivable",
		Long: `Overlay writes files into the folder, which must be there, and prints the path of
the one that go test -c takes as -overlay. A test binary that is built with it is an
ordinary one, and benchrun run --binary can drive it: its benchmarks take turns. The
files are for the version of Go that is in use here.`,
		Example: `  go test -c -o x.test -overlay "$(benchrun overlay /tmp/overlay)" ./mypackage
  benchrun run --binary x.test`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !isFolder(args[0]) {
				return fmt.Errorf("there is no folder %s; make it first", args[0])
			}
			path, err := testbin.Overlay(cmd.Context(), "", args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
			return nil
		},
	}
}
