package peers

import (
	"slices"
	"testing"

	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads"
	"github.com/dynolab/dyno/workloads/benchtest"
)

// The benchmarks are those of the package impls with the peers' columns behind the references,
// as far as there is a peer for a workload: here, or among the programs beside.

// Workloads of executors for which there are programs.
var forkJoin = []string{"fib", "tree", "quicksort"}

func BenchmarkTask(b *testing.B) {
	for _, w := range workloads.All() {
		if w.Contract == workloads.TaskContract && slices.Contains(forkJoin, w.Name) {
			benchtest.SideBySide(b, []workloads.Workload{w}, impls.All())
		}
	}
}

func BenchmarkActor(b *testing.B) {
	for _, w := range workloads.All() {
		if w.On == nil || w.Variant != "" && w.Name != "savina" { // the curves are about dyno's designs
			continue
		}
		for _, p := range Actors() {
			w.Refs = append(w.Refs, p.Ref(w))
		}
		benchtest.SideBySide(b, []workloads.Workload{w}, impls.All())
	}
}

func BenchmarkGroup(b *testing.B) {
	var list []workloads.Workload
	for _, w := range workloads.All() {
		if w.Contract == workloads.GroupContract {
			for _, p := range Groups() {
				if p.Without[w.Path()] == "" {
					w.Refs = append(w.Refs, p.Ref(w))
				}
			}
			list = append(list, w)
		}
	}
	benchtest.SideBySide(b, list, impls.All())
}
