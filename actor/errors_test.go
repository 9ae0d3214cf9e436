package actor

import (
	"context"
	"errors"
	"strings"
	"testing"
)

type named struct{}

func (named) String() string { return "by name" }

func TestErrorTexts(t *testing.T) {
	many := &ShutdownError{Cause: context.Canceled}
	for range 20 {
		many.Running = append(many.Running, Straggler{Path: "/user/x", State: StateStopping})
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&SendError{Msg: 1, Reason: ErrStopped}, "actor: not sent to the zero Ref: the actor has stopped"},
		{&SendError{Msg: 1, Reason: context.Canceled}, "actor: not sent to the zero Ref: context canceled"},
		{Fatal(ErrStopped), "actor: fatal: the actor has stopped"},
		{&PropsError{"Field", "must be"}, "actor: Field must be"},
		{
			&ShutdownError{Running: []Straggler{{Path: "/user", State: StateRunning}, {Path: "/user/a", State: StateStopping}}, Cause: context.DeadlineExceeded},
			"actor: shutdown: 2 actors have not stopped: /user (running), /user/a (stopping): context deadline exceeded",
		},
		{&PanicError{Value: nil}, "actor: panicked: nil"},
		{&PanicError{Value: errors.New("x")}, "actor: panicked: x"},
		{&PanicError{Value: named{}}, "actor: panicked: by name"},
		{&PanicError{Value: "text"}, "actor: panicked: text"},
		{&PanicError{Value: true}, "actor: panicked: true"},
		{&PanicError{Value: -3}, "actor: panicked: -3"},
		{&PanicError{Value: int64(4)}, "actor: panicked: 4"},
		{&PanicError{Value: uint64(5)}, "actor: panicked: 5"},
		{&PanicError{Value: 1.5}, "actor: panicked: 1.5"},
		{&PanicError{Value: []int{}}, "actor: panicked: (a value that is neither error, string nor number)"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if s := many.Error(); !strings.Contains(s, "20 actors") || strings.Count(s, "/user/x") != 8 || !strings.Contains(s, "…") {
		t.Errorf("the error of many stragglers is %q", s)
	}
	if !errors.Is(many, context.Canceled) {
		t.Error("a ShutdownError is not its cause")
	}
	if errors.Unwrap(&PanicError{Value: 1}) != nil {
		t.Error("the panic with a number unwraps to an error")
	}
	deep := func() { panic("deep") }
	func() {
		defer func() {
			if e := caught(recover()).(*PanicError); !strings.Contains(string(e.Stack), "TestErrorTexts") || len(e.Stack) > 64<<10 {
				t.Errorf("a stack of %d bytes", len(e.Stack))
			}
		}()
		var dig func(n int)
		dig = func(n int) {
			if n == 0 {
				deep()
			}
			dig(n - 1)
		}
		dig(2000)
	}()
}

// An actor may be found by its PID, and stopped, before its start is asked for.
func TestStartAfterStop(t *testing.T) {
	c := &Cell{system: &System{}}
	c.state.Store(uint32(StateStopping))
	c.signals.push(&signal{kind: sigStart}) // an actor that has no PreStart would panic
	if c.handleSignals() || c.started || State(c.state.Load()) != StateStopping {
		t.Errorf("started: %v, state: %v", c.started, State(c.state.Load()))
	}
}
