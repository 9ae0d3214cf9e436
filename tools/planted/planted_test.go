package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLocate: layout and comments make no difference to where a bug is planted, names and order do.
func TestLocate(t *testing.T) {
	src := "package p\n\ntype box[T any] struct{ n int }\n\nfunc (b *box[T]) put() {\n\tb.n++ // one more\n\tif b.n > 1 {\n\t\tb.n = 0\n\t}\n\tb.n++\n}\n\nfunc put() { b.n++ }\n"
	for _, test := range []struct{ function, old, want string }{
		{"p (*box).put", "b.n++\nif b.n > 1 {", "package p\n\ntype box[T any] struct{ n int }\n\nfunc (b *box[T]) put() {\n\tX\n\t\tb.n = 0\n\t}\n\tb.n++\n}\n\nfunc put() { b.n++ }\n"},
		{"p put", "b . n ++", "package p\n\ntype box[T any] struct{ n int }\n\nfunc (b *box[T]) put() {\n\tb.n++ // one more\n\tif b.n > 1 {\n\t\tb.n = 0\n\t}\n\tb.n++\n}\n\nfunc put() { X }\n"},
		{"p (*box).put", "b.n--", ""},
		{"p (*box).get", "b.n++", ""},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "p"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "p", "box.go"), []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		b := parse("-- wrong\nin " + test.function + "\n- " + strings.ReplaceAll(test.old, "\n", "\n- ") + "\n+ X\n")[0]
		path, got, err := b.source(root)
		if string(got) != test.want || (err == nil) != (test.want != "") || err == nil && path != filepath.Join("p", "box.go") {
			t.Errorf("%s, %q: %q in %q, %v; want %q", test.function, test.old, got, path, err, test.want)
		}
	}
}
