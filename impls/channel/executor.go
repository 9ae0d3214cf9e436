package channel

import (
	"context"
	"runtime"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// inARow is how many tasks a goroutine starts one after another before it lets others run. It
// goes on starting where each task begins at once on another processor, and where none does
// the tasks of a crowd have stacks all at the same time. One that starts two and waits for them
// never yields: that would have it begin the tasks of others first.
const inARow = 32

// Executor runs each task on a goroutine of its own. Make one with [NewExecutor].
//
// Of a handle's room it uses two fields. Own is the task's done channel; Start
// sets it. ID is the state in which the task is over: the goroutine that has the ledger and
// finds the channel open writes it and closes the channel, which hands it over to
// all who find the channel closed.
type Executor struct {
	// door, of capacity one, holds what Start and Close need between calls.
	door chan entries

	// ledger, of capacity one, holds the number of tasks that are over between
	// calls. Only who has it may end a task.
	ledger chan uint64
}

// entries is what was accepted. It belongs to the goroutine that received it.
type entries struct {
	closed   bool
	accepted uint64 // tasks so far

	starter chan struct{} // of the task that started the last one, its done channel; nil: none
	row     int           // how many it has started since another one did
}

// NewExecutor returns an executor that is open.
func NewExecutor() *Executor {
	x := &Executor{door: make(chan entries, 1), ledger: make(chan uint64, 1)}
	x.door <- entries{}
	x.ledger <- 0
	return x
}

// Start implements [task.Executor].
func (x *Executor) Start(h, from *task.Handle) error {
	var starter chan struct{}
	if from != nil {
		starter = done(from)
	}
	e := <-x.door
	if e.closed {
		x.door <- e
		return task.ErrClosed
	}
	h.Room().Own = make(chan struct{})
	e.accepted++
	if e.starter != starter {
		e.starter, e.row = starter, 0
	}
	e.row++
	x.door <- e
	go x.run(h)
	if e.row%inARow == 0 {
		runtime.Gosched()
	}
	return nil
}

// run is the process of one task.
func (x *Executor) run(h *task.Handle) {
	if over(done(h)) {
		return // it was canceled before it began
	}
	s := task.Failed // what stands if the task does not return
	defer func() { x.end(h, s) }()
	s = h.Run()
}

// end makes h what s says, unless it is over, and reports whether it did.
func (x *Executor) end(h *task.Handle, s task.Status) bool {
	d := done(h)
	if over(d) {
		return false
	}
	n := <-x.ledger
	first := !over(d)
	if first {
		h.Room().ID = uint32(s)
		n++
		close(d) // while the ledger is in hand: who counts finds what it has counted
	}
	x.ledger <- n
	return first
}

// Status implements [task.Executor].
func (x *Executor) Status(h *task.Handle) task.Status {
	if over(done(h)) {
		return task.Status(h.Room().ID)
	}
	return task.Pending
}

// Wait implements [task.Executor].
func (x *Executor) Wait(ctx context.Context, h, _ *task.Handle) error {
	d := done(h)
	if over(d) {
		return nil // and the task's context need not be made
	}
	select {
	case <-d:
	case <-ctx.Done():
		if !over(d) { // a select takes any case that is ready
			return ctx.Err()
		}
	}
	return nil
}

// Done implements [task.Executor].
func (x *Executor) Done(h *task.Handle) <-chan struct{} { return done(h) }

// Cancel implements [task.Executor].
func (x *Executor) Cancel(h *task.Handle) bool { return x.end(h, task.Cancelled) }

// Yield implements [task.Executor]. It is a hint.
func (x *Executor) Yield(*task.Handle) { runtime.Gosched() }

// Flush implements [task.Executor]. There is nothing to do: tasks run by
// themselves.
func (x *Executor) Flush(int) int { return 0 }

// Pending implements [task.Executor].
func (x *Executor) Pending() int {
	e := <-x.door
	n := <-x.ledger // with both in hand no task comes in and none ends
	x.ledger <- n
	x.door <- e
	if invariants.Enabled && n > e.accepted {
		invariants.Violated("channel", "no more tasks are over than were accepted")
	}
	return int(e.accepted - n)
}

// Close implements [task.Executor].
func (x *Executor) Close() {
	e := <-x.door
	e.closed = true
	x.door <- e
}

// done is the channel that is closed when h is over.
func done(h *task.Handle) chan struct{} { return h.Room().Own.(chan struct{}) }

// over reports whether a task is over, of which d is the done channel.
func over(d chan struct{}) bool {
	select {
	case <-d:
		return true
	default:
		return false
	}
}
