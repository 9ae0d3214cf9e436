package serial_test

import (
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/serial"
)

func TestConformance(t *testing.T) { conformtest.Run(t, serial.Impl) }

// A thousand orders in which actors can be run keep the contract as well.
func TestConformanceSeeds(t *testing.T) {
	conformtest.RunSeeds(t, 1000, func(seed uint64) dyno.Impl {
		impl := serial.Impl
		impl.NewDispatcher = func() actor.Dispatcher {
			return serial.NewDispatcherWith(serial.DispatcherConfig{Schedule: serial.Schedule{Order: serial.Seeded, Seed: seed}})
		}
		// What promises the order of the queue is not promised of any other.
		impl.Promises.Fair = false
		return impl
	})
}
