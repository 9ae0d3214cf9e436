package serial_test

import (
	"testing"

	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/workloads/benchtest"
)

func BenchmarkGroup(b *testing.B) { benchtest.Groups(b, serial.Impl) }

func BenchmarkTask(b *testing.B) { benchtest.Tasks(b, serial.Impl) }

func BenchmarkActor(b *testing.B) { benchtest.Actors(b, serial.Impl) }
