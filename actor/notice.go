package actor

import "time"

// more is what an actor has beyond its Cell: what few of them ever need, so
// that an actor which is only state and a function costs no more than that. It
// is made on demand (Cell.extra) and belongs to the turn like the Cell's own
// fields. The parts stand with what they are for.
type more struct {
	ofProps
	ofFailures
	ofNotices
	ofSuspensions
	ofTimers
	ofWatching

	below  []Actor // behaviours that Become has covered; the first is the actor itself
	stash  []any
	drains []drain
}

// ofNotices is what an actor handles before its mailbox.
type ofNotices struct {
	busy    bool // user code runs outside Invoke: what Caught is told of a message is stale
	nudged  bool // nudge is queued
	current notice
	notices noticeQueue
	nudge   signal
}

// extra returns c.more and makes it if there is none.
func (c *Cell) extra() *more {
	if c.more == nil {
		c.more = &more{}
	}
	return c.more
}

// hold is a set of reasons for being suspended. The actor runs when there is none.
type hold uint8

const (
	holdFailed  hold = 1 << iota // its parent has not decided yet
	holdRestart                  // a restart is under way
	holdPaused                   // it was asked for
)

// suspend takes the actor, which is not stopping, out of the schedule of user messages.
func (c *Cell) suspend(why hold) {
	c.extra().hold |= why
	c.state.Store(uint32(StateSuspended))
}

// release ends one reason for being suspended, and the suspension if that was the last.
func (c *Cell) release(why hold) {
	m := c.more
	m.hold &^= why
	if m.hold == 0 && State(c.state.Load()) == StateSuspended {
		c.state.Store(uint32(StateRunning))
	}
}

// notice is something that Receive is called with ahead of the mailbox.
type notice struct {
	msg   any
	timer *Timer // whose message it is; nil: none's
	from  *Cell  // the actor that a Terminated is about
	sent  bool   // it was sent: if it is not handled it is a dead letter
	again bool   // the actor failed on it and is to try it again, before all others
}

// noticeQueue is first in, first out, except that a batch can be put in front.
type noticeQueue struct {
	list []notice
	head int
}

func (q *noticeQueue) empty() bool { return q.head == len(q.list) }

func (q *noticeQueue) push(n notice) { q.list = append(q.list, n) }

func (q *noticeQueue) pop() notice {
	n := q.list[q.head]
	q.list[q.head] = notice{}
	q.head++
	if q.head == len(q.list) {
		q.head = 0
		if q.list = q.list[:0]; cap(q.list) > 1024 {
			q.list = nil // a burst is over
		}
	}
	return n
}

// prepend puts messages that were sent in front of what is queued, in order, but behind
// one that is to be tried again. There is one at the most: it is handled before any other
// that the actor could fail on.
func (q *noticeQueue) prepend(msgs ...any) {
	first := q.head
	if !q.empty() && q.list[first].again {
		first++
	}
	list := make([]notice, 0, len(msgs)+len(q.list)-q.head)
	list = append(list, q.list[q.head:first]...)
	for _, msg := range msgs {
		list = append(list, notice{msg: msg, sent: true})
	}
	q.list, q.head = append(list, q.list[first:]...), 0
}

// retry puts a message in front that the actor is to try again.
func (q *noticeQueue) retry(msg any) {
	q.prepend(msg)
	q.list[0].again = true
}

// poke has the actor's turn look at its notices, now or in the next turn.
func (c *Cell) poke() {
	m := c.more
	if !m.nudged {
		m.nudged = true
		m.nudge.kind = sigNudge
		c.signals.push(&m.nudge)
	}
}

// deliver has the notices handled, and then what waits in a mailbox of the
// actor's own, as long as the actor runs and has not had its share. It reports
// whether the actor may handle messages of the dispatcher's mailbox.
func (c *Cell) deliver() bool {
	m := c.more
	for State(c.state.Load()) == StateRunning {
		if c.left <= 0 {
			if !m.notices.empty() || m.custom != nil && m.custom.waiting() {
				c.poke()
			}
			return false
		}
		var n notice
		if !m.notices.empty() {
			n = m.notices.pop()
			if !c.due(&n) {
				continue
			}
		} else if m.custom != nil {
			msg, ok := m.custom.pop()
			if !ok {
				return true
			}
			n = notice{msg: plain(msg), sent: true}
		} else {
			return true
		}
		c.left--
		if err := c.notify(n); err != nil {
			c.fail(n.msg, err, n.sent)
			return false
		}
		if c.signals.pending() {
			c.takeSignals()
		}
	}
	return false
}

// due reports whether n is still to be handled: a timer may have been stopped,
// or an actor no longer be watched, after the notice was queued.
func (c *Cell) due(n *notice) bool {
	switch {
	case n.timer != nil:
		return n.timer.fire()
	case n.from != nil:
		if _, ok := c.more.watching[n.from]; !ok {
			return false
		}
		delete(c.more.watching, n.from)
	}
	return true
}

// notify calls Receive outside Invoke.
func (c *Cell) notify(n notice) error {
	c.more.current = n
	err := c.protect(func(ctx *Context) error { return c.actor.Receive(ctx, n.msg) })
	c.more.current = notice{}
	return err
}

// now is the time of the system's clock.
func (c *Cell) now() time.Time { return c.system.clock.Now() }
