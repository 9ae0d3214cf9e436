package benchtest

import (
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/workloads"
)

// Tasks runs every workload of executors with one implementation, each as a
// sub-benchmark workload=…/impl=…. It skips and fails as [Groups] does, and
// reports allocs/task and B/task beside ns/op as Groups does.
func Tasks(b *testing.B, impl dyno.Impl) {
	for _, w := range workloads.Tasks() {
		benchTaskImpl(b, w, impl)
	}
}

// TasksSideBySide runs every workload of executors with its references and then
// with each of impls, as [GroupsSideBySide] does.
func TasksSideBySide(b *testing.B, impls []dyno.Impl) {
	for _, w := range workloads.Tasks() {
		for _, ref := range w.Refs {
			b.Run(w.Path()+"/impl="+ref.Name, func(b *testing.B) {
				bench(b, w.Path(), w.Slicing, nil, ref.Prepare)
			})
		}
		for _, impl := range impls {
			benchTaskImpl(b, w, impl)
		}
	}
}

func benchTaskImpl(b *testing.B, w workloads.Task, impl dyno.Impl) {
	b.Run(w.Path()+"/impl="+impl.Name, func(b *testing.B) {
		if impl.NewExecutor == nil {
			b.Skip(impl.Name + " has no executor of tasks")
		}
		if lacks := impl.Promises.Lacks(w.Needs); len(lacks) > 0 {
			b.Skip("needs " + strings.Join(lacks, ", ") + ", which " + impl.Name + " does not promise")
		}
		bench(b, w.Path(), w.Slicing, nil, func() workloads.Run { return w.Prepare(impl.NewExecutor) })
	})
}
