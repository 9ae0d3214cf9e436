package actor

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Directive is what becomes of an actor that has failed.
type Directive uint8

const (
	// Restart replaces the actor's value by a new one. Its children are stopped,
	// its mailbox, its Ref and its watchers are kept.
	Restart Directive = iota
	// Resume has the actor go on as if nothing had happened, with the message
	// after the one it failed on. An actor whose PreStart has failed, which
	// has nothing to go on with, is restarted instead.
	Resume
	// Stop stops the actor.
	Stop
	// Escalate makes the failure that of the parent: it is suspended, and its
	// own parent decides about it. What it decides about the parent holds for the child.
	Escalate
)

// String returns the directive in lower case.
func (d Directive) String() string {
	switch d {
	case Restart:
		return "restart"
	case Resume:
		return "resume"
	case Stop:
		return "stop"
	case Escalate:
		return "escalate"
	}
	return "Directive(" + itoa(int(d)) + ")"
}

// Strategy says whom a directive concerns.
type Strategy uint8

const (
	// OneForOne: the child that has failed, and no other.
	OneForOne Strategy = iota
	// AllForOne: a restart or a stop concerns all children of the supervisor,
	// because they cannot go on without each other.
	AllForOne
)

// String returns the strategy's name, such as "one-for-one".
func (s Strategy) String() string {
	switch s {
	case OneForOne:
		return "one-for-one"
	case AllForOne:
		return "all-for-one"
	}
	return "Strategy(" + itoa(int(s)) + ")"
}

// Supervisor says how an actor treats its children when they fail. It must not
// be changed after it has been used; any number of actors may share one. The
// zero value restarts the child that failed, at once, up to ten times in ten
// seconds, which is what protoactor-go does.
//
// An actor without a Supervisor stops children that fail. What no Supervisor
// decides: a fatal error (see Fatal) stops the actor, and the user guardian's
// failure ends the system.
type Supervisor struct {
	// Strategy says whom a restart or stop concerns besides the child that has
	// failed; the default is none.
	Strategy Strategy

	// Decide says what becomes of a child. It runs in the supervisor's turn, while
	// the child is suspended. Nil means Restart, always. If it panics the child
	// is stopped, and the panic is the supervisor's failure.
	Decide func(Failure) Directive

	// MaxRestarts is how many restarts there may be within Window, of one child or,
	// with AllForOne, of all together. The next failure stops those it would
	// have restarted. 0 means 10; a negative number, without a limit.
	MaxRestarts int

	// Window is the time that MaxRestarts is about: only restarts that are not
	// older count. 0 means 10 s; a negative duration, for ever.
	Window time.Duration

	// Backoff makes an actor that is restarted wait first. The zero value does not.
	Backoff Backoff

	// Retry has the message that the actor failed on handled once more after
	// the restart, or after Resume, before all others. The default is to give
	// it to the dead letters: a message that makes its receiver fail is likely
	// to do it again. Indeed one that always does is tried until MaxRestarts is
	// used up, and for ever if there is no limit, or with Resume.
	Retry bool
}

// Backoff is a delay before restarts which grows with their number: Min before
// the first within the supervisor's Window, Factor times as much before each
// further one, at most Max. While it waits the actor is suspended; it has let
// go of what it had (PreRestart has run).
type Backoff struct {
	// Min is the first delay; 0 means no backoff.
	Min time.Duration
	// Max is the longest delay; 0 means a minute, or Min if that is longer.
	Max time.Duration
	// Factor is at least 1; 0 means 2.
	Factor float64
	// Jitter is the part of the delay, from 0 to 1, that is left to chance: the
	// delay is cut by a random part of it that is at most that large, so that
	// actors that failed together do not come back together.
	Jitter float64
	// Seed is where the randomness comes from: equal seeds give an actor of
	// equal PID equal delays.
	Seed uint64
}

// check returns a *PropsError if s cannot be used, and nil otherwise.
func (s *Supervisor) check() error {
	b := &s.Backoff
	switch {
	case s.Strategy > AllForOne:
		return &PropsError{"Supervisor.Strategy", "must be OneForOne or AllForOne"}
	case b.Min < 0 || b.Max < 0:
		return &PropsError{"Supervisor.Backoff", "must not have a negative delay"}
	case b.Max > 0 && b.Max < b.Min:
		return &PropsError{"Supervisor.Backoff.Max", "must be 0, which means a minute, or at least Min"}
	case b.Factor != 0 && !(b.Factor >= 1):
		return &PropsError{"Supervisor.Backoff.Factor", "must be 0, which means 2, or at least 1"}
	case !(b.Jitter >= 0 && b.Jitter <= 1):
		return &PropsError{"Supervisor.Backoff.Jitter", "must be from 0 to 1"}
	}
	return nil
}

func (s *Supervisor) limit() int {
	if s.MaxRestarts == 0 {
		return 10
	}
	return s.MaxRestarts
}

func (s *Supervisor) window() time.Duration {
	if s.Window == 0 {
		return 10 * time.Second
	}
	return s.Window
}

// delay returns how long to wait before the nth restart, counted from 1, of the
// actor p.
func (b *Backoff) delay(p PID, n int) time.Duration {
	if b.Min == 0 {
		return 0
	}
	most := float64(b.Max)
	if b.Max == 0 {
		most = float64(max(time.Minute, b.Min))
	}
	factor := b.Factor
	if factor == 0 {
		factor = 2
	}
	d := float64(b.Min)
	for i := 1; i < n && d < most && factor > 1; i++ {
		d *= factor
	}
	if d > most { // not min, which TinyGo cannot compile for processors without floating point
		d = most
	}
	if b.Jitter > 0 {
		rng := rand.New(rand.NewPCG(b.Seed, uint64(p.slot)<<32^uint64(p.gen)<<16^uint64(n)))
		d -= d * b.Jitter * rng.Float64()
	}
	return time.Duration(d)
}

// budget is what is known of the restarts of a child, or of all of them.
type budget struct {
	times []time.Time // within the window, the oldest first; if there is a limit
	last  time.Time
	count int // since there was a whole window without any; if there is no limit
}

// spend books a restart at the time now, and returns which one of its window it
// is, counted from 1; or false if there may be no more of them.
func (b *budget) spend(s *Supervisor, now time.Time) (n int, ok bool) {
	w := s.window()
	if s.limit() < 0 {
		if w > 0 && now.Sub(b.last) > w {
			b.count = 0
		}
		b.last = now
		b.count++
		return b.count, true
	}
	old := 0
	for w > 0 && old < len(b.times) && now.Sub(b.times[old]) > w {
		old++
	}
	b.times = append(b.times[:0], b.times[old:]...)
	if len(b.times) >= s.limit() {
		return len(b.times), false
	}
	b.times = append(b.times, now)
	return len(b.times), true
}

// FatalError is an error after which an actor cannot be helped: it is stopped,
// whatever its supervisor says.
type FatalError struct {
	// Err is what has happened.
	Err error
}

// Fatal returns err as a [*FatalError], for an actor to return or panic with.
func Fatal(err error) error { return &FatalError{err} }

// Error returns "actor: fatal: " and the text of what has happened.
func (e *FatalError) Error() string { return "actor: fatal: " + trim(e.Err.Error()) }

// Unwrap returns what has happened.
func (e *FatalError) Unwrap() error { return e.Err }

// isFatal reports whether err is, or wraps, a *FatalError.
func isFatal(err error) bool {
	var f *FatalError
	return errors.As(err, &f)
}

// Terminated is the message that tells an actor that one it watches has stopped.
// Only the runtime makes one: who sends one has it arrive as a [Forged].
type Terminated struct {
	Actor Ref
	// Err is the failure that the actor was stopped for, and nil if it was asked
	// to stop, or had stopped before it was watched.
	Err error
}

// restartOrder is the directive Restart on its way to an actor.
type restartOrder struct {
	fail  *Failure // the failure it answers; nil: that of a sibling
	cause error
	retry bool
	delay time.Duration
	n     int // which restart of the window it is
}

// goOnOrder is the directive Resume on its way to an actor.
type goOnOrder struct {
	fail  *Failure // the failure it answers; nil: whichever there is
	retry bool
}

// ofFailures is what failures of an actor and of its children leave to decide.
type ofFailures struct {
	hold     hold     // why it is suspended; 0: it is not
	failed   bool     // failedOn is a message that was sent, and must be accounted for
	broken   *Failure // what it failed with, until that is decided
	failedOn any      // as it was sent
	verdict  *verdict // the restart that is under way
	lastErr  error    // what it is going to stop for, for those who watch it

	escalated []*Cell           // children whose failure became this actor's
	budgets   map[*Cell]*budget // restarts of the children; with AllForOne only that of nil
}

// verdict is a restart that is under way, in the order of its steps.
type verdict struct {
	cause   error
	delay   time.Duration
	n       int  // of the restart within the window
	clean   bool // the old value is gone
	waiting bool // for timer
	timer   timer
	sig     signal
	cell    *Cell
}

// due is called when the backoff is over.
func (v *verdict) due(uint64) {
	v.cell.post(&v.sig, nil)
}

// decide decides what becomes of a child that has failed. It runs in the
// parent's turn, while the child is suspended.
func (c *Cell) decide(child *Cell, f *Failure) {
	if c.parent == nil { // the root: a guardian has failed, and that is the end
		c.system.err = f.Err
		c.signal(child, sigStop)
		return
	}
	if State(c.state.Load()) == StateStopping {
		return // the child is told to stop, or has been
	}
	var s *Supervisor
	if c.more != nil {
		s = c.more.super
	}
	d, n, exhausted := Stop, 0, false
	var oops error
	if s != nil && !isFatal(f.Err) {
		d = Restart
		if s.Decide != nil {
			d, oops = c.ask(s, child, f)
		}
		if d == Resume && f.early {
			d = Restart
		}
		if d == Restart {
			var ok bool
			if n, ok = c.budget(s, child).spend(s, c.now()); !ok {
				d, exhausted = Stop, true
			}
		}
	}
	var delay time.Duration
	if d == Restart {
		delay = s.Backoff.delay(child.pid, n)
	}
	if e := c.system.events; e.active() {
		e.Publish(Supervised{
			Actor: Ref{child}, Parent: Ref{c}, Directive: d, Cause: f.Err,
			Restarts: n, Delay: delay, Exhausted: exhausted, Time: c.now(),
		})
	}
	all := s != nil && s.Strategy == AllForOne
	switch d {
	case Resume:
		c.send(child, &signal{kind: sigGoOn, arg: &goOnOrder{f, s.Retry}})
	case Restart:
		c.send(child, &signal{kind: sigRestart, arg: &restartOrder{f, f.Err, s.Retry, delay, n}})
		if all {
			for o := c.children; o != nil; o = o.older {
				if o != child {
					c.send(o, &signal{kind: sigRestart, arg: &restartOrder{nil, f.Err, false, delay, n}})
				}
			}
		}
	case Stop:
		c.signal(child, sigStop)
		if all {
			for o := c.children; o != nil; o = o.older {
				if o != child {
					c.signal(o, sigStop)
				}
			}
		}
	case Escalate:
		m := c.extra()
		m.escalated = append(m.escalated, child)
		c.fail(nil, f.Err, false)
	}
	if oops != nil {
		c.fail(nil, oops, false)
	}
}

// ask asks s what becomes of child. If there is no answer the child is stopped.
func (c *Cell) ask(s *Supervisor, child *Cell, f *Failure) (d Directive, err error) {
	returned := false
	defer func() {
		if !returned { // Decide has called Goexit, and decide does not go on either
			c.signal(child, sigStop)
		}
	}()
	err = c.protect(func(*Context) error { d = s.Decide(*f); return nil })
	returned = true
	if err != nil || d > Escalate {
		d = Stop
	}
	return d, err
}

// budget returns the one that a restart of child is booked in.
func (c *Cell) budget(s *Supervisor, child *Cell) *budget {
	if s.Strategy == AllForOne {
		child = nil
	}
	b := c.more.budgets[child]
	if b == nil {
		b = &budget{}
		if c.more.budgets == nil {
			c.more.budgets = make(map[*Cell]*budget)
		}
		c.more.budgets[child] = b
	}
	return b
}

// recovered decides about the message that the actor failed on: it is handled
// again, or is a dead letter.
func (c *Cell) recovered(retry bool) {
	m := c.more
	f, failed, msg := m.broken, m.failed, m.failedOn
	m.broken, m.failed, m.failedOn = nil, false, nil
	switch {
	case !failed:
	case retry:
		m.notices.retry(msg)
		c.poke()
	default:
		c.system.deadLetter(DeadLetter{Msg: msg, To: Ref{c}, Reason: ErrFailed, Cause: f.Err})
	}
}

// goOn carries out the directive Resume, also for the children whose failure
// became the actor's.
func (c *Cell) goOn(o *goOnOrder) {
	m := c.more
	if m.broken == nil || o.fail != nil && o.fail != m.broken {
		return // something else has been decided meanwhile
	}
	if m.broken.early {
		c.restart(&restartOrder{fail: m.broken, cause: m.broken.Err})
		return
	}
	c.recovered(o.retry)
	for _, child := range m.escalated {
		c.send(child, &signal{kind: sigGoOn, arg: &goOnOrder{}})
	}
	m.escalated, m.lastErr = nil, nil
	c.release(holdFailed)
}

// restart begins to carry out the directive Restart, the actor's own or, with
// AllForOne, that of a sibling.
func (c *Cell) restart(o *restartOrder) {
	if State(c.state.Load()) == StateStopping {
		return
	}
	m := c.extra()
	if o.fail != nil && m.broken != o.fail {
		return // decided already, as one of all
	}
	if m.verdict != nil {
		c.system.timers.stop(&m.verdict.timer)
	}
	clean := m.verdict != nil && m.verdict.clean
	m.verdict = &verdict{cause: o.cause, delay: o.delay, n: o.n, clean: clean, cell: c}
	c.unstash()
	c.recovered(o.retry)
	m.escalated = nil
	c.unpause()
	m.hold &^= holdFailed
	c.suspend(holdRestart)
	for child := c.children; child != nil; child = child.older {
		c.signal(child, sigStop)
	}
	c.renew()
}

// renew takes the next steps of a restart: when the children have stopped the
// old value is let go; when the backoff is over there is a new one.
func (c *Cell) renew() {
	m := c.more
	v := m.verdict
	if c.children != nil || v.waiting {
		return
	}
	if !v.clean {
		v.clean = true
		c.letGo(v.cause)
		for child := c.children; child != nil; child = child.older {
			c.signal(child, sigStop) // the hook has spawned it
		}
		if v.delay > 0 {
			v.waiting = true
			v.sig.kind, v.sig.arg = sigBackoff, v
			v.timer.waiter = v
			c.system.timers.start(&v.timer, v.delay)
			return
		}
		if c.children != nil {
			return
		}
	}
	m.verdict = nil
	var a Actor
	err := c.protect(func(ctx *Context) error { a = m.fresh(); return nil })
	if err == nil && a == nil {
		err = errNilActor
	}
	if err == nil {
		first := c.install(a, v.cause)
		c.system.restarts.add(1)
		if first != nil {
			err = c.protect(first)
		}
	}
	m.hold &^= holdRestart
	if err != nil {
		c.fail(nil, err, false)
		return
	}
	c.started = true
	m.lastErr = nil
	if e := c.system.events; e.active() {
		e.Publish(ActorRestarted{Actor: Ref{c}, Cause: v.cause, Restarts: v.n, Time: c.now()})
	}
	c.release(0)
}

// letGo runs the hook of the value that is going to be replaced, and drops it
// with all it has set up.
func (c *Cell) letGo(cause error) {
	c.uncover()
	a := c.self()
	if c.started {
		c.started = false
		var hook func(*Context) error
		switch h := a.(type) {
		case PreRestarter:
			hook = func(ctx *Context) error { return h.PreRestart(ctx, cause) }
		case PostStopper:
			hook = h.PostStop
		}
		if hook != nil {
			if err := c.protect(hook); err != nil {
				c.system.failed(&Failure{Actor: Ref{c}, Err: err, Time: c.now()})
			}
		}
	}
	c.stopTimers()
}

// install makes a the actor's value, and returns the hook to run first.
func (c *Cell) install(a Actor, cause error) func(*Context) error {
	c.stopTimers() // if the hook in letGo has called Goexit, they still run
	if f := c.more.front; f != nil {
		f.behaviour = a
	} else {
		c.actor = a
	}
	switch h := a.(type) {
	case PostRestarter:
		return func(ctx *Context) error { return h.PostRestart(ctx, cause) }
	case PreStarter:
		return h.PreStart
	}
	return nil
}
