package workstealing_test

import (
	"testing"

	"github.com/dynolab/dyno/impls/workstealing"
	"github.com/dynolab/dyno/workloads/benchtest"
)

func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, workstealing.Impl) }

func BenchmarkActor(b *testing.B) { benchtest.Actors(b, workstealing.Impl) }
