package runner

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/testbin"
)

// inModule makes the working directory one of a module with the given test file; none if
// that is empty.
func inModule(t *testing.T, test string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	t.Setenv("GOFLAGS", "")
	cache, err := child.Says(t.Context(), ".", nil, "go", "env", "GOCACHE") // filling another takes minutes
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", cache)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // of test binaries
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.23\n", "x.go": "package m\n"}
	if test != "" {
		files["x_test.go"] = "package m\n\nimport \"testing\"\n\n" + test
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// Packages are built, listed, measured and kept, and nothing else is left. Those of which
// nothing compares are plain processes, whatever the mode.
func TestPackages(t *testing.T) {
	inModule(t, "func BenchmarkX(b *testing.B) {}\n\nfunc BenchmarkY(b *testing.B) { b.Skip(\"why not\") }\n")
	r, said := newRunner()
	c := turns()
	c.Packages, c.Blocks, c.Time, c.Machine, c.CPU, c.Layouts = []string{"."}, 2, "1x", "box", []int{1}, 1
	path, err := r.Packages(t.Context(), c, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if want := filepath.Join("results", "box") + string(filepath.Separator); !strings.HasPrefix(path, want) || !strings.HasSuffix(path, "-nocommit.bench") {
		t.Errorf("the results are in %s", path)
	}
	from, err := record.ReadInterrupted(path)
	if err != nil || !from.Finished() || len(from.Plan.Cases) != 1 || from.Plan.Mode != "" || from.Plan.Subjects["example.com/m"] == "" {
		t.Errorf("%v: %+v", err, from)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Count(string(data), "\nBenchmarkX ") != 2 || !strings.Contains(string(data), "# skip: case=BenchmarkY ") {
		t.Errorf("%v:\n%s", err, data)
	}
	if want := "building the tests of .\nlisting the benchmarks of example.com/m\nmeasuring 1 benchmark in 2 blocks, 2 processes, "; !strings.HasPrefix(said.String(), want) {
		t.Errorf("said\n%s\nwithout\n%s", said, want)
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// An interrupt while it builds leaves nothing, neither results nor anything else.
func TestPackagesInterrupted(t *testing.T) {
	inModule(t, "func BenchmarkX(b *testing.B) {}\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, said := newRunner()
	c := turns()
	c.Packages, c.Out = []string{"."}, "r.bench"
	if path, err := r.Packages(ctx, c, nil); path != "" || err == nil {
		t.Errorf("%q, %v", path, err)
	}
	if !strings.HasSuffix(said.String(), "interrupted before anything was measured\n") {
		t.Errorf("said %q", said)
	}
	if _, err := os.Stat("r.bench"); err == nil {
		t.Error("there are results")
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// Where there is nothing to measure, it is said what there is instead; see also the
// scripts list and run.
func TestListOfNothing(t *testing.T) {
	for name, c := range map[string]struct{ test, pattern, want string }{
		"no tests":   {"", ".", "nothing to measure: there are no _test.go files in ."},
		"all skip":   {"func BenchmarkX(b *testing.B) { b.Skip(\"no\") }\n", ".", "nothing to measure: every benchmark that matches skips itself or fails, such as BenchmarkX (skipped: no)"},
		"no pattern": {"func BenchmarkX(b *testing.B) {}\n", "(", `--bench "(": `},
	} {
		t.Run(name, func(t *testing.T) {
			inModule(t, c.test)
			folder, err := scratch.New()
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Remove()
			_, err = listTests(t.Context(), io.Discard, folder.Path,
				&record.Plan{Packages: []string{"."}, Bench: c.pattern, CPU: []int{1}, Timeout: time.Minute}, testbin.BuildOptions{})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}
