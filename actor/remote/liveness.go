package remote

import "time"

const (
	tickQuick = 20 * time.Millisecond // while something is not acknowledged
	resendOf  = 200 * time.Millisecond
)

// hurry has the next tick come soon. mu is held.
func (a *association) hurry() {
	if !a.quick && a.state != lost {
		a.quick = true
		a.look()
		a.ring(tickQuick)
	}
}

// look takes the time. If a tick is late this process stood still, or its machine
// did, and what the peer has sent meanwhile was not read: that time is no
// silence. A ring follows. mu is held.
func (a *association) look() {
	a.now = a.node.sys.Clock().Now()
	if late := a.now.Sub(a.due); late > 0 {
		a.heard = a.heard.Add(late)
	}
}

// ring has the next tick come in d. mu is held.
func (a *association) ring(d time.Duration) {
	a.due = a.now.Add(d)
	a.alarm.Set(d)
}

// tick is called by the alarm: each 20 ms while something is under way, and else
// a few times in a heartbeat.
func (a *association) tick() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == lost {
		return
	}
	c := a.node.config
	a.look()
	if a.hears {
		a.hears, a.heard = false, a.now
	}
	if a.writes {
		a.writes, a.wrote = false, a.now
	}
	switch {
	case a.now.Sub(a.heard) >= c.Timeout:
		a.fail(ErrSilent)
		return
	case a.departs >= patience+2:
		a.fail(ErrClosed)
		return
	case a.state == greeting:
		if a.now.Sub(a.greeted) >= resendOf {
			a.greeted, a.greet = a.now, true
		}
	default:
		a.resent = 0
		if a.written > 0 && a.now.Sub(a.sent[0].at) >= resendOf {
			a.again, a.until = 0, min(a.written, mostAgain)
			for _, f := range a.sent[:a.until] {
				f.at = a.now
			}
		}
		if a.ackLater || a.gap || a.now.Sub(a.wrote) >= c.Heartbeat {
			a.ackDue = true
		}
	}
	if a.leaving {
		a.departs++
	}
	if a.pending() {
		a.wake()
	}
	a.quick = a.state == greeting || a.leaving || a.gap || len(a.sent) > 0 || a.filling != nil || a.ackLater
	if a.quick {
		a.ring(tickQuick)
	} else {
		a.ring(c.Heartbeat / 2)
	}
}

// mostAgain bounds how many frames are resent at once.
const mostAgain = 64
