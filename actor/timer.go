package actor

import "time"

// Timer sends an actor a message later, once or again and again. It is the
// actor's: only its turn may use it. When the actor stops or is restarted its
// timers are stopped.
type Timer struct {
	timer  timer
	cell   *Cell
	msg    any
	period time.Duration // 0: once
	next   time.Time     // when a periodic one is due
	idle   *idle         // not nil: it is the receive timeout's

	sig   signal
	fired bool // a notice is queued
	ended bool // stopped, or handled for the last time
	older *Timer
	newer *Timer
}

// StartTimer has the actor's Receive called with msg when d has passed on the
// system's clock, in a turn of its own and ahead of the mailbox, in which it
// takes no room. While the actor is suspended the message waits.
func (x *Context) StartTimer(d time.Duration, msg any) *Timer {
	return x.turn().startTimer(&Timer{msg: plain(msg)}, d)
}

// StartPeriodic is StartTimer again and again, the first time after d. An actor
// that is behind is not given more than one message of a timer at a time: like
// those of time.Ticker, ticks are dropped meanwhile. It panics if d is not
// positive.
func (x *Context) StartPeriodic(d time.Duration, msg any) *Timer {
	if d <= 0 {
		panic("actor: StartPeriodic with a period that is not positive")
	}
	return x.turn().startTimer(&Timer{msg: plain(msg), period: d}, d)
}

// Stop ends the timer: its message does not come any more, not even if the time
// was up already. It reports whether there was one to come.
func (t *Timer) Stop() bool {
	if t.ended {
		return false
	}
	t.end()
	t.cell.system.timers.stop(&t.timer)
	return true
}

func (c *Cell) startTimer(t *Timer, d time.Duration) *Timer {
	m := c.extra()
	t.cell = c
	t.timer.waiter = t
	t.sig.kind, t.sig.arg = sigTimer, t
	if t.period > 0 {
		t.next = c.now().Add(d)
	}
	if t.older = m.timers; t.older != nil {
		t.older.newer = t
	}
	m.timers = t
	c.system.timers.start(&t.timer, d)
	return t
}

// end takes the timer out of its actor's list.
func (t *Timer) end() {
	t.ended = true
	if t.newer == nil {
		t.cell.more.timers = t.older
	} else {
		t.newer.older = t.older
	}
	if t.older != nil {
		t.older.newer = t.newer
	}
	t.older, t.newer = nil, nil
}

// due is called when the time is up, by the clock's goroutine. sig is the turn's
// from then on; the timer is armed again by the turn that has handled it.
func (t *Timer) due(uint64) {
	t.cell.post(&t.sig, nil)
}

// rings queues the notice of a timer whose time is up.
func (c *Cell) rings(t *Timer) {
	switch {
	case t.ended:
		return
	case t.idle != nil:
		t.idle.rings(c)
		return
	case t.period > 0:
		now := c.now()
		for t.next = t.next.Add(t.period); !t.next.After(now); {
			t.next = t.next.Add((now.Sub(t.next)/t.period + 1) * t.period)
		}
		c.system.timers.start(&t.timer, t.next.Sub(now))
	}
	if !t.fired {
		t.fired = true
		c.more.notices.push(notice{msg: t.msg, timer: t})
	}
}

// fire reports whether the notice of t is still wanted.
func (t *Timer) fire() bool {
	t.fired = false
	switch {
	case t.ended:
		return false
	case t.idle != nil:
		t.idle.last = t.cell.now()
		t.cell.system.timers.start(&t.timer, t.idle.after)
	case t.period == 0:
		t.end()
	}
	return true
}

// stopTimers stops all.
func (c *Cell) stopTimers() {
	for c.more.timers != nil {
		c.more.timers.Stop()
	}
	c.more.idle = nil
}

// ReceiveTimeout is the message of an actor that has asked, with
// SetReceiveTimeout, to be told that nothing has come for a while.
// One that is sent arrives as a [Forged].
type ReceiveTimeout struct{}

// ofTimers is what times out.
type ofTimers struct {
	timers *Timer // the newest; linked through older and newer
	idle   *idle  // the receive timeout
}

// idle is a receive timeout. Its timer is not armed for each message anew: when
// it is due it looks when the last one was.
type idle struct {
	timer Timer
	after time.Duration
	last  time.Time // end of the last turn with messages, or when the timeout was set or handled
}

// SetReceiveTimeout has the actor be given a ReceiveTimeout when it has handled no
// message for d, and again whenever another d has passed like that; 0 ends it.
// A restart ends it as well. Being suspended is no excuse: the message comes when
// the actor goes on.
func (x *Context) SetReceiveTimeout(d time.Duration) {
	c := x.turn()
	if c.more != nil && c.more.idle != nil {
		c.more.idle.timer.Stop()
		c.more.idle = nil
	}
	if d <= 0 {
		return
	}
	i := &idle{after: d, last: c.now()}
	i.timer.idle = i
	i.timer.msg = ReceiveTimeout{}
	c.extra().idle = i
	c.startTimer(&i.timer, d)
}

// rings is called in the turn when the timer was due.
func (i *idle) rings(c *Cell) {
	now := c.now()
	if c.left < c.quantum {
		i.last = now // messages were handled in this very turn
	}
	rest := i.after - now.Sub(i.last)
	if rest <= 0 {
		c.more.notices.push(notice{msg: i.timer.msg, timer: &i.timer})
		return // it is armed again when the message is handled
	}
	c.system.timers.start(&i.timer.timer, rest)
}
