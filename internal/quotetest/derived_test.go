package quotetest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUnchanged: a page is current until it, or what it is made of, changes; by night it is made
// again whatever it says.
func TestUnchanged(t *testing.T) {
	t.Setenv("DYNO_NIGHTLY", "")
	source := filepath.Join(t.TempDir(), "a.go")
	write := func(text string) {
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("package a\n")
	page := Stamp(t, []byte("a table\n"), source)
	if !Unchanged(t, page, source) || !bytes.HasPrefix(page, []byte("a table\n<!-- made of: ")) {
		t.Errorf("not current after it was written:\n%s", page)
	}
	if again := Stamp(t, page, source); !bytes.Equal(again, page) {
		t.Errorf("written again it differs:\n%s", again)
	}
	if Unchanged(t, bytes.Replace(page, []byte("table"), []byte("cable"), 1), source) {
		t.Error("current although the page was changed")
	}
	if Unchanged(t, []byte("a table\n"), source) {
		t.Error("current although it does not say what it was made of")
	}
	write("package a // which is commented on\n")
	if !Unchanged(t, page, source) {
		t.Error("not current although only a comment has changed")
	}
	tests := filepath.Join(filepath.Dir(source), "a_test.go")
	if err := os.WriteFile(tests, []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !Unchanged(t, page, filepath.Join(filepath.Dir(source), "*.go")) {
		t.Error("not current although only another package's tests have changed")
	}
	write("package b\n")
	if Unchanged(t, page, source) {
		t.Error("current although what it was made of has changed")
	}
	write("package a\n")
	t.Setenv("DYNO_NIGHTLY", "1")
	if Unchanged(t, page, source) {
		t.Error("not made again by night")
	}
}
