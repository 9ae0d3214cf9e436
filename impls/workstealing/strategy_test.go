package workstealing

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// A configuration that cannot be used is refused, with the field, when the
// system is made.
func TestConfigIsChecked(t *testing.T) {
	_, err := actor.NewSystem(actor.Config{
		Guardian:   actortest.Func(func(*actor.Context, any) error { return nil }),
		Dispatcher: NewDispatcherWith(Config{Parallelism: -1}),
	})
	var ce *ConfigError
	if !errors.As(err, &ce) || ce.Field != "Parallelism" {
		t.Errorf("%v, want an error about Parallelism", err)
	}
	_, err = actor.NewSystem(actor.Config{
		Guardian:   actor.Props{New: func() actor.Actor { return actor.ReceiveFunc(nil) }, Priority: 2},
		Dispatcher: NewDispatcher(),
	})
	var pe *actor.PropsError
	if !errors.As(err, &pe) || pe.Field != "Props.Priority" {
		t.Errorf("a priority of 2: %v, want an error about Props.Priority", err)
	}
}

// sleepers has n actors asleep in a handler at once and returns the workers
// that there are then; peak is the most handlers that were under way at once.
func sleepers(t *testing.T, cfg Config, n int, wait time.Duration) (s *actor.System, peak *atomic.Int32) {
	return sleepersOn(t, NewDispatcherWith(cfg), n, wait)
}

func sleepersOn(t *testing.T, d *Dispatcher, n int, wait time.Duration) (s *actor.System, peak *atomic.Int32) {
	var now atomic.Int32
	peak = new(atomic.Int32)
	var all []actor.Ref
	s = system(t, actor.Config{Dispatcher: d}, func(ctx *actor.Context) {
		for range n {
			all = append(all, spawn(t, ctx, actortest.Func(func(*actor.Context, any) error {
				k := now.Add(1)
				for p := peak.Load(); k > p && !peak.CompareAndSwap(p, k); p = peak.Load() {
				}
				time.Sleep(wait)
				now.Add(-1)
				return nil
			})))
		}
	})
	for _, r := range all {
		if err := r.Tell("sleep"); err != nil {
			t.Error(err)
		}
	}
	return s, peak
}

// The pool grows while handlers block, to MaxWorkers and no further, and then
// the others have their turns when a worker comes back.
func TestPoolGrowsToMaxWorkers(t *testing.T) {
	for _, max := range []int{2, 5, 0} {
		synctest.Test(t, func(t *testing.T) {
			const n, long = 20, 100 * time.Millisecond // the watchdog looks every half a millisecond
			s, peak := sleepers(t, Config{Parallelism: 2, MaxWorkers: max}, n, long)
			time.Sleep(long / 2)
			want := max
			if max == 0 {
				want = n
			}
			if got := int(peak.Load()); got != want {
				t.Errorf("MaxWorkers %d: %d handlers at once, want %d", max, got, want)
			}
			if got := s.Stats().Workers; max > 0 && got > max {
				t.Errorf("MaxWorkers %d: %d workers", max, got)
			}
			time.Sleep(n * long)
			if got := s.Stats().Messages; got != n+1 { // the guardian's one
				t.Errorf("MaxWorkers %d: %d messages handled in the end, want %d", max, got, n+1)
			}
			shutdown(t, s)
		})
	}
}

// Workers without work have no goroutine. Those beyond 64 are
// dropped at once, the others after KeepAlive, and MinWorkers stay and are of use.
func TestPoolShrinksWhenIdle(t *testing.T) {
	for _, min := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			d := NewDispatcherWith(Config{Parallelism: 1, MinWorkers: min, KeepAlive: time.Hour})
			s, _ := sleepersOn(t, d, 100, time.Minute)
			slots := func(when string, want int) {
				t.Helper()
				synctest.Wait()
				if got := d.pool.slots(); got != want {
					t.Errorf("%d workers %s, want %d", got, when, want)
				}
				d.pool.mu.Lock()
				parked := len(d.pool.parked)
				d.pool.mu.Unlock()
				if parked != want {
					t.Errorf("%d workers are parked %s, want %d: one that was dropped must not be taken", parked, when, want)
				}
				if got := s.Stats().Workers; got != 0 {
					t.Errorf("%d workers with a goroutine %s", got, when)
				}
				if got := s.Stats().Parks; got < 100 {
					t.Errorf("%d times a worker went to sleep %s, want 100 at least, one for each sleeper", got, when)
				}
			}
			time.Sleep(2 * time.Minute)
			slots("right after the work", d.pool.kept())
			time.Sleep(30 * time.Minute)
			slots("before KeepAlive is over", d.pool.kept())
			time.Sleep(2 * time.Hour)
			slots("after KeepAlive", max(min, 1))
			handled := s.Stats().Messages
			if err := s.UserGuardian().Tell("again"); err == nil {
				// The guardian's setup closes a channel twice and panics: all
				// that matters is that a worker ran it.
				synctest.Wait()
			}
			time.Sleep(time.Second)
			if got := s.Stats().Messages; got != handled+1 {
				t.Errorf("%d messages handled after the pool had shrunk, want 1", got-handled)
			}
			shutdown(t, s)
		})
	}
}

// Work that comes again and again keeps its workers: KeepAlive counts from the
// last time they parked.
func TestKeepAliveBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var blocks [2]actor.Ref
		d := NewDispatcherWith(Config{Parallelism: 1, KeepAlive: time.Minute})
		s := system(t, actor.Config{Dispatcher: d}, func(ctx *actor.Context) {
			for i := range blocks {
				blocks[i] = spawn(t, ctx, actortest.Func(func(*actor.Context, any) error { time.Sleep(time.Second); return nil }))
			}
		})
		synctest.Wait()
		for range 10 {
			time.Sleep(40 * time.Second)
			for _, r := range blocks {
				if err := r.Tell(1); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(2 * time.Second)
			if n := d.pool.slots(); n < 2 {
				t.Fatalf("%d workers, want those that are blocked every 40 s", n)
			}
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if n := d.pool.slots(); n != 1 {
			t.Errorf("%d workers after two minutes without work, want the one that Parallelism says", n)
		}
		shutdown(t, s)
	})
}

// A pool at rest that has no more workers than run at the same time has set no timer.
func TestNoTimerAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcherWith(Config{Parallelism: 1, MaxWorkers: 1})
		s := system(t, actor.Config{Dispatcher: d}, func(*actor.Context) {})
		time.Sleep(10 * period) // the watchdog's is over
		synctest.Wait()
		p := d.pool
		n := p.slots()
		p.mu.Lock()
		reaps := p.reaps
		p.mu.Unlock()
		if n == 0 || reaps || p.armed.Load() {
			t.Errorf("%d workers, a timer for KeepAlive: %t, the watchdog's: %t; want some and no timer", n, reaps, p.armed.Load())
		}
		shutdown(t, s)
	})
}

// With any capacity of the queues, and any strategy, every actor has its turn
// and nothing is lost.
func TestQueueCapacityAndStrategyLoseNobody(t *testing.T) {
	const actors = 500
	hops := 20
	if testing.Short() {
		hops = 5
	}
	for _, strategy := range []Strategy{Fair, Priority, WorkConserving} {
		for _, capacity := range []int{2, 3, 8, 1000} {
			var left atomic.Int32
			left.Store(int32(actors * hops))
			done := make(chan struct{})
			refs := make([]actor.Ref, actors)
			s := system(t, actor.Config{Dispatcher: NewDispatcherWith(Config{Strategy: strategy, QueueCapacity: capacity})}, func(ctx *actor.Context) {
				for i := range refs {
					p := actortest.Func(func(ctx *actor.Context, m any) error {
						if left.Add(-1) == 0 {
							close(done)
						}
						if n := m.(int); n > 1 {
							return ctx.Tell(refs[(i*7+n)%actors], n-1)
						}
						return nil
					})
					p.Priority = actor.Priority(i%3 - 1)
					refs[i] = spawn(t, ctx, p)
				}
				for i := range refs {
					if err := ctx.Tell(refs[i], hops); err != nil {
						t.Error(err)
					}
				}
			})
			<-done
			shutdown(t, s)
			if got := s.Stats().Messages; got != uint64(actors*hops+1) {
				t.Errorf("%v, queues of %d: %d messages handled, want %d", strategy, capacity, got, actors*hops+1)
			}
		}
	}
}

// flood is a system with one worker in which n actors always have messages, and
// counts turns and messages of theirs.
type flood struct {
	*actor.System
	quiet    actor.Ref
	kick     actor.Ref // hands on what it is sent to quiet, from inside
	over     atomic.Bool
	messages atomic.Int64
	asks     chan actor.Ref // an actor of the flood sends to these, as from outside
	asked    int64          // messages of the flood when it did
	answered chan int64     // how many more there were when quiet had its turn
}

func newFlood(t *testing.T, cfg Config, n int, busy, quiet actor.Priority) *flood {
	t.Helper()
	cfg.Parallelism, cfg.MaxWorkers = 1, 1
	f := &flood{asks: make(chan actor.Ref, 1), answered: make(chan int64, 1)}
	var floods []actor.Ref
	f.System = system(t, actor.Config{Dispatcher: NewDispatcherWith(cfg)}, func(ctx *actor.Context) {
		p := actortest.Func(func(*actor.Context, any) error { f.answered <- f.messages.Load() - f.asked; return nil })
		p.Priority = quiet
		f.quiet = spawn(t, ctx, p)
		p = actortest.Func(func(ctx *actor.Context, m any) error { return ctx.Tell(f.quiet, f.messages.Load()) })
		p.Priority = actor.High
		f.kick = spawn(t, ctx, p)
		for range n {
			p := actortest.Func(func(ctx *actor.Context, m any) error {
				if f.over.Load() {
					return nil
				}
				f.messages.Add(1)
				select {
				case to := <-f.asks:
					f.asked = f.messages.Load()
					if err := to.Tell("hello"); err != nil { // by the Ref: the inject queue has it
						return err
					}
				default:
				}
				return ctx.Tell(ctx.Self(), m)
			})
			p.Priority = busy
			floods = append(floods, spawn(t, ctx, p))
		}
		for _, r := range floods {
			for range 3 { // so that none is ever without
				if err := ctx.Tell(r, "more"); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return f
}

// worst is the most messages that the flood had between a message to quiet,
// from inside or outside, and its handling.
func (f *flood) worst(t *testing.T, rounds int) int64 {
	t.Helper()
	most := int64(0)
	for i := range rounds {
		if i%2 == 0 {
			f.asks <- f.quiet
		} else {
			f.asks <- f.kick
		}
		most = max(most, <-f.answered)
	}
	f.over.Store(true)
	shutdown(t, f.System)
	return most
}

// A flood does not starve a quiet actor: it has its turn after the number of
// turns that the strategy's doc comment says, told from inside or outside, every time. A
// turn of the flood is 300 messages. (There is one worker, and it is a turn of the flood
// that sends: nothing is counted while the quiet actor's message is on its way.)
func TestStarvationBounds(t *testing.T) {
	const (
		turn = 300
		look = 61 // as the package's comment says; not poll, which is to be held against it
	)
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	for _, c := range []struct {
		name        string
		cfg         Config
		floods      int
		busy, quiet actor.Priority
		bound       int64 // turns
	}{
		// Told from outside: one look at the inject queue in 61 turns, twice for kick's sake.
		{"fair", Config{}, 10, actor.Normal, actor.Normal, 2*look + 11},
		{"work-conserving", Config{Strategy: WorkConserving}, 10, actor.Normal, actor.Normal, 2*look + 11},
		{"priority, equal", Config{Strategy: Priority}, 10, actor.Normal, actor.Normal, 12},
		{"priority, quiet is low", Config{Strategy: Priority}, 10, actor.High, actor.Low, 2*kept + 12},
		{"priority, quiet is normal", Config{Strategy: Priority}, 10, actor.High, actor.Normal, 2*kept + 12},
		{"priority, quiet is high", Config{Strategy: Priority}, 10, actor.Low, actor.High, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			worst := newFlood(t, c.cfg, c.floods, c.busy, c.quiet).worst(t, rounds)
			t.Logf("at most %d messages of a flood of %d actors, %.1f turns, before a quiet actor's; bound %d turns", worst, c.floods, float64(worst)/turn, c.bound)
			if worst > c.bound*turn {
				t.Errorf("%d messages, %d turns, of a flood before a quiet actor's; want at most %d turns", worst, worst/turn, c.bound)
			}
		})
	}
}

// With the strategy WorkConserving an idle worker takes even the actor that is
// to run next where its sender still runs.
func TestWorkConservingTakesWhatIsNext(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	handled := make(chan struct{})
	var kick actor.Ref
	s := system(t, actor.Config{Dispatcher: NewDispatcherWith(Config{Strategy: WorkConserving, Parallelism: 2})}, func(ctx *actor.Context) {
		other := spawn(t, ctx, actortest.Func(func(*actor.Context, any) error { close(handled); return nil }))
		kick = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, m any) error {
			err := ctx.Tell(other, m)
			<-handled // which only another worker can do
			return err
		}))
	})
	if err := kick.Tell("go"); err != nil {
		t.Fatal(err)
	}
	<-handled
	shutdown(t, s)
	if got := s.Stats().Steals; got == 0 {
		t.Error("nothing was stolen")
	}
}

// Strategies have names.
func TestStrategyNames(t *testing.T) {
	for s, want := range map[Strategy]string{Fair: "fair", Priority: "priority", WorkConserving: "work-conserving", 9: "Strategy(9)"} {
		if s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
}

// What a configuration does not say is filled in, and each limit is the last value that can be used.
func TestConfigIsCompleted(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct{ given, want Config }{
		{Config{}, Config{0, 0, 4, 10_000, time.Minute, 256}},
		{Config{Strategy: WorkConserving}, Config{WorkConserving, 0, 4, 10_000, time.Minute, 256}},
		{Config{Parallelism: 1}, Config{0, 1, 1, 10_000, time.Minute, 256}},
		{Config{Parallelism: 3}, Config{0, 3, 3, 10_000, time.Minute, 256}},
		{Config{Parallelism: 4}, Config{0, 0, 4, 10_000, time.Minute, 256}},
		{Config{Parallelism: 5}, Config{0, 0, 4, 10_000, time.Minute, 256}},
		{Config{Parallelism: 20_000}, Config{0, 0, 4, 20_000, time.Minute, 256}},
		{Config{Parallelism: 2, MaxWorkers: 2}, Config{0, 2, 2, 2, time.Minute, 256}},
		{Config{MaxWorkers: 1}, Config{0, 0, 1, 1, time.Minute, 256}},
		{Config{MinWorkers: 1, MaxWorkers: 1, KeepAlive: 1, QueueCapacity: 2}, Config{0, 0, 1, 1, 1, 2}},
		{Config{QueueCapacity: 8192}, Config{0, 0, 4, 10_000, time.Minute, 8192}},
	} {
		got := c.given
		if err := got.complete(); err != nil || got != c.want {
			t.Errorf("%+v is completed to %+v, %v; want %+v", c.given, got, err, c.want)
		}
	}
	for want, cfg := range map[string]Config{
		"workstealing: Config.Strategy is not one of the constants":                       {Strategy: 3},
		"workstealing: Config.Parallelism must not be negative":                           {Parallelism: -1},
		"workstealing: Config.MaxWorkers must not be less than Parallelism, which is 4":   {MaxWorkers: 3, Parallelism: 4},
		"workstealing: Config.MinWorkers must be from 0 to MaxWorkers, which is 4":        {MinWorkers: 5, MaxWorkers: 4, Parallelism: 1},
		"workstealing: Config.MinWorkers must be from 0 to MaxWorkers, which is 10000":    {MinWorkers: -1},
		"workstealing: Config.KeepAlive must not be negative":                             {KeepAlive: -1},
		"workstealing: Config.QueueCapacity must be from 2 to 8192":                       {QueueCapacity: 1},
		"workstealing: Config.QueueCapacity must be from 2 to 8192, also above the limit": {QueueCapacity: 8193},
	} {
		want, _, _ = strings.Cut(want, ", also")
		if err := cfg.complete(); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
}

// Of actors of all priorities the most urgent come first, but in every sixteenth turn: that is
// the normal priority's, and the next time the low one's, and what is left of both the other's.
func TestRanks(t *testing.T) {
	for _, c := range []struct {
		turns uint32
		want  string
	}{
		{1, "hhnnll"},
		{15, "hhnnll"},
		{kept, "llnnhh"},
		{2 * kept, "nnllhh"},
		{3 * kept, "llnnhh"},
	} {
		var q ranks
		q.init()
		if !q.empty() {
			t.Error("something is there and nothing came")
		}
		for i := range q {
			for range 2 {
				q[i].push(job{r: new(box), arg: "hnl"[i : i+1]})
				if q.empty() {
					t.Errorf("an actor of rank %d is there, and is not seen", i)
				}
			}
		}
		got := ""
		for j := q.pop(c.turns); !j.none(); j = q.pop(c.turns) {
			got += j.arg.(string)
		}
		if got != c.want || !q.empty() {
			t.Errorf("turn %d: %q came, want %q", c.turns, got, c.want)
		}
	}
	for i := range 3 { // each alone
		var q ranks
		q.init()
		q[i].push(job{r: new(box)})
		if q.empty() || q.pop(kept).none() {
			t.Errorf("an actor of rank %d alone is not found", i)
		}
	}
}
