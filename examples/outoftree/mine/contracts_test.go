package mine

import (
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/conformance/conformtest"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/benchtest"
)

// AllContracts keeps all three contracts.
var AllContracts = dyno.Impl{
	Name:          "allcontracts",
	Idea:          "my group; executor and dispatcher of lockbased",
	Promises:      Impl.Promises,
	NewGroup:      Impl.NewGroup,
	NewExecutor:   func() task.Executor { return lockbased.NewExecutor() },
	NewDispatcher: func() actor.Dispatcher { return lockbased.NewDispatcher() },
}

func TestAllContracts(t *testing.T) { conformtest.Run(t, AllContracts) }

func BenchmarkTask(b *testing.B) { benchtest.TasksSideBySide(b, append(impls.All(), AllContracts)) }

func BenchmarkActor(b *testing.B) { benchtest.ActorsSideBySide(b, append(impls.All(), AllContracts)) }
