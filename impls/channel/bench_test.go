package channel_test

import (
	"testing"

	"github.com/dynolab/dyno/impls/channel"
	"github.com/dynolab/dyno/workloads/benchtest"
)

func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, channel.Impl) }

func BenchmarkTask(b *testing.B) { benchtest.Tasks(b, channel.Impl) }

func BenchmarkActor(b *testing.B) { benchtest.Actors(b, channel.Impl) }
