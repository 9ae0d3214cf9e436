package benchtest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/internal/measure"
	"github.com/dynolab/dyno/workloads"
)

// Actors runs every actor workload with one implementation, each as a
// sub-benchmark workload=…/impl=…. It skips and fails as [Groups] does.
//
// Beside ns/op the sub-benchmarks report allocs/msg and B/msg, which have
// fractions. Where there are many actors they report B/actor, what an idle one
// keeps in heap and stacks, and actors, of how many at once that is; where making them is the operation, also
// stop-ns/actor, the time it takes to stop one of many; where messages are sent
// at fixed times, latencies (mean-ns, p50-ns, p99-ns, p99.9-ns, max-ns) and how many
// messages waited when one was sent (backlog at most, backlog-mean on average,
// backlog-end in the last tenth of the time: more than on average if the
// receiver does not keep up). Of times that a workload names, such as resume,
// they report resume-p50-ns, resume-p99-ns and resume-max-ns, and of shares, such
// as recovered, recovered-%.
func Actors(b *testing.B, impl dyno.Impl) {
	for _, w := range workloads.Actors() {
		benchActorImpl(b, w, impl)
	}
}

// ActorsSideBySide runs every actor workload with its references and then with
// each of impls, as [GroupsSideBySide] does.
func ActorsSideBySide(b *testing.B, impls []dyno.Impl) {
	for _, w := range workloads.Actors() {
		for _, ref := range w.Refs {
			var c crowd
			b.Run(w.Path()+"/impl="+ref.Name, func(b *testing.B) {
				benchActor(b, w, &c, workloads.Setting{}, ref.Prepare)
			})
		}
		for _, impl := range impls {
			benchActorImpl(b, w, impl)
		}
	}
}

func benchActorImpl(b *testing.B, w workloads.Actor, impl dyno.Impl) {
	var c crowd
	b.Run(w.Path()+"/impl="+impl.Name, func(b *testing.B) {
		if impl.NewDispatcher == nil {
			b.Skip(impl.Name + " runs no actors")
		}
		if w.Together && (impl.NewExecutor == nil || impl.NewGroup == nil) {
			b.Skip(impl.Name + " has no executor of tasks, or no task group")
		}
		if lacks := impl.Promises.Lacks(w.Needs); len(lacks) > 0 {
			b.Skip("needs " + strings.Join(lacks, ", ") + ", which " + impl.Name + " does not promise")
		}
		benchActor(b, w, &c, workloads.Setting{NewDispatcher: impl.NewDispatcher, NewExecutor: impl.NewExecutor, NewGroup: impl.NewGroup}, w.Prepare)
	})
}

// benchActor measures one run of b.N operations, or a session of slices if it is
// driven. Testing calls it with a larger N each time until that takes long enough;
// c is the same every time.
func benchActor(b *testing.B, w workloads.Actor, c *crowd, st workloads.Setting, prepare func(workloads.Setting) workloads.Run) {
	b.StopTimer()
	s := asked(b, w.Slicing)
	m := &meter{b: b, base: time.Now(), crowd: c}
	st.Meter = m
	if b.N <= glance && s == nil {
		st.Ops = b.N
	}
	if w.Open {
		m.latency = hdrhistogram.New(1, int64(slowest), 3)
		m.backlog.Late = b.N - b.N/10
	}
	for _, name := range w.Timings {
		m.timings = append(m.timings, timing{name, hdrhistogram.New(1, int64(slowest), 3)})
	}
	for _, name := range w.Shares {
		m.named = append(m.named, measure.Share(name, 0, 1))
	}
	printUnits(b, m.metrics(1, true))
	count := w.Actors >= countable && st.Ops == 0 && c.n == 0
	if count {
		m.memory = inUse()
	}
	run := prepare(st)
	defer run.Close()

	before := m.memory
	m.memory = inUse()
	if count {
		c.see(w.Actors, before, m.memory)
	}
	if s != nil {
		session(b, s, w.Path(), w.Slicing, run, m.reset, func(ops int, allocated measure.Memory) {
			m.allocated = allocated
			m.report(ops * max(w.Messages, 1))
		})
		return
	}
	b.ResetTimer()
	m.allocated.Begin()
	b.StartTimer()
	err := run.Do(b.N)
	b.StopTimer()
	m.allocated.End()

	if err == nil {
		err = run.Check()
	}
	if err != nil {
		b.Fatalf("%s: %d operations: %v", w.Path(), b.N, err)
	}
	m.report(b.N * max(w.Messages, 1))
}

// glance is up to how many operations nobody takes for a measurement: they are
// testing's first attempts, or somebody's look at what benchmarks there are.
const glance = 100

// countable is how many actors there must be to tell what they keep from what
// else a process has in use.
const countable = 10_000

// crowd is what the most actors of a benchmark kept that were idle at once: the
// first that were so many. The runtime keeps the descriptors of goroutines that
// have ended and uses them again, so that a later crowd seems to need less.
type crowd struct {
	n     int
	bytes uint64
}

// see books that there are n idle actors, before and with which so many bytes
// were in use. Too few are nothing to go by.
func (c *crowd) see(n int, before, with uint64) {
	if n >= countable && n > c.n && with > before {
		c.n, c.bytes = n, with-before
	}
}

// meter implements [workloads.Meter].
type meter struct {
	b    *testing.B
	base time.Time

	allocated measure.Memory // of Do
	memory    uint64         // in use before the actors were there that Do or Prepare makes

	latency *hdrhistogram.Histogram // of open loops; nil for others
	timings []timing
	shares  []measure.Metric // what was told of those in named
	named   []measure.Metric

	_ [64]byte // what receivers read is in front, what senders write behind

	backlog measure.Backlog

	crowd    *crowd
	stopped  int           // actors
	stopTime time.Duration // of all of them
}

// timing is what was told of one of a workload's times.
type timing struct {
	name string
	hist *hdrhistogram.Histogram
}

// reset forgets what was told before a session's slices counted. What there is of
// open loops and crowds that come and go, no session has.
func (m *meter) reset() {
	for _, t := range m.timings {
		t.hist.Reset()
	}
}

// Now implements [workloads.Meter].
func (m *meter) Now() int64 { return int64(time.Since(m.base)) }

// slowest is the longest latency that is told from longer ones.
const slowest = 10 * time.Minute

// Latency implements [workloads.Meter].
func (m *meter) Latency(ns int64) {
	// Nothing is out of range: a message that is handled before it was due
	// would be a fault of the workload, and shows as the histogram's zero.
	_ = m.latency.RecordValue(min(max(ns, 0), int64(slowest)))
}

// Backlog implements [workloads.Meter].
func (m *meter) Backlog(n int) { m.backlog.Add(n) }

// Timing implements [workloads.Meter].
func (m *meter) Timing(i int, ns int64) {
	_ = m.timings[i].hist.RecordValue(min(max(ns, 0), int64(slowest)))
}

// Share implements [workloads.Meter].
func (m *meter) Share(name string, part, whole int64) {
	m.shares = append(m.shares, measure.Share(name, part, whole))
}

// Pause implements [workloads.Meter].
func (m *meter) Pause(f func()) {
	m.b.StopTimer()
	m.allocated.End()
	f()
	m.allocated.Begin()
	m.b.StartTimer()
}

// Idle implements [workloads.Meter].
func (m *meter) Idle(n int, stop func()) {
	m.Pause(func() {
		m.crowd.see(n, m.memory, inUse())
		begin := time.Now()
		stop()
		m.stopTime += time.Since(begin)
		m.stopped += n
		inUse() // collects, so that the next actors find what these leave
	})
}

// inUse returns the bytes of heap and stacks in use after a collection. It
// collects twice: what the first one finds finalized goes with the second.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapInuse + s.StackInuse
}

// report reports what has been measured over the given number of messages.
func (m *meter) report(messages int) { reportMetrics(m.b, m.metrics(messages, false)) }

// metrics returns what has been measured over the given number of messages; with all also
// what may still come, for its units.
func (m *meter) metrics(messages int, all bool) []measure.Metric {
	ms := m.allocated.Per(messages, "msg")
	add := func(v float64, unit string, better measure.Better) {
		ms = append(ms, measure.Metric{Value: v, Unit: unit, Better: better})
	}
	if m.crowd.n > 0 || all {
		add(float64(m.crowd.bytes)/float64(max(m.crowd.n, 1)), "B/actor", measure.Lower)
		add(float64(m.crowd.n), "actors", measure.Higher)
	}
	if m.stopped > 0 || all {
		add(float64(m.stopTime)/float64(max(m.stopped, 1)), "stop-ns/actor", measure.Lower)
	}
	if h := m.latency; h != nil {
		add(h.Mean(), "mean-ns", measure.Lower)
		add(float64(h.ValueAtPercentile(50)), "p50-ns", measure.Lower)
		add(float64(h.ValueAtPercentile(99)), "p99-ns", measure.Lower)
		add(float64(h.ValueAtPercentile(99.9)), "p99.9-ns", measure.Lower)
		add(float64(h.Max()), "max-ns", measure.Lower)
	}
	for _, t := range m.timings {
		add(float64(t.hist.ValueAtPercentile(50)), t.name+"-p50-ns", measure.Lower)
		add(float64(t.hist.ValueAtPercentile(99)), t.name+"-p99-ns", measure.Lower)
		add(float64(t.hist.Max()), t.name+"-max-ns", measure.Lower)
	}
	if all {
		ms = append(ms, m.named...)
	}
	ms = append(ms, m.shares...)
	backlog := m.backlog
	if all && m.latency != nil {
		backlog.Add(0)
	}
	return append(ms, backlog.Metrics()...)
}
