package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
	"github.com/dynolab/dyno/internal/stats"
)

// A fakeWorld is where fake benchmarks run: its time passes when they do.
type fakeWorld struct {
	time        time.Duration
	starts      []string                                   // of what, in order
	ran         []string                                   // which slices, since the latest start
	slow        func(at time.Duration) float64             // by how much everything is slowed down; nil for not at all
	make        func(block int, s record.Step) *fakeDriver // returns how a step behaves; nil for well
	alone       int                                        // processes of steps that took no turns
	beforeAlone func()                                     // nil for nothing
	slept       time.Duration                              // that the lab has waited
	live        []*fakeDriver                              // all that were started
	awake       []string                                   // which did not stand still while another one ran
	odd         []string                                   // slices that were no whole units
}

// only notes who does not stand still while f runs.
func (w *fakeWorld) only(f *fakeDriver) {
	for _, other := range w.live {
		if other != f && !other.frozen && !other.ended {
			w.awake = append(w.awake, other.name+" beside "+f.name)
		}
	}
}

// A fakeDriver is a benchmark that takes perOp for an operation, in a world.
type fakeDriver struct {
	w       *fakeWorld
	name    string
	perOp   func(slice int) time.Duration // slice counts from 1 since the start
	takes   func(n int) time.Duration     // a slice of n operations, if that is not n times perOp
	unit    int
	gcEvery time.Duration // of its own time; 0 for never
	pid     int
	mode    string // of Hello; "" for a session

	refuse   error // of Start
	failAt   int   // the slice that fails with fail
	fail     error
	wrong    error // of Finish
	reports  string
	extra    map[string]float64
	units    []string                  // what it says of them
	before   func(slice int)           // called before each slice
	besides  func(n int) time.Duration // a slice of n operations beside what its timer measures; nil for nothing
	eachSays map[string]float64        // what it reports of each slice
	slices   int                       // done
	measured int                       // operations since the reset
	spent    time.Duration             // its own time
	reset    bool
	closed   bool
	frozen   bool
	ended    bool
	called   []int                // operations of each whole call
	idles    func() time.Duration // processor time that it uses while it waits
	cpu      time.Duration
	// processors is how many it uses at a time; 0 for none that is told.
	processors float64
	works      func(n int) time.Duration // processor time of n operations, if that is not a part of what they take
	usages     int                       // how many times it was asked for its usage
	counts     *program.Hardware         // what processors count of an operation; nil where there is nothing that counts
	counting   bool
	counted    int                  // slices that were
	says       func() program.Usage // what it has used; nil for what gcEvery makes of it
}

func (f *fakeDriver) Hello() program.Hello {
	return program.Hello{Mode: cmp.Or(f.mode, program.ModeSession), Unit: f.unit, Pid: f.pid}
}

func (f *fakeDriver) Run(n int) (program.Slice, error) {
	if f.closed {
		return program.Slice{}, errors.New("run after close")
	}
	f.thaw()
	f.slices++
	if f.before != nil {
		f.before(f.slices)
	}
	if f.slices == f.failAt {
		f.ended = true
		return program.Slice{}, f.fail
	}
	factor := 1.0
	if f.w.slow != nil {
		factor = f.w.slow(f.w.time)
	}
	took := time.Duration(float64(f.perOp(f.slices)) * float64(n) * factor)
	if f.takes != nil {
		took = time.Duration(float64(f.takes(n)) * factor)
	}
	wall := took + 100*time.Microsecond
	if f.besides != nil {
		wall += f.besides(n)
	}
	f.w.time += wall
	f.w.ran = append(f.w.ran, f.name)
	if n%f.unit != 0 {
		f.w.odd = append(f.w.odd, fmt.Sprint(f.name, ": ", n))
	}
	f.measured += n
	gcs := 0
	if f.gcEvery > 0 {
		gcs = int((f.spent+took)/f.gcEvery) - int(f.spent/f.gcEvery)
	}
	f.spent += took
	cpu := time.Duration(f.processors * float64(took))
	if f.works != nil {
		cpu = f.works(n)
	}
	s := program.Slice{N: n, Elapsed: took, Wall: wall, Extra: f.eachSays, CPU: cpu, GCs: uint32(gcs), Allocs: uint64(2 * n), Bytes: uint64(48 * n)}
	if f.counting {
		f.counted++
		s.Hardware = &program.Hardware{Instructions: f.counts.Instructions * uint64(n), Cycles: f.counts.Cycles * uint64(n)}
	}
	return s, nil
}

func (f *fakeDriver) CountHardware() error {
	if f.counts == nil {
		return errNoCounters
	}
	f.frozen, f.counting = true, true
	return nil
}

func (f *fakeDriver) StopCounting() error {
	f.counting = false
	return nil
}

var errNoCounters = errors.New("there are none on paper")

func (f *fakeDriver) Call(n int) (program.Slice, error) {
	f.called = append(f.called, n)
	return f.Run(n)
}

// thaw is what comes before all that the process does.
func (f *fakeDriver) thaw() {
	f.frozen = false
	f.w.only(f)
}

func (f *fakeDriver) Usage() (program.Usage, error) {
	f.thaw()
	f.usages++
	if f.idles != nil {
		f.cpu += f.idles()
	}
	return f.usage(), nil
}

// usage is such that its next collection comes gcEvery after the one before.
func (f *fakeDriver) usage() program.Usage {
	if f.says != nil {
		return f.says()
	}
	u := program.Usage{CPU: f.cpu, LiveHeap: 1 << 20}
	if f.gcEvery > 0 && f.perOp != nil {
		u.HeapGoal = u.LiveHeap + uint64(48*f.gcEvery/max(1, f.perOp(f.slices)))
	}
	return u
}

func (f *fakeDriver) Freeze() bool { f.frozen = true; return true }

func (f *fakeDriver) Reset() error {
	f.thaw()
	f.reset, f.measured = true, 0
	return nil
}

func (f *fakeDriver) Finish() (program.Result, error) {
	f.thaw()
	f.ended = true
	if f.wrong != nil {
		return program.Result{}, f.wrong
	}
	line := f.reports
	if line == "" {
		line = fmt.Sprintf("%8d\t%10.1f ns/op\t 1.5 allocs/task", f.measured, 123.0)
	}
	return program.Result{Line: line, Extra: f.extra, Units: f.units}, nil
}

func (f *fakeDriver) Close() error { f.closed, f.ended = true, true; return nil }

// deps are those of a run in w.
func (w *fakeWorld) deps() deps {
	return deps{
		Subject: w,
		now:     func() time.Time { return time.Unix(0, 0).Add(w.time) },
		sleep: func(d time.Duration) {
			if w.slept += d; d != idle { // when one is watched it is awake
				w.only(&fakeDriver{name: "absent"})
			}
		},
		look: func() ([]record.Group, error) { return nil, nil },
	}
}

// Start implements Subject.
func (w *fakeWorld) Start(block int, s record.Step, env []string) (Driver, error) {
	f := &fakeDriver{}
	if w.make != nil {
		f = w.make(block, s)
	}
	f.w, f.name, f.unit = w, fmt.Sprint(s.Index, "/", s.Copy), max(1, f.unit)
	if f.perOp == nil {
		f.perOp = func(int) time.Duration { return time.Duration(100 * s.Index) }
	}
	w.starts = append(w.starts, fmt.Sprint(block, ":", f.name, " ", len(env[0])))
	w.ran = nil
	if f.refuse != nil {
		return nil, f.refuse
	}
	w.live = append(w.live, f)
	w.only(f)
	return f, nil
}

// Measure implements Subject.
func (w *fakeWorld) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	if w.beforeAlone != nil {
		w.beforeAlone()
	}
	w.alone++
	text, err := fake(0)(s)
	return Single(s, block, text, nil, err)
}

// turnsPlanOf is turnsPlan with slices that take so long.
func turnsPlanOf(n, blocks, rounds int, slice time.Duration) *record.Plan {
	p := recordtest.Turns(n, blocks, rounds)
	p.Slice = slice
	return p
}

// turnsRun carries plan out in w, and returns the path of the results.
func turnsRun(t testing.TB, plan *record.Plan, w *fakeWorld) (path string, p *watched) {
	t.Helper()
	path = filepath.Join(recordtest.Dir(t), "run.bench")
	s := create(t, path, plan)
	p = new(watched)
	must(t, errors.Join(carryOut(context.Background(), plan, s, nil, p, w.deps()), s.Close()))
	if p.done != p.total {
		t.Errorf("%d of %d steps are done", p.done, p.total)
	}
	if len(w.awake)+len(w.odd) > 0 {
		t.Errorf("these ran while others were to stand still: %q; no whole units: %q", w.awake, w.odd)
	}
	return path, p
}

// onlySlicesCount checks that the processes of w count nothing but the slices that are
// in the results: what warms them up comes before a reset.
func (w *fakeWorld) onlySlicesCount(t *testing.T, got map[string]found) {
	t.Helper()
	for i, f := range w.live {
		start, _, _ := strings.Cut(w.starts[i], " ")
		times := got[strings.Replace(start, ":", "/", 1)].times
		if times == nil || f.measured != times.N*len(times.Ns) || !f.reset {
			t.Errorf("%s counts %d operations, and has these slices: %+v", start, f.measured, times)
		}
	}
}

// A found is a result or a hole in a file, with its slices.
type found struct {
	name, reason string
	config       func(key string) string
	times        *record.Slices
}

// find reads what a results file has by "block/case/copy".
func find(t testing.TB, path string) map[string]found {
	t.Helper()
	entries(t, path) // other readers can read it too
	f := record.Read(path, readFile(t, path))
	got := make(map[string]found)
	for _, r := range slices.Concat(f.Results, f.Holes) {
		config := r.Result.GetConfig
		one := found{config: config, times: r.Slices}
		switch {
		case r.Hole == nil:
			written := r.Result.Clone()
			for i, v := range written.Values {
				unit := record.Written(v)
				written.Values[i] = benchfmt.Value{Value: record.InUnit(v, unit), Unit: unit}
			}
			one.name = record.ResultLine(written)
		case r.Hole.Block == "":
			continue
		default:
			one.name, one.reason = r.Hole.Case, r.Hole.Reason
		}
		key := config("block") + "/" + config("case") + "/" + config("copy")
		if _, ok := got[key]; ok {
			t.Errorf("%s is there twice", key)
		}
		got[key] = one
	}
	return got
}

func TestGroups(t *testing.T) {
	p := &record.Plan{Mode: record.ModeAuto, Control: true, CPU: []int{1, 2}, Cases: []record.Case{
		{Pkg: "p", Name: "BenchmarkA/w=1/impl=x"},
		{Pkg: "p", Name: "BenchmarkA/w=2/impl=x/y=1"},
		{Pkg: "p", Name: "BenchmarkA/w=1/impl=ref-a"},
		{Pkg: "p", Name: "BenchmarkA/w=2/impl=z/y=1"},
		{Pkg: "p", Name: "BenchmarkA/w=1/impl=ref-b"},
		{Pkg: "q", Name: "BenchmarkA/w=1/impl=x"},
		{Pkg: "p", Name: "BenchmarkAlone"},
	}}
	show := func() string {
		var b strings.Builder
		for _, g := range p.Groups() {
			fmt.Fprintf(&b, "%d %s %s:", g.Index, g.Pkg, g.Name)
			for _, s := range g.Steps {
				fmt.Fprintf(&b, " %d/%d", s.Index, s.Copy)
			}
			if p.TakesTurns(g) {
				b.WriteString(" turns")
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	// The control is of the first reference; where a row has none, Compare has no
	// base, and it is of the row's first.
	want := `1 p A/w=1: 1/1 5/1 9/1 5/2 turns
2 p A/w=1-2: 2/1 6/1 10/1 6/2 turns
3 p A/w=2/y=1: 3/1 7/1 3/2 turns
4 p A/w=2/y=1-2: 4/1 8/1 4/2 turns
5 q A/w=1: 11/1
6 q A/w=1-2: 12/1
7 p Alone: 13/1
8 p Alone-2: 14/1
`
	if got := show(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := len(p.Steps()); n != 18 {
		t.Errorf("%d steps, want 14 and 4 controls", n)
	}
	// Sides are columns if they are what is compared, and rows if not.
	p.CPU, p.Cases = []int{2}, []record.Case{
		{Pkg: "p", Name: "BenchmarkA/impl=x", Side: "old"},
		{Pkg: "p", Name: "BenchmarkA/impl=x", Side: "new"},
		{Pkg: "p", Name: "BenchmarkA/impl=y", Side: "old"},
		{Pkg: "p", Name: "BenchmarkA/impl=y", Side: "new"},
	}
	for col, want := range map[string]string{
		"":             "1 p A-2: 1/1 3/1 1/2 turns\n2 p A-2: 2/1 4/1 2/2 turns\n",
		record.SideKey: "1 p A/impl=x-2: 1/1 2/1 1/2 turns\n2 p A/impl=y-2: 3/1 4/1 3/2 turns\n",
	} {
		p.Col = col
		if got := show(); got != want {
			t.Errorf("by %q: got\n%s\nwant\n%s", col, got, want)
		}
	}
}

// Everything random is from the seed, each block has its own, and single
// processes keep the order that plans without turns have.
func TestTurnsAreRandom(t *testing.T) {
	plan := recordtest.Turns(4, 3, 9)
	plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkAlone"})
	var runs [2]*fakeWorld
	var files [2][]byte
	for i := range runs {
		runs[i] = new(fakeWorld)
		path, _ := turnsRun(t, plan, runs[i])
		data := readFile(t, path)
		_, files[i], _ = bytes.Cut(data, []byte("\nblock: 1\n"))
	}
	withoutLoad := func(b []byte) string {
		return strings.Join(slices.DeleteFunc(strings.Split(string(b), "\n"), func(l string) bool { return strings.HasPrefix(l, "load:") }), "\n")
	}
	if a, b := withoutLoad(files[0]), withoutLoad(files[1]); a != b {
		t.Errorf("two runs of one plan differ:\n%s\n%s", a, b)
	}
	perBlock, pads := make(map[string]bool), make(map[string]bool)
	for i, start := range runs[0].starts {
		_, pad, _ := strings.Cut(start, " ")
		pads[pad] = true
		if i%5 == 0 {
			names := ""
			for _, s := range runs[0].starts[i : i+5] {
				names += s[2:6]
			}
			perBlock[names] = true
		}
	}
	if len(runs[0].starts) != 15 || len(perBlock) != 3 || len(pads) < 12 {
		t.Errorf("starts and paddings of three blocks: %q", runs[0].starts)
	}
	// The rounds of the last block, after warming up alone: two of them have a random
	// order and the same backwards, so that each process comes as early as any other.
	const steps, rounds = 5, 9
	ran := runs[0].ran[len(runs[0].ran)-steps*rounds:]
	orders := make(map[string]bool)
	for i := 0; i < rounds; i++ {
		round := slices.Clone(ran[i*steps : (i+1)*steps])
		if i%2 == 1 {
			slices.Reverse(round)
			if before := ran[(i-1)*steps : i*steps]; !slices.Equal(round, before) {
				t.Errorf("round %d is %q backwards, after %q", i, round, before)
			}
			continue
		}
		orders[strings.Join(round, " ")] = true
		slices.Sort(round)
		if want := []string{"1/1", "1/2", "2/1", "3/1", "4/1"}; !slices.Equal(round, want) {
			t.Fatalf("a round has %q", round)
		}
	}
	if len(orders) != 5 {
		t.Errorf("%d orders in 9 rounds", len(orders))
	}
}

// The copies of a benchmark do the same work in each slice, although they take not
// quite the same time for it, unless one is more than twice as fast.
func TestCopiesDoTheSameWork(t *testing.T) {
	plan := recordtest.Turns(0, 5, 4)
	plan.Slice = time.Millisecond
	for _, side := range []string{"a", "b", "c"} {
		plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkG", Side: side})
		plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkOther", Side: side})
	}
	plan.Col = record.SideKey
	perOp := map[string]time.Duration{"a": 1000, "b": 1900, "c": 1200}
	for _, limit := range []time.Duration{1900, 2500} {
		perOp["b"] = limit
		w := &fakeWorld{make: func(block int, s record.Step) *fakeDriver {
			noise := time.Duration(7*block+13*s.Copy) % 20 // of this process
			return &fakeDriver{unit: 3, perOp: func(int) time.Duration { return perOp[s.Case.Side] + noise }}
		}}
		path, _ := turnsRun(t, plan, w)
		work := make(map[string][]int) // of BenchmarkG, by block
		for _, f := range find(t, path) {
			if strings.HasPrefix(f.name, "BenchmarkG") && f.times != nil {
				work[f.config("block")] = append(work[f.config("block")], f.times.N)
			}
		}
		if len(work) != 5 {
			t.Errorf("%d blocks", len(work))
		}
		for block, ns := range work {
			slices.Sort(ns)
			if same := ns[0] == ns[len(ns)-1]; len(ns) != 4 || same != (limit < 2000) {
				t.Errorf("slowest %v, block %s: slices of %d operations", limit, block, ns)
			}
		}
	}
}

// A copy that something disturbed while it warmed up seems several times as slow, and so may
// another side: slices have as many operations as the one has that was not disturbed. Without
// the copy it could be slower.
func TestDisturbedCopiesDoTheSameWork(t *testing.T) {
	for _, c := range []struct {
		copy, side int // by what they seem slower
		same       bool
	}{{1, 5, false}, {5, 5, true}, {5, 1, true}, {5, 30, false}} {
		var sides []*side
		for i, n := range []int{1, c.copy, c.side} {
			p := &side{step: record.Step{Case: record.Case{Name: "BenchmarkG", Side: []string{"a", "a", "b"}[i]}, CPU: 2, Copy: i % 2}}
			p.warm.n, p.warm.perOp = 3000/n, 300*float64(n)
			sides = append(sides, p)
		}
		other := &side{step: record.Step{Case: record.Case{Name: "BenchmarkOther", Side: "a"}, CPU: 2}}
		other.warm.n, other.warm.perOp = 7, 1
		failed := &side{step: sides[0].step, err: errors.New("failed")}
		failed.warm.n, failed.warm.perOp = 100_000, 1
		sameWork(append(sides, other, failed))
		if sides[0].warm.n != 3000 || sides[1].warm.n != 3000 || (sides[2].warm.n == 3000) != c.same || other.warm.n != 7 {
			t.Errorf("%+v: %d %d %d operations, of another benchmark %d", c, sides[0].warm.n, sides[1].warm.n, sides[2].warm.n, other.warm.n)
		}
		if want := time.Duration(sides[1].warm.perOp * 3000); sides[1].warm.slice != want {
			t.Errorf("%+v: a slice takes %v, not %v", c, sides[1].warm.slice, want)
		}
	}
}

// What processors count is counted in slices of its own, before those that are timed;
// where nothing counts that is said once.
func TestHardwareIsCountedApart(t *testing.T) {
	for _, c := range []struct{ rounds, counted int }{{250, 25}, {20, 2}, {4, 0}} {
		w := &fakeWorld{make: func(int, record.Step) *fakeDriver {
			f := &fakeDriver{perOp: constantly(1000), counts: &program.Hardware{Instructions: 7, Cycles: 3}}
			f.before = func(int) {
				if f.counting && f.counted > c.counted {
					t.Error("it is counted for longer than planned")
				}
			}
			return f
		}}
		path, _ := turnsRun(t, recordtest.Turns(2, 2, c.rounds), w)
		got := find(t, path)
		w.onlySlicesCount(t, got)
		for key, f := range got {
			if has := strings.Contains(f.name, " 7 instructions/op"); has != (c.counted > 0) || len(f.times.Ns) != c.rounds {
				t.Errorf("%d rounds, %s: %s with %d slices", c.rounds, key, f.name, len(f.times.Ns))
			}
		}
		for _, f := range w.live {
			if f.counted != c.counted || f.counting {
				t.Errorf("%d rounds: %d slices were counted, want %d; still counted: %v", c.rounds, f.counted, c.counted, f.counting)
			}
		}
	}
	// One that cannot be counted is no reason not to count later ones.
	path, _ := turnsRun(t, recordtest.Turns(2, 2, 20), &fakeWorld{make: func(block int, _ record.Step) *fakeDriver {
		f := &fakeDriver{perOp: constantly(1000)}
		if block == 2 {
			f.counts = &program.Hardware{Instructions: 7, Cycles: 3}
		}
		return f
	}})
	for key, f := range find(t, path) {
		if strings.Contains(f.name, " instructions/op") != strings.HasPrefix(key, "2/") {
			t.Errorf("%s: %s", key, f.name)
		}
	}
	_, p := turnsRun(t, recordtest.Turns(2, 2, 20), new(fakeWorld))
	if p.uncounted != 1 {
		t.Errorf("it is said %d times that nothing counts", p.uncounted)
	}
}

// The file has of each round one slice a process; each figure is the mean of the
// slices.
func TestTurnsInTheFile(t *testing.T) {
	plan := recordtest.Turns(3, 4, 7)
	w := &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
		return &fakeDriver{unit: 64, perOp: func(slice int) time.Duration { return time.Duration(100*s.Index + slice%3) }}
	}}
	path, p := turnsRun(t, plan, w)
	if len(p.holes) > 0 || len(p.notes) > 0 || !slices.Equal(p.blocks, []int{1, 2, 3, 4}) || len(p.turns) != 4 {
		t.Errorf("told %+v", p)
	}
	got := find(t, path)
	if len(got) != 16 {
		t.Errorf("%d results, want 16", len(got))
	}
	w.onlySlicesCount(t, got)
	for key, f := range got {
		if f.times == nil {
			t.Fatalf("%s has no slices: %s", key, f.name)
		}
		fields := strings.Fields(f.name)
		sum := int64(0)
		for _, ns := range f.times.Ns {
			sum += ns
		}
		perOp := float64(sum) / float64(7*f.times.N)
		value, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || fields[3] != "ns/op" || math.Abs(value/perOp-1) > 1e-5 {
			t.Errorf("%s: %q, want %v ns/op", key, f.name, perOp)
		}
		if fields[1] != strconv.Itoa(7*f.times.N) || !strings.HasSuffix(f.name, "\t 1.5 allocs/task") || len(fields) != 6 {
			t.Errorf("%s: %q of slices of %d", key, f.name, f.times.N)
		}
		slice := perOp * float64(f.times.N)
		if len(f.times.Ns) != 7 || f.times.N%64 != 0 || math.Abs(slice/5e6-1) > 0.01 || !f.times.Steady || !f.times.Whole || f.times.Took <= 0 {
			t.Errorf("%s: %+v", key, *f.times)
		}
		block, _ := strconv.Atoi(f.config("block"))
		if f.config("driven") != "session" || f.config("layout") != strconv.Itoa((block-1)%3) || f.config("pkg") != "example.com/a" {
			t.Errorf("%s: %v", key, f)
		}
		if pad, err := strconv.Atoi(f.config("envpad")); err != nil || pad < 0 || pad >= maxPad || pad%padStep != 0 {
			t.Errorf("%s: padding %q", key, f.config("envpad"))
		}
	}
	if _, ok := got["4/1/2"]; !ok {
		t.Error("the first column has no control")
	}
}

// The machine gets slower and slower, twice as slow in the end: the rounds'
// ratios do not see that.
func TestTurnsUnderDrift(t *testing.T) {
	plan := recordtest.Turns(2, 6, 20)
	w := &fakeWorld{slow: func(at time.Duration) float64 { return 1 + at.Seconds()/3 }}
	path, _ := turnsRun(t, plan, w)
	if w.time < 2*time.Second || w.time > 10*time.Second {
		t.Fatalf("the fakeWorld is %v old", w.time)
	}
	got := find(t, path)
	for block := range 6 {
		a, b := got[fmt.Sprint(block+1, "/1/1")].times, got[fmt.Sprint(block+1, "/2/1")].times
		var ratios []float64
		for i := range a.Ns {
			ratios = append(ratios, float64(b.Ns[i])/float64(b.N)/(float64(a.Ns[i])/float64(a.N)))
		}
		slices.Sort(ratios)
		if r := stats.Median(ratios); math.Abs(r/2-1) > 0.005 {
			t.Errorf("block %d: ratio %v, want 2", block+1, r)
		}
	}
	first, last := got["1/1/1"].times, got["6/1/1"].times
	if drift := float64(last.Ns[0]) / float64(last.N) / (float64(first.Ns[0]) / float64(first.N)); drift < 1.3 {
		t.Errorf("there was hardly any drift: %v", drift)
	}
}

// Each way to fail leaves a hole with its reason and no figure, for that process
// alone; after two in a row it is not tried again.
func TestTurnsFail(t *testing.T) {
	for reason, spoil := range map[string]func(f *fakeDriver){
		"crashed: panic: in the middle": func(f *fakeDriver) {
			f.failAt, f.fail = 27, &program.Failure{Reason: "crashed: panic: in the middle", Output: "stacks"}
		},
		"crashed: panic: warming up": func(f *fakeDriver) {
			f.failAt, f.fail = 2, &program.Failure{Reason: "crashed: panic: warming up", Output: "stacks"}
		},
		"not finished after 1m0s: hangs": func(f *fakeDriver) {
			f.failAt, f.fail = 25, &program.Failure{Reason: "not finished after 1m0s: hangs", Output: "stacks"}
		},
		"failed: lost 3 tasks":                     func(f *fakeDriver) { f.wrong = &program.Failure{Reason: "failed: lost 3 tasks", Output: "stacks"} },
		"skipped itself":                           func(f *fakeDriver) { f.refuse = &program.Failure{Reason: "skipped itself", Output: "stacks"} },
		`ended with "nothing", which is no result`: func(f *fakeDriver) { f.reports = "nothing" },
	} {
		plan := recordtest.Turns(3, 4, 20)
		w := &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
			f := new(fakeDriver)
			if s.Index == 2 {
				spoil(f)
			}
			return f
		}}
		path, p := turnsRun(t, plan, w)
		got := find(t, path)
		for key, f := range got {
			want := ""
			if strings.Contains(key, "/2/") {
				want = reason
				if key >= "3" {
					want = "not tried any more after it failed 2 times in a row"
				}
			}
			if f.reason != want || (want == "") != (f.times != nil) || want == "" && len(f.times.Ns) != 20 {
				t.Errorf("%s: %+v, want %q", key, f, want)
			}
		}
		if len(got) != 16 || len(p.holes) != 4 || w.alone != 0 {
			t.Errorf("%s: %d entries, holes %+v, %d processes", reason, len(got), p.holes, w.alone)
		}
	}
}

// A row that cannot be driven is measured in processes of their own, the control
// too, from then on and after a resumption.
func TestTurnsFallBack(t *testing.T) {
	const MiB = 1 << 20
	for why, c := range map[string]struct {
		refuse error
		room   uint64
	}{
		"G/workload=w/impl=b/x=1: not to be driven: it is too large":                          {refuse: &program.Refusal{Reason: "it is too large"}},
		"G/workload=w/impl=b/x=1: no pipes: benchmarks cannot be driven here":                 {refuse: fmt.Errorf("no pipes: %w", program.ErrUnsupported)},
		"its processes together hold more than 250 MiB of memory, a quarter of what there is": {room: 250 * MiB},
	} {
		plan := recordtest.Turns(3, 4, 5)
		w := &fakeWorld{make: func(block int, s record.Step) *fakeDriver {
			f := &fakeDriver{pid: 1}
			if s.Index == 2 && block == 2 { // it becomes too large
				f.refuse, f.pid = c.refuse, 2
			}
			return f
		}}
		h := w.deps()
		h.room, h.rss = c.room, func(pid int) uint64 { return uint64(pid) * 60 * MiB }
		path := filepath.Join(recordtest.Dir(t), "run.bench")
		s := create(t, path, plan)
		ctx, cancel := context.WithCancel(context.Background())
		w.beforeAlone = func() {
			if w.alone == 5 {
				cancel()
			}
		}
		p := new(watched)
		if err := carryOut(ctx, plan, s, nil, p, h); !errors.Is(err, ErrInterrupted) || w.alone != 6 {
			t.Fatalf("%s: %v after %d processes", why, err, w.alone)
		}
		must(t, s.Close())
		if want := "G/workload=w/x=1-2: " + why + "; each value is from a process of its own"; !slices.Equal(p.notes, []string{want}) {
			t.Errorf("notes %q, want %q", p.notes, want)
		}
		r := interrupted(t, path)
		if r.Alone[1] != why || r.Ended != 2 || len(r.Done) != 2 {
			t.Errorf("read %+v", r)
		}
		s = resume(t, r)
		starts := len(w.starts)
		p = new(watched)
		must(t, errors.Join(carryOut(context.Background(), plan, s, r, p, w.deps()), s.Close()))
		if w.alone != 12 || len(w.starts) != starts || p.done != p.total {
			t.Errorf("%s: %d processes, %d of %d; started %q", why, w.alone, p.done, p.total, w.starts[starts:])
		}
		got := find(t, path)
		for key, f := range got {
			how := map[bool]string{true: "session", false: "process"}[key < "2"]
			if f.config("driven") != how || (how == "session") != (f.times != nil) || f.reason != "" {
				t.Errorf("%s: %s: %+v", why, key, f)
			}
		}
		if len(got) != 16 {
			t.Errorf("%s: %d entries", why, len(got))
		}
		// The report says so.
		cmp, err := compare.Compare([]string{path}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := "in run.bench these took no turns, and have one value a block, each from a process of its own: G/workload=w/x=1-2 (" + why + ")"; !slices.Contains(cmp.Warnings, want) {
			t.Errorf("warnings %q lack %q", cmp.Warnings, want)
		}
	}
	// Who asks for turns gets a hole instead.
	plan := recordtest.Turns(2, 1, 5)
	plan.Mode = record.ModeTurns
	w := &fakeWorld{make: func(_ int, s record.Step) *fakeDriver {
		if s.Index == 2 {
			return &fakeDriver{refuse: &program.Refusal{Reason: "it is too large"}}
		}
		return new(fakeDriver)
	}}
	path, _ := turnsRun(t, plan, w)
	if f := find(t, path)["1/2/1"]; f.reason != "not to be driven: it is too large" || w.alone != 0 {
		t.Errorf("in mode turns: %+v", f)
	}
}

// A kill loses the row, as if it had not begun. An interrupt lets it end, if that
// takes no longer than the grace.
func TestTurnsAreInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		perOp    time.Duration
		after    int // slices of the third process
		kill     bool
		complete int // rows
	}{
		"killed":                      {time.Microsecond, 12, true, 1},
		"interrupted":                 {time.Microsecond, 12, false, 2},
		"interrupted, but it is slow": {time.Second, 2, false, 1},
	} {
		plan := recordtest.Turns(3, 3, 8)
		ctx, cancel := context.WithCancel(context.Background())
		w := new(fakeWorld)
		var asked time.Duration // when
		w.make = func(block int, s record.Step) *fakeDriver {
			f := &fakeDriver{perOp: func(int) time.Duration { return c.perOp }}
			if block == 2 {
				f.before = func(slice int) {
					if slice > c.after && s.Index == 3 {
						if c.kill {
							f.failAt, f.fail = slice, fmt.Errorf("ended: %w", program.ErrKilled)
						}
						if asked == 0 {
							asked = w.time
						}
						cancel()
					}
				}
			}
			return f
		}
		path := filepath.Join(recordtest.Dir(t), "run.bench")
		s := create(t, path, plan)
		if err := carryOut(ctx, plan, s, nil, new(watched), w.deps()); !errors.Is(err, ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, s.Close())
		if c.perOp == time.Second && w.time-asked > 10*time.Second {
			t.Errorf("%s: it went on for %v", name, w.time-asked)
		}
		if got := find(t, path); len(got) != 4*c.complete {
			t.Errorf("%s: %d entries, want %d", name, len(got), 4*c.complete)
		}
		r := interrupted(t, path)
		if r.Torn != "" || r.Ended+len(r.Done)/4 != c.complete {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Wherever a kill cuts the file off, at most the row that was being written is
// taken away, and in the end each step is in each block once.
func TestTurnsResumeFromEveryByte(t *testing.T) {
	plan := recordtest.Turns(2, 2, 3)
	plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/b", Name: "BenchmarkAlone"}, record.Case{Pkg: "example.com/b", Name: "BenchmarkH/impl=a"}, record.Case{Pkg: "example.com/b", Name: "BenchmarkH/impl=b"})
	// The second row cannot be driven, the third has a hole.
	behave := func(_ int, s record.Step) *fakeDriver {
		switch s.Case.Name {
		case "BenchmarkH/impl=b":
			return &fakeDriver{refuse: &program.Refusal{Reason: "no"}}
		case plan.Cases[1].Name:
			return &fakeDriver{wrong: &program.Failure{Reason: "wrong"}}
		}
		return new(fakeDriver)
	}
	path, _ := turnsRun(t, plan, &fakeWorld{make: behave})
	data := readFile(t, path)
	want := find(t, path)
	if len(want) != 14 {
		t.Fatalf("%d entries", len(want))
	}
	path = filepath.Join(recordtest.Dir(t), "run.bench")
	// By day at the ends of lines, and at some bytes within them.
	within := 1
	switch {
	case testing.Short():
		within = 41
	case os.Getenv("DYNO_NIGHTLY") == "":
		within = 7
	}
	for cut := firstPart(data); cut <= len(data); cut++ {
		if data[cut-1] != '\n' && cut%within != 0 {
			continue
		}
		must(t, os.WriteFile(path, data[:cut], 0o644))
		r := interrupted(t, path)
		// What is taken away is a part without its sum, or the beginning of one.
		if kept := data[:cut-len(r.Torn)]; len(kept) != endOfSum(data[:cut]) {
			t.Fatalf("cut at %d: torn %q", cut, r.Torn)
		}
		s := resume(t, r)
		p := new(watched)
		must(t, errors.Join(carryOut(context.Background(), r.Plan, s, r, p, (&fakeWorld{make: behave}).deps()), s.Close()))
		got := find(t, path)
		for key := range want {
			if f, ok := got[key]; !ok || (f.times == nil) != (want[key].times == nil) || (f.reason == "") != (want[key].reason == "") {
				t.Errorf("cut at %d: %s is %+v, want %+v", cut, key, f, want[key])
			}
		}
		if len(got) != len(want) || p.done != p.total {
			t.Errorf("cut at %d: %d entries, %d of %d done", cut, len(got), p.done, p.total)
		}
		if t.Failed() {
			return
		}
	}
}

func TestFigures(t *testing.T) {
	step := record.Step{Case: record.Case{Name: "BenchmarkX"}, CPU: 2}
	slicesOf := func(ns ...time.Duration) (s []program.Slice) {
		for _, d := range ns {
			s = append(s, program.Slice{N: 10, Elapsed: d, Allocs: 25, Bytes: 990, GCs: 1})
		}
		return s
	}
	for _, c := range []struct {
		slices   []program.Slice
		line     string
		own      map[string]float64 // what it reports
		benchmem bool
		want     string
		times    string
	}{
		// The time is that of all slices, the slowest included.
		{slicesOf(10, 20, 40, 900), "40\t 7 ns/op", nil, false, "BenchmarkX-2 \t      40\t 24.25 ns/op", "# slices: n=10 warmup=4 steady=true gcs=4 ns=10,20,40,900"},
		{slicesOf(1234567890, 1234567990, 2), "30\t 24.2 ns/op\t 1.25 MB/s", nil, false, "BenchmarkX-2 \t      30\t 82304529.4 ns/op\t 1.25 MB/s", "# slices: n=10 warmup=4 steady=true gcs=3 ns=1234567890,1234567990,2"},
		// Allocations keep their fractions, which testing cuts off.
		{slicesOf(10, 20), "20\t 1 ns/op", nil, true, "BenchmarkX-2 \t      20\t 1.5 ns/op\t 99 B/op\t 2.5 allocs/op", "# slices: n=10 warmup=4 steady=true gcs=2 ns=10,20"},
		{slicesOf(10, 20), "20\t 1 ns/op\t 99 B/op\t 2 allocs/op", nil, false, "BenchmarkX-2 \t      20\t 1.5 ns/op\t 99 B/op\t 2.5 allocs/op", "# slices: n=10 warmup=4 steady=true gcs=2 ns=10,20"},
		{slicesOf(10, 20), "20\t 1 ns/op\t 99 B/op\t 2 allocs/op", nil, true, "BenchmarkX-2 \t      20\t 1.5 ns/op\t 99 B/op\t 2.5 allocs/op", "# slices: n=10 warmup=4 steady=true gcs=2 ns=10,20"},
		// What the benchmark itself reports under these names is its own.
		{slicesOf(10, 20), "20\t 1 ns/op\t 7 B/op\t 8 allocs/op", map[string]float64{"B/op": 7, "allocs/op": 8.5}, false, "BenchmarkX-2 \t      20\t 1.5 ns/op\t 7 B/op\t 8.5 allocs/op", "# slices: n=10 warmup=4 steady=true gcs=2 ns=10,20"},
		{slicesOf(10, 20), "20\t 77 ns/op", map[string]float64{"ns/op": 77}, false, "BenchmarkX-2 \t      20\t 77 ns/op", ""},
		{slicesOf(10, 20), "20\t 5e-05 x", nil, false, "BenchmarkX-2 \t      20\t 0.00005 x", ""},
		// As it reports them, not as they are printed.
		{slicesOf(10, 20), "20\t 77 ns/op\t 0.0000000 wait-sec", map[string]float64{"ns/op": 77, "wait-sec": 4.2e-8}, false, "BenchmarkX-2 \t      20\t 77 ns/op\t 0.000000042 wait-sec", ""},
	} {
		p := &side{step: step, slices: c.slices, warm: warmth{n: 10, slices: 4, steady: true}, result: program.Result{Line: c.line, Extra: c.own}}
		res, times, err := p.figures(c.benchmem)
		line, said := record.ResultLine(res), ""
		if times != nil {
			said = times.Line()
		}
		if err != nil || line != c.want || said != c.times {
			t.Errorf("%q: %q, %q, %v\nwant %q, %q", c.line, line, said, err, c.want, c.times)
		}
	}
}

// Beside the time stands what the process has used, as far as it is known.
func TestFiguresOfResources(t *testing.T) {
	const gcCPU, gcs, live, rss = program.ResourceGCCPU, program.ResourceGCs, program.ResourceLiveHeap, program.ResourcePeakRSS
	hardware := func(instructions, cycles uint64) *program.Hardware {
		return &program.Hardware{Instructions: instructions, Cycles: cycles}
	}
	for name, c := range map[string]struct {
		slices  []program.Slice
		counted []program.Slice
		used    map[string]float64
		own     bool // it reports a time of its own
		want    string
		cpu     []time.Duration
	}{
		"nothing is known": {slices: []program.Slice{{N: 10, Elapsed: 10}}},
		"processor time": {
			slices: []program.Slice{{N: 10, Elapsed: 10, CPU: 15 * time.Microsecond}, {N: 10, Elapsed: 10, CPU: 10 * time.Microsecond}},
			want:   "\t 1250 cpu-ns/op", cpu: []time.Duration{15 * time.Microsecond, 10 * time.Microsecond},
		},
		// The clock may stand still for a short slice; then it says little of single ones.
		"processor time of some": {
			slices: []program.Slice{{N: 10, Elapsed: 10, CPU: 0}, {N: 10, Elapsed: 10, CPU: 10 * time.Microsecond}},
			want:   "\t 500 cpu-ns/op",
		},
		"collections and memory": {
			slices: []program.Slice{{N: 10, Elapsed: 10}, {N: 10, Elapsed: 10}},
			used:   map[string]float64{gcCPU: 30, gcs: 3, live: 4096, rss: 1 << 20},
			want:   "\t 1.5 gc-cpu-ns/op\t 150000 gcs/Mop\t 4096 live-heap-B\t 1048576 peak-rss-B",
		},
		"no collection": {
			slices: []program.Slice{{N: 10, Elapsed: 10}},
			used:   map[string]float64{gcCPU: 0, gcs: 0},
			want:   "\t 0 gc-cpu-ns/op\t 0 gcs/Mop",
		},
		// Slices that were not counted wholly are left out with their operations.
		"hardware": {
			slices:  []program.Slice{{N: 10, Elapsed: 10}},
			counted: []program.Slice{{N: 10, Elapsed: 90, Hardware: hardware(45, 30)}, {N: 1000, Elapsed: 90}, {N: 10, Elapsed: 90, Hardware: hardware(55, 31)}},
			want:    "\t 5 instructions/op\t 3.05 cycles/op",
		},
		"of another time": {
			slices:  []program.Slice{{N: 10, Elapsed: 10, CPU: time.Microsecond}},
			counted: []program.Slice{{N: 10, Elapsed: 10, Hardware: hardware(1, 1)}},
			used:    map[string]float64{gcs: 3}, own: true,
		},
	} {
		p := &side{step: record.Step{Case: record.Case{Name: "BenchmarkX"}, CPU: 1}, slices: c.slices, counted: c.counted, warm: warmth{n: 10}, result: program.Result{Line: "1\t 1 ns/op", Resources: c.used}}
		if c.own {
			p.result.Extra = map[string]float64{"ns/op": 1}
		}
		res, times, err := p.figures(false)
		_, rest, _ := strings.Cut(record.ResultLine(res), " ns/op")
		if err != nil || rest != c.want || (times == nil) != c.own || times != nil && !slices.Equal(times.CPU, c.cpu) {
			t.Errorf("%s: %q, %+v, %v; want %q, %v", name, record.ResultLine(res), times, err, c.want, c.cpu)
		}
	}
}

// The line of slices says whether all of the operations' cost is in them, how long
// the row took, and what is missing because it comes too seldom.
func TestFiguresOfCycles(t *testing.T) {
	p := &side{
		step:   record.Step{Case: record.Case{Name: "BenchmarkX"}, CPU: 1},
		slices: []program.Slice{{N: 10, Elapsed: 10 * time.Millisecond}, {N: 10, Elapsed: 10 * time.Millisecond}},
		warm:   warmth{n: 10, cycle: 25 * time.Millisecond, collection: time.Millisecond},
		result: program.Result{Line: "1\t 1 ns/op"},
		took:   1500 * time.Millisecond,
	}
	for _, c := range []struct {
		frozen bool
		slices int
		rare   float64
	}{
		{true, 2, 1.0 / 25}, // in 20 ms no collection is due
		{false, 2, 1.0 / 25},
		{true, 3, 0}, // in 30 ms there is
	} {
		p.frozen = c.frozen
		for len(p.slices) < c.slices {
			p.slices = append(p.slices, p.slices[0])
		}
		_, times, err := p.figures(false)
		if err != nil || times.Whole != c.frozen || times.Rare != c.rare || times.Took != p.took {
			t.Errorf("%+v: %+v, %v", c, times, err)
		}
	}
}
