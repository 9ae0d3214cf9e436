package workstealing_test

import (
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls/workstealing"
)

func TestConformance(t *testing.T) { conformtest.Run(t, workstealing.Impl) }

// strategies is the implementation once for each strategy but the default one,
// without groups and tasks, to which strategies mean nothing.
func strategies() []dyno.Impl {
	var all []dyno.Impl
	for _, s := range []workstealing.Strategy{workstealing.Priority, workstealing.WorkConserving} {
		impl := workstealing.Impl
		impl.Name += "-" + s.String()
		impl.NewGroup = nil
		impl.NewExecutor = nil
		impl.NewDispatcher = func() actor.Dispatcher {
			return workstealing.NewDispatcherWith(workstealing.Config{Strategy: s})
		}
		all = append(all, impl)
	}
	return all
}

func TestConformanceOfStrategies(t *testing.T) {
	for _, impl := range strategies() {
		t.Run(impl.Name, func(t *testing.T) { conformtest.Run(t, impl) })
	}
}
