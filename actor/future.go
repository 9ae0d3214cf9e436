package actor

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/internal/invariants"
)

// How a [Future] ends, if not with a reply.
var (
	// ErrTimeout is the result of a Future that had no reply when its time was
	// up.
	ErrTimeout = errors.New("actor: no reply in time")

	// ErrLate is the reason of a [SendError] and of a [DeadLetter]: the reply is
	// not the first, or came after the Future had timed out, been discarded or
	// ended with its system; or it did come first, and the Future was discarded
	// before anybody took it.
	ErrLate = errors.New("actor: the reply comes too late")

	// ErrTaken is what a Future answers that has delivered its result before,
	// perhaps to another caller, or has been discarded.
	ErrTaken = errors.New("actor: the future's result has been taken")

	// ErrOver is the result of a Future that had no reply when its system was
	// over.
	ErrOver = errors.New("actor: the system is over")
)

// ReplyTo is where a reply is to go, to be put into a request: an actor, or the
// one who waits with a [Future]. The replier need not know which. It is a
// plain value, comparable with ==; the zero ReplyTo reaches no waiter.
type ReplyTo struct {
	ref     Ref // an actor's, or
	promise *promise
	ticket  uint64
}

// ReplyTo returns the actor as the receiver of replies: they are messages to it.
func (r Ref) ReplyTo() ReplyTo { return ReplyTo{ref: r} }

// ReplyAddress implements [Requester]: it returns r.
func (r ReplyTo) ReplyAddress() ReplyTo { return r }

// unanswered ends the Future, if it is one's and goes on: its request will not be handled.
func (r ReplyTo) unanswered(reason error) {
	if r.promise != nil {
		r.promise.complete(r.ticket, reason)
	} else if r.Awaits() {
		_ = r.ref.Tell(Failed{reason}) // in another system; if that is lost the Future has ended with its link
	}
}

// IsZero reports whether r is zero.
func (r ReplyTo) IsZero() bool { return r == ReplyTo{} }

// Tell sends a reply from outside the system; an actor uses [Context.Reply],
// which is faster. For an actor's ReplyTo it is [Ref.Tell]. For a Future's it
// never waits, and only the first reply is accepted: every other one, and one
// that comes too late, goes to the dead letters, and the error is a
// [*SendError] with the reason [ErrLate].
func (r ReplyTo) Tell(msg any) error {
	if r.promise == nil {
		return r.ref.Tell(msg)
	}
	return r.promise.reply(r.ticket, msg, nil)
}

// Fail replies that there will be no answer: the Future ends with err, and an
// actor is told err itself, as a message. In all else it is Tell. A nil err
// panics.
func (r ReplyTo) Fail(err error) error {
	if err == nil {
		panic("actor: Fail(nil): an answer that is no failure is told, not failed")
	}
	if r.promise == nil {
		if r.Awaits() {
			return r.ref.Tell(Failed{err})
		}
		return r.ref.Tell(err)
	}
	return r.promise.reply(r.ticket, nil, err)
}

// Reply sends a reply, as [ReplyTo.Tell] does. To an actor it goes as with
// [Context.Tell].
func (x *Context) Reply(to ReplyTo, msg any) error {
	if to.promise == nil {
		return x.Tell(to.ref, msg)
	}
	x.turn()
	return to.promise.reply(to.ticket, msg, nil)
}

// Future is the place of one reply, on the side of who waits for it: a plain
// value, to be copied freely. All methods may be called by any number of
// goroutines at once.
//
// A Future ends exactly once: with the first reply, with its timeout, with its
// system, with the dead letter that its request has become (see [Requester]), or with
// Discard, whichever comes first. The result is delivered
// once, by the first Wait or Poll that finds it, of whichever copy: what waits
// behind a Future is used again for others then, which is why asking costs no
// allocation. From then on every copy answers [ErrTaken]; it never sees the
// result of another one.
//
// A Future that is needed no longer and has not delivered should be discarded.
// If it is not it is left to the garbage collector, with the reply if there is
// one; while it has a deadline to meet it is kept until then.
//
// The zero Future has been taken.
type Future struct {
	promise *promise
	ticket  uint64
}

// NewFuture makes a Future whose ReplyTo is given away by hand; [System.Ask]
// sends the request, too. If no reply comes within timeout, by the system's
// clock, it ends with [ErrTimeout]: 0 means that it has all the time in the
// world, and if timeout is negative it has ended already.
func (s *System) NewFuture(timeout time.Duration) Future {
	p := s.futures.get(s)
	f := Future{p, p.state.Load()}
	switch {
	case timeout > 0:
		p.state.Store(f.ticket | useTimed)
		s.timers.startAs(&p.timer, timeout, f.ticket)
	case timeout < 0:
		p.complete(f.ticket, ErrTimeout)
	}
	return f
}

// Ask sends an actor the request that the given function makes for a ReplyTo,
// and returns the Future of the reply. timeout is that of [System.NewFuture].
//
// If the request is not accepted, the Future ends with the [*SendError]. Ask
// waits where [Ref.Tell] does, for room in a full mailbox whose policy is
// Block, but no longer than timeout.
//
// An actor should not wait for the reply in its turn: meanwhile it handles
// nothing else, and its worker runs no other actor; two actors that wait for each
// other do so for ever. It gives its own ReplyTo and takes the reply as a
// message.
func (s *System) Ask(to Ref, timeout time.Duration, request func(ReplyTo) any) Future {
	f := s.NewFuture(timeout)
	msg := request(f.ReplyTo())
	reason := ErrZeroRef
	if t := to.cell; t != nil {
		res := t.port.Send(msg, nil)
		if res == Sent {
			return f
		}
		ctx, end := s.patience(timeout, res)
		reason = insist(ctx, t, msg, nil, res)
		end()
	}
	f.unasked(to, msg, reason)
	return f
}

// Ask sends a request, as [System.Ask] does, from an actor's turn. The reply
// can be polled for in later turns, or the Future given to a goroutine.
func (x *Context) Ask(to Ref, timeout time.Duration, request func(ReplyTo) any) Future {
	c := x.turn()
	f := c.system.NewFuture(timeout)
	msg := request(f.ReplyTo())
	reason := ErrZeroRef
	if t := to.cell; t != nil {
		res := t.port.Send(msg, c.workerFor(t))
		if res == Sent {
			return f
		}
		ctx, end := c.system.patience(timeout, res)
		reason = c.insist(ctx, t, msg, res)
		end()
	}
	f.unasked(to, msg, reason)
	return f
}

// unasked ends the Future of a request that was not accepted, if it was not. If
// the Future has ended meanwhile, say with its timeout, that stands.
func (f Future) unasked(to Ref, msg any, reason error) {
	if reason != nil {
		f.promise.complete(f.ticket, f.promise.system.giveBack(to, msg, reason))
	}
}

// ReplyTo returns where replies to this Future go.
func (f Future) ReplyTo() ReplyTo { return ReplyTo{promise: f.promise, ticket: f.ticket} }

// Poll takes the result if it is there: the reply, or the error that the
// Future has ended with. If the Future has not ended it returns false, and
// never waits, nor runs actors of a [Synchronous] dispatcher.
func (f Future) Poll() (msg any, done bool, err error) {
	if f.promise == nil {
		return nil, true, ErrTaken
	}
	return f.promise.look(f.ticket)
}

// Wait waits until the Future ends and takes the result: the reply, or the
// error that the Future has ended with. Of several who wait one gets it, and
// the others ErrTaken.
//
// If ctx ends first Wait returns its error, and the Future is as it was: a
// reply that comes just then is not lost, but found by the next Wait or Poll,
// or to be discarded. A result that is there wins over a context that has
// ended. A nil ctx means context.Background.
//
// On a [Synchronous] dispatcher, Wait first runs actors until they are idle,
// whatever becomes of ctx meanwhile. What others send while it waits it does
// not run.
func (f Future) Wait(ctx context.Context) (any, error) {
	p := f.promise
	if p == nil {
		return nil, ErrTaken
	}
	if msg, done, err := p.look(f.ticket); done {
		return msg, err
	}
	if d, ok := p.system.dispatcher.(Synchronous); ok {
		d.RunUntilIdle()
	}
	return p.wait(ctx, f.ticket)
}

// Discard says that the reply is not wanted: the Future has ended and been
// taken, and those who wait for it get ErrTaken. A reply that is there already,
// or comes later, goes to the dead letters. A Future that has been taken is
// left alone, so Discard may stand in a defer.
func (f Future) Discard() {
	if f.promise != nil {
		f.promise.discard(f.ticket)
	}
}

// promise is what stands behind a Future and its ReplyTo: one after the other,
// for it is used again. All decisions are made on one atomic word, state:
//
//	ticket   40 bits   which use this is; a Future or ReplyTo of another one
//	                   finds a ticket that is not its own, and that is all it
//	                   ever does. The last ticket is never followed by another
//	waiters  20 bits   who is inside and must not find the promise used again:
//	                   goroutines in wait, and others for a moment
//	timed     1 bit    the timer was started, with the ticket
//	phase     3 bits
//
// The phases of one use:
//
//	pending ──► writing ──► done ──► taken        a completer; then a taker
//	   │           └─► abandoned ─────►┤          discarded while it was written
//	   └──────────────────────────────►┘          discarded
//
// Who makes the step from pending to writing has completed the promise, if it
// is not abandoned, and alone writes the result. Who makes the step from done
// to taken has the result, and alone reads it. The promise goes back to the
// pool in phase taken without waiters, and who makes it so puts it there: no
// waiter enters after writing, so that happens once. A waiter that comes late, the
// deadline included, has a ticket.
//
// A waiter sleeps on the channel wake, which holds one token. A token says only
// "look": since who sends it does so after the step that it tells of, it may
// come late, in another use. It is sent by the goroutine that completes a promise that
// waiters have entered, and passed on by each of them that leaves a promise that
// is taken. So it need not be known how many tokens there should be, and none
// is waited for in vain: if one is lost because there is one already, that one
// is still to be received.
//
// Rejected: a mutex and a list of waiters (a reply would wait for who looks); a
// channel for each use (allocations, and no telling whether a reply is late); to
// keep the pending ones in a list for the day the system is over (they would
// never be collected): only those are in one that goroutines wait for, and who does
// not wait looks at futures.ended; a channel that is closed then (a select locks all
// its channels and sorts them, where a lock is taken twice here).
type promise struct {
	state  atomic.Uint64
	system *System
	wake   chan struct{} // capacity 1
	timer  timer

	list       *awaited // the one that it is in while goroutines are in wait
	inWait     int      // how many; guarded by list, as next and prev
	next, prev *promise

	// Written in phase writing, read and cleared by who has made the step to
	// taken.
	msg  any
	err  error
	sent bool // by way of a ReplyTo
}

// The parts of promise.state.
const (
	usePending   uint64 = iota // must be 0: a ticket alone is a promise that is pending
	useWriting                 // a completer has it
	useDone                    // useWriting + 1
	useAbandoned               // useWriting, and discarded meanwhile
	useTaken                   // useAbandoned + 1

	usePhases  = uint64(7)
	useTimed   = usePhases + 1
	oneWaiter  = useTimed << 1
	useWaiters = oneWaiter * (1<<20 - 1)
	oneTicket  = oneWaiter << 20
	useTickets = ^(oneTicket - 1)
)

// reply completes the promise from a ReplyTo, or says why not.
func (p *promise) reply(ticket uint64, msg any, err error) error {
	if !p.system.futures.ended.Load() && p.claim(ticket) && p.settle(msg, err, true) {
		return nil
	}
	if err != nil {
		msg = err
	}
	return p.system.late(msg)
}

// late books a reply that came too late.
//
//go:noinline
func (s *System) late(msg any) error {
	s.deadLetter(DeadLetter{Msg: msg, Reason: ErrLate})
	return &SendError{Msg: msg, Reason: ErrLate}
}

// complete completes the promise without a reply, unless it is complete.
func (p *promise) complete(ticket uint64, err error) {
	if p.claim(ticket) {
		p.settle(nil, err, false)
	}
}

// claim makes the step to writing. If it reports true settle must follow; if
// not, all can see that the promise is complete.
func (p *promise) claim(ticket uint64) bool {
	for {
		w := p.state.Load()
		if w&useTickets != ticket {
			return false
		}
		switch w & usePhases {
		case usePending:
			if p.state.CompareAndSwap(w, w+useWriting) {
				return true
			}
		case useWriting:
			// A replier that learned now that it is too late, and then looked, would
			// not find what it was too late for.
			runtime.Gosched()
		default:
			return false
		}
	}
}

// settle writes the result, and reports false if the promise was discarded
// meanwhile: then it is as if that had come first.
func (p *promise) settle(msg any, err error, sent bool) bool {
	p.msg, p.err, p.sent = msg, err, sent
	invariants.Window()
	if p.state.Load()&useTimed != 0 {
		p.system.timers.stop(&p.timer)
	}
	w := p.state.Add(useDone - useWriting)
	if w&usePhases == useDone {
		// From here on p may be another use's, of which this is no business
		// except for the token.
		if w&useWaiters != 0 {
			p.signal()
		}
		return true
	}
	p.left(w)
	return false
}

// due is the deadline of the use with that ticket.
func (p *promise) due(ticket uint64) { p.complete(ticket, ErrTimeout) }

// look is take for those who have not entered. It sees whether the system is
// over.
func (p *promise) look(ticket uint64) (msg any, ok bool, err error) {
	msg, ok, err = p.take(ticket, 0)
	if !ok && p.system.futures.ended.Load() {
		p.complete(ticket, ErrOver)
		return p.take(ticket, 0)
	}
	return msg, ok, err
}

// take takes the result if there is one. Inside is what the caller counts for
// in state: oneWaiter if it has entered, else 0. When take reports true the
// caller has left.
func (p *promise) take(ticket, inside uint64) (msg any, ok bool, err error) {
	for {
		w := p.state.Load()
		if w&useTickets != ticket {
			return nil, true, ErrTaken
		}
		switch w & usePhases {
		case usePending, useWriting:
			return nil, false, nil
		case useDone:
			if r, ok := p.grab(w, inside); ok {
				return r.msg, true, r.err
			}
		default:
			if inside != 0 {
				p.release(inside)
			}
			return nil, true, ErrTaken
		}
	}
}

// completion is what a promise was completed with.
type completion struct {
	msg  any
	err  error
	sent bool
}

// grab makes the step from done to taken, if state is still w. It leaves for the
// caller, who counts for inside.
func (p *promise) grab(w, inside uint64) (completion, bool) {
	others := w&useWaiters - inside
	next := w&^(usePhases|useWaiters) | useTaken | others
	if others != 0 {
		next += oneWaiter // so that it cannot be used again before it is read
	}
	if !p.state.CompareAndSwap(w, next) {
		return completion{}, false
	}
	r := completion{p.msg, p.err, p.sent}
	if others != 0 {
		p.msg, p.err = nil, nil // the others may stay for long
		p.release(oneWaiter)
	} else {
		p.recycle(next)
	}
	return r, true
}

// wait is Future.Wait where there is something to wait for.
func (p *promise) wait(ctx context.Context, ticket uint64) (any, error) {
	var done <-chan struct{}
	if ctx != nil {
		done = ctx.Done()
	}
	inside := p.enter(ticket)
	p.list.add(p)
	for {
		if p.system.futures.ended.Load() { // it was before add, or there was a token
			p.complete(ticket, ErrOver)
		}
		if msg, ok, err := p.take(ticket, inside); ok {
			p.list.remove(p) // p may be another use's, whose waiters are counted with this one
			return msg, err
		}
		if done == nil {
			<-p.wake
			continue
		}
		select {
		case <-p.wake:
		case <-done:
			if p.leave() {
				p.list.remove(p)
				return nil, ctx.Err()
			}
		}
	}
}

// enter counts the caller among the waiters, if there is something to wait for,
// and returns what it counts for.
func (p *promise) enter(ticket uint64) uint64 {
	for {
		w := p.state.Load()
		if w&useTickets != ticket || w&usePhases > useWriting {
			return 0
		}
		if w&useWaiters == useWaiters-oneWaiter { // one is kept for grab and discard
			panic("actor: more than a million goroutines wait for one Future")
		}
		if p.state.CompareAndSwap(w, w+oneWaiter) {
			return oneWaiter
		}
	}
}

// leave undoes enter and reports true, unless there is something to take.
func (p *promise) leave() bool {
	for {
		w := p.state.Load()
		if w&usePhases > useWriting {
			return false
		}
		if p.state.CompareAndSwap(w, w-oneWaiter) {
			return true
		}
	}
}

func (p *promise) discard(ticket uint64) {
	for {
		w := p.state.Load()
		if w&useTickets != ticket {
			return
		}
		switch w & usePhases {
		case usePending:
			// As a waiter, lest the timer be another use's when it is stopped.
			if p.state.CompareAndSwap(w, w+useTaken+oneWaiter) {
				if w&useTimed != 0 {
					p.system.timers.stop(&p.timer)
				}
				p.release(oneWaiter)
				return
			}
		case useWriting:
			if p.state.CompareAndSwap(w, w-useWriting+useAbandoned) {
				return // settle does the rest
			}
		case useDone:
			if r, ok := p.grab(w, 0); ok {
				if r.sent {
					if r.err != nil {
						r.msg = r.err
					}
					p.system.deadLetter(DeadLetter{Msg: r.msg, Reason: ErrLate})
				}
				return
			}
		default:
			return
		}
	}
}

// release takes back what a waiter counts for in state.
func (p *promise) release(inside uint64) {
	w := p.state.Add(-inside)
	if w&usePhases == useTaken {
		p.left(w)
	}
}

// left is called by who has made a step to w, in phase taken, by which fewer
// are inside.
func (p *promise) left(w uint64) {
	if w&useWaiters == 0 {
		p.recycle(w)
	} else {
		p.signal()
	}
}

// signal has a waiter look.
func (p *promise) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// recycle makes the promise ready for another use. w is the state it is in.
func (p *promise) recycle(w uint64) {
	if invariants.Enabled && p.state.Load()&^useTimed != w&useTickets|useTaken {
		invariants.Violated("actor", "a promise is used again when it is taken and no waiter is inside")
	}
	p.msg, p.err = nil, nil
	next := w&useTickets + oneTicket
	if next == 0 {
		return // no ticket is issued twice: the garbage collector may have it
	}
	p.state.Store(next)
	p.system.futures.pool.Put(p)
}

// futures is what the promises of a system share. They are a system's own
// because their channels belong to the bubble that the system is in, if it is in
// one (testing/synctest).
type futures struct {
	pool  sync.Pool
	ended atomic.Bool // the system is over

	once sync.Once
	// The promises that goroutines wait for. One list would be contended by all, so there are as many
	// as processors, and each promise is in one of them.
	lists []awaited
	made  atomic.Uint32 // promises ever made
}

// awaited is a list of promises that goroutines wait for.
type awaited struct {
	mu    sync.Mutex
	first *promise
	_     [64]byte // lists are written by different processors
}

// add says that one more goroutine waits for p.
func (l *awaited) add(p *promise) {
	l.mu.Lock()
	if p.inWait++; p.inWait == 1 {
		if p.next = l.first; p.next != nil {
			p.next.prev = p
		}
		l.first = p
	}
	l.mu.Unlock()
}

// remove undoes add.
func (l *awaited) remove(p *promise) {
	l.mu.Lock()
	if p.inWait--; p.inWait == 0 {
		if p.prev == nil {
			l.first = p.next
		} else {
			p.prev.next = p.next
		}
		if p.next != nil {
			p.next.prev = p.prev
		}
		p.next, p.prev = nil, nil
	}
	l.mu.Unlock()
}

// get returns a promise that is free, in phase pending.
func (f *futures) get(s *System) *promise {
	if p, ok := f.pool.Get().(*promise); ok {
		return p
	}
	return f.grow(s)
}

//go:noinline
func (f *futures) grow(s *System) *promise {
	f.once.Do(f.init)
	p := &promise{
		system: s,
		wake:   make(chan struct{}, 1),
		list:   &f.lists[f.made.Add(1)%uint32(len(f.lists))],
	}
	p.timer.waiter = p
	return p
}

func (f *futures) init() { f.lists = make([]awaited, runtime.GOMAXPROCS(0)) }

// close is called once, when the system is over.
func (f *futures) close() {
	f.once.Do(f.init)
	f.ended.Store(true)
	for i := range f.lists {
		l := &f.lists[i]
		l.mu.Lock()
		for p := l.first; p != nil; p = p.next {
			p.signal()
		}
		l.mu.Unlock()
	}
}

// patience returns the context in which a request that was answered res waits
// for room, and what is to be called when it has waited.
func (s *System) patience(timeout time.Duration, res SendResult) (context.Context, func()) {
	if res != MustWait || timeout == 0 {
		return context.Background(), func() {}
	}
	p := &patience{done: make(chan struct{})}
	p.timer.waiter = p
	s.timers.start(&p.timer, timeout)
	return p, func() { s.timers.stop(&p.timer) }
}

// patience is a context that ends with a timeout of the system's clock.
type patience struct {
	timer timer
	done  chan struct{}
}

func (p *patience) due(uint64) { close(p.done) }

// Deadline implements [context.Context]. The deadline is on the system's clock,
// which others need not know.
func (p *patience) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Done implements [context.Context].
func (p *patience) Done() <-chan struct{} { return p.done }

// Err implements [context.Context].
func (p *patience) Err() error {
	select {
	case <-p.done:
		return ErrTimeout
	default:
		return nil
	}
}

// Value implements [context.Context].
func (p *patience) Value(any) any { return nil }
