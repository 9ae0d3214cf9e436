package task

import (
	"context"
	"errors"
	"strconv"

	"github.com/dynolab/dyno/internal/panics"
)

var (
	// ErrClosed is the cause of the failure of a task that was started after
	// [Executor.Close]. It has not run.
	ErrClosed = errors.New("task: the executor is closed")

	// ErrOutside is returned by [Yield] and [Canceled], and is the cause of the
	// failure of what [Fork] and [ForkCall] return, if the context is not a
	// task's.
	ErrOutside = errors.New("task: the context is not that of a task")

	// ErrGoexit is the cause of the failure of a task that called runtime.Goexit
	// instead of returning, as testing.T's FailNow does. Where a task runs inside
	// another one that waits for it, the other one fails with it too: nothing can
	// stop a goroutine that ends.
	ErrGoexit = errors.New("task: the task called runtime.Goexit")

	// ErrDeadlock is what Wait and Value return, in an executor that runs one task
	// at a time, if what they wait for can never be over: no other goroutine runs the
	// task. A circle of tasks that wait for each other is a [*CycleError].
	ErrDeadlock = errors.New("task: nothing can run, and what is waited for is not over")
)

// Error is what became of a task that did not succeed: it failed or was
// canceled. It is the one form in which every executor reports every failure.
type Error struct {
	// Message says what happened, such as "the task panicked".
	Message string
	// Cause is the error that the task returned or panicked with; context.Canceled
	// if it was canceled; and nil if it panicked with what is not an error.
	Cause error
	// Panic is what the task panicked with, if it did.
	Panic any
	// Stack is the stack of a task that panicked, in the form of runtime.Stack, at
	// most 64 KiB of it. It is empty where the platform cannot tell (TinyGo).
	Stack []byte
}

// Error returns the message and the cause. The stack is left out.
func (e *Error) Error() string {
	s := "task: " + e.Message
	switch {
	case e.Cause != nil:
		s += ": " + e.Cause.Error()
	case e.Panic != nil:
		s += ": " + panics.Text(e.Panic)
	}
	return s
}

// Unwrap returns the cause, so that errors.Is and errors.As reach it.
func (e *Error) Unwrap() error { return e.Cause }

// canceled is the error of every task that was canceled: there is nothing to
// tell them apart by, and nothing to allocate.
var canceled = &Error{Message: "the task was canceled", Cause: context.Canceled}

// CycleError is returned by Wait and Value on an executor that runs one task at a
// time, to a task that would wait for itself: for one that waits for one that …
// waits for it. The tasks go on; who gets the error may return it.
type CycleError struct {
	// Tasks are the numbers of the tasks in the circle, each of which waits for
	// the next one and the last one for the first: first the one that got the
	// error. An executor numbers its tasks from 1 in the order in which they were
	// started.
	Tasks []uint64
}

// Error names the circle.
func (e *CycleError) Error() string {
	s := "task: a circle of waits:"
	for _, n := range e.Tasks {
		s += " task " + strconv.FormatUint(n, 10) + " waits for"
	}
	return s + " task " + strconv.FormatUint(e.Tasks[0], 10)
}

// newPanic returns the error of a task that panicked with v, for the deferred
// function that recovered it: the frames are still on the stack.
func newPanic(v any) *Error {
	e := &Error{Message: "the task panicked", Panic: v, Stack: panics.Stack()}
	e.Cause, _ = v.(error)
	return e
}
