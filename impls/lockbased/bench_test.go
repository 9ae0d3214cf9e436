package lockbased_test

import (
	"testing"

	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/workloads/benchtest"
)

func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, lockbased.Impl) }

func BenchmarkTask(b *testing.B) { benchtest.Tasks(b, lockbased.Impl) }

func BenchmarkActor(b *testing.B) { benchtest.Actors(b, lockbased.Impl) }
