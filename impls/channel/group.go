package channel

import (
	"context"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

// Group is a task group whose state travels through channels.
// Make one with [NewGroup].
type Group[T any] struct {
	cfg     group.Config
	outcome group.Outcome // but for its Context and Cancel it belongs to who has the state

	// turn, of capacity one, holds the state between calls. It hands everything
	// in it from one call to the next.
	turn chan *state[T]

	news  chan struct{} // capacity one; see the package comment
	slots chan struct{} // a token for each slot in use; nil without a limit
	shut  chan struct{} // closed by Close

	// offers hands a task from a call of Go that finds no slot to the goroutine
	// that comes to the end of its own, which accepts it, slot and all; nil without a limit
	offers chan group.TaskFunc[T]
}

// state is what a group knows. It belongs to the goroutine that received it.
type state[T any] struct {
	closed   bool
	inflight int // accepted and unfinished tasks
	results  queue.Ring[group.Result[T]]
	waiting  int   // consumers that wait for news
	idle     *idle // what calls of Wait wait for, nil if none does
}

// idle is one stretch of time with tasks in flight, as seen by those who wait
// for its end.
type idle struct {
	over chan struct{} // closed by the completion that leaves nothing in flight
	err  error         // what Wait returns; set before over is closed
}

// NewGroup returns an open group. A nil ctx means context.Background.
func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	g := &Group[T]{
		cfg:  group.Resolve(opts...),
		turn: make(chan *state[T], 1),
		news: make(chan struct{}, 1),
		shut: make(chan struct{}),
	}
	g.outcome = group.NewOutcome(ctx, g.cfg)
	if n := g.cfg.MaxConcurrency; n > 0 {
		g.slots, g.offers = make(chan struct{}, n), make(chan group.TaskFunc[T])
	}
	s := new(state[T])
	s.results.Reserve(g.cfg.ResultBuffer)
	g.turn <- s
	return g
}

// put sends the state back, after news if there is something for a consumer
// that waits.
func (g *Group[T]) put(s *state[T]) {
	g.check(s)
	if s.waiting > 0 && (s.results.Len() > 0 || g.outcome.Settled()) {
		select {
		case g.news <- struct{}{}:
		default: // there are news already
		}
	}
	g.turn <- s
}

// Go implements [group.Group].
func (g *Group[T]) Go(fn group.TaskFunc[T]) error {
	if fn == nil {
		return group.ErrNilTask
	}
	if g.slots != nil {
		select {
		case g.slots <- struct{}{}: // alone in a select with default it is cheap
		default:
			select {
			case g.slots <- struct{}{}:
			case g.offers <- fn:
				return nil
			case <-g.shut:
				return group.ErrGroupClosed
			}
		}
	}
	s := <-g.turn
	if s.closed {
		g.put(s)
		return group.ErrGroupClosed // with the slot, which no task will want
	}
	s.inflight++
	g.put(s)
	go g.work(fn)
	return nil
}

// Close implements [group.Group].
func (g *Group[T]) Close() {
	s := <-g.turn
	if !s.closed {
		s.closed = true
		close(g.shut)
		g.settle(s)
	}
	g.put(s)
}

// Next implements [group.Group].
func (g *Group[T]) Next(ctx context.Context) (group.Result[T], bool, error) {
	done, err := group.Ending(ctx)
	s := <-g.turn
	for s.results.Len() == 0 && !g.outcome.Settled() {
		if err != nil {
			g.put(s)
			return group.Result[T]{}, false, err
		}
		s.waiting++
		g.put(s)
		invariants.Window() // the news may be there, and taken by another one, before it waits for them
		select {
		case <-g.news:
		case <-done:
			err = ctx.Err() // the next turn of the loop looks for a result first
		}
		s = <-g.turn
		s.waiting--
	}
	var r group.Result[T]
	ok := s.results.Len() > 0
	if ok {
		r = s.results.Pop()
	}
	g.put(s)
	return r, ok, nil
}

// Wait implements [group.Group].
func (g *Group[T]) Wait() error {
	s := <-g.turn
	if s.inflight == 0 {
		err := g.outcome.Err()
		g.put(s)
		return err
	}
	if s.idle == nil {
		s.idle = &idle{over: make(chan struct{})}
	}
	i := s.idle
	g.put(s)
	<-i.over
	return i.err
}

// Cancel implements [group.Group].
func (g *Group[T]) Cancel(cause error) { g.outcome.Cancel(cause) }

// work runs fn and then every task that a completion accepts in its place.
func (g *Group[T]) work(fn group.TaskFunc[T]) {
	returned := false
	defer func() {
		if returned {
			return
		}
		// The task called Goexit (or panics in a group that lets panics
		// through: then the process ends as soon as this function returns).
		// This goroutine cannot go on, so another one runs what it accepts.
		if next := g.complete(group.Result[T]{Err: group.ErrGoexit}); next != nil {
			go g.work(next)
		}
	}()
	for fn != nil {
		fn = g.complete(group.Call(g.outcome.Context(), fn, g.cfg.PanicToError))
	}
	returned = true
}

// complete books the result of a task that is over. If a call of Go waits for
// the slot, complete accepts its task and returns it, for the caller to run.
func (g *Group[T]) complete(r group.Result[T]) (next group.TaskFunc[T]) {
	s := <-g.turn
	g.outcome.Complete(r.Err)
	s.results.Push(r)
	select {
	case next = <-g.offers: // accepted: none of a closed group waits there, for shut has released it
		g.put(s)
		return next
	default:
	}
	s.inflight--
	if s.inflight == 0 {
		g.settle(s)
		if s.idle != nil {
			s.idle.err = g.outcome.Err()
			close(s.idle.over)
			s.idle = nil
		}
	}
	g.put(s)
	if g.slots != nil {
		<-g.slots
	}
	return nil
}

// settle, if the group is closed and nothing is in flight, fixes what Wait
// answers and releases the context. The caller owns s.
func (g *Group[T]) settle(s *state[T]) {
	if s.closed && s.inflight == 0 {
		g.outcome.Settle()
	}
}

// check panics if an invariant of the package comment does not hold. The caller
// owns s. It costs nothing in builds without invariants.
func (g *Group[T]) check(s *state[T]) {
	if !invariants.Enabled {
		return
	}
	switch {
	case len(g.turn) > 0:
		invariants.Violated("channel", "the state exists once")
	case s.inflight < 0:
		invariants.Violated("channel", "inflight >= 0")
	case g.slots != nil && s.inflight > len(g.slots):
		invariants.Violated("channel", "every task in flight has a slot")
	case g.outcome.Settled() && (!s.closed || s.inflight > 0):
		invariants.Violated("channel", "settled implies closed and nothing in flight")
	}
}
