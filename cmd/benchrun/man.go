package main

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newManCmd(root *cobra.Command) *cobra.Command {
	cmd := newCommand("man", func(_ *cobra.Command, args []string) error {
		if err := os.MkdirAll(args[0], 0o755); err != nil {
			return err
		}
		root.DisableAutoGenTag = true
		// A fixed date: the same command gives the same bytes.
		date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
		header := &doc.GenManHeader{Title: "BENCHRUN", Section: "1", Source: "dyno", Manual: "dyno", Date: &date}
		return doc.GenManTree(root, header, args[0])
	})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return errors.New("man needs one folder to write into, such as ~/.local/share/man/man1")
		}
		return nil
	}
	return cmd
}
