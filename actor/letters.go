package actor

import (
	"sync"
	"time"
)

// DeadLetter is a message that was not handled: accepted and then
// lost its receiver, or not accepted and given back to its sender.
type DeadLetter struct {
	// Msg is the message; of a message that is [Boxed], what is in the box.
	Msg any
	// To is the actor it was for, zero if it was for the zero Ref.
	To Ref
	// Reason is ErrStopped, ErrDropped, ErrFailed or ErrLate; for a message that
	// was returned or forwarded, any reason of a SendError.
	Reason error
	// Cause is the error that brought this about, if it was one, such as what
	// an actor failed with that was handling the message.
	Cause error
	// ReplyTo is where the message wants its reply to go, if it is a [Requester].
	ReplyTo ReplyTo
	// Returned says that the message was not accepted and its sender has it
	// back, in a *SendError.
	Returned bool
	// Time is when it was found, on the system's clock.
	Time time.Time
}

// Resend sends the message to the same actor again, as [Ref.Tell] does: from
// anywhere, and as a message like any other, which becomes a dead letter again
// if it is not handled. A Ref means one incarnation: if that has stopped, send
// Msg to the actor that took over.
func (l DeadLetter) Resend() error { return l.To.Tell(l.Msg) }

// Requester is implemented by messages that carry a ReplyTo, and by the ReplyTo itself, so
// also by a struct that embeds one. If such a message is a dead letter the Future that waits
// for its reply ends with the letter's Reason, unless Config.DeadLetters has answered it.
type Requester interface {
	// ReplyAddress returns where the reply is to go.
	ReplyAddress() ReplyTo
}

// Boxed is implemented by messages that only carry another value, as those of
// package typed do. A dead letter shows the value.
type Boxed interface {
	// Unbox returns the value. The message stays as it is, and may be unboxed
	// again: its sender may have it back.
	Unbox() any
}

// keepDeadLetters is the default of Config.KeepDeadLetters: enough to see what
// went wrong last, and at most some 6 KiB besides the messages.
const keepDeadLetters = 64

// letterBox keeps the newest dead letters. Any goroutine may use it.
type letterBox struct {
	keep int // how many; never changes

	mu     sync.Mutex
	list   []DeadLetter // grows to keep, since most systems have no dead letters
	oldest int          // where the oldest is
	closed bool
}

// add puts l in the box, in the place of the oldest if it is full.
func (b *letterBox) add(l DeadLetter) {
	if b.keep <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
	case len(b.list) < b.keep:
		b.list = append(b.list, l)
	default:
		b.list[b.oldest] = l
		b.oldest = (b.oldest + 1) % b.keep
	}
}

// all returns what is in the box, the oldest first.
func (b *letterBox) all() []DeadLetter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		return nil
	}
	list := make([]DeadLetter, 0, len(b.list))
	return append(append(list, b.list[b.oldest:]...), b.list[:b.oldest]...)
}

// close empties the box for good: a Ref that is kept when the system is over
// keeps the System, and must not keep messages with it.
func (b *letterBox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.list = nil
}
