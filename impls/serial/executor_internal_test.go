package serial

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/task"
)

// There may be room by the time that a sender begins to wait for it.
func TestRoomBeforeTheWait(t *testing.T) {
	d := NewDispatcher()
	b := d.Attach(actor.MailboxConfig{Policy: actor.Block, Capacity: 1}).(*box)
	if err := b.SendWait(t.Context(), 1, nil); err != nil || b.Len() != 1 || d.ready.Len() != 1 {
		t.Errorf("%v, %d messages and %d ready actors, want nil, 1 and 1", err, b.Len(), d.ready.Len())
	}
	b.mail.Close()
	if err := b.SendWait(t.Context(), 2, nil); err != actor.ErrStopped {
		t.Errorf("a mailbox that is closed: %v", err)
	}
}

// What tasks have left behind is used again, or forgotten.
func TestExecutorKeepsLittle(t *testing.T) {
	x := NewExecutor()
	var down func(ctx context.Context, n int) (int, error)
	down = func(ctx context.Context, n int) (int, error) {
		if n == 0 {
			return 0, nil
		}
		return task.ForkCall(ctx, down, n-1).Value(ctx)
	}
	a := task.Call(x, down, 500)
	b := task.Go(x, func(ctx context.Context) (int, error) {
		_, err := a.Value(ctx)
		idles, frees := 0, 0 // it has the baton: no other goroutine is here
		for co := x.idle; co != nil; co = co.next {
			idles++
		}
		for j := x.free; j != nil; j = j.next {
			frees++
		}
		if idles > maxIdle || frees > maxFree || idles != x.idles || frees != x.frees {
			t.Errorf("500 tasks that were over have left %d coroutines and %d jobs, counted as %d and %d", idles, frees, x.idles, x.frees)
		}
		return 0, err
	})
	if _, err := b.Value(t.Context()); err != nil {
		t.Error(err)
	}
	if x.idle != nil || x.idles != 0 || !x.polled.Empty() || len(x.patrons) != 0 || x.ready.Len() != 0 {
		t.Errorf("at rest there are %d idle coroutines, some that wait: %v, %d outside, %d ready", x.idles, !x.polled.Empty(), len(x.patrons), x.ready.Len())
	}
}

// A wait that has ended leaves nothing on the task that it was for.
func TestWaitLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate := make(chan struct{})
		busy := task.Start(x, func(context.Context) error { <-gate; return nil })
		h := task.Start(x, func(context.Context) error { return nil })
		for range 3 {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			if err := h.Wait(ctx); err != context.DeadlineExceeded || h.Status() != task.Pending {
				t.Errorf("Wait: %v", err)
			}
			stop()
		}
		if h.Room().Own != nil {
			t.Error("the task has not begun, no goroutine waits for it, and there is something in its Room")
		}
		done := h.Done()
		if !h.Cancel() || h.Room().Link != nil || h.Room().Place != nil {
			t.Error("a canceled task is still in the queue")
		}
		if own(h) != nil || h.Done() != done {
			t.Error("a task that never begins has more in its Room than what Done returns")
		}
		close(gate)
		if err := busy.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Who waits outside for a task that another one cancels goes on after the turn of
// that one; or when its own context ends, and then as well with the task's end.
func TestCanceledByATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate := make(chan struct{})
		var h *task.Handle
		now := make(chan struct{})
		task.Start(x, func(context.Context) error { <-now; h.Cancel(); <-gate; return nil })
		h = task.Start(x, func(context.Context) error { return nil })
		ctx, stop := context.WithCancel(t.Context())
		var first, second bool
		go func() { _ = h.Wait(t.Context()); first = true }()
		go func() {
			if err := h.Wait(ctx); err == context.Canceled || err == nil {
				t.Errorf("Wait: %v", err)
			}
			second = true
		}()
		synctest.Wait()
		close(now)
		synctest.Wait()
		if first || second {
			t.Error("a goroutine outside has gone on while a task is in its turn")
		}
		stop()
		synctest.Wait()
		if first || !second {
			t.Error("a wait has not ended with its context, or another one has")
		}
		close(gate)
		synctest.Wait()
		if !first {
			t.Error("a wait was forgotten")
		}
		if len(x.late) != 0 {
			t.Error("a waiter is still to be answered")
		}
	})
}

// A watchdog that was armed, since work waited, goes off with the work: until its hour it
// would keep what has no user any more.
func TestWatchdogKeepsNothing(t *testing.T) {
	for name, use := range map[string]func() (collected func() bool){
		"executor": func() func() bool {
			x := NewExecutorWith(ExecutorConfig{StallAfter: time.Hour})
			gate := make(chan struct{})
			task.Start(x, func(context.Context) error { <-gate; return nil })
			last := task.Start(x, func(context.Context) error { return nil })
			ran := make(chan int, 1)
			go func() { ran <- x.Flush(2) }()
			until(&x.mu, func() bool { return x.watchdog.armed })
			close(gate)
			if n, err := <-ran, last.Wait(t.Context()); n != 2 || err != nil {
				t.Errorf("%d tasks ran: %v", n, err)
			}
			w := weak.Make(x)
			return func() bool { return w.Value() == nil }
		},
		"executor without demand": func() func() bool {
			x := NewExecutorWith(ExecutorConfig{StallAfter: time.Hour})
			task.Start(x, func(context.Context) error { return nil })
			w := weak.Make(x)
			return func() bool { return w.Value() == nil }
		},
		"group": func() func() bool {
			g := NewGroupWith[int](Config{StallAfter: time.Hour}, context.Background())
			gate := make(chan struct{})
			_ = g.Go(func(context.Context) (int, error) { <-gate; return 1, nil })
			_ = g.Go(func(context.Context) (int, error) { return 2, nil })
			ended := make(chan error, 1)
			go func() { ended <- g.Wait() }()
			until(&g.mu, func() bool { return g.watchdog.armed })
			close(gate)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			w := weak.Make(g)
			return func() bool { return w.Value() == nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			collected := use()
			for range 100 { // goroutines that are about to end may still hold it
				runtime.GC()
				if collected() {
					return
				}
				runtime.Gosched()
			}
			t.Error("nothing is left to be done, and something keeps it")
		})
	}
}

// until returns when cond, which is asked under mu, is so.
func until(mu sync.Locker, cond func() bool) {
	for {
		mu.Lock()
		ok := cond()
		mu.Unlock()
		if ok {
			return
		}
		runtime.Gosched()
	}
}

// What the watchdog finds: also that it was disarmed when it had fired already.
func TestBark(t *testing.T) {
	returns := func(context.Context) error { return nil }
	for _, c := range []struct {
		armed, running, waiting, sameTurn bool
		stalled, again                    bool
	}{
		{armed: true, running: true, waiting: true, sameTurn: true, stalled: true},
		{armed: true, running: true, waiting: true, again: true},
		{armed: true, running: true, sameTurn: true},
		{armed: true, waiting: true, sameTurn: true},
		{running: true, waiting: true, sameTurn: true},
	} {
		x, g := NewExecutor(), NewGroup[int](t.Context())
		x.current = task.Start(x, returns)
		if !c.waiting {
			x.ready.Remove(x.current)
		} else if err := g.Go(func(context.Context) (int, error) { return 0, nil }); err != nil {
			t.Fatal(err)
		}
		x.running, g.running = c.running, c.running
		x.watchdog.armed, g.watchdog.armed = c.armed, c.armed
		if !c.sameTurn {
			x.turns, g.started = 1, 1
		}
		x.bark()
		g.bark()
		if got := [2]bool{x.stalled != nil, x.watchdog.armed}; got != [2]bool{c.stalled, c.again} {
			t.Errorf("executor, %+v: stalled, armed again: %v", c, got)
		}
		if got := [2]bool{g.stalled != nil, g.watchdog.armed}; got != [2]bool{c.stalled, c.again} {
			t.Errorf("group, %+v: stalled, armed again: %v", c, got)
		}
		x.watchdog.disarm()
		g.watchdog.disarm()
	}
}
