package actor

import (
	"slices"
	"time"
)

// Suspension is why an actor handles no user messages for a while, and what
// ends that. Whatever the condition, Resume ends it too, and so does a restart.
//
// The duties are divided as the source document on suspension has it:
//
//   - MessageInvoker: the Cell's turn, BeginTurn to EndTurn, decides, and answers
//     [Suspended] at its end.
//   - ActorCell: the [Cell] owns the state, and with it this reason and condition. An
//     implementation that wants them asks for them ([Cell.Suspension]), and they are
//     published, as [ActorSuspended].
//   - ReadyQueueCoordinator: the implementation's schedule. It does not register an
//     actor that is Suspended, and knows nothing else of suspension.
//   - MailboxRegistry: [Port]. Its Wake relays the Cell's wish to go on to the schedule.
type Suspension struct {
	// Reason is for people: it is recorded in events.
	Reason string

	// After is how long the suspension lasts at most, on the system's clock; 0 means
	// without a limit.
	After time.Duration

	// Capacity, if not zero, is an actor whose mailbox is full or may be: the
	// suspension ends when there is room in it, or the actor stops. Those who
	// wait for the same mailbox are resumed in the order in which they came, as
	// many at a time as there is room for. For an actor in another system it
	// ends when its link could take a message, or is lost.
	Capacity Ref
}

// ofSuspensions is what suspensions that were asked for need: of the actor, and of those that
// wait for room in its mailbox.
type ofSuspensions struct {
	pause   *pause // the suspension asked for
	epoch   uint32 // of pause
	sought  seeker // whose mailbox had room for this actor, which is in its first turn since
	seekers []seeker
	granted int // of them
}

// pause is a suspension that was asked for.
type pause struct {
	Suspension
	since time.Time
	timer timer
	cell  *Cell
	epoch uint32
}

// due is called when the time is up.
func (p *pause) due(uint64) { resume(p.cell, p.epoch, nil) }

// resume asks an actor to go on: from the suspension epoch, or from any if that
// is 0.
func resume(to *Cell, epoch uint32, from Worker) {
	to.post(&signal{kind: sigResume, epoch: epoch, arg: to.now()}, from)
}

// seeker is an actor that waits for room in another one's mailbox, in the list of
// that one; or, as more.sought, the other one.
//
// It stays in the list until it says that it has gone on, for whatever reason:
// one that was resumed when its first turn is over, in which it will have taken
// the room. So no other is promised the same room meanwhile, and what it does
// not take the next one gets.
type seeker struct {
	cell    *Cell
	epoch   uint32
	granted bool // it was resumed; those that were come first
}

// Suspend has the actor handle no user message after this one until the
// suspension ends. They wait meanwhile as the mailbox's policy says; system
// messages are handled. Suspending an actor that is suspended already changes
// the condition.
func (x *Context) Suspend(s Suspension) {
	c := x.turn()
	c.send(c, &signal{kind: sigSuspend, arg: &pause{Suspension: s, cell: c}})
}

// Resume ends a suspension, this actor's or another one's. For an actor that is
// not suspended it does nothing, and is not remembered; an actor that waits
// for its parent's decision about a failure goes on waiting.
func (x *Context) Resume(r Ref) {
	if c := x.turn(); r.cell != nil {
		resume(r.cell, 0, c.workerFor(r.cell))
	}
}

// Suspend is Context.Suspend of any actor, after the message that it is
// handling.
func (s *System) Suspend(r Ref, p Suspension) {
	if r.cell != nil {
		r.cell.post(&signal{kind: sigSuspend, arg: &pause{Suspension: p, cell: r.cell}}, nil)
	}
}

// Resume is [Context.Resume] from outside.
func (s *System) Resume(r Ref) {
	if r.cell != nil {
		resume(r.cell, 0, nil)
	}
}

// suspended begins a suspension.
func (c *Cell) suspended(p *pause) {
	if State(c.state.Load()) == StateStopping {
		return
	}
	c.unpause()
	m := c.extra()
	m.epoch++
	if m.epoch == 0 {
		m.epoch = 1 // 0 stands for any
	}
	p.epoch, p.since = m.epoch, c.now()
	m.pause = p
	c.suspend(holdPaused)
	if e := c.system.events; e.active() {
		e.Publish(ActorSuspended{Actor: Ref{c}, Suspension: p.Suspension, Time: p.since})
	}
	if p.After > 0 {
		p.timer.waiter = p
		c.system.timers.start(&p.timer, p.After)
	}
	c.system.suspends.add(1) // now, so that who has seen it counted finds the timer running
	t := p.Capacity.cell
	if t != nil && !t.post(&signal{kind: sigSeek, arg: c, epoch: p.epoch}, c.workerFor(t)) {
		resume(c, p.epoch, c.worker) // it has stopped
	}
}

// Suspension says why the verdict is [Suspended], and what ends that. Of an actor that waits for
// its parent's decision, a restart or the end of its children there is a reason only. It is for
// the goroutine that has the verdict, before it acts on it.
func (c *Cell) Suspension() Suspension {
	m := c.more
	switch {
	case State(c.state.Load()) == StateStopping:
		return Suspension{Reason: "stopping"}
	case m == nil:
		return Suspension{Reason: "starting"}
	case m.pause != nil:
		return m.pause.Suspension
	case m.hold&holdRestart != 0:
		return Suspension{Reason: "restart"}
	}
	return Suspension{Reason: "failed: " + m.lastErr.Error()}
}

// unpause forgets a suspension. The caller sees to the state.
func (c *Cell) unpause() {
	m := c.more
	if m == nil || m.pause == nil {
		return
	}
	if m.pause.After > 0 {
		c.system.timers.stop(&m.pause.timer)
	}
	if t := m.pause.Capacity.cell; t != nil {
		c.send(t, &signal{kind: sigUnseek, arg: c, epoch: m.pause.epoch})
	}
	m.pause = nil
	m.hold &^= holdPaused
}

// resumed ends the suspension epoch, or whichever there is if that is 0; asked is
// when that was asked for.
func (c *Cell) resumed(epoch uint32, asked time.Time) {
	m := c.more
	if m == nil || m.pause == nil || epoch != 0 && epoch != m.pause.epoch {
		return // of an earlier suspension, or of none
	}
	c.handOn()
	if p := m.pause; p.Capacity.cell != nil {
		m.sought = seeker{cell: p.Capacity.cell, epoch: p.epoch}
		p.Capacity = Ref{} // it is told at the end of the turn
	}
	c.unpause()
	now := c.now()
	c.system.resumed(now.Sub(asked))
	if e := c.system.events; e.active() {
		e.Publish(ActorResumed{Actor: Ref{c}, Latency: now.Sub(asked), Time: now})
	}
	c.release(holdPaused)
}

// handOn tells the actor for whose room this one waited that it has gone on.
func (c *Cell) handOn() {
	m := c.more
	if t := m.sought.cell; t != nil {
		c.send(t, &signal{kind: sigUnseek, arg: c, epoch: m.sought.epoch})
		m.sought = seeker{}
	}
}

// seek adds an actor to those that wait for room in this one's mailbox.
func (c *Cell) seek(from *Cell, epoch uint32) {
	m := c.extra()
	m.seekers = append(m.seekers, seeker{cell: from, epoch: epoch})
	c.room(State(c.state.Load()) == StateStopping)
}

// unseek undoes seek. There may be room for the next one now; the turn's end looks.
func (c *Cell) unseek(from *Cell, epoch uint32) {
	m := c.more
	if m == nil {
		return
	}
	for i := range m.seekers {
		if m.seekers[i].cell == from && m.seekers[i].epoch == epoch {
			if m.seekers[i].granted {
				m.granted--
			}
			m.seekers = slices.Delete(m.seekers, i, i+1)
			return
		}
	}
}

// room resumes those for whom there is room in the mailbox, or all of them. It
// runs at the end of turns: only they make room.
func (c *Cell) room(all bool) {
	m := c.more
	n := len(m.seekers)
	if !all && m.capacity > 0 {
		n = min(n, max(m.granted, m.capacity-c.port.Len()))
	}
	for i := m.granted; i < n; i++ {
		s := &m.seekers[i]
		s.granted = true
		resume(s.cell, s.epoch, c.workerFor(s.cell))
	}
	m.granted = n
}
