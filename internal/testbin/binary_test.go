package testbin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/patience"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// TestMain lets this test binary play a subject: LAB_SUBJECT says how it
// behaves. BenchmarkSubject does what is to happen within a benchmark.
func TestMain(m *testing.M) {
	switch os.Getenv("LAB_SUBJECT") {
	case "silent":
		os.Exit(0)
	case "status":
		m.Run()
		os.Exit(3)
	case "spin":
		for n := new(atomic.Int64); ; {
			n.Add(1)
		}
	}
	code := m.Run()
	if binaries.dir != "" {
		os.RemoveAll(binaries.dir)
	}
	os.Exit(code)
}

// slowVariable has how long BenchmarkSubject/slow takes.
const slowVariable = "LAB_SLOW"

var seldom atomic.Int32 // how many times the benchmark of this name has run

func BenchmarkSubject(b *testing.B) {
	how := os.Getenv("LAB_SUBJECT")
	if how == "" {
		b.Skip("only the tests of testbin use this, as a subject")
	}
	// A timer that is set keeps the runtime from calling a benchmark that hangs a deadlock,
	// which it does in programs without cgo.
	time.AfterFunc(time.Hour, func() {})
	for _, name := range strings.Split(how, ",") {
		b.Run(name, func(b *testing.B) {
			switch name {
			case "crash", "good/crash":
				panic("oh no")
			case "seldom":
				if seldom.Add(1) == 3 {
					panic("oh no")
				}
			case "exit":
				os.Exit(7)
			case "fatal":
				b.Fatal("wrong\nchecksum")
			case "skip":
				b.Skip("needs a board")
			case "log":
				fmt.Fprintln(os.Stderr, "on standard error")
				b.Log("in the log")
			case "print":
				fmt.Println("in the way")
			case "units":
				if b.N == 1 {
					fmt.Print("Unit widgets better=higher\nUnit gadgets  better=lower assume=exact\n")
				}
				b.ReportMetric(7, "widgets")
			case "slow":
				each, err := time.ParseDuration(os.Getenv(slowVariable))
				if err != nil {
					b.Fatal(err)
				}
				time.Sleep(each)
			case "hang":
				select {}
			case "deaf":
				signal.Ignore(syscall.SIGQUIT)
				select {}
			case "chatter":
				for {
					fmt.Println(strings.Repeat("x", 1<<16))
				}
			case "leave":
				if b.N > 1 {
					return // it has been left already
				}
				// A child that holds standard output open, and the lock on a file.
				f, err := os.Create(os.Getenv("LAB_LOCK"))
				if err != nil {
					b.Fatal(err)
				}
				if err := record.LockResults(f); err != nil {
					b.Fatal(err)
				}
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "LAB_SUBJECT=spin")
				cmd.Stdout, cmd.ExtraFiles = os.Stdout, []*os.File{f}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// whereIs returns the place in this file where code first stands, as reasons give it.
func whereIs(t *testing.T, code string) string {
	t.Helper()
	source := readFile(t, "binary_test.go")
	before, _, ok := strings.Cut(string(source), code)
	if !ok {
		t.Fatalf("no %s in this file", code)
	}
	return fmt.Sprintf("binary_test.go:%d", 1+strings.Count(before, "\n"))
}

// subject returns this test binary, which will behave as LAB_SUBJECT.
func subject(t *testing.T, how string) Binary {
	t.Helper()
	t.Setenv("LAB_SUBJECT", how)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Binary{Pkg: "example.com/p", Dir: t.TempDir(), Path: exe}
}

// measureSubject runs one of the benchmarks of BenchmarkSubject as Run does.
func measureSubject(ctx context.Context, s Binary, name string, timeout time.Duration) (string, error) {
	plan := &record.Plan{Time: "2x", Timeout: timeout}
	lines, _, err := measure(ctx, plan, s, record.Step{Case: record.Case{Pkg: s.Pkg, Name: "BenchmarkSubject/" + name}, CPU: 2})
	return lines, err
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		how    string
		want   string // the reason; "" if there is a result
		output string // is in the output that goes with it
	}{
		{"good", "", ""},
		{"log", "", ""},
		{"crash", "crashed: panic: oh no", "goroutine "},
		{"exit", "ended with exit status 7", ""},
		{"fatal", "failed: binary_test.go:", "--- FAIL: BenchmarkSubject/fatal"},
		{"skip", "printed no result: it skipped itself, or ended the process", "PASS"},
		{"silent", "printed no result: it skipped itself, or ended the process", ""},
		{"status", "ended with exit status 3", "PASS"},
		{"print", `printed "in the way" in its result line`, "in the way"},
	} {
		t.Run(c.how, func(t *testing.T) {
			line, err := measureSubject(t.Context(), subject(t, c.how), c.how, time.Minute)
			if c.want == "" {
				if err != nil || !strings.HasPrefix(line, "BenchmarkSubject/"+c.how+"-2") || !strings.Contains(line, " ns/op") {
					t.Fatalf("got %q, %v", line, err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line that begins with %q", err, c.want)
			}
			if out := program.Output(err); !strings.Contains(out, c.output) {
				t.Errorf("output %q lacks %q", out, c.output)
			}
		})
	}
	// b.Run("good/crash") is another benchmark, and not to be run with "good".
	if _, err := measureSubject(t.Context(), subject(t, "good,good/crash"), "good", time.Minute); err != nil {
		t.Errorf("beside one with a longer name: %v", err)
	}
	if _, err := measureSubject(t.Context(), Binary{Path: filepath.Join(t.TempDir(), "none")}, "x", time.Minute); err == nil || !strings.HasPrefix(err.Error(), "does not start: ") {
		t.Errorf("a binary that is not there: %v", err)
	}
}

func TestMeasureEndsWhatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for time limits")
	}
	for how, output := range map[string]string{
		"hang": "SIGQUIT", // and the stacks
		"deaf": "",        // to SIGQUIT, so it is killed
	} {
		s := subject(t, how)
		patience.Try(t, time.Second, func(limit time.Duration) error {
			_, err := measureSubject(t.Context(), s, how, limit)
			want := fmt.Sprintf("not finished after %v: hangs, or needs a longer --timeout", limit)
			if how == "hang" {
				want += " (" + whereIs(t, "select {}") + ")"
			}
			if err == nil || err.Error() != want {
				return fmt.Errorf("%s: %w", how, err)
			}
			if out := program.Output(err); !strings.Contains(out, output) {
				return fmt.Errorf("%s: output %q lacks %q", how, out, output)
			}
			return nil
		})
	}
}

func TestMeasureIsKilledOnRequest(t *testing.T) {
	if _, err := measureSubject(killed(), subject(t, "hang"), "hang", time.Minute); err != program.ErrKilled {
		t.Errorf("got %v", err)
	}
}

func TestCases(t *testing.T) {
	s := subject(t, "good,crash,log,fatal,print,exit,skip,last")
	l, err := s.Cases(t.Context(), "Subject", 2, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range l.Cases {
		if c.Pkg != s.Pkg {
			t.Errorf("package %q", c.Pkg)
		}
		names = append(names, c.Name)
	}
	if got, want := strings.Join(names, " "), "BenchmarkSubject/good BenchmarkSubject/log BenchmarkSubject/print BenchmarkSubject/last"; got != want {
		t.Errorf("cases %q, want %q", got, want)
	}
	want := []record.Hole{
		{Case: "BenchmarkSubject/crash", Kind: failure.Crash, Reason: "crashed: panic: oh no (" + whereIs(t, `panic("oh no")`) + ")"},
		{Case: "BenchmarkSubject/exit", Kind: failure.Exit, Reason: "ended with exit status 7: on standard error"}, // printed last
		{Case: "BenchmarkSubject/fatal", Kind: failure.Fail, Reason: "failed: " + whereIs(t, `b.Fatal("wrong`) + ": wrong checksum"},
		{Case: "BenchmarkSubject/skip", Kind: failure.Skip, Reason: "needs a board", Skipped: true},
	}
	if !slices.Equal(l.Absent, want) {
		t.Errorf("absent\n%+v, want\n%+v", l.Absent, want)
	}
}

// When a benchmark panics, testing may begin others before the process ends, and
// print its result even. So the culprit is looked for, latest first.
func TestCulprit(t *testing.T) {
	s := subject(t, "good,crash,seldom,log,exit,last")
	name := func(names ...string) (all []string) {
		for _, n := range names {
			all = append(all, "BenchmarkSubject"+n)
		}
		return all
	}
	for _, c := range []struct {
		begun []string
		want  string
	}{
		{name("", "/good", "/crash"), "BenchmarkSubject/crash"},
		{name("", "/good", "/crash", "/log", "/exit", "/last"), "BenchmarkSubject/crash"},
		{name("", "/good", "/log"), ""},
		{name("", "/seldom", "/log"), "BenchmarkSubject/seldom"},                   // only when it runs several times
		{append(name("/crash"), slices.Repeat(name("/good"), mostCrashes)...), ""}, // too far back
		{nil, ""},
	} {
		h, err := s.culprit(t.Context(), c.begun, 1, time.Minute)
		if err != nil || h.Case != c.want || c.want != "" && !strings.HasPrefix(h.Reason, "crashed: panic: oh no (") {
			t.Errorf("of %q it is %+v, %v, want %q", c.begun, h, err, c.want)
		}
	}
	if _, err := s.culprit(killed(), name("/good"), 1, time.Minute); err != program.ErrKilled {
		t.Errorf("killed: %v", err)
	}
}

// A benchmark that hangs is found by its silence, not by how long all take.
func TestCasesWithHang(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a time limit")
	}
	for _, how := range []string{"hang", "chatter"} {
		s := subject(t, "good,"+how+",last")
		patience.Try(t, time.Second, func(limit time.Duration) error {
			l, err := s.Cases(t.Context(), "^BenchmarkSubject$", 1, limit)
			if err != nil {
				return err
			}
			want := fmt.Sprintf("nothing printed and not finished after %v: hangs, or needs a longer --timeout (", limit)
			if len(l.Cases) != 2 || l.Cases[1].Name != "BenchmarkSubject/last" || len(l.Absent) != 1 ||
				l.Absent[0].Case != "BenchmarkSubject/"+how || !strings.HasPrefix(l.Absent[0].Reason, want) {
				return fmt.Errorf("cases %+v, absent %+v", l.Cases, l.Absent)
			}
			return nil
		})
	}
}

// Many benchmarks that each print in time are not taken for one that hangs.
func TestCasesThatTakeLongTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("takes longer than a time limit")
	}
	s := subject(t, "slow,slow,slow,slow,slow")
	patience.Try(t, time.Second, func(limit time.Duration) error {
		t.Setenv(slowVariable, (limit / 4).String())
		if l, err := s.Cases(t.Context(), "^BenchmarkSubject$", 1, limit); err != nil || len(l.Cases) != 5 {
			return fmt.Errorf("%+v, %v", l, err)
		}
		return nil
	})
}

// An end that is no benchmark's doing is an error, and what was listed stays.
func TestCasesOfABrokenSubject(t *testing.T) {
	l, err := subject(t, "status").Cases(t.Context(), "^BenchmarkSubject$", 1, time.Minute)
	if err == nil || err.Error() != "ended with exit status 3" || len(l.Cases) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := subject(t, "hang").Cases(killed(), "^BenchmarkSubject$", 1, time.Minute); err != program.ErrKilled {
		t.Errorf("killed: %v", err)
	}
	many := slices.Repeat([]string{"crash"}, mostCrashes+1)
	if l, err := subject(t, strings.Join(many, ",")).Cases(t.Context(), "^BenchmarkSubject$", 1, time.Minute); err == nil || len(l.Absent) != mostCrashes {
		t.Errorf("%d crashes: %+v, %v", len(many), l, err)
	}
}

// A pattern that leads into another module is built there, as what the folder asked from
// cannot see; others stay together, and in order.
func TestBuildInOtherModules(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	const test = "import \"testing\"\nfunc BenchmarkIt(b *testing.B) { for b.Loop() {} }\n"
	write("go.mod", "module m\n\ngo 1.26.0\n")
	write("a/a_test.go", "package a\n"+test)
	write("other/go.mod", "module far.org/other\n\ngo 1.26.0\n")
	write("other/in/i_test.go", "package in\n"+test)
	for _, c := range []struct {
		patterns []string
		want     string
	}{
		{[]string{"./..."}, "[{. [./...]}]"}, // as go has it: other modules are not below it
		{[]string{"./other/..."}, "[{./other [././...]}]"},
		{[]string{"./other"}, "[{./other [./.]}]"},
		{[]string{"./a", "./other/in", "./b"}, "[{. [./a ./b]} {./other [./in]}]"},
		{[]string{filepath.Join(root, "other", "in")}, "[{./other [./in]}]"},
	} {
		if got := strings.ReplaceAll(fmt.Sprint(byModule(root, c.patterns)), root, "."); got != c.want {
			t.Errorf("%q: %s, want %s", c.patterns, got, c.want)
		}
	}
	built, problems, err := Build(t.Context(), root, t.TempDir(), []string{"./a", "./other/in"}, BuildOptions{})
	must(t, err)
	var got []string
	for _, b := range built {
		got = append(got, b.Pkg)
		if _, err := os.Stat(b.Path); err != nil {
			t.Errorf("%s: %v", b.Pkg, err)
		}
	}
	if !slices.Equal(got, []string{"m/a", "far.org/other/in"}) || len(problems) > 0 {
		t.Errorf("built %q, %v", got, problems)
	}
}

func TestBuildRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		"-race":             "begins with a hyphen",
		"sub/x.go":          "x.go is a file; name the package it is in, such as ./sub",
		"../../results/...": "no package matches ../../results/...",
	} {
		_, _, err := Build(context.Background(), ".", t.TempDir(), []string{pattern}, BuildOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pattern, err, want)
		}
	}
	stopped, cancel := context.WithCancelCause(context.Background())
	cancel(session.ErrInterrupted)
	if _, _, err := Build(stopped, ".", t.TempDir(), []string{"."}, BuildOptions{}); err != session.ErrInterrupted {
		t.Errorf("interrupted: %v", err)
	}
}

// TestMeasureUnits: what a process prints of units comes with its figures.
func TestMeasureUnits(t *testing.T) {
	s := subject(t, "units")
	plan := &record.Plan{Time: "2x", Timeout: time.Minute}
	line, units, err := measure(t.Context(), plan, s, record.Step{Case: record.Case{Pkg: s.Pkg, Name: "BenchmarkSubject/units"}, CPU: 2})
	if err != nil || strings.Join(units, "; ") != "widgets better=higher; gadgets  better=lower assume=exact" || !strings.HasPrefix(line, "BenchmarkSubject/units-2") || strings.Contains(line, "\n") {
		t.Errorf("%v; %q, %q", err, units, line)
	}
}
