package lockbased

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/group"
)

// What a call of Go or Next that waited leaves for the next one keeps neither task nor result alive.
func TestWaitersLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGroup[*int](t.Context(), group.WithMaxConcurrency(1))
		gate := make(chan *int)
		for range 2 {
			go func() {
				if err := g.Go(func(context.Context) (*int, error) { return <-gate, nil }); err != nil {
					t.Error(err)
				}
			}()
		}
		go func() {
			if r, ok, err := g.Next(t.Context()); r.Value == nil || !ok || err != nil {
				t.Errorf("Next: %v, %v, %v", r, ok, err)
			}
		}()
		synctest.Wait()
		gate <- new(int)
		gate <- new(int)
		synctest.Wait()
		if s := g.spareSubmission; s == nil || s.fn != nil {
			t.Errorf("%v is kept for the next Go, want one without a task", s)
		}
		if n := g.spareConsumer; n == nil || n.Value.res != (group.Result[*int]{}) || n.Value.answered {
			t.Errorf("%v is kept for the next Next, want one without a result", n)
		}
	})
}
