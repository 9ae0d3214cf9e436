package workstealing

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// Actors start futures that use groups, and tell each other what these have found:
// all on the workers of one pool, some of which block. Nothing is lost, each face
// counts its own, and in the end nothing is left.
func TestOnePoolRunsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const actors, rounds, tasks = 20, 10, 5
		p, err := NewPool(Config{KeepAlive: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		x := NewExecutorOn(p)
		sum := func(ctx context.Context, n int) (int, error) {
			g := NewGroupOn[int](p, ctx)
			for i := range tasks {
				if err := g.Go(func(ctx context.Context) (int, error) {
					if i == 0 && n%3 == 0 {
						time.Sleep(time.Second)
					}
					return n, nil
				}); err != nil {
					return 0, err
				}
			}
			g.Close()
			half := task.ForkCall(ctx, func(_ context.Context, n int) (int, error) { return n, nil }, n)
			total := 0
			for r := range group.Results[int](ctx, g) {
				total += r.Value
			}
			v, err := half.Value(ctx)
			return total + v, err
		}
		var systems [2]*actor.System
		var total atomic.Int64
		for i := range systems {
			var refs [actors]actor.Ref
			systems[i] = system(t, actor.Config{Dispatcher: NewDispatcherOn(p)}, func(ctx *actor.Context) {
				for i := range refs {
					refs[i] = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, m any) error {
						n := m.(int)
						v, err := task.Call(x, sum, n).Value(context.Background())
						total.Add(int64(v))
						if n > 0 {
							return ctx.Tell(refs[(i+n)%actors], n-1)
						}
						return err
					}))
				}
				for _, r := range refs {
					if err := ctx.Tell(r, rounds); err != nil {
						t.Error(err)
					}
				}
			})
		}
		time.Sleep(time.Hour)
		if got, want := total.Load(), int64(2*actors*(tasks+1)*rounds*(rounds+1)/2); got != want {
			t.Errorf("the sum is %d, want %d", got, want)
		}
		for _, s := range systems {
			if got := s.Stats().Messages; got != actors*(rounds+1)+1 {
				t.Errorf("a system has handled %d messages, want %d", got, actors*(rounds+1)+1)
			}
			shutdown(t, s)
		}
		quiet(t, x)
		time.Sleep(time.Hour)
		if n := p.slots(); n > runtime.GOMAXPROCS(0) {
			t.Errorf("%d workers are kept after KeepAlive", n)
		}
	})
}

// A system that is done has no workers, though those of its pool work for another.
func TestWorkersOfOnePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewPool(Config{KeepAlive: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		idle := system(t, actor.Config{Dispatcher: NewDispatcherOn(p)}, func(*actor.Context) {})
		busy := system(t, actor.Config{Dispatcher: NewDispatcherOn(p)}, func(ctx *actor.Context) {
			sleeper := spawn(t, ctx, actortest.Func(func(*actor.Context, any) error {
				time.Sleep(time.Hour)
				return nil
			}))
			if err := ctx.Tell(sleeper, 0); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		shutdown(t, idle)
		if done, other := idle.Stats().Workers, busy.Stats().Workers; done != 0 || other == 0 {
			t.Errorf("the system that is done has %d workers and the other one %d, want 0 and some", done, other)
		}
		time.Sleep(time.Hour)
		shutdown(t, busy)
		time.Sleep(time.Hour)
	})
}

// A worker that always has something to do lets go of a system that has ended.
func TestBusyWorkerForgetsSystems(t *testing.T) {
	p, err := NewPool(Config{MaxWorkers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var freed, enough atomic.Bool
	x := NewExecutorOn(p)
	var again func(context.Context) error
	again = func(context.Context) error {
		if !enough.Load() {
			task.Start(x, again)
		}
		return nil
	}
	// Two, so that one is always ready and the worker never parks.
	task.Start(x, again)
	task.Start(x, again)
	func() {
		done := make(chan struct{})
		s := system(t, actor.Config{Dispatcher: NewDispatcherOn(p)}, func(ctx *actor.Context) {
			r := spawn(t, ctx, actortest.Func(func(_ *actor.Context, m any) error {
				if m == 999 {
					close(done)
				}
				return nil
			}))
			for i := range 1000 {
				if err := ctx.Tell(r, i); err != nil {
					t.Error(err)
				}
			}
		})
		<-done
		runtime.AddCleanup(s, func(struct{}) { freed.Store(true) }, struct{}{})
		shutdown(t, s)
	}()
	for range 50 {
		runtime.GC()
		if freed.Load() {
			break
		}
	}
	enough.Store(true)
	if !freed.Load() {
		t.Error("a worker that has not parked keeps a system alive that has ended")
	}
}
