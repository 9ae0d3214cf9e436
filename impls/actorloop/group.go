package actorloop

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

const (
	// outboxSize is how many results Next can take without asking the manager.
	outboxSize = 64

	// unlimited is the credit of a group without a concurrency limit: more
	// tasks than can be in flight.
	unlimited = 1 << 62

	// withdrawn is the credit of a closed group. No goroutine can spend it.
	withdrawn = -1
)

// Group is a task group whose state belongs to a manager loop.
// Make one with [NewGroup].
type Group[T any] struct {
	cfg     group.Config
	outcome group.Outcome // but for its Context and Cancel the manager's

	inbox inbox[message[T]]

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
	results     queue.Ring[group.Result[T]] // those the outbox has no room for
	nextWaiters queue.List[*call[T]]        // calls of Next without an answer
	waiters     queue.List[*call[T]]        // calls of Wait without an answer

	blocked queue.Ring[*node[message[T]]] // submits that wait for a slot
	coming  int64                         // once closed: submits that were paid for and have not arrived
	back    int64                         // credits to give back at the end of this batch
	drained bool                          // the outbox is closed
	engine  errgroup.Group

	// What the invariants are checked against; kept in builds that check only.
	submitted, completed int64        // tasks dispatched, taskDone events handled
	loops                atomic.Int32 // manager loops that run
}

type kind uint8

const (
	submit  kind = iota // run fn; paid for with a credit
	ask                 // run fn when there is a slot; answered
	done                // fn is over with res: the document's taskDone
	closing             // answered
	next                // answered
	giveUp              // the caller of a next does not wait any more; answered as that next, unless it has been
	wait                // answered
)

// message is a command or an event. A submit becomes its task's done.
type message[T any] struct {
	kind kind
	fn   group.TaskFunc[T]
	res  group.Result[T]
	call *call[T] // of all that are answered, which it is part of; of giveUp, that of the next
}

// call is a command whose caller waits for the answer.
type call[T any] struct {
	command node[message[T]]
	answers chan answer[T] // capacity 1

	// These are the manager's, of a next and a wait.
	waiting bool
	queued  queue.Node[*call[T]]
}

// answer is what the manager says to a call.
type answer[T any] struct {
	res    group.Result[T]
	ok     bool
	err    error
	gaveUp bool // there was no result before the caller gave up
}

// NewGroup returns an open group. A nil ctx means context.Background.
func NewGroup[T any](ctx context.Context, opts ...group.Option) *Group[T] {
	g := &Group[T]{cfg: group.Resolve(opts...)}
	g.outcome = group.NewOutcome(ctx, g.cfg)
	g.outbox = make(chan group.Result[T], max(outboxSize, g.cfg.ResultBuffer))
	g.credit.Store(g.limit())
	g.inbox.init()
	return g
}

// limit is how many tasks may be in flight.
func (g *Group[T]) limit() int64 {
	if n := g.cfg.MaxConcurrency; n > 0 {
		return int64(n)
	}
	return unlimited
}

// send puts a message into the manager's inbox.
func (g *Group[T]) send(n *node[message[T]]) {
	if g.inbox.send(n) {
		go g.loop()
	}
}

// ask sends a command that is going to be answered.
func (g *Group[T]) ask(k kind, fn group.TaskFunc[T]) *call[T] {
	c := &call[T]{answers: make(chan answer[T], 1)}
	c.command.msg = message[T]{kind: k, fn: fn, call: c}
	g.send(&c.command)
	return c
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
			return (<-g.ask(ask, fn).answers).err
		}
		if g.credit.CompareAndSwap(c, c-1) {
			g.send(&node[message[T]]{msg: message[T]{kind: submit, fn: fn}})
			return nil
		}
	}
}

// Close implements [group.Group].
func (g *Group[T]) Close() {
	if g.credit.Load() < 0 {
		return
	}
	<-g.ask(closing, nil).answers
}

// Next implements [group.Group].
func (g *Group[T]) Next(ctx context.Context) (group.Result[T], bool, error) {
	select {
	case r, ok := <-g.outbox:
		return r, ok, nil
	default:
	}
	c := g.ask(next, nil)
	var over <-chan struct{} // nil, and never ready, for a context that cannot end
	if ctx != nil {
		over = ctx.Done()
	}
	var a answer[T]
	if over == nil {
		a = <-c.answers
	} else {
		select {
		case a = <-c.answers:
		case <-over:
			// The manager may be about to answer. It decides, and the answer
			// that it then gives may be a result all the same.
			g.send(&node[message[T]]{msg: message[T]{kind: giveUp, call: c}})
			a = <-c.answers
		}
	}
	if a.gaveUp {
		return group.Result[T]{}, false, ctx.Err()
	}
	return a.res, a.ok, nil
}

// Wait implements [group.Group].
func (g *Group[T]) Wait() error {
	return (<-g.ask(wait, nil).answers).err
}

// Cancel implements [group.Group]. Cancelling is the context's business, not the
// manager's.
func (g *Group[T]) Cancel(cause error) { g.outcome.Cancel(cause) }

// loop is the manager. It runs on a goroutine of its own while there are
// messages, and is the only one to touch g.manager.
func (g *Group[T]) loop() {
	if invariants.Enabled {
		g.manager.loops.Add(1)
	}
	for yielded := false; ; {
		n := g.inbox.receive()
		if n == nil {
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
		for n != nil {
			following := n.next
			n.next = nil
			g.handle(n)
			g.check()
			n = following
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
	asleep := g.inbox.sleep()
	if invariants.Enabled && !asleep {
		g.manager.loops.Add(1)
	}
	return asleep
}

// handle does what a message asks for. Like all methods below it is the manager's.
func (g *Group[T]) handle(n *node[message[T]]) {
	m := &g.manager
	switch msg := &n.msg; msg.kind {
	case submit:
		if m.closed {
			m.coming--
		}
		g.dispatch(n)
	case ask:
		switch {
		case m.closed:
			msg.call.answers <- answer[T]{err: group.ErrGroupClosed}
		case g.afford():
			g.accept(n)
		default:
			m.blocked.Push(n)
		}
	case done:
		g.taskDone(msg.res)
	case closing:
		g.close()
		msg.call.answers <- answer[T]{}
	case next:
		msg.call.join(&m.nextWaiters)
		g.answer()
	case giveUp:
		if c := msg.call; c.waiting {
			m.nextWaiters.Remove(&c.queued)
			c.reply(answer[T]{gaveUp: true})
		}
	case wait:
		msg.call.join(&m.waiters)
		g.answerWaiters()
	}
}

// join puts c behind those that wait for the same.
func (c *call[T]) join(l *queue.List[*call[T]]) {
	c.waiting, c.queued.Value = true, c
	l.Push(&c.queued)
}

// reply answers c, which has left those that wait.
func (c *call[T]) reply(a answer[T]) {
	c.waiting = false
	c.answers <- a
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
func (g *Group[T]) accept(n *node[message[T]]) {
	n.msg.call.answers <- answer[T]{}
	g.dispatch(n)
}

// dispatch starts the task of n.
func (g *Group[T]) dispatch(n *node[message[T]]) {
	m, msg := &g.manager, &n.msg
	m.inflight++ // before the task can end
	if invariants.Enabled {
		m.submitted++
	}
	m.engine.Go(func() error {
		defer g.report(n)
		msg.res.Err = group.ErrGoexit // what stands if the task does not return
		msg.res = group.Call(g.outcome.Context(), msg.fn, g.cfg.PanicToError)
		return nil // the manager owns the first error, not errgroup
	})
}

// report sends n back as its task's done, on the task's goroutine. It is
// deferred: a task that calls Goexit reports as well.
func (g *Group[T]) report(n *node[message[T]]) {
	n.msg.kind, n.msg.fn, n.msg.call = done, nil, nil
	g.send(n)
}

// taskDone handles the event of that name.
func (g *Group[T]) taskDone(r group.Result[T]) {
	m := &g.manager
	m.inflight--
	if invariants.Enabled {
		m.completed++
	}
	g.outcome.Complete(r.Err)
	m.results.Push(r)
	if m.blocked.Len() > 0 { // the slot goes to the oldest who asked
		g.accept(m.blocked.Pop())
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
	for m.blocked.Len() > 0 {
		m.blocked.Pop().msg.call.answers <- answer[T]{err: group.ErrGroupClosed}
	}
	invariants.Window() // a Go that comes now asks, or has a credit, and is not refused
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
	if !m.closed || m.inflight > 0 || m.coming > 0 {
		return
	}
	g.outcome.Settle()
	// Every task has reported, which is the last thing its goroutine does, so
	// this waits for instructions, not for tasks. The error is always nil.
	_ = m.engine.Wait()
}

// answer gives results to those who wait for one, oldest to oldest, then to the
// outbox, and tells of the end when there is nothing left to give.
func (g *Group[T]) answer() {
	m := &g.manager
	for !m.nextWaiters.Empty() {
		a := answer[T]{}
		select {
		case a.res, a.ok = <-g.outbox: // what is there is older than results; not ok if it is closed
		default:
			if m.results.Len() > 0 {
				a.res, a.ok = m.results.Pop(), true
			} else if !g.outcome.Settled() {
				return
			}
		}
		m.nextWaiters.Pop().Value.reply(a)
	}
	for m.results.Len() > 0 && len(g.outbox) < cap(g.outbox) { // others only receive
		g.outbox <- m.results.Pop()
	}
	if g.outcome.Settled() && m.results.Len() == 0 && !m.drained {
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
	for !m.waiters.Empty() {
		m.waiters.Pop().Value.reply(answer[T]{err: g.outcome.Err()})
	}
}

// check panics if an invariant of the package comment does not hold, in between
// two messages. It costs nothing in builds without invariants.
func (g *Group[T]) check() {
	if !invariants.Enabled {
		return
	}
	m := &g.manager
	over := m.closed && m.inflight == 0 && m.coming == 0 && m.results.Len() == 0
	switch {
	case m.inflight < 0: // 1
		invariants.Violated("actorloop", "inflight >= 0")
	case m.loops.Load() != 1: // 2
		invariants.Violated("actorloop", "only the manager loop changes the state")
	case m.submitted != m.inflight+m.completed: // 3, 4, 5
		invariants.Violated("actorloop", "every submitted task is in flight or has emitted one taskDone")
	case m.drained && !over: // 7
		invariants.Violated("actorloop", "drained implies closed, nothing in flight, no result left")
	case over && !m.drained: // 7
		invariants.Violated("actorloop", "closed, nothing in flight, no result left imply drained")
	case m.coming < 0:
		invariants.Violated("actorloop", "a submit arrives only if a credit was spent for it")
	case !m.closed && g.credit.Load()+m.back+m.inflight > g.limit():
		invariants.Violated("actorloop", "credit + inflight + submits on their way = limit")
	case !m.nextWaiters.Empty() && (m.results.Len() > 0 || g.outcome.Settled()):
		invariants.Violated("actorloop", "a next waits only if there is neither result nor end")
	case !m.waiters.Empty() && m.inflight == 0 && m.coming == 0:
		invariants.Violated("actorloop", "a wait waits only if a task is in flight")
	}
}
