package workstealing

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// still makes x's pool start no worker until release is called: it seems that one is
// searching already.
func (x *Executor) still() (release func()) {
	x.pool.search.Add(1)
	x.pool.running.Add(1)
	return func() { go x.pool.work(searches) }
}

// quiet fails the test if x has a goroutine, or thinks that a task is pending or a worker waits.
func quiet(t *testing.T, x *Executor) {
	t.Helper()
	synctest.Wait()
	if a, p, s, w := x.pool.active.Load(), x.Pending(), searching(x.pool.search.Load()), x.pool.waiting.Load(); a != 0 || p != 0 || s != 0 || w != 0 {
		t.Errorf("%d workers, %d tasks, %d searching and %d waiting workers are left", a, p, s, w)
	}
}

// places is how many workers p has had at once.
func (p *Pool) places() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range *p.rows.Load() {
		n += r.used
	}
	return n
}

// slots is how many workers p has.
func (p *Pool) slots() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each(func(*worker) { n++ })
	return n
}

// numbered returns n handles that no goroutine has started, numbered from 1.
func numbered(n int) []*task.Handle {
	hs := make([]*task.Handle, n)
	for i := range hs {
		hs[i] = new(task.Handle)
		hs[i].Room().ID = uint32(i + 1)
	}
	return hs
}

// number is the number of h, or 0.
func number(h *task.Handle) uint64 {
	if h == nil {
		return 0
	}
	return uint64(h.Room().ID)
}

// handle is the task of j, or nil.
func handle(j job) *task.Handle {
	f, _ := j.r.(*future)
	return (*task.Handle)(f)
}

func one(context.Context) (int, error) { return 1, nil }

// inside runs fn as a task and returns what it returns.
func inside(x *Executor, fn func(ctx context.Context) (int, error)) (int, error) {
	return task.Go(x, fn).Value(context.Background())
}

// A task that waits runs what it waits for on its own goroutine, and one that
// no goroutine has begun wherever it is queued.
func TestWaitRunsTheAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		release := x.still()
		x.pool.search.Add(1)         // nor any other one
		elsewhere := task.Go(x, one) // behind the one that waits for it
		var order []int
		f := task.Go(x, func(ctx context.Context) (int, error) {
			var fs []*task.Future[int]
			for i := range 5 {
				fs = append(fs, task.Fork(ctx, func(ctx context.Context) (int, error) {
					order = append(order, i) // the race detector says if this is another goroutine
					if x.at(task.Current(ctx)).depth != 2 {
						t.Errorf("%d tasks are in progress here, want 2", x.at(task.Current(ctx)).depth)
					}
					return i, nil
				}))
			}
			_ = fs[0].Done() // it is waited for elsewhere as well
			sum, _ := elsewhere.Value(ctx)
			for _, i := range []int{4, 0, 2, 3, 1} {
				v, err := fs[i].Value(ctx)
				if err != nil {
					return 0, err
				}
				sum = 10*sum + v
			}
			return sum, nil
		})
		// The first that came begins first; let it be the one that waits.
		j := x.pool.inject.pop()
		x.pool.inject.push(j)
		if j.r != runnable((*future)(elsewhere.Handle())) {
			t.Fatal("what comes from outside does not leave in order")
		}
		release()
		if v, err := f.Value(context.Background()); v != 140231 || err != nil {
			t.Errorf("%v, %v; in order %v", v, err, order)
		}
		x.pool.search.Add(^uint32(0))
		quiet(t, x)
	})
}

// chain is a task that waits for one that waits for … n times.
func chain(ctx context.Context, n int) (int, error) {
	if n == 0 {
		return 0, nil
	}
	v, err := task.ForkCall(ctx, chain, n-1).Value(ctx)
	return v + 1, err
}

// Where no thief comes, it is a goroutine for each so many tasks.
func TestDeepJoinAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const depth = 3*deepest + 10
		x := NewExecutor()
		f := task.Go(x, func(ctx context.Context) (int, error) {
			defer x.pool.search.Add(^uint32(0))
			return alone(ctx, depth)
		})
		if v, err := f.Value(context.Background()); v != depth || err != nil {
			t.Fatal(v, err)
		}
		if n := x.pool.places(); n != 4 {
			t.Errorf("%d goroutines for a chain of %d, want 4", n, depth)
		}
		quiet(t, x)
	})
}

var errTooDeep = errors.New("a goroutine has more tasks in progress than it may")

// alone is chain without thieves, but where it is too deep.
func alone(ctx context.Context, n int) (int, error) {
	x := task.Current(ctx).Executor().(*Executor)
	p := x.at(task.Current(ctx))
	if p.depth == 1 {
		x.pool.search.Add(1)
	}
	if n == 0 {
		return 0, nil
	}
	if p.depth > deepest {
		return 0, errTooDeep
	}
	f := task.ForkCall(ctx, alone, n-1)
	if p.depth == deepest {
		x.pool.search.Add(^uint32(0)) // who waits has another worker woken; who did not would be alone
	}
	v, err := f.Value(ctx)
	return v + 1, err
}

// A task waits for two others that wait for one another, and for itself, in ways
// that a goroutine a task allows: nothing is run on a stack that it waits for.
func TestWaitBuriesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		begun, gate := make(chan struct{}), make(chan struct{})
		f := task.Go(x, func(ctx context.Context) (int, error) {
			me := task.Current(ctx)
			stolen := task.Fork(ctx, func(context.Context) (int, error) {
				close(begun)
				<-gate
				return 1, nil
			})
			<-begun
			_ = task.Fork(ctx, func(ctx context.Context) (int, error) {
				close(gate)
				return 0, me.Wait(ctx) // the one below, if it ran here
			})
			return stolen.Value(ctx)
		})
		if v, err := f.Value(context.Background()); v != 1 || err != nil {
			t.Error(v, err)
		}
		quiet(t, x)
	})
}

// A wait that can end before the awaited task runs nothing in its place: it could
// not end then.
func TestWaitWithADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		f := task.Go(x, func(ctx context.Context) (int, error) {
			gate := make(chan struct{})
			f := task.Fork(ctx, func(context.Context) (int, error) { <-gate; return 1, nil })
			soon, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if _, err := f.Value(soon); err != context.DeadlineExceeded {
				t.Errorf("the wait ended with %v", err)
			}
			close(gate)
			return f.Value(ctx)
		})
		if v, err := f.Value(context.Background()); v != 1 || err != nil {
			t.Error(v, err)
		}
		quiet(t, x)
	})
}

// A canceled task that waits is woken, and does not begin what it would wait for.
func TestCancelOfAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate := make(chan struct{})
		blocked := task.Go(x, func(context.Context) (int, error) { <-gate; return 1, nil })
		synctest.Wait()
		ended := make(chan error, 2)
		waiter := task.Go(x, func(ctx context.Context) (int, error) {
			_, err := blocked.Value(ctx)
			ended <- err
			release := x.still()
			f := task.Fork(ctx, func(context.Context) (int, error) { t.Error("it ran"); return 1, nil })
			_, err = f.Value(ctx)
			f.Cancel()
			release()
			ended <- err // last: who is told counts what is pending, and has a worker look for jobs
			return 0, nil
		})
		synctest.Wait()
		if !waiter.Cancel() || waiter.Status() != task.Cancelled {
			t.Error("it could not be canceled")
		}
		for range 2 {
			if err := <-ended; err != context.Canceled {
				t.Errorf("the wait of a canceled task ended with %v", err)
			}
		}
		if n := x.Pending(); n != 1 {
			t.Errorf("%d tasks pending, want the one that is blocked", n)
		}
		close(gate)
		quiet(t, x)
	})
}

// The wait of a canceled task fails also if its context has not ended yet, since
// that comes last.
func TestWaitFailsBeforeTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		gate, ended := make(chan struct{}), make(chan error, 1)
		blocked := task.Go(x, func(context.Context) (int, error) { <-gate; return 1, nil })
		synctest.Wait() // it has begun, and cannot run in the place of the one that waits
		waiter := task.Go(x, func(ctx context.Context) (int, error) {
			_ = ctx.Done() // from now on there is a context that has to be ended
			ended <- blocked.Handle().Wait(ctx)
			return 0, nil
		})
		synctest.Wait()
		x.Cancel(waiter.Handle()) // the executor's part of it only
		if err := <-ended; err != context.Canceled {
			t.Errorf("the wait ended with %v", err)
		}
		close(gate)
		quiet(t, x)
	})
}

// The context of a task that is over belongs to no processor, and what is started
// with it comes from outside.
func TestContextOfATaskThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		var leaked, part context.Context
		count := func(_ context.Context, i int) (int, error) { return i + 1, nil }
		f := task.Go(x, func(ctx context.Context) (int, error) {
			leaked = ctx
			_, _, err := task.Join(ctx, func(ctx context.Context, i int) (int, error) {
				if i == 0 {
					part = ctx
					_, _, _ = task.Join(ctx, count, 0, 1)
				}
				return 0, nil
			}, 0, 1)
			return 1, err
		})
		_, _ = f.Value(context.Background())
		if x.at(f.Handle()) != nil {
			t.Error("a task that is over is in progress on a processor")
		}
		g := task.Fork(leaked, one)
		if v, err := g.Value(context.Background()); v != 1 || err != nil {
			t.Error(v, err)
		}
		for _, ctx := range []context.Context{leaked, part} {
			if a, b, err := task.Join(ctx, count, 0, 1); a != 1 || b != 2 || err != nil {
				t.Error(a, b, err)
			}
		}
		quiet(t, x)
	})
}

// Cancel does not say that it is too late before the state says so: who asks for
// it then would find the task Pending.
func TestTooLateIsSeen(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that a yield lets the others run until they yield
	x := NewExecutor()
	gate := make(chan struct{})
	h := task.Start(x, func(context.Context) error { <-gate; return nil })
	w := &h.Room().Word
	for state(w.Load()) == task.Pending && w.Load()&claimed == 0 {
		runtime.Gosched()
	}
	w.Or(ending) // a goroutine has decided, and has not got any further
	var answer atomic.Int32
	go func() {
		if h.Cancel() {
			answer.Store(1)
		} else {
			answer.Store(-1)
		}
	}()
	for range 100 {
		runtime.Gosched()
	}
	if a := answer.Load(); a != 0 {
		t.Errorf("Cancel has answered %d, and the task is %v", a, h.Status())
	}
	w.And(^uint32(ending)) // but it is the task's own end that decides
	close(gate)
	for answer.Load() == 0 {
		runtime.Gosched()
	}
	if s, a := h.Status(), answer.Load(); a == 1 && s != task.Cancelled || a == -1 && s != task.Resolved {
		t.Errorf("Cancel answered %d, and the task is %v", a, s)
	}
}

// Who decides what becomes of a task is one, in each moment of its life.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		what       string
		word       uint32
		claim, end bool
	}{
		{"no goroutine has begun it", 0, true, true},
		{"a goroutine waits for it", awaited, true, true},
		{"it is in progress", claimed, false, true},
		{"it is in progress, and a goroutine waits", claimed | awaited, false, true},
		{"it is being canceled", ending, false, false},
		{"it is being canceled, and a goroutine waits", ending | awaited, false, false},
		{"it ends", claimed | ending, false, false},
		{"it is over", claimed | uint32(task.Resolved), false, false},
		{"it is canceled", claimed | uint32(task.Cancelled), false, false},
	} {
		x := NewExecutor()
		h := new(task.Handle)
		w := &h.Room().Word
		w.Store(c.word)
		if got := claim(h); got != c.claim || got && w.Load() != c.word|claimed {
			t.Errorf("%s: claim says %v, and the word is %#x", c.what, got, w.Load())
		}
		if c.word&ending != 0 {
			continue // end waits, see TestTooLateIsSeen
		}
		w.Store(c.word)
		h.Room().Own = make(chan struct{})
		over := &new(books).over
		want := c.word
		if c.end {
			want = claimed | uint32(task.Failed)
		}
		if got := x.end(h, task.Failed, over); got != c.end || got != (over.Load() == 1) || w.Load() != want {
			t.Errorf("%s: end says %v, %d are counted, and the word is %#x", c.what, got, over.Load(), w.Load())
		}
	}
}

// Tasks that block in any way do not stop others, and cost a goroutine each while
// they do.
func TestExecutorGrowsWhenTasksBlock(t *testing.T) {
	for _, where := range []string{"outside", "inside"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := NewExecutor()
				const sleepers = 1000
				sleep := func(context.Context) (int, error) { time.Sleep(time.Hour); return 1, nil }
				var fs [sleepers]*task.Future[int]
				if where == "outside" {
					for i := range fs {
						fs[i] = task.Go(x, sleep)
					}
				} else {
					_, _ = inside(x, func(ctx context.Context) (int, error) {
						for i := range fs {
							fs[i] = task.Fork(ctx, sleep)
						}
						return 0, nil
					})
				}
				synctest.Wait()
				if n := int(x.pool.active.Load()); n != sleepers {
					t.Errorf("%d processors for %d sleepers", n, sleepers)
				}
				start := time.Now()
				if v, err := inside(x, one); v != 1 || err != nil || time.Since(start) > 0 {
					t.Errorf("beside the sleepers: %v, %v after %v", v, err, time.Since(start))
				}
				for _, f := range fs {
					if v, err := f.Value(context.Background()); v != 1 || err != nil {
						t.Error(v, err)
					}
				}
				if took := time.Since(start); took != time.Hour {
					t.Errorf("they slept %v, want an hour side by side", took)
				}
				quiet(t, x)
				if got := x.pool.slots(); got > 64 {
					t.Errorf("%d slots are kept, want at most 64", got)
				}
				if x.Pending() != 0 {
					t.Errorf("%d pending when the slots were dropped", x.Pending())
				}
			})
		})
	}
}

// No goroutine is kept waiting for ever by tasks that are always there: by such as start
// the next one, and by such as wait for others all the time.
func TestForwardProgress(t *testing.T) {
	for name, hog := range map[string]func(ctx context.Context, over *atomic.Bool) (int, error){
		"chains": nil,
		"joins": func(ctx context.Context, over *atomic.Bool) (int, error) {
			for !over.Load() {
				if _, err := task.ForkCall(ctx, chain, 5).Value(ctx); err != nil {
					return 0, err
				}
			}
			return 0, nil
		},
		"yields": func(ctx context.Context, over *atomic.Bool) (int, error) {
			for !over.Load() {
				if err := task.Yield(ctx); err != nil {
					return 0, err
				}
			}
			return 0, nil
		},
	} {
		if hog == nil {
			var next func(ctx context.Context, over *atomic.Bool) (int, error)
			next = func(ctx context.Context, over *atomic.Bool) (int, error) {
				if !over.Load() {
					_ = task.ForkCall(ctx, next, over)
				}
				return 0, nil
			}
			hog = next
		}
		t.Run(name, func(t *testing.T) {
			x := NewExecutor()
			var over atomic.Bool
			var hidden *task.Future[int]
			started, gate := make(chan struct{}), make(chan struct{})
			blocked := task.Go(x, func(ctx context.Context) (int, error) {
				x.pool.search.Add(1)
				for range 3 * runtime.GOMAXPROCS(0) {
					_ = task.ForkCall(ctx, hog, &over)
				}
				hidden = task.Fork(ctx, one) // the newest: thieves take it last
				x.pool.search.Add(^uint32(0))
				x.pool.wake()
				close(started)
				<-gate
				return 0, nil
			})
			<-started
			for range 10 {
				if v, err := inside(x, one); v != 1 || err != nil {
					t.Error(v, err)
				}
			}
			_, _ = hidden.Value(context.Background())
			close(gate)
			over.Store(true)
			_, _ = blocked.Value(context.Background())
		})
	}
}

// A worker with any number of tasks of its own looks at what comes from outside, and
// at its oldest one, within so many tasks.
func TestOwnTasksDoNotStarveOthers(t *testing.T) {
	hs := numbered(200 + 2*poll)
	x := NewExecutor()
	x.pool.search.Add(1) // no other goroutine
	w := x.pool.unpark()
	own, outside := hs[1:200], hs[0]
	for _, h := range own {
		w.fork((*future)(h))
	}
	x.pool.inject.push(job{r: (*future)(outside)})
	more := hs[200:]
	var order []uint64
	for range 2 * poll {
		j := w.take()
		h := handle(j)
		order = append(order, number(h))
		if h != outside && h != own[0] && h != own[1] && number(h) < 150 {
			t.Fatalf("task %d comes out of turn: %v", number(h), order)
		}
		w.fork((*future)(more[0])) // there is always a newer one
		more = more[1:]
	}
	for what, want := range map[string]*task.Handle{
		"what comes from outside": outside, "the oldest": own[0], "the oldest but one": own[1],
	} {
		if !slices.Contains(order, number(want)) {
			t.Errorf("%s, task %d, was not taken in %d tasks: %v", what, number(want), 2*poll, order)
		}
	}
}

// A searching worker that is about to give up does not, if a task became visible
// after its last look, inside or outside.
func TestResign(t *testing.T) {
	hs := numbered(2)
	x := NewExecutor()
	p := x.pool
	p.search.Add(1)
	w := p.unpark()
	if !p.resign() || p.search.Load() != 0 {
		t.Errorf("it searches on, or counts, with nothing to do: %d", p.search.Load())
	}
	p.search.Add(1)
	p.inject.push(job{r: (*future)(hs[0])})
	if p.resign() || p.search.Load() != 1 {
		t.Errorf("it gives up, or counts no more, with a task from outside: %d", p.search.Load())
	}
	if handle(w.grab()) != hs[0] {
		t.Error("it does not find the task")
	}
	w.fork((*future)(hs[1]))
	if p.resign() || p.search.Load() != 1 {
		t.Errorf("it gives up, or counts no more, with a task in a queue: %d", p.search.Load())
	}
	w.queue.pop()
	if !p.resign() || w.row.shown.Load() != 0 {
		t.Errorf("it searches on, or an empty queue is shown: %b", w.row.shown.Load())
	}
}

// A worker that is not searching and takes many tasks from outside has others
// look for those it does not begin.
func TestFindLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		x.pool.search.Add(1)
		var fs [5]*task.Future[int]
		for i := range fs {
			fs[i] = task.Go(x, one)
		}
		x.pool.search.Add(^uint32(0)) // it has looked while a goroutine held them
		w := x.pool.unpark()
		x.pool.running.Add(1)
		j := w.find()
		synctest.Wait()
		for i, f := range fs[1:] {
			if f.Status() != task.Resolved {
				t.Errorf("task %d is %v", i+1, f.Status())
			}
		}
		if handle(j) != fs[0].Handle() {
			t.Fatal("it did not take the first")
		}
		w.loop(j, false)
		quiet(t, x)
	})
}

// A future costs its own allocation and no other one, and what is over is not
// held. A part that no other worker takes costs none.
func TestAllocations(t *testing.T) {
	x := NewExecutor()
	const tasks = 1 << 16
	var leaves, parts func(ctx context.Context, n int) (int, error)
	leaves = func(ctx context.Context, n int) (int, error) {
		if n == 1 {
			return 1, nil
		}
		f := task.ForkCall(ctx, leaves, n/2)
		b, _ := leaves(ctx, n-n/2)
		a, err := f.Value(ctx)
		return a + b, err
	}
	parts = func(ctx context.Context, n int) (int, error) {
		if n == 1 {
			return 1, nil
		}
		a, b, err := task.Join(ctx, parts, n-n/2, n/2)
		return a + b, err
	}
	for _, c := range []struct {
		name string
		fn   func(ctx context.Context, n int) (int, error)
		want float64
	}{{"future", leaves, 1}, {"part", parts, 0}} {
		_, _ = task.Call(x, c.fn, tasks).Value(context.Background())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if v, err := task.Call(x, c.fn, tasks).Value(context.Background()); v != tasks || err != nil {
			t.Fatal(v, err)
		}
		runtime.ReadMemStats(&after)
		each := float64(after.Mallocs-before.Mallocs) / tasks
		t.Logf("%.3f allocations a %s", each, c.name)
		if each > c.want+0.02 {
			t.Errorf("%.3f allocations a %s, want %v", each, c.name, c.want)
		}
	}
}

// A task that divides its work is seen to make progress: else workers that are not needed would be
// started beside it.
func TestJoinIsProgress(t *testing.T) {
	x := NewExecutor()
	release := x.still()
	f := task.Go(x, func(ctx context.Context) (int, error) {
		x.pool.search.Add(oneRound)
		before := x.pool.joins.Load()
		_, _, err := task.Join(ctx, func(context.Context, int) (int, error) { return 0, nil }, 0, 1)
		return int(x.pool.joins.Load() - before), err
	})
	w := x.pool.unpark()
	x.pool.running.Add(1)
	w.loop(x.pool.inject.pop(), false)
	release()
	if n, err := f.Value(context.Background()); n != 1 || err != nil {
		t.Errorf("it was counted %d times in a round, and %v", n, err)
	}
}

// A part that its task has buried, under one that the first part has started and left, is run by
// the task all the same if no thief comes, and counted once.
func TestBuriedPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := NewExecutor()
		var order []int
		var left *task.Future[int]
		v, err := inside(x, func(ctx context.Context) (int, error) {
			defer x.pool.search.Add(^uint32(0))
			defer x.pool.arm()   // as a search that ends does for what is left
			x.pool.search.Add(1) // no thief comes
			a, b, err := task.Join(ctx, func(ctx context.Context, i int) (int, error) {
				if order = append(order, i); i == 0 {
					left = task.Fork(ctx, func(context.Context) (int, error) { order = append(order, 2); return 2, nil })
				}
				return 1 + i, nil
			}, 0, 1)
			if n := x.Pending(); n != 2 {
				t.Errorf("beside the task that was left and this one %d are Pending", n-2)
			}
			return 10*a + b, err
		})
		if v != 12 || err != nil {
			t.Error(v, err)
		}
		if v, err := left.Value(context.Background()); v != 2 || err != nil || !slices.Equal(order, []int{0, 1, 2}) {
			t.Errorf("%v, %v; the order is %v", v, err, order)
		}
		quiet(t, x)
	})
}

// Each broken state is reported by its rule, in builds that check.
func TestExecutorInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	for rule, breakIt := range map[string]func(x *Executor){
		"a task runs once, by who has claimed it": func(x *Executor) {
			newWorker(x.pool, 1).perform(new(task.Handle))
		},
		"no pending task is left out of the books": func(x *Executor) {
			x.canceled.Add(1)
			x.Pending()
		},
	} {
		func() {
			defer func() {
				want := "workstealing: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("%v was said, want %q", got, want)
				}
			}()
			breakIt(NewExecutor())
		}()
	}
}
