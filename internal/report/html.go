package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed html/style.css
var pageStyle string

// styleSheet is that of a page: of its charts, and of the rest.
var styleSheet = chartStyle + pageStyle

// Policy returns the Content-Security-Policy of the page: it lets in the one style
// sheet that is in it, and pictures that are in it, and nothing else: no script,
// nothing from elsewhere.
func Policy() string {
	sum := sha256.Sum256([]byte(styleSheet))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

// Style returns the style sheet of the page, for others that are to look like it.
func Style() template.CSS { return template.CSS(styleSheet) }

// HTML writes the blocks as one page. It refers to nothing outside itself, but for the
// links in Home, and has no script. What stands before the first section is its head.
func (d Doc) HTML(w io.Writer) error {
	var p page
	p.add(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>%s</style>
</head>
<body>
`, Policy(), d.Title, template.HTML(styleSheet))
	start := slices.IndexFunc(d.Blocks, func(b Block) bool { h, ok := b.(Heading); return ok && h.ID != "" })
	start = max(start, 0)
	sections := contents(d.Blocks)
	for _, l := range sections[:min(1, len(sections))] {
		p.add("<a class=\"skip\" href=\"%s\">Skip to %s</a>\n", l.Href, lowerFirst(l.Name))
	}
	p.add("<svg class=\"defs\" aria-hidden=\"true\" focusable=\"false\">%s</svg>\n<header>\n<h1>%s</h1>\n", template.HTML(symbolDefs()), d.Title)
	p.blocks(d.Blocks[:start])
	p.add("</header>\n")
	if links := slices.Concat(d.Home, sections); len(links) > 0 {
		p.add("<nav aria-label=\"Sections\"><ul>\n")
		for _, l := range links {
			p.add("<li><a href=\"%s\">%s</a></li>\n", href(l.Href), l.Name)
		}
		p.add("</ul></nav>\n")
	}
	p.add("<main>\n")
	p.blocks(d.Blocks[start:])
	p.add("</main>\n<footer>%s</footer>\n</body>\n</html>\n", d.Footer)
	_, err := w.Write(p.b)
	return err
}

// contents are the links to the sections of blocks.
func contents(blocks []Block) (links []Link) {
	for _, b := range blocks {
		if h, ok := b.(Heading); ok && h.Level == 2 && h.ID != "" {
			links = append(links, Link{"#" + h.ID, cmp.Or(h.Short, h.Text)})
		}
	}
	return links
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// href is a link that cannot be a script: a part of the page, or a path.
func href(s string) string {
	if scheme, _, ok := strings.Cut(s, ":"); ok && !strings.ContainsAny(scheme, "/?#") {
		return "#"
	}
	return s
}

// A page is HTML as it is written. open are the levels of the sections that are open.
type page struct {
	b    []byte
	open []int
}

// add writes markup. Its arguments are text, unless they are [template.HTML], or
// markup of charts.
func (p *page) add(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = template.HTMLEscapeString(a)
		case Tone:
			args[i] = template.HTMLEscapeString(string(a))
		}
	}
	p.b = fmt.Appendf(p.b, format, args...)
}

// blocks writes blocks. The sections that begin among them end with them.
func (p *page) blocks(blocks []Block) {
	outside := p.open
	p.open = nil
	for _, b := range blocks {
		p.block(b)
	}
	p.end(0)
	p.open = outside
}

// end closes the sections of a level and those in them.
func (p *page) end(level int) {
	for n := len(p.open); n > 0 && p.open[n-1] >= level; n-- {
		p.add("</section>\n")
		p.open = p.open[:n-1]
	}
}

func (p *page) block(b Block) {
	switch b := b.(type) {
	case Heading:
		p.heading(b)
	case Paragraph:
		p.add("<p%s>%s", class(b.Tone), b.Text)
		for _, l := range b.Links {
			p.add(` <a href="%s">%s</a>`, href(l.Href), l.Name)
		}
		p.add("</p>\n")
	case Note:
		for _, line := range b {
			p.add("<p><b class=\"bad\">%s</b></p>\n", line)
		}
	case List:
		p.list(b)
	case Tally:
		p.add("<ul class=\"tally\" aria-label=\"Verdicts\">\n")
		for _, c := range b {
			p.add("<li><b%s>%d</b> %s</li>\n", class(c.Tone), c.N, c.Word)
		}
		p.add("</ul>\n")
	case Figure:
		p.figure(b.chart)
	case Picture:
		// As a picture, which cannot run or load anything, whatever is in it.
		data := base64.StdEncoding.EncodeToString(b.SVG)
		p.add("<img class=\"flame\" src=\"data:image/svg+xml;base64,%s\" alt=\"%s\">\n", data, b.Alt)
	case Fold:
		p.add("<details%s><summary>%s</summary>\n", when(b.Open, " open"), b.Summary)
		p.blocks(b.Blocks)
		p.add("</details>\n")
	case Panel:
		p.add("<div class=\"panel%s\">", when(b.Warn, " warn"))
		p.blocks(b.Blocks)
		p.add("</div>\n")
	case Verbatim:
		p.add("<p>%s</p>\n<pre>%s</pre>\n", b.Of, b.Text)
	case Table:
		p.table(b)
	}
}

// when is markup that is there under a condition.
func when(ok bool, s template.HTML) template.HTML {
	if ok {
		return s
	}
	return ""
}

// class is an attribute of the classes that are not empty.
func class(all ...Tone) template.HTML {
	names := joined(" ", each(all, func(t Tone) string { return string(t) })...)
	return when(names != "", template.HTML(` class="`+names+`"`))
}

// hidden are the attributes of pictures that only eyes need.
const hidden template.HTML = `aria-hidden="true" focusable="false"`

func (p *page) heading(h Heading) {
	p.end(h.Level)
	if h.ID == "" {
		p.add("<h%d>%s</h%d>\n", h.Level, h.Text, h.Level)
		return
	}
	p.open = append(p.open, h.Level)
	p.add("<section id=\"%s\" aria-labelledby=\"%s-h\"><h%d id=\"%s-h\">%s</h%d>\n", h.ID, h.ID, h.Level, h.ID, h.Text, h.Level)
}

// noteID is where a note stands.
func noteID(i int) string { return fmt.Sprintf("n%d", i+1) }

func (p *page) list(l List) {
	if len(l.Items) == 0 {
		return
	}
	tag := template.HTML("ul")
	if l.Numbered {
		tag = "ol"
	}
	p.add("<%s%s>\n", tag, class(l.Tone))
	for i, item := range l.Items {
		id, text := template.HTML(""), item.Text
		if l.Numbered {
			id = template.HTML(` id="` + noteID(i) + `"`)
		}
		p.add("<li%s>", id)
		if item.Name != "" {
			p.add("<code>%s</code>", item.Name)
			text = ": " + text
		}
		p.add("%s</li>\n", text)
	}
	p.add("</%s>\n", tag)
}

// table writes a table that scrolls by itself where it is wider than the page. The table
// that answers never is.
func (p *page) table(t Table) {
	name := Tone("detail")
	if len(t.Axis) == 0 {
		name = ""
	}
	if t.Answer {
		name = "answer"
	} else {
		p.add(`<div class="wide" role="region" tabindex="0" aria-label="%s">`, t.Label)
	}
	p.add("<table%s>\n", class(name))
	if t.Caption != "" {
		p.add("<caption>%s</caption>\n", t.Caption)
	}
	p.add("<thead><tr>")
	for _, c := range t.Columns {
		p.add(`<th scope="col"%s>%s</th>`, class(c.class()), c.Head)
	}
	p.add("</tr></thead>\n<tbody>\n")
	for i, r := range t.Rows {
		if r.Title && i > 0 {
			p.add("</tbody>\n<tbody>\n")
		}
		p.row(t, r)
	}
	p.add("</tbody>")
	if len(t.Axis) > 0 {
		p.add("\n<tfoot><tr>")
		for _, c := range t.Columns {
			p.add("<td%s>", class(c.class()))
			if c.Bars {
				p.add(`<svg class="axis" %s>%s</svg>`, hidden, axisBody(t.Axis))
			}
			p.add("</td>")
		}
		p.add("</tr></tfoot>\n")
	}
	p.add("</table>%s\n", when(!t.Answer, "</div>"))
}

// class is the style of a column's cells.
func (c Column) class() Tone {
	switch {
	case c.Bars:
		return "pic"
	case c.Right:
		return "num"
	case c.Long:
		return "long"
	}
	return ""
}

func (p *page) row(t Table, r Row) {
	if r.Title {
		p.add(`<tr><th scope="rowgroup" colspan="%d">`, len(t.Columns))
		p.cell(r.Cells[0])
		p.add("</th></tr>\n")
		return
	}
	p.add("<tr>")
	for i, c := range r.Cells {
		open, end := template.HTML("<td"), template.HTML("</td>")
		if i == 0 || t.Columns[i].Name {
			open, end = `<th scope="row"`, "</th>"
		}
		p.add("%s%s>", open, class(t.Columns[i].class(), c.Tone))
		p.cell(c)
		p.add("%s", end)
	}
	p.add("</tr>\n")
}

// cell writes what is in a cell. What refers to notes leads to them.
func (p *page) cell(c Cell) {
	if c.bar != nil {
		p.add(`<svg%s %s>%s</svg>`, class("bar", c.bar.class), hidden, c.bar.body())
		return
	}
	for i, s := range c.Code {
		p.add("%s<code>%s</code>", when(i > 0, ", "), s)
	}
	text := template.HTMLEscapeString(c.Text)
	for _, n := range c.Notes {
		mark := references([]int{n})
		text = strings.ReplaceAll(text, mark, fmt.Sprintf(`<a href="#%s" aria-label="note %d">%s</a>`, noteID(n), n+1, mark))
	}
	if c.Link != "" {
		p.add(`<a href="%s">%s</a>`, href(c.Link), template.HTML(text))
	} else {
		p.add("%s", template.HTML(text))
	}
	if c.Small != "" {
		p.add(" <small>%s</small>", c.Small)
	}
}

// figure writes a chart: a grid of its panes, with what stands left and right of them.
func (p *page) figure(c chart) {
	p.add("<figure><figcaption>%s</figcaption>\n", c.caption)
	if len(c.keys) > 0 {
		p.add("<ul class=\"key\">\n")
		for _, k := range c.keys {
			p.add(`<li><svg%s %s>%s</svg>%s`, class(Tone(k.style.class)), hidden, keyBody(k), k.name)
			if k.note != "" {
				p.add(" <small>%s</small>", k.note)
			}
			p.add("</li>\n")
		}
		p.add("</ul>\n")
	}
	p.add("<div class=\"chart\">\n")
	for _, s := range c.panes {
		height := pixels(s.height)
		if len(s.ticks) > 0 {
			p.add(`<svg class="ticks" height="%s" %s>%s</svg>`, height, hidden, tickBody(s.ticks, s.height))
		} else {
			p.add("<span>%s</span>", s.left)
		}
		role := hidden
		if s.label != "" {
			role = template.HTML(`role="img" aria-label="` + template.HTMLEscapeString(s.label) + `"`)
		}
		p.add(`<svg%s height="%s" %s>%s</svg>`, class(s.class), height, role, s.body)
		p.add("<span class=\"dim num\">%s</span>\n", joined(" ", s.right...))
	}
	p.add("</div></figure>\n")
}
