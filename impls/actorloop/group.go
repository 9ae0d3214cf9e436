package actorloop

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
)

const (
	// outboxSize is how many results Next can take without asking the manager.
	outboxSize = 64

	// unlimited is the credit of a group without a concurrency limit: more
	// tasks than can be in flight.
	unlimited = 1 << 62

	// withdrawn is the credit of a closed group. Nobody can spend it.
	withdrawn = -1
)

// Group is a task group whose state belongs to a manager loop.
// Make one with [NewGroup].
type Group[T any] struct {
	cfg    group.Config
	ctx    context.Context
	cancel context.CancelCauseFunc

	mail mailbox[T]

	// credit is the number of tasks that may be submitted without asking. Go
	// lowers it, the manager raises and withdraws it: it hands the right to
	// submit from the manager to callers. See the package comment.
	credit atomic.Int64

	// outbox holds the oldest results that have not been taken. The manager
	// sends, and closes it when the group is drained but for what is in it.
	outbox chan group.Result[T]

	manager state[T] // belongs to the manager loop
}

// state is what the manager owns. It is the document's, with the books of the
// credit.
type state[T any] struct {
	closed      bool
	inflight    int64
	results     queue[group.Result[T]] // those the outbox has no room for
	nextWaiters []*message[T]          // calls of Next without an answer
	waiters     []*message[T]          // calls of Wait without an answer
	firstErr    error

	blocked queue[*message[T]] // submits that wait for a slot
	coming  int64              // once closed: submits that were paid for and have not arrived
	back    int64              // credits to give back at the end of this batch
	settled bool
	drained bool  // the outbox is closed
	cause   error // of the context, fixed when the group settles
	engine  errgroup.Group

	// What the invariants are checked against; kept in builds that check only.
	submitted, completed int64        // tasks dispatched, taskDone events handled
	firsts               int          // how often firstErr was set
	loops                atomic.Int32 // manager loops that run
}

type kind uint8

const (
	submit  kind = iota // run fn; paid for with a credit
	ask                 // run fn when there is a slot; answered with errc
	done                // fn is over with res: the document's taskDone
	closing             // answered with errc
	next                // answered with answers
	giveUp              // of is a next whose caller does not wait any more; of is answered
	wait                // answered with errc
)

// message is a command or an event. A submit becomes its task's done.
type message[T any] struct {
	kind kind
	next *message[T] // in the mailbox

	fn      group.TaskFunc[T]
	res     group.Result[T]
	of      *message[T]
	errc    chan error     // capacity 1
	answers chan answer[T] // capacity 1
}

// answer is the manager's answer to a next.
type answer[T any] struct {
	res    group.Result[T]
	ok     bool
	gaveUp bool // there was none before the caller gave up
}

// NewGroup returns an open group. A nil ctx means context.Background.
func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	if ctx == nil {
		ctx = context.Background()
	}
	g := &Group[T]{cfg: group.Resolve(opts...)}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	g.outbox = make(chan group.Result[T], max(outboxSize, g.cfg.ResultBuffer))
	g.credit.Store(g.limit())
	g.mail.init()
	return g
}

// limit is how many tasks may be in flight.
func (g *Group[T]) limit() int64 {
	if n := g.cfg.MaxConcurrency; n > 0 {
		return int64(n)
	}
	return unlimited
}

// send puts msg into the manager's mailbox.
func (g *Group[T]) send(msg *message[T]) {
	if g.mail.send(msg) {
		go g.loop()
	}
}

// Go implements [group.Group].
func (g *Group[T]) Go(fn group.TaskFunc[T]) error {
	if fn == nil {
		return group.ErrNilTask
	}
	for {
		c := g.credit.Load()
		if c < 0 {
			return group.ErrGroupClosed
		}
		if c == 0 {
			errc := make(chan error, 1) // msg may be a done by the time of the answer
			g.send(&message[T]{kind: ask, fn: fn, errc: errc})
			return <-errc
		}
		if g.credit.CompareAndSwap(c, c-1) {
			g.send(&message[T]{kind: submit, fn: fn})
			return nil
		}
	}
}

// Close implements [group.Group].
func (g *Group[T]) Close() {
	if g.credit.Load() < 0 {
		return
	}
	msg := &message[T]{kind: closing, errc: make(chan error, 1)}
	g.send(msg)
	<-msg.errc
}

// Next implements [group.Group].
func (g *Group[T]) Next(ctx context.Context) (group.Result[T], bool, error) {
	select {
	case r, ok := <-g.outbox:
		return r, ok, nil
	default:
	}
	msg := &message[T]{kind: next, answers: make(chan answer[T], 1)}
	g.send(msg)
	var over <-chan struct{} // nil, and never ready, for a context that cannot end
	if ctx != nil {
		over = ctx.Done()
	}
	var a answer[T]
	if over == nil {
		a = <-msg.answers
	} else {
		select {
		case a = <-msg.answers:
		case <-over:
			// The manager may be about to answer. It decides, and the answer
			// that it then gives may be a result all the same.
			g.send(&message[T]{kind: giveUp, of: msg})
			a = <-msg.answers
		}
	}
	if a.gaveUp {
		return group.Result[T]{}, false, ctx.Err()
	}
	return a.res, a.ok, nil
}

// Wait implements [group.Group].
func (g *Group[T]) Wait() error {
	msg := &message[T]{kind: wait, errc: make(chan error, 1)}
	g.send(msg)
	return <-msg.errc
}

// Cancel implements [group.Group]. Cancelling is the context's business, not the
// manager's.
func (g *Group[T]) Cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	g.cancel(cause)
}

// loop is the manager. It runs on a goroutine of its own while there are
// messages, and is the only one to touch g.manager.
func (g *Group[T]) loop() {
	if invariants.Enabled {
		g.manager.loops.Add(1)
	}
	for yielded := false; ; {
		msg := g.mail.receive()
		if msg == nil {
			switch {
			case !yielded:
				yielded = true
				runtime.Gosched()
			case g.sleep():
				return
			}
			continue
		}
		yielded = false
		for msg != nil {
			following := msg.next
			msg.next = nil
			g.handle(msg)
			g.check()
			msg = following
		}
		g.grant()
	}
}

// sleep ends the manager's duty if there is no message, and reports whether it
// did.
func (g *Group[T]) sleep() bool {
	if invariants.Enabled {
		g.manager.loops.Add(-1) // before: afterwards there may be another manager
	}
	asleep := g.mail.sleep()
	if invariants.Enabled && !asleep {
		g.manager.loops.Add(1)
	}
	return asleep
}

// handle does what msg asks for. Like all methods below it is the manager's.
func (g *Group[T]) handle(msg *message[T]) {
	m := &g.manager
	switch msg.kind {
	case submit:
		if m.closed {
			m.coming--
		}
		g.dispatch(msg)
	case ask:
		switch {
		case m.closed:
			msg.errc <- group.ErrGroupClosed
		case g.afford():
			g.accept(msg)
		default:
			m.blocked.push(msg)
		}
	case done:
		g.taskDone(msg.res)
	case closing:
		g.close()
		msg.errc <- nil
	case next:
		m.nextWaiters = append(m.nextWaiters, msg)
		g.answer()
	case giveUp:
		for i, w := range m.nextWaiters {
			if w == msg.of {
				m.nextWaiters = append(m.nextWaiters[:i], m.nextWaiters[i+1:]...)
				w.answers <- answer[T]{gaveUp: true}
				break
			}
		}
	case wait:
		m.waiters = append(m.waiters, msg)
		g.answerWaiters()
	}
}

// afford takes a credit for a submit that came without one.
func (g *Group[T]) afford() bool {
	if g.manager.back > 0 {
		g.manager.back--
		return true
	}
	for {
		c := g.credit.Load()
		if c <= 0 {
			return false
		}
		if g.credit.CompareAndSwap(c, c-1) {
			return true
		}
	}
}

// accept starts the task of an ask and answers it. The answer comes first: from
// dispatch on the message is the task's.
func (g *Group[T]) accept(msg *message[T]) {
	msg.errc <- nil
	g.dispatch(msg)
}

// dispatch starts the task of msg.
func (g *Group[T]) dispatch(msg *message[T]) {
	m := &g.manager
	m.inflight++ // before the task can end
	if invariants.Enabled {
		m.submitted++
	}
	m.engine.Go(func() error {
		defer g.report(msg)
		msg.res.Err = group.ErrGoexit // what stands if the task does not return
		msg.res.Value, msg.res.Err = g.call(msg.fn)
		return nil // the manager owns the first error, not errgroup
	})
}

// call runs fn on the task's goroutine.
func (g *Group[T]) call(fn group.TaskFunc[T]) (v T, err error) {
	if g.cfg.PanicToError {
		defer func() {
			if p := recover(); p != nil {
				err = group.NewPanicError(p)
			}
		}()
	}
	return fn(g.ctx)
}

// report sends msg back as its task's done, on the task's goroutine. It is
// deferred: a task that calls Goexit reports as well.
func (g *Group[T]) report(msg *message[T]) {
	msg.kind, msg.fn, msg.errc = done, nil, nil
	g.send(msg)
}

// taskDone handles the event of that name.
func (g *Group[T]) taskDone(r group.Result[T]) {
	m := &g.manager
	m.inflight--
	if invariants.Enabled {
		m.completed++
	}
	if r.Err != nil && m.firstErr == nil {
		m.firstErr = r.Err
		if invariants.Enabled {
			m.firsts++
		}
		if g.cfg.FailFast {
			g.cancel(r.Err) // before anybody can see the result
		}
	}
	m.results.push(r)
	if m.blocked.len() > 0 { // the slot goes to the oldest who asked
		g.accept(m.blocked.pop())
	} else {
		m.back++
	}
	g.settle()
	g.answer()
	g.answerWaiters()
}

// close handles closing.
func (g *Group[T]) close() {
	m := &g.manager
	if m.closed {
		return
	}
	m.closed = true
	unspent := g.credit.Swap(0) + m.back
	m.back = 0
	m.coming = g.limit() - unspent - m.inflight
	for m.blocked.len() > 0 {
		m.blocked.pop().errc <- group.ErrGroupClosed
	}
	g.settle()
	// Only now can a Go be refused without asking: a caller that has been refused
	// and then cancels must find the group settled if nothing was in flight.
	g.credit.Store(withdrawn)
	g.answer()
}

// grant gives the credits of completed tasks back.
func (g *Group[T]) grant() {
	m := &g.manager
	if m.back > 0 && !m.closed {
		g.credit.Add(m.back)
	}
	m.back = 0
}

// settle, if the group is closed and nothing is or will be in flight, fixes what
// Wait answers, releases the context and sees the tasks' goroutines off.
func (g *Group[T]) settle() {
	m := &g.manager
	if !m.closed || m.settled || m.inflight > 0 || m.coming > 0 {
		return
	}
	m.settled = true
	m.cause = context.Cause(g.ctx)
	g.cancel(nil)
	// Every task has reported, which is the last thing its goroutine does, so
	// this waits for instructions, not for tasks. The error is always nil.
	_ = m.engine.Wait()
}

// answer gives results to those who wait for one, oldest to oldest, then to the
// outbox, and tells of the end when there is nothing left to give.
func (g *Group[T]) answer() {
	m := &g.manager
	for len(m.nextWaiters) > 0 {
		a := answer[T]{}
		select {
		case a.res, a.ok = <-g.outbox: // what is there is older than results; not ok if it is closed
		default:
			if m.results.len() > 0 {
				a.res, a.ok = m.results.pop(), true
			} else if !m.settled {
				return
			}
		}
		m.nextWaiters[0].answers <- a
		m.nextWaiters = append(m.nextWaiters[:0], m.nextWaiters[1:]...) // there are few
	}
	for m.results.len() > 0 && len(g.outbox) < cap(g.outbox) { // others only receive
		g.outbox <- m.results.pop()
	}
	if m.settled && m.results.len() == 0 && !m.drained {
		m.drained = true
		close(g.outbox)
	}
}

// answerWaiters answers calls of Wait if nothing is in flight.
func (g *Group[T]) answerWaiters() {
	m := &g.manager
	if m.inflight > 0 || m.coming > 0 {
		return
	}
	err := m.firstErr
	if err == nil {
		err = m.cause
	}
	if err == nil && !m.settled {
		err = context.Cause(g.ctx)
	}
	for _, w := range m.waiters {
		w.errc <- err
	}
	m.waiters = m.waiters[:0]
}

// check panics if an invariant of the package comment does not hold, in between
// two messages. It costs nothing in builds without invariants.
func (g *Group[T]) check() {
	if !invariants.Enabled {
		return
	}
	m := &g.manager
	over := m.closed && m.inflight == 0 && m.coming == 0 && m.results.len() == 0
	switch {
	case m.inflight < 0: // 1
		invariants.Violated("actorloop", "inflight >= 0")
	case m.loops.Load() != 1: // 2
		invariants.Violated("actorloop", "only the manager loop changes the state")
	case m.submitted != m.inflight+m.completed: // 3, 4, 5
		invariants.Violated("actorloop", "every submitted task is in flight or has emitted one taskDone")
	case m.firsts > 1: // 6; errors themselves may not be comparable
		invariants.Violated("actorloop", "firstErr never changes")
	case m.drained && !over: // 7
		invariants.Violated("actorloop", "drained implies closed, nothing in flight, no result left")
	case over && !m.drained: // 7
		invariants.Violated("actorloop", "closed, nothing in flight, no result left imply drained")
	case m.coming < 0:
		invariants.Violated("actorloop", "a submit arrives only if a credit was spent for it")
	case !m.closed && g.credit.Load()+m.back+m.inflight > g.limit():
		invariants.Violated("actorloop", "credit + inflight + submits on their way = limit")
	case len(m.nextWaiters) > 0 && (m.results.len() > 0 || m.settled):
		invariants.Violated("actorloop", "a next waits only if there is neither result nor end")
	case len(m.waiters) > 0 && m.inflight == 0 && m.coming == 0:
		invariants.Violated("actorloop", "a wait waits only if a task is in flight")
	}
}
