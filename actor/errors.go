package actor

import (
	"errors"
	"strconv"

	"github.com/dynolab/dyno/internal/panics"
)

// Why a message was not delivered: what a [SendError] and a [DeadLetter] give
// as their reason.
var (
	// ErrStopped: the actor is stopping or has stopped. A Ref means one
	// incarnation; ask for the actor that took over, if there is one, by name.
	ErrStopped = errors.New("actor: the actor has stopped")

	// ErrFull: the mailbox is full and its policy is DropNewest; or its policy
	// is Block and the sender is the actor itself, which would wait for ever.
	ErrFull = errors.New("actor: the mailbox is full")

	// ErrDropped: the mailbox was full, its policy is DropOldest, and the
	// message had to make room. It is a dead letter's reason only: the sender
	// has gone on.
	ErrDropped = errors.New("actor: dropped from a full mailbox")

	// ErrDeadlock: the mailbox is full, its policy is Block, and no actor is
	// left that could make room: all that could run wait.
	ErrDeadlock = errors.New("actor: the mailbox is full and every actor that could make room waits")

	// ErrFailed: the actor failed while it handled the message, and its
	// supervisor did not have it try again. It is a dead letter's reason only;
	// its Cause is the failure.
	ErrFailed = errors.New("actor: the actor failed on the message")

	// ErrUnknown: no actor of the system has that PID or address: it has stopped, or
	// never was.
	ErrUnknown = errors.New("actor: no actor has this PID or address")

	// ErrZeroRef: the Ref is zero.
	ErrZeroRef = errors.New("actor: the Ref is zero")
)

// ErrStarted is what Dispatcher.Start returns if the dispatcher has been started
// before.
var ErrStarted = errors.New("actor: the dispatcher serves a system already: make one for each")

// Why an actor or a system was not made.
var (
	// ErrStopping is returned by Spawn when the spawning actor is stopping.
	ErrStopping = errors.New("actor: a stopping actor spawns no more children")

	// ErrNameTaken is returned by SpawnNamed while the parent has a child of
	// that name that has not stopped.
	ErrNameTaken = errors.New("actor: the parent has a child of this name already")

	// ErrBadName is returned by SpawnNamed for a name that is empty, contains a
	// slash, which separates names in a path, or begins with "anon-", which
	// begins the names of actors without one.
	ErrBadName = errors.New(`actor: a name must not be empty, contain "/" or begin with "anon-"`)
)

// ErrGoexit is the failure of an actor that called runtime.Goexit instead of
// returning, as testing.T's FailNow does.
var ErrGoexit = errors.New("actor: the actor called runtime.Goexit")

// SendError is the error of a message that was not accepted. It gives the
// message back: no actor has it. Stats counts it as returned, not as a dead
// letter, and it is recorded as a [DeadLetter] with Returned set.
type SendError struct {
	// Msg is the message.
	Msg any
	// To is the actor it was for.
	To Ref
	// Reason is ErrStopped, ErrFull, ErrDeadlock, ErrZeroRef, ErrUnknown, or the
	// error of the context that ended while the sender waited for room; of a
	// reply ErrLate; of a message to another system ErrNoLink or what the
	// link says.
	Reason error
}

// Error says to whom the message could not be sent, and why.
func (e *SendError) Error() string {
	return "actor: not sent to " + e.To.String() + ": " + trim(e.Reason.Error())
}

// Unwrap returns the reason.
func (e *SendError) Unwrap() error { return e.Reason }

// PropsError says which field of a [Props], [MailboxConfig] or [Config] cannot be used.
type PropsError struct {
	// Field is the field's name, such as "Mailbox.Capacity".
	Field string
	// Rule says what is allowed.
	Rule string
}

// Error returns the field and the rule.
func (e *PropsError) Error() string { return "actor: " + e.Field + " " + e.Rule }

// ShutdownError is the error of [System.Shutdown] when its context ended
// before every actor had stopped.
type ShutdownError struct {
	// Running are the actors that had not stopped, in the order of their PIDs.
	Running []Straggler
	// Cause is the context's error.
	Cause error
}

// Straggler is an actor that has not stopped in time.
type Straggler struct {
	PID   PID
	Path  string
	State State
}

// Error names the first few stragglers. An actor waits for its children, so
// what keeps a system from stopping is as a rule the last of them.
func (e *ShutdownError) Error() string {
	const most = 8
	s := "actor: shutdown: " + strconv.Itoa(len(e.Running)) + " actors have not stopped: "
	for i, r := range e.Running {
		if i > 0 {
			s += ", "
		}
		if i == most {
			s += "…"
			break
		}
		s += r.Path + " (" + r.State.String() + ")"
	}
	return s + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *ShutdownError) Unwrap() error { return e.Cause }

// PanicError is the failure of an actor that panicked.
type PanicError struct {
	// Value is what the actor panicked with.
	Value any
	// Stack is the stack of the panicking goroutine in the form of
	// runtime.Stack, at most 64 KiB of it. It is empty where the platform
	// cannot tell (TinyGo).
	Stack []byte
}

// newPanicError returns a PanicError with the stack of the calling goroutine,
// on which the frames that panicked still are.
func newPanicError(value any) *PanicError {
	return &PanicError{Value: value, Stack: panics.Stack()}
}

// Error returns "actor: panicked: " and the value as text, without the stack.
// Values that are not errors, strings, fmt.Stringers or basic types are shown
// by kind only.
func (e *PanicError) Error() string { return "actor: panicked: " + panics.Text(e.Value) }

// Unwrap returns the value if that is an error, so that errors.Is and
// errors.As see through the panic, and nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// trim takes the package's name off an error's text that is going to stand
// inside another one.
func trim(s string) string {
	const p = "actor: "
	if len(s) > len(p) && s[:len(p)] == p {
		return s[len(p):]
	}
	return s
}
