package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dynolab/dyno/internal/compare"
)

// hostile returns a copy of v in which every string has something before it and behind it.
func hostile[T any](v T, before, behind string) T {
	var walk func(v reflect.Value) reflect.Value
	walk = func(v reflect.Value) reflect.Value {
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		switch v.Kind() {
		case reflect.String:
			if v.Type() == reflect.TypeFor[string]() && v.Len() > 0 {
				out.SetString(before + v.String() + behind)
			}
		case reflect.Pointer:
			if !v.IsNil() {
				out.Set(reflect.New(v.Type().Elem()))
				out.Elem().Set(walk(v.Elem()))
			}
		case reflect.Slice:
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(walk(v.Index(i)))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					out.Field(i).Set(walk(v.Field(i)))
				}
			}
		}
		return out
	}
	return walk(reflect.ValueOf(v)).Interface().(T)
}

// ours are the escape sequences of colours.
var ours = regexp.MustCompile("\x1b\\[[0-9]+m")

// unsafeIn says what of a text a terminal would obey.
func unsafeIn(text string) string {
	if !utf8.ValidString(text) {
		return "bytes that are no UTF-8"
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			return fmt.Sprintf("%U in %q", r, text[max(0, i-40):min(len(text), i+40)])
		}
	}
	return ""
}

// TestHostileNames: whatever names, units, labels, settings, reasons and printed text hold, no
// output has a control character, a mark that turns the direction of text, a formula or markup
// of theirs.
func TestHostileNames(t *testing.T) {
	const controls = "\x1b]0;pwned\x07\x1b[2J\x1b[31m\r\b\x00\x7f\u009b31m\u202etxt\u2066\u200f\ufeff\xff"
	markup := []string{"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[link](javascript:alert(1))", `"><b>`, "`<i>"}
	for _, before := range []string{"=HYPERLINK(\"http://x\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "＝1+1", ""} {
		for name, made := range map[string]*compare.Comparison{"interleaved": interleaved(t), "turns": turns(t), "unpaired": unpaired(t)} {
			c := hostile(made, before, controls+strings.Join(markup, ""))
			forms := map[string]string{
				"text": terminalOf(t, c), "summary": plainText(t, Comparison(c, Screen, Extra{})),
				"color": textOf(t, Comparison(c, Terminal, Extra{}), TextOptions{Color: true}),
				"md":    markdownOf(t, Comparison(c, Document, Extra{})), "html": pageOf(t, c, Extra{}),
				"md comment": markdownOf(t, Comment(c, hostile(someVersions, before, controls+strings.Join(markup, "")))),
				"json":       jsonOf(t, c, nil), "csv": string(render(t, func(w io.Writer) error { return CSV(w, c) })),
				"html conform": string(render(t, hostileMatrix(before, controls+strings.Join(markup, "")).HTML)),
			}
			for name, write := range Services {
				forms["json "+name] = string(render(t, func(w io.Writer) error { return write(w, c) }))
			}
			for form, out := range forms {
				t.Run(strings.Join([]string{name, form, strconv.Quote(before)}, "/"), func(t *testing.T) { harmless(t, form, out, markup) })
			}
			for i, f := range charts(Comparison(c, Page, Extra{}).Blocks) {
				harmless(t, fmt.Sprint("svg ", name, i), string(f.chart.file()), markup)
			}
		}
	}
}

// hostileMatrix is a page of clauses that fail.
func hostileMatrix(before, behind string) Doc {
	return Conformance(hostile(matrix(), before, behind), Page)
}

// charts are the figures among blocks.
func charts(blocks []Block) (all []Figure) {
	for _, b := range blocks {
		switch b := b.(type) {
		case Figure:
			all = append(all, b)
		case Fold:
			all = append(all, charts(b.Blocks)...)
		case Panel:
			all = append(all, charts(b.Blocks)...)
		}
	}
	return all
}

func harmless(t *testing.T, form, out string, markup []string) {
	t.Helper()
	if strings.HasPrefix(form, "color") {
		if !ours.MatchString(out) {
			t.Errorf("%s: there is no colour", form)
		}
		out = ours.ReplaceAllString(out, "")
	}
	if bad := unsafeIn(out); bad != "" {
		t.Errorf("%s: %s", form, bad)
	}
	switch {
	case strings.HasPrefix(form, "csv"):
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range slices.Concat(rows...) {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && strings.IndexAny(cell, "=+-@\t\r＝＋－＠") == 0 {
				t.Errorf("a cell is a formula: %q", cell)
			}
		}
	case strings.HasPrefix(form, "json"):
		if !json.Valid([]byte(out)) {
			t.Error("it is no JSON")
		}
	default:
		isMarkup := strings.HasPrefix(form, "html") || strings.HasPrefix(form, "md") || strings.HasPrefix(form, "svg")
		if strings.HasPrefix(form, "md") {
			out = codeSpan.ReplaceAllString(strings.ReplaceAll(out, "\\`", ""), "")
		}
		for _, m := range markup {
			tag := strings.HasPrefix(m, "<") || strings.HasPrefix(m, `"`) && !strings.HasPrefix(form, "md")
			if tag && isMarkup && strings.Contains(out, m) || strings.HasPrefix(form, "md") && strings.HasPrefix(m, "[") && strings.Contains(out, m) {
				at := strings.Index(out, m)
				t.Errorf("%s: %q stands there as it is: %q", form, m, out[max(0, at-300):at+200])
			}
		}
	}
}

// codeSpan is what stands between as many backticks as before it, which is no markup.
var codeSpan = regexp.MustCompile("`` .*? ``|`[^`]*`|(?m:^    .*$)")
