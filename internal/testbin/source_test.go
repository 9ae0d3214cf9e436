package testbin

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestSourcesOf: the digest changes with the tests of a package and with what is marked as a
// workload, and with nothing else.
func TestSourcesOf(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("go.mod", "module example.com/m\n\ngo 1.23\n")
	write("x.go", "package m\n\nimport _ \"example.com/m/impl\"\n")
	write("x_test.go", "package m_test\n\nimport _ \"example.com/m/work/deep\"\n")
	write("impl/impl.go", "package impl\n")
	write("work/work.go", "// Package work is what is measured.\n//\n//benchrun:workload\npackage work\n")
	write("work/deep/deep.go", "package deep\n\nimport _ \"example.com/m/work\"\n")
	write("other/other.go", "// Package other says //benchrun:workload and is none.\npackage other\n")
	b := &builder{dir: dir, options: BuildOptions{Env: []string{"GOWORK=off", "GOFLAGS=-mod=mod"}}}
	digest := func() string {
		t.Helper()
		pkgs, err := b.list(context.Background(), []string{"."})
		must(t, err)
		d := b.sourcesOf(context.Background(), pkgs)["example.com/m"]
		if len(d) != 12 {
			t.Fatalf("digest is %q", d)
		}
		return d
	}
	was := digest()
	for _, c := range []struct {
		name, text string
		changes    bool
	}{
		{"x.go", "package m\n\nimport _ \"example.com/m/impl\"\n\nvar x int\n", false},
		{"impl/impl.go", "package impl\n\nvar x int\n", false},
		{"other/other.go", "package other\n", false},
		{"x_test.go", "package m_test\n\nimport _ \"example.com/m/work/deep\"\n\nvar x int\n", true},
		{"work/work.go", "// Package work is what is measured.\n//\n//benchrun:workload\npackage work\n\nvar x int\n", true},
		{"work/deep/deep.go", "package deep\n\nimport _ \"example.com/m/work\"\n\nvar x int\n", true},
	} {
		write(c.name, c.text)
		now := digest()
		if changed := now != was; changed != c.changes {
			t.Errorf("%s: the digest changes: %v, want %v", c.name, changed, c.changes)
		}
		was = now
	}
}
