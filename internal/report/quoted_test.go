package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
)

// quotedRatio is a compared cell of a table of ratios, bold if it is proven that the
// ratio is not 1: for the whole report, that is, and not for this cell alone.
func quotedRatio(cell compare.Cell) string {
	if cell.Verdict.Proven() {
		return fmt.Sprintf(" **%.2f** |", cell.Vs.Ratio)
	}
	return fmt.Sprintf(" %.2f |", cell.Vs.Ratio)
}

// hold compares the part of a page that marks find, whose first group names
// results files, with what render makes of those files. With -update it writes
// what render made. Page is relative to the root of the tree; pattern is
// that of the test that calls it.
func hold(t *testing.T, page string, marks *regexp.Regexp, pattern string, render func(root, files string) []byte) {
	t.Helper()
	root := "../.."
	path := filepath.Join(root, filepath.FromSlash(page))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !marks.Match(data) {
		t.Fatalf("%s has nothing that matches %s", page, marks)
	}
	want := marks.ReplaceAllFunc(data, func(part []byte) []byte {
		files := string(marks.FindSubmatch(part)[1])
		want := render(root, files)
		if !bytes.Equal(part, want) && !*update {
			t.Fatalf("%s does not say what %s says; run go test ./report -run %s -update\ngot:\n%s\nwant:\n%s", page, files, pattern, part, want)
		}
		return want
	})
	if bytes.Equal(data, want) {
		return
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
}
