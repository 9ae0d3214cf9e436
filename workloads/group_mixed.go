package workloads

import (
	"context"
	"time"
)

const (
	mixedEvery = 8                      // one task in this many waits
	mixedWait  = 200 * time.Microsecond // for this long
)

// groupMixed is [groupShort] with tasks that wait as for a reply from a near machine. It tells
// implementations that keep working while tasks wait from those that do not.
func groupMixed() []Workload {
	return []Workload{{
		Name:    "mixed",
		Doc:     "as short, but every 8th task waits for 200 µs: whether waiting tasks hold up the others",
		Checked: checkedBatch,
		Slicing: Slicing{Unit: shortTasks},
		Prepare: func(st Setting) Run { return mixedBatch().onGroup(st.Impl.NewGroup) },
		// Workers that wait do not work: the floor has as many as the limit allows.
		Refs: batchRefs(mixedBatch, shortLimit),
	}}
}

func mixedBatch() *batch {
	b := shortBatch(false)
	for i := 0; i < len(b.tasks); i += mixedEvery {
		b.tasks[i] = func(ctx context.Context) (int, error) {
			t := time.NewTimer(mixedWait)
			defer t.Stop()
			select {
			case <-t.C:
				return i, nil
			case <-ctx.Done():
				return i, ctx.Err()
			}
		}
	}
	return b
}
