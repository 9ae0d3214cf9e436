package workloads

import (
	"context"
	"errors"
	"strconv"

	"github.com/dynolab/dyno/group"
)

// The size of the first source document's own benchmark.
const (
	shortTasks = 256
	shortLimit = 32
)

// errFirst is what the failing task of a fail-fast workload fails with.
var errFirst = errors.New("workloads: the first task fails")

// groupShort is the everyday group: many tasks that do next to nothing, so that the
// group itself is all there is to measure.
//
// With failfast=on the first task fails. The others look at the context first, and how
// many of them still find it open is up to the implementation; but none may be seen to
// give up before the one that failed.
func groupShort() []Workload {
	short := func(failFast bool, variant, doc, checked string) Workload {
		return Workload{
			Name:    "short",
			Variant: variant,
			Doc:     doc,
			Checked: checked,
			Slicing: Slicing{Unit: shortTasks},
			Prepare: func(st Setting) Run { return shortBatch(failFast).onGroup(st.Impl.NewGroup) },
			Refs:    batchRefs(func() *batch { return shortBatch(failFast) }, 0),
		}
	}
	return []Workload{
		short(false, "failfast=off", "groups of 256 tiny tasks, at most 32 at once: what a task costs when it costs nothing itself",
			checkedBatch),
		short(true, "failfast=on", "as failfast=off, with a first task that fails and so cancels the rest: what the way out costs",
			"the same, and the first error, the cause in the context, and that no task is seen to give up before the one that failed"),
	}
}

// bareShort is groupShort failfast=off where memory is scarce.
func bareShort(tasks, limit int) Workload {
	return Workload{
		Name:    "short",
		Variant: "tasks=" + strconv.Itoa(tasks),
		Doc:     "groups of 32 tiny tasks, at most 8 at once: short failfast=off where memory is scarce",
		Slicing: Slicing{Unit: tasks},
		Prepare: func(st Setting) Run { return tinyTasks(tasks, limit).onGroup(st.Impl.NewGroup) },
	}
}

// tinyTasks makes a batch of tasks that do next to nothing.
func tinyTasks(tasks, limit int) *batch {
	b := &batch{
		tasks: make([]group.TaskFunc[int], tasks),
		want:  numbers(tasks),
		limit: limit,
	}
	for i := range b.tasks {
		b.tasks[i] = func(ctx context.Context) (int, error) { return i, ctx.Err() }
	}
	return b
}

func shortBatch(failFast bool) *batch {
	b := tinyTasks(shortTasks, shortLimit)
	b.failFast = failFast
	if !failFast {
		return b
	}
	var seen context.Context // the group's, as the failing task saw it
	b.tasks[0] = func(ctx context.Context) (int, error) {
		seen = ctx
		return 0, errFirst
	}
	b.accepts = func(k *ledger, i int, err error) bool {
		if i == 0 {
			return err == errFirst
		}
		return err == nil || err == context.Canceled && (k.has(0) || !k.inOrder)
	}
	b.waitErr = errFirst
	b.after = func() error {
		if c := context.Cause(seen); c != errFirst {
			return errors.New("workloads: the failed task left the group's context with the cause " + errText(c))
		}
		return nil
	}
	return b
}
