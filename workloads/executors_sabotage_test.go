package workloads_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads"
)

// A vandal is an executor that is right but for one thing.
type vandal struct {
	*plain
	vandalism
	at int // which task, counted from 1, it is done to; 0: to none

	mu     sync.Mutex
	n      int
	victim *task.Handle
	seen   int // how often a task has tried to cancel the victim
}

// vandalism is what is done.
type vandalism struct {
	// starts is called, if it is not nil, in the place of Start for the victim.
	// If it says so, the task is never run, and has the state that it returns.
	starts func(h *task.Handle) (s task.Status, lost bool, err error)

	// waits is called in the place of Wait for the victim.
	waits func() error

	// cancels is called in the place of Cancel for the victim, and is told how
	// often it has been called before.
	cancels func(v *vandal, h *task.Handle, before int) bool

	// extra is added to the number of pending tasks.
	extra int
}

func (v *vandal) isVictim(h *task.Handle) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return h == v.victim
}

func (v *vandal) Start(h, from *task.Handle) error {
	v.mu.Lock()
	v.n++
	strike := v.n == v.at
	if strike {
		v.victim = h
	}
	v.mu.Unlock()
	if strike && v.starts != nil {
		s, lost, err := v.starts(h)
		if err != nil {
			return err
		}
		if lost {
			over := make(chan struct{})
			close(over)
			h.Room().Own = over
			h.Room().Word.Store(uint32(s))
			return nil
		}
	}
	return v.plain.Start(h, from)
}

func (v *vandal) Wait(ctx context.Context, h, from *task.Handle) error {
	if v.waits != nil && v.isVictim(h) {
		return v.waits()
	}
	return v.plain.Wait(ctx, h, from)
}

func (v *vandal) Cancel(h *task.Handle) bool {
	if v.cancels != nil && v.isVictim(h) {
		v.mu.Lock()
		before := v.seen
		v.seen++
		v.mu.Unlock()
		return v.cancels(v, h, before)
	}
	return v.plain.Cancel(h)
}

func (v *vandal) Pending() int { return v.plain.Pending() + v.extra }

// lost is a task that is never run and has the given state.
func lost(s task.Status) func(*task.Handle) (task.Status, bool, error) {
	return func(*task.Handle) (task.Status, bool, error) { return s, true, nil }
}

var vandalisms = []struct {
	name    string
	crowd   bool   // it is about the tasks that workload=cancel cancels only
	always  bool   // it is done to no task in particular
	refused bool   // it is that a task does not come into being
	says    string // in the error, if more than that something is wrong is to be said
	do      vandalism
}{
	{name: "a task is never run and counts as resolved", do: vandalism{starts: lost(task.Resolved)}},
	{name: "a task is never run and counts as canceled", do: vandalism{starts: lost(task.Cancelled)}},
	{
		name: "a task is never run and no goroutine waits for it",
		do: vandalism{
			starts: lost(task.Pending), waits: func() error { return nil },
			cancels: func(*vandal, *task.Handle, int) bool { return false },
		},
	},
	{name: "a task is refused", refused: true, says: "the executor is closed", do: vandalism{
		starts: func(*task.Handle) (task.Status, bool, error) { return 0, false, task.ErrClosed },
	}},
	{name: "Wait fails", says: "sabotage", do: vandalism{waits: func() error { return errSabotage }}},
	{name: "a task too many is pending", always: true, says: "counts 1", do: vandalism{extra: 1}},
	{name: "a task less is pending", always: true, says: "counts -1", do: vandalism{extra: -1}},
	{name: "both have canceled a task", crowd: true, says: "canceled twice", do: vandalism{
		cancels: func(v *vandal, h *task.Handle, _ int) bool {
			v.plain.Cancel(h)
			return true
		},
	}},
	{name: "Cancel reports success for a task that goes on", crowd: true, says: "is resolved", do: vandalism{
		cancels: func(_ *vandal, _ *task.Handle, before int) bool { return before == 0 },
	}},
	{name: "Cancel reports failure for a task that is canceled", crowd: true, says: "is canceled", do: vandalism{
		starts: lost(task.Cancelled), cancels: func(*vandal, *task.Handle, int) bool { return false },
	}},
}

// Every workload notices every vandalism, wherever in a run it is done.
func TestVandalismIsNoticed(t *testing.T) {
	for _, w := range over(workloads.TaskContract) {
		n, turns := 600, []int{1, 2, 3, 100, 256, 257, 590}
		if w.Name == "quicksort" || w.Name == "matmul" || w.Name == "shared" {
			n, turns = 70, []int{1, 2, 3, 63, 64, 65, 70} // tasks that do something, or many wait for
		}
		if w.Name == "shared" && !nightly {
			turns = []int{1, 2, 3, 65, 70} // the first waiter, the last and one of the next round: who is lost is waited for with a million yields
		}
		if w.Name == "parfor" {
			turns = []int{1} // how many parts become tasks is not said
		}
		byJoin := w.Variant == "by=join"
		if byJoin {
			turns = []int{1, 2, 3, 100, 256, 257, 290} // of each two calls one is none
		}
		for _, c := range vandalisms {
			if c.crowd && w.Name != "cancel" {
				continue
			}
			t.Run(w.Path()+"/"+c.name, func(t *testing.T) {
				for _, at := range turns {
					switch {
					case c.crowd && at == 1:
						continue // the task that starts the others
					case byJoin && c.refused && at > 1:
						continue // Join then calls the part itself
					case w.Name == "yield" && at > 3, c.always && at > 1:
						continue // it has no more
					}
					v := &vandal{plain: new(plain), vandalism: c.do, at: at}
					run := w.Prepare(withExecutor(func() task.Executor { return v }))
					err := run.Do(n)
					if err == nil {
						err = run.Check()
					}
					run.Close()
					if v.victim == nil {
						t.Fatalf("no task number %d: the test tests nothing", at)
					}
					if err == nil {
						t.Fatalf("at %d: not noticed", at)
					}
					if !strings.Contains(err.Error(), c.says) {
						t.Errorf("at %d: noticed, but not said: %v", at, err)
					}
				}
			})
		}
	}
}

// The vandal's own machinery does no harm.
func TestNoVandalism(t *testing.T) {
	for _, w := range over(workloads.TaskContract) {
		t.Run(w.Path(), func(t *testing.T) {
			exercise(t, []int{70}, w.Prepare, withExecutor(func() task.Executor { return &vandal{plain: new(plain)} }))
		})
	}
}
