package channel

import (
	"context"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
	"github.com/dynolab/dyno/internal/invariants"
)

// ordered is a mailbox whose order, or whose policy, no channel has: messages by
// priority, dropping the oldest for the newest, or room for so many that the
// memory should not be there in advance. It is a queue that travels.
type ordered struct {
	queue *mailbox.Queue      // for its Priority only, which needs no turn
	turn  chan *mailbox.Queue // of capacity one; hands the queue from one call to the next
}

func newOrdered(cfg actor.MailboxConfig) *ordered {
	q := mailbox.New(cfg)
	o := &ordered{queue: &q, turn: make(chan *mailbox.Queue, 1)}
	o.turn <- &q
	return o
}

func (o *ordered) len() int {
	q := <-o.turn
	n := q.Len()
	o.turn <- q
	return n
}

// pop returns the next message, if there is one.
func (o *ordered) pop() (msg any, ok bool) {
	q := <-o.turn
	msg, ok = q.Pop()
	o.turn <- q
	return msg, ok
}

// close closes the queue and returns what was in it.
func (o *ordered) close() []any {
	q := <-o.turn
	left := q.Close()
	o.turn <- q
	return left
}

// sendOrdered is Send for a mailbox that is ordered.
func (b *box) sendOrdered(msg any) actor.SendResult {
	o := b.ordered
	prio := o.queue.Priority(msg) // first: it is the user's, and may panic
	q := <-o.turn
	res, dropped, drop := q.Push(msg, prio)
	o.turn <- q
	if drop {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	if res == actor.Sent {
		invariants.Window()
		b.ring()
	}
	return res
}

// waitOrdered is SendWait for a mailbox that is ordered.
func (b *box) waitOrdered(ctx context.Context, msg any) error {
	o := b.ordered
	prio, ended := o.queue.Priority(msg), ctx.Err() // first: they are the user's
	var s *mailbox.Sender
	var ready chan struct{}
	q := <-o.turn
	res, _, _ := q.Push(msg, prio)
	if res == actor.MustWait && ended == nil {
		ready = make(chan struct{})
		s = q.Wait(msg, prio, ready)
	}
	o.turn <- q
	switch {
	case res == actor.Sent:
		b.ring()
		return nil
	case res == actor.Closed:
		return actor.ErrStopped
	case ended != nil:
		return ended
	}
	select {
	case <-ready:
		return s.Err()
	case <-ctx.Done():
	}
	q = <-o.turn
	waited := q.Leave(s)
	o.turn <- q
	if waited {
		return ctx.Err()
	}
	return s.Err() // it was answered first
}
