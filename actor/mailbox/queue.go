// Package mailbox is what an actor's mailbox means, once for all
// implementations: the order of messages, what happens to one that finds the
// mailbox full, and in which order senders wait for room.
//
// A [Queue] is sequential. It has no lock, no atomic and no goroutine: an
// implementation of [actor.Port] brings its own synchronisation and calls it
// under that. A mutex is enough:
//
//	func (p *port) Send(msg any, from actor.Worker) actor.SendResult {
//		prio := p.queue.Priority(msg) // before the lock: it is the user's code
//		p.mu.Lock()
//		res, dropped, drop := p.queue.Push(msg, prio)
//		wake := res == actor.Sent && p.idle
//		p.idle = p.idle && !wake
//		p.mu.Unlock()
//		if drop {
//			p.cell.Undelivered(dropped, actor.ErrDropped)
//		}
//		if wake {
//			p.schedule(from)
//		}
//		return res
//	}
//
//	func (p *port) SendWait(ctx context.Context, msg any, from actor.Worker) error {
//		prio, ended := p.queue.Priority(msg), ctx.Err() // before the lock: they are the user's code
//		p.mu.Lock()
//		s, err := p.queue.PushOrWait(msg, prio, ended)
//		p.mu.Unlock()
//		if s == nil {
//			// It was refused, with err, or queued: then wake the actor, as Send does.
//			return err
//		}
//		return s.Await(ctx, func() bool {
//			p.mu.Lock()
//			defer p.mu.Unlock()
//			return p.queue.Leave(s)
//		})
//	}
//
// # Memory
//
// A queue begins with room for two messages and grows by doubling, from 8, up to a segment
// of 1,024. Beyond that it is a chain of segments, so a flood never copies what
// waits; segments that are used up go to a pool, which the garbage collector
// empties. So in the steady state nothing is allocated per message, and after a
// flood an actor keeps one segment. Messages with priorities are in a heap, which
// has to be in one piece: it is copied when it grows, and when it is empty, a
// large one goes to a pool as well.
package mailbox

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/queue"
)

// Plain reports whether cfg asks for no more than a first-in-first-out queue
// without a bound: the default, for which an implementation may have a mechanism
// of its own instead of a Queue.
func Plain(cfg actor.MailboxConfig) bool {
	return cfg.Policy == actor.Unbounded && cfg.Priority == nil
}

// Queue is the user messages that wait in an actor's mailbox, and the senders
// that wait for room in it. The zero value is a plain one. Its methods must not
// be called at the same time, except Priority.
type Queue struct {
	ring  queue.Ring[any] // the oldest messages, unless they have priorities
	later *chain          // those behind them, if ring is full; shut after Close
	limit *limit          // nil for a plain queue, to keep that small; never written again
}

// limit is what a queue with a capacity or with priorities has in addition.
type limit struct {
	policy   actor.Policy
	capacity int // 0: none
	priority func(any) int
	heap     heap // the messages, if they have priorities
	senders  queue.List[*Sender]
}

// New returns an empty queue that follows cfg, which the core has checked.
func New(cfg actor.MailboxConfig) (q Queue) {
	if Plain(cfg) {
		return q
	}
	q.limit = &limit{policy: cfg.Policy, capacity: cfg.Capacity, priority: cfg.Priority}
	q.limit.heap.keep = max(Keep, cfg.Capacity)
	if cfg.Policy == actor.Grow {
		q.limit.capacity = 0
		if cfg.Priority == nil {
			q.ring.Reserve(cfg.Capacity)
		} else {
			q.limit.heap.items = make([]item, 0, cfg.Capacity)
		}
	}
	return q
}

// Len returns how many messages wait.
func (q *Queue) Len() int {
	n := q.ring.Len()
	if q.later != nil {
		n += q.later.n
	}
	if q.limit != nil {
		n += len(q.limit.heap.items)
	}
	return n
}

// Priority returns the priority of msg, for Push and Wait. It calls the user's
// function and so belongs before a lock is taken; any number of goroutines may
// call it at once.
func (q *Queue) Priority(msg any) int {
	if q.limit == nil || q.limit.priority == nil {
		return 0
	}
	return q.limit.priority(msg)
}

// Push queues msg, if the policy allows it. The result is Port.Send's. If drop is
// true a message had to go for it: dropped, which may be msg itself, and belongs
// into Cell.Undelivered with ErrDropped when no lock is held any more.
func (q *Queue) Push(msg any, prio int) (res actor.SendResult, dropped any, drop bool) {
	if x := q.limit; x != nil && q.later != shut {
		switch {
		case x.capacity > 0 && q.Len() >= x.capacity:
			return q.overflow(msg, prio)
		case x.priority != nil:
			x.heap.push(prio, msg)
			return actor.Sent, nil, false
		}
	}
	switch {
	case q.later == nil && q.ring.TryPush(msg): // nearly always
	case q.later == shut:
		return actor.Closed, nil, false
	default:
		q.append(msg)
	}
	return actor.Sent, nil, false
}

// overflow is Push for a queue that is full.
func (q *Queue) overflow(msg any, prio int) (res actor.SendResult, dropped any, drop bool) {
	switch q.limit.policy {
	case actor.Block:
		return actor.MustWait, nil, false
	case actor.DropOldest:
		return actor.Sent, q.exchange(msg, prio), true
	case actor.DropNewest:
		return actor.Full, nil, false
	}
	panic("mailbox: a full queue has no rule for the policy " + q.limit.policy.String())
}

// exchange queues msg and takes the oldest message out, or the oldest of those
// with the lowest priority, which is msg if nothing that waits matters less.
func (q *Queue) exchange(msg any, prio int) (dropped any) {
	if q.limit.priority == nil {
		dropped, _ = q.Pop()
		q.append(msg)
		return dropped
	}
	h := &q.limit.heap
	last := h.last()
	if h.items[last].prio < prio {
		return msg
	}
	dropped = h.remove(last)
	h.push(prio, msg)
	return dropped
}

// Pop removes and returns the message to be handled next, and false if there is
// none. The room goes to the sender that has waited for it longest.
func (q *Queue) Pop() (msg any, ok bool) {
	x := q.limit
	if x != nil && x.priority != nil {
		if len(x.heap.items) == 0 {
			return nil, false
		}
		msg = x.heap.remove(0)
	} else {
		if q.ring.Len() == 0 {
			return nil, false
		}
		msg = q.ring.Pop()
		if q.ring.Len() == 0 && q.later != nil {
			q.advance()
		}
	}
	if x != nil && !x.senders.Empty() {
		q.admit()
	}
	return msg, true
}

// admit queues the message of the sender that has waited longest.
func (q *Queue) admit() {
	s := q.limit.senders.Pop().Value
	if q.limit.priority == nil {
		q.append(s.msg)
	} else {
		q.limit.heap.push(s.prio, s.msg)
	}
	s.answer(nil)
}

// Close has every later Push return Closed, and every sender that waits be
// answered with ErrStopped. It returns the messages that wait, in the order in
// which they would have been handled: each belongs into Cell.Undelivered with
// ErrStopped when no lock is held any more.
func (q *Queue) Close() []any {
	if x := q.limit; x != nil {
		for !x.senders.Empty() {
			x.senders.Pop().Value.answer(actor.ErrStopped)
		}
	}
	left := make([]any, 0, q.Len())
	for msg, ok := q.Pop(); ok; msg, ok = q.Pop() {
		left = append(left, msg)
	}
	q.ring, q.later = queue.Ring[any]{}, shut
	if q.limit != nil {
		q.limit.heap.items = nil
	}
	return left
}

// Sender is a call of Port.SendWait that waits for room.
type Sender struct {
	node    queue.Node[*Sender]
	waiting bool // it is in the queue
	msg     any
	prio    int
	ready   chan struct{}
	err     error
}

// Wait puts a sender behind those that wait for room already. It may be called if
// Push has just returned MustWait. When there is room and msg is queued, or the
// queue is closed, ready is closed, unless it is nil.
func (q *Queue) Wait(msg any, prio int, ready chan struct{}) *Sender {
	s := &Sender{waiting: true, msg: msg, prio: prio, ready: ready}
	s.node.Value = s
	q.limit.senders.Push(&s.node)
	return s
}

// PushOrWait is how Port.SendWait begins: msg is queued, and both results are nil; or it is
// refused, with ErrStopped or, where it would have to wait, with ended, the error of the
// caller's context; or the sender waits, and is to call Await without any lock.
func (q *Queue) PushOrWait(msg any, prio int, ended error) (*Sender, error) {
	switch res, _, _ := q.Push(msg, prio); {
	case res == actor.Sent:
		return nil, nil
	case res == actor.Closed:
		return nil, actor.ErrStopped
	case ended != nil:
		return nil, ended
	}
	return q.Wait(msg, prio, make(chan struct{})), nil
}

// Await is how Port.SendWait goes on for a sender that waits, with a channel. It returns when that is
// answered, as Err does, or gives up when ctx ends, with its error. leave calls Leave, under the
// implementation's synchronisation.
func (s *Sender) Await(ctx context.Context, leave func() bool) error {
	select {
	case <-s.ready: // hands over the place in the queue, or the refusal
		return s.err
	case <-ctx.Done():
	}
	if leave() {
		return ctx.Err()
	}
	return s.err // it was answered first
}

// Leave ends the wait of a sender that gives up, and reports whether it had not
// been answered. If it had been, its message is queued or refused, as Err says.
func (q *Queue) Leave(s *Sender) bool {
	if !s.waiting {
		return false
	}
	s.waiting = false
	q.limit.senders.Remove(&s.node)
	return true
}

// Waiting reports whether s has neither been answered nor left.
func (s *Sender) Waiting() bool { return s.waiting }

// Err is what SendWait returns for a sender that has been answered: nil if its
// message has been queued, else ErrStopped. Who has found ready closed may call it
// without synchronisation.
func (s *Sender) Err() error { return s.err }

// answer ends the wait of s, which has been taken out of the list.
func (s *Sender) answer(err error) {
	s.waiting, s.err, s.msg = false, err, nil
	if s.ready != nil {
		close(s.ready)
	}
}

// segmentLen is the length of a segment, one of which an actor keeps.
const segmentLen = Keep

type segment [segmentLen]any

// chain is what waits behind a full ring: segments of which all but the last are
// full.
type chain struct {
	segments queue.Ring[*segment]
	n        int // messages
}

// shut is the chain of a closed queue, for Push to see at no price.
var shut = new(chain)

// spare has segments without messages. It is safe for concurrent use, so queues
// may share it.
var spare = sync.Pool{New: func() any { return new(segment) }}

// append queues msg behind all others.
func (q *Queue) append(msg any) {
	if q.ring.Cap() == 0 && q.limit == nil {
		q.ring.Replace(make([]any, 2), 0) // many actors never have more waiting
	}
	full := q.ring.Len() == q.ring.Cap() && q.ring.Cap() >= segmentLen
	if full || q.later != nil && q.later.n > 0 {
		q.appendLater(msg)
		return
	}
	q.ring.Push(msg)
}

func (q *Queue) appendLater(msg any) {
	if q.later == nil {
		q.later = new(chain)
	}
	c := q.later
	i := c.n % segmentLen
	if i == 0 {
		c.segments.Push(spare.Get().(*segment))
	}
	c.segments.At(c.segments.Len() - 1)[i] = msg
	c.n++
}

// advance has an empty ring go on with the next segment, if there is one.
func (q *Queue) advance() {
	c := q.later
	if c.n == 0 {
		return
	}
	n := min(c.n, segmentLen)
	c.n -= n
	old := q.ring.Replace(c.segments.Pop()[:], n)
	if len(old) == segmentLen {
		spare.Put((*segment)(old))
	}
	if c.n == 0 && c.segments.Cap() > 16 {
		q.later = nil // a flood is over, whose chain was long
	}
}
