package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/targets"
)

// documentOf returns a document in one of its forms.
type documentOf func(report.Form) report.Doc

// comparison returns the document of a comparison.
func comparison(c *compare.Comparison, card *targets.Scorecard) documentOf {
	return func(form report.Form) report.Doc { return report.Comparison(c, form, report.Extra{Card: card}) }
}

// show prints a document in format: text, md or html, or what data has for another one.
func (of documentOf) show(out io.Writer, format string, data map[string]func(io.Writer) error) error {
	switch write := data[format]; {
	case write != nil:
		return write(out)
	case format == "md":
		return of(report.Document).Markdown(out, report.MarkdownOptions{})
	case format == "html":
		return of(report.Page).HTML(out)
	}
	return of(report.Terminal).Text(out, report.TextOptions{Color: wantsColor(out)})
}

// give prints a report, or if format is empty writes it at path and prints where its parts
// are.
func (of documentOf) give(out io.Writer, format string, writeJSON func(io.Writer) error, path string, write func(path string) error) error {
	if format != "" {
		return of.show(out, format, map[string]func(io.Writer) error{"json": writeJSON})
	}
	if err := write(path); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	_, err := fmt.Fprintf(out, "%s\n%s\n", report.HTMLPath(path), path)
	return err
}

// judge tells what the gate found, and returns its exit status as an error.
func judge(w io.Writer, g compare.Gate) error {
	for _, s := range slices.Concat(g.Broken, g.Slower, g.Inconclusive) {
		fmt.Fprintf(w, "gate: %s\n", s)
	}
	switch {
	case g.Bad():
		return exitError(exitSlower)
	case len(g.Inconclusive) > 0:
		return exitError(exitInconclusive)
	}
	return nil
}

// wantsColor reports whether w is a terminal that takes colours; see
// https://no-color.org.
func wantsColor(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
