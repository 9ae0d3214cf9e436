package lockbased

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

func newSystem(t *testing.T, workers, most int) *actortest.System {
	t.Helper()
	return actortest.New(actor.Config{Dispatcher: newDispatcher(workers, most)}, func(err error) { t.Error(err) })
}

// TestBlockedHandlers: handlers that block, in whatever way and more of them
// than there are workers, do not stop other actors; and when they are done the
// workers that stood in for them end.
func TestBlockedHandlers(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := newSystem(t, workers, 100)
			gate := make(chan struct{})
			mu := make(chan struct{}, 1)
			handled := make(chan int, 1000)
			full := actortest.Func(func(*actor.Context, any) error { <-gate; return nil })
			full.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 1}
			bottleneck := s.Spawn(full)
			for range 2 {
				s.Send(bottleneck, 0) // one being handled, one waiting
				synctest.Wait()
			}
			for i := range 20 {
				r := s.Spawn(actortest.Func(func(ctx *actor.Context, _ any) error {
					other, err := ctx.Spawn(actortest.Func(func(_ *actor.Context, msg any) error {
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
				s.Send(r, 0)
			}
			seen := map[int]bool{}
			for range 20 {
				seen[<-handled] = true
			}
			if len(seen) != 20 {
				t.Errorf("%d of 20 actors were run while others blocked", len(seen))
			}
			synctest.Wait()
			if st := s.Stats(); st.Workers < 14 || int64(st.Wakes) < 14 {
				t.Errorf("%d workers are counted while 14 handlers block, and %d have been started or woken", st.Workers, st.Wakes)
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

// Actors that become ready more often than the dispatcher looks do not put off the look.
func TestLookIsNotPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 1, 100)
		gate := make(chan struct{})
		handled := 0
		blocks := s.Spawn(actortest.Func(func(*actor.Context, any) error { <-gate; return nil }))
		var others []actor.Ref
		for range 10 {
			others = append(others, s.Spawn(actortest.Func(func(*actor.Context, any) error { handled++; return nil })))
		}
		synctest.Wait()
		s.Send(blocks, 0)
		for _, r := range others {
			synctest.Wait()
			s.Send(r, 0)
			time.Sleep(period / 2)
		}
		synctest.Wait()
		if handled < 5 {
			t.Errorf("%d messages were handled in five periods behind a handler that blocks, want that a look finds it", handled)
		}
		close(gate)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// An actor that has had very many messages waiting keeps no memory for them.
func TestIdleMailboxGivesMemoryBack(t *testing.T) {
	const n = 1 << 18 // 4 MiB
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // a pool keeps what it has for one collection
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	s := newSystem(t, 1, 1)
	gate, done := make(chan struct{}), make(chan struct{})
	handled := 0
	r := s.Spawn(actortest.Func(func(*actor.Context, any) error {
		if handled++; handled == 1 {
			<-gate
		}
		if handled == n {
			close(done)
		}
		return nil
	}))
	before := inUse()
	for range n {
		s.Send(r, nil)
	}
	close(gate)
	<-done
	s.In(s.UserGuardian(), func(*actor.Context) {}) // the only worker has ended that turn
	if after := inUse(); after > before+n {
		t.Errorf("an idle actor keeps %d bytes of its flood", after-before)
	}
	runtime.KeepAlive(r)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// The most workers are a bound also when all are blocked.
func TestMaxWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 2, 5)
		gate := make(chan struct{})
		var running, most atomic.Int32
		for range 20 {
			r := s.Spawn(actortest.Func(func(*actor.Context, any) error {
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				<-gate
				running.Add(-1)
				return nil
			}))
			go func() { s.Send(r, 0) }()
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

// One message that comes at the end of a turn keeps the actor ready.
func TestMessageAtTheEndOfATurn(t *testing.T) {
	b := newBox(newDispatcher(1, 1), actor.MailboxConfig{})
	b.phase, b.in = scheduled, []any{"late"}
	if !b.rest(actor.Continue) {
		t.Error("the actor sleeps, and a message waits")
	}
}

// A worker that has waited in a turn counts as one that runs.
func TestWaitIsUndone(t *testing.T) {
	w := &worker{d: newDispatcher(1, 1)}
	for range 2 {
		w.pause()
		if n := w.d.blocked; n != 1 {
			t.Errorf("%d workers are blocked while one waits", n)
		}
		w.resume()
		if n := w.d.blocked; n != 0 {
			t.Errorf("%d workers are blocked when none waits", n)
		}
	}
}

// A worker that looks for an actor is not stuck, also if it is the last one that was taken for it.
func TestStuckWorkerComesBack(t *testing.T) {
	d := newDispatcher(1, 1)
	d.workers, d.stuck, d.stopping = 1, 1, true
	d.mu.Lock()
	if b := d.take(&worker{d: d}); b != nil || d.stuck != 0 {
		t.Errorf("%v is taken and %d workers count as stuck, want none", b, d.stuck)
	}
}

// A handler that ends its goroutine takes no worker with it.
func TestGoexitKeepsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 1, 1)
		for range 10 {
			r := s.Spawn(actortest.Func(func(*actor.Context, any) error { runtime.Goexit(); return nil }))
			s.Send(r, 0)
			synctest.Wait()
		}
		s.In(s.UserGuardian(), func(*actor.Context) {})
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
		s := newSystem(t, 4, 100)
		done := make(chan struct{})
		var refs [2]actor.Ref
		for i := range refs {
			refs[i] = s.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
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
		s.Send(refs[0], &n)
		<-done
		if woken := s.Stats().Wakes - before.Wakes; woken != 1 {
			t.Errorf("10,000 hops woke workers %d times, want once, to begin with", woken)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
