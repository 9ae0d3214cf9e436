package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/testbin"
)

func newOverlayCmd() *cobra.Command {
	cmd := newCommand("overlay", func(cmd *cobra.Command, args []string) error {
		if !isFolder(args[0]) {
			return fmt.Errorf("there is no folder %s; make it first", args[0])
		}
		path, err := testbin.Overlay(cmd.Context(), "", args[0])
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
		return nil
	})
	cmd.Args = cobra.ExactArgs(1)
	return cmd
}
