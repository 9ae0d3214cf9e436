package conformance

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// G8: what is left of a group that is over.
var leftoverClauses = []Clause{
	{
		Name: "group/leaves-no-goroutine", Rule: "G8", On: Platform{Goroutines: true},
		Why: "no goroutine outlives a group that is closed and drained, nor an open one that its owner dropped after Wait: leaked goroutines are leaked memory; workers that outlive one are shared",
		Check: check(func(e *Env) {
			i := 0
			e.leavesNone("groups", func() {
				use(e, e.open(groupKinds[i%len(groupKinds)]...), i/len(groupKinds)%2 == 0)
				i++
			})
		}),
	},
	{
		Name: "group/context-released", Rule: "G8",
		Why: "a closed group that has settled ends its own context: what tasks hung onto it is released, and nothing is leaked",
		Check: check(func(e *Env) {
			for _, take := range []bool{true, false} {
				p := e.open()
				ctx := p.context()
				p.run(value(1))
				if take {
					p.takes(1)
				}
				p.close()
				p.waits(nil)
				e.Settle()
				e.require(ctx.Err() != nil, "the context of the tasks lives on after the closed group has settled")
				if !take {
					p.takes(1)
				}
				p.finish(nil)
			}
		}),
	},
	{
		Name: "group/parent-keeps-nothing", Rule: "G8",
		Why: "a long-lived parent keeps nothing of a closed group that has settled, or a server leaks a little with every request",
		Check: check(func(e *Env) {
			parent, cancel := context.WithCancel(context.Background())
			defer cancel()
			r := &registry{Context: parent}
			for i := range 5 {
				p := e.group(r)
				if i > 0 {
					p.run(value(1))
					p.takes(1)
				}
				if i == 2 {
					p.cancel(errA)
				}
				if i == 3 {
					p.run(failing(1, errA))
					p.takesError(1, errA)
				}
				if i == 4 {
					p.run(value(1)) // never taken
				}
				p.close()
				_ = p.wait().get()
			}
			e.Settle()
			n := r.registered.Load()
			e.require(n == 0, int(n), " of 5 groups are still registered with their parent")
		}),
	},
	{
		Name: "group/results-not-retained", Rule: "G8", On: Platform{Heap: true},
		Why: "a result that was taken is the consumer's alone: a group that lives on does not keep it, nor the task, alive",
		Check: check(func(e *Env) {
			const tasks, size = 64, 64 << 10
			p := e.open(group.WithFailFast(false))
			p.run(failing(0, errA)) // the first error is kept: Wait returns it
			p.takesError(0, errA)
			base := heap()
			// Queued all at once, so that the room for results grows.
			err := start(e, "a loop of Go", func() error {
				for range tasks {
					// Both the task and its error hold on to memory.
					held, returned := make([]byte, size), &heavy{load: make([]byte, size)}
					err := p.g.Go(func(context.Context) (int, error) {
						held[0]++
						return 0, returned
					})
					if err != nil {
						return err
					}
				}
				return nil
			}).get()
			e.same("what Go returned", err, nil)
			p.waits(errA)
			for range tasks {
				p.take()
			}
			kept := e.kept(base, tasks*size/8, e.Settle)
			e.require(kept == 0, "after all results were taken, ", kept>>10, " KiB of the ", 2*tasks*size>>10, " KiB that tasks and results held are still reachable")
			p.finish(errA)
		}),
	},
}

// groupKinds are options that make implementations take other paths.
var groupKinds = [][]group.Option{
	nil,
	{group.WithMaxConcurrency(1)},
	{group.WithMaxConcurrency(3), group.WithFailFast(false)},
	{group.WithResultBuffer(16), group.WithPanicToError(false)},
}

// use does a little of everything with p, and leaves it drained and closed, or
// open with a result that was not taken.
func use(e *Env, p *probe, closed bool) {
	ctx, cancel := context.WithCancel(context.Background())
	quitter := p.next(ctx)
	quitter.blocks("there is no result")
	cancel()
	quitter.get()
	c := p.submitAll(4, value)
	_ = p.wait().get()
	p.takesAll(4)
	e.same("what Go returned", c.get(), nil)
	p.run(failing(1, errA))
	if !closed {
		p.waits(errA)
		return
	}
	p.takesError(1, errA)
	p.cancel(errB)
	waiters := []awaited{p.next(context.Background()), p.next(context.Background())}
	waiters[0].blocks("the group is open")
	p.close()
	for _, w := range waiters {
		w.get()
	}
	p.finish(errA)
}

// goroutines returns how many goroutines there are once everything has run: all of the
// process, since counting those of a check only would take all stacks, each time. What
// else there is does not change meanwhile. It needs the platform's Goroutines.
func (e *Env) goroutines() int {
	e.Settle()
	return runtime.NumGoroutine()
}

// leavesNone demands that 16 things that are used leave no goroutine, or fewer than half as many
// more than as many before them, where workers outlive one.
func (e *Env) leavesNone(things string, use func()) {
	const n = 16
	slack := 0
	if !e.Impl.Promises.Parks {
		slack = n / 2
		for range n {
			use()
		}
	}
	base := e.goroutines()
	for range n {
		use()
	}
	more := e.moreThan(base, slack)
	e.require(more == 0, more, " goroutines are left of ", n, " ", things)
}

// moreThan returns how many goroutines there are beyond base, or 0 if no more
// than slack. Goroutines that are on their way out get some time where Settle
// is not exact, and a collection, which may be what ends those of a group that
// was dropped.
func (e *Env) moreThan(base, slack int) int {
	now := 0
	for range 20 {
		if now = e.goroutines(); now <= base+slack {
			return 0
		}
		runtime.GC()
	}
	return now - base
}

// tries returns how often to look for something that may take its time: n
// times, but where Settle is exact twice is enough.
func (e *Env) tries(n int) int {
	if e.Exact {
		return 2
	}
	return n
}

// kept returns how many bytes more than base are reachable once settle has let everything
// run, or 0 if they are fewer than few. What lets go of memory gets some time for it.
func (e *Env) kept(base, few int64, settle func()) (more int64) {
	for range e.tries(20) {
		settle()
		if more = heap() - base; more < few {
			return 0
		}
	}
	return more
}

// heap returns the bytes that are reachable.
func heap() int64 {
	runtime.GC()
	runtime.GC() // the first one may leave floating garbage to sweep
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// heavy is an error that holds on to memory.
type heavy struct{ load []byte }

func (h *heavy) Error() string { return text("an error of ", len(h.load), " bytes") }

// registry is a context that counts who wants to hear of its end. Package
// context asks a foreign parent's AfterFunc to do that, and calls the function
// it gets back when the child has ended.
type registry struct {
	context.Context
	registered atomic.Int32
}

func (r *registry) Value(any) any { return nil } // hides the parent, or its own list would be used

func (r *registry) AfterFunc(f func()) (stop func() bool) {
	r.registered.Add(1)
	var once sync.Once
	unhook := context.AfterFunc(r.Context, func() {
		once.Do(func() { r.registered.Add(-1) })
		f()
	})
	return func() bool {
		once.Do(func() { r.registered.Add(-1) })
		return unhook()
	}
}
