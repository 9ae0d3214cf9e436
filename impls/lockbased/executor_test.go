package lockbased

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
	"github.com/dynolab/dyno/task"
)

// inUse returns how many slots are taken.
func (x *Executor) inUse() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.taken
}

// Not more tasks are in progress than there are slots.
func TestSlots(t *testing.T) {
	x := newExecutor(3)
	var now, most atomic.Int32
	var all []*task.Handle
	gate := make(chan struct{})
	x.watching = true // no timer: no slots are to be added
	for range 100 {
		all = append(all, task.Start(x, func(context.Context) error {
			<-gate
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			runtime.Gosched()
			now.Add(-1)
			return nil
		}))
	}
	if n := x.Pending(); n != 100 {
		t.Errorf("%d tasks are pending, want 100", n)
	}
	close(gate)
	for _, h := range all {
		if err := h.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := most.Load(); n > 3 {
		t.Errorf("%d tasks were in progress at once, want at most 3", n)
	}
}

// A task that waits has no slot, and one that does not wait any more has one.
func TestWaitLendsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(1)
		x.watching = true // no timer
		gate := make(chan struct{})
		blocked := task.Start(x, func(context.Context) error { <-gate; return nil })
		var first, second bool
		outer := task.Start(x, func(ctx context.Context) error {
			inner := task.Fork(ctx, func(context.Context) (int, error) { first = true; return 1, nil })
			if v, err := inner.Value(ctx); v != 1 || err != nil {
				t.Errorf("Value: %v, %v", v, err)
			}
			second = true
			return nil
		})
		synctest.Wait()
		if first {
			t.Error("a second task began in the only slot")
		}
		close(gate)
		if err := outer.Wait(t.Context()); err != nil || !second {
			t.Error(err)
		}
		for w, ok := x.sleepers.Get().(*sleeper); ok; w, ok = x.sleepers.Get().(*sleeper) {
			if w.from != nil || w.answered || len(w.ready) > 0 {
				t.Error("what is kept for the next wait knows of the last one")
			}
		}
		if err := blocked.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if x.taken != 0 {
			t.Errorf("%d slots are taken in the end", x.taken)
		}
		if outer.Room().Own != nil {
			t.Error("a task that is over keeps what waited for it")
		}
	})
}

// A task whose context ends while it waits needs a slot to go on.
func TestGiveUpNeedsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(1)
		x.watching = true // no timer
		gates := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
		var handles [2]*task.Handle
		var back atomic.Bool
		waiter := task.Start(x, func(ctx context.Context) error {
			for i, g := range gates {
				handles[i] = task.Fork(ctx, func(context.Context) (int, error) { <-g; return 0, nil }).Handle()
			}
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			err := handles[1].Wait(short)
			back.Store(true)
			return err
		})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if back.Load() {
			t.Error("a task went on without a slot")
		}
		close(gates[1]) // which has it
		if err := waiter.Wait(t.Context()); err != nil {
			t.Errorf("what was waited for is over, and Wait returned %v", err)
		}
		close(gates[0])
		if err := handles[0].Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A task whose context ends while it waits gets a slot although the one that it has lent does not
// come back: the timer makes another one.
func TestGiveUpOfALentSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(1)
		gate := make(chan struct{})
		waiter := task.Start(x, func(ctx context.Context) error {
			h := task.Fork(ctx, func(context.Context) (int, error) { <-gate; return 0, nil }).Handle()
			short, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return h.Wait(short)
		})
		limit, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := waiter.Wait(limit); !errors.Is(err, context.DeadlineExceeded) || limit.Err() != nil {
			t.Errorf("%v, want that its own wait has ended", err)
		}
		close(gate)
	})
}

// A task that does not wait any more, for a task that goes on with its slot, gets another one,
// and gives it back.
func TestSlotForAWaitThatEnds(t *testing.T) {
	ends := map[string]func(h *task.Handle, giveUp func()){
		"given up": func(_ *task.Handle, giveUp func()) { giveUp() },
		"canceled": func(h *task.Handle, _ func()) { h.Cancel() },
	}
	for name, end := range ends {
		for slots := 1; slots <= 2; slots++ {
			synctest.Test(t, func(t *testing.T) {
				x := newExecutor(slots)
				gate := make(chan struct{})
				var inner *task.Handle
				var giveUp func()
				outer := task.Start(x, func(own context.Context) error {
					ctx, cancel := context.WithCancel(own)
					defer cancel()
					giveUp = cancel
					inner = task.Fork(own, func(context.Context) (int, error) { <-gate; return 0, nil }).Handle()
					_ = inner.Wait(ctx)
					return nil
				})
				time.Sleep(time.Second) // what watched for the beginning of inner is over
				synctest.Wait()
				end(inner, giveUp)
				time.Sleep(time.Second)
				synctest.Wait()
				if s := outer.Status(); s != task.Resolved {
					t.Errorf("%s: the task that waited is %v, and no slot is to be added", name, s)
				}
				close(gate)
				synctest.Wait()
				if n := x.inUse(); n != 0 {
					t.Errorf("%s: %d of %d slots are taken in the end", name, n, slots)
				}
			})
		}
	}
}

// So does one that waited for a task that ends without a slot, which a goroutine it has left
// behind has given away.
func TestSlotForWaitersOfATaskWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(1)
		gate := make(chan struct{})
		outer := task.Go(x, func(ctx context.Context) (int, error) {
			return task.Fork(ctx, func(ctx context.Context) (int, error) {
				blocks := task.Fork(ctx, func(context.Context) (int, error) { <-gate; return 0, nil })
				go func() { _, _ = blocks.Value(context.WithoutCancel(ctx)) }()
				time.Sleep(time.Second) // the timer is not set any more
				return 7, nil
			}).Value(ctx)
		})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s := outer.Handle().Status(); s != task.Resolved {
			t.Errorf("the task that waited is %v, and no slot is to be added", s)
		}
		close(gate)
	})
}

// A wait whose context has ended gives no slot away, which it would then have to wait for.
func TestEndedContextKeepsSlot(t *testing.T) {
	x := newExecutor(1)
	x.watching = true // no timer
	h := task.Start(x, func(ctx context.Context) error {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		next := task.Start(x, func(context.Context) error { return nil })
		err := next.Wait(ended)
		if next.Status() != task.Pending {
			t.Error("a task began in the only slot")
		}
		return err
	})
	if err := h.Wait(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
}

// Slots that change hands within a period, in whatever way, show that tasks are not blocked.
func TestNoSlotIsAddedToThoseInUse(t *testing.T) {
	fork := func(ctx context.Context, f func(ctx context.Context)) {
		_, _ = task.Fork(ctx, func(ctx context.Context) (int, error) { f(ctx); return 0, nil }).Value(ctx)
	}
	var chain func(ctx context.Context, sleep func(percent time.Duration), n int)
	chain = func(ctx context.Context, sleep func(time.Duration), n int) {
		if sleep(60); n > 0 {
			fork(ctx, func(ctx context.Context) { chain(ctx, sleep, n-1) })
		}
	}
	for name, f := range map[string]func(ctx context.Context, x *Executor, sleep func(percent time.Duration)){
		"lent": func(ctx context.Context, _ *Executor, sleep func(time.Duration)) { chain(ctx, sleep, 10) },
		"lent and given back": func(ctx context.Context, _ *Executor, sleep func(time.Duration)) {
			sleep(10)
			for range 10 { // twice each in every period
				sleep(20)
				fork(ctx, func(context.Context) { sleep(30) })
			}
		},
		"given on": func(_ context.Context, x *Executor, sleep func(time.Duration)) {
			for range 10 {
				task.Start(x, func(context.Context) error { sleep(60); return nil })
			}
			sleep(60)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := newExecutor(1)
			sleep := func(percent time.Duration) {
				time.Sleep(percent * period / 100)
				if n := x.inUse(); n != 1 {
					t.Errorf("%s: %d slots are taken, want the one there is", name, n)
				}
			}
			task.Start(x, func(ctx context.Context) error { f(ctx, x, sleep); return nil })
			task.Start(x, func(context.Context) error { sleep(60); return nil }) // waits for a slot
			time.Sleep(20 * period)
			synctest.Wait()
			if x.taken != 0 || x.Pending() != 0 || x.watching {
				t.Errorf("%s: in the end %d slots are taken, %d tasks pending, and the timer is set: %v", name, x.taken, x.Pending(), x.watching)
			}
		})
	}
}

// Tasks that block in other ways than by waiting for a task do not stop the others.
func TestBlockedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(2)
		gate := make(chan struct{})
		var all []*task.Handle
		blocked := func(n int) {
			for range n {
				all = append(all, task.Start(x, func(context.Context) error { <-gate; return nil }))
			}
		}
		for range 10 {
			blocked(2)
			time.Sleep(period / 2) // does not put off the look
		}
		synctest.Wait()
		before := x.inUse()
		if before < 6 {
			t.Errorf("%d tasks are in progress after five periods", before)
		}
		blocked(80)
		for i := range 4 {
			if n := x.inUse() - before; n != 2*i {
				t.Errorf("%d slots more after %d periods, want two in each", n, i)
			}
			time.Sleep(period)
			synctest.Wait()
		}
		begun := time.Now()
		all = append(all, task.Start(x, func(context.Context) error { close(gate); return nil }))
		for _, h := range all {
			if err := h.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if d := time.Since(begun); d > 50*period {
			t.Errorf("it took %v, want 50 periods: two slots more in each", d)
		}
		synctest.Wait()
		if x.taken != 0 {
			t.Errorf("%d slots are taken in the end", x.taken)
		}
	})
}

// Tasks that lend their slot to what they wait for do not keep it to themselves.
func TestPatience(t *testing.T) {
	x := newExecutor(1)
	x.watching = true // no timer
	var begun atomic.Bool
	rounds := 0
	h := task.Start(x, func(ctx context.Context) error {
		task.Start(x, func(context.Context) error { begun.Store(true); return nil })
		for ; !begun.Load() && rounds < 10*patience; rounds++ {
			if _, err := task.Fork(ctx, func(context.Context) (int, error) { return 0, nil }).Value(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err := h.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if rounds > patience {
		t.Errorf("a task began after %d rounds of others, want at most %d", rounds, patience)
	}
}

// Nor do tasks that each wait for the next, nor many whose wait ends at once.
func TestPatienceOfChains(t *testing.T) {
	x := newExecutor(1)
	x.watching = true // no timer
	var begun atomic.Bool
	var descend func(ctx context.Context, depth int) (int, error)
	descend = func(ctx context.Context, depth int) (int, error) {
		if depth == 0 {
			task.Start(x, func(context.Context) error { begun.Store(true); return nil })
		}
		if begun.Load() || depth == 10*patience {
			return depth, nil
		}
		return task.ForkCall(ctx, descend, depth+1).Value(ctx)
	}
	if depth, err := task.Call(x, descend, 0).Value(t.Context()); depth > patience+1 || err != nil {
		t.Errorf("a task began at depth %d of others, %v; want at most %d", depth, err, patience+1)
	}
}

func TestPatienceOfCrowds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(2)
		x.watching = true // no timer
		gate, never := make(chan struct{}), make(chan struct{})
		slow := task.Start(x, func(context.Context) error { <-gate; return nil })
		var back, before atomic.Int32
		for range 10 * patience {
			task.Start(x, func(ctx context.Context) error {
				err := slow.Wait(ctx)
				back.Add(1)
				return err
			})
			synctest.Wait()
		}
		task.Start(x, func(context.Context) error { <-never; return nil }) // in the second slot
		last := task.Start(x, func(context.Context) error { before.Store(back.Load()); return nil })
		close(gate)
		if err := last.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if n := before.Load(); n > patience {
			t.Errorf("a task began when %d others had come back, want at most %d", n, patience)
		}
		close(never)
		synctest.Wait()
	})
}

// The first task that is waited for runs before those that came earlier: a tree is
// not half done in all its levels.
func TestAwaitedFirst(t *testing.T) {
	x := newExecutor(1)
	x.watching = true // no timer
	most := 0
	var grow func(ctx context.Context, depth int) (int, error)
	grow = func(ctx context.Context, depth int) (int, error) {
		most = max(most, x.Pending())
		if depth == 0 {
			return 1, nil
		}
		a, b := task.ForkCall(ctx, grow, depth-1), task.ForkCall(ctx, grow, depth-1)
		n, err := a.Value(ctx)
		if err != nil {
			return 0, err
		}
		m, err := b.Value(ctx)
		return n + m, err
	}
	if n, err := task.Call(x, grow, 12).Value(t.Context()); n != 1<<12 || err != nil {
		t.Errorf("%d leaves, %v", n, err)
	}
	// In the order of the line alone it would be about half of them.
	if most > 1000 {
		t.Errorf("%d of 8191 tasks were accepted and not over at once", most)
	}
}

// Slots are not lost to tasks that call Goexit, or whose context others use.
func TestSlotsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(2)
		gate := make(chan struct{})
		blocked := task.Start(x, func(context.Context) error { <-gate; return nil })
		var all []*task.Handle
		for i := range 40 {
			all = append(all, task.Start(x, func(ctx context.Context) error {
				if i%2 == 0 {
					runtime.Goexit()
				}
				go func() { _ = blocked.Wait(ctx) }() // in the name of a task that is soon over
				if i%4 == 1 {
					runtime.Gosched()
				}
				return nil
			}))
		}
		for i, h := range all {
			if err := h.Wait(t.Context()); errors.Is(err, task.ErrGoexit) != (i%2 == 0) {
				t.Errorf("task %d: %v", i, err)
			}
		}
		close(gate)
		if err := blocked.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if x.taken != 0 || x.Pending() != 0 || !x.returning.Empty() {
			t.Errorf("in the end %d slots are taken, and %d tasks pending", x.taken, x.Pending())
		}
	})
}

// A wait in the name of a task that is over by the time it gets a slot gives that
// on.
func TestSlotForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(2)
		x.watching = true // no timer
		var gates [3]chan struct{}
		for i := range gates {
			gates[i] = make(chan struct{})
		}
		target := task.Start(x, func(context.Context) error { <-gates[0]; return nil })
		task.Start(x, func(ctx context.Context) error {
			err := target.Wait(ctx)
			<-gates[2]
			return err
		})
		synctest.Wait()
		task.Start(x, func(ctx context.Context) error {
			go func() { _ = target.Wait(ctx) }()
			<-gates[1]
			return nil
		})
		synctest.Wait()
		last := task.Start(x, func(context.Context) error { <-gates[2]; return nil }) // in the second slot
		synctest.Wait()
		close(gates[0]) // the slot goes to the one that waits itself
		synctest.Wait()
		close(gates[1])
		synctest.Wait()
		close(gates[2])
		if err := last.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if x.taken != 0 || !x.returning.Empty() {
			t.Errorf("%d slots are taken in the end", x.taken)
		}
	})
}

// Goroutines that a task has left behind wait in its name, and it has one slot to give away; a
// task of another executor has none here.
func TestSlotIsLentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newExecutor(1)
		x.watching = true // no timer
		gate := make(chan struct{})
		begun := false
		task.Start(x, func(ctx context.Context) error {
			blocks := task.Fork(ctx, func(context.Context) (int, error) { <-gate; return 0, nil })
			task.Start(x, func(context.Context) error { begun = true; return nil })
			for range 2 {
				go func() { _, _ = blocks.Value(ctx) }()
			}
			task.Start(newExecutor(1), func(ctx context.Context) error { _, err := blocks.Value(ctx); return err })
			<-gate
			return nil
		})
		synctest.Wait()
		if begun {
			t.Error("a second task began in the only slot")
		}
		close(gate)
		synctest.Wait()
		if n := x.inUse(); n != 0 || !begun {
			t.Errorf("%d slots are taken in the end, and the last task has begun: %v", n, begun)
		}
	})
}

// Tasks begin in the order in which they came, and Cancel takes one out of any
// place in the line.
func TestLine(t *testing.T) {
	for _, cancel := range [][]int{{0}, {1}, {2}, {3}, {0, 1}, {2, 3}, {1, 2}, {3, 2, 1, 0}, {0, 2}, {1, 3, 0}} {
		x := newExecutor(1)
		gate := make(chan struct{})
		task.Start(x, func(context.Context) error { <-gate; return nil })
		x.mu.Lock()
		x.watching = true // no timer
		x.mu.Unlock()
		var ran, want []int
		var all []*task.Handle
		canceled := map[int]bool{}
		for _, i := range cancel {
			canceled[i] = true
		}
		for i := range 4 {
			all = append(all, task.Start(x, func(context.Context) error { ran = append(ran, i); return nil }))
			if !canceled[i] {
				want = append(want, i)
			}
		}
		for _, i := range cancel {
			all[i].Cancel()
		}
		left := 0
		for h := x.fresh.Oldest(); h != nil; h = h.Room().Link {
			left++
		}
		if left != 4-len(cancel) {
			t.Errorf("canceled %v: %d tasks are left in the line", cancel, left)
		}
		last := task.Start(x, func(context.Context) error { return nil })
		close(gate)
		if err := last.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if len(ran) != len(want) {
			t.Fatalf("canceled %v: %v ran, want %v", cancel, ran, want)
		}
		for i := range ran {
			if ran[i] != want[i] {
				t.Errorf("canceled %v: %v ran, want %v", cancel, ran, want)
			}
		}
	}
}

func TestExecutorInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	for rule, breakIt := range map[string]func(x *Executor){
		"pending >= 0": func(x *Executor) { x.pending = -1 },
		"taken >= 0":   func(x *Executor) { x.taken = -1 },
		"a task waits for a slot only if all are taken":    func(x *Executor) { x.fresh.Push(new(task.Handle)) },
		"a task waits for a slot only if the timer is set": func(x *Executor) { x.returning.Push(new(queue.Node[*sleeper])); x.taken = 1 },
		"a task that waits to begin has not begun": func(x *Executor) {
			h := new(task.Handle)
			h.Room().ID = working
			x.fresh.Push(h)
			x.taken, x.watching = 1, true
		},
	} {
		x := newExecutor(1)
		breakIt(x)
		func() {
			defer func() {
				want := "lockbased: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			x.check()
		}()
	}
}
