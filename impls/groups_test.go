package impls_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls"
)

// caller is a context of a type that package context does not know, which does something
// whenever it is asked.
type caller struct {
	context.Context
	call func()
}

func (c caller) Done() <-chan struct{} { c.call(); return c.Context.Done() }
func (c caller) Err() error            { c.call(); return c.Context.Err() }
func (c caller) Value(key any) any     { c.call(); return c.Context.Value(key) }

// A context may use the group that asks it: no lock is held meanwhile. The test hangs if
// one is.
func TestContextsUseTheGroup(t *testing.T) {
	errTask := errors.New("the task's")
	for _, impl := range impls.All() {
		if impl.NewGroup == nil {
			continue
		}
		t.Run(impl.Name, func(t *testing.T) {
			var g group.Group[int]
			var ready, busy atomic.Bool // a task asks, and the test
			use := func() {
				if ready.Load() && busy.CompareAndSwap(false, true) {
					g.Close()
					busy.Store(false)
				}
			}
			parent, cancel := context.WithCancel(t.Context())
			defer cancel()
			ctx := caller{parent, use}
			g = impl.NewGroup(ctx, group.WithFailFast(true))
			if err := g.Go(func(context.Context) (int, error) { return 0, errTask }); err != nil {
				t.Fatal(err)
			}
			ready.Store(true)
			if _, ok, err := g.Next(ctx); !ok || err != nil { // closes the group as well
				t.Errorf("Next said %v, %v", ok, err)
			}
			if _, ok, err := g.Next(ctx); ok || err != nil {
				t.Errorf("Next after the end said %v, %v", ok, err)
			}
			if err := g.Wait(); !errors.Is(err, errTask) {
				t.Errorf("Wait said %v", err)
			}
			g = impl.NewGroup(context.Background())
			cancel()
			if _, ok, err := g.Next(ctx); ok || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Next with a context that has ended said %v, %v", ok, err)
			}
		})
	}
}
