// Package quotetest holds what pages quote to what it is made of: a table of a document that
// is derived from results, or from the program itself, stands between two marks, and a test
// makes it anew.
package quotetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Update is set by -update: what differs is then rewritten.
var Update = flag.Bool("update", false, "rewrite golden files and what pages quote; look at the difference before you commit it")

// Root is the root of the tree for the tests of a package two folders below it.
const Root = "../.."

// Hold compares each part of a page that stands between
//
//	<!-- mark: begin args -->
//	<!-- mark: end -->
//
// with what render makes of its arguments, in lines that are ended. With -update it writes
// that. page is relative to the root.
func Hold(t *testing.T, page, mark string, render func(args []string) string) {
	t.Helper()
	path := filepath.Join(Root, filepath.FromSlash(page))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile("(?s)(<!-- " + mark + ": begin([^\n]*?) -->\n)(.*?)<!-- " + mark + ": end -->")
	if !marks.Match(data) {
		t.Fatalf("%s has no marks %q", page, mark)
	}
	differs := false
	made := marks.ReplaceAllStringFunc(string(data), func(part string) string {
		m := marks.FindStringSubmatch(part)
		want := render(strings.Fields(m[2]))
		if m[3] != want && !*Update {
			t.Fatalf("%s does not say what it quotes (%s%s); run go test -run '^%s$' -update in this folder\ngot:\n%s\nwant:\n%s", page, mark, m[2], t.Name(), m[3], want)
		}
		differs = differs || m[3] != want
		return m[1] + want + "<!-- " + mark + ": end -->"
	})
	if differs {
		if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A Table is Markdown as it grows: a line for each row.
type Table struct{ strings.Builder }

// Sayf adds text.
func (b *Table) Sayf(format string, args ...any) { fmt.Fprintf(b, format, args...) }

// Head begins a table. Of its columns, align has an l for each of text and an r for each of
// numbers; the last one counts for all further ones.
func (b *Table) Head(align string, heads ...string) {
	b.Row(heads...)
	b.WriteString("|")
	for i := range heads {
		b.WriteString(map[byte]string{'l': "---|", 'r': "---:|"}[align[min(i, len(align)-1)]])
	}
	b.WriteString("\n")
}

// Row adds a row.
func (b *Table) Row(cells ...string) {
	b.WriteString("|")
	for _, cell := range cells {
		b.WriteString(strings.TrimRight(" "+cell, " ") + " |")
	}
	b.WriteString("\n")
}
