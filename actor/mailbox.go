package actor

import (
	"context"
	"sync"
	"sync/atomic"
)

// Policy is what a mailbox does with a message when it is full.
type Policy uint8

const (
	// Unbounded is never full. It is the default because it refuses no sender and
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

	numPolicies // stays the last
)

var policyNames = [numPolicies]string{
	Unbounded:  "unbounded",
	DropNewest: "drop-newest",
	DropOldest: "drop-oldest",
	Grow:       "grow",
	Block:      "block",
}

// Policies returns all policies, in the order of the constants. Tests go through it, so that
// a policy that is added is tried everywhere.
func Policies() []Policy {
	all := make([]Policy, numPolicies)
	for i := range all {
		all[i] = Policy(i)
	}
	return all
}

// String returns the policy's name in lower case, such as "drop-newest".
func (p Policy) String() string {
	if p < numPolicies {
		return policyNames[p]
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
	// actor's state; it may ask for the Backlog. Nil means first in, first out.
	Priority func(msg any) int

	// Watermark, if not 0, is how many waiting messages are worth a MailboxHigh
	// event: when a send finds that many, and not again until a send has found
	// fewer than half of them, which is worth a MailboxLow. It costs every send
	// to the actor a look at the mailbox.
	Watermark int

	// New, if not nil, makes a mailbox of one's own for the actor; Policy,
	// Capacity and Priority must be zero then. See Mailbox.
	New func() Mailbox
}

// check returns a *PropsError if c cannot be used, and nil otherwise.
func (c *MailboxConfig) check() error {
	switch {
	case c.Watermark < 0:
		return &PropsError{"Mailbox.Watermark", "must not be negative"}
	case c.New != nil && (c.Policy != Unbounded || c.Capacity != 0 || c.Priority != nil):
		return &PropsError{"Mailbox.New", "must not be combined with Policy, Capacity or Priority: the mailbox it makes has its own"}
	case c.Policy >= numPolicies:
		return &PropsError{"Mailbox.Policy", "is not one of the constants"}
	case c.Policy == Unbounded && c.Capacity != 0:
		return &PropsError{"Mailbox.Capacity", "must be 0 for an unbounded mailbox: choose the Policy for a full one"}
	case c.Policy != Unbounded && c.Capacity < 1:
		return &PropsError{"Mailbox.Capacity", "must be at least 1 for a bounded mailbox"}
	}
	return nil
}

// Mailbox is where user messages wait, if Props brings one of its own. The
// dispatcher still says who runs the actor when. Its methods are never called at
// the same time: the core holds a lock, which is what it costs.
type Mailbox interface {
	// Enqueue takes msg and returns Sent, or Full if it does not want it. If it
	// drops another message for it, it calls drop with that one, once.
	Enqueue(msg any, drop func(msg any)) SendResult
	// Dequeue returns the message to handle next, and false if there is none.
	Dequeue() (any, bool)
	// Len returns how many messages wait.
	Len() int
}

// custom is the port of an actor with a mailbox of its own: that of the
// dispatcher, of which only the place in the schedule is used. A message is
// announced by a system message, which makes the actor's turn look into the
// mailbox (Cell.deliver).
type custom struct {
	Port
	cell *Cell

	mu     sync.Mutex // guards what follows
	box    Mailbox
	shut   bool
	queued bool   // the turn is going to look into the mailbox until it finds it empty
	posted bool   // node is queued or about to be: it is in one place at a time
	node   signal // pushed by the sender that sets posted
}

// Send implements Port.
func (p *custom) Send(msg any, from Worker) SendResult {
	res, dropped, wake := p.enqueue(msg)
	for _, d := range dropped {
		p.cell.Undelivered(d, ErrDropped)
	}
	if wake {
		p.cell.post(&p.node, from)
	}
	return res
}

func (p *custom) enqueue(msg any) (res SendResult, dropped []any, wake bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return Closed, nil, false
	}
	res = p.box.Enqueue(msg, func(d any) { dropped = append(dropped, d) })
	if res != Sent {
		return Full, dropped, false
	}
	// If node was posted and the turn has emptied the mailbox before it came, it
	// is still to come, and does for this message.
	wake = !p.queued && !p.posted
	p.queued = true
	p.posted = p.posted || wake
	return Sent, dropped, wake
}

// announced says that node has come. The turn looks into the mailbox after that.
func (p *custom) announced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posted = false
}

// pop takes the next message. Only the turn calls it.
func (p *custom) pop() (any, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	msg, ok := p.box.Dequeue()
	if !ok {
		p.queued = false
	}
	return msg, ok
}

// waiting reports whether there are messages, for a turn that leaves them to the
// next one. If there are none the turn has found the mailbox empty.
func (p *custom) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queued = p.box.Len() > 0
	return p.queued
}

// Len implements Port.
func (p *custom) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.box.Len()
}

// Close implements Port.
func (p *custom) Close() {
	p.Port.Close()
	p.mu.Lock()
	p.shut = true
	var rest []any
	for msg, ok := p.box.Dequeue(); ok; msg, ok = p.box.Dequeue() {
		rest = append(rest, msg)
	}
	p.mu.Unlock()
	for _, msg := range rest {
		p.cell.Undelivered(msg, ErrStopped)
	}
}

// marked is a port that says when many messages wait behind it.
type marked struct {
	Port
	cell  *Cell
	mark  int
	above atomic.Bool // the goroutine that changes it publishes
}

// Send implements Port.
func (p *marked) Send(msg any, from Worker) SendResult {
	res := p.Port.Send(msg, from)
	p.look()
	return res
}

// SendWait implements Port.
func (p *marked) SendWait(ctx context.Context, msg any, from Worker) error {
	err := p.Port.SendWait(ctx, msg, from)
	p.look()
	return err
}

// look publishes that the mark has been passed. Of several senders one does.
func (p *marked) look() {
	n := p.Port.Len()
	c := p.cell
	switch above := p.above.Load(); {
	case !above && n >= p.mark && p.above.CompareAndSwap(false, true):
		c.system.events.Publish(MailboxHigh{Actor: Ref{c}, Len: n, Time: c.now()})
	case above && n < (p.mark+1)/2 && p.above.CompareAndSwap(true, false):
		c.system.events.Publish(MailboxLow{Actor: Ref{c}, Len: n, Time: c.now()})
	}
}
