package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dynolab/dyno/internal/console"
)

// TextOptions say how text for a terminal looks. The zero value is plain.
type TextOptions struct {
	// Color marks verdicts with colours. Set it for a terminal that wants
	// them.
	Color bool
}

// Text writes the blocks for a terminal, a blank line between two. Lines are as long as
// they need to be, and charts are left out.
func (d Doc) Text(w io.Writer, o TextOptions) error {
	_, err := io.WriteString(w, o.blocks(d.Blocks))
	return err
}

func (o TextOptions) blocks(blocks []Block) string {
	var parts []string
	for _, b := range blocks {
		switch b.(type) {
		case Figure:
		default:
			parts = append(parts, o.block(b))
		}
	}
	return strings.Join(parts, "\n")
}

// block is a block's lines, each ended. A list without items is no line.
func (o TextOptions) block(b Block) string {
	switch b := b.(type) {
	case Heading:
		return console.Printable(b.Text) + "\n"
	case Paragraph:
		for _, l := range b.Links {
			b.Text += " " + l.Name
		}
		return console.Printable(b.Text) + "\n"
	case Note:
		return lines(b)
	case List:
		var out []string
		for i, item := range b.Items {
			line := joined(": ", item.Name, item.Text)
			if b.Numbered {
				line = references([]int{i}) + " " + line
			}
			out = append(out, line)
		}
		return lines(out)
	case Tally:
		return console.Printable(b.String()) + "\n"
	case Fold:
		return console.Printable(b.Summary) + "\n\n" + o.blocks(b.Blocks)
	case Panel:
		return o.blocks(b.Blocks)
	case Verbatim:
		return console.Printable(b.Of+"; its output:\n"+strings.TrimRight(b.Text, "\n")) + "\n"
	case Table:
		return o.table(b)
	}
	return ""
}

func lines(all []string) string {
	var b strings.Builder
	for _, line := range all {
		b.WriteString(console.Printable(line) + "\n")
	}
	return b.String()
}

// String writes a tally: "3 faster, 1 slower".
func (t Tally) String() string {
	return strings.Join(each(t, func(c Count) string { return fmt.Sprintf("%d %s", c.N, c.Word) }), ", ")
}

// table draws aligned columns, with a blank line between groups.
func (o TextOptions) table(t Table) string {
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	w := t.writer(style, func(c Cell) string {
		switch {
		case c.Again:
			return ""
		case o.Color:
			return paint(c)
		}
		return c.plain()
	})
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(console.Printable(t.Caption) + "\n\n")
	}
	for i, line := range strings.Split(w.Render(), "\n") {
		if i > 1 && t.Rows[i-1].Group {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// plain is a cell without its looks.
func (c Cell) plain() string {
	return console.Printable(joined(" ", strings.Join(c.Code, ", ")+c.Text, c.Small))
}

// writer returns t as go-pretty has it, without the columns that are charts.
func (t Table) writer(style table.Style, text func(Cell) string) table.Writer {
	w := table.NewWriter()
	style.Format.Header = formatDefault
	w.SetStyle(style)
	var head table.Row
	var configs []table.ColumnConfig
	for _, c := range t.Columns {
		if c.Bars {
			continue
		}
		head = append(head, text(Cell{Text: c.Head}))
		config := table.ColumnConfig{Number: len(head)}
		if c.Right {
			config.Align, config.AlignHeader = alignRight, alignRight
		}
		configs = append(configs, config)
	}
	w.AppendHeader(head)
	w.SetColumnConfigs(configs)
	for _, r := range t.Rows {
		var row table.Row
		for i, c := range r.Cells {
			if r.Title || !t.Columns[i].Bars {
				row = append(row, text(c))
			}
		}
		w.AppendRow(row)
	}
	return w
}

const (
	formatDefault = text.FormatDefault
	alignRight    = text.AlignRight
)

// colors are those of a terminal for what calls for attention.
var colors = map[Tone]text.Color{
	Good: text.FgGreen, Bad: text.FgRed, Doubt: text.FgYellow, Dim: text.Faint, Reference: text.Faint,
}

// paint wraps a cell in an escape sequence, whatever go-pretty thinks of the
// environment: the caller has decided.
func paint(c Cell) string {
	if color, ok := colors[c.Tone]; ok && c.plain() != "" {
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", int(color), c.plain())
	}
	return c.plain()
}
