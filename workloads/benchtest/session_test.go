package benchtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/workloads"
)

// all is a test binary with all implementations and references side by side, built
// to be driven.
var all struct {
	build sync.Once
	path  string
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if all.path != "" {
		os.RemoveAll(filepath.Dir(all.path))
	}
	os.Exit(code)
}

// drive starts one of its benchmarks.
func drive(t *testing.T, name string) (*program.Process, error) {
	t.Helper()
	all.build.Do(func() {
		var dir, overlay string
		var with []string
		if dir, all.err = os.MkdirTemp("", "benchtest"); all.err != nil {
			return
		}
		all.path = filepath.Join(dir, "impls.test")
		if overlay, with, all.err = testbin.Overlay(context.Background(), "", dir); all.err != nil {
			return
		}
		out, err := exec.Command("env", append(with, "test", "-c", "-overlay="+overlay, "-o", all.path, "../../impls")...).CombinedOutput()
		if err != nil {
			all.err = errors.New(string(out))
		}
	})
	if errors.Is(all.err, program.ErrUnsupported) {
		t.Skip(all.err)
	}
	if all.err != nil {
		t.Fatal(all.err)
	}
	p, err := testbin.Drive(context.Background(), program.Config{
		Path: all.path, Dir: "../../impls", Benchmark: name, CPU: 2,
	})
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// Every workload is driven in a session, in slices of whole problems, and reports
// the units that it always reports; or it says why it is not.
func TestSessions(t *testing.T) {
	t.Parallel() // beside TestWrongResultsHaveNoFigure, which waits
	if checked {
		t.Skip("they are the same processes with -race and without it")
	}
	for _, w := range workloads.All() {
		for _, name := range []string{w.Refs[0].Name, "lockbased"} {
			want := expected(w)
			if w.Actors >= countable {
				want = append(want, "B/actor", "actors")
			}
			checkSession(t, "Benchmark"+w.Benchmark(name), w.Slicing, want)
		}
	}
}

func checkSession(t *testing.T, name string, slicing workloads.Slicing, want []string) {
	t.Helper()
	p, err := drive(t, name)
	if slicing.Whole != "" {
		var refusal *program.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != slicing.Whole {
			t.Errorf("%s: %v, which is not why not", name, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer p.Close()
	if h := p.Hello(); h.Mode != program.ModeSession || h.Unit != max(slicing.Unit, 1) {
		t.Errorf("%s: %+v", name, h)
	}
	unit := p.Hello().Unit
	if _, err := p.Run(1); err != nil {
		t.Errorf("%s: an operation: %v", name, err)
		return
	}
	if err := p.Reset(); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for range 2 {
		if _, err := p.Run(unit); err != nil {
			t.Errorf("%s: %d operations: %v", name, unit, err)
			return
		}
	}
	res, err := p.Finish()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	r := result(t, name, res.Line)
	slices.Sort(want)
	if got := units(r); r.Iters != 2*unit || !slices.Equal(got, want) {
		t.Errorf("%s reports %d operations and %q, want %d and %q", name, r.Iters, got, 2*unit, want)
	}
}

// result reads what stands behind a name in a benchmark line.
func result(t *testing.T, name, line string) *benchfmt.Result {
	t.Helper()
	rs := records(t, name+"\t"+line+"\n")
	if len(rs) != 1 {
		t.Fatalf("%s: %q is no result", name, line)
	}
	return rs[0]
}

// A session's figures are made as those of an ordinary run are: what does not
// depend on time is the same.
func TestSessionFigures(t *testing.T) {
	if checked {
		t.Skip("the race detector allocates too")
	}
	for _, c := range []struct {
		name  string
		slice int
		unit  string
		slack float64 // how much may come on top
	}{
		{"BenchmarkGroup/workload=uneven/impl=ref-floor", 1024, "rounds/op", 0},
		{"BenchmarkTask/workload=queens/board=8/impl=ref-goroutines", 2057, "allocs/task", 0.1}, // goroutines that are over are used again as the scheduler has it
		{"BenchmarkActor/workload=suspend/impl=lockbased", 1000, "allocs/msg", 0.02},
		{"BenchmarkActor/workload=ask/impl=ref-chan-buffered", 1000, "B/msg", 4},
		{"BenchmarkActor/workload=ask/impl=ref-chan-buffered", 1000, "allocs/msg", 0.02},
	} {
		p, err := drive(t, c.name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if _, err := p.Run(c.slice); err != nil {
				t.Fatal(err)
			}
			if i == 1 { // what is made once has been made
				if err := p.Reset(); err != nil {
					t.Fatal(err)
				}
			}
		}
		res, err := p.Finish()
		if err != nil {
			t.Fatal(err)
		}
		elems := strings.Split(c.name, "/")
		out, err := exec.Command(all.path, "-test.run=^$", "-test.bench=^"+strings.Join(elems, "$/^")+"$",
			"-test.benchtime=100000x", "-test.cpu=2").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		rs := records(t, string(out))
		if len(rs) != 1 {
			t.Fatalf("%s", out)
		}
		want, ok := rs[0].Value(c.unit)
		got, ok2 := result(t, c.name, res.Line).Value(c.unit)
		if !ok || !ok2 || got < want-c.slack || got > want+c.slack || want == 0 {
			t.Errorf("%s: %v %s in slices and %v at once", c.name, got, c.unit, want)
		}
	}
}
