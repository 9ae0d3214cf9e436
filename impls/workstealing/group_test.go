package workstealing_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls/workstealing"
)

// Wait compares two counters that cannot be read at once. Read in the wrong
// order, a task that is accepted and completes between the two reads stands in
// for one that is still running.
func TestWaitCountsNoTaskForAnother(t *testing.T) {
	const tasks = 50
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	ctx := context.Background()
	quick := func(context.Context) (int, error) { return 0, nil }
	for range rounds {
		g := workstealing.NewGroup[int](ctx)
		gate := make(chan struct{})
		if err := g.Go(func(context.Context) (int, error) { <-gate; return 1, nil }); err != nil {
			t.Fatal(err)
		}
		var returned atomic.Bool
		waited := make(chan struct{})
		go func() {
			defer close(waited)
			if err := g.Wait(); err != nil {
				t.Error(err)
			}
			returned.Store(true)
		}()
		// Each of these waits for its task's result, and a consumer that waits
		// makes every completion look at the counters. Between them the number
		// of tasks in flight goes up and down by one.
		var pairs sync.WaitGroup
		for range 3 {
			pairs.Go(func() {
				for range tasks {
					if err := g.Go(quick); err != nil {
						t.Error(err)
					}
					if _, ok, err := g.Next(ctx); !ok || err != nil {
						t.Error("no result")
					}
				}
			})
		}
		pairs.Wait()
		if returned.Load() {
			t.Fatal("Wait returned while a task was running")
		}
		close(gate)
		<-waited
		g.Close()
		for range group.Results[int](ctx, g) {
		}
	}
}

// A worker that has a long bulk looks elsewhere now and then.
func TestBulkKeepsNoNeighbourWaiting(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const tasks = 10_000
	ctx := context.Background()
	g, other := workstealing.NewGroup[int](ctx), workstealing.NewGroup[int](ctx)
	var begun, before atomic.Int32
	n, err := group.GoAll(g, make([]int, tasks), func(context.Context, int) (int, error) {
		if begun.Add(1) == 1 {
			return 0, other.Go(func(context.Context) (int, error) {
				before.Store(begun.Load())
				return 0, nil
			})
		}
		return 0, nil
	})
	if n != tasks || err != nil {
		t.Fatalf("GoAll returned %d, %v", n, err)
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := before.Load(); n > 200 {
		t.Errorf("the task of another group began after %d of %d of the bulk", n, tasks)
	}
}
