package conform

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// events writes what go test -json would.
func events(t *testing.T, list ...event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range list {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
		b.WriteString("\n")
	}
	return b.String()
}

func TestReadConform(t *testing.T) {
	const test = "TestConformance"
	out := func(pkg, name, s string) event { return event{Action: "output", Package: pkg, Test: name, Output: s} }
	stream := "not json\n" + events(t,
		// b finishes first, a is interleaved with it and cuts a long line.
		out("x/b", test, "=== RUN   TestConformance\n"),
		out("x/b", test+"/one", "    suite.go:7: conform: clause=group/one rule=G1 result=pass\n"),
		out("x/a", test+"/one", `    suite.go:7: conform: clause=group/one rule=G1 result=fail seed=7 why="a \"b\"`),
		out("x/b", test+"/two", `conform: clause=group/two rule=G2 result=skip why="lacks Overlap"`+"\n"),
		out("x/a", test+"/one", ` c" repeat="DYNO_SEED=7 go test ./a"`+"\n"),
		event{Action: "pass", Package: "x/b", Test: test},
		event{Action: "pass", Package: "x/b"},
		// A clause that is said twice keeps the worse.
		out("x/a", test+"/two", "conform: clause=group/two rule=G2 result=unknown\n"),
		out("x/a", test+"/two", "conform: clause=group/two rule=G2 result=pass\n"),
		out("x/a", test+"/three", "conform: clause=group/three rule=G3 result=pass\n"),
		out("x/a", test+"/three", "conform: clause=group/three rule=G3 result=fail\n"),
		event{Action: "fail", Package: "x/a", Test: test},
		event{Action: "fail", Package: "x/a"},
		// No such test; no tests at all.
		event{Action: "pass", Package: "x/none"},
		event{Action: "skip", Package: "x/empty"},
		// The ways to have a problem.
		event{Action: "build-output", ImportPath: "x/broken [x/broken.test]", Output: "broken.go:1: no\n"},
		event{Action: "fail", Package: "x/broken", FailedBuild: "x/broken [x/broken.test]"},
		out("x/crash", test, "=== RUN   TestConformance\n"),
		out("x/crash", test, "conform: clause=group/one rule=G1 result=pass\n"),
		out("x/crash", "", "panic: oh\n"),
		event{Action: "fail", Package: "x/crash"},
		// test2json fails the test whose panic it sees.
		out("x/crash2", test, "conform: clause=group/one rule=G1 result=fail\n"),
		out("x/crash2", test, "panic: oh\n"),
		event{Action: "fail", Package: "x/crash2", Test: test},
		event{Action: "fail", Package: "x/crash2"},
		out("x/early", "", "panic: in init\n"),
		event{Action: "fail", Package: "x/early"},
		out("x/quiet", test, "=== RUN   TestConformance\n"),
		event{Action: "pass", Package: "x/quiet", Test: test},
		event{Action: "pass", Package: "x/quiet"},
		out("x/other", test, "conform: clause=group/one rule=G1 result=pass\n"),
		event{Action: "fail", Package: "x/other", Test: test},
		event{Action: "fail", Package: "x/other"},
		out("x/main", test, "conform: clause=group/one rule=G1 result=pass\n"),
		event{Action: "pass", Package: "x/main", Test: test},
		event{Action: "fail", Package: "x/main"},
		out("x/malformed", test, "conform: clause=group/one rule\n"),
		event{Action: "pass", Package: "x/malformed", Test: test},
		event{Action: "pass", Package: "x/malformed"},
	)
	var progress []string
	m, err := readConform(strings.NewReader(stream), func(line string) { progress = append(progress, line) })
	if err != nil {
		t.Fatal(err)
	}
	if got := len(m.Clauses); got != 3 || m.Clauses[0] != (Clause{"group/one", "G1"}) || m.Clauses[1] != (Clause{"group/two", "G2"}) {
		t.Errorf("clauses: %+v", m.Clauses)
	}
	want := []struct{ path, summary, output string }{
		{"x/a", "0 passed, 0 skipped, 3 failed", ""},
		{"x/b", "1 passed, 1 skipped, 0 failed", ""},
		{"x/broken", "0 passed, 0 skipped, 0 failed; does not build", "broken.go:1: no"},
		{"x/crash", "1 passed, 0 skipped, 0 failed; crashed or ran out of time", "panic: oh"},
		{"x/crash2", "0 passed, 0 skipped, 1 failed; crashed or ran out of time", "panic: oh"},
		{"x/early", "0 passed, 0 skipped, 0 failed; failed before its conformance test began", "panic: in init"},
		{"x/main", "1 passed, 0 skipped, 0 failed; failed outside its conformance test", "conform:"},
		{"x/malformed", "0 passed, 0 skipped, 0 failed; malformed conform line", "rule"},
		{"x/other", "1 passed, 0 skipped, 0 failed; failed, but no clause says so", "conform:"},
		{"x/quiet", "0 passed, 0 skipped, 0 failed; its conformance test names no clause", "RUN"},
	}
	if len(m.Packages) != len(want) {
		t.Fatalf("packages: %+v", m.Packages)
	}
	for i, w := range want {
		p := m.Packages[i]
		if p.Path != w.path || !strings.HasPrefix(p.Summary(), w.path+": "+w.summary) {
			t.Errorf("package %d: %s, want %s: %s", i, p.Summary(), w.path, w.summary)
		}
		if !strings.Contains(p.Output, w.output) || (w.output == "") != (p.Output == "") {
			t.Errorf("%s: output %q, want %q in it", p.Path, p.Output, w.output)
		}
		if !slices.Contains(progress, p.Summary()) {
			t.Errorf("progress does not tell of %s", p.Path)
		}
	}
	got := m.Packages[0].Results["group/one"]
	if got != (ClauseResult{Outcome: "fail", Why: `a "b" c`, Seed: "7", Repeat: "DYNO_SEED=7 go test ./a"}) {
		t.Errorf("failed clause: %+v", got)
	}
	if got := m.Packages[1].Results["group/two"]; got != (ClauseResult{Outcome: "skip", Why: "lacks Overlap"}) {
		t.Errorf("skipped clause: %+v", got)
	}
	if got := m.Packages[0].Results["group/two"].Outcome; got != "unknown" {
		t.Errorf("a clause that is not known once is %q", got)
	}
	if m.Conforms() || !m.Broken() {
		t.Errorf("conforms %v, broken %v", m.Conforms(), m.Broken())
	}
	m.Packages = m.Packages[1:2]
	if !m.Conforms() || m.Broken() {
		t.Errorf("of the good one: conforms %v, broken %v", m.Conforms(), m.Broken())
	}
}

// module writes a module of the given files and returns its folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
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

func TestConformRunsGo(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	t.Setenv("GOFLAGS", "")
	dir := module(t, map[string]string{
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestConformance(t *testing.T) {\n\tt.Log(`conform: clause=c rule=G1 result=pass`)\n}\n",
		"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestConformance(t *testing.T) { undefined() }\n",
		"c/c_test.go": "package c\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) { t.Fatal(`not to be run`) }\n",
		"d/d_test.go": "package d\n\nimport \"testing\"\n\nfunc TestConformance(t *testing.T) { select {} }\n",
	})
	m, err := Run(context.Background(), Options{Dir: dir, Packages: []string{"./..."}, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range m.Packages {
		got = append(got, p.Summary())
	}
	want := "example.com/m/a: 1 passed, 0 skipped, 0 failed\n" +
		"example.com/m/b: 0 passed, 0 skipped, 0 failed; does not build\n" +
		"example.com/m/d: 0 passed, 0 skipped, 0 failed; crashed or ran out of time"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if out := m.Packages[1].Output; !strings.Contains(out, "undefined: undefined") {
		t.Errorf("compiler output: %q", out)
	}
	if out := m.Packages[2].Output; !strings.Contains(out, "all goroutines are asleep") && !strings.Contains(out, "test timed out") {
		t.Errorf("output of the one that hangs: %q", out)
	}

	_, err = Run(context.Background(), Options{Dir: dir, Packages: []string{"./c"}})
	if err == nil || !strings.Contains(err.Error(), "no package of ./c has a TestConformance") {
		t.Errorf("without conformance tests: %v", err)
	}
	m, err = Run(context.Background(), Options{Dir: dir, Packages: []string{"./nowhere"}})
	if err != nil || !m.Broken() || !strings.Contains(m.Packages[0].Output, "no such file") && !strings.Contains(m.Packages[0].Output, "not found") {
		t.Errorf("without such a package: %+v, %v", m, err)
	}
	_, err = Run(context.Background(), Options{Dir: dir, Packages: []string{"-exec=x"}})
	if err == nil || !strings.Contains(err.Error(), "begins with a hyphen") {
		t.Errorf("with a flag: %v", err)
	}
	m, err = Run(context.Background(), Options{Dir: t.TempDir(), Packages: []string{"./..."}})
	if err != nil || !m.Broken() || !strings.Contains(m.Packages[0].Output, "main module") {
		t.Errorf("outside a module: %+v, %v", m, err)
	}
	t.Setenv("GOFLAGS", "-nonsense")
	_, err = Run(context.Background(), Options{Dir: dir, Packages: []string{"./a"}})
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("when go does not start: %v", err)
	}
	t.Setenv("GOFLAGS", "")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = Run(ctx, Options{Dir: dir, Packages: []string{"./a"}}); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("stopped: %v", err)
	}
}
