package lockbased

import (
	"github.com/dynolab/dyno/internal/queue"
	"github.com/dynolab/dyno/task"
)

// sleeper is a call of Wait that waits, or the channel that Done has returned.
type sleeper struct {
	ready chan struct{} // capacity 1; a token means that the caller goes on
	done  chan struct{} // of Done, else nil

	// The executor's mutex guards what follows.
	from     *task.Handle         // the task that waits and has given its slot away, or nil
	answered bool                 // what it waits for is over
	node     queue.Node[*sleeper] // among those that wait for the same
}

// sleepersOf returns those who wait for h. It is a copy: see keepSleepers.
func sleepersOf(h *task.Handle) queue.List[*sleeper] {
	w, _ := h.Room().Own.(*sleeper)
	if w == nil {
		return queue.List[*sleeper]{}
	}
	return queue.ListFrom(&w.node)
}

// keepSleepers makes l those who wait for h.
func keepSleepers(h *task.Handle, l queue.List[*sleeper]) {
	if l.Empty() {
		h.Room().Own = nil
	} else {
		h.Room().Own = l.Oldest().Value
	}
}
