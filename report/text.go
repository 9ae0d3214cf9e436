package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/targets"
)

// TextOptions say how text for a terminal looks. The zero value is plain.
type TextOptions struct {
	// Color marks verdicts with colours. Set it for a terminal that wants
	// them.
	Color bool
}

// Text writes c as tables for a terminal, and card after them if that is not nil.
// Lines are as long as they need to be.
func Text(w io.Writer, c *lab.Comparison, card *targets.Scorecard, o TextOptions) error {
	var b bytes.Buffer
	for _, f := range c.Files {
		fmt.Fprintln(&b, fileLine(f))
	}
	if broken := faults(c); len(broken) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(broken, "\n"))
	}
	reported, resources := split(c)
	for i, t := range reported {
		fmt.Fprintf(&b, "\n%s\n\n", caption(t))
		if i == 0 && wide(t) {
			b.WriteString(drawText(overview(t), o))
			b.WriteString("\n")
		}
		b.WriteString(drawText(detail(c, t), o))
	}
	resourcesText(&b, c, resources, o)
	if moved := movedLayout(c); len(moved.rows) > 0 {
		fmt.Fprintf(&b, "\n%s\n\n%s", slicesTitle, drawText(moved, o))
	}
	clausesText(&b, c.Files, o)
	b.WriteString("\n")
	for _, line := range legend(c) {
		fmt.Fprintln(&b, line)
	}
	for _, line := range Calibrations(c) {
		fmt.Fprintln(&b, line)
	}
	for i, n := range c.Notes {
		fmt.Fprintf(&b, "[%d] %s\n", i+1, n)
	}
	for _, finding := range c.Findings {
		fmt.Fprintf(&b, "finding: %s\n", finding)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	if card != nil {
		b.WriteString("\nTargets\n\n")
		scorecardText(&b, card, o)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// resourcesText shows the resources that differ, or says that none is proven to.
func resourcesText(b *bytes.Buffer, c *lab.Comparison, resources []lab.Table, o TextOptions) {
	if l := resourceLayout(c, resources); len(l.rows) > 0 {
		fmt.Fprintf(b, "\n%s\n\n%s", resourcesTitle, drawText(l, o))
	} else if c.ResourceComparisons > 0 && len(resources) > 0 {
		fmt.Fprintf(b, "\n%s\n", noResources(c))
	}
}

// fileLine says in one line where the figures come from.
func fileLine(f lab.File) string {
	var parts []string
	for _, key := range []string{lab.BoardKey, "chip", "machine", "cpu", "goos", "goarch", "toolchain", "commit"} {
		if v := setting(f, key); v != "" {
			parts = append(parts, v)
		}
		if key == "chip" && f.Emulated() {
			parts = append(parts, "emulated")
			if clock := clockOf(f); clock != "" {
				parts = append(parts, clock)
			}
		}
	}
	parts = append(parts, counted(f.Results, "result"))
	if f.Blocks > 0 {
		parts = append(parts, counted(f.Blocks, "block"))
	}
	return f.Label + ": " + strings.Join(parts, ", ")
}

// setting returns the value of a configuration key, all of them if there are
// several, "" if there is none.
func setting(f lab.File, key string) string {
	for _, s := range f.Config {
		if s.Key == key {
			return strings.Join(s.Values, ", ")
		}
	}
	return ""
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// drawText draws a layout with aligned columns and a blank line between
// groups.
func drawText(l layout, o TextOptions) string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.AppendHeader(tableRow(l.head))
	configs := make([]table.ColumnConfig, len(l.head))
	for i := range configs {
		align := text.AlignLeft
		if l.right[i] {
			align = text.AlignRight
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	t.SetColumnConfigs(configs)
	for i, row := range l.rows {
		row := tableRow(row)
		if o.Color && l.verdicts != nil {
			paint(row, l, i)
		}
		t.AppendRow(row)
	}
	var b strings.Builder
	lines := strings.Split(t.Render(), "\n")
	for i, line := range lines {
		if i > 1 && l.group != nil && l.group[i-1] {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteString("\n")
	}
	return b.String()
}

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	return row
}

// paint colours the verdict of row i, and dims references.
func paint(row table.Row, l layout, i int) {
	verdict := len(row) - 2
	switch l.verdicts[i] {
	case lab.Faster, lab.Better:
		row[verdict] = colored(row[verdict], text.FgGreen)
	case lab.Slower, lab.Worse:
		row[verdict] = colored(row[verdict], text.FgRed)
	case lab.Missing, lab.Unproven, lab.NoBase:
		row[verdict] = colored(row[verdict], text.FgYellow)
	}
	if l.ref[i] {
		row[1] = colored(row[1], text.Faint)
	}
}

// colored wraps a cell in an escape sequence, whatever go-pretty thinks of the
// environment: the caller has decided.
func colored(cell any, c text.Color) string {
	return fmt.Sprintf("\x1b[%dm%v\x1b[0m", int(c), cell)
}
