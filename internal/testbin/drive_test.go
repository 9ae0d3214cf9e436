package testbin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/patience"
	"github.com/dynolab/dyno/internal/program"
)

// drivableDir is the folder of the package whose benchmarks the tests drive.
const drivableDir = "testdata/drivable"

var binaries struct {
	build  sync.Once
	dir    string
	driven string
	err    error
}

// drivable returns the test binary of package drivable, built with the overlay, and
// with the race detector if these tests have it.
func drivable(t testing.TB) string {
	t.Helper()
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	binaries.build.Do(func() {
		if binaries.dir, binaries.err = os.MkdirTemp("", "drivable"); binaries.err != nil {
			return
		}
		var path string
		var with []string
		if path, with, binaries.err = Overlay(context.Background(), drivableDir, binaries.dir); binaries.err != nil {
			return
		}
		binaries.driven = filepath.Join(binaries.dir, "subject.test")
		_, binaries.err = child.Says(context.Background(), drivableDir, nil, "env",
			append(with, "test", "-c", fmt.Sprintf("-race=%t", raceEnabled), "-overlay="+path, "-o", binaries.driven)...)
	})
	if binaries.err != nil {
		t.Fatal(binaries.err)
	}
	return binaries.driven
}

// start starts one of its benchmarks.
func start(t testing.TB, name string, more ...func(*program.Config)) (*program.Process, error) {
	t.Helper()
	c := program.Config{Path: drivable(t), Dir: drivableDir, Benchmark: name, CPU: 2}
	for _, f := range more {
		f(&c)
	}
	p, err := Drive(context.Background(), c)
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// drive starts a benchmark and runs slices of it.
func drive(t testing.TB, name string, slices ...int) (*program.Process, []program.Slice) {
	t.Helper()
	p, err := start(t, name)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, program.Output(err))
	}
	return p, run(t, p, slices...)
}

func run(t testing.TB, p *program.Process, slices ...int) []program.Slice {
	t.Helper()
	var all []program.Slice
	for _, n := range slices {
		s, err := p.Run(n)
		if err != nil {
			t.Fatalf("a slice of %d: %v\n%s", n, err, program.Output(err))
		}
		if s.N != n || s.Elapsed <= 0 {
			t.Fatalf("a slice of %d: %+v", n, s)
		}
		all = append(all, s)
	}
	return all
}

func finish(t testing.TB, p *program.Process) program.Result {
	t.Helper()
	r, err := p.Finish()
	if err != nil {
		t.Fatalf("%v\n%s", err, program.Output(err))
	}
	return r
}

// What a benchmark is driven by, how often it is prepared, what it reports, and
// that all of this counts from the latest reset.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		name  string
		hello program.Hello
		extra map[string]float64 // of the first slice
		want  map[string]float64 // of the result
	}{
		{
			name:  "BenchmarkSession",
			hello: program.Hello{Mode: program.ModeSession, Unit: 7},
			want:  map[string]float64{"N": 70, "resets": 1, "setups": 1, "operations": 87},
		},
		{
			name:  "BenchmarkLoop",
			hello: program.Hello{Mode: program.ModeLoop, Unit: 1},
			extra: map[string]float64{"operations": 7},
			want:  map[string]float64{"N": 70, "setups": 1, "operations": 87},
		},
		{
			// Package testing has called it once before, and each slice is a call:
			// medians of 10, 20 and 40, of 3 more, and of what adds up to it.
			name:  "BenchmarkN",
			hello: program.Hello{Mode: program.ModeRunN, Unit: 1},
			extra: map[string]float64{"N": 7, "setups": 2, "operations": 8},
			want:  map[string]float64{"N": 20, "setups": 5, "operations": 48},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, warm := drive(t, c.name, 7, 10)
			h := p.Hello()
			if (h.Probe > 0) != (h.Mode == program.ModeRunN) || h.Pid == 0 {
				t.Errorf("hello %+v", h)
			}
			if h.Pid, h.Probe = 0, 0; h != c.hello {
				t.Errorf("hello %+v, want %+v", h, c.hello)
			}
			if !maps.Equal(warm[0].Extra, c.extra) {
				t.Errorf("a slice reports %v, want %v", warm[0].Extra, c.extra)
			}
			must(t, p.Reset())
			want := maps.Clone(c.want)
			if c.name == "BenchmarkN" {
				want["operations"] = 1 + 17 + 30 // after the second slice that counts
			}
			counted := run(t, p, 10, 20, 40)
			r := finish(t, p)
			sum := time.Duration(0)
			for _, s := range counted {
				sum += s.Elapsed
			}
			if elapsed, ok := r.Extra["elapsed"]; ok && elapsed != float64(sum) {
				t.Errorf("Elapsed is %v when %v was measured", elapsed, sum)
			}
			if each, ok := r.Extra["each"]; ok && !raceEnabled && (each < 1 || each > 2) {
				t.Errorf("%v allocations each, want one", each)
			}
			delete(r.Extra, "elapsed")
			delete(r.Extra, "each")
			if !maps.Equal(r.Extra, want) {
				t.Errorf("reports %v, want %v", r.Extra, want)
			}
			fields := strings.Fields(r.Line)
			if len(fields) < 4 || fields[0] != "70" || fields[2] != "ns/op" || !strings.Contains(r.Line, "operations") {
				t.Errorf("the line is %q", r.Line)
			}
			var perOp float64
			if _, err := fmt.Sscan(fields[1], &perOp); err != nil || perOp < 0.99*float64(sum)/70 || perOp > 1.01*float64(sum)/70 {
				t.Errorf("%v ns/op, %v, when 70 operations took %v", perOp, err, sum)
			}
			if _, err := p.Run(1); err == nil {
				t.Error("a slice after the end")
			}
		})
	}
}

// Allocations are those of the measured time, and collections are counted.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	for _, name := range []string{"BenchmarkPauses/n", "BenchmarkPauses/loop"} {
		p, s := drive(t, name, 1000)
		// With those of the time in which the timer is off they were 3,000. The runtime's own,
		// of a collection that comes just then, count too.
		if got := s[0]; got.Allocs < 1000 || got.Allocs > 2000 || got.Bytes < 2_000_000 || got.Bytes > 4_000_000 {
			t.Errorf("%s: %+v, want about 1,000 of 2,048 bytes", name, got)
		}
		finish(t, p)
	}
	_, s := drive(t, "BenchmarkAllocates/loop", 1, 1000)
	if s[0].GCs != 0 || s[1].GCs == 0 || s[1].Allocs < 1000 || s[1].Bytes < 1000<<16 {
		t.Errorf("%+v", s)
	}
}

// RunParallel and SetBytes do as they always do.
func TestParallel(t *testing.T) {
	p, _ := drive(t, "BenchmarkParallel", 1, 100, 10_000)
	r := finish(t, p)
	for _, unit := range []string{"ns/op", "MB/s", "B/op", "allocs/op"} {
		if !strings.Contains(r.Line, unit) {
			t.Errorf("no %s in %q", unit, r.Line)
		}
	}
}

// A benchmark is found whatever its name, and no other one.
func TestNames(t *testing.T) {
	for name, which := range map[string]float64{
		"BenchmarkSub/a": 1, "BenchmarkSub/a/b": 2, "BenchmarkSub/a_b": 3, "BenchmarkSub/x[y]|z": 4, "BenchmarkSub/a#01": 5,
	} {
		p, _ := drive(t, name, 1, 10)
		if r := finish(t, p); r.Extra["which"] != which {
			t.Errorf("%s is number %v, want %v", name, r.Extra["which"], which)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, cpu := range []int{1, 3} {
		p, err := start(t, "BenchmarkEnvironment", func(c *program.Config) {
			c.CPU = cpu
			c.Env = []string{"SUBJECT_NUMBER=42"}
			c.Args = []string{"-subject.verbose"}
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{"procs": float64(cpu), "number": 42, "verbose": 1}
		if r := finish(t, p); !maps.Equal(r.Extra, want) || r.Line != "" {
			t.Errorf("%v and %q, want %v and no line", r.Extra, r.Line, want)
		}
	}
}

// What a benchmark prints is not in the way.
func TestPrints(t *testing.T) {
	p, _ := drive(t, "BenchmarkPrints", 1, 1000)
	if r := finish(t, p); !strings.Contains(r.Line, "ns/op") {
		t.Errorf("the line is %q", r.Line)
	}
}

// However a benchmark ends, it is said why, and what it has printed.
func TestEnds(t *testing.T) {
	const deadlock = "crashed: fatal error: all goroutines are asleep"
	for _, c := range []struct {
		name   string
		slices []int
		finish bool
		reason string // "" if it is a Refusal
		output string // a part of it
	}{ // those that hang are in TestHangs
		{"BenchmarkSession", []int{1, 13}, false, "failed: subject_test.go:", "13 are not to be done"},
		{"BenchmarkSession", []int{5, 6}, true, "failed: subject_test.go:", "11 are not right"},
		{"BenchmarkRefuses", nil, false, "", "it is too large"},
		{"BenchmarkSub", nil, false, "", "it has sub-benchmarks"},
		{"BenchmarkNone", nil, false, "there is no benchmark of that name", ""},
		{"BenchmarkSub/none", nil, false, "there is no benchmark of that name", ""},
		{"BenchmarkTwice", []int{5}, true, "failed: ", "B.Loop called with timer stopped"},

		{"BenchmarkBad/fatal/n", []int{50, 100}, false, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/fatal/loop", []int{50, 50}, false, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/fatal/before", nil, false, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/fatal/after", []int{50}, true, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/error/n", []int{50, 100}, false, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/error/loop", []int{50, 50}, false, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/error/before", nil, false, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/error/after", []int{50}, true, "failed: subject_test.go:", "no more than 99"},
		{"BenchmarkBad/panic/n", []int{50, 100}, false, "crashed: panic: no more", "goroutine"},
		{"BenchmarkBad/panic/loop", []int{50, 50}, false, "crashed: panic: no more", "goroutine"},
		{"BenchmarkBad/panic/before", nil, false, "crashed: panic: no more", "goroutine"},
		{"BenchmarkBad/panic/after", []int{50}, true, "crashed: panic: no more", "goroutine"},
		{"BenchmarkBad/skip/n", []int{50, 100}, false, "skipped: not today", ""},
		{"BenchmarkBad/skip/loop", []int{50, 50}, false, "skipped: not today", ""},
		{"BenchmarkBad/skip/before", nil, false, "skipped: not today", ""},
		{"BenchmarkBad/skip/after", []int{50}, true, "skipped: not today", ""},
		{"BenchmarkBad/exit/n", []int{50, 100}, false, "the benchmark or its package ended the process", ""},
		{"BenchmarkBad/exit/loop", []int{50, 50}, false, "the benchmark or its package ended the process", ""},
		{"BenchmarkBad/exit/before", nil, false, "ended without running a benchmark", ""},
		{"BenchmarkBad/exit/after", []int{50}, true, "the benchmark or its package ended the process", ""},
		{"BenchmarkBad/exit7/n", []int{50, 100}, false, "ended with exit status 7", ""},
		{"BenchmarkBad/exit7/before", nil, false, "ended with exit status 7", ""},
		{"BenchmarkBad/stuck/n", []int{50, 100}, false, deadlock, "goroutine"},
		{"BenchmarkBad/go/n", []int{50, 100}, false, "the benchmark or its package ended the process", ""},
		{"BenchmarkBad/go/loop", []int{50, 50}, false, deadlock, "goroutine"},
		{"BenchmarkBad/go/before", nil, false, deadlock, "goroutine"},
		{"BenchmarkBad/break/loop", []int{50, 50}, false, "failed: ", "break or return in loop"},
		{"BenchmarkBad/stopped/loop", []int{50, 50}, false, "failed: ", "B.Loop called with timer stopped"},
		{"not TestMain", nil, false, "ended without running a benchmark", ""},
		{"fails TestMain", []int{7}, true, "ended with exit status 1", "something is left"},
		{"race", []int{50, 50}, false, "failed: ", "race detected"},
	} {
		switch {
		case c.name == "race" && !raceEnabled, c.reason == deadlock && raceEnabled:
			continue // nothing sees it
		case c.name == "race":
			c.name = "BenchmarkBad/race/loop"
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := start(t, c.name, func(cfg *program.Config) {
				if what, ok := strings.CutSuffix(c.name, " TestMain"); ok {
					cfg.Benchmark = "BenchmarkLoop"
					cfg.Env = []string{"SUBJECT_MAIN=" + what}
				}
			})
			for i, n := range c.slices {
				if err != nil {
					t.Fatalf("before slice %d: %v\n%s", i, err, program.Output(err))
				}
				_, err = p.Run(n)
			}
			if c.finish {
				if err != nil {
					t.Fatalf("before the end: %v\n%s", err, program.Output(err))
				}
				_, err = p.Finish()
			}
			if err == nil {
				t.Fatal("nothing is wrong")
			}
			var refusal *program.Refusal
			if errors.As(err, &refusal) != (c.reason == "") {
				t.Fatalf("error %v (%[1]T)", err)
			}
			if c.reason == "" {
				if refusal.Reason != c.output {
					t.Errorf("refused because %s, want %s", refusal.Reason, c.output)
				}
				return
			}
			if !strings.HasPrefix(err.Error(), c.reason) {
				t.Errorf("error %q, want one that begins with %q", err, c.reason)
			}
			if at := whereItEnds(t, c.name); !strings.Contains(err.Error(), at) && !raceEnabled {
				t.Errorf("error %q lacks %q", err, at)
			}
			// With the race detector, stacks may take too long to print.
			if out := program.Output(err); !strings.Contains(out, c.output) && !raceEnabled {
				t.Errorf("the output has no %q:\n%s", c.output, out)
			}
			if p != nil {
				if err := stays(p, err); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// What does not answer in time is ended, and it is said where it hangs.
func TestHangs(t *testing.T) {
	for _, c := range []struct {
		name   string
		slices []int // of which it hangs in the last, or before there is one
		finish bool  // or at the end
	}{
		{"BenchmarkBad/hang/n", []int{50, 100}, false},
		{"BenchmarkBad/hang/loop", []int{50, 50}, false},
		{"BenchmarkBad/hang/before", nil, false},
		{"BenchmarkBad/hang/after", []int{50}, true},
		{"BenchmarkBad/spin/loop", []int{50, 50}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			patience.Try(t, 2*time.Second, func(limit time.Duration) error {
				p, err := start(t, c.name, func(cfg *program.Config) { cfg.Timeout = limit })
				for i, n := range c.slices {
					if err != nil {
						return fmt.Errorf("before slice %d: %w", i, err)
					}
					_, err = p.Run(n)
				}
				if c.finish {
					if err != nil {
						return fmt.Errorf("before the end: %w", err)
					}
					_, err = p.Finish()
				}
				want := fmt.Sprintf("no answer after %v: hangs, or needs a longer --timeout", limit)
				switch out := program.Output(err); {
				case err == nil || !strings.HasPrefix(err.Error(), want):
					return fmt.Errorf("error %v, want one that begins with %q", err, want)
				// With the race detector, stacks may take too long to print.
				case !raceEnabled && (!strings.Contains(err.Error(), whereItEnds(t, c.name)) || !strings.Contains(out, "goroutine")):
					return fmt.Errorf("it is not said where it hangs: %w\n%s", err, out)
				case p != nil:
					return stays(p, err)
				}
				return nil
			})
		})
	}
}

// stays fails unless a process that has ended with err is of no more use, for that reason.
func stays(p *program.Process, err error) error {
	if _, again := p.Run(1); !errors.Is(again, err) {
		return fmt.Errorf("a slice after the end: %w", again)
	}
	return p.Close()
}

// whereItEnds returns what the error says of where a BenchmarkBad ends that crashes or
// hangs; "" for others.
func whereItEnds(t *testing.T, name string) string {
	t.Helper()
	_, kind, _ := strings.Cut(name, "BenchmarkBad/")
	kind, _, _ = strings.Cut(kind, "/")
	code := map[string]string{"panic": `panic(late("no more"))`, "stuck": "<-make(chan int)", "hang": "time.Sleep(time.Hour)"}[kind]
	switch {
	case kind == "spin":
		return " (subject_test.go:" // one of the lines of the loop
	case code == "":
		return ""
	}
	source := readFile(t, filepath.Join(drivableDir, "subject_test.go"))
	before, _, ok := strings.Cut(string(source), code)
	if !ok {
		t.Fatalf("the subject has no %s", code)
	}
	return fmt.Sprintf(" (subject_test.go:%d)", 1+strings.Count(before, "\n"))
}

// A slow-down is never less than what was asked for, and no more than a fifth of the work
// above it, unless the process is kept from running just then: then the next one is.
// How exact it is depends on the machine's clock: benchrun calibrate measures that.
func TestSlow(t *testing.T) {
	if raceEnabled {
		t.Skip("reading the clock takes too long")
	}
	for _, name := range []string{"BenchmarkSlow/n", "BenchmarkSlow/loop", "BenchmarkSlow/session"} {
		over, tries := math.Inf(1), 0
		for ; tries < 100 && over > 0.2; tries++ {
			p := started(t, name, func(c *program.Config) { c.Slow = 0.5 })
			s := run(t, p, 1000)[0]
			worked := finish(t, p).Extra["worked"]
			if s.Elapsed < time.Duration(1.5*worked) {
				t.Fatalf("%s: %v of work became %v", name, time.Duration(worked), s.Elapsed)
			}
			over = float64(s.Elapsed)/worked - 1.5
		}
		if over > 0.2 {
			t.Errorf("%s: after %d tries still %.2f of the work too long", name, tries, over)
		}
	}
}

// No collection of garbage is forced before a slice, so that those that come are in
// the time of the slices; but before each whole call there is one, as go test has it.
func TestCollections(t *testing.T) {
	for name, each := range map[string]float64{"BenchmarkN": 1, "BenchmarkLoop": 0, "BenchmarkSession": 0} {
		for _, called := range []bool{false, true} {
			p, _ := drive(t, name, 1, 10) // which allocates next to nothing
			must(t, p.Reset())
			const slices = 4
			for range slices {
				one := p.Run
				if called {
					one = p.Call
				}
				// Of a slice itself the collection before it is no part.
				if s, err := one(10); err != nil || s.N != 10 || s.Elapsed <= 0 || s.GCs != 0 {
					t.Fatalf("%s: %+v, %v", name, s, err)
				}
			}
			want := 0.0
			if called {
				want = slices * each
			}
			if got := finish(t, p).Resources[program.ResourceGCs]; got != want {
				t.Errorf("%s, whole calls %t: %v collections, want %v", name, called, got, want)
			}
		}
	}
	// What makes garbage has it collected in its slices.
	p, s := drive(t, "BenchmarkAllocates/n", 2000)
	if s[0].GCs == 0 { // of 128 MiB, in a heap of 4
		t.Errorf("%+v", s[0])
	}
	finish(t, p)
}

// counted runs slices of some milliseconds of work until one has been counted as it is to
// be. Kernels that look at clock ticks only may count nothing in one of them, or all as the
// system's.
func counted(t testing.TB, p *program.Process, ok func(program.Slice) bool) program.Slice {
	t.Helper()
	for range 1000 {
		if s := run(t, p, 1000)[0]; ok(s) {
			return s
		}
	}
	t.Fatal("in seconds of work nothing has been counted")
	panic("not reached")
}

// What a process has used counts from its beginning, and what a result says of it from
// the latest reset; what it holds is as it is at the end.
func TestUsageAndResources(t *testing.T) {
	p, _ := drive(t, "BenchmarkAllocates/n", 100)
	usage := func() program.Usage {
		u, err := p.Usage()
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	before := usage()
	s := counted(t, p, func(s program.Slice) bool { return s.CPU > 0 && s.GCs > 0 })
	after := usage()
	if after.CPU-before.CPU < s.CPU {
		t.Errorf("a slice used %v, and all since before it %v", s.CPU, after.CPU-before.CPU)
	}
	if before.GCCPU <= 0 || after.GCCPU <= before.GCCPU || after.GCCPU > time.Hour { // the runtime's estimate, by the clock
		t.Errorf("collections used %v, and then %v", before.GCCPU, after.GCCPU)
	}
	// The runtime's smallest goal is 4 MiB. What is made while a collection marks counts as
	// in use, which on a busy machine may be most of the 64 MiB of each slice.
	const most = 1 << 30
	if after.LiveHeap == 0 || after.LiveHeap > most || after.HeapGoal < 4<<20 || after.HeapGoal <= after.LiveHeap || after.HeapGoal > 4*most {
		t.Errorf("a heap of %d bytes, whose goal is %d", after.LiveHeap, after.HeapGoal)
	}
	must(t, p.Reset())
	s = run(t, p, 20_000)[0] // 1.2 GiB, which no collection outlasts
	used := finish(t, p).Resources
	if n := used[program.ResourceGCs]; n == 0 || n < float64(s.GCs) {
		t.Errorf("%v collections, %d of them in the only slice", n, s.GCs)
	}
	if ns := used[program.ResourceGCCPU]; ns <= 0 || ns > float64(time.Hour) {
		t.Errorf("%v ns for collections", ns)
	}
	if live, rss := used[program.ResourceLiveHeap], used[program.ResourcePeakRSS]; live <= 0 || live > most || rss < 1<<20 || rss > 1<<34 {
		t.Errorf("%v bytes of heap, %v of memory", live, rss)
	}
	if len(used) != 4 {
		t.Errorf("%v", used)
	}
	// What the program held that started the process does not count.
	const held = 256 << 20
	ours := bytes.Repeat([]byte{1}, held)
	p, _ = drive(t, "BenchmarkN", 10)
	must(t, p.Reset())
	if rss := finish(t, p).Resources[program.ResourcePeakRSS]; rss < 1<<20 || rss >= held {
		t.Errorf("a small process held %v bytes, as this one does", rss)
	}
	runtime.KeepAlive(ours)
	// Without a reset nothing counts, and resources are no metrics.
	p, _ = drive(t, "BenchmarkN", 10)
	if r := finish(t, p); len(r.Resources) != 0 || r.Extra[program.ResourceGCs] != 0 {
		t.Errorf("%+v", r)
	}
}

// Processor time is that of all that the process does from the beginning of a slice to
// its end, with the timer off too.
func TestProcessorTime(t *testing.T) {
	for _, name := range []string{"BenchmarkBeside/n", "BenchmarkBeside/loop"} {
		// A process that is kept from running while its timer is on has a long time, which
		// chance does not do again and again.
		tries := 0
		for ; tries < 20; tries++ {
			p, s := drive(t, name, 100) // 0.1 s, so that clock ticks do
			finish(t, p)
			if s[0].CPU > 2*s[0].Elapsed {
				break
			}
		}
		if tries == 20 {
			t.Errorf("%s: what is done beside the measured time is not in the processor time", name)
		}
	}
}

// The driven binary is an ordinary one when it is not driven.
func TestOrdinary(t *testing.T) {
	args := []string{"-test.run=^$", "-test.bench=N$|Loop|Session|Refuses|Sub", "-test.benchtime=100x"}
	out, err := exec.Command(drivable(t), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := resultShapes(string(out))
	plain := filepath.Join(t.TempDir(), "plain.test")
	if _, err := goSays(context.Background(), drivableDir, "test", "-c", fmt.Sprintf("-race=%t", raceEnabled), "-o", plain); err != nil {
		t.Fatal(err)
	}
	if out, err = exec.Command(plain, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := resultShapes(string(out)); !slices.Equal(got, want) || len(want) != 8 {
		t.Errorf("results\n%q\nwithout the overlay\n%q", got, want)
	}
}

// resultShapes returns the result lines without their times.
func resultShapes(out string) []string {
	var all []string
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.HasPrefix(line, "Benchmark") && !strings.Contains(line, "elapsed") {
			all = append(all, strings.Join(append(fields[:2], fields[3:]...), " "))
		}
	}
	slices.Sort(all)
	return all
}

// killed is a context that was ended on request.
func killed() context.Context {
	ctx, kill := context.WithCancelCause(context.Background())
	kill(program.ErrKilled)
	return ctx
}

// The end of its context ends whatever is under way.
func TestKill(t *testing.T) {
	drivable(t) // here, where a test may end
	for _, name := range []string{"BenchmarkBad/hang/before", "BenchmarkBad/hang/loop", "waiting"} {
		ctx, kill := context.WithCancelCause(context.Background())
		reached := make(chan error, 1)
		bench := name
		if name == "waiting" {
			bench = "BenchmarkLoop"
		}
		begun := make(chan struct{})
		go func() {
			close(begun)
			p, err := Drive(ctx, program.Config{Path: drivable(t), Dir: drivableDir, Benchmark: bench})
			if err == nil && name == "waiting" {
				kill(program.ErrKilled)
				<-p.Done()
			}
			if err == nil {
				_, err = p.Run(100)
			}
			reached <- err
		}()
		<-begun
		if name != "waiting" {
			kill(program.ErrKilled)
		}
		if err := <-reached; !errors.Is(err, program.ErrKilled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Drive(killed(), program.Config{Path: drivable(t), Dir: drivableDir, Benchmark: "BenchmarkLoop"}); !errors.Is(err, program.ErrKilled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// A process ends when the program that drives it has died: its commands end.
func TestOrphan(t *testing.T) {
	cmd := exec.Command(drivable(t), "-test.run=^$", "-test.bench=^BenchmarkSession$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), "DYNO_DRIVE=name=BenchmarkSession")
	commands, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{commands, answers}
	must(t, cmd.Start())
	commands.Close()
	answers.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); !strings.HasPrefix(line, "hello\t") {
		t.Errorf("it says %q, %v", line, err)
	}
	in.Close()
	if err := cmd.Wait(); err == nil || err.Error() != "exit status 3" {
		t.Errorf("error %v", err)
	}
	out.Close()
}

func TestCounters(t *testing.T) {
	p := started(t, "BenchmarkAllocates/loop", func(c *program.Config) { c.Counters = true })
	s := counted(t, p, func(s program.Slice) bool { return s.Counters["user-ns"]+s.Counters["system-ns"] > 0 })
	for _, name := range []string{
		"gc-cycles", "gc-cpu-ns", "goroutines", "heap-live-B", "mutex-wait-ns", "sched-events", "sched-p50-ns", "sched-p99-ns",
		"threads", "user-ns", "system-ns", "voluntary-switches", "involuntary-switches", "minor-faults", "major-faults",
	} {
		if v, ok := s.Counters[name]; !ok || v < 0 {
			t.Errorf("%s: %v, %t", name, v, ok)
		}
	}
	// Of goroutines the program has three or four; with the runtime's own there are more than that.
	if n := s.Counters["goroutines"]; s.Counters["gc-cycles"] < float64(s.GCs) || n < 2 || n > 4 {
		t.Errorf("%+v", s)
	}
	if s.Extra != nil {
		t.Errorf("counters are among the metrics: %v", s.Extra)
	}
	finish(t, p)
}

func TestProfiles(t *testing.T) {
	p, _ := drive(t, "BenchmarkSession", 10)
	dir := t.TempDir()
	for _, kind := range []string{program.ProfileCPU, program.ProfileMutex, program.ProfileBlock, program.ProfileAllocs} {
		path := filepath.Join(dir, kind+" profile")
		must(t, p.StartProfile(kind, path))
		run(t, p, 10_000)
		must(t, p.EndProfile())
		want := []string{path}
		if kind != program.ProfileCPU {
			want = append(want, path+".before")
		}
		for _, file := range want {
			// A profile is compressed.
			if text, err := os.ReadFile(file); err != nil || len(text) < 50 || text[0] != 0x1f || text[1] != 0x8b {
				t.Errorf("%s: %d bytes, %v", file, len(text), err)
			}
		}
	}
	if err := p.StartProfile(program.ProfileCPU, filepath.Join(dir, "none", "x")); err == nil {
		t.Error("a profile in no folder")
	}
	if err := p.EndProfile(); err == nil {
		t.Error("the end of no profile")
	}
	run(t, p, 10) // it is still there
	finish(t, p)
}

// What the process prints of units is a part of its result.
func TestUnits(t *testing.T) {
	p, _ := drive(t, "BenchmarkSession", 1)
	if got := finish(t, p).Units; !slices.Equal(got, []string{"each better=lower", "N better=higher assume=exact"}) {
		t.Errorf("units: %q", got)
	}
}
