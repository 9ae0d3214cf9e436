// Package mine is a task group that is there to be copied: one lock, one condition, a
// goroutine for each task. It is the shortest one that keeps the contract: there is no list
// of who waits for what. It pays for that when many wait, since each change wakes all of them.
package mine

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/group"
)

type Group[T any] struct {
	cfg     group.Config
	changed *sync.Cond      // of the ledger; its lock guards it
	ledger  group.Ledger[T] // tasks in flight, results, the first error
}

func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	cfg := group.Resolve(opts...)
	return &Group[T]{cfg: cfg, changed: sync.NewCond(new(sync.Mutex)), ledger: group.NewLedger[T](ctx, cfg)}
}

func (g *Group[T]) Go(fn group.TaskFunc[T]) (err error) {
	if fn == nil {
		return group.ErrNilTask
	}
	g.when(func() bool { return !g.ledger.Full() }, func() {
		if err = g.ledger.Accept(); err == nil {
			go g.run(fn)
		}
	})
	return err
}

func (g *Group[T]) run(fn group.TaskFunc[T]) {
	r := group.Result[T]{Err: group.ErrGoexit} // unless fn returns or panics
	defer g.when(nil, func() { g.ledger.Finish(r) })
	r = group.Call(g.ledger.Context(), fn, g.cfg.PanicToError)
}

func (g *Group[T]) Next(ctx context.Context) (r group.Result[T], ok bool, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	defer context.AfterFunc(ctx, func() { g.when(nil, func() {}) })()
	g.when(func() bool { return g.ledger.Ready() || ctx.Err() != nil }, func() {
		if r, ok = g.ledger.Take(); !ok && !g.ledger.Ready() {
			err = ctx.Err()
		}
	})
	return r, ok, err
}

func (g *Group[T]) Wait() (err error) {
	g.when(g.ledger.Idle, func() { err = g.ledger.Err() })
	return err
}

func (g *Group[T]) Close() { g.when(nil, g.ledger.Close) }

func (g *Group[T]) Cancel(cause error) { g.ledger.Cancel(cause) }

// when waits until ready says so, if there is one, then acts, and wakes all that wait.
func (g *Group[T]) when(ready func() bool, act func()) {
	g.changed.L.Lock()
	defer g.changed.L.Unlock()
	for ready != nil && !ready() {
		g.changed.Wait()
	}
	act()
	g.changed.Broadcast()
}
