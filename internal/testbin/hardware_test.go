package testbin

import (
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/hwcount"
	"github.com/dynolab/dyno/internal/program"
)

// fakeCounters are counters that stand at k² times 100 instructions and k² times 300
// cycles at the reading k, from 0.
type fakeCounters struct {
	readings, closed int

	fail    int           // the reading that fails, from 1; 0 for none
	missing time.Duration // of each millisecond; it is not counted
}

var errRead = errors.New("they cannot be read")

func (f *fakeCounters) Read() (hwcount.Reading, error) {
	k := f.readings
	f.readings++
	if f.readings == f.fail {
		return hwcount.Reading{}, errRead
	}
	count := func(n int) hwcount.Count {
		enabled := time.Duration(k) * time.Millisecond
		return hwcount.Count{N: uint64(n), Enabled: enabled, Running: enabled - time.Duration(k)*f.missing}
	}
	return hwcount.Reading{Instructions: count(100 * k * k), Cycles: count(300 * k * k)}, nil
}

func (f *fakeCounters) Close() error {
	f.closed++
	return nil
}

// attaching has a benchmark counted by what attach opens.
func attaching(attach func() (program.Counters, error)) func(*program.Config) {
	return func(c *program.Config) { c.Attach = func(int) (program.Counters, error) { return attach() } }
}

// TestHardwareFake: a slice has what was counted between two readings, of which one
// comes before it and one after it, as long as it is asked for.
func TestHardwareFake(t *testing.T) {
	f := new(fakeCounters)
	opened := 0
	p, err := start(t, "BenchmarkLoop", attaching(func() (program.Counters, error) {
		opened++
		return f, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	uncounted := func() {
		if s := run(t, p, 10)[0]; s.Hardware != nil || s.NoHardware != "" {
			t.Errorf("a slice that is not counted has %v, %q", s.Hardware, s.NoHardware)
		}
	}
	uncounted()
	if opened != 0 {
		t.Error("opened, although not asked for")
	}
	if err := p.CountHardware(); err != nil || opened != 1 || f.readings != 0 {
		t.Errorf("opened %d times, read %d times, %v", opened, f.readings, err)
	}
	for i, want := range []program.Hardware{{Instructions: 100, Cycles: 300}, {Instructions: 500, Cycles: 1500}} {
		s := run(t, p, 10)[0]
		if s.Hardware == nil || *s.Hardware != want || s.NoHardware != "" || f.readings != 2*(i+1) {
			t.Errorf("slice %d: %v, %q after %d readings, want %v", i, s.Hardware, s.NoHardware, f.readings, want)
		}
	}
	for range 2 { // once more is no harm
		if err := p.StopCounting(); err != nil || f.closed != 1 {
			t.Errorf("closed %d times, %v", f.closed, err)
		}
	}
	uncounted()
	if err := p.CountHardware(); err != nil {
		t.Error(err)
	}
	finish(t, p)
	if f.closed != 2 {
		t.Errorf("in the end closed %d times", f.closed)
	}
}

// TestHardwareAbsent: it is said why nothing counts, or why one slice has no counts, and
// the slices are as good as any.
func TestHardwareAbsent(t *testing.T) {
	absent := errors.New("there are none on paper")
	p := started(t, "BenchmarkLoop", attaching(func() (program.Counters, error) { return nil, absent }))
	if err := p.CountHardware(); !errors.Is(err, absent) {
		t.Errorf("%v", err)
	}
	for _, s := range run(t, p, 1, 10) {
		if s.Hardware != nil || s.NoHardware != "" {
			t.Errorf("a slice has %v, %q", s.Hardware, s.NoHardware)
		}
	}
	finish(t, p)

	const partly = "they counted 75.0 % of the time only: something else uses them, or the machine has processors of several kinds"
	for _, c := range []struct {
		name string
		fake fakeCounters
		want []string // of each slice
	}{
		{"first reading fails", fakeCounters{fail: 1}, []string{errRead.Error(), ""}},
		{"last reading fails", fakeCounters{fail: 4}, []string{"", errRead.Error()}},
		{"shared", fakeCounters{missing: 250 * time.Microsecond}, []string{partly, partly}},
	} {
		p := started(t, "BenchmarkLoop", attaching(func() (program.Counters, error) { return &c.fake, nil }))
		if err := p.CountHardware(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i, want := range c.want {
			if s := run(t, p, 10)[0]; s.NoHardware != want || (s.Hardware == nil) != (want != "") {
				t.Errorf("%s: slice %d has %v, %q, want %q", c.name, i, s.Hardware, s.NoHardware, want)
			}
		}
		finish(t, p)
	}
}

// TestHardwareClock: what is counted is the process, with all its threads, and not
// what waits for it. In the place of instructions the kernel counts for how long
// threads use processors, which the process is told too.
func TestHardwareClock(t *testing.T) {
	for _, name := range []string{"BenchmarkParallel", "BenchmarkLoop", "BenchmarkSession"} {
		p, err := start(t, name, func(c *program.Config) {
			c.Counters = true
			c.Attach = func(pid int) (program.Counters, error) {
				c, err := hwcount.AttachClock(pid)
				if err != nil {
					return nil, err
				}
				return c, nil
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CountHardware(); err != nil {
			t.Skipf("needs hardware counters: %v", err)
		}
		for _, s := range run(t, p, 50_000, 100_000) {
			if s.Hardware == nil {
				t.Fatalf("%s: without because %s", name, s.NoHardware)
			}
			used := s.Counters["user-ns"] + s.Counters["system-ns"]
			if ratio := float64(s.Hardware.Instructions) / used; ratio < 0.3 || ratio > 3 { // both are the kernel's, by clocks of its own
				t.Errorf("%s: %d operations: counted %d ns, used %.0f ns", name, s.N, s.Hardware.Instructions, used)
			}
		}
		finish(t, p)
	}
}

// TestHardware: an operation of some thousand instructions is counted as one.
func TestHardware(t *testing.T) {
	p := started(t, "BenchmarkLoop")
	if err := p.CountHardware(); err != nil {
		t.Skipf("needs hardware counters: %v", err)
	}
	const n = 100_000
	s := run(t, p, 1, n)[1]
	if s.Hardware == nil {
		t.Skip("needs hardware counters: " + s.NoHardware)
	}
	instructions, cycles := float64(s.Hardware.Instructions)/n, float64(s.Hardware.Cycles)/n
	t.Logf("%.0f instructions and %.0f cycles an operation", instructions, cycles)
	if instructions < 1000 || instructions > 100_000 || cycles < 100 || cycles > 100_000 {
		t.Errorf("%.0f instructions and %.0f cycles an operation", instructions, cycles)
	}
	finish(t, p)
}
