package onemutex

import "github.com/dynolab/dyno/actor"

// Latest is a mailbox in which a message takes the place of one that waits and
// has the same key: an actor that cannot keep up with the readings of a
// sensor then gets the latest of each instead of a queue of old ones. The order
// is that in which the keys came. What was replaced is dropped: it goes to the
// dead letters with [actor.ErrDropped].
//
// It goes into a Props with any dispatcher:
//
//	actor.MailboxConfig{New: func() actor.Mailbox { return onemutex.NewLatest(key) }}
//
// The core calls its methods one at a time, so it needs no lock.
type Latest[K comparable] struct {
	key     func(msg any) K
	queue   []K // of the messages that wait, the one to handle next first
	waiting map[K]any
}

// NewLatest returns an empty mailbox of messages whose keys are as key says. It
// is called by senders, as [actor.MailboxConfig.Priority] is.
func NewLatest[K comparable](key func(msg any) K) *Latest[K] {
	return &Latest[K]{key: key, waiting: make(map[K]any)}
}

// Enqueue implements [actor.Mailbox].
func (m *Latest[K]) Enqueue(msg any, drop func(msg any)) actor.SendResult {
	k := m.key(msg)
	if old, waits := m.waiting[k]; waits {
		drop(old)
	} else {
		m.queue = append(m.queue, k)
	}
	m.waiting[k] = msg
	return actor.Sent
}

// Dequeue implements [actor.Mailbox].
func (m *Latest[K]) Dequeue() (any, bool) {
	if len(m.queue) == 0 {
		return nil, false
	}
	k := m.queue[0]
	m.queue = m.queue[1:]
	msg := m.waiting[k]
	delete(m.waiting, k)
	return msg, true
}

// Len implements [actor.Mailbox].
func (m *Latest[K]) Len() int { return len(m.queue) }
