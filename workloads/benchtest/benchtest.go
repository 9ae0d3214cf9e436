// Package benchtest runs the workloads under testing.B, named so that benchstat
// can pivot on them:
//
//	BenchmarkGroup/workload=short/failfast=on/impl=workstealing-2
//
//	BenchmarkTask/workload=fib/impl=workstealing-2
//
//	BenchmarkActor/workload=pingpong/impl=workstealing-2
//
// Only benchmarks of one package are compared in one run, so the benchmark file of an
// implementation in another module has dyno's own implementations and the references in it:
//
//	func BenchmarkGroup(b *testing.B) { benchtest.GroupsSideBySide(b, append(impls.All(), mine.Impl)) }
//	func BenchmarkTask(b *testing.B)  { benchtest.TasksSideBySide(b, append(impls.All(), mine.Impl)) }
//	func BenchmarkActor(b *testing.B) { benchtest.ActorsSideBySide(b, append(impls.All(), mine.Impl)) }
//
// Those of dyno's have the implementation alone, by [Groups], [Tasks] and [Actors]: the package
// impls compares all of them.
package benchtest

import (
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/workloads"
)

// Groups, Tasks and Actors run every workload over a contract with one implementation, each
// as a sub-benchmark workload=…/impl=….
//
// A workload that needs what the implementation does not promise is skipped
// with that reason (shown with -test.v), and so are all of them for an
// implementation without the contract. A run whose results are wrong fails its
// sub-benchmark and reports no figure.
//
// Beside ns/op the sub-benchmarks report allocations and bytes by the task, or of actors by the
// message, which have fractions, unlike allocs/op and B/op, and what the workload tells its
// meter: docs/workloads.md has the units.
func Groups(b *testing.B, impl dyno.Impl) { each(b, workloads.GroupContract, impl) }

// Tasks is one of the functions at [Groups].
func Tasks(b *testing.B, impl dyno.Impl) { each(b, workloads.TaskContract, impl) }

// Actors is one of the functions at [Groups].
func Actors(b *testing.B, impl dyno.Impl) { each(b, workloads.ActorContract, impl) }

// GroupsSideBySide, TasksSideBySide and ActorsSideBySide run every workload over a contract with
// its references and then with each of impls, so that the reference that is the base comes
// first in the output and in tables made of it.
func GroupsSideBySide(b *testing.B, impls []dyno.Impl) {
	sideBySide(b, workloads.GroupContract, impls)
}

// TasksSideBySide is one of the functions at [GroupsSideBySide].
func TasksSideBySide(b *testing.B, impls []dyno.Impl) { sideBySide(b, workloads.TaskContract, impls) }

// ActorsSideBySide is one of the functions at [GroupsSideBySide].
func ActorsSideBySide(b *testing.B, impls []dyno.Impl) {
	sideBySide(b, workloads.ActorContract, impls)
}

func each(b *testing.B, c workloads.Contract, impl dyno.Impl) {
	for _, w := range workloads.All() {
		if w.Contract == c {
			benchImpl(b, w, impl)
		}
	}
}

func sideBySide(b *testing.B, c workloads.Contract, impls []dyno.Impl) {
	for _, w := range workloads.All() {
		if w.Contract == c {
			SideBySide(b, []workloads.Workload{w}, impls)
		}
	}
}

// SideBySide runs workloads that are not among those of package workloads, each
// with its references and then with each of impls.
func SideBySide(b *testing.B, list []workloads.Workload, impls []dyno.Impl) {
	for _, w := range list {
		for _, ref := range w.Refs {
			benchRun(b, w, ref.Name, workloads.Setting{}, ref.Prepare)
		}
		for _, impl := range impls {
			benchImpl(b, w, impl)
		}
	}
}

func benchImpl(b *testing.B, w workloads.Workload, impl dyno.Impl) {
	if why := w.Lacks(impl); why != "" {
		b.Run(w.Path()+"/impl="+impl.Name, func(b *testing.B) { b.Skip(why) })
		return
	}
	benchRun(b, w, impl.Name, workloads.Setting{Impl: impl}, w.Prepare)
}

func benchRun(b *testing.B, w workloads.Workload, name string, st workloads.Setting, prepare func(workloads.Setting) workloads.Run) {
	var c crowd
	st.Block = block
	b.Run(w.Path()+"/impl="+name, func(b *testing.B) {
		if w.Syscalls && block == nil {
			b.Skip("no system call is known here that blocks its thread and ends by itself")
		}
		bench(b, w, &c, st, prepare)
	})
}

// bench measures one run of b.N operations, or a session of slices if it is driven. Testing
// calls it with a larger N each time until that takes long enough; c is the same every time.
func bench(b *testing.B, w workloads.Workload, c *crowd, st workloads.Setting, prepare func(workloads.Setting) workloads.Run) {
	b.StopTimer()
	s := asked(b, w.Slicing)
	m := newMeter(b, w, c, b.N)
	st.Meter = m
	if b.N <= trialOps && s == nil {
		st.Ops = b.N
	}
	if b.N == 1 && (testing.Verbose() || listed(b)) {
		b.Log(w.Sentence()) // which benchrun list shows
	}
	printUnits(b, m.metrics(1, true))
	count := w.Actors >= countable && st.Ops == 0 && c.n == 0
	if count {
		m.memory = inUse()
	}
	run := prepare(st)
	defer run.Close()
	if w.Contract == workloads.ActorContract {
		before := m.memory
		m.memory = inUse()
		if count {
			c.see(w.Actors, before, m.memory)
		}
	}
	if s != nil {
		session(b, s, w, run, m)
		return
	}

	// Counted here rather than by b.ReportAllocs, because testing rounds
	// allocs/op and B/op down to whole numbers, even when ReportMetric sets
	// them, and an implementation that allocates twice per group of 256 tasks
	// is not one that never allocates. Other units keep their fractions.
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
	m.report(b.N)
}
