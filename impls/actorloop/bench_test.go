package actorloop_test

import (
	"testing"

	"github.com/dynolab/dyno/impls/actorloop"
	"github.com/dynolab/dyno/workloads/benchtest"
)

func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, actorloop.Impl) }

func BenchmarkTask(b *testing.B) { benchtest.Tasks(b, actorloop.Impl) }

func BenchmarkActor(b *testing.B) { benchtest.Actors(b, actorloop.Impl) }
