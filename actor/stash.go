package actor

// Stash keeps msg, which the actor has just been given and cannot handle yet,
// until UnstashAll. What is still stashed when the actor stops goes to the dead
// letters; a restart unstashes.
func (x *Context) Stash(msg any) {
	m := x.turn().extra()
	m.stash = append(m.stash, msg)
}

// UnstashAll has the stashed messages handled next, in the order in which they
// were stashed, before all that waits; but for a message that is to be tried again (see
// [Supervisor]), which comes first.
func (x *Context) UnstashAll() {
	c := x.turn()
	if c.more != nil && len(c.more.stash) > 0 {
		c.unstash()
		c.poke()
	}
}

// Stashed returns how many messages are stashed.
func (x *Context) Stashed() int {
	if c := x.turn(); c.more != nil {
		return len(c.more.stash)
	}
	return 0
}

// unstash puts the stashed messages in front of the notices, see prepend.
func (c *Cell) unstash() {
	m := c.more
	if len(m.stash) > 0 {
		m.notices.prepend(m.stash...)
		m.stash = nil
	}
}

// spill gives what was sent and will not be handled to the dead letters.
func (c *Cell) spill() {
	m := c.more
	for !m.notices.empty() {
		if n := m.notices.pop(); n.sent {
			c.Undelivered(n.msg, ErrStopped)
		}
	}
	for _, msg := range m.stash {
		c.Undelivered(msg, ErrStopped)
	}
	m.stash = nil
}
