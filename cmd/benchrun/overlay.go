package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/testbin"
)

func newOverlayCmd() *cobra.Command {
	cmd := newCommand("overlay", func(cmd *cobra.Command, args []string) error {
		if !isFolder(args[0]) {
			return fmt.Errorf("there is no folder %s; make it first", args[0])
		}
		path, with, err := testbin.Overlay(cmd.Context(), "", args[0])
		if err != nil {
			return err
		}
		if len(with) > 1 {
			for i, word := range with {
				with[i] = console.ShellWord(word)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "note: this toolchain is in the module cache, where the go command replaces nothing; build with\n  %s test -c -overlay %s\n",
				strings.Join(with, " "), console.ShellWord(path))
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
		return nil
	})
	cmd.Args = cobra.ExactArgs(1)
	return cmd
}
