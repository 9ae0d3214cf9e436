package serial

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

// Config is what makes a group of this implementation different from the
// others'. The zero value is what [NewGroup] uses.
type Config struct {
	// Schedule is the order in which tasks are started.
	Schedule Schedule

	// StallAfter is how long a task may be in progress while others are queued
	// before the calls that wait for them return a *StallError. 0 means a
	// minute, which is long for a task in a deterministic test and short for a
	// hang in CI. Negative means for ever. It is measured by package time's
	// clock, which inside a testing/synctest bubble is the bubble's.
	StallAfter time.Duration
}

// StallError is returned by Next and Wait when a task is in progress for too
// long while others wait for their turn: most likely it waits for one of them,
// which this implementation does not promise to work. The group goes on if the
// task ends after all.
type StallError struct {
	Task    uint64        // which task is in progress, counted from 1 in the order of starting
	Waiting int           // how many accepted tasks have not been started
	After   time.Duration // Config.StallAfter
}

// Error says what stalls, for how long, and what to do.
func (e *StallError) Error() string {
	return "serial: " + named("task", e.Task) + " has not finished for " + e.After.String() +
		" while " + strconv.Itoa(e.Waiting) + " more wait for their turn: tasks run one at a time here, so one that" +
		" waits for another never ends; use an implementation that promises Overlap, or a longer StallAfter"
}

// Group is a task group that runs its tasks one at a time and on demand.
// Make one with [NewGroup] or [NewGroupWith].
type Group[T any] struct {
	cfg group.Config

	mu        sync.Mutex // guards everything below
	sched     *scheduler // nil: first in, first out
	queued    queue.Ring[entry[T]]
	accepted  uint64 // tasks so far
	started   uint64 // tasks begun so far
	running   bool   // a task is in progress: the one numbered started
	closed    bool
	outcome   group.Outcome // its Context and Cancel need no lock
	results   queue.Ring[group.Result[T]]
	consumers queue.List[consumer[T]]  // calls of Next that wait, in order of arrival
	spare     *queue.Node[consumer[T]] // one that is not in use: most calls of Next wait here, mostly one at a time
	idle      *idle                    // what calls of Wait wait for, nil if none does

	work    func()            // runs tasks as long as they are demanded; a value, to start it without allocating
	current group.TaskFunc[T] // the task in progress, for work to pick up

	watchdog watchdog
	stalled  *StallError // set while the task in progress is taken for stalled
}

// entry is an accepted task.
type entry[T any] struct {
	fn     group.TaskFunc[T]
	number uint64 // in the order of acceptance, counted from 1
}

// consumer is a call of Next that waits.
type consumer[T any] struct {
	ready    chan struct{} // capacity 1; a token means the fields below are set
	answered bool
	res      group.Result[T]
	ok       bool
	err      error
}

// idle is what calls of Wait wait for.
type idle struct {
	over chan struct{} // closed when nothing is in flight, or the group stalls
	err  error         // what Wait returns; set before over is closed
}

// NewGroup returns an open group that runs tasks in the order of submission.
// A nil ctx means context.Background.
func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	return NewGroupWith[T](Config{}, ctx, opts...)
}

// NewGroupWith returns an open group that follows c. A nil ctx means
// context.Background.
func NewGroupWith[T any](c Config, ctx context.Context, opts ...group.Option) *Group[T] {
	g := &Group[T]{cfg: group.Resolve(opts...), watchdog: newWatchdog(c.StallAfter), sched: newScheduler(c.Schedule)}
	g.work = g.run
	g.outcome = group.NewOutcome(ctx, g.cfg)
	g.results.Reserve(g.cfg.ResultBuffer)
	return g
}

// Go implements [group.Group]. It never blocks, whatever the limit: tasks wait
// in the queue for Next or Wait, and never run more than one at a time.
func (g *Group[T]) Go(fn group.TaskFunc[T]) error {
	if fn == nil {
		return group.ErrNilTask
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return group.ErrGroupClosed
	}
	g.accepted++
	g.queued.Push(entry[T]{fn, g.accepted})
	g.start()
	if g.running {
		g.watch() // from now on a caller waits for the one in progress
	}
	g.check()
	return nil
}

// Close implements [group.Group].
func (g *Group[T]) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.settle()
	g.check()
}

// Next implements [group.Group]. If no result is queued it runs the next task.
// Beyond the contract it returns a *StallError when a task in progress stalls.
func (g *Group[T]) Next(ctx context.Context) (group.Result[T], bool, error) {
	done, err := group.Ending(ctx)
	g.mu.Lock()
	if g.results.Len() > 0 {
		r := g.results.Pop()
		g.mu.Unlock()
		return r, true, nil
	}
	if err == nil && g.stalled != nil {
		err = g.stalled
	}
	if g.outcome.Settled() || err != nil {
		if g.outcome.Settled() {
			err = nil
		}
		g.mu.Unlock()
		return group.Result[T]{}, false, err
	}
	n := g.spare
	g.spare = nil
	if n == nil {
		n = &queue.Node[consumer[T]]{Value: consumer[T]{ready: make(chan struct{}, 1)}}
	}
	c := &n.Value
	g.consumers.Push(n)
	g.start()
	g.check()
	g.mu.Unlock()
	if done == nil {
		<-c.ready
	} else {
		select {
		case <-c.ready:
		case <-done:
			if g.leave(n) {
				return group.Result[T]{}, false, ctx.Err()
			}
			<-c.ready // it was answered first
		}
	}
	r, ok, err := c.res, c.ok, c.err
	c.res, c.answered = group.Result[T]{}, false
	g.mu.Lock()
	g.spare = n
	g.mu.Unlock()
	return r, ok, err
}

// leave takes a consumer out of the queue and reports whether it was in it.
func (g *Group[T]) leave(n *queue.Node[consumer[T]]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.Value.answered {
		return false
	}
	g.consumers.Remove(n)
	return true
}

// Wait implements [group.Group]. It runs every queued task. Beyond the contract
// it returns a *StallError when a task in progress stalls.
func (g *Group[T]) Wait() error {
	g.mu.Lock()
	if g.stalled != nil {
		defer g.mu.Unlock()
		return g.stalled
	}
	if !g.running && g.queued.Len() == 0 {
		defer g.mu.Unlock()
		return g.outcome.Err()
	}
	if g.idle == nil {
		g.idle = &idle{over: make(chan struct{})}
	}
	i := g.idle
	g.start()
	g.check()
	g.mu.Unlock()
	<-i.over
	return i.err
}

// Cancel implements [group.Group].
func (g *Group[T]) Cancel(cause error) { g.outcome.Cancel(cause) }

// start begins a task if a caller demands one and none is in progress.
// mu is held.
func (g *Group[T]) start() {
	if g.choose() {
		go g.work()
	}
}

// choose makes the next task in the queue the current one, for the caller to
// run, if a caller demands one and none is in progress. mu is held.
func (g *Group[T]) choose() bool {
	if g.running || g.queued.Len() == 0 || g.consumers.Empty() && g.idle == nil {
		return false
	}
	i := 0
	if g.sched != nil {
		i = g.sched.choose((*unstarted[T])(g))
	}
	g.running = true
	g.started++
	g.current = g.queued.Remove(i).fn
	g.watch()
	return true
}

// unstarted is what the schedule of a group chooses from.
type unstarted[T any] Group[T]

func (q *unstarted[T]) len() int { return q.queued.Len() }

func (q *unstarted[T]) numbers(each func(int, uint64)) {
	for i := range q.queued.Len() {
		each(i, q.queued.At(i).number)
	}
}

func (q *unstarted[T]) who(i int) string { return named("task", q.queued.At(i).number) }

// run runs the current task and then further ones as long as they are demanded.
// The goroutine that runs it is the only one to touch current meanwhile.
func (g *Group[T]) run() {
	returned := false
	defer func() {
		if returned {
			return
		}
		// The task called Goexit (or panics in a group that lets panics
		// through: then the process ends as soon as this function returns).
		if g.complete(group.Result[T]{Err: group.ErrGoexit}) {
			go g.work()
		}
	}()
	for g.complete(group.Call(g.outcome.Context(), g.current, g.cfg.PanicToError)) {
	}
	returned = true
}

// complete books the result of the current task and reports whether the next
// one, which is current then, is to be run.
func (g *Group[T]) complete(r group.Result[T]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running, g.stalled, g.current = false, nil, nil
	g.outcome.Complete(r.Err)
	if !g.consumers.Empty() {
		g.consumers.Pop().Value.answer(r, true, nil)
	} else {
		g.results.Push(r)
	}
	g.settle()
	if g.queued.Len() == 0 && g.idle != nil {
		g.idle.err = g.outcome.Err()
		close(g.idle.over)
		g.idle = nil
	}
	again := g.choose()
	if !again && g.queued.Len() == 0 {
		g.watchdog.disarm()
	}
	g.check()
	return again
}

// settle, if the group is closed and nothing is in flight, fixes what Wait
// answers and releases the context and the consumers. mu is held.
func (g *Group[T]) settle() {
	if !g.closed || g.running || g.queued.Len() > 0 {
		return
	}
	g.outcome.Settle()
	g.release(nil)
}

// release answers all waiting consumers that there is nothing for them, because
// of err. mu is held.
func (g *Group[T]) release(err error) {
	for !g.consumers.Empty() {
		g.consumers.Pop().Value.answer(group.Result[T]{}, false, err)
	}
}

// answer ends the wait of c. The group's mutex is held.
func (c *consumer[T]) answer(r group.Result[T], ok bool, err error) {
	c.res, c.ok, c.err, c.answered = r, ok, err, true
	c.ready <- struct{}{}
}

// watch arms the watchdog if tasks wait for the one in progress. mu is held.
func (g *Group[T]) watch() {
	if g.queued.Len() > 0 {
		g.watchdog.arm(g.started, g)
	}
}

// bark is what the watchdog does when it fires: if the task is still the one
// that was in progress when it was armed, those who wait are told.
func (g *Group[T]) bark() {
	g.mu.Lock()
	defer g.mu.Unlock()
	armed := g.watchdog.armed
	g.watchdog.armed = false
	if !armed || !g.running || g.queued.Len() == 0 {
		return
	}
	if g.started != g.watchdog.turn {
		g.watch() // another task by now: give it the same time
		return
	}
	g.stalled = &StallError{Task: g.started, Waiting: g.queued.Len(), After: g.watchdog.after}
	g.release(g.stalled)
	if g.idle != nil {
		g.idle.err = g.stalled
		close(g.idle.over)
		g.idle = nil
	}
}

// check panics if an invariant of the package comment does not hold. mu is
// held. It costs nothing in builds without invariants.
func (g *Group[T]) check() {
	if !invariants.Enabled {
		return
	}
	switch {
	case !g.consumers.Empty() && (g.results.Len() > 0 || g.outcome.Settled()):
		invariants.Violated("serial", "a consumer waits only if there is neither result nor end")
	case (!g.consumers.Empty() || g.idle != nil) && g.queued.Len() > 0 && !g.running:
		invariants.Violated("serial", "a demanded task is in progress")
	case g.outcome.Settled() && (!g.closed || g.running || g.queued.Len() > 0):
		invariants.Violated("serial", "settled implies closed and nothing in flight")
	}
}
