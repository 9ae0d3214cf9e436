package benchtest

import (
	"runtime"
	"strings"
	"testing"

	"github.com/dynolab/dyno/workloads"
)

// What many idle actors keep is a figure, and it is of as many as the name says,
// however few operations there are.
func TestMemoryOfActors(t *testing.T) {
	out, ok := output(t, "right", "ActorSideBySide/workload=(ring|spawn)/(actors=10000$|shuffled=10000$|impl=)/", "10000x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	few, ok := output(t, "right", "ActorSideBySide/workload=ring/actors=10000$/", "101x")
	if !ok {
		t.Fatalf("failed:\n%s", few)
	}
	found := make(map[string]int)
	for _, r := range records(t, out+few) {
		name := string(r.Name)
		v, ok := r.Value("B/actor")
		switch {
		case strings.Contains(name, "ring/impl="):
			if ok {
				t.Errorf("%s: %v B/actor, of a hundred", name, v)
			}
			continue
		case strings.Contains(name, "impl=lockbased"):
			if v < 200 || v > 600 {
				t.Errorf("%s: %v B/actor, want what an actor and its node are", name, v)
			}
		case strings.Contains(name, "ref-floor"):
			// Stacks of the runtime's and of testing's goroutines, of 8 KiB or more, come and
			// go meanwhile: some bytes of each of ten thousand.
			if v < 56 || v > 80 {
				t.Errorf("%s: %v B/actor, want a node's", name, v)
			}
		case v < 2048 || v > 16_384: // the race detector makes stacks larger
			t.Errorf("%s: %v B/actor, want a goroutine's", name, v)
		}
		if n, _ := r.Value("actors"); n < 10_000 {
			t.Errorf("%s: of %v actors, want ten thousand or more", name, n)
		}
		impl := name[strings.Index(name, "impl="):]
		impl, _, _ = strings.Cut(impl, "-2")
		found[impl]++
	}
	if len(found) < 5 {
		t.Errorf("figures of %v only", found)
	}
}

// The runtime uses descriptors of goroutines again that have ended. What the
// first crowd needed is what counts.
func TestCrowd(t *testing.T) {
	var c crowd
	for _, step := range []struct {
		n            int
		before, with uint64
		want         crowd
	}{
		{countable - 1, 0, 1 << 20, crowd{}}, // too few to go by
		{20_000, 500, 1500, crowd{20_000, 1000}},
		{20_000, 500, 900, crowd{20_000, 1000}}, // a later one of as many
		{30_000, 900, 800, crowd{20_000, 1000}}, // other goroutines ended meanwhile
		{30_000, 500, 2500, crowd{30_000, 2000}},
		{20_000, 500, 9500, crowd{30_000, 2000}},
	} {
		if c.see(step.n, step.before, step.with); c != step.want {
			t.Errorf("after %d actors: %+v, want %+v", step.n, c, step.want)
		}
	}
}

// inUse sees heap and stacks, and what is garbage no more.
func TestInUse(t *testing.T) {
	before := inUse()
	kept := make([]byte, 8<<20)
	// Others' garbage may go meanwhile, and come.
	if got := inUse() - before; got < 7<<20 || got > 9<<20 {
		t.Errorf("8 MiB of heap are %d bytes", int64(got))
	}
	runtime.KeepAlive(kept)
	kept = nil
	stop, started := make(chan struct{}), make(chan struct{})
	for range 1000 {
		go func() {
			var stack [4096]byte
			started <- struct{}{}
			<-stop
			runtime.KeepAlive(&stack)
		}()
	}
	for range 1000 {
		<-started
	}
	if got := inUse() - before; got < 2_000*1000 || got > 16<<20 {
		t.Errorf("a thousand goroutines are %d bytes", got)
	}
	close(stop)
}

// The histogram's figures are those of what was booked.
func TestMeterReports(t *testing.T) {
	res := testing.Benchmark(func(b *testing.B) {
		m := newMeter(b, workloads.Workload{Contract: workloads.ActorContract, Open: true}, new(crowd), 1000)
		for i := range 1000 {
			m.Latency(int64(i+1) * 1000)
			if i < 900 {
				m.Backlog(1)
			} else {
				m.Backlog(11)
			}
		}
		m.Latency(-5) // is booked as zero, and not lost
		m.report(1001)
	})
	for unit, want := range map[string]float64{
		"mean-ns": 500e3, "p50-ns": 500e3, "p99-ns": 990e3, "p99.9-ns": 999e3, "max-ns": 1000e3,
		"backlog": 11, "backlog-mean": 2, "backlog-end": 11,
	} {
		if got, ok := res.Extra[unit]; !ok || got < want*0.998 || got > want*1.002 {
			t.Errorf("%v %s, want %v", got, unit, want)
		}
	}
}

// So are those of times that a workload names, and the shares.
func TestMeterReportsWhatIsNamed(t *testing.T) {
	res := testing.Benchmark(func(b *testing.B) {
		w := workloads.Workload{Contract: workloads.ActorContract, Timings: []string{"cycle", "resume"}, Shares: []string{"recovered", "undelivered-found"}}
		m := newMeter(b, w, new(crowd), 1000)
		for i := range 1000 {
			m.Timing(0, int64(i+1)*1000)
			m.Timing(1, int64(i+1)*10)
		}
		m.Share("recovered", 19, 20)
		m.Share("undelivered-found", 7, 7)
		m.report(1000)
	})
	for unit, want := range map[string]float64{
		"cycle-p50-ns": 500e3, "cycle-p99-ns": 990e3, "cycle-max-ns": 1000e3,
		"resume-p50-ns": 5000, "resume-p99-ns": 9900, "resume-max-ns": 10_000,
		"recovered-%": 95, "undelivered-found-%": 100,
	} {
		if got, ok := res.Extra[unit]; !ok || got < want*0.998 || got > want*1.002 {
			t.Errorf("%v %s, want %v", got, unit, want)
		}
	}
}
