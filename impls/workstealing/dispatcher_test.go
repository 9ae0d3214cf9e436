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
	"github.com/dynolab/dyno/actor/actortest"
)

// system makes a system whose guardian runs setup in its first turn, and returns it after
// that.
func system(t testing.TB, conf actor.Config, setup func(ctx *actor.Context)) *actor.System {
	t.Helper()
	ready := make(chan struct{})
	if conf.Dispatcher == nil {
		conf.Dispatcher = NewDispatcher()
	}
	s := actortest.New(conf, func(err error) { t.Fatal(err) })
	s.Send(s.UserGuardian(), func(ctx *actor.Context) {
		setup(ctx)
		close(ready)
	})
	<-ready
	return s.System
}

func spawn(t testing.TB, ctx *actor.Context, p actor.Props) actor.Ref {
	t.Helper()
	r, err := ctx.Spawn(p)
	if err != nil {
		t.Error(err)
	}
	return r
}

func shutdown(t testing.TB, s *actor.System) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// A handler that keeps its worker for 10 ms delays no neighbour, be it told by that very
// handler, before it on the same worker, or from outside, by more than a period of the
// watchdog, wherever between two looks the handler begins and however few workers there may be; and by
// no more than a look if there was nothing to look at before.
func TestALongHandlerDelaysItsNeighboursBriefly(t *testing.T) {
	const step = period / 8
	for phase := -step; phase < 2*period; phase += step {
		most, quiet := period, phase < 0
		if quiet {
			most = look
		}
		synctest.Test(t, func(t *testing.T) {
			var begun time.Time
			var late sync.Map // by the neighbour's name
			var first, long, metronome actor.Ref
			told := map[string]actor.Ref{}
			s := system(t, actor.Config{Dispatcher: NewDispatcherWith(Config{Parallelism: 1})}, func(ctx *actor.Context) {
				for _, name := range []string{"queued", "displaced", "next", "from outside"} {
					told[name] = spawn(t, ctx, actortest.Func(func(*actor.Context, any) error {
						late.Store(name, time.Since(begun))
						return nil
					}))
				}
				tell := func(ctx *actor.Context, r actor.Ref) {
					if err := ctx.Tell(r, "run"); err != nil {
						t.Error(err)
					}
				}
				long = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, _ any) error {
					begun = time.Now()
					tell(ctx, told["displaced"])
					tell(ctx, told["next"])
					time.Sleep(10 * time.Millisecond)
					return nil
				}))
				first = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, _ any) error {
					tell(ctx, told["queued"])
					tell(ctx, long) // runs next, so the one before is in the queue
					return nil
				}))
				metronome = spawn(t, ctx, actortest.Func(func(*actor.Context, any) error { return nil }))
			})
			for at := time.Duration(0); at < 4*period+phase && !quiet; at += step { // the watchdog has been looking, and turns were short
				if err := metronome.Tell("tick"); err != nil {
					t.Error(err)
				}
				time.Sleep(step)
			}
			if quiet {
				time.Sleep(time.Second)
				first = long
				delete(told, "queued")
			}
			if err := first.Tell("go"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Microsecond)
			if err := told["from outside"].Tell("run"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			for name := range told {
				d, ok := late.Load(name)
				if !ok || d.(time.Duration) > most {
					t.Errorf("phase %v: the neighbour %q ran after %v, want at most %v", phase, name, d, most)
				}
			}
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
				victims = append(victims, spawn(t, ctx, actortest.Func(func(*actor.Context, any) error { runtime.Goexit(); return nil })))
			}
			after = spawn(t, ctx, actortest.Func(func(*actor.Context, any) error { handled++; return nil }))
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

// busy returns a pool with a worker that runs something, as far as others can see,
// and that never starts another one: woken says whether it would have.
func busy(t *testing.T, cfg Config) (w *worker, woken func() bool) {
	t.Helper()
	p, err := NewPool(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.fresh, p.later = func() {}, func() {}
	w = p.unpark()
	p.armed.Store(true)
	p.timer = time.AfterFunc(time.Hour, func() {})
	t.Cleanup(func() { p.timer.Stop() })
	return w, func() bool { return searching(p.search.Load()) > 0 || p.standby.Load() > 0 }
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
		{"all workers are busy", worthwhile, 2, Config{MaxWorkers: 1}, false},
	} {
		w, woken := busy(t, c.cfg)
		w.cost.Store(c.cost)
		for range c.actors {
			w.push(new(box))
		}
		if got := woken(); got != c.woken {
			t.Errorf("%s: woken is %v, want %v", c.name, got, c.woken)
		}
		if w.queue.forks != 0 {
			t.Errorf("%s: an actor is taken for a fork", c.name)
		}
		if w.pool.visible() != (c.woken || c.cfg.MaxWorkers > 0) {
			t.Errorf("%s: visible is %v", c.name, w.pool.visible())
		}
	}
}

// What it did not pay to wake a worker for is not forgotten: the watchdog does when
// the same actor is the first in the queue at its next look, and not before.
func TestWatchdogFindsWhoWaits(t *testing.T) {
	w, woken := busy(t, Config{})
	w.cost.Store(1)
	w.push(new(box))
	w.push(new(box))
	w.head = ^uint32(0) // as if another one had been first at the last look
	w.pool.watch()
	if woken() {
		t.Fatal("a worker was woken at the first look")
	}
	w.queue.pop()
	w.add(job{r: new(box)}, 0)
	look := func(cost uint32) {
		w.answer(time.Now())
		w.cost.Store(cost)
		w.pool.watch()
	}
	if look(1); woken() {
		t.Fatal("a worker was woken although another actor was first in the queue at the last look")
	}
	if look(1); !woken() {
		t.Fatal("no worker was woken although the same actor was first in the queue since the last look")
	}
	w.pool.search.Store(0)
	w.queue.pop()
	if look(worthwhile); !woken() {
		t.Fatal("no worker was woken for what turned out to be worth one")
	}
}

// A worker that has not answered by the next look counts as stuck, and another one is
// woken if actors wait for it, also the one that is to run next there, which it may
// take; one that has answered does not.
func TestWatchdogFindsWhoIsStuck(t *testing.T) {
	for _, c := range []struct{ answers, waits, woken bool }{
		{false, true, true},
		{false, false, false},
		{true, true, false},
	} {
		w, woken := busy(t, Config{})
		b := new(box)
		if c.waits {
			w.next.Store(b)
		}
		w.pool.watch()
		if c.answers {
			w.answer(time.Now())
		}
		w.pool.watch()
		if got := woken(); got != c.woken || w.stuck.Load() == c.answers {
			t.Errorf("%+v: woken is %v, stuck %v", c, got, w.stuck.Load())
		}
		w.show() // it may be
		j := w.pool.unpark().grab()
		if j.none() == c.woken || c.woken && j.r != runnable(b) {
			t.Errorf("%+v: another worker finds %v", c, j.r)
		}
		w.take()
		if w.asked.Load() || w.stuck.Load() || w.pool.stuck.Load() != 0 {
			t.Errorf("%+v: it is stuck after its job", c)
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
		w, woken := busy(t, Config{})
		w.pool.armed.Store(false)
		w.cost.Store(c.cost)
		b := new(box)
		w.next.Store(b)
		w.offer(b, c.n)
		if got := w.next.Load() == nil && w.queue.len() == 1; got != c.offered || c.offered != woken() {
			t.Errorf("cost %d, message %d: offered is %v, a worker woken %v, want %v", c.cost, c.n, got, woken(), c.offered)
		}
		if w.queue.forks != 0 {
			t.Error("an actor that is offered is taken for a fork")
		}
		if w.pool.armed.Load() != c.offered {
			t.Errorf("cost %d, message %d: who searches has looked before, and the watchdog is armed: %v", c.cost, c.n, !c.offered)
		}
	}
}

// A worker writes down what its turns take.
func TestAnswerMeasuresTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := busy(t, Config{})
		turns := func(when string, n uint64, took time.Duration, want uint32) {
			t.Helper()
			w.tally.Turns += n
			time.Sleep(took)
			if w.answer(time.Now()); w.cost.Load() != want {
				t.Errorf("%s, %d turns in %v: a turn takes %d ns, want %d", when, n, took, w.cost.Load(), want)
			}
		}
		new(Dispatcher).enter(w)
		w.answer(time.Now())
		turns("at first", 1000, time.Millisecond, 1000)
		turns("of no length that one could measure", 10, 0, 1000)
		turns("later", 2, 20*time.Microsecond, 10_000)
		new(Dispatcher).enter(w)
		turns("of another dispatcher's actors", 2, 10*time.Microsecond, 5000)
		turns("no more than it takes to be worth a worker", 1, time.Second, worthwhile)
		time.Sleep(time.Second)
		w.pool.park(w, false)
		time.Sleep(time.Second)
		if w.pool.unpark() != w {
			t.Fatal("another worker is there than the one that has parked")
		}
		w.cost.Store(1000)
		turns("after a second in which the worker was parked", 2, 0, 1000)
		turns("since", 2, 20*time.Microsecond, 10_000)
	})
}

// While others compute, a goroutine that stands by leaves forks a slice to each of them, and takes
// over after one slice what comes from outside, as an extra worker. It does not count as searching
// meanwhile, and ends when there is nothing to do.
func TestStandbyLeavesSlicesToThoseThatCompute(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	w, _ := busy(t, Config{})
	p := w.pool
	w.fork(new(future))
	looks := func(active, waiting int32) (rounds uint32, extra bool) {
		p.active.Store(active)
		p.waiting.Store(waiting)
		p.standby.Store(1)
		before := p.search.Load()
		needed, extra := p.await()
		if loops, joins := p.loops.Load(), p.joins.Load(); loops != 0 || joins != 0 {
			t.Errorf("a new round begins with %d and %d that have begun a job in it", loops, joins)
		}
		after := p.search.Load()
		if n := searching(after) - searching(before); p.standby.Load() != 0 || n == 1 != needed || n > 1 {
			t.Errorf("needed: %v; then %d stand by and %d search", needed, p.standby.Load(), n)
		}
		p.search.Store(after - after%oneRound)
		return round(after) - round(before), extra
	}
	var over atomic.Bool
	var hog sync.WaitGroup
	hog.Go(func() {
		for !over.Load() {
			if n := searching(p.search.Load()); n > 0 && p.standby.Load() > 0 {
				t.Errorf("%d search while one stands by, off the processor", n)
				return
			}
		}
	})
	for _, tt := range []struct {
		what    string
		outside bool
		want    uint32
	}{
		{"forks", false, 6}, // once before each of 5 slices, and once more
		{"one from outside", true, 1},
	} {
		if tt.outside {
			p.inject.push(job{r: new(box)})
		}
		got, extra := uint32(0), false
		for try := 0; try < 20 && (got != tt.want || extra != tt.outside); try++ {
			if got, extra = looks(5, 0); got > tt.want {
				t.Fatalf("%s: it looked %d times, want at most %d", tt.what, got, tt.want)
			}
		}
		if got != tt.want || extra != tt.outside {
			t.Errorf("%s: it looked %d times, want %d; it is extra: %v", tt.what, got, tt.want, extra)
		}
	}
	over.Store(true)
	hog.Wait()
	if got, extra := looks(1, 1); got != 1 || extra {
		t.Errorf("it looked %d times, want once: the only worker has said that it waits", got)
	}
	p.inject.pop()
	w.queue.pop()
	p.loops.Store(1)
	if got, _ := looks(5, 0); got != 1 {
		t.Errorf("it looked %d times, want once: the work is gone", got)
	}
}

// A worker that was promised and is not to be had leaves the watchdog behind:
// meanwhile others have seen that one is about to look, and have left to it
// what they made ready.
func TestWorkerTooManyLeavesTheWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := busy(t, Config{MaxWorkers: 1})
		p := w.pool
		p.armed.Store(false)
		w.next.Store(new(box))
		p.standby.Store(1)
		p.inject.push(job{r: new(box)})
		p.running.Add(1)
		p.work(standsBy)
		if !p.armed.Load() {
			t.Error("an actor waits, no worker searches, and the watchdog is not armed")
		}
		if n, r := searching(p.search.Load()), p.running.Load(); n != 0 || r != 0 {
			t.Errorf("%d workers are believed to search in %d goroutines, and none does", n, r)
		}
		if round(p.search.Load()) == 0 {
			t.Error("it did not look whether it is needed")
		}
		p.timer.Stop()
	})
}

// Who wants a worker where there are as many as may be leaves the watchdog behind: all may block.
func TestFullPoolLeavesTheWatchdog(t *testing.T) {
	p := workerless(t)
	p.wake()
	if !p.armed.Load() {
		t.Error("no worker can come, and nothing will look whether those there are block")
	}
}

// Where what is next never ends, as with two actors that talk to each other, one job in 65
// is still from the queue, besides the one in 61 that comes from its old end. The number
// is that of the package's comment, not budget, which is held against it.
func TestQueueHasItsShareBesideNext(t *testing.T) {
	const inARow, all = 64, 65 * 61
	w, _ := busy(t, Config{})
	next, queued := new(box), new(box)
	fromQueue := 0
	for range all {
		w.next.Store(next)
		if w.queue.len() == 0 {
			w.queue.push(job{r: queued}, 0)
		}
		j := w.take()
		if j.none() {
			t.Fatal("a worker with jobs finds none")
		}
		if j.r == queued {
			fromQueue++
		}
	}
	// What bottom takes does not count against what is next, nor the reverse.
	for w.queue.len() == 0 {
		w.queue.push(job{r: queued}, 0)
	}
	w.jobs, w.nexts = bottom, inARow-1
	for _, want := range []*box{next, queued} {
		w.next.Store(next)
		if j := w.take(); j.r != want {
			t.Errorf("%v came, want what is next the %dth time in a row and then what is queued", j.r, inARow)
		}
	}
	if w.nexts != 0 {
		t.Errorf("what is next is believed to have come %d times since", w.nexts)
	}
	w.jobs, w.nexts = bottom, inARow
	w.next.Store(next)
	if j := w.take(); j.r != next {
		t.Errorf("it is the queue's time, which is empty, and %v came and not what is next", j.r)
	}
	if want := all/(inARow+1) + all/61; fromQueue < want-2 || fromQueue > want+2 {
		t.Errorf("%d of %d jobs came from the queue, want %d", fromQueue, all, want)
	}
}

// An actor in the run-next slot follows a turn, unless the worker is to answer the watchdog, or
// to look elsewhere. So a worker counts itself, too, once a round.
func TestNextFollows(t *testing.T) {
	w, _ := busy(t, Config{})
	next := new(box)
	for _, tt := range []struct {
		name  string
		next  *box
		asked bool
		jobs  uint32
		nexts int
		want  *box
	}{
		{name: "nothing is next", jobs: 7},
		{name: "the watchdog asks", next: next, asked: true, jobs: 7},
		{name: "the inject queue's time", next: next, jobs: poll - 1},
		{name: "the time of the oldest", next: next, jobs: 0},
		{name: "the queue's time", next: next, jobs: 7, nexts: budget},
		{name: "before the inject queue's time", next: next, jobs: poll - 2, want: next},
		{name: "after the oldest", next: next, jobs: bottom, want: next},
		{name: "before the queue's time", next: next, jobs: 7, nexts: budget - 1, want: next},
	} {
		w.next.Store(tt.next)
		w.asked.Store(tt.asked)
		w.jobs, w.nexts = tt.jobs, tt.nexts
		got := w.following()
		taken, left := uint32(0), tt.next
		if tt.want != nil {
			taken, left = 1, nil
		}
		if got != tt.want || w.next.Load() != left || w.jobs-tt.jobs != taken || w.nexts-tt.nexts != int(taken) {
			t.Errorf("%s: %p follows, and %p is next, after %d jobs and %d from there", tt.name, got, w.next.Load(), w.jobs-tt.jobs, w.nexts-tt.nexts)
		}
	}
	w.pool.loops.Store(0)
	for round := range int32(3) {
		w.pool.search.Add(oneRound)
		for range 2 {
			w.jobs, w.nexts = bottom, 0
			w.next.Store(next)
			w.following()
		}
		if loops := w.pool.loops.Load(); loops != round+1 {
			t.Errorf("in round %d the worker has counted itself %d times", round, loops)
		}
	}
}

// An actor that was to be next and is not, since it is time for what comes from
// elsewhere, is looked after: that may block, and who searched has perhaps given up.
func TestActorBehindAPolledJobIsLookedAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := busy(t, Config{})
		p := w.pool
		p.armed.Store(false)
		w.cost.Store(1000) // so that it is not worth another worker
		w.jobs = poll - 1
		first := job{r: new(box)}
		w.push(new(box))
		if p.armed.Load() {
			t.Error("the watchdog is armed for an actor that comes next")
		}
		p.inject.push(first)
		if w.take() != first {
			t.Fatal("the job from outside did not come first")
		}
		if !p.armed.Load() {
			t.Error("an actor waits behind a job that may block, and the watchdog is not armed")
		}
		p.timer.Stop()
	})
}

// An actor behind others is looked after, if they are not worth another worker: the handler in
// progress may block.
func TestActorBehindOthersIsLookedAfter(t *testing.T) {
	for name, before := range map[string]func(w *worker){
		"in the queue":    func(w *worker) { w.push(new(box)) },
		"that comes next": func(w *worker) { w.next.Store(new(box)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			w, _ := busy(t, Config{})
			w.pool.armed.Store(false)
			w.cost.Store(1000)
			before(w)
			w.push(new(box))
			if !w.pool.armed.Load() {
				t.Errorf("an actor waits behind one %s, and the watchdog is not armed", name)
			}
			w.pool.timer.Stop()
		})
	}
}

// A worker counts for the dispatcher whose actors it last ran, however many other jobs it
// takes, until that one is stopped.
func TestWorkerLeavesAStoppedDispatcher(t *testing.T) {
	w := newWorker(workerless(t), 1)
	d := NewDispatcherOn(w.pool)
	d.enter(w)
	w.tally.Messages = 7
	if w.Dispatcher() != d {
		t.Error("a worker that runs actors of a dispatcher does not say so")
	}
	for _, stopped := range []bool{false, true} {
		d.stopped.Store(stopped)
		for range poll {
			w.take()
		}
		if left := w.d == nil; left != stopped {
			t.Errorf("after %d jobs the worker has left is %v, want %v", poll, left, stopped)
		}
	}
	var s actor.Stats
	if d.AddStats(&s); s.Messages != 7 {
		t.Errorf("%d messages are counted, and the worker has left after 7", s.Messages)
	}
}

// A worker that has waited is one that works again.
func TestWaitIsUndone(t *testing.T) {
	w, _ := busy(t, Config{})
	p := w.pool
	w.block()
	if n, stuck := p.waiting.Load(), p.stuck.Load(); n != 1 || stuck != 1 {
		t.Errorf("of one worker, which waits, %d wait and %d are stuck", n, stuck)
	}
	w.unblock()
	if n, stuck := p.waiting.Load(), p.stuck.Load(); n != 0 || stuck != 0 || w.stuck.Load() {
		t.Errorf("of one worker, which has waited, %d wait and %d are stuck", n, stuck)
	}
	w.cost.Store(1)
	w.add(job{r: new(box)}, 0)
	if w.pays() {
		t.Error("one short job is worth another worker")
	}
	if w.stuck.Store(true); !w.pays() {
		t.Error("what waits for a worker that is blocked is not worth another one")
	}
	w.queue.pop()
	if w.next.Store(new(box)); !w.pays() {
		t.Error("what is next at a worker that is blocked is not worth another one")
	}
	var l lender
	g := (&Dispatcher{pool: p}).NewGuest(&l).(*guest)
	g.block()
	g.unblock()
	if n := p.waiting.Load(); n != 0 || l != 1 {
		t.Errorf("%d workers wait, and it was a guest that has waited, which its lender was told %d times", n, l)
	}
}

// lender is the [actor.Lender] of a guest that may wait: how often it has.
type lender int

func (l *lender) TurnWaits() { *l++ }

// A worker that is about to wait has another one woken for what waits.
func TestWaitingWorkerHasOthersWoken(t *testing.T) {
	for name, before := range map[string]func(w *worker){
		"nothing":        func(*worker) {},
		"for it":         func(w *worker) { w.next.Store(new(box)) },
		"in its queue":   func(w *worker) { w.queue.push(job{r: new(box)}, 0) },
		"for any worker": func(w *worker) { w.pool.inject.push(job{r: new(box)}) },
	} {
		w, woken := busy(t, Config{})
		before(w)
		if w.block(); woken() != (name != "nothing") {
			t.Errorf("what waits: %s; a worker is woken: %v", name, woken())
		}
	}
}

// A worker that takes two jobs from outside has another one woken for the second: the first
// may block.
func TestSecondOfTwoJobsIsNotLeftBehind(t *testing.T) {
	for _, active := range []int32{1, crowd + 1} { // it takes both, or one
		for _, r := range []runnable{new(box), new(future)} {
			w, woken := busy(t, Config{})
			w.cost.Store(1)
			w.pool.active.Store(active)
			for range 2 {
				w.pool.inject.push(job{r: r})
			}
			if w.other().none() || !woken() {
				t.Errorf("with %d workers: a job is left behind, and no worker searches", active)
			}
			if _, actor := r.(*box); active == 1 && w.pays() == actor {
				t.Errorf("a %T in the queue is worth another worker: %v", r, !actor)
			}
		}
	}
}

// A worker with jobs takes one of another's now and then, if a new worker waits to be needed: the
// other one may be blocked.
func TestPollRobsForAWorkerThatWaits(t *testing.T) {
	for waiting := range uint32(2) {
		w, _ := busy(t, Config{})
		victim := w.pool.unpark()
		w.add(job{r: new(box)}, 0)
		victim.add(job{r: new(box)}, 0)
		w.jobs = poll - 1
		w.pool.standby.Store(int32(waiting))
		if w.take(); victim.queue.len() != 1-int(waiting) {
			t.Errorf("with %d new workers that wait, %d jobs are left to another worker", waiting, victim.queue.len())
		}
	}
}

// The watchdog finds one actor in one queue that waits, whatever others have.
func TestWatchdogFindsOneThatWaits(t *testing.T) {
	for late := range 2 {
		a, woken := busy(t, Config{})
		ws := []*worker{a, a.pool.unpark()}
		for i, w := range ws {
			w.cost.Store(1)
			w.add(job{r: new(box)}, 0)
			if i != late {
				w.head = ^uint32(0) // as if another one had been first at the last look
			}
		}
		if a.pool.watch(); !woken() {
			t.Errorf("an actor waits in queue %d since the last look, and no worker was woken", late)
		}
	}
}

// Half of a full queue goes to all, the oldest first.
func TestHalfOfAFullQueueIsShared(t *testing.T) {
	w, _ := busy(t, Config{QueueCapacity: 6})
	for i := range 7 {
		w.add(job{r: new(box), arg: i}, 0)
	}
	for want := range 3 {
		if j := w.pool.inject.pop(); j.arg != any(want) {
			t.Errorf("job %v is for all, want %d", j.arg, want)
		}
	}
	if n := w.queue.len(); n != 4 || !w.pool.inject.empty() {
		t.Errorf("%d jobs are left in the queue, want 4, and no more for all", n)
	}
}

// A dispatcher serves one system.
func TestDispatcherStartsOnce(t *testing.T) {
	d := NewDispatcher()
	d.AddStats(new(actor.Stats)) // it may be asked before
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	d.pool.unpark()
	var s actor.Stats
	if d.AddStats(&s); s.Workers != 1 {
		t.Errorf("%d workers, want 1", s.Workers)
	}
	if d.Start() == nil {
		t.Error("a dispatcher was started twice")
	}
}

// What a guest has counted stays counted when it leaves, and what it made ready goes to others:
// all but the first, which waits for Run, at once.
func TestGuestsAreCountedAndLeave(t *testing.T) {
	p := workerless(t)
	d := NewDispatcherOn(p)
	first, second := d.NewGuest(nil).(*guest), d.NewGuest(nil).(*guest)
	for i, g := range []*guest{first, second} {
		g.count.Turns, g.count.Messages = uint64(i+1), uint64(10*i+10)
		g.count.Publish()
	}
	kept, shared := new(box), new(box)
	d.schedule(kept, first)
	d.schedule(shared, first)
	if first.ready != kept || p.inject.pop().r != shared || !p.inject.empty() {
		t.Error("what a guest has made ready first is not its own, or the second not for all")
	}
	for left := range 2 {
		var s actor.Stats
		if d.AddStats(&s); s.Turns != 3 || s.Messages != 30 {
			t.Errorf("with %d guests gone: %d turns, %d messages, want 3 and 30", left, s.Turns, s.Messages)
		}
		if left == 0 {
			first.Leave()
		}
	}
	if first.ready != nil || p.inject.pop().r != kept || len(d.guests.Load().all) != 1 {
		t.Error("a guest that has left holds on to an actor, or is still among them")
	}
}

// An actor that is made ready waits where its pool's workers find it: with the worker that it was
// told on, if that is one of them, and then the watchdog looks after it; work that is
// conserved is shown.
func TestWhereAnActorWaits(t *testing.T) {
	w, _ := busy(t, Config{})
	b, p := new(box), w.pool
	p.armed.Store(false)
	if NewDispatcherOn(p).schedule(b, w); w.next.Load() != b || !p.armed.Load() {
		t.Error("the actor is not next where it was told, or the watchdog not armed")
	}
	elsewhere := workerless(t)
	other := new(box)
	if NewDispatcherOn(elsewhere).schedule(other, w); w.next.Load() != b || elsewhere.inject.pop().r != other {
		t.Error("an actor of another pool does not wait there")
	}
	w, woken := busy(t, Config{Strategy: WorkConserving})
	NewDispatcherOn(w.pool).schedule(b, w)
	if w.row.shown.Load() != w.bit || !woken() {
		t.Error("work is to be conserved, and an actor is not shown")
	}
}

// What an actor sent to first waits with the worker as what it sent to last does,
// should the handler block now: the watchdog looks after it, also if it had ended.
func TestDisplacedActorIsLookedAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := busy(t, Config{})
		w.pool.armed.Store(false)
		w.cost.Store(1000) // so that they are not worth another worker
		w.next.Store(new(box))
		(&Dispatcher{pool: w.pool}).schedule(new(box), w)
		if !w.pool.armed.Load() {
			t.Error("two actors wait for a worker in a turn that may never end, and the watchdog is not armed")
		}
		w.pool.timer.Stop()
	})
}

// A worker that is one too many takes one job at a time, and no fork. When it has had its time it
// leaves short jobs to all, and keeps long ones, for which it goes on when Go lets it; unless it is
// no longer too many.
func TestExtraWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		victim, _ := busy(t, Config{})
		p := victim.pool
		w := p.unpark()
		procs := int32(p.cfg.atATime())
		p.active.Store(procs + 1)
		for _, tt := range []struct {
			what  string
			fill  func()
			found bool
			left  int // jobs that its look has left
		}{
			{"three from outside", func() {
				for range 3 {
					p.inject.push(job{r: new(box)})
				}
			}, true, 2},
			{"three actors of another one", func() {
				for range 3 {
					victim.add(job{r: new(box)}, flagUrgent)
				}
			}, true, 2},
			{"a fork of another one", func() { victim.fork(new(future)) }, false, 1},
		} {
			tt.fill()
			w.extra = true
			p.search.Add(1)
			p.standby.Store(0)
			if got := !w.look().none(); got != tt.found || w.stock() || searching(p.search.Load()) != 0 || p.standby.Load() != 1 {
				t.Errorf("%s: found: %v; then it has some: %v, %d search and %d stand by", tt.what, got, w.stock(), searching(p.search.Load()), p.standby.Load())
			}
			left := 0
			for !victim.queue.pop().none() || !p.inject.pop().none() {
				left++
			}
			if left != tt.left {
				t.Errorf("%s: %d are left, want %d", tt.what, left, tt.left)
			}
		}
		for _, tt := range []struct {
			what        string
			active      int32
			after       time.Duration
			ran         int
			back, still bool
		}{
			{"not yet", procs + 1, period / 2, 1000, false, true},
			{"short jobs", procs + 1, period, 1000, true, true},
			{"long ones", procs + 1, period, 2, false, true},
			{"not too many", procs, period, 1000, false, false},
		} {
			p.active.Store(tt.active)
			w.extra, w.begun, w.ran = true, time.Now().Add(-tt.after), tt.ran
			w.queue.push(job{r: new(box)}, 0)
			w.next.Store(new(box))
			if got := w.standsBack(); got != tt.back || w.extra != tt.still || w.stock() == tt.back || p.inject.empty() == tt.back {
				t.Errorf("%s: it stands back: %v, is extra: %v, has some: %v, left some to all: %v", tt.what, got, w.extra, w.stock(), !p.inject.empty())
			}
			w.next.Store(nil)
			for !w.queue.pop().none() || !p.inject.pop().none() {
			}
		}
	})
}

// A turn ends when the watchdog has looked meanwhile. After that the actor's turns end after a
// period, until its messages take little.
func TestTurnEndsByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := busy(t, Config{})
		b := new(box)
		w.asked.Store(true)
		if !b.over(w) || !b.slow {
			t.Errorf("the watchdog has looked, and the turn goes on, or the next one is not timed: %v", b.slow)
		}
		w.asked.Store(false)
		for _, tt := range []struct {
			each time.Duration
			want int // messages of a turn of at most 100
			slow bool
		}{{period, 1, true}, {period / 4, 4, true}, {quick, 100, true}, {quick / 2, 100, false}} {
			w.turnBegan, w.turnMessages = time.Now(), 0
			n := 0
			for b.slow = true; n < 100; {
				time.Sleep(tt.each)
				if n++; b.slow && b.over(w) {
					break
				}
			}
			if n != tt.want || b.slow != tt.slow {
				t.Errorf("messages of %v: %d in a turn, want %d; the next is timed: %v", tt.each, n, tt.want, b.slow)
			}
		}
		var turns uint64
		for _, each := range []time.Duration{0, period / 4} {
			var r actor.Ref
			s := system(t, actor.Config{}, func(ctx *actor.Context) {
				r = spawn(t, ctx, actortest.Func(func(*actor.Context, any) error {
					time.Sleep(each)
					return nil
				}))
				for range 100 {
					if err := ctx.Tell(r, 0); err != nil {
						t.Error(err)
					}
				}
			})
			time.Sleep(time.Second)
			if more := s.Stats().Turns - turns; each > 0 && more < 20 {
				t.Errorf("100 messages of %v take %d turns more than quick ones, want 20 at least", each, more)
			}
			turns = s.Stats().Turns
			shutdown(t, s)
		}
	})
}
