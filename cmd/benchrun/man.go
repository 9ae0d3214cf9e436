package main

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func newManCmd(root *cobra.Command) *cobra.Command {
	cmd := newCommand("man", func(_ *cobra.Command, args []string) error {
		if err := os.MkdirAll(args[0], 0o755); err != nil {
			return err
		}
		literal(root)
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

// literal has manual pages show what stands in angle brackets in the help of cmd and of the
// commands below it: cobra takes help for Markdown, in which <file> is a tag of HTML and left
// out, but for code, which is indented.
func literal(cmd *cobra.Command) {
	escape := func(text *string) {
		lines := strings.Split(*text, "\n")
		for i, line := range lines {
			if !strings.HasPrefix(line, "\t") {
				lines[i] = strings.ReplaceAll(line, "<", `\<`)
			}
		}
		*text = strings.Join(lines, "\n")
	}
	escape(&cmd.Long)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { escape(&f.Usage) })
	for _, c := range cmd.Commands() {
		literal(c)
	}
}
