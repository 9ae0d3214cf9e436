package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/dynolab/dyno/internal/console"
)

// MarkdownOptions say what a Markdown document has beside its text. The zero value is
// nothing.
type MarkdownOptions struct {
	// Save keeps the SVG of a figure, and returns the path by which the document leads
	// to it. Without it figures are left out.
	Save func(f Figure, svg []byte) (path string, err error)
}

// Markdown writes the blocks as a document. Charts stand in files of their own.
func (d Doc) Markdown(w io.Writer, o MarkdownOptions) error {
	out, err := o.blocks(d.Blocks)
	if err != nil {
		return err
	}
	if d.Title != "" {
		out = "# " + escape(d.Title) + "\n\n" + out
	}
	_, err = io.WriteString(w, out+"\n")
	return err
}

// blocks are set apart by blank lines.
func (o MarkdownOptions) blocks(blocks []Block) (string, error) {
	var parts []string
	for _, b := range blocks {
		part, err := o.block(b)
		if err != nil {
			return "", err
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

func (o MarkdownOptions) block(b Block) (string, error) {
	switch b := b.(type) {
	case Heading:
		return strings.Repeat("#", b.Level) + " " + escape(b.Text), nil
	case Paragraph:
		out := escape(b.Text)
		for _, l := range b.Links {
			out += fmt.Sprintf(" [%s](%s)", escape(l.Name), urlPath(l.Href))
		}
		return out, nil
	case Note:
		return strings.Join(each(b, func(line string) string { return "**" + escape(line) + "**" }), "\n\n"), nil
	case List:
		return b.markdown(), nil
	case Tally:
		return escape(b.String()), nil
	case Figure:
		return o.figure(b)
	case Fold:
		out, err := o.blocks(b.Blocks)
		return "<details>\n<summary>" + escape(b.Summary) + "</summary>\n\n" + out + "\n\n</details>", err
	case Panel:
		return o.blocks(b.Blocks)
	case Verbatim:
		text := strings.ReplaceAll(strings.TrimRight(console.Printable(b.Text), "\n"), "\n", "\n    ")
		return "## " + escape(b.Of) + "\n\n    " + text, nil
	case Table:
		return joined("\n\n", escape(b.Caption), b.writer(table.StyleDefault, markdownCell).RenderMarkdown()), nil
	}
	return "", nil
}

func (l List) markdown() string {
	var out []string
	for i, item := range l.Items {
		bullet := "- "
		if l.Numbered {
			bullet = fmt.Sprintf("%d. ", i+1)
		}
		out = append(out, bullet+escape(joined(": ", item.Name, item.Text)))
	}
	return strings.Join(out, "\n")
}

func (o MarkdownOptions) figure(f Figure) (string, error) {
	if o.Save == nil {
		return "", nil
	}
	path, err := o.Save(f, f.chart.file())
	return fmt.Sprintf("![%s](%s)", escape(f.Alt), path), err
}

// markdownCell is a cell's markup: what is strong is bold, references are italic.
func markdownCell(c Cell) string {
	if c.Again {
		return ""
	}
	quoted := strings.Join(each(c.Code, code), ", ")
	c.Code = nil
	out := quoted + escape(c.plain())
	switch {
	case c.Strong:
		return "**" + out + "**"
	case c.Tone == Reference:
		return "*" + out + "*"
	}
	return out
}

// code makes s a code span, whatever backticks it holds.
func code(s string) string {
	s = strings.ReplaceAll(console.Printable(s), "\n", " ")
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
	return escapes.Replace(console.Printable(s))
}

// To make a replacer takes longer than to use it.
var (
	escapes = strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`, "]", `\]`, "\n", " ",
	)
	inLinks = strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "#", "%23", "?", "%3F", `\`, "%5C")
)

// urlPath escapes what a link destination in Markdown cannot hold.
func urlPath(s string) string {
	return inLinks.Replace(console.Printable(s))
}
