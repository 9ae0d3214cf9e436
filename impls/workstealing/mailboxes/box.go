package mailboxes

// Box is an actor's mailbox together with its place in the schedule, which is
// idle or scheduled. A new one is empty and idle.
//
// Whoever makes it scheduled has to see that a turn is run, and what that
// goroutine did happens before the turn; in a dispatcher the ready queue sees to
// both. So at any time one goroutine at most has the turn, and Pop and Rest are
// its alone.
type Box interface {
	// Push queues msg. It reports true if the box was idle and is scheduled
	// now: the caller must have a turn run. Any goroutine may call it.
	Push(msg any, from *Worker) bool

	// Pop takes the oldest message. It reports false if there is none, or if
	// the Push that will be the next in order has begun and not ended; Rest
	// tells the two apart. For the turn only.
	Pop(w *Worker) (any, bool)

	// Rest ends the turn. It reports true if the box is empty and idle now.
	// Otherwise messages wait, the box has stayed scheduled, and the caller
	// still has the turn and must have it go on, at once or later. For the turn
	// only.
	Rest(w *Worker) bool
}

// Kind is one way to build a mailbox.
type Kind struct {
	Name string // as in box=name of the benchmarks
	New  func() Box
}

// Kinds returns all of them, the one in use first.
func Kinds() []Kind {
	return []Kind{
		{"word", func() Box { return new(wordBox) }},
		{"packed", func() Box { return new(packedBox) }},
		{"mutex", func() Box { return new(mutexBox) }},
		{"linked", func() Box { return newLinkedBox() }},
		{"ring", func() Box { return new(ringBox) }},
		{"stack", func() Box { return newStackBox() }},
	}
}

// keep is the largest buffer, in messages, that an idle mailbox keeps for
// itself.
const keep = 1024

// line is a cache line of the machines that this is measured on. What producers
// write and what the turn reads for each message are that far apart: without it
// every Push takes from the turn the line that its next Pop needs.
const line = 64
