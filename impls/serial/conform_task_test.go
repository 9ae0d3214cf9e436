package serial_test

import (
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// A hundred orders in which tasks can be run keep the contract as well; ten by day.
func TestConformanceTaskSeeds(t *testing.T) {
	conformtest.RunTaskSeeds(t, orders(100), func(seed uint64) dyno.Impl {
		impl := serial.Impl
		impl.NewExecutor = func() task.Executor {
			return serial.NewExecutorWith(serial.ExecutorConfig{Schedule: serial.Schedule{Order: serial.Seeded, Seed: seed}})
		}
		// What promises the order of the queue is not promised of any other.
		impl.Promises.StartOrder = false
		return impl
	})
}
