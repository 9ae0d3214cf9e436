package workstealing

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/group"
)

// Where a goroutine's stack is dear, the next start takes the one that rests, and the end of
// the pool ends it: the bubble would not end with it.
func TestGoroutinesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool()
		p.rests = true
		var started atomic.Int32
		p.start = func() { started.Add(1); p.work() }
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
	*r.of(&worker{id: 0}) = 1
	const last = 1000
	r.each(func(*int) { *r.of(&worker{id: last}) = 2 }) // a lock would never be had here
	if *r.of(&worker{id: 0}) != 1 || *r.of(&worker{id: last}) != 2 {
		t.Error("a worker's record is not the one it had")
	}
	sum := 0
	for id := range last {
		r.of(&worker{id: id})
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
		p.rests = true
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
