package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/console"
)

//go:embed html/style.css
var pageStyle string

//go:embed html/page.js
var pageScript string

// styleSheet is that of a page: of its charts, and of the rest.
var styleSheet = chartStyle + pageStyle

// Policy returns the Content-Security-Policy of the page: it lets in the one style sheet,
// the one script and the pictures that are in it, and scripts from the sources that are
// given, and nothing else.
func Policy(scripts ...string) string {
	return "default-src 'none'; style-src " + sourceOf(styleSheet) + "; script-src " + joined(" ", append([]string{sourceOf(pageScript)}, scripts...)...) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

// sourceOf is how a policy names what is in the page itself.
func sourceOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Style returns the style sheet of the page, for others that are to look like it.
func Style() template.CSS { return template.CSS(styleSheet) }

//go:embed html/page.tmpl
var pageText string

// pageTemplates have a page, and the types of blocks by their names.
var pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"policy": func() string { return Policy() }, "script": func() template.JS { return template.JS(pageScript) }, "style": Style, "lowerFirst": lowerFirst, "href": href, "class": class, "noteID": noteID, "noted": noted, "breaking": breaking,
	"symbols": func() template.HTML { return template.HTML(symbolDefs()) },
	"bar":     barPicture,
}).Parse(pageText))

// HTML writes the blocks as one page. It refers to nothing outside itself, but for the
// links in Home, and all of it can be read without its script. What stands before the first
// section is its head.
func (d Doc) HTML(w io.Writer) error {
	start := max(0, slices.IndexFunc(d.Blocks, func(b Block) bool { h, ok := b.(Heading); return ok && h.ID != "" }))
	sections := contents(d.Blocks)
	return writePage(w, func(p *page) error {
		return cmp.Or(
			p.template("begin", struct {
				Title string
				Skip  []Link
			}{d.Title, sections[:min(1, len(sections))]}),
			p.blocks(d.Blocks[:start]), p.template("links", slices.Concat(d.Home, sections)),
			p.blocks(d.Blocks[start:]), p.template("end", d.Footer))
	})
}

// writePage writes to w what write puts on a page.
func writePage(w io.Writer, write func(p *page) error) error {
	p := &page{Writer: bufio.NewWriterSize(console.NewScreen(w), 1<<16), classes: make(map[[3]Tone]string)}
	return cmp.Or(write(p), p.Flush())
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

// class is an attribute of the classes that are not empty.
func class(all ...Tone) template.HTMLAttr {
	names := joined(" ", each(all, func(t Tone) string { return string(t) })...)
	if names == "" {
		return ""
	}
	return template.HTMLAttr(` class="` + template.HTMLEscapeString(names) + `"`)
}

// Class is the style of a table.
func (t Table) Class() Tone {
	if t.Look == "" && len(t.Axis) > 0 {
		return "detail"
	}
	return t.Look
}

// Class is the style of a column's cells.
func (c Column) Class() Tone {
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

// noteID is where a note stands.
func noteID(i int) string { return fmt.Sprintf("n%d", i+1) }

// noted is the text of a cell, in which what refers to notes leads to them.
func noted(c Cell) template.HTML {
	text := template.HTMLEscapeString(c.Text)
	if c.Link != "" {
		text = string(breaking(c.Text))
	}
	for _, n := range c.Notes {
		mark := references([]int{n})
		text = strings.ReplaceAll(text, mark, fmt.Sprintf(`<a href="#%s" aria-label="note %d">%s</a>`, noteID(n), n+1, mark))
	}
	return template.HTML(text)
}

// breaking is text whose names break between their words if they have to.
func breaking(text string) template.HTML {
	return template.HTML(wordEnd.ReplaceAllString(template.HTMLEscapeString(text), "$1$2<wbr>$3"))
}

// wordEnd is where a name may break on a narrow screen: after a slash, and between its words.
var wordEnd = regexp.MustCompile(`(/)|([a-z0-9])([A-Z])`)

// hidden are the attributes of pictures that only eyes need.
const hidden template.HTML = `aria-hidden="true" focusable="false"`

// barPicture is the bar of a cell; "" if it has none.
func barPicture(c Cell) template.HTML {
	switch {
	case c.spark != nil:
		return template.HTML(fmt.Sprintf(`<svg%s height="%d" %s>%s</svg>`, class("spark", c.Tone), sparkHeight, hidden, c.spark))
	case c.bar == nil:
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg%s %s>%s</svg>`, class("bar", c.bar.class), hidden, c.bar.body()))
}

// A page is HTML as it is written. open are the levels of the sections that are open.
type page struct {
	*bufio.Writer
	open    []int
	classes map[[3]Tone]string // of cells: most are of a few
}

// class is the function of that name for a cell.
func (p *page) class(column, tone, heat Tone) string {
	key := [3]Tone{column, tone, heat}
	s, ok := p.classes[key]
	if !ok {
		s = string(class(column, tone, heat))
		p.classes[key] = s
	}
	return s
}

// template writes what the template of this name makes of data.
func (p *page) template(name string, data any) error {
	return pageTemplates.ExecuteTemplate(p, name, data)
}

// blocks writes blocks as a part of the page. The sections that begin among them end with them.
func (p *page) blocks(blocks []Block) error {
	outside := p.open
	p.open = nil
	for _, b := range blocks {
		if err := p.block(b); err != nil {
			return err
		}
	}
	p.end(0)
	p.open = outside
	return nil
}

// inPages writes text as the templates do.
var inPages = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// string writes markup. Flush reports what fails.
func (p *page) string(parts ...string) {
	for _, s := range parts {
		_, _ = p.WriteString(s)
	}
}

// add writes markup. Arguments that are strings are text.
func (p *page) add(format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = template.HTMLEscapeString(text)
		}
	}
	fmt.Fprintf(p, format, args...)
}

// end closes the sections of a level and those in them.
func (p *page) end(level int) {
	for n := len(p.open); n > 0 && p.open[n-1] >= level; n-- {
		p.add("</section>\n")
		p.open = p.open[:n-1]
	}
}

// block writes a block: by the template of its type, but for what opens sections, has other blocks
// in it, or is most of a page: a template takes several microseconds for each cell of a table.
func (p *page) block(b Block) error {
	switch b := b.(type) {
	case Heading:
		p.heading(b)
	case Figure:
		p.figure(b.chart)
	case Table:
		return p.table(b)
	case Fold:
		return p.around(b.Blocks, "<details"+only(b.Open, " open")+"><summary>"+inPages.Replace(b.Summary)+"</summary>\n", "</details>\n")
	case Panel:
		return p.around(b.Blocks, `<div class="panel`+only(b.Warn, " warn")+`">`, "</div>\n")
	default:
		return p.template(reflect.TypeOf(b).Name(), b)
	}
	return nil
}

// around writes blocks between two texts.
func (p *page) around(blocks []Block, before, after string) error {
	p.string(before)
	err := p.blocks(blocks)
	p.string(after)
	return err
}

// only is text, if there is to be any.
func only(there bool, text string) string {
	if there {
		return text
	}
	return ""
}

// table writes a table. It scrolls by itself where it is wider than the page; the ratios below names
// never are. The axis of bars is in the head, which stays in view and is on each printed page.
func (p *page) table(t Table) error {
	scrolls := t.Look != Answer
	if scrolls {
		p.string(`<div class="wide" role="region" tabindex="0" aria-label="`, inPages.Replace(t.Label), `">`)
	}
	p.string("<table", string(class(t.Class())), ">\n")
	if t.Caption != "" {
		p.string("<caption><span>", inPages.Replace(t.Caption), "</span></caption>\n")
	}
	p.string("<thead><tr>")
	classes := each(t.Columns, Column.Class)
	for i, c := range t.Columns {
		p.string(`<th scope="col"`, string(class(classes[i])), ">", inPages.Replace(c.Head))
		if c.Bars && len(t.Axis) > 0 {
			p.string(`<svg class="axis" `, string(hidden), ">", string(axisBody(t.Axis, tableAxis)), "</svg>")
		}
		p.string("</th>")
	}
	p.string("</tr></thead>\n<tbody>\n")
	for i, r := range t.Rows {
		if r.Title {
			p.string(only(i > 0, "</tbody>\n<tbody>\n"), `<tr><th scope="rowgroup" colspan="`, strconv.Itoa(len(t.Columns)), `">`)
			if err := p.cell(r.Cells[0]); err != nil {
				return err
			}
			p.string("</th></tr>\n")
			continue
		}
		p.string("<tr>")
		for k, c := range r.Cells {
			element := "td"
			if t.Columns[k].Name || k == 0 {
				element = "th"
				p.string(`<th scope="row"`, p.class(classes[k], c.Tone, ""), ">")
			} else {
				p.string("<td", p.class(classes[k], c.Tone, c.Heat))
				if c.Hint != "" {
					p.string(` title="`, inPages.Replace(c.Hint), `"`)
				}
				p.string(">")
			}
			if err := p.cell(c); err != nil {
				return err
			}
			p.string("</", element, ">")
		}
		p.string("</tr>\n")
	}
	p.string("</tbody></table>", only(scrolls, "</div>"), "\n")
	return nil
}

// cell writes what is in a cell. Links are for the template, which knows what may be in one.
func (p *page) cell(c Cell) error {
	if c.Link != "" {
		return p.template("Linked", c)
	}
	if picture := barPicture(c); picture != "" {
		p.string(string(picture))
		return nil
	}
	for i, s := range c.Code {
		p.string(only(i > 0, ", "), "<code>", inPages.Replace(s), "</code>")
	}
	p.string(string(noted(c)))
	if c.Small != "" {
		p.string(" <small>", inPages.Replace(c.Small), "</small>")
	}
	return nil
}

func (p *page) heading(h Heading) {
	p.end(h.Level)
	if h.ID == "" {
		p.add("<h%d>%s</h%d>\n", h.Level, breaking(h.Text), h.Level)
		return
	}
	p.open = append(p.open, h.Level)
	class := ""
	if h.Level == 3 {
		class = ` class="benchmark"`
	}
	p.add("<section%s id=\"%s\" aria-labelledby=\"%s-h\"><h%d id=\"%s-h\">%s</h%d>\n", template.HTML(class), h.ID, h.ID, h.Level, h.ID, breaking(h.Text), h.Level)
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
