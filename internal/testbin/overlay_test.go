package testbin

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/program"
)

// source returns a file of package testing of the Go in use.
func source(t *testing.T, file string) string {
	t.Helper()
	dir, err := goSays(context.Background(), "", "list", "-f", "{{.Dir}}", "testing")
	if err != nil {
		t.Fatal(err)
	}
	text := readFile(t, filepath.Join(strings.TrimSpace(dir), file))
	return string(text)
}

// What is inserted leaves the lines where they are, and what takes the place of a line
// is the only one that is gone.
func TestInsert(t *testing.T) {
	for _, file := range []string{benchmarkFile, testingFile} {
		src := source(t, file)
		got, err := insert(file, src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), file, got, parser.SkipObjectResolution); err != nil {
			t.Error(err)
		}
		n, all := 0, 0
		for _, ins := range insertions {
			if ins.file != file {
				continue
			}
			all++
			there, was := " "+ins.statement+"\n", "\n"
			if ins.instead {
				there, was = "\n\t"+ins.statement+"\n", "\n"+ins.begin+"\n"
			}
			n += strings.Count(got, there)
			got = strings.Replace(got, there, was, 1)
		}
		if got != src || n != all {
			t.Errorf("%s: %d insertions of %d, and without them it is not what it was", file, n, all)
		}
	}
}

// Another Go may have another package testing. What is missing is named.
func TestInsertUnknown(t *testing.T) {
	for _, ins := range insertions {
		src := source(t, ins.file)
		for name, mutilated := range map[string]string{
			"renamed":     strings.Replace(src, ins.begin, "func other() {", 1),
			"empty":       "",
			"indented":    strings.Replace(src, ins.begin, "\t"+ins.begin, 1),
			"there twice": src + "\n" + ins.begin + ins.end + "\n",
			"torn":        strings.Replace(src, ins.begin, ins.begin+"\n", 1),
		} {
			if name == "torn" && ins.end == "" {
				continue // that is no harm
			}
			_, err := insert(ins.file, mutilated)
			if !errors.Is(err, program.ErrUnsupported) || name != "empty" && !strings.Contains(err.Error(), strconv.Quote(ins.begin+ins.end)) {
				t.Errorf("%s, %s: %v", ins.begin, name, err)
			}
		}
	}
}

// The compiler notices if what is added does not fit, and that is told in one line.
func TestOverlayDoesNotFit(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	right := driveGo
	t.Cleanup(func() { driveGo = right })
	driveGo = []byte(strings.Replace(string(right), "b.previousN", "b.asItWasOnceCalled", 1))
	_, _, err := Overlay(context.Background(), "", t.TempDir())
	if !errors.Is(err, program.ErrUnsupported) || !strings.Contains(err.Error(), "asItWasOnceCalled") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// A Build whose overlay does not fit builds what cannot be driven, and says so; that some
// package does not compile is not taken for that.
func TestBuildOverlayDoesNotFit(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":              "module example.com/m\n\ngo 1.23\n",
		"x_test.go":           "package m\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {}\n",
		"broken/x_test.go":    "package broken\n\nfunc f() { nothing() }\n",
		"untested/nothing.go": "package untested\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	right := driveGo
	t.Cleanup(func() { driveGo = right })
	for _, fits := range []bool{true, false} {
		if !fits {
			driveGo = []byte(strings.Replace(string(right), "b.previousN", "b.asItWasOnceCalled", 1))
		}
		built, problems, err := Build(t.Context(), dir, t.TempDir(), []string{"./..."}, BuildOptions{Driven: true, Env: []string{"GOWORK=off", "GOFLAGS="}})
		must(t, err)
		if len(built) != 1 || len(problems) != 2 || problems[0].Reason != doesNotBuild || !strings.Contains(problems[0].Output, "undefined: nothing") || !problems[1].Untested {
			t.Fatalf("fits %v: built %v, problems %v", fits, built, problems)
		}
		why, err := undrivable(built[0].Path)
		must(t, err)
		if said := built[0].Undrivable; (said == nil) != fits || (why == nil) != fits || !fits && !strings.Contains(said.Error(), "asItWasOnceCalled") {
			t.Errorf("fits %v: says %v, and its binary %v", fits, said, why)
		}
	}
}

func TestOverlayNoGo(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	if _, _, err := Overlay(context.Background(), filepath.Join(t.TempDir(), "none"), t.TempDir()); err == nil || errors.Is(err, program.ErrUnsupported) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Overlay(ctx, "", t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The same toolchain gives the same files, so that nothing is compiled again.
func TestOverlayAgain(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	var texts [2]string
	for i := range texts {
		dir := t.TempDir()
		path, _, err := Overlay(context.Background(), "", dir)
		if err != nil {
			t.Fatal(err)
		}
		text := readFile(t, path)
		texts[i] = strings.ReplaceAll(string(text), dir, "")
		for _, file := range []string{benchmarkFile, testingFile, driveFile} {
			text := readFile(t, filepath.Join(dir, file))
			texts[i] += string(text)
		}
	}
	if texts[0] != texts[1] || !strings.Contains(texts[0], driveFile) {
		t.Error("two overlays differ")
	}
}
