package actor_test

import (
	"context"
	"runtime"
	"testing"
	"time"
	"weak"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/patience"
)

// collected fails the test unless everything that ps point to is collected.
func collected(t *testing.T, gone map[string]func() bool) {
	t.Helper()
	// A timer that was stopped, or a buffer that a sync.Pool keeps for one more
	// cycle, may hold on for a moment.
	for range 200 {
		runtime.GC()
		left := 0
		for _, f := range gone {
			if !f() {
				left++
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	for name, f := range gone {
		if !f() {
			t.Errorf("%s is not collected", name)
		}
	}
}

func dead[T any](p *T) func() bool {
	w := weak.Make(p)
	return func() bool { return w.Value() == nil }
}

// state is that of an actor in TestNothingIsLeft: large enough that nothing
// else is allocated together with it.
type state struct {
	_ [1 << 12]byte
	n int
}

// TestNothingIsLeft: a system that has stopped leaves no goroutine and is
// collected, with its actors and their messages. Whoever keeps a Ref keeps an
// empty shell, and the system's hooks.
func TestNothingIsLeft(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		for _, keep := range []bool{false, true} {
			before := goleak.IgnoreCurrent()
			kept, gone := useAndStop(t, impl)
			patience.Until(t, func() error { return goleak.Find(before) })
			if keep {
				delete(gone, "the system")
			} else {
				kept = actor.Ref{}
			}
			collected(t, gone)
			runtime.KeepAlive(kept)
		}
	})
}

// useAndStop uses a system and shuts it down, and returns a Ref to one of its
// actors, and functions that report whether something of it is collected.
func useAndStop(t *testing.T, impl dyno.Impl) (kept actor.Ref, gone map[string]func() bool) {
	gone = map[string]func() bool{}
	refs := make(chan []actor.Ref, 1)
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: impl.NewDispatcher(),
		Guardian: props(func(ctx *actor.Context, msg any) error {
			var list []actor.Ref
			for i := range 20 {
				st := &state{}
				gone["the state of an actor"] = dead(st)
				p := props(func(ctx *actor.Context, _ any) error {
					ctx.Become(func(*actor.Context, any) error { st.n++; return nil })
					return nil
				})
				p.Mailbox.Policy = actor.Policy(i % 5)
				if i%5 > 0 {
					p.Mailbox.Capacity = 50
				}
				r, err := ctx.Spawn(p)
				must(t, err)
				list = append(list, r)
			}
			refs <- list
			return nil
		}),
	})
	must(t, err)
	gone["the system"] = dead(sys)
	drive := func() {
		if sys.Synchronous() {
			sys.RunUntilIdle()
		}
	}
	must(t, sys.UserGuardian().Tell(1))
	drive()
	list := <-refs
	for i, r := range list {
		for n := range 40 {
			m := &state{}
			if n == 39 {
				gone["a message"] = dead(m)
			}
			_ = r.Tell(m)
		}
		if i%2 == 0 {
			sys.Stop(r)
		}
	}
	drive()
	must(t, sys.Shutdown(context.Background()))
	return list[len(list)-1], gone
}
