package mailbox_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
)

var errEnded = errors.New("the sender's context has ended")

// full returns a queue with room for one message, which is there.
func full() *mailbox.Queue {
	q := mailbox.New(actor.MailboxConfig{Policy: actor.Block, Capacity: 1})
	q.Push(0, 0)
	return &q
}

// PushOrWait queues a message, or refuses it, and only has the sender wait for whom that is worth while.
func TestPushOrWait(t *testing.T) {
	q := full()
	if s, err := q.PushOrWait(1, 0, errEnded); s != nil || err != errEnded {
		t.Errorf("a sender whose context has ended gets %v, %v", s, err)
	}
	if msg, _ := q.Pop(); msg != 0 || q.Len() != 0 {
		t.Errorf("then %v is handled, and %d messages wait, want the first, and none", msg, q.Len())
	}
	if s, err := q.PushOrWait(2, 0, errEnded); s != nil || err != nil || q.Len() != 1 {
		t.Errorf("where there is room: %v, %v, and %d messages", s, err, q.Len())
	}
	if s, err := q.PushOrWait(3, 0, nil); s == nil || err != nil || !s.Waiting() || q.Len() != 1 {
		t.Errorf("where there is none: %v, %v, and %d messages", s, err, q.Len())
	}
	q.Close()
	if s, err := q.PushOrWait(4, 0, errEnded); s != nil || err != actor.ErrStopped {
		t.Errorf("a closed queue gives %v, %v", s, err)
	}
}

// Await returns what has become of the sender, also of one that has been answered as it gives up.
func TestAwait(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	pop, stop := func(q *mailbox.Queue) { q.Pop() }, func(q *mailbox.Queue) { q.Close() }
	for _, c := range []struct {
		name       string
		ctx        context.Context
		before, as func(*mailbox.Queue) // happens before the wait, and as the sender gives up
		want       error
		left       []any // messages, afterwards
	}{
		{"let in", t.Context(), pop, nil, nil, []any{1}},
		{"refused", t.Context(), stop, nil, actor.ErrStopped, nil},
		{"given up", ended, nil, nil, context.Canceled, []any{0}},
		{"let in as it gives up", ended, nil, pop, nil, []any{1}},
		{"refused as it gives up", ended, nil, stop, actor.ErrStopped, nil},
	} {
		q := full()
		s, _ := q.PushOrWait(1, 0, nil)
		if c.before != nil {
			c.before(q)
		}
		err := s.Await(c.ctx, func() bool {
			if c.as != nil {
				c.as(q)
			}
			return q.Leave(s)
		})
		var left []any
		for msg, ok := q.Pop(); ok; msg, ok = q.Pop() {
			left = append(left, msg)
		}
		if err != c.want || s.Waiting() || !slices.Equal(left, c.left) {
			t.Errorf("%s: %v, want %v; it waits: %v; the messages %v are left, want %v", c.name, err, c.want, s.Waiting(), left, c.left)
		}
	}
}
