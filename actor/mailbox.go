package actor

// Policy is what a mailbox does with a message when it is full.
type Policy uint8

const (
	// Unbounded is never full. It is the default because it refuses nobody and
	// keeps Tell from ever waiting; memory is what bounds it.
	Unbounded Policy = iota
	// DropNewest refuses the message: the sender gets it back with ErrFull.
	DropNewest
	// DropOldest accepts the message and drops the oldest one that is waiting,
	// which goes to the dead letters with ErrDropped. In a mailbox with
	// priorities it drops the oldest of those with the lowest priority, which
	// may be the new one itself.
	DropOldest
	// Grow accepts the message and lets the mailbox grow beyond its capacity:
	// room is made for Capacity messages in advance and more only on demand.
	Grow
	// Block makes the sender wait, parked, until there is room, the context
	// given to TellContext ends, or the actor stops.
	Block
)

// String returns the policy's name in lower case, such as "drop-newest".
func (p Policy) String() string {
	switch p {
	case Unbounded:
		return "unbounded"
	case DropNewest:
		return "drop-newest"
	case DropOldest:
		return "drop-oldest"
	case Grow:
		return "grow"
	case Block:
		return "block"
	}
	return "Policy(" + itoa(int(p)) + ")"
}

// MailboxConfig says how an actor's user messages wait. The zero value is an
// unbounded first-in-first-out queue. System messages have a queue of their
// own, which no setting concerns.
type MailboxConfig struct {
	// Capacity is how many messages may wait; the one being handled does not
	// count. It must be 0 for Unbounded and at least 1 for the other policies.
	Capacity int

	// Policy is what happens when Capacity messages wait.
	Policy Policy

	// Priority, if not nil, gives each message a priority when it is sent: of
	// the waiting messages the one with the smallest number is handled first,
	// and of those with equal numbers the one that came first. It is called
	// by any number of goroutines at once, must not block, and must not use the
	// actor's state. Nil means first in, first out.
	Priority func(msg any) int
}

// check returns a *PropsError if c cannot be used, and nil otherwise.
func (c MailboxConfig) check() error {
	switch {
	case c.Policy > Block:
		return &PropsError{"Mailbox.Policy", "is not one of the constants"}
	case c.Policy == Unbounded && c.Capacity != 0:
		return &PropsError{"Mailbox.Capacity", "must be 0 for an unbounded mailbox: choose the Policy for a full one"}
	case c.Policy != Unbounded && c.Capacity < 1:
		return &PropsError{"Mailbox.Capacity", "must be at least 1 for a bounded mailbox"}
	}
	return nil
}
