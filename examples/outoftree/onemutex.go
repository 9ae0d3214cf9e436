// Package onemutex is an implementation that lives outside dyno's module: one
// mutex, and a goroutine for each task and each turn of an actor.
//
// The group is the shortest one that keeps the contract. A waiter looks at
// the state, and looks again each time anything has changed; there is no
// list of who waits for what. It pays for that when many wait: each change
// wakes all of them.
//
// The [Dispatcher] runs actors. A mailbox ([Latest]) and an invoker ([Retrier])
// of the module's own go with it, or with any other dispatcher.
package onemutex

import (
	"context"
	"sync"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
)

// Impl is what dyno's suite and workloads take.
var Impl = dyno.Impl{
	Name:     "onemutex",
	Idea:     "one mutex, and a goroutine for each task and each turn",
	Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Parks: true},
	NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] { return NewGroup[int](ctx, opts...) },

	NewDispatcher: func() actor.Dispatcher { return NewDispatcher() },
}

// Group implements [group.Group]. Make one with [NewGroup].
type Group[T any] struct {
	cfg group.Config

	mu       sync.Mutex    // guards what follows
	changed  chan struct{} // closed at the next change; nil while there are no waiters
	closed   bool
	inflight int // accepted and unfinished tasks
	results  []group.Result[T]
	outcome  group.Outcome // its Context and Cancel need no lock
	idles    int           // how often inflight has fallen to zero
	verdict  error         // what Wait answers, since it last did
}

// NewGroup returns an open group. A nil ctx means context.Background.
func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	g := &Group[T]{cfg: group.Resolve(opts...)}
	g.outcome = group.NewOutcome(ctx, g.cfg)
	g.results = make([]group.Result[T], 0, g.cfg.ResultBuffer)
	return g
}

// Go implements [group.Group].
func (g *Group[T]) Go(fn group.TaskFunc[T]) error {
	if fn == nil {
		return group.ErrNilTask
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.closed && g.cfg.MaxConcurrency > 0 && g.inflight >= g.cfg.MaxConcurrency {
		g.await(nil)
	}
	if g.closed {
		return group.ErrGroupClosed
	}
	g.inflight++
	go g.run(fn)
	return nil
}

// Close implements [group.Group].
func (g *Group[T]) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed = true
	if g.inflight == 0 {
		g.rest()
	}
	g.broadcast()
}

// Next implements [group.Group].
func (g *Group[T]) Next(ctx context.Context) (r group.Result[T], ok bool, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		switch {
		case len(g.results) > 0:
			r, g.results[0] = g.results[0], r // the queue must not keep it alive
			g.results = g.results[1:]
			return r, true, nil
		case g.closed && g.inflight == 0:
			return r, false, nil
		case ctx.Err() != nil:
			return r, false, ctx.Err()
		}
		g.await(ctx.Done())
	}
}

// Wait implements [group.Group].
func (g *Group[T]) Wait() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inflight == 0 && !g.closed {
		g.rest() // the context may have ended since the last task did
	}
	for idles := g.idles; g.inflight > 0 && g.idles == idles; {
		g.await(nil)
	}
	return g.verdict
}

// Cancel implements [group.Group].
func (g *Group[T]) Cancel(cause error) { g.outcome.Cancel(cause) }

func (g *Group[T]) run(fn group.TaskFunc[T]) {
	r := group.Result[T]{Err: group.ErrGoexit} // unless fn returns or panics
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.outcome.Complete(r.Err)
		g.results = append(g.results, r)
		if g.inflight--; g.inflight == 0 {
			g.idles++
			g.rest()
		}
		g.broadcast()
	}()
	r = group.Call(g.outcome.Context(), fn, g.cfg.PanicToError)
}

// rest fixes what Wait answers and, if the group is over, releases its context.
// It is called when no task is in flight.
func (g *Group[T]) rest() {
	if g.closed {
		g.outcome.Settle()
	}
	g.verdict = g.outcome.Err()
}

// await gives up the mutex until there is a change or done is closed.
func (g *Group[T]) await(done <-chan struct{}) {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	changed := g.changed
	g.mu.Unlock()
	select {
	case <-changed:
	case <-done:
	}
	g.mu.Lock()
}

func (g *Group[T]) broadcast() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
