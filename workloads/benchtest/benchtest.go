// Package benchtest runs the workloads under testing.B, named so that benchstat
// can pivot on them:
//
//	BenchmarkGroup/workload=short/failfast=on/impl=workstealing-2
//
//	BenchmarkTask/workload=fib/impl=workstealing-2
//
//	BenchmarkActor/workload=pingpong/impl=workstealing-2
//
// The benchmark file of an implementation is
//
//	func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, lockbased.Impl) }
//	func BenchmarkTask(b *testing.B)  { benchtest.Tasks(b, lockbased.Impl) }
//	func BenchmarkActor(b *testing.B) { benchtest.Actors(b, lockbased.Impl) }
package benchtest

import (
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/internal/measure"
	"github.com/dynolab/dyno/workloads"
)

// Groups runs every task-group workload with one implementation, each as a
// sub-benchmark workload=…/impl=….
//
// A workload that needs what the implementation does not promise is skipped
// with that reason (shown with -test.v), and so are all of them for an
// implementation without task groups. A run whose results are wrong fails its
// sub-benchmark and reports no figure.
//
// Beside ns/op the sub-benchmarks report allocs/task and B/task, which have
// fractions, unlike allocs/op and B/op, and rounds/op where the tasks compute.
func Groups(b *testing.B, impl dyno.Impl) {
	for _, w := range workloads.Groups() {
		benchImpl(b, w, impl)
	}
}

// GroupsSideBySide runs every task-group workload with its references and then
// with each of impls, so that the reference that is the base comes first in
// the output and in tables made of it.
func GroupsSideBySide(b *testing.B, impls []dyno.Impl) {
	for _, w := range workloads.Groups() {
		for _, ref := range w.Refs {
			b.Run(w.Path()+"/impl="+ref.Name, func(b *testing.B) {
				bench(b, w.Path(), w.Slicing, w.Work, ref.Prepare)
			})
		}
		for _, impl := range impls {
			benchImpl(b, w, impl)
		}
	}
}

func benchImpl(b *testing.B, w workloads.Group, impl dyno.Impl) {
	b.Run(w.Path()+"/impl="+impl.Name, func(b *testing.B) {
		if impl.NewGroup == nil {
			b.Skip(impl.Name + " has no task group")
		}
		if lacks := impl.Promises.Lacks(w.Needs); len(lacks) > 0 {
			b.Skip("needs " + strings.Join(lacks, ", ") + ", which " + impl.Name + " does not promise")
		}
		bench(b, w.Path(), w.Slicing, w.Work, func() workloads.Run { return w.Prepare(impl.NewGroup) })
	})
}

// bench measures one run of b.N operations of the workload with the given path, or
// a session of slices if it is driven. work is what they compute, or nil.
func bench(b *testing.B, path string, slicing workloads.Slicing, work func(n int) int64, prepare func() workloads.Run) {
	b.StopTimer()
	s := asked(b, slicing)
	run := prepare()
	defer run.Close()
	metrics := func(ops int, allocated measure.Memory) []measure.Metric {
		ms := allocated.Per(ops, "task")
		if work != nil {
			ms = append(ms, measure.Metric{Value: float64(work(ops)) / float64(ops), Unit: "rounds/op", Better: measure.Neither})
		}
		return ms
	}
	printUnits(b, metrics(1, measure.Memory{}))
	report := func(ops int, allocated measure.Memory) { reportMetrics(b, metrics(ops, allocated)) }
	if s != nil {
		session(b, s, path, slicing, run, func() {}, report)
		return
	}

	// Counted here rather than by b.ReportAllocs, because testing rounds
	// allocs/op and B/op down to whole numbers, even when ReportMetric sets
	// them, and an implementation that allocates twice per group of 256 tasks
	// is not one that never allocates. Other units keep their fractions.
	var allocated measure.Memory
	b.ResetTimer()
	allocated.Begin()
	b.StartTimer()
	err := run.Do(b.N)
	b.StopTimer()
	allocated.End()

	if err == nil {
		err = run.Check()
	}
	if err != nil {
		b.Fatalf("%s: %d operations: %v", path, b.N, err)
	}
	report(b.N, allocated)
}

// reportMetrics has b report them. What they are measure says, with which boards
// measure, too.
func reportMetrics(b *testing.B, metrics []measure.Metric) {
	for _, m := range metrics {
		b.ReportMetric(m.Value, m.Unit)
	}
}
