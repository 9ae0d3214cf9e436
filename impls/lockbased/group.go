package lockbased

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

// Group is a task group whose whole state is behind one mutex.
// Make one with [NewGroup].
type Group[T any] struct {
	cfg group.Config

	// mu guards everything below. It hands a task's result from the goroutine
	// that ran it to the consumer, and a slot from a completion to a submission.
	mu       sync.Mutex
	closed   bool
	inflight int           // accepted and unfinished tasks
	outcome  group.Outcome // its Context and Cancel need no lock

	results   queue.Ring[group.Result[T]] // in completion order
	blocked   queue.Ring[*submission[T]]  // calls of Go that wait for a slot
	consumers queue.List[consumer[T]]     // calls of Next that wait for a result
	idle      *idle                       // what calls of Wait wait for, nil if none does

	// One of each kind of waiter for the next call that has to wait, to save
	// allocating one: mostly a single goroutine submits, and a single one drains.
	spareSubmission *submission[T]
	spareConsumer   *queue.Node[consumer[T]]
}

// submission is a call of Go that waits for a slot.
type submission[T any] struct {
	fn    group.TaskFunc[T]
	ready chan error // capacity 1; receives what Go returns
}

// consumer is a call of Next that waits for a result.
type consumer[T any] struct {
	ready chan struct{} // capacity 1; a token means the answer is there

	// Written under the group's mutex by the goroutine that answers; read after receiving
	// from ready or, by a caller that gives up, under the mutex.
	answered bool
	res      group.Result[T]
	ok       bool
}

// answer ends the wait of c, which has been taken out of the queue. The
// group's mutex is held.
func (c *consumer[T]) answer(r group.Result[T], ok bool) {
	c.res, c.ok, c.answered = r, ok, true
	c.ready <- struct{}{}
}

// idle is one stretch of time with tasks in flight, as seen by those who wait
// for its end.
type idle struct {
	over chan struct{} // closed by the completion that leaves nothing in flight
	err  error         // what Wait returns; set before over is closed
}

// NewGroup returns an open group. A nil ctx means context.Background.
func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	g := &Group[T]{cfg: group.Resolve(opts...)}
	g.outcome = group.NewOutcome(ctx, g.cfg)
	g.results.Reserve(g.cfg.ResultBuffer)
	return g
}

// Go implements [group.Group].
func (g *Group[T]) Go(fn group.TaskFunc[T]) error {
	if fn == nil {
		return group.ErrNilTask
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return group.ErrGroupClosed
	}
	if g.cfg.MaxConcurrency > 0 && g.inflight >= g.cfg.MaxConcurrency {
		s := g.spareSubmission
		g.spareSubmission = nil
		if s == nil {
			s = &submission[T]{ready: make(chan error, 1)}
		}
		s.fn = fn
		g.blocked.Push(s)
		g.mu.Unlock()
		err := <-s.ready
		s.fn = nil
		g.mu.Lock()
		g.spareSubmission = s
		g.mu.Unlock()
		return err
	}
	g.inflight++
	g.check()
	g.mu.Unlock()
	go g.work(fn)
	return nil
}

// Close implements [group.Group].
func (g *Group[T]) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for g.blocked.Len() > 0 {
		g.blocked.Pop().ready <- group.ErrGroupClosed
	}
	if g.inflight == 0 {
		g.settle()
	}
	g.check()
}

// Next implements [group.Group].
func (g *Group[T]) Next(ctx context.Context) (group.Result[T], bool, error) {
	done, err := group.Ending(ctx)
	g.mu.Lock()
	if g.results.Len() > 0 {
		r := g.results.Pop()
		g.mu.Unlock()
		return r, true, nil
	}
	if g.outcome.Settled() {
		g.mu.Unlock()
		return group.Result[T]{}, false, nil
	}
	if err != nil {
		g.mu.Unlock()
		return group.Result[T]{}, false, err
	}
	n := g.spareConsumer
	g.spareConsumer = nil
	if n == nil {
		n = &queue.Node[consumer[T]]{Value: consumer[T]{ready: make(chan struct{}, 1)}}
	}
	c := &n.Value
	g.consumers.Push(n)
	g.check()
	g.mu.Unlock()
	select {
	case <-c.ready:
		g.mu.Lock()
	case <-done:
		g.mu.Lock()
		if !c.answered {
			g.consumers.Remove(n)
			g.mu.Unlock()
			return group.Result[T]{}, false, ctx.Err()
		}
		<-c.ready // it was answered first
	}
	r, ok := c.res, c.ok
	c.res, c.answered = group.Result[T]{}, false
	g.spareConsumer = n
	g.mu.Unlock()
	return r, ok, nil
}

// Wait implements [group.Group].
func (g *Group[T]) Wait() error {
	g.mu.Lock()
	if g.inflight == 0 {
		err := g.outcome.Err()
		g.mu.Unlock()
		return err
	}
	if g.idle == nil {
		g.idle = &idle{over: make(chan struct{})}
	}
	i := g.idle
	g.mu.Unlock()
	<-i.over
	return i.err
}

// Cancel implements [group.Group].
func (g *Group[T]) Cancel(cause error) { g.outcome.Cancel(cause) }

// work runs fn and then every submission that a completion hands it.
func (g *Group[T]) work(fn group.TaskFunc[T]) {
	returned := false
	defer func() {
		if returned {
			return
		}
		// The task called Goexit (or panics in a group that lets panics
		// through: then the process ends as soon as this function returns).
		// This goroutine cannot go on, so another one takes the slot's next task.
		if next := g.complete(group.Result[T]{Err: group.ErrGoexit}); next != nil {
			go g.work(next)
		}
	}()
	for fn != nil {
		fn = g.complete(group.Call(g.outcome.Context(), fn, g.cfg.PanicToError))
	}
	returned = true
}

// complete books the result of a task that is over. If a submission waits for
// the slot, complete accepts it and returns its task, for the caller to run.
func (g *Group[T]) complete(r group.Result[T]) (next group.TaskFunc[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcome.Complete(r.Err)
	if !g.consumers.Empty() {
		g.consumers.Pop().Value.answer(r, true)
	} else {
		g.results.Push(r)
	}
	if g.blocked.Len() > 0 {
		s := g.blocked.Pop()
		next = s.fn // before the answer: then s is its owner's again
		s.ready <- nil
		g.check()
		return next
	}
	g.inflight--
	if g.inflight == 0 {
		if g.closed {
			g.settle()
		}
		if g.idle != nil {
			g.idle.err = g.outcome.Err()
			close(g.idle.over)
			g.idle = nil
		}
	}
	g.check()
	return nil
}

// settle fixes what Wait answers, releases the context and the consumers that
// no result will reach any more. mu is held, the group closed and idle.
func (g *Group[T]) settle() {
	g.outcome.Settle()
	for !g.consumers.Empty() {
		g.consumers.Pop().Value.answer(group.Result[T]{}, false)
	}
}

// check panics if an invariant of the package comment does not hold. mu is
// held. It costs nothing in builds without invariants.
func (g *Group[T]) check() {
	if !invariants.Enabled {
		return
	}
	limit := g.cfg.MaxConcurrency
	switch {
	case g.inflight < 0:
		invariants.Violated("lockbased", "inflight >= 0")
	case limit > 0 && g.inflight > limit:
		invariants.Violated("lockbased", "inflight <= MaxConcurrency")
	case g.blocked.Len() > 0 && (g.closed || limit == 0 || g.inflight < limit):
		invariants.Violated("lockbased", "a submission waits only if the group is open and full")
	case !g.consumers.Empty() && (g.results.Len() > 0 || g.outcome.Settled()):
		invariants.Violated("lockbased", "a consumer waits only if there is neither result nor end")
	case g.idle != nil && g.inflight == 0:
		invariants.Violated("lockbased", "a Wait waits only if a task is in flight")
	case g.outcome.Settled() && (!g.closed || g.inflight > 0):
		invariants.Violated("lockbased", "settled implies closed and nothing in flight")
	}
}
