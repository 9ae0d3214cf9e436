package workloads

import (
	"context"
	"errors"

	"github.com/dynolab/dyno/group"
)

const cancelTasks = 10_000

// errStop is the cause the caller cancels with.
var errStop = errors.New("workloads: the caller has had enough")

// groupCancel is the way out under load: the caller changes its mind. Every task waits for the
// cancellation, so it makes no difference whether an implementation has started it by then (a
// goroutine each) or still has it in a queue: none can be over before.
func groupCancel() []Workload {
	return []Workload{{
		Name:    "cancel",
		Doc:     "groups of 10,000 tasks that are all accepted and unfinished when the caller cancels: how fast a group is rid of its work",
		Checked: "each task's result, once, with the cause of the cancellation; `Wait`'s answer",
		Slicing: Slicing{Unit: cancelTasks},
		Prepare: func(st Setting) Run { return cancelBatch().onGroup(st.Impl.NewGroup) },
		Refs:    batchRefs(cancelBatch, 0),
	}}
}

func cancelBatch() *batch {
	b := &batch{
		tasks:   make([]group.TaskFunc[int], cancelTasks),
		want:    numbers(cancelTasks),
		cause:   errStop,
		accepts: func(_ *ledger, _ int, err error) bool { return err == errStop },
		waitErr: errStop,
	}
	for i := range b.tasks {
		b.tasks[i] = func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return i, context.Cause(ctx)
		}
	}
	return b
}
