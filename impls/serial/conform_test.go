package serial_test

import (
	"os"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

func TestConformance(t *testing.T) { conformtest.Run(t, serial.Impl) }

// A thousand orders in which actors can be run keep the contract as well; a hundred by day.
func TestConformanceSeeds(t *testing.T) {
	conformtest.RunSeeds(t, orders(1000), func(seed uint64) dyno.Impl {
		impl := serial.Impl
		impl.NewDispatcher = func() actor.Dispatcher {
			return serial.NewDispatcherWith(serial.DispatcherConfig{Schedule: serial.Schedule{Order: serial.Seeded, Seed: seed}})
		}
		// What promises the order of the queue is not promised of any other.
		impl.Promises.Fair = false
		return impl
	})
}

// orders is how many orders are tried: all at night, a tenth by day.
func orders(all int) int {
	if os.Getenv("DYNO_NIGHTLY") == "" {
		return all / 10
	}
	return all
}

// First in, first out with the scheduling points of the other orders keeps the
// contract of executors as well. (Some clauses rely on that order, so that the
// others are left to TestModel.)
func TestConformanceFine(t *testing.T) {
	conformtest.Run(t, dyno.Impl{
		Name: serial.Impl.Name, Idea: serial.Impl.Idea, Promises: serial.Impl.Promises,
		NewExecutor: func() task.Executor {
			return serial.NewExecutorWith(serial.ExecutorConfig{Schedule: serial.Schedule{Order: serial.Replay}})
		},
	})
}
