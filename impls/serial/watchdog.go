package serial

import "time"

// watchdog tells that a task has been in progress for too long while others wait for their
// turn. It stays armed from one task to the next: setting a timer for each would cost more
// than many tasks do. The mutex of whose it is guards it.
type watchdog struct {
	after time.Duration // 0 or less: never
	timer *time.Timer   // nil until it is needed
	armed bool
	turn  uint64 // which one there was when it was armed
}

// newWatchdog returns one that follows Config.StallAfter.
func newWatchdog(after time.Duration) watchdog {
	if after == 0 {
		after = time.Minute
	}
	return watchdog{after: after}
}

// arm has who.bark called after a while, unless that is on its way.
func (d *watchdog) arm(turn uint64, who interface{ bark() }) {
	if d.after <= 0 || d.armed {
		return
	}
	d.armed, d.turn = true, turn
	if d.timer == nil {
		d.timer = time.AfterFunc(d.after, who.bark)
	} else {
		d.timer.Reset(d.after)
	}
}

// disarm undoes arm, so that the timer does not keep what is over.
func (d *watchdog) disarm() {
	if d.armed {
		d.timer.Stop()
		d.armed = false
	}
}
