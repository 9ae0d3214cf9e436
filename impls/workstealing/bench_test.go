package workstealing_test

import (
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls/workstealing"
	"github.com/dynolab/dyno/workloads/benchtest"
)

func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, workstealing.Impl) }

func BenchmarkTask(b *testing.B) { benchtest.Tasks(b, workstealing.Impl) }

func BenchmarkActor(b *testing.B) { benchtest.Actors(b, workstealing.Impl) }

// BenchmarkStrategy is what the strategies cost, beside the default one.
func BenchmarkStrategy(b *testing.B) {
	for _, impl := range append([]dyno.Impl{workstealing.Impl}, strategies()...) {
		benchtest.Actors(b, impl)
	}
}
