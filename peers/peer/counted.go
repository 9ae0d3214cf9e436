package peer

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/group"
)

// Counted are tasks of something that runs functions and knows nothing of groups: what a
// program writes around it is a WaitGroup, the first error, and a context.
type Counted struct {
	ctx    context.Context
	cancel context.CancelCauseFunc // of ctx, by the first error; nil: errors cancel nothing
	start  func(f func())
	end    func()

	wg    sync.WaitGroup
	once  sync.Once // the first task that fails writes first; Wait reads it after all are done
	first error
}

// NewCounted returns a group whose tasks start has run, each on a goroutine of its choice, which
// calls end after the task; nil is nothing.
func NewCounted(ctx context.Context, cfg group.Config, start func(f func()), end func()) *Counted {
	t := &Counted{ctx: ctx, start: start, end: end}
	if cfg.FailFast {
		t.ctx, t.cancel = context.WithCancelCause(ctx)
	}
	return t
}

// Go implements [Tasks].
func (t *Counted) Go(fn group.TaskFunc[int], results chan<- group.Result[int]) {
	t.wg.Add(1)
	t.start(func() {
		defer t.wg.Done()
		if t.end != nil {
			defer t.end()
		}
		if err := Run(t.ctx, fn, results); err != nil {
			t.once.Do(func() {
				t.first = err
				if t.cancel != nil {
					t.cancel(err)
				}
			})
		}
	})
}

// Wait implements [Tasks].
func (t *Counted) Wait() error {
	t.wg.Wait()
	if t.cancel != nil {
		t.cancel(nil)
	}
	return t.first
}
