package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets/targetstest"
)

// TestOutlines holds what each document has, and in which order. What its tables say is golden
// as text, and report.md shows how all of it looks in Markdown.
func TestOutlines(t *testing.T) {
	var b strings.Builder
	add := func(name string, d Doc) { fmt.Fprintf(&b, "== %s\n%s\n", name, outline(markdownOf(t, d))) }
	comparison := func(c *compare.Comparison) Doc { return Comparison(c, Document, Extra{}) }
	add("interleaved", comparison(interleaved(t)))
	add("turns", comparison(turns(t)))
	add("unpaired", comparison(unpaired(t)))
	add("means", comparison(means(t)))
	add("curves", comparison(compared(t, "testdata/curves.bench")))
	add("comment", Comment(means(t), versionsOfMeans))
	card := targetstest.Evaluate(t, targetstest.Sample, "testdata/targets.bench")
	add("targets", Comparison(compared(t, "testdata/targets.bench"), Document, Extra{Card: card}))
	s, boards := sideBySide(t)
	add("side by side", SideBySide(s, Document, boards))
	add("calibration", Calibration(aCalibration()))
	add("truth", Truth(aTruth()))
	golden(t, "outlines.txt", b.String())
}

// outline leaves headings of a document, and how many items each list and rows each table has.
func outline(markdown string) string {
	var b strings.Builder
	lines := strings.Split(markdown, "\n")
	run := func(prefix string) (n int) {
		for n < len(lines) && strings.HasPrefix(lines[n], prefix) {
			n++
		}
		lines = lines[max(n-1, 0):]
		return n
	}
	for ; len(lines) > 0; lines = lines[1:] {
		switch l := lines[0]; {
		case strings.HasPrefix(l, "#"), strings.HasPrefix(l, "!["), strings.HasPrefix(l, "<summary>"):
			b.WriteString(l + "\n")
		case strings.HasPrefix(l, "- "):
			fmt.Fprintf(&b, "- %d items\n", run("- "))
		case strings.HasPrefix(l, "1. "):
			b.WriteString("1. notes\n")
		case strings.HasPrefix(l, "| "):
			fmt.Fprintf(&b, "%s %d rows\n", l, run("|")-2)
		}
	}
	return b.String()
}
