package report

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"strings"
	"testing"
)

// everyBlock is a document that has a block of each type.
func everyBlock() Doc {
	type planet struct {
		name string
		km   string
	}
	t := tabulate([]planet{{"Venus", "6052"}, {"Earth", "6371"}}, []column[planet]{
		{head: "planet", text: func(p planet) string { return p.name }},
		{head: "picture", bars: true, cell: func(planet) Cell { b := scale{1, 2}.bar(Good, 1, 1.5, 1.2, 1.8); return Cell{bar: &b} }},
		{head: "radius", right: true, cell: func(p planet) Cell { return Cell{Text: p.km, Tone: Good, Strong: p.name == "Earth"} }},
		{head: "never", hide: true, text: func(planet) string { return "unseen" }},
	})
	t.Axis = []tick{{0, "1"}}
	return Doc{Title: "Planets", Footer: "the end", Blocks: []Block{
		Heading{Level: 2, Text: "Heads & tails", ID: "heads"},
		Paragraph{Text: "A <paragraph>.", Links: []Link{{"#heads", "back"}}},
		Note{"first note", "second note"},
		List{Items: []Item{{"name", "item"}, {"", "other"}}},
		List{Items: items("a remark"), Numbered: true},
		Tally{{"good", 2, Good}, {"bad", 1, Bad}},
		Panel{Warn: true, Blocks: []Block{Paragraph{Text: "in a panel"}}},
		Fold{Summary: "more", Blocks: []Block{Heading{Level: 3, Text: "Within", ID: "within"}, labelled(t, "radii", "Radii")}},
		Verbatim{"a program: broken", "its\noutput\n"},
		Figure{Name: "f", Alt: "figure", chart: chart{title: "drawn", caption: "axes", panes: []pane{{left: "l", height: 10}}}},
	}}
}

// Each renderer shows each block, in order, and a column of a table without knowing what
// it is of.
func TestRenderersKnowBlocks(t *testing.T) {
	d := everyBlock()
	var drawn string
	save := func(f Figure, svg []byte) (string, error) {
		drawn = string(svg)
		return f.Name + ".svg", nil
	}
	common := []string{"Heads & tails", "A <paragraph>.", "first note", "second note", "name", "item", "other", "a remark", "good", "bad", "in a panel", "more", "Within", "Radii", "planet", "radius", "Venus", "6052", "Earth", "6371", "a program: broken", "its", "output"}
	for name, form := range map[string]struct {
		write func(io.Writer) error
		more  []string
	}{
		"text":     {func(w io.Writer) error { return d.Text(w, TextOptions{}) }, []string{"[1] a remark\n", "2 good, 1 bad\n", "planet  radius\n"}},
		"Markdown": {func(w io.Writer) error { return d.Markdown(w, MarkdownOptions{Save: save}) }, []string{"# Planets\n\n", "1. a remark\n", "<details>", "    output", "| Earth | **6371** |", "![figure](f.svg)"}},
		"HTML":     {d.HTML, []string{`<section id="heads"`, `href="#heads"`, `<li id="n1">`, `<div class="panel warn">`, "<details>", `<svg class="bar good"`, `class="num good">6371<`, "<figcaption>axes<", "<footer>the end<"}},
	} {
		out := string(render(t, form.write))
		text := html.UnescapeString(strings.ReplaceAll(out, "&lt;", "<"))
		at := strings.Index(text, "<main>") + 1
		for _, want := range common {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Fatalf("%s lacks %q, or has it too early:\n%s", name, want, text)
			}
			at += i
		}
		mentions(t, out, form.more...)
		if strings.Contains(out, "unseen") || name != "HTML" && strings.Contains(out, "picture") {
			t.Errorf("%s has a column that is not to be shown:\n%s", name, out)
		}
	}
	if !strings.Contains(drawn, "<title>drawn</title>") || xml.Unmarshal([]byte(drawn), new(struct{})) != nil {
		t.Errorf("the figure is %s", drawn)
	}
	// A page's sections end, also those in folds.
	page := string(render(t, d.HTML))
	if opened, ended := strings.Count(page, "<section"), strings.Count(page, "</section>"); opened != 2 || ended != 2 {
		t.Errorf("%d sections begin and %d end", opened, ended)
	}
	// A figure that cannot be kept is an error, and is left out where none are kept.
	if err := d.Markdown(io.Discard, MarkdownOptions{Save: func(Figure, []byte) (string, error) { return "", errFull }}); !errors.Is(err, errFull) {
		t.Errorf("a figure that cannot be kept: %v", err)
	}
	if out := markdownOf(t, d); strings.Contains(out, "![") {
		t.Errorf("a figure that is not kept:\n%s", out)
	}
}

// A link leads to a page or a part of one, and nowhere else.
func TestHref(t *testing.T) {
	for in, want := range map[string]string{"#b1": "#b1", "live": "live", "a/b:c": "a/b:c", "/": "/", "javascript:alert(1)": "#", "https://x": "#"} {
		if got := href(in); got != want {
			t.Errorf("href(%q) = %q, want %q", in, got, want)
		}
	}
}
