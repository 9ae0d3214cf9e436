package workstealing

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
)

// These tests have something happen between a look and what relies on it: what is not looked
// for once more would wait for ever.

func needsWindows(t *testing.T) {
	t.Helper()
	if !invariants.Enabled {
		t.Skip("windows are nothing in this build: -race or -tags dynocheck")
	}
}

// workerless returns a pool that starts no workers, and whose watchdog can be armed but never
// looks: its time is the machine's.
func workerless(t *testing.T) *Pool {
	t.Helper()
	p := newPool()
	p.cfg.MaxWorkers = 0
	p.timer = time.AfterFunc(time.Hour, func() {})
	t.Cleanup(func() { p.timer.Stop() })
	return p
}

// A job comes when the watchdog has seen none: in the first window its sender sees the watchdog
// still armed, and relies on the last look; in the second one, behind that look, it must not.
func TestJobThatComesAsTheWatchdogEnds(t *testing.T) {
	needsWindows(t)
	for where, come := range map[string]func(w *worker){
		"from outside":        func(w *worker) { w.pool.inject.push(job{}) },
		"in a worker's queue": func(w *worker) { w.queue.push(job{}, 0) },
	} {
		for _, at := range []int{1, 2} {
			p := workerless(t)
			p.cfg.MaxWorkers = 1
			w := p.unpark()
			p.cfg.MaxWorkers = 0
			p.set() // asks the worker, which does not answer
			p.timer.Stop()
			window := 0
			end := invariants.Within(func() {
				if window++; window == at {
					come(w)
					p.set() // as a sender does
				}
			})
			p.watch()
			end()
			if window < at || !p.armed.Load() {
				t.Errorf("in window %d of %d a job came %s, which waits, and nothing will look whether a worker comes to it", at, window, where)
			}
		}
	}
}

// A thief may run a task as soon as it is queued: it is pending by then.
func TestTaskIsPendingBeforeItIsQueued(t *testing.T) {
	needsWindows(t)
	x := NewExecutor()
	x.pool.search.Add(1) // no other worker
	w := x.pool.unpark()
	hs := numbered(2)
	hs[0].Room().Place = w
	queued, pending := 0, 0
	end := invariants.Within(func() { queued, pending = w.queue.len(), x.Pending() })
	err := x.Start(hs[1], hs[0])
	end()
	if err != nil || queued != 1 || pending != 1 {
		t.Errorf("%d tasks were queued and %d pending, %v; want one", queued, pending, err)
	}
}

// Go and Close write the same word: a task that is accepted as the group is being closed counts.
func TestTaskThatIsAcceptedAsTheGroupCloses(t *testing.T) {
	needsWindows(t)
	g := NewGroupOn[int](workerless(t), context.Background())
	came := false
	end := invariants.Within(func() {
		if came {
			return
		}
		came = true
		if err := g.Go(func(context.Context) (int, error) { return 0, nil }); err != nil {
			t.Error(err)
		}
	})
	g.Close()
	end()
	if st := g.state.Load(); !came || st != closedBit|2 {
		t.Errorf("the group's state is %b, want closed, with one task", st)
	}
}

// A failed task's result is taken as soon as it is there: the context is canceled by then.
func TestFailureThatIsTakenAtOnce(t *testing.T) {
	needsWindows(t)
	g := NewGroupOn[int](workerless(t), context.Background())
	var ctxErr error
	end := invariants.Within(func() {
		if _, ok := g.results.pop(); ok {
			ctxErr = g.outcome.Context().Err()
		}
	})
	g.complete(group.Result[int]{Err: errors.New("failed")}, 0)
	end()
	if ctxErr != context.Canceled {
		t.Errorf("who has taken the result finds the context ended by %v", ctxErr)
	}
}

// A turn ends as a message for it is being queued: the sender looks at the phase last.
func TestTurnThatEndsAsABoundedMessageIsQueued(t *testing.T) {
	needsWindows(t)
	p := workerless(t)
	d := NewDispatcherOn(p)
	b := d.Attach(actor.MailboxConfig{Policy: actor.Block, Capacity: 4}).(*box)
	b.word.Store(phaseScheduled)
	end := invariants.Within(func() {
		if b.bounded.len() == 0 {
			t.Error("the sender gives way before its message is there for the end of the turn to see")
		}
		b.word.Store(phaseIdle) // the turn had looked before the message came
	})
	res := b.Send("m", nil)
	end()
	if res != actor.Sent || b.word.Load()&phaseMask != phaseScheduled {
		t.Errorf("%v: a message is in the mailbox of an idle actor, which no worker will run", res)
	}
}

// Two see that an actor is idle for which they have queued messages: it is scheduled once, or two
// workers would have its turn.
func TestTwoSendersScheduleAnActorOnce(t *testing.T) {
	needsWindows(t)
	p := workerless(t)
	b := NewDispatcherOn(p).Attach(actor.MailboxConfig{Policy: actor.Block, Capacity: 4}).(*box)
	window := 0
	end := invariants.Within(func() {
		if window++; window == 2 { // the first sender has seen that the actor is idle
			b.Send("second", nil)
		}
	})
	b.Send("first", nil)
	end()
	jobs := 0
	for !p.inject.pop().none() {
		jobs++
	}
	if window < 2 || jobs != 1 {
		t.Errorf("after %d windows the actor is scheduled %d times, want once", window, jobs)
	}
}

// A job becomes visible when a worker that gives up its search does not count any more: who
// made it visible before relied on the worker, and who does now leaves it to the last look.
func TestJobThatComesAsAWorkerResigns(t *testing.T) {
	needsWindows(t)
	p := workerless(t)
	p.search.Add(1)
	end := invariants.Within(func() {
		if p.search.Load() != 0 {
			t.Error("the worker takes its last look while others still rely on its search")
		}
		p.inject.push(job{})
	})
	gaveUp := p.resign()
	end()
	if gaveUp {
		t.Error("a worker gives up its search with a job there that no other worker was woken for")
	}
}

// A worker without a job gets one as it is being hidden from those that search: it had looked
// whether it is shown before. Or it is dropped, and another one in its place gets one.
func TestJobThatComesAsAWorkerIsHidden(t *testing.T) {
	needsWindows(t)
	for what, next := range map[string]func(p *Pool, w *worker) *worker{
		"the worker": func(_ *Pool, w *worker) *worker { return w },
		"another one": func(p *Pool, w *worker) *worker {
			p.drop(w)
			return p.hire()
		},
	} {
		p := workerless(t)
		p.cfg.MaxWorkers = 1
		w := p.unpark()
		w.show()
		came := false
		end := invariants.Within(func() {
			if !came {
				came = true
				next(p, w).add(job{}, flagUrgent)
			}
		})
		visible := p.visible()
		end()
		if !visible || w.row.shown.Load() != w.bit {
			t.Errorf("%s has a job, and it is seen: %v; workers that are shown: %b, want %b", what, visible, w.row.shown.Load(), w.bit)
		}
	}
}

// Who takes the result of a failed task finds the group's context cancelled.
func TestFailureIsSeenCanceled(t *testing.T) {
	needsWindows(t)
	g := NewGroupOn[int](workerless(t), context.Background())
	failed, windows := errors.New("failed"), 0
	end := invariants.Within(func() {
		windows++
		if r, ok := g.results.pop(); !ok || r.Err != failed || context.Cause(g.outcome.Context()) != failed {
			t.Errorf("the result is %v, %v, and the context's cause %v", r, ok, context.Cause(g.outcome.Context()))
		}
	})
	g.fail(group.Result[int]{Err: failed})
	end()
	if windows != 1 {
		t.Errorf("there were %d windows, want one", windows)
	}
}

// A worker is shown, or hidden, as another one is: neither undoes the other.
func TestShowAndHideAreEachWorkersOwn(t *testing.T) {
	needsWindows(t)
	during := func(do, meanwhile func(bit uint32)) {
		first := true
		defer invariants.Within(func() {
			if first {
				first = false
				meanwhile(2)
			}
		})()
		do(1)
	}
	var r row
	during(r.show, r.show)
	if r.shown.Load() != 3 {
		t.Errorf("two were shown at once, and shown are %b", r.shown.Load())
	}
	during(r.hide, r.hide)
	if r.shown.Load() != 0 {
		t.Errorf("two were hidden at once, and shown are %b", r.shown.Load())
	}
}

// What a worker has counted before it came to a dispatcher is the first one's.
func TestCountsBeforeTheFirstDispatcher(t *testing.T) {
	p := workerless(t)
	w := newWorker(p, 1)
	for range 3 {
		w.count(parks)
	}
	w.count(wakes)
	w.count(steals)
	w.count(steals)
	first, second := NewDispatcherOn(p), NewDispatcherOn(p)
	first.enter(w)
	second.enter(w)
	w.tally.Publish()
	var a, b actor.Stats
	first.AddStats(&a)
	second.AddStats(&b)
	if a.Parks != 3 || a.Wakes != 1 || a.Steals != 2 {
		t.Errorf("the first dispatcher's: %d parks, %d wakes, %d steals; want 3, 1, 2", a.Parks, a.Wakes, a.Steals)
	}
	if b.Parks+b.Wakes+b.Steals != 0 {
		t.Errorf("counted for the second one as well: %d parks, %d wakes, %d steals", b.Parks, b.Wakes, b.Steals)
	}
	for e := range events {
		w.count(e)
	}
	w.tally.Publish()
	if second.AddStats(&b); b.Parks != 1 || b.Wakes != 1 || b.Steals != 1 {
		t.Errorf("the second dispatcher's: %d parks, %d wakes, %d steals; want one of each", b.Parks, b.Wakes, b.Steals)
	}
}
