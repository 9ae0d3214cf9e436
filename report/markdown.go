package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/targets"
)

// Markdown writes c as a document: circumstances, warnings, tables, targets if
// card is not nil, notes and holes. It has no pictures; Write adds them.
func Markdown(w io.Writer, c *lab.Comparison, card *targets.Scorecard) error {
	return markdown(w, c, card, "Comparison", nil)
}

// pictures are the files of a report's charts, relative to its document: by
// row and by curve of the first table, and the overview.
type pictures struct {
	overview string
	rows     map[int]string
	curves   map[int]string
}

func markdown(w io.Writer, c *lab.Comparison, card *targets.Scorecard, title string, pics *pictures) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", escape(title))
	for _, line := range faults(c) {
		fmt.Fprintf(&b, "**%s**\n\n", escape(line))
	}
	for _, line := range slices.Concat(legend(c), Calibrations(c)) {
		fmt.Fprintf(&b, "- %s\n", escape(line))
	}
	b.WriteString("\n")
	if len(c.Findings) > 0 {
		b.WriteString("## Findings\n\n")
		for _, finding := range c.Findings {
			fmt.Fprintf(&b, "- finding: %s\n", escape(finding))
		}
		b.WriteString("\n")
	}
	if len(c.Warnings) > 0 {
		b.WriteString("## Warnings\n\n")
		for _, warning := range c.Warnings {
			fmt.Fprintf(&b, "- %s\n", escape(warning))
		}
		b.WriteString("\n")
	}
	reported, resources := split(c)
	for i, t := range reported {
		fmt.Fprintf(&b, "## %s\n\n", escape(caption(t)))
		if i == 0 && wide(t) {
			fmt.Fprintf(&b, "%s\n\n", drawMarkdown(overview(t)))
			if pics != nil && pics.overview != "" {
				fmt.Fprintf(&b, "![Ratios of all benchmarks](%s)\n\n", pics.overview)
			}
		}
		if i == 0 {
			curvesMarkdown(&b, t, pics)
		}
		fmt.Fprintf(&b, "%s\n\n", drawMarkdown(detail(c, t)))
		if i == 0 && pics != nil {
			for r := range t.Rows {
				if file, ok := pics.rows[r]; ok {
					fmt.Fprintf(&b, "![%s](%s)\n\n", escape(benchmark(t.Rows[r])), file)
				}
			}
		}
	}
	resourcesMarkdown(&b, c, resources)
	if moved := movedLayout(c); len(moved.rows) > 0 {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", slicesTitle, drawMarkdown(moved))
	}
	clausesMarkdown(&b, c.Files)
	if card != nil {
		b.WriteString("## Targets\n\n")
		scorecardMarkdown(&b, card)
	}
	if len(c.Notes) > 0 {
		b.WriteString("## Notes\n\n")
		for i, n := range c.Notes {
			fmt.Fprintf(&b, "%d. %s\n", i+1, escape(n))
		}
		b.WriteString("\n")
	}
	holesMarkdown(&b, c)
	circumstancesMarkdown(&b, c)
	_, err := w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
	return err
}

// resourcesMarkdown shows the resources that differ, or says that none is proven to.
func resourcesMarkdown(b *bytes.Buffer, c *lab.Comparison, resources []lab.Table) {
	if l := resourceLayout(c, resources); len(l.rows) > 0 {
		fmt.Fprintf(b, "## %s\n\n%s\n\n", resourcesTitle, drawMarkdown(l))
	} else if c.ResourceComparisons > 0 && len(resources) > 0 {
		fmt.Fprintf(b, "%s\n\n", noResources(c))
	}
}

// curvesMarkdown shows the curves of t, each as a table, and drawn if there is a
// picture of it.
func curvesMarkdown(b *bytes.Buffer, t lab.Table, pics *pictures) {
	curves := t.Curves()
	for i, curve := range curves {
		fmt.Fprintf(b, "### %s\n\n", escape(curveName(curve)))
		if pics != nil && pics.curves[i] != "" {
			fmt.Fprintf(b, "![%s](%s)\n\n", escape(curveName(curve)), pics.curves[i])
		}
		fmt.Fprintf(b, "%s\n\n", drawMarkdown(curveTable(t, curve)))
	}
	if len(curves) > 0 {
		b.WriteString("### All benchmarks\n\n")
	}
}

// holesMarkdown lists everything that was due and is missing, and what skipped
// itself.
func holesMarkdown(b *bytes.Buffer, c *lab.Comparison) {
	first := true
	for _, f := range c.Files {
		for _, h := range f.Holes {
			if first {
				b.WriteString("## Holes\n\n")
				first = false
			}
			fmt.Fprintf(b, "- %s: %s\n", escape(h.Name()), escape(h.String()))
		}
	}
	if !first {
		b.WriteString("\n")
	}
}

// manyValues is how many values of one setting a report shows; the results
// file has them all.
const manyValues = 4

// perResult are the settings that differ from result to result; a report only
// counts them.
var perResult = []string{"block", "case", "order"}

// circumstancesMarkdown says where the figures come from, with every setting
// of every file.
func circumstancesMarkdown(b *bytes.Buffer, c *lab.Comparison) {
	b.WriteString("## Circumstances\n\n")
	for _, f := range c.Files {
		fmt.Fprintf(b, "### %s\n\n", escape(f.Label))
		t := table.NewWriter()
		t.AppendHeader(table.Row{"setting", "value"})
		t.AppendRow(table.Row{"results", fmt.Sprint(f.Results)})
		if f.Blocks > 0 {
			t.AppendRow(table.Row{"blocks", fmt.Sprint(f.Blocks)})
		}
		for _, s := range f.Config {
			values := s.Values
			if slices.Contains(perResult, s.Key) {
				continue
			}
			more := ""
			if len(values) > manyValues {
				more = fmt.Sprintf(" … (%d different values)", len(values))
				values = values[:manyValues]
			}
			quoted := make([]string, len(values))
			for i, v := range values {
				quoted[i] = code(v)
			}
			t.AppendRow(table.Row{s.Key, strings.Join(quoted, ", ") + more})
		}
		fmt.Fprintf(b, "%s\n\n", t.RenderMarkdown())
	}
}

// code makes s a code span, whatever backticks it holds.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// escape keeps s from being read as markup.
func escape(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`, "]", `\]`, "\n", " ",
	).Replace(s)
}

// drawMarkdown draws a layout as a markdown table. Verdicts that need
// attention or praise are bold, references italic.
func drawMarkdown(l layout) string {
	t := markdownTable(l)
	for i, cells := range l.rows {
		row := make(table.Row, len(cells))
		for j, cell := range cells {
			row[j] = escape(cell)
		}
		if l.verdicts != nil {
			verdict := len(row) - 2
			switch l.verdicts[i] {
			case lab.Faster, lab.Slower, lab.Better, lab.Worse, lab.Missing:
				row[verdict] = fmt.Sprintf("**%s**", row[verdict])
			}
			if l.ref[i] {
				row[1] = fmt.Sprintf("*%s*", row[1])
			}
		}
		t.AppendRow(row)
	}
	return t.RenderMarkdown()
}

// markdownTable returns a table with the head and the columns of l, and no rows.
func markdownTable(l layout) table.Writer {
	t := table.NewWriter()
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(tableRow(l.head))
	configs := make([]table.ColumnConfig, len(l.head))
	for i := range configs {
		configs[i].Number = i + 1
		if l.right[i] {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	t.SetColumnConfigs(configs)
	return t
}
