package workstealing

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
)

// system makes a system whose guardian runs setup for its first message, and
// returns it after that.
func system(t *testing.T, conf actor.Config, setup func(ctx *actor.Context)) *actor.System {
	t.Helper()
	ready := make(chan struct{})
	conf.Guardian = actor.Props{New: func() actor.Actor {
		return actor.ReceiveFunc(func(ctx *actor.Context, _ any) error {
			setup(ctx)
			close(ready)
			return nil
		})
	}}
	if conf.Dispatcher == nil {
		conf.Dispatcher = NewDispatcher()
	}
	s, err := actor.NewSystem(conf)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.UserGuardian().Tell("start"); err != nil {
		t.Fatal(err)
	}
	<-ready
	return s
}

func props(f actor.ReceiveFunc) actor.Props {
	return actor.Props{New: func() actor.Actor { return f }}
}

func spawn(t *testing.T, ctx *actor.Context, p actor.Props) actor.Ref {
	t.Helper()
	r, err := ctx.Spawn(p)
	if err != nil {
		t.Error(err)
	}
	return r
}

func shutdown(t *testing.T, s *actor.System) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// Handlers that block in every worker do not stop the others, whether those are
// told from outside or from the very handlers that then block.
func TestBlockedHandlersDoNotStopOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sleepers = 20
		var handled atomic.Int32
		var quick actor.Ref
		var slow []actor.Ref
		s := system(t, actor.Config{}, func(ctx *actor.Context) {
			quick = spawn(t, ctx, props(func(*actor.Context, any) error { handled.Add(1); return nil }))
			for range sleepers {
				slow = append(slow, spawn(t, ctx, props(func(ctx *actor.Context, _ any) error {
					err := ctx.Tell(quick, "from a handler that blocks")
					time.Sleep(time.Hour)
					return err
				})))
			}
		})
		start := time.Now()
		for _, r := range slow {
			if err := r.Tell("sleep"); err != nil {
				t.Error(err)
			}
		}
		if err := quick.Tell("from outside"); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if got := handled.Load(); got != sleepers+1 {
			t.Errorf("%d messages handled beside the sleepers within a minute, want %d", got, sleepers+1)
		}
		shutdown := make(chan error, 1)
		go func() { shutdown <- s.Shutdown(context.Background()) }()
		if err := <-shutdown; err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 2*time.Hour {
			t.Errorf("the sleepers slept one after the other: %v", took)
		}
	})
}

// Whatever is sent while actors stop is handled, given back, or undelivered.
func TestNothingIsLostWhenActorsStop(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for _, mailbox := range []actor.MailboxConfig{
		{},
		{Policy: actor.DropOldest, Capacity: 3},
		{Policy: actor.DropNewest, Capacity: 3},
		{Policy: actor.Block, Capacity: 3},
		{Policy: actor.Grow, Capacity: 3},
		{Priority: func(msg any) int { return msg.(int) % 3 }},
	} {
		t.Run(mailbox.Policy.String(), func(t *testing.T) {
			for range rounds {
				var handled, undelivered, returned, sent atomic.Int64
				var r actor.Ref
				s := system(t, actor.Config{DeadLetters: func(l actor.DeadLetter) {
					if !l.Returned {
						undelivered.Add(1)
					}
				}}, func(ctx *actor.Context) {
					p := props(func(*actor.Context, any) error { handled.Add(1); return nil })
					p.Mailbox = mailbox
					r = spawn(t, ctx, p)
				})
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						for i := range 50 {
							sent.Add(1)
							var e *actor.SendError
							if err := r.Tell(i); errors.As(err, &e) {
								if e.Msg != i {
									t.Errorf("got %v back, want %d", e.Msg, i)
								}
								returned.Add(1)
							}
							if i == 20 {
								s.Stop(r)
							}
						}
					})
				}
				wg.Wait()
				shutdown(t, s)
				if got := handled.Load() + undelivered.Load() + returned.Load(); got != sent.Load() {
					t.Fatalf("%d handled + %d undelivered + %d returned = %d, of %d sent",
						handled.Load(), undelivered.Load(), returned.Load(), got, sent.Load())
				}
			}
		})
	}
}

// Messages of one sender arrive in its order, also while the receiver goes idle
// and comes back all the time.
func TestOrderPerSender(t *testing.T) {
	const senders = 4
	each := 20_000
	if testing.Short() {
		each = 2_000
	}
	type msg struct{ sender, n int }
	last := make([]int, senders)
	done := make(chan struct{})
	total := 0
	var r actor.Ref
	s := system(t, actor.Config{}, func(ctx *actor.Context) {
		r = spawn(t, ctx, props(func(_ *actor.Context, m any) error {
			v := m.(msg)
			if v.n != last[v.sender]+1 {
				t.Errorf("sender %d: message %d after %d", v.sender, v.n, last[v.sender])
			}
			last[v.sender] = v.n
			if total++; total == senders*each {
				close(done)
			}
			return nil
		}))
	})
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			for n := range each {
				if err := r.Tell(msg{i, n + 1}); err != nil {
					t.Error(err)
				}
				if n%7 == i {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
	<-done
	shutdown(t, s)
}

// Two actors that only talk to each other do not keep the others waiting, even
// with a single worker.
func TestNextSlotDoesNotStarve(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var a, b, other, kick actor.Ref
	var stop atomic.Bool
	answered := make(chan struct{})
	bounce := func(to *actor.Ref) actor.ReceiveFunc {
		return func(ctx *actor.Context, m any) error {
			if stop.Load() {
				return nil
			}
			return ctx.Tell(*to, m)
		}
	}
	s := system(t, actor.Config{}, func(ctx *actor.Context) {
		a = spawn(t, ctx, props(bounce(&b)))
		b = spawn(t, ctx, props(bounce(&a)))
		other = spawn(t, ctx, props(func(*actor.Context, any) error { close(answered); return nil }))
		kick = spawn(t, ctx, props(func(ctx *actor.Context, m any) error {
			// The first is displaced from the next slot into the queue.
			return errors.Join(ctx.Tell(other, m), ctx.Tell(a, m))
		}))
	})
	if err := kick.Tell("ball"); err != nil {
		t.Fatal(err)
	}
	<-answered // or the test's time limit
	stop.Store(true)
	shutdown(t, s)
}

// A system that has been shut down leaves no goroutine, and in between its
// workers are parked: the bubble would not end otherwise.
func TestNoGoroutineIsLeft(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			var r actor.Ref
			d := NewDispatcher()
			s := system(t, actor.Config{Dispatcher: d}, func(ctx *actor.Context) {
				r = spawn(t, ctx, props(func(*actor.Context, any) error { return nil }))
			})
			_ = r.Tell(1)
			synctest.Wait()
			if d.running == 0 || d.running != len(d.parked) {
				t.Errorf("%d of %d workers are parked in an idle system", len(d.parked), d.running)
			}
			_ = r.Tell(2)
			shutdown(t, s)
		})
	}
}

// Goexit in a handler ends the goroutine of the worker, not the worker.
func TestGoexitKeepsTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failures atomic.Int32
		var victims []actor.Ref
		handled := 0
		var after actor.Ref
		s := system(t, actor.Config{Failures: func(f actor.Failure) {
			if errors.Is(f.Err, actor.ErrGoexit) {
				failures.Add(1)
			}
		}}, func(ctx *actor.Context) {
			for range 10 {
				victims = append(victims, spawn(t, ctx, props(func(*actor.Context, any) error { runtime.Goexit(); return nil })))
			}
			after = spawn(t, ctx, props(func(*actor.Context, any) error { handled++; return nil }))
		})
		for _, v := range victims {
			_ = v.Tell(1)
		}
		synctest.Wait()
		_ = after.Tell(1)
		synctest.Wait()
		if failures.Load() != 10 || handled != 1 {
			t.Errorf("%d failures, want 10; %d messages handled after them, want 1", failures.Load(), handled)
		}
		shutdown(t, s)
	})
}

// The ring hands every actor out once, to its owner or a thief.
func TestRingHandsEachActorOutOnce(t *testing.T) {
	const n = 20_000
	var q ring
	q.init(256)
	boxes := make([]box, n)
	var taken sync.Map
	took := func(b *box) {
		if b == nil {
			return
		}
		if _, twice := taken.LoadOrStore(b, true); twice {
			t.Error("an actor was taken twice")
		}
	}
	var wg sync.WaitGroup
	var over atomic.Bool
	for range 2 {
		wg.Go(func() {
			var own ring
			own.init(256)
			for !over.Load() || q.len() > 0 {
				took(q.steal(&own))
				for b := own.pop(); b != nil; b = own.pop() {
					took(b)
				}
				runtime.Gosched()
			}
		})
	}
	for i := range boxes {
		for !q.push(&boxes[i]) {
			took(q.pop())
		}
		if i%3 == 0 {
			took(q.pop())
		}
	}
	over.Store(true)
	wg.Wait()
	for b := q.pop(); b != nil; b = q.pop() {
		took(b)
	}
	count := 0
	taken.Range(func(any, any) bool { count++; return true })
	if count != n {
		t.Errorf("%d of %d actors came out", count, n)
	}
}

// A dispatcher serves one system.
func TestDispatcherServesOnce(t *testing.T) {
	d := NewDispatcher()
	s := system(t, actor.Config{Dispatcher: d}, func(*actor.Context) {})
	if err := d.Start(); err == nil {
		t.Error("Start succeeded twice")
	}
	shutdown(t, s)
}

// pair returns a dispatcher with one worker that is busy, as far as others can see,
// and one that is parked.
func pair(t *testing.T, cfg Config) (d *Dispatcher, busy, parked *runner) {
	t.Helper()
	cfg.Parallelism, cfg.MaxWorkers = 2, max(cfg.MaxWorkers, 2) // no other is started
	d = NewDispatcherWith(cfg)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	busy, parked = newRunner(d, 1), newRunner(d, 2)
	parked.asleep = true
	d.workers.Store(&[]*runner{busy, parked})
	d.running, d.parked = 2, []*runner{parked}
	d.count()
	d.patrols.Store(true)
	d.timer = time.AfterFunc(time.Hour, func() {})
	t.Cleanup(func() { d.timer.Stop() })
	return d, busy, parked
}

// Another worker is woken for actors in a queue only if they would wait there for
// longer than it needs to come.
func TestWorkerIsWokenWhenItPays(t *testing.T) {
	for _, c := range []struct {
		name   string
		cost   uint32
		actors int
		cfg    Config
		woken  bool
	}{
		{"short turns, few actors", 1000, 10, Config{}, false},
		{"short turns, many actors", 1000, 51, Config{}, true},
		{"long turns", worthwhile, 2, Config{}, true},
		{"not known yet", 0, 2, Config{}, true},
		{"work-conserving", 1, 2, Config{Strategy: WorkConserving}, true},
		{"a full queue", 1, 5, Config{QueueCapacity: 4}, true},
	} {
		_, w, parked := pair(t, c.cfg)
		w.cost.Store(c.cost)
		for range c.actors {
			w.push(new(box))
		}
		if got := len(parked.wake) > 0; got != c.woken {
			t.Errorf("%s: woken is %v, want %v", c.name, got, c.woken)
		}
	}
}

// What it did not pay to wake somebody for is not forgotten: the patrol does when
// the same actor is the first in the queue at its next round, and not before.
func TestPatrolFindsWhoWaits(t *testing.T) {
	d, w, parked := pair(t, Config{})
	w.cost.Store(1)
	w.push(new(box))
	w.push(new(box))
	w.head = ^uint32(0) // as if another one had been first at the last round
	d.round()
	if len(parked.wake) > 0 {
		t.Fatal("a worker was woken at the first round")
	}
	w.answer()
	w.cost.Store(1)
	d.round()
	if len(parked.wake) == 0 {
		t.Fatal("no worker was woken although the same actor was first in the queue for a round")
	}
}

// A worker that has not answered by the next round counts as stuck, and a rescuer is
// woken if actors wait for it; one that has answered does not.
func TestPatrolFindsWhoIsStuck(t *testing.T) {
	for _, c := range []struct{ answers, waits, woken bool }{
		{false, true, true},
		{false, false, false},
		{true, true, false},
	} {
		d, w, parked := pair(t, Config{})
		if c.waits {
			w.next.Store(new(box))
		}
		d.round()
		if c.answers {
			w.answer()
		}
		d.round()
		if woken := len(parked.wake) > 0; woken != c.woken || parked.rescuer != c.woken {
			t.Errorf("%+v: woken is %v, as a rescuer %v", c, woken, parked.rescuer)
		}
	}
}

// The actor that is to run next is left to its worker unless its sender goes on
// sending to it: for long, or if turns are not short.
func TestNextIsOfferedWhenItPays(t *testing.T) {
	for _, c := range []struct {
		cost    uint32
		n       int
		offered bool
	}{
		{100, 2, false},
		{100, many / 2, false},
		{100, many, true},
		{worthwhile, 1, true},
		{0, 1, true},
	} {
		_, w, parked := pair(t, Config{})
		w.cost.Store(c.cost)
		b := new(box)
		w.next.Store(b)
		w.offer(b, c.n)
		if got := w.next.Load() == nil && w.queue.len() == 1; got != c.offered || c.offered != (len(parked.wake) > 0) {
			t.Errorf("cost %d, message %d: offered is %v, somebody woken %v, want %v", c.cost, c.n, got, len(parked.wake) > 0, c.offered)
		}
	}
}

// A worker writes down what its turns take.
func TestAnswerMeasuresTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w, _ := pair(t, Config{})
		w.answer()
		w.tally.Turns += 1000
		time.Sleep(time.Millisecond)
		w.answer()
		if got := w.cost.Load(); got != 1000 {
			t.Errorf("1000 turns in a millisecond: a turn takes %d ns, want 1000", got)
		}
		w.tally.Turns++
		time.Sleep(time.Second)
		w.answer()
		if got := w.cost.Load(); got != worthwhile {
			t.Errorf("a turn in a second: %d ns, want no more than %d", got, worthwhile)
		}
	})
}

// Handlers that compute for some milliseconds are not blocked: they must not
// have workers multiply. Each round of the patrol takes every worker that has
// ended no turn for stuck, those that wait for a processor included, so it must
// notice that who was to help them had to wait for one, too.
func TestBusyHandlersDoNotMultiplyWorkers(t *testing.T) {
	spin := func(*actor.Context, any) error {
		for begun := time.Now(); time.Since(begun) < 3*time.Millisecond; {
		}
		return nil
	}
	var refs []actor.Ref
	ready := make(chan struct{})
	s, err := actor.NewSystem(actor.Config{
		Dispatcher: NewDispatcher(),
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, _ any) error {
				for range 200 {
					r, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return actor.ReceiveFunc(spin) }})
					if err != nil {
						return err
					}
					refs = append(refs, r)
				}
				close(ready)
				return nil
			})
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.UserGuardian().Tell(0); err != nil {
		t.Fatal(err)
	}
	<-ready
	for _, r := range refs {
		if err := r.Tell(0); err != nil {
			t.Fatal(err)
		}
	}
	most := 0
	for s.Stats().Messages < uint64(len(refs)) {
		most = max(most, s.Stats().Workers)
		runtime.Gosched()
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Logf("at most %d workers", most)
	// A few more come and go on a machine that others use as well. Without
	// patience they are as many as actors before long; see also
	// TestRescuersArePatient.
	if limit := len(refs) / 2; most > limit {
		t.Errorf("%d workers for %d busy actors on %d processors, want at most %d", most, len(refs), runtime.GOMAXPROCS(0), limit)
	}
}

// There are no more rescuers while one is on its way, nor for a while after one has
// had to wait for a processor; then there are again.
func TestRescuersArePatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, w, first := pair(t, Config{MaxWorkers: 3})
		second := newRunner(d, 3)
		second.asleep = true
		d.parked = []*runner{second, first} // who parked last is woken first
		d.running++
		w.next.Store(new(box))
		d.round()
		d.round()
		if len(first.wake) == 0 {
			t.Fatal("nobody was roused for a worker that is stuck")
		}
		d.round()
		if len(second.wake) > 0 {
			t.Fatal("another rescuer was roused while the first had not begun to look")
		}
		time.Sleep(10 * time.Millisecond) // so long has the first one waited for a processor
		d.arrived(first)
		d.round()
		if len(second.wake) > 0 {
			t.Fatal("another rescuer was roused although the first had to wait for a processor")
		}
		time.Sleep(time.Second)
		d.round()
		if len(second.wake) == 0 {
			t.Fatal("no rescuer was roused after a second in which a worker was stuck")
		}
	})
}

// A worker that was promised and is not to be had leaves the patrol behind:
// meanwhile others have seen that somebody is about to look, and have left to him
// what they made ready.
func TestAlertThatFindsNobodyLeavesThePatrol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, w, parked := pair(t, Config{})
		d.patrols.Store(false)
		// The other worker was woken for something else. That spare says so comes
		// last.
		d.parked, parked.asleep = nil, false
		w.next.Store(new(box))
		d.alert()
		if !d.patrols.Load() {
			t.Error("an actor waits, nobody looks for it, and no patrol is set")
		}
		if n := d.watch.Load(); n != 0 {
			t.Errorf("%d workers are believed to look, and none does", n)
		}
		d.timer.Stop()
	})
}

// What an actor sent to first waits with the worker as what it sent to last does,
// should the handler block now: the patrol looks after it, also if it had ended.
func TestDisplacedActorIsLookedAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, w, parked := pair(t, Config{})
		d.patrols.Store(false)
		d.parked, parked.asleep = nil, false // busy as well
		d.count()
		w.cost.Store(1000) // so that they are not worth another worker
		w.next.Store(new(box))
		d.schedule(new(box), w)
		if !d.patrols.Load() {
			t.Error("two actors wait for a worker in a turn that may never end, and no patrol is set")
		}
		d.timer.Stop()
	})
}
