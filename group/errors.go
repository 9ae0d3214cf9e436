package group

import (
	"errors"
	"runtime"
	"strconv"
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
	buf := make([]byte, 4<<10)
	for {
		n := runtime.Stack(buf, false)
		if n < len(buf) || len(buf) >= 64<<10 {
			return &PanicError{Value: value, Stack: buf[:n:n]}
		}
		buf = make([]byte, 2*len(buf))
	}
}

// Error returns "group: task panicked: " and the value as text. The stack is
// left out; print Stack for it. Values that are not errors, strings,
// fmt.Stringers or basic types are shown by kind only.
func (e *PanicError) Error() string {
	return "group: task panicked: " + panicText(e.Value)
}

// Unwrap returns the value the task panicked with if that is an error, so that
// errors.Is and errors.As see through the panic, and nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// panicText renders a panic value without fmt, which costs a board 47 KB of
// flash.
func panicText(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case error:
		return v.Error()
	case interface{ String() string }:
		return v.String()
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return "(a value that is neither error, string nor number)"
}
