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
	q := <-o.turn
	s, err := q.PushOrWait(msg, prio, ended)
	o.turn <- q
	if s == nil {
		if err == nil {
			b.ring()
		}
		return err
	}
	return s.Await(ctx, func() bool {
		q := <-o.turn
		defer func() { o.turn <- q }()
		return q.Leave(s)
	})
}
