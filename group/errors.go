package group

import (
	"errors"

	"github.com/dynolab/dyno/internal/panics"
)

var (
	// ErrGroupClosed is returned by Go after Close.
	ErrGroupClosed = errors.New("group: closed")

	// ErrNilTask is returned by Go for a nil task.
	ErrNilTask = errors.New("group: nil task")

	// ErrGoexit is the error of the result of a task that called
	// runtime.Goexit instead of returning, as testing.T's FailNow does.
	ErrGoexit = errors.New("group: task called runtime.Goexit")
)

// PanicError is the error of the result of a task that panicked.
type PanicError struct {
	// Value is what the task panicked with.
	Value any
	// Stack is the stack of the panicking goroutine in the form of
	// runtime.Stack, at most 64 KiB of it. It is empty where the platform
	// cannot tell (TinyGo).
	Stack []byte
}

// NewPanicError returns a PanicError with the given value and the stack of the
// calling goroutine. Implementations call it in the deferred function that
// recovered value, where the frames that panicked are still on the stack.
func NewPanicError(value any) *PanicError {
	return &PanicError{Value: value, Stack: panics.Stack()}
}

// Error returns "group: task panicked: " and the value as text. The stack is
// left out; print Stack for it. Values that are not errors, strings,
// fmt.Stringers or basic types are shown by kind only.
func (e *PanicError) Error() string {
	return "group: task panicked: " + panics.Text(e.Value)
}

// Unwrap returns the value the task panicked with if that is an error, so that
// errors.Is and errors.As see through the panic, and nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
