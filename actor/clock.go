package actor

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Clock tells the time and calls when some of it has passed. A system reads no
// other clock: tests and boards bring their own. All methods may be called by
// any number of goroutines at once.
type Clock interface {
	Now() time.Time

	// NewAlarm returns an alarm that is not set and calls f when it rings.
	NewAlarm(f func()) Alarm
}

// Alarm calls its function once after a while. A system has one, set for
// whatever of its timers comes first, so an implementation may be as simple as
// the compare register of a hardware timer. Set and Stop are not called
// concurrently.
type Alarm interface {
	// Set makes the alarm ring d from now, at once if d is not positive, and
	// not at the time it was set for before. The function is called on a
	// goroutine of the clock's, and never inside Set: the caller holds a lock
	// that the function takes.
	//
	// The function may be called when it need not be: a call that is on its way
	// cannot be taken back, and a clock whose ticks are coarse may ring early.
	// The alarm's function looks at the clock, and sets the alarm again.
	Set(d time.Duration)

	// Stop makes the alarm ring no more until it is set again.
	Stop()
}

// wallClock is package time's clock, which inside a testing/synctest bubble is
// the bubble's.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) NewAlarm(f func()) Alarm { return &wallAlarm{f: f} }

// wallAlarm has no timer until it is set: most systems never set theirs, and in
// a synctest bubble a timer belongs to the bubble that it is made in.
type wallAlarm struct {
	f     func()
	timer *time.Timer
	calls *atomic.Pointer[func()] // what the timer calls, nil if the alarm is stopped
}

// Set hands f over to the goroutine on which the timer rings.
func (a *wallAlarm) Set(d time.Duration) {
	if a.timer != nil {
		a.calls.Store(&a.f)
		a.timer.Reset(d)
		return
	}
	calls := new(atomic.Pointer[func()])
	calls.Store(&a.f)
	a.calls = calls
	a.timer = time.AfterFunc(d, func() {
		if f := calls.Load(); f != nil {
			(*f)()
		}
	})
}

// Stop takes f back as well: package time may keep a timer that is stopped until its time has
// come, which would keep a system alive that is done.
func (a *wallAlarm) Stop() {
	if a.timer != nil {
		a.calls.Store(nil)
		a.timer.Stop()
	}
}

// ManualClock is a [Clock] that stands still until [ManualClock.Advance]. With
// it, a test of what happens after an hour takes no time and is exact. All
// methods may be called by any number of goroutines at once, those of an alarm
// as well.
type ManualClock struct {
	mu     sync.Mutex
	now    time.Time
	target time.Time      // what now is going to be when all calls of Advance are done
	alarms []*manualAlarm // those that are set, in the order in which they were
}

// NewManualClock returns a clock that stands at start.
func NewManualClock(start time.Time) *ManualClock {
	start = start.Round(0) // without the reading of another clock, the process's
	return &ManualClock{now: start, target: start}
}

// Now returns the time at which the clock stands.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// NewAlarm returns an alarm that rings in [ManualClock.Advance]. Its function
// may use the clock and its alarms.
func (c *ManualClock) NewAlarm(f func()) Alarm {
	return &manualAlarm{clock: c, f: f}
}

// Advance moves the clock on by d. On the way it stops wherever an alarm is set
// to ring and calls its function, on the calling goroutine; alarms of the same
// time ring in the order in which they were set. What the functions set for a
// time up to the end of the way rings, too. So when Advance returns, what became
// due has been called; but an actor that was told of it runs when its dispatcher
// has it run.
//
// It panics if d is negative.
func (c *ManualClock) Advance(d time.Duration) {
	if d < 0 {
		panic("actor: ManualClock.Advance: time does not go back")
	}
	c.mu.Lock()
	// Several calls at once move the clock by their sum: each has its own part
	// of the way, and none moves the clock back.
	c.target = c.target.Add(d)
	end := c.target
	for {
		a := c.next(end)
		if a == nil {
			break
		}
		if c.now.Before(a.at) {
			c.now = a.at
		}
		c.clear(a)
		c.mu.Unlock()
		a.f()
		c.mu.Lock()
	}
	if c.now.Before(end) {
		c.now = end
	}
	c.mu.Unlock()
}

// next returns the alarm that rings first, if that is not after end; the lock
// is held. There is an alarm for each system on the clock: few enough to look
// at all of them.
func (c *ManualClock) next(end time.Time) *manualAlarm {
	var first *manualAlarm
	for _, a := range c.alarms {
		if !a.at.After(end) && (first == nil || a.at.Before(first.at)) {
			first = a
		}
	}
	return first
}

// clear makes a not be set; the lock is held.
func (c *ManualClock) clear(a *manualAlarm) {
	if i := slices.Index(c.alarms, a); i >= 0 {
		c.alarms = slices.Delete(c.alarms, i, i+1)
	}
}

// manualAlarm is known to its clock only while it is set, so that the clock
// does not keep the systems alive that are over.
type manualAlarm struct {
	clock *ManualClock
	f     func()
	at    time.Time // when it rings, if it is set
}

func (a *manualAlarm) Set(d time.Duration) {
	c := a.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear(a)
	a.at = c.now.Add(max(d, 0))
	c.alarms = append(c.alarms, a)
}

func (a *manualAlarm) Stop() {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	a.clock.clear(a)
}
