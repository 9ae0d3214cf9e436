package testbin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSourcesOf: the digest changes with the benchmarks of a package, what they are made of, and
// what is marked as a workload, and with nothing else.
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
	const head = "package m_test\n\nimport _ \"example.com/m/work/deep\"\n\n"
	const bench = "const (\n\tc0 = iota\n\tc1\n)\n\ntype kind struct{ n int }\n\nfunc (k *kind) add() { k.n += c1 }\n\nfunc BenchmarkX(b *testing.B) { var k kind; k.n = helper(); var do interface{ add() } = &k; do.add() }\n"
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
		{"x_test.go", head + bench, true},
		{"x_test.go", head + "func TestX(t *testing.T) { unit() }\n\nfunc unit() {}\n\n// BenchmarkX is one.\n" + bench, false},
		{"x_test.go", head + strings.ReplaceAll(bench, "+= c1", "-= c1"), true},                                // a method of a type that is used
		{"x_test.go", head + strings.NewReplacer("+= c1", "-= c1", "= iota", "= iota+1").Replace(bench), true}, // a constant that another one counts on from
		{"y_test.go", "package m_test\n\nfunc helper() int { return 2 }\n", true},
		{"y_test.go", "package m_test\n\nfunc helper() int { return 3 }\n", true},
		{"y_test.go", "package m_test\n\nfunc helper() int { return 3 }\n\nfunc TestY() {}\n", false},
		{"y_test.go", "package m_test\n\nfunc init() {}\n\nfunc helper() int { return 3 }\n", true},
		{"y_test.go", "package m_test\n\nthis does not parse\n", true},
		{"y_test.go", "package m_test\n\nthis does not parse either\n", true},
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

// TestSourcesOfAlone: of a package that needs only the standard library nothing is listed, and
// its digest is what listing gives, also if it is a workload itself.
func TestSourcesOfAlone(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		may  bool
	}{
		"standard":       {"package m\n\nimport _ \"os\"\n", false},
		"workload":       {"//benchrun:workload\npackage m\n", true},
		"another":        {"package m\n\nimport _ \"example.com/m/another\"\n", true},
		"name as of std": {"package m\n\nimport _ \"os/another\"\n", true},
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.23\n"), 0o644))
		must(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte(c.text), 0o644))
		must(t, os.WriteFile(filepath.Join(dir, "x_test.go"), []byte("package m_test\n\nimport (\n\t_ \"example.com/m\"\n\t_ \"testing\"\n)\n"), 0o644))
		b := &builder{dir: dir, options: BuildOptions{Env: []string{"GOWORK=off", "GOFLAGS="}}}
		pkgs, err := b.list(t.Context(), []string{"."})
		must(t, err)
		listed := b.sourcesOf(t.Context(), pkgs)["example.com/m"] // without settings all may be of a module
		must(t, b.readSettings(t.Context()))
		if may := b.mayHaveWorkload(pkgs[0]); may != c.may {
			t.Errorf("%s: may have a workload: %v", name, may)
		}
		if now := b.sourcesOf(t.Context(), pkgs)["example.com/m"]; now != listed || len(now) != 12 {
			t.Errorf("%s: the digest is %q, and listed %q", name, now, listed)
		}
	}
}
