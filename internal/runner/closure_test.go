package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dynolab/dyno/internal/versions"
)

// writeTree writes files below a new folder.
func writeTree(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// closureOf returns the closure of a package of the module in a folder of a tree.
func closureOf(t *testing.T, root, module, pkg string) *closure {
	t.Helper()
	c := newClosure()
	if err := c.add(t.Context(), &versions.Tree{Dir: filepath.Join(root, module), Root: root, Env: []string{"GOFLAGS=", "GOWORK=off"}}, pkg); err != nil {
		t.Fatal(err)
	}
	return c
}

// checkTouches fails if files are taken for what they are not.
func checkTouches(t *testing.T, c *closure, want map[string]bool) {
	t.Helper()
	for file, touches := range want {
		if got := c.touches(file); got != touches {
			t.Errorf("%s touches it: %v, want %v", file, got, touches)
		}
	}
}

// TestClosure proves that what a benchmark is built of, and what its tests may read, is told
// from all else in the repository.
func TestClosure(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	root := writeTree(t, map[string]string{
		"go.mod":                         "module example.com/m\n\ngo 1.23\n",
		"codec/codec.go":                 "package codec\n\nimport _ \"example.com/m/internal/bits\"\n",
		"codec/codec_test.go":            "package codec\n\nimport _ \"example.com/m/helper\"\n",
		"codec/x_test.go":                "package codec_test\n\nimport _ \"example.com/m/outside\"\n",
		"codec/sub/sub.go":               "package sub\n",
		"internal/bits/b.go":             "package bits\n\nimport _ \"embed\"\n\n//go:embed tables/*\nvar tables []byte\n",
		"internal/bits/tables/one":       "1",
		"internal/bits/bits_test.go":     "package bits\n",
		"helper/helper.go":               "package helper\n",
		"outside/outside.go":             "package outside\n",
		"cmd/tool/main.go":               "package main\n\nfunc main() {}\n",
		"codec/testdata/gen/generate.go": "package main\n",
	})
	c := closureOf(t, root, ".", "codec")
	checkTouches(t, c, map[string]bool{
		"codec/codec.go":             true,
		"codec/new.go":               true, // a file that either end lacks
		"codec/codec_test.go":        true,
		"internal/bits/b.go":         true,
		"helper/helper.go":           true, // by the tests only
		"outside/outside.go":         true, // by its outer tests only
		"internal/bits/bits_test.go": false,
		"internal/bits/tables/one":   true, // embedded
		"codec/sub/sub.go":           false,
		"cmd/tool/main.go":           false,
		"cmd/tool/note.txt":          false,

		"codec/data.bin":                 true, // what its tests may read
		"codec/README.md":                false,
		"codec/testdata/gen/generate.go": true,
		"codec/testdata/in.md":           true,
		"testdata/shared":                true,
		"codec/sub/in.txt":               false,

		"go.mod":              true,
		"go.sum":              true,
		"go.work":             true,
		"vendor/modules.txt":  true,
		"cmd/tool/go.mod":     false,
		"codec/go.mod":        true,
		".gitattributes":      true,
		".gitmodules":         true,
		".github/workflow.go": false,
		"README.md":           false,
		"docs/a.md":           false,
		"Makefile":            false,
		"codec/asm_amd64.s":   true,
		"other/lib.c":         false,
	})
}

// TestClosureOfNestedModule proves that a module below another one has what it takes from
// there by a replacement, and nothing else of it.
func TestClosureOfNestedModule(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	root := writeTree(t, map[string]string{
		"go.mod":              "module example.com/m\n\ngo 1.23\n",
		"m.go":                "package m\n",
		"other/other.go":      "package other\n",
		"bench/go.mod":        "module example.com/bench\n\ngo 1.23\n\nrequire example.com/m v0.0.0\n\nreplace example.com/m => ../\n",
		"bench/bench_test.go": "package bench\n\nimport _ \"example.com/m\"\n",
	})
	c := closureOf(t, root, "bench", ".")
	checkTouches(t, c, map[string]bool{
		"m.go":                true,
		"go.mod":              true,
		"bench/bench_test.go": true,
		"bench/go.mod":        true,
		"bench/go.sum":        true,
		"other/other.go":      false,
		"m_test.go":           false, // tests of the outer module
	})
	// The outer one is not built of what is below in a module of its own.
	checkTouches(t, closureOf(t, root, ".", "."), map[string]bool{"m.go": true, "bench/bench_test.go": false, "bench/go.mod": false})
}

// TestClosureOfVendored proves that what is vendored counts if it is built in.
func TestClosureOfVendored(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	root := writeTree(t, map[string]string{
		"go.mod":                       "module example.com/m\n\ngo 1.23\n\nrequire example.com/used v1.0.0\n",
		"m.go":                         "package m\n\nimport _ \"example.com/used\"\n",
		"vendor/modules.txt":           "# example.com/used v1.0.0\n## explicit; go 1.23\nexample.com/used\n",
		"vendor/example.com/used/u.go": "package used\n",
		"vendor/example.com/not/n.go":  "package not\n",
	})
	checkTouches(t, closureOf(t, root, ".", "."), map[string]bool{
		"vendor/example.com/used/u.go": true,
		"vendor/example.com/not/n.go":  false,
		"vendor/modules.txt":           true,
	})
}

// TestClosureOfBothEnds proves that a closure is of all trees that were added: what the
// benchmark is built of at one end only, such as a package that was renamed, is in it.
func TestClosureOfBothEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	c := newClosure()
	for _, name := range []string{"before", "after"} {
		root := writeTree(t, map[string]string{
			"go.mod":                  "module example.com/m\n\ngo 1.23\n",
			"m.go":                    "package m\n\nimport _ \"example.com/m/" + name + "\"\n",
			name + "/" + name + ".go": "package " + name + "\n",
		})
		if err := c.add(t.Context(), &versions.Tree{Dir: root, Root: root, Env: []string{"GOFLAGS=", "GOWORK=off"}}, "."); err != nil {
			t.Fatal(err)
		}
	}
	checkTouches(t, c, map[string]bool{"before/before.go": true, "after/after.go": true, "between/between.go": false})
}

// TestClosureWithC proves that with cgo any C file counts: its includes are not followed.
func TestClosureWithC(t *testing.T) {
	c := newClosure()
	c.folders["."], c.tested, c.cgo = true, ".", true
	checkTouches(t, c, map[string]bool{"lib/lib.c": true, "lib/lib.h": true, "lib/lib.go": false})
}
