package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The files that docs/adding-an-implementation.md says to copy, in a module of their own
// outside of the checkout, are what the page says: they compile, keep the contract, fail as it
// shows if the line is broken that it names, and their benchmarks are in one package with the
// references and dyno's own designs, so that one run compares them.
func TestAddingAnImplementation(t *testing.T) {
	page := readPage(t, "../../docs/adding-an-implementation.md")
	const from = "examples/outoftree/mine"
	if !strings.Contains(page, "cp $dyno/"+from+"/*.go .") {
		t.Errorf("the page does not copy the files of %s", from)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../"+from)); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(page)
	if shown == nil || !strings.Contains(readPage(t, filepath.Join(dir, "mine_test.go")), shown[1]) {
		t.Errorf("the page shows %q, which is not in mine_test.go", shown)
	}
	// What go mod tidy would write, without asking for anything.
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := readPage(t, filepath.Join(root, "examples/outoftree/go.mod"))
	mod = strings.NewReplacer("example.com/onemutex", "example.com/mine", "=> ../..", "=> "+root).Replace(mod)
	writeFile(t, filepath.Join(dir, "go.mod"), mod)
	writeFile(t, filepath.Join(dir, "go.sum"), readPage(t, filepath.Join(root, "examples/outoftree/go.sum")))

	if out, ok := goIn(t, dir, "vet", "."); !ok {
		t.Fatal(out)
	}
	out, ok := goIn(t, dir, "test", "-count=1", "-short", "-v", "-run", "^TestConformance$", ".")
	if !ok {
		t.Fatal(out)
	}
	clauses := len(regexp.MustCompile(`(?m)^ +--- (PASS|SKIP): TestConformance/[a-z]+/[a-z-]+ `).FindAllString(out, -1))
	for _, where := range []string{"README.md", "docs/adding-an-implementation.md"} {
		if m := regexp.MustCompile(`(\d+) clauses`).FindStringSubmatch(readPage(t, filepath.Join(root, where))); m == nil || m[1] != strconv.Itoa(clauses) {
			t.Errorf("%s has %q, and a group is checked by %d clauses", where, m, clauses)
		}
	}
	out, ok = goIn(t, dir, "test", "-run", "^$", "-bench", "Group/workload=nested", "-benchtime", "1x", ".")
	for _, column := range []string{"ref-errgroup", "lockbased", "workstealing", "mine"} {
		if !ok || !strings.Contains(out, "BenchmarkGroup/workload=nested/impl="+column) {
			t.Errorf("no benchmark of %s stands beside the others:\n%s", column, out)
		}
	}

	group := readPage(t, filepath.Join(dir, "mine.go"))
	if lines := regexp.MustCompile(`(?m)^\s*[^\s/].*$`).FindAllString(group, -1); len(lines) > 60 {
		t.Errorf("the group has %d lines of code, and the page promises sixty", len(lines))
	}
	without := regexp.MustCompile(`.*context\.AfterFunc.*\n`).ReplaceAllString(group, "")
	writeFile(t, filepath.Join(dir, "mine.go"), without)
	out, ok = goIn(t, dir, "test", "-count=1", "-run", "^TestConformance$/^group$/^next-context-ends-waiting$", ".")
	if ok {
		t.Fatalf("it passes although it is broken:\n%s", out)
	}
	for _, line := range []string{"breaks group/next-context-ends-waiting", "rule: ", "seen: ", "repeat: "} {
		i := strings.Index(page, line)
		shown, _, _ := strings.Cut(page[i:], "\n")
		if line == "repeat: " {
			shown = "repeat: DYNO_SEED=" // which is another one each time
		}
		if i < 0 || !strings.Contains(out, strings.TrimSpace(shown)) {
			t.Errorf("the page shows %q, which is not in\n%s", shown, out)
		}
	}
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// goIn runs the go command in a folder and returns what it prints.
func goIn(t *testing.T, dir string, args ...string) (out string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}
