package report

import (
	"bytes"
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
	"axis":    func(ticks []tick) template.HTML { return template.HTML(axisBody(ticks, tableAxis)) },
	"bar":     barPicture,
	"dataURL": func(svg []byte) template.URL {
		return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
	},
}).Parse(pageText))

// HTML writes the blocks as one page. It refers to nothing outside itself, but for the
// links in Home, and all of it can be read without its script. What stands before the first
// section is its head.
func (d Doc) HTML(w io.Writer) error {
	start := max(0, slices.IndexFunc(d.Blocks, func(b Block) bool { h, ok := b.(Heading); return ok && h.ID != "" }))
	sections := contents(d.Blocks)
	head, err := pageOfBlocks(d.Blocks[:start])
	if err != nil {
		return err
	}
	main, err := pageOfBlocks(d.Blocks[start:])
	if err != nil {
		return err
	}
	var b strings.Builder
	err = pageTemplates.ExecuteTemplate(&b, "page", struct {
		Title, Footer string
		Skip, Links   []Link
		Head, Main    template.HTML
	}{d.Title, d.Footer, sections[:min(1, len(sections))], slices.Concat(d.Home, sections), head, main})
	if err == nil {
		_, err = io.WriteString(w, console.Printable(b.String()))
	}
	return err
}

// pageOfBlocks returns blocks as a part of a page. The sections that begin among them end
// with them.
func pageOfBlocks(blocks []Block) (template.HTML, error) {
	var p page
	for _, b := range blocks {
		if err := p.block(b); err != nil {
			return "", err
		}
	}
	p.end(0)
	return template.HTML(p.String()), nil
}

// Inside returns what is in a fold, for its template.
func (f Fold) Inside() (template.HTML, error) { return pageOfBlocks(f.Blocks) }

// Inside returns what is in a panel, for its template.
func (p Panel) Inside() (template.HTML, error) { return pageOfBlocks(p.Blocks) }

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
	bytes.Buffer
	open []int
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

// block writes a block: by the template of its type, but for what opens sections or is drawn.
func (p *page) block(b Block) error {
	switch b := b.(type) {
	case Heading:
		p.heading(b)
	case Figure:
		p.figure(b.chart)
	default:
		return pageTemplates.ExecuteTemplate(p, reflect.TypeOf(b).Name(), b)
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
