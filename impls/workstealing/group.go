package workstealing

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

// Group is a task group whose tasks run on a [Pool].
// Make one with [NewGroup] or [NewGroupOn].
type Group[T any] struct {
	pool    *Pool
	cfg     group.Config
	outcome group.Outcome // guarded by mu, but for its Context

	// state is accepted<<1 | closed: the number of tasks accepted so far, and
	// whether Close was called. In one word, because a task must be accepted
	// before Close or not at all. Accepting is a compare-and-swap.
	state atomic.Uint64

	// seen is a number of completed tasks that some submitter saw lately. It
	// never exceeds the true one. With it a submitter looks at the workers'
	// line only when the limit seems to be reached.
	seen atomic.Uint64
	_    [48 * apart]byte

	// flags says whom a completion has to care for besides pushing its result.
	// It is read after every push and rarely written. A waiter sets its flag and
	// then looks once more whether it has to wait; a worker pushes and then
	// reads flags: one of the two sees the other.
	flags atomic.Uint32

	// failed is set once a task has completed with an error.
	failed atomic.Bool
	_      [56 * apart]byte

	results results[T]

	mu      sync.Mutex // guards what follows, the writing of flags, and acceptance for blocked submissions
	blocked []*submission[T]
	bulks   []*bulk[T] // of which not all was accepted
	waiting queue.List[consumer[T]]
	idle    *idle

	// One of each kind of waiter for the next call that has to wait, to save
	// allocating one: mostly a single goroutine submits, and a single one drains.
	spareSubmission *submission[T]
	spareConsumer   *queue.Node[consumer[T]]
}

// flags of a group.
const (
	flagBlocked = 1 << iota // calls of Go wait for a slot
	flagWaiting             // calls of Next wait for a result
	flagIdle                // calls of Wait wait for the end of all tasks
	flagClosed              // the group is closed: the last completion settles it
	flagBulk                // calls of GoBulk wait for slots
)

const closedBit = 1

// submission is a call of Go that waits for a slot.
type submission[T any] struct {
	fn    group.TaskFunc[T]
	ready chan error // capacity 1; receives what Go returns
}

// consumer is a call of Next that waits for a result.
type consumer[T any] struct {
	ready chan struct{} // capacity 1; a token means the answer is there

	// Written under the group's mutex by who answers; read after receiving
	// from ready or, by a caller that gives up, under the mutex.
	answered bool
	res      group.Result[T]
	ok       bool
}

// answer ends the wait of c, which has been taken out of the queue. The
// group's mutex is held.
func (c *consumer[T]) answer(r group.Result[T], ok bool) {
	c.res, c.ok, c.answered = r, ok, true
	c.ready <- struct{}{}
}

// idle is one stretch of time with tasks in flight, as seen by those who wait
// for its end.
type idle struct {
	over chan struct{} // closed when nothing is in flight
	err  error         // what Wait returns; set before over is closed
}

// shared is the pool of the groups that are made without one.
var shared = newPool()

// NewGroup returns an open group on the pool that all groups made with NewGroup
// share. A nil ctx means context.Background.
func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	return NewGroupOn[T](shared, ctx, opts...)
}

// NewGroupOn returns an open group on p. A nil ctx means context.Background.
func NewGroupOn[T any](p *Pool, ctx context.Context, opts ...group.Option) *Group[T] {
	g := &Group[T]{pool: p, cfg: group.Resolve(opts...)}
	g.outcome = group.NewOutcome(ctx, g.cfg)
	g.results.init(g.cfg.ResultBuffer)
	return g
}

// Go implements [group.Group].
func (g *Group[T]) Go(fn group.TaskFunc[T]) error {
	if fn == nil {
		return group.ErrNilTask
	}
	if g.cfg.MaxConcurrency > 0 && g.flags.Load()&flagBlocked != 0 {
		return g.block(fn) // behind those who wait already
	}
	for {
		st := g.state.Load()
		if st&closedBit != 0 {
			return group.ErrGroupClosed
		}
		if !g.room(st) {
			return g.block(fn)
		}
		if g.state.CompareAndSwap(st, st+2) {
			g.pool.submit(job{g, fn})
			return nil
		}
	}
}

// room reports whether a task may be accepted when the state is st.
func (g *Group[T]) room(st uint64) bool {
	// Signed, since st may be older than what has completed since; the
	// compare-and-swap that follows notices.
	limit, accepted := int64(g.cfg.MaxConcurrency), int64(st>>1)
	if limit == 0 || accepted-int64(g.seen.Load()) < limit {
		return true
	}
	done := g.results.pushed()
	g.seen.Store(done) // a smaller value, stored late by another submitter, only costs a look
	return accepted-int64(done) < limit
}

// block waits in the queue of those who wait for a slot.
func (g *Group[T]) block(fn group.TaskFunc[T]) error {
	invariants.Window()
	g.mu.Lock()
	if g.state.Load()&closedBit != 0 {
		g.mu.Unlock()
		return group.ErrGroupClosed
	}
	s := g.spareSubmission
	g.spareSubmission = nil
	if s == nil {
		s = &submission[T]{ready: make(chan error, 1)}
	}
	s.fn = fn
	g.blocked = append(g.blocked, s)
	g.raise(flagBlocked)
	g.admit() // a slot may have become free before the flag was seen
	g.mu.Unlock()
	err := <-s.ready
	s.fn = nil
	g.mu.Lock()
	g.spareSubmission = s
	g.mu.Unlock()
	return err
}

// admit accepts as many blocked submissions as there is room for. mu is held.
func (g *Group[T]) admit() {
	for len(g.blocked) > 0 {
		st := g.state.Load()
		if st&closedBit != 0 || !g.room(st) {
			break
		}
		if !g.state.CompareAndSwap(st, st+2) {
			continue // a call of Go that did not see the flag came first
		}
		s := g.blocked[0]
		g.blocked[0] = nil
		g.blocked = g.blocked[1:]
		g.pool.submit(job{g, s.fn})
		s.ready <- nil
	}
	if len(g.blocked) == 0 {
		g.lower(flagBlocked)
		for _, b := range g.bulks {
			b.submit(b.accept())
		}
		g.sweep()
	}
}

// Close implements [group.Group].
func (g *Group[T]) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for closed := false; !closed; {
		st := g.state.Load()
		if st&closedBit != 0 {
			return
		}
		invariants.Window() // Go may accept a task
		closed = g.state.CompareAndSwap(st, st|closedBit)
	}
	g.raise(flagClosed)
	for _, s := range g.blocked {
		s.ready <- group.ErrGroupClosed
	}
	g.blocked = nil
	g.lower(flagBlocked)
	g.sweep()
	g.attend()
}

// Next implements [group.Group].
func (g *Group[T]) Next(ctx context.Context) (group.Result[T], bool, error) {
	if r, ok := g.results.pop(); ok {
		return r, true, nil
	}
	return g.wait(ctx)
}

// wait is Next when there seems to be no result.
func (g *Group[T]) wait(ctx context.Context) (group.Result[T], bool, error) {
	done, err := group.Ending(ctx)
	invariants.Window() // a result that comes now is pushed before the flag is raised
	g.mu.Lock()
	g.raise(flagWaiting)
	r, ok := g.results.pop()
	if !ok && g.settle() {
		r, ok = g.results.pop() // it may have been the last result that settled the group
	}
	if ok || g.outcome.Settled() {
		g.unflag()
		g.mu.Unlock()
		return r, ok, nil
	}
	if err != nil {
		g.unflag()
		g.mu.Unlock()
		return group.Result[T]{}, false, err
	}
	n := g.spareConsumer
	g.spareConsumer = nil
	if n == nil {
		n = &queue.Node[consumer[T]]{Value: consumer[T]{ready: make(chan struct{}, 1)}}
	}
	c := &n.Value
	g.waiting.Push(n)
	g.mu.Unlock()
	ended := false
	if done == nil {
		<-c.ready // a select takes longer
	} else {
		select {
		case <-c.ready:
		case <-done:
			ended = true
		}
	}
	g.mu.Lock()
	if ended {
		if !c.answered {
			g.waiting.Remove(n)
			g.unflag()
			g.mu.Unlock()
			return group.Result[T]{}, false, ctx.Err()
		}
		<-c.ready // it was answered first
	}
	r, ok = c.res, c.ok
	c.res, c.answered = group.Result[T]{}, false
	g.spareConsumer = n
	g.mu.Unlock()
	return r, ok, nil
}

// raise sets a flag, and lower clears it. mu is held, so no other goroutine writes flags
// meanwhile. They are not Or and And, which TinyGo does not have for processors that
// have no instruction for it, such as the Cortex-M0.
func (g *Group[T]) raise(flag uint32) { g.become(g.flags.Load() | flag) }
func (g *Group[T]) lower(flag uint32) { g.become(g.flags.Load() &^ flag) }

func (g *Group[T]) become(flags uint32) {
	if invariants.Enabled && g.mu.TryLock() {
		invariants.Violated("workstealing", "flags change only while mu is held")
	}
	g.flags.Store(flags)
}

// unflag clears the waiting flag if no goroutine waits. mu is held.
func (g *Group[T]) unflag() {
	if g.waiting.Empty() {
		g.lower(flagWaiting)
	}
}

// Wait implements [group.Group].
func (g *Group[T]) Wait() error {
	g.mu.Lock()
	if g.over() {
		g.attend()
		err := g.outcome.Err()
		g.mu.Unlock()
		return err
	}
	i := g.idle
	if i == nil {
		i = &idle{over: make(chan struct{})}
		g.idle = i
	}
	invariants.Window()
	g.raise(flagIdle)
	g.attend()
	g.mu.Unlock()
	<-i.over
	return i.err
}

// Cancel implements [group.Group].
func (g *Group[T]) Cancel(cause error) {
	// After settling, so that a cause that comes when the end of the group can be seen already is
	// too late for good. But not under the mutex: the tasks that are woken all need it.
	g.mu.Lock()
	settled := g.settle()
	g.mu.Unlock()
	if !settled {
		g.outcome.Cancel(cause)
	}
}

// run implements runnable: it runs a task.
func (g *Group[T]) run(_ *worker, fn any) {
	var r group.Result[T]
	r.Value, r.Err = fn.(group.TaskFunc[T])(g.outcome.Context())
	g.complete(r, 0)
}

// recovers implements runnable.
func (g *Group[T]) recovers() bool { return g.cfg.PanicToError }

// caught implements runnable. If the task panics in a group that lets panics
// through, the process ends as soon as the deferred function returns.
func (g *Group[T]) caught(_ *worker, recovered any) {
	err := error(group.ErrGoexit)
	if recovered != nil {
		err = group.NewPanicError(recovered)
	}
	g.complete(group.Result[T]{Err: err}, 0)
}

// complete books the result of a task that is over.
func (g *Group[T]) complete(r group.Result[T], but uint32) {
	var done uint64
	if r.Err != nil && !g.failed.Load() {
		done = g.fail(r)
	} else {
		done = g.results.push(r)
	}
	f := g.flags.Load() &^ but
	if f&(flagBlocked|flagBulk|flagWaiting) == 0 && (f == 0 || done != g.state.Load()>>1) {
		return // nothing waits for it, or only for the last completion, which this is not
	}
	g.mu.Lock()
	g.attend()
	g.mu.Unlock()
}

// fail pushes a result with an error while no error is on record, or all are wanted. Under the
// mutex, because the first error must be that of the first such result pushed.
func (g *Group[T]) fail(r group.Result[T]) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcome.Complete(r.Err)
	done := g.results.push(r)
	g.failed.Store(!g.cfg.AllErrors) // after the push: results that skip the mutex come later
	return done
}

// attend does what the flags ask for, as far as the state allows: it gives
// slots to blocked submissions, results to waiting consumers, settles a closed
// group with nothing in flight, and ends the waits of those who wait for that.
// mu is held. It looks at the state itself, so calling it too often is safe.
func (g *Group[T]) attend() {
	f := g.flags.Load()
	if f&(flagBlocked|flagBulk) != 0 {
		g.admit()
	}
	// The order matters: what was pushed before this look at the counters is
	// handed out below, so that no goroutine is told of the end before the last result.
	over := g.over()
	g.settle()
	for !g.waiting.Empty() {
		r, ok := g.results.pop()
		if !ok && !g.outcome.Settled() {
			break
		}
		g.waiting.Pop().Value.answer(r, ok)
	}
	g.unflag()
	if over && g.idle != nil {
		g.idle.err = g.outcome.Err()
		close(g.idle.over)
		g.idle = nil
		g.lower(flagIdle)
	}
	g.check()
}

// settle, if the group is closed and nothing is in flight, fixes what Wait
// answers and releases the context. It reports whether the group is settled. mu
// is held. It is not left to the last completion alone: between that one's push
// and its attend the end of the group can be seen already, and must be told.
func (g *Group[T]) settle() bool {
	if !g.outcome.Settled() && g.state.Load()&closedBit != 0 && g.over() {
		g.outcome.Settle()
	}
	return g.outcome.Settled()
}

// over reports whether nothing was in flight at some moment of the call.
func (g *Group[T]) over() bool {
	// In this order. The other way round, a task accepted and completed between
	// the two reads would be counted for one that is still running.
	done := g.results.pushed()
	invariants.Window()
	return done == g.state.Load()>>1
}

// check panics if an invariant of the package comment does not hold. mu is
// held. It costs nothing in builds without invariants.
func (g *Group[T]) check() {
	if !invariants.Enabled {
		return
	}
	done := g.results.pushed() // before state: both only grow
	st := g.state.Load()
	switch {
	case done > st>>1:
		invariants.Violated("workstealing", "no more tasks complete than were accepted")
	case g.seen.Load() > g.results.pushed():
		invariants.Violated("workstealing", "seen never exceeds the number of completed tasks")
	case g.outcome.Settled() && (st&closedBit == 0 || done != st>>1):
		invariants.Violated("workstealing", "settled implies closed and nothing in flight")
	}
}
