package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newManCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man folder",
		Short: "Write the manual pages of benchrun and its commands into a folder",
		Example: `  benchrun man ~/.local/share/man/man1
  man benchrun-run`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("man needs one folder to write into, such as ~/.local/share/man/man1")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			// A fixed date: the same command gives the same bytes.
			date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
			header := &doc.GenManHeader{Title: "BENCHRUN", Section: "1", Source: "dyno", Manual: "dyno", Date: &date}
			return doc.GenManTree(root, header, args[0])
		},
	}
}
