package group_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/dynolab/dyno/group"
)

var (
	errFirst  = errors.New("the first")
	errSecond = errors.New("the second")
)

// The first error is what Wait answers, whatever comes later; it ends the context
// of a group that fails fast, and no other's.
func TestOutcomeFirstError(t *testing.T) {
	for _, failFast := range []bool{false, true} {
		o := group.NewOutcome(t.Context(), group.Config{FailFast: failFast})
		o.Complete(nil)
		if o.Err() != nil || o.Context().Err() != nil {
			t.Errorf("after a success Err is %v", o.Err())
		}
		o.Complete(errFirst)
		o.Complete(errSecond)
		o.Cancel(errSecond)
		o.Settle()
		if o.Err() != errFirst {
			t.Errorf("Err is %v, want the first", o.Err())
		}
		want := errSecond
		if failFast {
			want = errFirst
		}
		if got := context.Cause(o.Context()); got != want {
			t.Errorf("failing fast %v: the context ended because of %v, want %v", failFast, got, want)
		}
	}
}

// TestOutcomeAllErrors: who asks for all errors gets them in the order of completion, each time.
func TestOutcomeAllErrors(t *testing.T) {
	for _, all := range []bool{false, true} {
		o := group.NewOutcome(t.Context(), group.Resolve(group.WithAllErrors(all)))
		o.Complete(errFirst)
		o.Complete(nil)
		o.Complete(errSecond)
		o.Settle()
		want := errFirst.Error()
		if all {
			want += "\n" + errSecond.Error()
		}
		for range 2 {
			if got := o.Err(); got.Error() != want || !errors.Is(got, errFirst) || errors.Is(got, errSecond) != all {
				t.Errorf("all errors %t: %q, want %q", all, got, want)
			}
		}
	}
}

// Without an error of a task Wait answers why the context ended, as long as the
// group has not settled, and from then on what was true then.
func TestOutcomeContext(t *testing.T) {
	var none context.Context // nil is part of the contract
	o := group.NewOutcome(none, group.Config{})
	o.Settle()
	if !o.Settled() || o.Err() != nil || o.Context().Err() == nil {
		t.Errorf("a group that has settled well has the error %v, its context %v", o.Err(), o.Context().Err())
	}
	o.Cancel(errSecond)
	o.Settle()
	if o.Err() != nil {
		t.Errorf("a Cancel and a Settle that came too late made it %v", o.Err())
	}

	o = group.NewOutcome(t.Context(), group.Config{})
	o.Cancel(nil)
	if o.Settled() || o.Err() != context.Canceled {
		t.Errorf("after Cancel(nil) Err is %v", o.Err())
	}
	o.Settle()
	if o.Err() != context.Canceled {
		t.Errorf("after Cancel(nil) and Settle Err is %v", o.Err())
	}
}

// Call makes a result of whatever a task does, but for a Goexit and, if it is not
// to recover it, a panic.
func TestCall(t *testing.T) {
	ctx := t.Context()
	r := group.Call(ctx, func(c context.Context) (int, error) { return 7, errFirst }, true)
	if r.Value != 7 || r.Err != errFirst {
		t.Errorf("Call gave %v", r)
	}
	r = group.Call(ctx, func(context.Context) (int, error) { panic(errFirst) }, true)
	if p := new(group.PanicError); !errors.As(r.Err, &p) || p.Value != errFirst {
		t.Errorf("of a panic Call made %v", r.Err)
	}
	func() {
		defer func() {
			if got := recover(); got != errFirst {
				t.Errorf("recovered %v, want the panic to come through", got)
			}
		}()
		group.Call(ctx, func(context.Context) (int, error) { panic(errFirst) }, false)
	}()
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- !returned }()
		group.Call(ctx, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, true)
		returned = true
	}()
	if !<-ended {
		t.Error("a Goexit was swallowed")
	}
}

// foreign is a context of a type that package context does not know, which counts what is
// asked of it.
type foreign struct {
	context.Context
	asked *int
}

func (f foreign) Done() <-chan struct{} { *f.asked++; return f.Context.Done() }
func (f foreign) Err() error            { *f.asked++; return f.Context.Err() }
func (f foreign) Value(key any) any     { *f.asked++; return f.Context.Value(key) }

// What an implementation calls with its lock held asks nothing of the context that the
// group was made with; the end of that one and its values reach the tasks all the same.
func TestOutcomeRunsNoForeignCode(t *testing.T) {
	type key struct{}
	for name, call := range map[string]func(o *group.Outcome){
		"Settle":                func(o *group.Outcome) { o.Settle() },
		"Complete":              func(o *group.Outcome) { o.Complete(errFirst) },
		"Cancel":                func(o *group.Outcome) { o.Cancel(errFirst) },
		"Err":                   func(o *group.Outcome) { _ = o.Err() },
		"Err of what has ended": func(o *group.Outcome) { o.Cancel(nil); _ = o.Err() },
	} {
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, name))
		asked := 0
		o := group.NewOutcome(foreign{ctx, &asked}, group.Config{FailFast: true})
		if got := o.Context().Value(key{}); got != name {
			t.Errorf("a task finds the value %v, want %q", got, name)
		}
		before := asked
		call(&o)
		if asked != before {
			t.Errorf("%s asked something of the context %d times", name, asked-before)
		}
		other := group.NewOutcome(foreign{ctx, &asked}, group.Config{})
		cancel(errSecond)
		if other.Err() != errSecond {
			t.Errorf("the context has ended, and Err is %v", other.Err())
		}
	}
}

// A context that has no end is asked by those who want a value, and by them alone; any
// number of tasks may do so at once.
func TestOutcomeOfEndlessContext(t *testing.T) {
	asked := 0
	o := group.NewOutcome(foreign{context.Background(), &asked}, group.Config{})
	before := asked
	for range 2 {
		o.Context().Value(t)
	}
	if asked != before+2 {
		t.Errorf("of two questions %d were passed on", asked-before)
	}
}

// A group that has settled is forgotten by the context that it was made with, however long
// that goes on.
func TestSettledOutcomeIsForgotten(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	settled := func() weak.Pointer[[64]*int] {
		held := new([64]*int)
		o := group.NewOutcome(context.WithValue(ctx, t, held), group.Config{})
		o.Settle()
		return weak.Make(held)
	}()
	for range 10 {
		if runtime.GC(); settled.Value() == nil {
			return
		}
	}
	t.Error("a context keeps the groups that were made with it and have settled")
}
