package measure

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// fakeClock stands still between looks, each of which takes some ticks.
type fakeClock struct {
	now, look int64
	hz        float64
	unit      string
}

func (c *fakeClock) Now() int64 {
	c.now += c.look
	return c.now
}
func (c *fakeClock) Hz() float64  { return c.hz }
func (c *fakeClock) Unit() string { return c.unit }

func insns() *fakeClock { return &fakeClock{look: 3, hz: 15_625_000, unit: Instructions} }

// fakeRun takes 312 ticks an operation, once more for each Do, and allocates.
type fakeRun struct {
	clock   *fakeClock
	allocs  int // for each operation
	doErr   error
	checks  error
	done    []int
	checked int
	sink    []*[64]byte
}

func (r *fakeRun) Do(n int) error {
	r.done = append(r.done, n)
	r.clock.now += int64(312*n + 7)
	for range n * r.allocs {
		r.sink[0] = new([64]byte)
	}
	return r.doErr
}

func (r *fakeRun) Check() error {
	r.checked++
	return r.checks
}

func newFakeRun(c *fakeClock) *fakeRun { return &fakeRun{clock: c, sink: make([]*[64]byte, 1)} }

func TestMeasure(t *testing.T) {
	c := insns()
	r := newFakeRun(c)
	r.allocs = 2
	f, err := Measure(r, 1000, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.done) != 2 || r.done[0] != 1000 || r.done[1] != 1000 || r.checked != 1 {
		t.Errorf("operations %v, %d checks; want 1,000 to get warm, 1,000 measured, one check", r.done, r.checked)
	}
	if f.Ops != 1000 || f.Ticks != 312_007 || f.Overhead != 3 {
		t.Errorf("%+v, want 1,000 operations in 312,007 ticks, without 3 for the look at the clock", f)
	}
	// Others of the process may allocate as well, a little.
	if f.Memory.Objects < 2000 || f.Memory.Objects > 2050 || f.Memory.Bytes < 128_000 || f.Memory.Bytes > 140_000 {
		t.Errorf("%+v, want 2,000 objects of 64 bytes", f.Memory)
	}
	r = newFakeRun(c)
	if _, err := Cold(r, 5, c); err != nil || len(r.done) != 1 || r.done[0] != 5 {
		t.Errorf("Cold: operations %v, error %v; want 5, once", r.done, err)
	}
}

// A run in which something is wrong has no figure.
func TestNoFigureWithoutACheck(t *testing.T) {
	lost := errors.New("a message was lost")
	for name, break_ := range map[string]func(r *fakeRun){
		"Do":    func(r *fakeRun) { r.doErr = lost },
		"Check": func(r *fakeRun) { r.checks = lost },
	} {
		for how, measured := range map[string]func(Run, int, Clock) (Figure, error){"Measure": Measure, "Cold": Cold} {
			c := insns()
			r := newFakeRun(c)
			break_(r)
			if f, err := measured(r, 10, c); err != lost || f.Ops != 0 || f.Ticks != 0 {
				t.Errorf("%s, with an error of %s: %+v, %v", how, name, f, err)
			}
		}
	}
}

func TestMeasureOfNothingPanics(t *testing.T) {
	for _, measured := range []func(Run, int, Clock) (Figure, error){Measure, Cold} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "measure: ") {
					t.Errorf("panicked with %s", v)
				}
			}()
			_, _ = measured(newFakeRun(insns()), 0, insns())
		}()
	}
}

// read reads a line as the tools for the format do.
func read(t *testing.T, line string) *benchfmt.Result {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(line+"\n"), "line")
	if !r.Scan() {
		t.Fatalf("%q: no record: %v", line, r.Err())
	}
	res, ok := r.Result().(*benchfmt.Result)
	if !ok {
		t.Fatalf("%q: %v", line, r.Result())
	}
	return res
}

func TestAppendLine(t *testing.T) {
	f := Figure{
		Ops: 1000, Ticks: 312_041, Memory: Memory{Objects: 1999, Bytes: 64_999},
		Extra: []Metric{{0.001, "allocs/msg", Lower}, {3, "backlog", Lower}},
	}
	const want = "BenchmarkActor/workload=ring/impl=serial 1000 312.041 insns/op 64 B/op 1 allocs/op 0.001000 allocs/msg 3.000 backlog"
	line := string(f.AppendLine(nil, "Actor/workload=ring/impl=serial", insns()))
	if line != want {
		t.Errorf("%s\nwant\n%s", line, want)
	}
	if again := string(f.AppendLine(nil, "BenchmarkActor/workload=ring/impl=serial", insns())); again != line {
		t.Errorf("with Benchmark in front: %s", again)
	}
	r := read(t, line)
	if v, ok := r.Value("insns/op"); !ok || v != 312.041 {
		t.Errorf("read as %v insns/op", v)
	}

	// A clock of 12 MHz that counts the time of the world: 312,041 ticks are 26 ms.
	real := &fakeClock{hz: 12_000_000, unit: Nanoseconds}
	line = string(f.AppendLine(nil, "Actor/workload=ring/impl=serial", real))
	if !strings.Contains(line, " 1000 26003 ns/op ") || strings.Contains(line, "insns") {
		t.Errorf("on a real clock: %s", line)
	}
}

// Instructions are exact: up to a thousand operations nothing is rounded away.
func TestInstructionsAreExact(t *testing.T) {
	for _, test := range []struct {
		ops   int
		ticks int64
		want  string
	}{
		{1000, 0, "0"},
		{1000, 1, "0.001"},
		{1000, 300, "0.3"},
		{1000, 1_234_567_891, "1234567.891"},
		{8, 1001, "125.125"},
		{1, 123_456_789_012, "123456789012"},
		{3, 1, "0.333"},
	} {
		f := Figure{Ops: test.ops, Ticks: test.ticks}
		if line := string(f.AppendLine(nil, "X", insns())); !strings.Contains(line, " "+test.want+" insns/op ") {
			t.Errorf("%d in %d operations: %s, want %s", test.ticks, test.ops, line, test.want)
		}
	}
}

// Values are those that package testing prints, and so are B/op and allocs/op.
func TestAppendValueIsTestings(t *testing.T) {
	values := []float64{0, 1, 0.5, 9.9994, 9.9995, 9.99951, 99.994, 99.995, 99.996, 999.94, 999.95, 999.96, 1000, 1234.5, 1e9, 0.99994, 0.99995, 0.099995, 0.0099994, 0.0009999, 0.00099995, 1e-7, 1e-9, -3.25, 123.456}
	for exp := -8; exp < 12; exp++ {
		for _, m := range []float64{1, 1.5, 3.14159, 9.99, 9.9996} {
			values = append(values, m*math.Pow(10, float64(exp)))
		}
	}
	for _, v := range values {
		res := testing.BenchmarkResult{N: 1, Extra: map[string]float64{"ns/op": 0, "x": v}}
		want := strings.Fields(res.String())[1]
		if got := string(AppendValue(nil, v)); got != want {
			t.Errorf("%v is %s, and testing prints %s", v, got, want)
		}
	}
	for _, m := range []Memory{{}, {1999, 64_999}, {2000, 65_000}, {999, 999}} {
		res := testing.BenchmarkResult{N: 1000, MemAllocs: m.Objects, MemBytes: m.Bytes}
		f := Figure{Ops: 1000, Memory: m}
		want := strings.Join(strings.Fields(res.MemString()), " ")
		if line := string(f.AppendLine(nil, "X", insns())); !strings.HasSuffix(line, " "+want) {
			t.Errorf("%+v: %s, and testing prints %s", m, line, want)
		}
	}
}

func TestMemory(t *testing.T) {
	var m Memory
	var kept [100]*[256]byte
	for range 2 {
		m.Begin()
		for i := range kept {
			kept[i] = new([256]byte)
		}
		m.End()
		for range 1000 {
			kept[0] = new([256]byte) // not between the two
		}
	}
	// With those between the two they were 1,200. The runtime's own may be among them.
	if m.Objects < 200 || m.Objects > 1000 || m.Bytes < 200*256 || m.Bytes > 1000*256 {
		t.Errorf("%+v, want 200 objects of 256 bytes", m)
	}
	per := Memory{Objects: 3, Bytes: 48}.Per(2, "msg")
	if len(per) != 2 || per[0] != (Metric{1.5, "allocs/msg", Lower}) || per[1] != (Metric{24, "B/msg", Lower}) {
		t.Errorf("%v", per)
	}
	runtime.KeepAlive(&kept)
}

func TestHeap(t *testing.T) {
	used := HeapInUse()
	kept := make([]byte, 8<<20)
	if more := HeapInUse() - used; more < 4<<20 || more > 12<<20 {
		t.Errorf("8 MiB of heap are %d bytes", int64(more))
	}
	runtime.KeepAlive(kept)
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	if free := HeapFree(); free > s.HeapSys+(64<<20) {
		t.Errorf("%d bytes are free of %d", free, s.HeapSys)
	}
}

func TestOverheadIsTheLeast(t *testing.T) {
	c := &slowing{}
	if got := Overhead(c); got != 2 {
		t.Errorf("%d ticks, want the least of several looks, 2", got)
	}
}

// slowing is a clock whose first looks take longer.
type slowing struct {
	fakeClock
	looks int64
}

func (c *slowing) Now() int64 {
	c.looks++
	c.now += max(2, 12-c.looks)
	if c.looks > 15 {
		c.now += 50 // and an interrupt
	}
	return c.now
}

func TestConversions(t *testing.T) {
	c := insns() // a tick is 64 ns
	for _, test := range []struct{ ticks, ns int64 }{{0, 0}, {1, 64}, {15_625_000, 1e9}, {15_625_000 * 86_400 * 365 * 100, 1e9 * 86_400 * 365 * 100}} {
		if got := ToNanoseconds(c, test.ticks); got != test.ns {
			t.Errorf("%d ticks are %d ns, want %d", test.ticks, got, test.ns)
		}
		if got := ToTicks(c, test.ns); got != test.ticks {
			t.Errorf("%d ns are %d ticks, want %d", test.ns, got, test.ticks)
		}
	}
	if got := ToTicks(c, 63); got != 0 {
		t.Errorf("63 ns are %d ticks", got)
	}
	if got := Amount(c, 5); got != 5 {
		t.Errorf("5 instructions are %v", got)
	}
	if got := Amount(&fakeClock{hz: 1e6, unit: Nanoseconds}, 5); got != 5000 {
		t.Errorf("5 µs are %v ns", got)
	}
}

func TestBacklog(t *testing.T) {
	b := Backlog{Late: 900}
	if got := b.Metrics(); got != nil {
		t.Errorf("without samples: %v", got)
	}
	for i := range 1000 {
		b.Add(1 + 10*(i/900))
	}
	want := []Metric{{11, "backlog", Lower}, {2, "backlog-mean", Lower}, {11, "backlog-end", Lower}}
	if got := b.Metrics(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		part, whole int64
		want        float64
	}{{19, 20, 95}, {0, 0, 0}, {7, 7, 100}} {
		if got := Share("recovered", test.part, test.whole); got != (Metric{test.want, "recovered-%", Higher}) {
			t.Errorf("%d of %d: %v", test.part, test.whole, got)
		}
	}
}

func TestTimes(t *testing.T) {
	times := NewTimes(100)
	for i := range int64(100) {
		times.Add(100 - i)
	}
	want := []Metric{{50.5, "mean-insns", Lower}, {50, "p50-insns", Lower}, {99, "p99-insns", Lower}, {100, "max-insns", Lower}}
	if got := times.Metrics("", insns()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := times.Metrics("", insns()); got != nil {
		t.Errorf("they are forgotten, and it says %v", got)
	}
	times.Add(-3)
	times.Add(math.MaxInt64)
	got := times.Metrics("resume-", &fakeClock{hz: 1e9, unit: Nanoseconds})
	if len(got) != 4 || got[1] != (Metric{0, "resume-p50-ns", Lower}) || got[3] != (Metric{math.MaxInt32, "resume-max-ns", Lower}) {
		t.Errorf("of less than nothing and of more than there is: %v", got)
	}
	for i := range int64(101) {
		times.Add(i)
	}
	if got := times.Metrics("", insns()); got != nil {
		t.Errorf("of 101 times with room for 100: %v, want nothing rather than something wrong", got)
	}
}

func TestUnitsAreDistinct(t *testing.T) {
	f := Figure{Ops: 1, Ticks: 5}
	emulated := string(f.AppendLine(nil, "X", insns()))
	real := string(f.AppendLine(nil, "X", &fakeClock{hz: 1e9, unit: Nanoseconds}))
	if strings.Contains(emulated, "ns/op") && !strings.Contains(emulated, "insns/op") || !strings.Contains(real, " ns/op") || strings.Contains(emulated, " ns/op") {
		t.Errorf("%s\n%s", emulated, real)
	}
}

// TestAppendUnit: each metric says which way it is better, and what neither way is better
// says nothing.
func TestAppendUnit(t *testing.T) {
	for _, test := range []struct {
		m    Metric
		want string
	}{
		{Metric{3, "p50-ns", Lower}, "p50-ns better=lower"},
		{Share("recovered", 1, 1), "recovered-% better=higher"},
		{Metric{3, "rounds/op", Neither}, ""},
	} {
		if got := string(test.m.AppendUnit(nil)); got != test.want {
			t.Errorf("%v: %q, want %q", test.m, got, test.want)
		}
	}
	f := Figure{Ops: 10, Ticks: 25, Memory: Memory{Objects: 19, Bytes: 160}, Extra: []Metric{{7, "backlog", Lower}}}
	want := []Metric{{2.5, "insns/op", Lower}, {16, "B/op", Lower}, {1, "allocs/op", Lower}, {7, "backlog", Lower}}
	var got []Metric
	f.Each(insns(), func(m Metric) { got = append(got, m) })
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
