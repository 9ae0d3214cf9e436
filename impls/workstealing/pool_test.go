package workstealing

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
)

// Where a goroutine's stack is dear, the next start takes the one that rests, and the end of
// the pool ends it: the bubble would not end with it.
func TestGoroutinesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool()
		p.rests = true
		var started atomic.Int32
		p.fresh = func() { started.Add(1); p.work(searches) }
		g := NewGroupOn[int](p, t.Context())
		for range 20 {
			_ = g.Go(func(context.Context) (int, error) { return 1, nil })
			_ = g.Wait()
			synctest.Wait()
			if n := p.running.Load(); n != 0 {
				t.Fatalf("%d goroutines work with nothing to do", n)
			}
		}
		if n := started.Load(); n != 1 {
			t.Errorf("%d goroutines for 20 tasks one after the other, want 1", n)
		}
		over := false
		p.close(func() { over = true })
		if !over {
			t.Error("the pool's end waits for a goroutine that rests")
		}
		synctest.Wait()
		if n := p.running.Load(); n != 0 {
			t.Errorf("%d goroutines work after the end", n)
		}
		if p.resting != 0 {
			t.Errorf("%d goroutines are said to rest, and have ended: who wakes one waits for ever", p.resting)
		}
	})
}

// Tasks that sleep do not stop the others, however many there are, and cost a
// worker each while they do.
func TestPoolGrowsWhenTasksBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool()
		g := NewGroupOn[int](p, t.Context())
		const sleepers = 1000
		for range sleepers {
			_ = g.Go(func(context.Context) (int, error) { time.Sleep(time.Hour); return 0, nil })
		}
		synctest.Wait()
		if got := int(p.active.Load()); got != sleepers {
			t.Errorf("%d workers for %d sleeping tasks", got, sleepers)
		}
		start := time.Now()
		quick := NewGroupOn[int](p, t.Context())
		_ = quick.Go(func(context.Context) (int, error) { return 1, nil })
		if r, ok, err := quick.Next(t.Context()); r.Value != 1 || !ok || err != nil || time.Since(start) > 0 {
			t.Errorf("beside the sleepers: %v, %v, %v after %v", r, ok, err, time.Since(start))
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("they slept %v one after the other, want an hour side by side", took)
		}
		synctest.Wait()
		if got := p.active.Load(); got != 0 {
			t.Errorf("%d workers left without work", got)
		}
		if got, most := p.slots(), p.kept(); got > most {
			t.Errorf("%d workers kept, want at most %d", got, most)
		}
		if p.reaper != nil {
			t.Error("a pool that nothing closes has set a timer for its parked workers")
		}
	})
}

// A pool does not grow while as many workers as there are processors go from one job to the
// next, although a new one gets the processor now and then, when a time slice ends. How often
// that is, is the operating system's to decide: so these are the decisions alone.
func TestDemand(t *testing.T) {
	for _, tt := range []struct {
		name                              string
		turn, active, loops, joins, procs int32
		want                              necessity
	}{
		{"a processor is free", 0, 1, 0, 0, 2, needed},
		{"a processor is free, and the others are busy", 0, 1, 2, 0, 2, needed},
		{"all are busy", 0, 2, 2, 0, 2, unneeded},
		{"all are busy, and always will be", 1 << 20, 2, 2, 0, 2, unneeded},
		{"more than enough are busy", 1 << 20, 9, 3, 0, 2, unneeded},
		{"one has blocked", 0, 2, 1, 0, 2, unknown},
		{"one has blocked, and the turns are over", 2, 2, 1, 0, 2, needed},
		{"tasks join others", 0, 2, 0, 2, 2, unneeded},
		{"tasks join others, but one has blocked", 1, 2, 0, 1, 2, unknown},
		{"tasks join others for as long as they may", 1, 2, 1, 1, 2, unneeded},
		{"tasks join others for longer", 2, 2, 1, 1, 2, needed},
		{"of many workers, for as long as they may", patience - 1, 99, 1, 1, 2, unneeded},
		{"of many workers, for longer", patience, 99, 1, 1, 2, needed},
	} {
		if got := demand(tt.turn, tt.active, tt.loops, tt.joins, tt.procs); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// stub is a job of a test.
type stub func(w *worker)

func (f stub) run(w *worker, _ any) { f(w) }
func (f stub) recovers() bool       { return false }
func (f stub) caught(*worker, any)  {}

// What waits for a worker that has blocked does not wait until others, which always have
// something to do, have nothing: there is no further worker as long as as many as there
// are processors make progress.
func TestJobsBehindABlockedOneDoNotWaitForABusyWorker(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := newPool()
	const most = 10_000_000 // some hundred slices; 179 turns when there is nothing else
	release, ended := make(chan struct{}), make(chan struct{})
	turns, others := 0, atomic.Int32{}
	var busy stub
	busy = func(w *worker) {
		if turns++; turns == most || others.Load() == 6 {
			close(ended)
			return
		}
		w.add(job{r: busy}, 0)
	}
	other := stub(func(*worker) { others.Add(1) })
	// The first worker takes all of them and blocks; the second one takes the half with
	// the one that never ends.
	for _, f := range []stub{func(*worker) { <-release }, other, other, other, busy, other, other, other} {
		p.submit(job{r: f})
	}
	<-ended
	if turns == most {
		t.Errorf("a worker had %d turns while jobs waited behind one that was blocked", turns)
	}
	close(release)
}

// A worker that begins to count for another dispatcher does not wait for who reads what is counted: it
// would seem blocked, and have another worker started, and that one too.
func TestRecordsAreReadAndMadeAtOnce(t *testing.T) {
	var r records[int]
	*r.of(&worker{place: place{id: 0}}) = 1
	const last = 1000
	r.each(func(*int) { *r.of(&worker{place: place{id: last}}) = 2 }) // a lock would never be had here
	if *r.of(&worker{place: place{id: 0}}) != 1 || *r.of(&worker{place: place{id: last}}) != 2 {
		t.Error("a worker's record is not the one it had")
	}
	sum := 0
	for id := range last {
		r.of(&worker{place: place{id: id}})
	}
	n := 0
	r.each(func(c *int) { n++; sum += *c })
	if n != last+1 || sum != 3 {
		t.Errorf("%d records with %d in all, want %d with 3", n, sum, last+1)
	}
}

// Where goroutines rest, a task that panics or calls Goexit has its result, and the worker
// goes on.
func TestRestingGoroutinesRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool()
		p.rests, p.frugal = true, true
		g := NewGroupOn[int](p, t.Context(), group.WithPanicToError(true), group.WithFailFast(false))
		for range 3 {
			_ = g.Go(func(context.Context) (int, error) { panic("meant to") })
			_ = g.Go(func(context.Context) (int, error) { return 1, nil })
			_ = g.Go(func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
			for range 3 {
				r, _, err := g.Next(t.Context())
				var panicked *group.PanicError
				if err != nil || r.Value != 1 && !errors.As(r.Err, &panicked) && !errors.Is(r.Err, group.ErrGoexit) {
					t.Errorf("%+v, %v", r, err)
				}
			}
			synctest.Wait()
			if n := p.running.Load(); n != 0 {
				t.Fatalf("%d goroutines work with nothing to do", n)
			}
		}
		p.close(func() {})
	})
}

// There, too, it is the actor that panics which has failed, and not the one that told it.
func TestRestingGoroutinesBlameWhoPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool()
		p.rests, p.frugal = true, true
		var panics, tells actor.Ref
		var blamed []actor.Ref
		s := system(t, actor.Config{
			Dispatcher: NewDispatcherOn(p),
			Failures:   func(f actor.Failure) { blamed = append(blamed, f.Actor) },
		}, func(ctx *actor.Context) {
			panics = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, m any) error {
				if m == 0 {
					panic("meant to")
				}
				return ctx.Tell(tells, m)
			}))
			tells = spawn(t, ctx, actortest.Func(func(ctx *actor.Context, m any) error { return ctx.Tell(panics, m.(int)-1) }))
		})
		if err := panics.Tell(poll / 4); err != nil { // the first turn sets the watchdog, which asks; then what is next follows
			t.Error(err)
		}
		synctest.Wait()
		if !slices.Equal(blamed, []actor.Ref{panics}) {
			t.Errorf("%v have failed, want %v", blamed, panics)
		}
		shutdown(t, s)
		p.close(func() {})
	})
}

// A goroutine does not rest where as many do as run at a time, nor when the pool is closed:
// none would ever wake it.
func TestGoroutinesThatDoNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(p *Pool){
			"enough rest":        func(p *Pool) { p.resting = p.cfg.atATime() },
			"the pool is closed": func(p *Pool) { p.closed.Store(true) },
		} {
			p := newPool()
			p.rests = true
			change(p)
			if before := p.resting; p.rest() != notAtAll || p.resting != before {
				t.Errorf("%s, and one more has rested", name)
			}
		}
	})
}

// A pool that is closed is over when its last goroutine ends, and sets no timer any more.
func TestClosedPoolEnds(t *testing.T) {
	p, err := NewPool(Config{KeepAlive: time.Hour, MinWorkers: 1})
	if err != nil {
		t.Fatal(err)
	}
	ws := []*worker{p.unpark(), p.unpark(), p.unpark(), p.unpark()}
	p.running.Store(2)
	p.park(ws[2], false)
	p.park(ws[3], false) // one more than is kept: there is a timer
	p.arm()
	ends := 0
	p.close(func() { ends++ })
	if p.reaper.Stop() || p.timer.Stop() {
		t.Error("a timer goes on")
	}
	p.reaper, p.timer, p.reaps = nil, nil, false
	p.armed.Store(false)
	for _, w := range ws[:2] {
		if ends != 0 {
			t.Error("the pool is over, and a goroutine of it works")
		}
		p.park(w, false)
		p.exit()
	}
	p.running.Add(1) // one that was on its way and finds nothing
	p.exit()
	if p.arm(); ends != 1 || p.reaper != nil || p.timer != nil || p.armed.Load() {
		t.Errorf("the pool has ended %d times; timers: %v, %v", ends, p.reaper, p.timer)
	}
}

// The last goroutine may end while close looks for one: then both find that the pool is over.
func TestPoolEndsOnce(t *testing.T) {
	for range 200 {
		p := newPool()
		var ends atomic.Int32
		p.done = func() { ends.Add(1) }
		var both sync.WaitGroup
		both.Go(p.end)
		both.Go(p.end)
		both.Wait()
		if n := ends.Load(); n != 1 {
			t.Fatalf("the pool has ended %d times", n)
		}
	}
}

// Whichever worker comes last when workers are marked as stuck and answer that they are not, the pool
// counts those that are marked.
func TestStuckWorkersAreCounted(t *testing.T) {
	const times = 20_000
	p := newPool()
	w, other := p.unpark(), p.unpark()
	for name, two := range map[string][2]func(){
		"one is marked while it answers": {w.mark, func() { w.answer(time.Time{}) }},
		"two are marked, and answer": {
			func() { w.mark(); w.answer(time.Time{}) },
			func() { other.mark(); other.answer(time.Time{}) },
		},
	} {
		var ready atomic.Int32
		var both sync.WaitGroup
		for _, do := range two {
			both.Go(func() {
				for ready.Add(1); ready.Load() < 2; { // where there are two processors they run at once
					runtime.Gosched()
				}
				for range times {
					do()
				}
			})
		}
		both.Wait()
		w.answer(time.Time{})
		if n := p.stuck.Load(); n != 0 {
			t.Errorf("%s: %d workers are stuck, and none is marked", name, n)
		}
	}
}

// Each worker has a place of its own, and that of one that was dropped is used again. A bit
// that is still shown for it is in no one's way.
func TestPlacesOfWorkers(t *testing.T) {
	p := newPool()
	const n = rowSize + 6
	var all [n]*worker
	check := func() {
		t.Helper()
		rows := *p.rows.Load()
		for id, w := range all {
			if w.id != id || w.row != rows[id/rowSize] || w.bit != 1<<(id%rowSize) || w.row.workers[id%rowSize].Load() != w {
				t.Fatalf("worker %d is in the place of worker %d, with bit %b", id, w.id, w.bit)
			}
		}
	}
	for i := range all {
		all[i] = p.unpark()
	}
	check()
	for _, id := range []int{3, rowSize + 2, 5} {
		all[id].show()
		p.drop(all[id])
	}
	if p.visible() || !all[0].rob().none() {
		t.Error("there is a job at a worker that was dropped")
	}
	for range 3 {
		w := p.unpark()
		all[w.id] = w
	}
	check()
	if len(p.holes) != 0 || len(*p.rows.Load()) != 2 {
		t.Errorf("%d places are free in %d rows, want none in two", len(p.holes), len(*p.rows.Load()))
	}
}

// A worker that is parked is not stuck, however long, and that it was taken again counts.
func TestParkedWorkerIsNotStuck(t *testing.T) {
	w, _ := busy(t, Config{})
	p := w.pool
	p.park(w, false)
	for range 3 {
		p.watch()
	}
	if n := p.stuck.Load(); n != 0 {
		t.Errorf("%d workers are stuck, and the only one is parked", n)
	}
	if p.unpark() != w || w.early[wakes] != 1 || w.early[parks] != 1 {
		t.Errorf("of one worker that was parked and taken again: %v parks, %v wakes", w.early[parks], w.early[wakes])
	}
}

// KeepAlive is counted for each worker from when it parked: others that park meanwhile, before
// the first look or between two, postpone nothing, and it is counted again the next time.
func TestKeepAliveIsEachWorkersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewPool(Config{MinWorkers: 1, KeepAlive: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		again := func() { p.park(p.unpark(), false) }
		for range 2 {
			var ws [4]*worker
			for i := range ws {
				ws[i] = p.unpark()
			}
			begin := time.Now()
			at := func(s, want int) {
				t.Helper()
				time.Sleep(time.Until(begin.Add(time.Duration(s) * time.Second)))
				synctest.Wait()
				if n := p.slots(); want > 0 && n != want {
					t.Errorf("%d workers after %d s, want %d", n, s, want)
				}
			}
			p.park(ws[0], false)
			p.park(ws[1], false)
			at(30, 4)
			p.park(ws[2], false)
			p.park(ws[3], false)
			at(40, 4)
			again()
			at(61, 2)
			again()
			at(91, 1)
		}
	})
}

// A worker that was needed just before the timer rings stays, also if it parks as the only one.
func TestKeepAliveOfTheFirstToPark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := NewPool(Config{MinWorkers: 1, KeepAlive: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []time.Duration{59, 2} {
			a, b := p.unpark(), p.unpark()
			p.park(a, false)
			p.park(b, false)
			time.Sleep(s * time.Second)
			synctest.Wait()
		}
		if n := p.slots(); n != 2 {
			t.Errorf("%d workers, of two that parked at 59 s", n)
		}
	})
}

// Thieves reach every worker that has something, whichever others have as well.
func TestThievesComeToAll(t *testing.T) {
	p := newPool()
	p.cfg.QueueCapacity = 2
	victims := make([]*worker, 4*rowSize)
	stock := func(i int) { victims[i].add(job{r: stub(nil), arg: i}, 0) }
	for i := range victims {
		victims[i] = p.unpark()
		stock(i)
	}
	thief := newWorker(p, 1)
	robbed := map[int]bool{}
	n := uint64(0)
	for ; len(robbed) < len(victims) && n < 100_000; n++ {
		i := thief.rob().arg.(int)
		robbed[i] = true
		stock(i)
	}
	if len(robbed) < len(victims) || thief.early[steals] != n {
		t.Errorf("%d of %d workers were robbed in %d times, of which %d were counted", len(robbed), len(victims), n, thief.early[steals])
	}
}

// Who began a job in a round counts among those that went from one to the next, or, within a
// task that waits, among those that join.
func TestRoundIsCounted(t *testing.T) {
	p := newPool()
	w := newWorker(p, 1)
	for depth := range 3 {
		w.depth = depth
		p.search.Add(oneRound)
		if !w.late() {
			t.Errorf("in round %d a worker that counted itself in the one before need not again", depth+1)
		}
		w.attend()
		if loops, joins := p.loops.Load(), p.joins.Load(); loops != 1 || joins != int32(depth) || w.round != uint32(depth+1) {
			t.Errorf("after %d rounds: %d loops and %d joins, in round %d", depth+1, loops, joins, w.round)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		x.pool.search.Add(oneRound)
		_, _ = inside(x, func(ctx context.Context) (int, error) {
			x.pool.search.Add(oneRound + 1) // a new round, and no thief
			defer x.pool.search.Add(^uint32(0))
			return task.Fork(ctx, one).Value(ctx)
		})
		synctest.Wait()
		if loops, joins := x.pool.loops.Load(), x.pool.joins.Load(); loops != 1 || joins != 1 {
			t.Errorf("a task and one in its place, in two rounds: %d loops, %d joins, want one of each", loops, joins)
		}
	})
}

// A pool is full when as many workers as may run at a time are not stuck, or MaxWorkers have
// goroutines.
func TestFullPool(t *testing.T) {
	for _, tt := range []struct {
		parallelism, most int
		active, stuck     int32
		want              bool
	}{
		{0, 4, 3, 0, false},
		{0, 4, 4, 0, true},
		{0, 4, 4, 4, true},
		{1, 4, 0, 0, false},
		{1, 4, 1, 0, true},
		{1, 4, 1, 1, false},
		{2, 4, 2, 1, false},
		{2, 4, 3, 1, true},
	} {
		p := newPool()
		p.cfg.Parallelism, p.cfg.MaxWorkers = tt.parallelism, tt.most
		p.active.Store(tt.active)
		p.stuck.Store(tt.stuck)
		if p.full() != tt.want {
			t.Errorf("%+v: the pool is full: %v", tt, !tt.want)
		}
	}
}

// What is made visible is so before a worker is woken for it, which may look at once and give up.
func TestJobsAreVisibleBeforeAWorkerIsWoken(t *testing.T) {
	b := func(p *Pool) *box { return &box{d: NewDispatcherOn(p)} }
	for _, tt := range []struct {
		what string
		cfg  Config
		make func(p *Pool, w *worker)
	}{
		{"from outside", Config{}, func(p *Pool, _ *worker) { p.share(b(p), false) }},
		{"with a priority", Config{Strategy: Priority}, func(p *Pool, _ *worker) { p.share(b(p), false) }},
		{"next", Config{Strategy: WorkConserving}, func(p *Pool, w *worker) { b(p).d.schedule(b(p), w) }},
		{"offered", Config{}, func(_ *Pool, w *worker) { w.offer(w.next.Load(), many) }},
		{"queued", Config{}, func(p *Pool, w *worker) { w.push(b(p)) }},
		{"a fork", Config{}, func(p *Pool, w *worker) {
			hs := numbered(2)
			hs[0].Room().Place = w
			_ = NewExecutorOn(p).Start(hs[1], hs[0])
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, err := NewPool(tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			p.again, p.rests, p.resting = make(chan start), true, 1 // who wakes a worker waits until it is received
			w := p.unpark()
			switch tt.what {
			case "offered":
				w.next.Store(b(p))
			case "queued":
				w.queue.push(job{r: b(p)}, 0)
			}
			go tt.make(p, w)
			synctest.Wait()
			if !p.visible() {
				t.Errorf("%s: a worker is woken before the job is visible", tt.what)
			}
			<-p.again
			synctest.Wait()
			p.close(func() {})
		})
	}
}

// A dropped worker is used again elsewhere: nothing of what it ran lives on in it, and it counts for
// no one in its old place.
func TestDroppedWorkerForgets(t *testing.T) {
	p := workerless(t)
	w, x := p.hire(), NewExecutorOn(p)
	w.show()
	NewDispatcherOn(p).enter(w)
	x.of(w)
	w.wait.over = make(chan struct{}, 1)
	w.timed = true
	w.asked.Store(true)
	w.cost.Store(1)
	p.drop(w)
	if w.d != nil || w.tally != nil || w.x != nil || w.books != nil || w.wait.over != nil || w.timed || w.asked.Load() || w.cost.Load() != 0 {
		t.Error("a worker that was dropped keeps what it was")
	}
}

// The next worker's owner writes no line of this one: memory of this size comes in whole lines.
func TestWorkerHasItsLines(t *testing.T) {
	if size := unsafe.Sizeof(worker{}); unsafe.Sizeof(size) == 8 && (size <= 480 || size > 512) {
		t.Errorf("a worker has %d bytes, want more than 480, and 512 at most", size)
	}
}
