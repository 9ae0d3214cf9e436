package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
)

// X1 and X3: what is left of tasks that are over, and of those who waited.
var taskLeftoverClauses = []Clause{
	{
		Name: "task/leaves-no-goroutine", Rule: "X1", On: Platform{Goroutines: true},
		Why: "an executor that is closed, and whose tasks are over, leaves no goroutine behind: leaked goroutines are leaked memory; workers that outlive one are shared",
		Check: check(func(e *Env) {
			e.leavesNone("executors", func() {
				r := e.runner()
				r.useTasks()
				r.end()
				empty := e.runner()
				empty.end()
			})
		}),
	},
	{
		Name: "task/waiters-leave-no-goroutine", Rule: "X2", On: Platform{Goroutines: true},
		Why: "who gives up leaves no goroutine behind that waits in its place: there may be many, and the task may take for ever",
		Check: tasks(func(r *runner) {
			const n = 100
			f, hold := r.held(returns(1))
			giveUp := func() {
				ctx, cancel := context.WithCancel(context.Background())
				v := r.value(f, ctx)
				v.blocks("the task is unfinished")
				cancel()
				v.get()
			}
			giveUp()
			base := r.e.goroutines()
			for range n {
				giveUp()
				a := r.value(f, ended(errStop)).get()
				r.e.require(a == answer{err: context.Canceled}, "Value with an ended context returned ", a.String())
			}
			more := r.e.moreThan(base, n/8)
			r.e.require(more == 0, more, " goroutines are left of ", 2*n, " waits that were given up")
			hold.open()
			r.gives(f, 1)
		}),
	},
	{
		Name: "task/not-retained", Rule: "X3", On: Platform{Heap: true},
		Why: "a future without waiters leaks nothing: an executor that lives on keeps neither the task, nor its value, nor what was canceled",
		Check: tasks(func(r *runner) {
			const n, size = 32, 64 << 10
			round := func() {
				for i := range n {
					held := make([]byte, size)
					f := task.Go(r.x, func(ctx context.Context) ([]byte, error) {
						held[0]++
						if i%4 == 1 {
							_ = ctx.Done()
						}
						if i%4 == 2 {
							return nil, &heavy{load: make([]byte, size)}
						}
						return make([]byte, size), nil
					})
					switch i % 8 {
					case 0:
						f.Cancel()
					case 3:
						_ = f.Done()
					case 5:
						start(r.e, "Value", func() error { _, err := f.Value(ended(errStop)); return err })
					}
				}
				r.drive()
				r.until("no task to be Pending", func() bool { return r.x.Pending() == 0 })
				r.idle()
			}
			round()
			base := heap()
			round()
			round()
			kept := r.e.kept(base, n*size/8, r.idle)
			r.e.require(kept == 0, "after all tasks were over, ", kept>>10, " KiB of the ", 4*n*size>>10, " KiB that they held are still reachable")
		}),
	},
	{
		Name: "task/canceled-not-retained", Rule: "X3", On: Platform{Heap: true},
		Why: "tasks that were canceled before they began are let go while others that were started before and after are in progress: a storm of cancels must not fill the memory",
		Check: tasks(func(r *runner) {
			const n, size = 128, 64 << 10
			var all []*task.Future[int]
			stay, hold := r.held(returns(1))
			base := heap()
			for range n {
				held := make([]byte, size)
				all = append(all, task.Go(r.x, func(ctx context.Context) (int, error) {
					held[0]++
					<-ctx.Done() // it is canceled before or after it begins
					return int(held[0]), nil
				}))
				if len(all) == 4 {
					for _, f := range all {
						f.Cancel()
					}
					all = nil
				}
			}
			if !r.e.Impl.Promises.Overlap {
				// A queue in which canceled tasks are found only when it is their turn
				// may keep them until then.
				hold.open()
				r.gives(stay, 1)
				r.flushes(0)
			}
			kept := r.e.kept(base, n*size/8, r.idle)
			r.e.require(kept == 0, kept>>10, " KiB of the ", n*size>>10, " KiB that canceled tasks held are still reachable")
			hold.open()
			r.gives(stay, 1)
		}),
	},
	{
		Name: "task/handle-keeps-no-task", Rule: "X3", On: Platform{Heap: true},
		Why: "a handle that is kept holds the answer, and not what the task needed to find it",
		Check: tasks(func(r *runner) {
			const n, size = 64, 64 << 10
			var all []*task.Future[int]
			base := heap()
			for range n {
				held := make([]byte, size)
				all = append(all, r.spawn(func(context.Context) (int, error) {
					held[0]++
					return int(held[0]), nil
				}))
			}
			for _, f := range all {
				r.gives(f, 1)
			}
			kept := r.e.kept(base, n*size/8, r.idle)
			r.e.require(kept == 0, "the handles of tasks that are over keep ", kept>>10, " KiB of the ", n*size>>10, " KiB that the tasks needed")
			r.gives(all[n-1], 1)
		}),
	},
}

// useTasks does a little of everything with r, and leaves tasks behind.
func (r *runner) useTasks() {
	f, hold := r.held(returns(1))
	ctx, cancel := context.WithCancel(context.Background())
	quitter := r.value(f, ctx)
	quitter.blocks("the task is unfinished")
	cancel()
	quitter.get()
	r.spawn(raises(0, errA))
	r.spawn(panicking("boom"))
	if r.e.Platform.Goexit {
		r.spawn(exiting)
	}
	g := r.spawn(func(ctx context.Context) (int, error) { return descend(ctx, 10) })
	c := r.spawn(func(ctx context.Context) (int, error) { return 1, task.Yield(ctx) })
	r.cancel(c)
	hold.open()
	r.gives(f, 1)
	r.gives(g, 10)
	for range 8 {
		r.spawn(func(ctx context.Context) (int, error) { return 1, task.Yield(ctx) })
	}
}

// Everything at once.
var taskStormClauses = []Clause{
	{
		Name: "task/everything-at-once", Rule: "X2", Kind: Stochastic,
		Why:   "whatever is called at the same time: every accepted task runs at most once and ends in one state, which all see alike, refused ones never run, and all calls return",
		Check: atRandom(taskStorm),
	},
}

// taskStorm lets goroutines start, wait, give up, cancel and close at the same
// time, and tasks do it as well, and then accounts for every task.
func taskStorm(e *Env, rng *rand.Rand) {
	const starters, each = 3, 24
	const n = starters * each
	// What a task does; those of other kinds, up to kinds, only return.
	const (
		fails = iota
		panics
		exits
		yields
		yieldsToo
		forks
		waitsForEarlier
		cancelsAnother
		descends
		kinds = 14
	)
	r := e.runner()
	defer r.abandon()
	var runs [n]atomic.Int32
	var all [n]atomic.Pointer[task.Future[int]]
	var cancels [n]atomic.Int32
	closeAfter := int32(rng.IntN(3 * n))
	var started atomic.Int32

	body := func(i, kind int) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			runs[i].Add(1)
			switch kind {
			case fails:
				return i, errA
			case panics:
				return explode(errA), nil
			case exits:
				if e.Platform.Goexit {
					return exiting(ctx)
				}
			case yields, yieldsToo:
				if err := task.Yield(ctx); err != nil {
					return 0, err
				}
			case forks:
				_, err := task.Fork(ctx, returns(i)).Value(ctx)
				if err != nil && !errors.Is(err, task.ErrClosed) && ctx.Err() == nil {
					return 0, err
				}
			case waitsForEarlier:
				if k := i - 1 - kind%5; k >= 0 {
					if f := all[k].Load(); f != nil {
						_, _ = f.Value(ctx) // an earlier one: no circle
					}
				}
			case cancelsAnother:
				if f := all[(i*7+3)%n].Load(); f != nil && f.Cancel() {
					cancels[(i*7+3)%n].Add(1)
				}
			case descends:
				_, _ = descend(ctx, 5)
			}
			return i, nil
		}
	}
	var producers [starters]*call[struct{}]
	for s := range producers {
		seed := rng.Uint64()
		producers[s] = start(e, "a loop of Go", func() struct{} {
			rng := rand.New(rand.NewPCG(seed, 1))
			for i := s * each; i < (s+1)*each; i++ {
				f := task.Go(r.x, body(i, rng.IntN(kinds)))
				all[i].Store(f)
				if rng.IntN(6) == 0 && f.Cancel() {
					cancels[i].Add(1)
				}
				if started.Add(1) == closeAfter {
					r.x.Close()
				}
				if rng.IntN(4) == 0 {
					yield()
				}
			}
			return struct{}{}
		})
	}
	var waiters [4]*call[string]
	for w := range waiters {
		seed := rng.Uint64()
		waiters[w] = start(e, "a loop of Value", func() string {
			rng := rand.New(rand.NewPCG(seed, 2))
			for range n {
				i := rng.IntN(n)
				f := all[i].Load()
				if f == nil {
					yield()
					continue
				}
				switch rng.IntN(5) {
				case 0:
					if f.Cancel() {
						cancels[i].Add(1)
					}
				case 1:
					_, _ = f.Value(ended(errStop))
				case 2:
					ctx, cancel := context.WithCancel(context.Background())
					go func() { yield(); cancel() }()
					_, _ = f.Value(ctx)
					cancel()
				case 3:
					select {
					case <-f.Done():
						if s := f.Status(); s == task.Pending {
							return text("task ", i, " is Pending, and the channel of Done is closed")
						}
					default:
					}
				default:
					_, _ = f.Value(context.Background())
					if s := f.Status(); s == task.Pending {
						return text("task ", i, " is Pending after Value has returned")
					}
				}
			}
			return ""
		})
	}
	for _, c := range producers {
		c.await()
	}
	for _, c := range waiters {
		said := c.await()
		e.require(said == "", said)
	}
	for i := range all {
		f := all[i].Load()
		a := r.answer(f)
		word := verdict(f.Status(), a)
		refused := errors.Is(a.err, task.ErrClosed)
		ran, off := runs[i].Load(), cancels[i].Load()
		switch {
		case refused:
			e.require(ran == 0 && off == 0, "task ", i, " was refused, ran ", int(ran), " times and was canceled ", int(off), " times")
		case word == "canceled":
			e.require(ran <= 1 && off == 1, "task ", i, " was canceled ", int(off), " times, and ran ", int(ran), " times")
		default:
			e.require(ran == 1 && off == 0, "task ", i, " (", word, ") ran ", int(ran), " times, and ", int(off), " calls of Cancel were told that they ended it")
			e.require(word == text(i) || word == "failed", "task ", i, " answered ", word)
		}
	}
	r.end()
}
