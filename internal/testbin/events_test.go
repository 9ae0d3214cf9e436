package testbin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// buildDriven builds the tests of a module with one test file, with the overlay.
func buildDriven(t *testing.T, test string) Binary {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.23\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "a_test.go"), []byte("package a\n\n"+test), 0o644))
	all, problems, err := Build(t.Context(), dir, t.TempDir(), []string{"."}, BuildOptions{Driven: true})
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %+v, %v", all, problems, err)
	}
	return all[0]
}

// What a benchmark prints neither hides it nor makes another one up, whether its result is
// listed or measured, and however it ends.
func TestReportOfWhatPrints(t *testing.T) {
	s := buildDriven(t, `import ("fmt"; "testing")

func BenchmarkDots(b *testing.B) {
	for range b.N { _ = b.N }
	fmt.Print(".")
}

func BenchmarkForges(b *testing.B) {
	for range b.N { _ = b.N }
	fmt.Print("BenchmarkForged \t 1 \t 7 ns/op\nBenchmarkForges-2 \t 1 \t 7 ns/op\nBenchmarkDots-2 \t 5 ")
	b.Log("says so")
}

func BenchmarkSkips(b *testing.B) { fmt.Print("x"); b.Skip("not\nhere") }

func BenchmarkFails(b *testing.B) { fmt.Print("--- FAIL: BenchmarkDots\n1"); b.Error("wrong") }

func BenchmarkSub(b *testing.B) {
	fmt.Print("y")
	b.Run("a b", func(b *testing.B) { fmt.Print("z") })
}
`)
	l, err := s.Cases(t.Context(), ".", 2, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	pkg := "example.com/m"
	want := []record.Case{{Pkg: pkg, Name: "BenchmarkDots"}, {Pkg: pkg, Name: "BenchmarkForges"}, {Pkg: pkg, Name: "BenchmarkSub/a_b"}}
	if !slices.Equal(l.Cases, want) || len(l.Says) != 1 || l.Says[want[1]] != "says so" {
		t.Errorf("cases %+v, want %+v; they say %v", l.Cases, want, l.Says)
	}
	if len(l.Absent) != 2 || l.Absent[0] != (record.Hole{Case: "BenchmarkSkips", Kind: failure.Skip, Reason: "not here", Skipped: true}) ||
		l.Absent[1].Case != "BenchmarkFails" || !strings.HasPrefix(l.Absent[1].Reason, "failed: a_test.go:") {
		t.Errorf("absent %+v", l.Absent)
	}
	plan := &record.Plan{Time: "100x", Timeout: time.Minute, Benchmem: true}
	for _, c := range want {
		step := record.Step{Case: c, CPU: 2}
		line, _, err := measure(t.Context(), plan, s, step)
		res, ok := record.ParseResult(line)
		if err != nil || !ok || "Benchmark"+string(res.Name) != step.FullName() || res.Iters != 100 || !strings.Contains(line, "allocs/op") {
			t.Errorf("%s: %q, %v", c.Name, line, err)
		}
	}
	skips := record.Step{Case: record.Case{Pkg: pkg, Name: "BenchmarkSkips"}, CPU: 2}
	if _, _, err := measure(t.Context(), plan, s, skips); err == nil || err.Error() != "skipped: not here" {
		t.Error(err)
	}
}

// What ends the process before its benchmarks have run is said, with what it printed; and
// those that were not reached are not lost.
func TestReportOfAnEarlyEnd(t *testing.T) {
	const head = "import (\"fmt\"; \"os\"; \"testing\")\n\nvar _, _ = fmt.Print, os.Exit\n\n"
	const two = "func BenchmarkA(b *testing.B) {}\nfunc BenchmarkB(b *testing.B) {}\n"
	for _, c := range []struct{ test, cases, absent, err string }{
		{"func TestMain(m *testing.M) { os.Exit(0) }\n" + two, "", "", "its TestMain ended with exit status 0 before any benchmark ran"},
		{"func TestMain(m *testing.M) { fmt.Println(\"cannot connect!\"); os.Exit(1) }\n" + two, "", "", "its TestMain ended with exit status 1 before any benchmark ran: cannot connect!"},
		{"func TestMain(m *testing.M) { fmt.Println(\"no database\") }\n" + two, "", "", "its TestMain ended with exit status 0 before any benchmark ran: no database"},
		{"func init() { if len(os.Args) > 1 { os.Exit(0) } }\n" + two, "", "", "the initialization of a package ended with exit status 0 before any benchmark ran"},
		{"func BenchmarkA(b *testing.B) { fmt.Print(\"bye\"); os.Exit(0) }\nfunc BenchmarkB(b *testing.B) {}\n", "BenchmarkB", "BenchmarkA: missing: ended the process, with success: bye", ""},
		{"func TestMain(m *testing.M) { m.Run(); fmt.Println(\"leak\"); os.Exit(3) }\n" + two, "BenchmarkA BenchmarkB", "", "ended with exit status 3: leak"},
		{"func BenchmarkA(b *testing.B) { panic(\"oh\") }\nfunc BenchmarkB(b *testing.B) {}\n", "BenchmarkB", "BenchmarkA: missing: crashed: panic: oh (a_test.go:7)", ""},
		{two, "BenchmarkA BenchmarkB", "", ""},
		{"func TestMain(m *testing.M) { os.Exit(0) }\nfunc TestX(t *testing.T) {}\n", "", "", ""}, // nothing was due
	} {
		s := buildDriven(t, head+c.test)
		l, err := s.Cases(t.Context(), ".", 1, time.Minute)
		var cases, absent []string
		for _, one := range l.Cases {
			cases = append(cases, one.Name)
		}
		for _, h := range l.Absent {
			absent = append(absent, h.Case+": "+h.String())
		}
		if got := strings.Join(cases, " "); got != c.cases || strings.Join(absent, " ") != c.absent || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s\ncases %q, absent %q, %v; want %q, %q, %s", c.test, got, absent, err, c.cases, c.absent, c.err)
		}
		if c.test != two || err != nil {
			continue
		}
		// A pattern that chooses one does not miss the other.
		if l, err := s.Cases(t.Context(), "A$", 1, time.Minute); err != nil || len(l.Cases) != 1 || len(l.Absent) != 0 {
			t.Errorf("of a pattern: %+v, %v", l, err)
		}
	}
}
