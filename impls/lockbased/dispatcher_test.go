package lockbased

import (
	"context"
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
			d := newDispatcher(workers, 100)
			s := actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Error(err) })
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
			if n := d.now().blocked; n != 6 {
				t.Errorf("%d workers count as waiting for room, want 6", n)
			}
			close(gate)
			time.Sleep(time.Second)
			synctest.Wait()
			if n := d.now().blocked; n != 0 {
				t.Errorf("%d workers count as waiting for room in the end", n)
			}
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

// An actor that has had very many messages waiting, and as many again while it handled
// those, keeps no memory for them.
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
	begun, gate, done := make(chan int), make(chan int), make(chan int)
	handled := 0
	r := s.Spawn(actortest.Func(func(*actor.Context, any) error {
		if handled++; handled <= 2 { // the first, and the first of a flood
			begun <- handled
			<-gate
		}
		if handled == 1+2*n {
			close(done)
		}
		return nil
	}))
	before := inUse()
	s.Send(r, nil)
	for range 2 {
		<-begun
		for range n {
			s.Send(r, nil)
		}
		gate <- 0
	}
	<-done
	s.In(s.UserGuardian(), func(*actor.Context) {}) // the only worker has ended that turn
	if after := inUse(); after > before+n {
		t.Errorf("an idle actor keeps %d bytes of its floods", after-before)
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
	for _, cfg := range []actor.MailboxConfig{{}, {Policy: actor.Block, Capacity: 2}} {
		b := newBox(newDispatcher(1, 1), cfg)
		b.phase = phaseScheduled
		b.Send("late", nil)
		if !b.rest(actor.Continue) {
			t.Errorf("%+v: the actor sleeps, and a message waits", cfg)
		}
	}
}

// A handler that ends its goroutine takes no worker with it.
func TestGoexitKeepsWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(1, 1)
		s := actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Error(err) })
		for range 10 {
			r := s.Spawn(actortest.Func(func(*actor.Context, any) error { runtime.Goexit(); return nil }))
			s.Send(r, 0)
			synctest.Wait()
		}
		s.In(s.UserGuardian(), func(*actor.Context) {})
		synctest.Wait()
		d.mu.Lock()
		for w := range d.all {
			if w.box != nil {
				t.Error("a worker that sleeps keeps an actor")
			}
		}
		d.mu.Unlock()
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

// state is what a call finds in a dispatcher, or leaves. An idle worker in it is only a channel:
// that it is idle no more is all that is seen of it.
type state struct {
	ready, idle, workers, blocked, stuck int
	taken, parks                         uint64
	watching                             bool
}

func (d *Dispatcher) now() state {
	d.mu.Lock()
	defer d.mu.Unlock()
	return state{d.ready.Len(), len(d.idle), d.workers, d.blocked, d.stuck, d.taken, d.parks, d.watching}
}

// A dispatcher of two processors, and three workers at most, does the least that leaves no ready
// actor without a worker on its way to it, or the timer.
func TestEachStepOfTheDispatcher(t *testing.T) {
	schedule := func(from func(d *Dispatcher) actor.Worker) func(d *Dispatcher) {
		return func(d *Dispatcher) { d.schedule(new(box), from(d)) }
	}
	outside := schedule(func(*Dispatcher) actor.Worker { return nil })
	inTurn := schedule(func(d *Dispatcher) actor.Worker { return &worker{d: d} })
	inTurnOfGuest := schedule(func(d *Dispatcher) actor.Worker { return &d.NewGuest(nil).(*guest).worker })
	take := func(d *Dispatcher) { d.mu.Lock(); d.take(&worker{d: d, wake: make(chan struct{}, 1)}) }
	help := func(d *Dispatcher) { d.mu.Lock(); d.help(); d.mu.Unlock(); synctest.Wait() } // a new worker goes to sleep
	for _, c := range []struct {
		name   string
		before state
		do     func(d *Dispatcher)
		after  state
	}{
		{"outside, a worker sleeps", state{idle: 2, workers: 2}, outside, state{ready: 1, idle: 1, workers: 2}},
		{"outside, behind another", state{ready: 1, idle: 2, workers: 2}, outside, state{ready: 2, idle: 1, workers: 2, watching: true}},
		{"outside, all busy", state{workers: 2}, outside, state{ready: 1, workers: 2, watching: true}},
		{"in a turn, after which its worker comes", state{idle: 1, workers: 2}, inTurn, state{ready: 1, idle: 1, workers: 2, watching: true}},
		{"in a turn, a second one", state{ready: 1, idle: 1, workers: 2}, inTurn, state{ready: 2, workers: 2, watching: true}},
		{"in a turn of a guest, which comes to no other", state{idle: 1, workers: 2}, inTurnOfGuest, state{ready: 1, workers: 2}},
		{"by a guest, which runs one", state{idle: 2, workers: 2}, func(d *Dispatcher) {
			g := d.NewGuest(nil)
			d.schedule(new(box), g)
			d.schedule(new(box), g)
		}, state{ready: 1, idle: 1, workers: 2}},

		{"help: one is to be able to run for each processor", state{workers: 2}, help, state{workers: 2}},
		{"help: for one that waits", state{workers: 2, blocked: 1}, help, state{idle: 1, workers: 3, blocked: 1, parks: 1}},
		{"help: for one that is stuck", state{workers: 2, stuck: 1}, help, state{idle: 1, workers: 3, parks: 1}},
		{"help: at most three", state{workers: 3, blocked: 2, stuck: 1}, help, state{workers: 3, blocked: 2, stuck: 1}},

		{"take the only one", state{ready: 1, idle: 1, workers: 2}, take, state{idle: 1, workers: 2, taken: 1}},
		{"take one of two", state{ready: 2, idle: 1, workers: 2}, take, state{ready: 1, workers: 2, taken: 1, watching: true}},
		{"take one of two, all busy", state{ready: 2, workers: 2}, take, state{ready: 1, workers: 2, taken: 1, watching: true}},
		{"take nothing, enough sleep", state{idle: 2, workers: 3}, take, state{idle: 2, workers: 2}},
		{"take nothing, having been stuck", state{idle: 2, workers: 3, stuck: 1}, take, state{idle: 2, workers: 2}},
		{"sleep", state{idle: 1, workers: 2}, func(d *Dispatcher) { go take(d); synctest.Wait() }, state{idle: 2, workers: 2, parks: 1}},

		{"nudge", state{ready: 1, idle: 1, workers: 2}, (*Dispatcher).nudge, state{ready: 1, workers: 2}},
		{"nudge for nothing", state{idle: 1, workers: 2}, (*Dispatcher).nudge, state{idle: 1, workers: 2}},
		{"wait for room", state{ready: 1, idle: 1, workers: 2}, func(d *Dispatcher) { (&worker{d: d}).pause() }, state{ready: 1, workers: 2, blocked: 1}},
		{"wait for room, nothing to do", state{idle: 1, workers: 2}, func(d *Dispatcher) { (&worker{d: d}).pause() }, state{idle: 1, workers: 2, blocked: 1}},
		{"room", state{workers: 2, blocked: 2}, func(d *Dispatcher) { (&worker{d: d}).resume() }, state{workers: 2, blocked: 1}},

		{"look: nothing to do", state{workers: 3, watching: true}, (*Dispatcher).watchdog, state{workers: 3}},
		{"look: all stuck", state{ready: 1, workers: 3, blocked: 1, watching: true}, (*Dispatcher).watchdog, state{ready: 1, workers: 3, blocked: 1, stuck: 2, watching: true}},
		{"look: one sleeps", state{ready: 1, idle: 1, workers: 2, watching: true}, (*Dispatcher).watchdog, state{ready: 1, workers: 2, watching: true}},
		{"look: one for each that is ready", state{ready: 1, idle: 2, workers: 2, watching: true}, (*Dispatcher).watchdog, state{ready: 1, idle: 1, workers: 2, watching: true}},
		{"look: one for each processor", state{ready: 3, idle: 3, workers: 3, watching: true}, (*Dispatcher).watchdog, state{ready: 3, idle: 1, workers: 3, watching: true}},
		{"look: some were taken", state{ready: 1, idle: 1, workers: 2, watching: true}, func(d *Dispatcher) {
			d.taken++
			d.watchdog()
			if d.lastSeen != d.taken {
				t.Error("the next look does not begin where this one ended")
			}
		}, state{ready: 1, idle: 1, workers: 2, taken: 1, watching: true}},
		{"look: stopping", state{ready: 1, workers: 2, watching: true}, func(d *Dispatcher) { d.stopping = true; d.watchdog() }, state{ready: 1, workers: 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDispatcher(2, 3)
			d.workers, d.blocked, d.stuck, d.watching = c.before.workers, c.before.blocked, c.before.stuck, c.before.watching
			d.timer = time.AfterFunc(time.Hour, func() {})
			for range c.before.ready {
				d.ready.Push(new(box))
			}
			for range c.before.idle {
				d.idle = append(d.idle, &worker{d: d, wake: make(chan struct{}, 1)})
			}
			c.do(d)
			if got := d.now(); got != c.after {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.after)
			}
			d.mu.Lock()
			woken := c.before.idle - c.after.idle + int(c.after.parks) + c.after.workers - c.before.workers
			if c.after.workers >= c.before.workers && d.wakes != uint64(woken) {
				t.Errorf("%s: %d wakes are counted, want %d", c.name, d.wakes, woken)
			}
			for d.ready.Len() > 0 { // they have no actors to run
				d.ready.Pop()
			}
			d.mu.Unlock()
			d.Stop(func() {}) // the workers that it has started end
		})
	}
}

// Stop waits for the workers there are, and for none if there is none, as of a system whose
// turns were all a guest's. done may call the dispatcher. A worker that has left is still counted.
func TestStopWithoutWorkers(t *testing.T) {
	d := newDispatcher(1, 1)
	w := &worker{d: d}
	w.tally.Messages = 7
	w.tally.Publish()
	d.workers, d.all[w] = 1, struct{}{}
	stopped := 0
	done := func() {
		s := actor.Stats{Messages: 1, Turns: 1, Parks: 1, Wakes: 1, Workers: 1}
		d.AddStats(&s)
		if s.Messages != 8 || s.Workers != 1 || len(d.all) != 0 {
			t.Errorf("%+v with %d workers listed, want seven messages more and no worker", s, len(d.all))
		}
		stopped++
	}
	d.Stop(done)
	if stopped != 0 {
		t.Error("stopped, and a worker is still there")
	}
	d.mu.Lock()
	d.leave(w)
	d.Stop(done)
	if stopped != 2 {
		t.Errorf("%d calls of Stop are done, want 2", stopped)
	}
	s := actor.Stats{Messages: 10, Turns: 10, Parks: 10, Wakes: 10, Workers: 10}
	d.gone, d.parks, d.wakes, d.workers = actor.Stats{Messages: 1, Turns: 2}, 3, 4, 5
	d.AddStats(&s)
	if want := (actor.Stats{Messages: 11, Turns: 12, Parks: 13, Wakes: 14, Workers: 15}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// Defaults are those that are documented, and asking for them changes nothing.
func TestDefaults(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	d, x := NewDispatcher(), NewExecutor()
	if d.target != 3 || d.most != 10_000 || x.slots != 12 || runtime.GOMAXPROCS(0) != 3 {
		t.Errorf("%d workers, at most %d, and %d slots for %d processors", d.target, d.most, x.slots, runtime.GOMAXPROCS(0))
	}
}

// closes is a context that ends when a sender waits with it, and closes the mailbox as well.
type closes struct {
	context.Context
	b *box
}

func (c closes) Done() <-chan struct{} {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.b.bound.Close()
	return past
}

// A sender that is refused while its context ends is told that it was refused.
func TestRefusedAtTheEndOfTheContext(t *testing.T) {
	for range 20 { // either may be seen first
		b := newBox(newDispatcher(1, 1), actor.MailboxConfig{Policy: actor.Block, Capacity: 1})
		b.phase = phaseScheduled
		b.Send(0, nil)
		if err := b.SendWait(closes{t.Context(), b}, 1, nil); err != actor.ErrStopped {
			t.Errorf("SendWait: %v", err)
		}
	}
}

// What a sender may see of a mailbox is so after each step, also where a turn has taken the messages.
func TestEachStepOfAMailbox(t *testing.T) {
	d := newDispatcher(1, 1)
	d.workers, d.idle = 1, []*worker{{d: d, wake: make(chan struct{}, 1)}}
	b := newBox(d, actor.MailboxConfig{})
	b.phase = phaseScheduled
	d.ready.Push(b)
	for i := range nudge {
		if len(d.idle) != 1 {
			t.Errorf("a worker was woken for %d messages of an actor in its turn", i)
		}
		b.Send(i, nil)
	}
	if len(d.idle) != 0 || d.wakes != 1 {
		t.Error("an actor seems not to end its turn, messages pile up, and no worker was woken")
	}
	b.refill()
	for _, left := range []int{1, 0, 3, 1} {
		b.pos = len(b.out) - left
		b.rest(actor.Yield)
		if b.Len() != left {
			t.Errorf("%d messages wait, want the %d that a turn has left", b.Len(), left)
		}
	}
	b.Send("late", nil)
	if b.Len() != 2 {
		t.Errorf("%d messages wait, want one that a turn has left and one that came", b.Len())
	}
	b.in, b.out, b.pos = nil, b.out[:0], 0 // they have no actor to be undelivered to
	if b.Close(); b.Len() != 0 || b.out != nil {
		t.Errorf("%d messages wait in a mailbox that is closed, with room for %d", b.Len(), cap(b.out))
	}
	small := newBox(d, actor.MailboxConfig{Policy: actor.Block, Capacity: 1})
	small.Close()
	if err := small.SendWait(t.Context(), 0, nil); err != actor.ErrStopped {
		t.Errorf("a mailbox that is closed: %v", err)
	}
}
