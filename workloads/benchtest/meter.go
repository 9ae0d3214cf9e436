package benchtest

import (
	"runtime"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dynolab/dyno/internal/measure"
	"github.com/dynolab/dyno/workloads"
)

// trialOps is up to how many operations are no measurement: they are
// testing's first attempts, or a look at what benchmarks there are.
const trialOps = 100

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
	w    workloads.Workload
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

// newMeter makes the meter of a benchmark with so many operations.
func newMeter(b *testing.B, w workloads.Workload, c *crowd, ops int) *meter {
	m := &meter{b: b, w: w, base: time.Now(), crowd: c}
	if w.Open {
		m.latency = hdrhistogram.New(1, int64(slowest), 3)
		m.backlog.Late = ops - ops/10
	}
	for _, name := range w.Timings {
		m.timings = append(m.timings, timing{name, hdrhistogram.New(1, int64(slowest), 3)})
	}
	for _, name := range w.Shares {
		m.named = append(m.named, measure.Share(name, 0, 1))
	}
	return m
}

// reset forgets what was told before a session's slices counted. What there is of
// open loops and crowds that come and go, no session has.
func (m *meter) reset() {
	for _, t := range m.timings {
		t.hist.Reset()
	}
}

func (m *meter) Now() int64 { return int64(time.Since(m.base)) }

// slowest is the longest latency that is told from longer ones.
const slowest = 10 * time.Minute

func (m *meter) Latency(ns int64) {
	// Nothing is out of range: a message that is handled before it was due
	// would be a fault of the workload, and shows as the histogram's zero.
	_ = m.latency.RecordValue(min(max(ns, 0), int64(slowest)))
}

func (m *meter) Backlog(n int) { m.backlog.Add(n) }

func (m *meter) Timing(i int, ns int64) {
	_ = m.timings[i].hist.RecordValue(min(max(ns, 0), int64(slowest)))
}

func (m *meter) Share(name string, part, whole int64) {
	m.shares = append(m.shares, measure.Share(name, part, whole))
}

func (m *meter) Pause(f func()) {
	m.b.StopTimer()
	m.allocated.End()
	f()
	m.allocated.Begin()
	m.b.StartTimer()
}

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

// report has b report what has been measured over the given number of operations.
func (m *meter) report(ops int) {
	for _, metric := range m.metrics(ops, false) {
		m.b.ReportMetric(metric.Value, metric.Unit)
	}
	if m.w.Open {
		m.b.ReportMetric(0, "ns/op") // testing leaves it out then: it is the time between two messages
	}
}

// metrics returns what has been measured over the given number of operations; with all also
// what may still come, for its units.
func (m *meter) metrics(ops int, all bool) []measure.Metric {
	ms := m.allocated.Per(m.w.Items(ops), m.w.Item())
	add := func(v float64, unit string, better measure.Better) {
		ms = append(ms, measure.Metric{Value: v, Unit: unit, Better: better})
	}
	if m.w.Work != nil {
		add(float64(m.w.Work(ops))/float64(ops), "rounds/op", measure.Neither)
	}
	all = all && m.w.Contract == workloads.ActorContract
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
