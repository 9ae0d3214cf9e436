package bench

import (
	"runtime"
	"strconv"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/internal/measure"
	"github.com/dynolab/dyno/workloads"
)

const part = "bench"

// Cases returns the benchmarks of impl: workloads over the contracts that it
// implements, and if it runs actors what is asked of boards.
func Cases(impl dyno.Impl) firmware.Cases {
	return func(yield func(firmware.Case) bool) {
		for w := range workloads.Small() {
			if has(impl, w.Contract) && !yield(workloadCase(impl, w)) {
				return
			}
		}
		if impl.NewDispatcher != nil {
			for _, q := range questions {
				if !yield(q.of(impl)) {
					return
				}
			}
		}
	}
}

const (
	// most is how many operations a case does if nothing else is said: those of the
	// requirement that 1,000 messages go back and forth within a second.
	most = 1000

	// storm is how many failures are injected.
	storm = 100

	// births is how many new actors are waited for, a thousand a second. A tenth of
	// a second is enough to see the slowest of a hundred.
	births = 100

	// ring is how many messages of an open loop are made beforehand. Ten may wait.
	ring = 32
)

// has reports whether impl implements a contract that boards measure.
func has(impl dyno.Impl, c workloads.Contract) bool {
	if c == workloads.GroupContract {
		return impl.NewGroup != nil
	}
	return impl.NewDispatcher != nil
}

// operations returns how many operations of w a case does.
func operations(w workloads.Workload) int {
	switch {
	case w.Name == "restart":
		return storm
	case w.Name == "spawn":
		return births
	case w.Open:
		return most
	}
	return whole(most, w.Slicing)
}

// whole returns the largest number up to n that is made up of whole problems.
func whole(n int, s workloads.Slicing) int {
	unit := max(s.Unit, 1)
	return max(n/unit, 1) * unit
}

// workloadCase measures a workload.
func workloadCase(impl dyno.Impl, w workloads.Workload) firmware.Case {
	n := operations(w)
	name := w.Benchmark(impl.Name)
	return firmware.Case{
		Part: part, Name: name, Ops: n,
		Skip: func(*firmware.Board) string { return w.Lacks(impl) },
		Run: func(r *firmware.Report) error {
			m := newMeter(r.Board, n, w.Open)
			run := w.Prepare(workloads.Setting{Impl: impl, Meter: m, Ring: ring, Until: m.until})
			defer run.Close()
			do := measure.Measure
			if w.Open || w.Name == "restart" {
				// Of an open loop every message counts, the first as well; and the
				// failures are a hundred, and not twice as many.
				do = measure.Cold
			}
			f, err := do(run, n, r.Board.Clock)
			if err != nil {
				return err
			}
			f.Add(f.Memory.Per(w.Items(n), w.Item())...)
			m.addTo(&f)
			r.Result(name, f)
			return nil
		},
	}
}

// meter implements [workloads.Meter].
type meter struct {
	board   *firmware.Board
	latency *measure.Times // nil: the workload is no open loop
	shares  []measure.Metric

	// What receivers write is in front, what senders write behind; TinyGo has one processor.
	_ [64 * (len("gc") / len(runtime.Compiler))]byte

	backlog measure.Backlog
}

func newMeter(b *firmware.Board, n int, open bool) *meter {
	m := &meter{board: b}
	if open {
		m.latency = measure.NewTimes(n)
		m.backlog.Late = n - n/10
	}
	return m
}

// addTo adds what the meter was told to f.
func (m *meter) addTo(f *measure.Figure) {
	if m.latency != nil {
		f.Add(m.latency.Metrics("", m.board.Clock)...)
	}
	f.Add(m.shares...)
	f.Add(m.backlog.Metrics()...)
}

// Now implements [workloads.Meter]. On an emulator it is the emulated time.
func (m *meter) Now() int64 { return measure.ToNanoseconds(m.board.Clock, m.board.Clock.Now()) }

// Latency implements [workloads.Meter].
func (m *meter) Latency(ns int64) { m.latency.Add(measure.ToTicks(m.board.Clock, ns)) }

// Backlog implements [workloads.Meter].
func (m *meter) Backlog(n int) { m.backlog.Add(n) }

// Timing implements [workloads.Meter]. No workload here has any.
func (m *meter) Timing(int, int64) {}

// Share implements [workloads.Meter].
func (m *meter) Share(name string, part, whole int64) {
	m.shares = append(m.shares, measure.Share(name, part, whole))
}

// Idle implements [workloads.Meter].
func (m *meter) Idle(_ int, stop func()) { stop() }

// Pause implements [workloads.Meter]. No workload here asks for it.
func (m *meter) Pause(f func()) { f() }

// until lets the others run that can, and then time pass until ns, as the board does
// that; in steps, since those who run may make others ready.
func (m *meter) until(ns int64) {
	b := m.board
	step := max(1, int64(b.Clock.Hz())/looksPerSecond)
	for {
		left := measure.ToTicks(b.Clock, ns) - b.Clock.Now()
		if left <= 0 {
			return
		}
		runtime.Gosched()
		if b.Wait != nil {
			b.Wait(min(left, step))
		}
	}
}

// looksPerSecond is how often a waiter looks whether others can run.
const looksPerSecond = 20_000

func itoa(n int) string { return strconv.Itoa(n) }
