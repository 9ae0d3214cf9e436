package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/report"
)

// documentOf returns a document in one of its forms.
type documentOf func(report.Form) report.Doc

// comparison returns the document of a comparison that is shown on out: a terminal gets what
// matters first, and a pipe everything.
func comparison(out io.Writer, c *compare.Comparison, x report.Extra) documentOf {
	x.Fold = isTerminal(out)
	return func(form report.Form) report.Doc { return report.Comparison(c, form, x) }
}

// again is what says what is compared, to be typed again: the files, and those of cmd's
// flags that were given. It is empty where standard input is read, which is over then.
func again(cmd *cobra.Command, files ...string) string {
	if slices.ContainsFunc(files, compare.ReadsStdin) {
		return ""
	}
	var o compare.Options
	names := compareFields(&o)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if names[f.Name] != nil {
			files = append(files, "--"+f.Name+"="+f.Value.String())
		}
	})
	var b strings.Builder
	for _, word := range files {
		b.WriteString(" " + console.ShellWord(word))
	}
	return b.String()[1:]
}

// show prints a document in format: text, full, md or html, or what data has for another
// one.
func (of documentOf) show(out io.Writer, format string, data map[string]func(io.Writer) error) error {
	form := report.Screen
	switch write := data[format]; {
	case write != nil:
		return write(out)
	case format == "md":
		return of(report.Document).Markdown(out, report.MarkdownOptions{})
	case format == "html":
		return of(report.Page).HTML(out)
	case format == "full":
		form = report.Terminal
	}
	return of(form).Text(console.Raw(out), report.TextOptions{Color: wantsColor(out)})
}

// give prints a report, or if format is empty writes it at path and prints where its parts
// are.
func (of documentOf) give(out io.Writer, format string, writeJSON func(io.Writer) error, path string, write func(path string) error) error {
	if format == "text" {
		format = "full" // a report leaves nothing out
	}
	if format != "" {
		return of.show(out, format, map[string]func(io.Writer) error{"json": writeJSON})
	}
	if err := write(path); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	_, err := fmt.Fprintf(out, "%s\n%s\n", report.HTMLPath(path), path)
	return err
}

// wantsColor reports whether w is a terminal that takes colours; see
// https://no-color.org.
func wantsColor(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	f, ok := console.Raw(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
