package driven

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/hwcount"
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

// counted has a benchmark counted by what open opens.
func counted(open func() (counters, error)) func(*Config) {
	return func(c *Config) { c.Hardware, c.open = true, open }
}

// TestHardwareFake: a slice has what was counted between two readings, of which one
// comes before it and one after it.
func TestHardwareFake(t *testing.T) {
	f := new(fakeCounters)
	opened := 0
	p, err := start(t, "BenchmarkLoop", counted(func() (counters, error) {
		opened++
		return f, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if h := p.Hello(); h.NoHardware != "" || opened != 1 || f.readings != 0 {
		t.Errorf("when it is ready: opened %d times, read %d times, without because %q", opened, f.readings, h.NoHardware)
	}
	for i, want := range []Hardware{{100, 300}, {500, 1500}} {
		s := run(t, p, 10)[0]
		if s.Hardware == nil || *s.Hardware != want || s.NoHardware != "" || f.readings != 2*(i+1) {
			t.Errorf("slice %d: %v, %q after %d readings, want %v", i, s.Hardware, s.NoHardware, f.readings, want)
		}
	}
	finish(t, p)
	if f.closed != 1 {
		t.Errorf("closed %d times", f.closed)
	}
}

// TestHardwareAbsent: it is said why a slice has no counts, whether that is so for
// all slices or for one, and the slice is as good as any.
func TestHardwareAbsent(t *testing.T) {
	const reason = "there are none on paper"
	p, err := start(t, "BenchmarkLoop", counted(func() (counters, error) { return nil, errors.New(reason) }))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Hello().NoHardware; got != reason {
		t.Errorf("it is ready without because %q", got)
	}
	for _, s := range run(t, p, 1, 10) {
		if s.Hardware != nil || s.NoHardware != reason {
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
		p, err := start(t, "BenchmarkLoop", counted(func() (counters, error) { return &c.fake, nil }))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Hello().NoHardware; got != "" {
			t.Errorf("%s: it is ready without because %q", c.name, got)
		}
		for i, want := range c.want {
			if s := run(t, p, 10)[0]; s.NoHardware != want || (s.Hardware == nil) != (want != "") {
				t.Errorf("%s: slice %d has %v, %q, want %q", c.name, i, s.Hardware, s.NoHardware, want)
			}
		}
		finish(t, p)
	}
}

// TestHardwareUnasked: nothing is opened, or said, if nobody asks.
func TestHardwareUnasked(t *testing.T) {
	p, err := start(t, "BenchmarkLoop", func(c *Config) {
		c.open = func() (counters, error) {
			t.Error("opened")
			return nil, errRead
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := run(t, p, 1)[0]; s.Hardware != nil || s.NoHardware != "" || p.Hello().NoHardware != "" {
		t.Errorf("%+v %+v", p.Hello(), s)
	}
}

// TestHardwareCloses: no counters are left of a process that does not start, or does
// not become ready.
func TestHardwareCloses(t *testing.T) {
	for _, c := range []Config{
		{Binary: "/none", Benchmark: "BenchmarkLoop"},
		{Binary: subject(t), Dir: subjectDir, Benchmark: "BenchmarkNone"},
	} {
		f := new(fakeCounters)
		counted(func() (counters, error) { return f, nil })(&c)
		if _, err := Start(context.Background(), c); err == nil {
			t.Errorf("%s of %s starts", c.Benchmark, c.Binary)
		}
		if f.closed != 1 {
			t.Errorf("%s of %s: closed %d times", c.Benchmark, c.Binary, f.closed)
		}
	}
}

// TestHardwareClock: what is counted is the process, with all its threads, and not
// what waits for it. In the place of instructions the kernel counts for how long
// threads use processors, which the process is told too.
func TestHardwareClock(t *testing.T) {
	for _, name := range []string{"BenchmarkParallel", "BenchmarkLoop", "BenchmarkSession"} {
		p, err := start(t, name, counted(func() (counters, error) {
			c, err := hwcount.OpenClock()
			if err != nil {
				return nil, err
			}
			return c, nil
		}), func(c *Config) { c.Counters = true })
		if err != nil {
			t.Fatal(err)
		}
		if why := p.Hello().NoHardware; why != "" {
			t.Skip("needs hardware counters: " + why)
		}
		for _, s := range run(t, p, 50_000, 100_000) {
			if s.Hardware == nil {
				t.Fatalf("%s: without because %s", name, s.NoHardware)
			}
			used := s.Counters["user-ns"] + s.Counters["system-ns"]
			if ratio := float64(s.Hardware.Instructions) / used; ratio < 0.5 || ratio > 1.5 {
				t.Errorf("%s: %d operations: counted %d ns, used %.0f ns", name, s.N, s.Hardware.Instructions, used)
			}
		}
		finish(t, p)
	}
}

// TestHardware: an operation of some thousand instructions is counted as one.
func TestHardware(t *testing.T) {
	p, err := start(t, "BenchmarkLoop", func(c *Config) { c.Hardware = true })
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	s := run(t, p, 1, n)[1]
	if why := p.Hello().NoHardware; why != "" {
		if s.Hardware != nil || s.NoHardware != why {
			t.Errorf("a slice has %v, %q", s.Hardware, s.NoHardware)
		}
		t.Skip("needs hardware counters: " + why)
	}
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
