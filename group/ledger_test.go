package group_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dynolab/dyno/group"
)

// take takes a result that must be there.
func take(t *testing.T, l *group.Ledger[int]) group.Result[int] {
	t.Helper()
	r, ok := l.Take()
	if !ok {
		t.Fatal("no result is queued")
	}
	return r
}

// accept counts a task in, which must be possible.
func accept(t *testing.T, l *group.Ledger[int]) {
	t.Helper()
	if err := l.Accept(); err != nil || l.Idle() {
		t.Fatalf("a task was not counted in: %v, idle %v", err, l.Idle())
	}
}

// The limit bounds the tasks in flight, not the results that wait; Close makes
// room for no task, and lets each caller of Go have its answer.
func TestLedgerLimit(t *testing.T) {
	l := group.NewLedger[int](t.Context(), group.Config{MaxConcurrency: 2})
	for i := range 5 {
		accept(t, &l)
		if l.Full() {
			t.Fatalf("full with one task in flight and %d results", i)
		}
		accept(t, &l)
		if !l.Full() {
			t.Fatal("not full with two tasks in flight")
		}
		l.Finish(group.Result[int]{})
		l.Finish(group.Result[int]{})
	}
	accept(t, &l)
	accept(t, &l)
	l.Close()
	if err := l.Accept(); l.Full() || !errors.Is(err, group.ErrGroupClosed) {
		t.Errorf("a closed group is full: %v, and accepts a task with %v", l.Full(), err)
	}

	one := group.NewLedger[int](t.Context(), group.Config{MaxConcurrency: 1})
	if accept(t, &one); !one.Full() {
		t.Error("a group of one is not full with one task in flight")
	}

	free := group.NewLedger[int](t.Context(), group.Config{})
	for range 100 {
		accept(t, &free)
	}
	if free.Full() {
		t.Error("a group without a limit is full")
	}
}

// Results come in the order in which tasks finish, and outlive Close and the end
// of the context.
func TestLedgerResults(t *testing.T) {
	l := group.NewLedger[int](t.Context(), group.Config{FailFast: true, ResultBuffer: 1})
	if _, ok := l.Take(); ok || l.Ready() {
		t.Error("a new group has a result")
	}
	for range 3 {
		accept(t, &l)
	}
	for i := range 3 {
		l.Finish(group.Result[int]{Value: i, Err: []error{nil, errFirst, errSecond}[i]})
	}
	if l.Err() != errFirst || context.Cause(l.Context()) != errFirst {
		t.Errorf("the first error is %v, the context's cause %v", l.Err(), context.Cause(l.Context()))
	}
	l.Close()
	for i := range 3 {
		if r := take(t, &l); !l.Ready() || r.Value != i {
			t.Errorf("result %d is %v", i, r)
		}
	}
	if _, ok := l.Take(); ok || !l.Ready() {
		t.Error("a drained group has a result, or no end")
	}
}

// A group settles when it is closed and nothing is in flight, whichever comes last.
func TestLedgerSettles(t *testing.T) {
	idle := group.NewLedger[int](t.Context(), group.Config{})
	idle.Close()
	if !idle.Settled() || !idle.Ready() || idle.Context().Err() == nil {
		t.Error("an idle group does not settle when it is closed")
	}

	busy := group.NewLedger[int](t.Context(), group.Config{})
	accept(t, &busy)
	busy.Close()
	if busy.Settled() || busy.Ready() {
		t.Error("a closed group has settled with a task in flight")
	}
	busy.Finish(group.Result[int]{Value: 7})
	if !busy.Settled() || !busy.Idle() {
		t.Error("a closed group has not settled with its last task")
	}

	open := group.NewLedger[int](t.Context(), group.Config{})
	accept(t, &open)
	open.Finish(group.Result[int]{})
	if open.Settled() || !open.Ready() {
		t.Error("an open group has settled, or has no result")
	}
}
