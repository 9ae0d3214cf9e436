package lockbased_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
)

// newSystem makes a system whose guardian runs the functions it is told.
func newSystem(t *testing.T, c lockbased.DispatcherConfig) *actor.System {
	t.Helper()
	s, err := actor.NewSystem(actor.Config{
		Dispatcher: lockbased.NewDispatcherWith(c),
		Guardian: props(func(ctx *actor.Context, msg any) error {
			msg.(func(*actor.Context))(ctx)
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func props(f actor.ReceiveFunc) actor.Props {
	return actor.Props{New: func() actor.Actor { return f }}
}

func do(t *testing.T, s *actor.System, f func(ctx *actor.Context)) {
	t.Helper()
	done := make(chan struct{})
	tell(t, s.UserGuardian(), func(ctx *actor.Context) {
		defer close(done)
		f(ctx)
	})
	<-done
}

func tell(t *testing.T, r actor.Ref, msg any) {
	t.Helper()
	if err := r.Tell(msg); err != nil {
		t.Error(err)
	}
}

func spawn(t *testing.T, s *actor.System, p actor.Props) (r actor.Ref) {
	t.Helper()
	do(t, s, func(ctx *actor.Context) {
		var err error
		if r, err = ctx.Spawn(p); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestBlockedHandlers: handlers that block, in whatever way and more of them
// than there are workers, do not stop other actors; and when they are done the
// workers that stood in for them end.
func TestBlockedHandlers(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := newSystem(t, lockbased.DispatcherConfig{Workers: workers})
			gate := make(chan struct{})
			mu := make(chan struct{}, 1)
			handled := make(chan int, 1000)
			full := props(func(*actor.Context, any) error { <-gate; return nil })
			full.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1}
			bottleneck := spawn(t, s, full)
			for range 2 {
				tell(t, bottleneck, 0) // one being handled, one waiting
				synctest.Wait()
			}
			for i := range 20 {
				r := spawn(t, s, props(func(ctx *actor.Context, _ any) error {
					other, err := ctx.Spawn(props(func(_ *actor.Context, msg any) error {
						handled <- msg.(int)
						return nil
					}))
					if err != nil {
						return err
					}
					// This one now waits in the queue that the blocked worker was
					// going to take it from.
					if err := ctx.Tell(other, i); err != nil {
						return err
					}
					switch i % 3 {
					case 0:
						<-gate
					case 1:
						mu <- struct{}{}
						<-gate
						<-mu
					case 2:
						return ctx.Tell(bottleneck, i)
					}
					return nil
				}))
				tell(t, r, 0)
			}
			seen := map[int]bool{}
			for range 20 {
				seen[<-handled] = true
			}
			if len(seen) != 20 {
				t.Errorf("%d of 20 actors were run while others blocked", len(seen))
			}
			synctest.Wait()
			if st := s.Stats(); st.Workers < 14 {
				t.Errorf("%d workers are counted while 14 handlers block", st.Workers)
			}
			close(gate)
			time.Sleep(time.Second)
			synctest.Wait()
			if st := s.Stats(); st.Workers > workers+1 {
				t.Errorf("%d workers are left when nothing blocks, want at most %d", st.Workers, workers+1)
			}
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// MaxWorkers is a bound also when all are blocked.
func TestMaxWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, lockbased.DispatcherConfig{Workers: 2, MaxWorkers: 5})
		gate := make(chan struct{})
		var running, most atomic.Int32
		for range 20 {
			r := spawn(t, s, props(func(*actor.Context, any) error {
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				<-gate
				running.Add(-1)
				return nil
			}))
			go func() { tell(t, r, 0) }()
			synctest.Wait()
			if running.Load() == 5 {
				break // the guardian would wait as well
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := running.Load(); n != 5 {
			t.Errorf("%d handlers are running, want the 5 workers allowed", n)
		}
		close(gate)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if n := most.Load(); n > 5 {
			t.Errorf("%d handlers ran at once, want at most 5", n)
		}
	})
}

// A handler that ends its goroutine takes no worker with it.
func TestGoexitKeepsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, lockbased.DispatcherConfig{Workers: 1, MaxWorkers: 1})
		for range 10 {
			r := spawn(t, s, props(func(*actor.Context, any) error { runtime.Goexit(); return nil }))
			tell(t, r, 0)
			synctest.Wait()
		}
		do(t, s, func(*actor.Context) {})
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if st := s.Stats(); st.Failures != 10 || st.Workers != 0 {
			t.Errorf("%+v, want 10 failures and no worker", st)
		}
	})
}

// A message from one actor to another wakes no worker. In a bubble no worker stands still for
// a period, for which another one would be woken.
func TestHopsWakeNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, lockbased.DispatcherConfig{Workers: 4})
		done := make(chan struct{})
		var refs [2]actor.Ref
		for i := range refs {
			refs[i] = spawn(t, s, props(func(ctx *actor.Context, msg any) error {
				n := msg.(*int)
				if *n--; *n == 0 {
					close(done)
					return nil
				}
				return ctx.Tell(refs[1-i], n)
			}))
		}
		synctest.Wait()
		before := s.Stats()
		n := 10_000
		tell(t, refs[0], &n)
		<-done
		if woken := s.Stats().Wakes - before.Wakes; woken != 1 {
			t.Errorf("10,000 hops woke workers %d times, want once, to begin with", woken)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestNegativeWorkers(t *testing.T) {
	for _, c := range []lockbased.DispatcherConfig{{Workers: -1}, {MaxWorkers: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewDispatcherWith(%+v) did not panic", c)
				}
			}()
			lockbased.NewDispatcherWith(c)
		}()
	}
}
