package onemutex

import (
	"testing"

	"github.com/dynolab/dyno/workloads/benchtest"
)

func BenchmarkActor(b *testing.B) { benchtest.Actors(b, Impl) }

func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, Impl) }
