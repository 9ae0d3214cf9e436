package typed

import (
	"errors"
	"testing"

	"github.com/dynolab/dyno/actor"
)

func check[M any](t *testing.T, name string, want bool) {
	t.Helper()
	if got := bare[M](); got != want {
		t.Errorf("bare for %s = %v", name, got)
	}
	p := poolOf[M]()
	if (p == nil) != want || poolOf[M]() != p {
		t.Errorf("the pool for %s is %p and then %p", name, p, poolOf[M]())
	}
}

// What needs no box has none.
func TestBare(t *testing.T) {
	check[*int](t, "*int", true)
	check[map[int]int](t, "a map", true)
	check[chan int](t, "a channel", true)
	check[func()](t, "a function", true)
	check[any](t, "any", true)
	check[error](t, "error", true)
	check[struct{}](t, "struct{}", true)
	check[struct{ p *int }](t, "a struct of a pointer", true)
	check[int](t, "int", false)
	check[uintptr](t, "uintptr", false)
	check[string](t, "string", false)
	check[[]int](t, "[]int", false)
	check[struct{ p, q *int }](t, "a struct of two pointers", false)
	check[[3]int](t, "[3]int", false)

	for _, f := range []func(){
		func() { bareAllocates(t, new(int)) },
		func() { bareAllocates(t, func() {}) },
		func() { bareAllocates(t, struct{ p *int }{new(int)}) },
		func() { bareAllocates(t, error(actor.ErrFull)) },
	} {
		f()
	}
}

var sink any

func bareAllocates[M any](t *testing.T, m M) {
	t.Helper()
	if n := testing.AllocsPerRun(100, func() { sink = m }); n != 0 {
		t.Errorf("a %T as an any is allocated", m)
	}
}

// A box that is back is not given back again, and keeps nothing alive.
func TestFree(t *testing.T) {
	p := poolOf[string]()
	b := &box[string]{"x", p}
	b.free()
	if b.msg != "" || b.pool != nil {
		t.Errorf("a box in the pool holds %q", b.msg)
	}
	defer func() {
		if recover() == nil {
			t.Error("a box was given back twice")
		}
	}()
	b.free()
}

// A box stays its owner's when the behaviour has failed: the failure has it.
func TestFailedMessagesKeepTheirBox(t *testing.T) {
	err := errors.New("test")
	p := poolOf[string]()
	for _, f := range []Behavior[string]{
		func(*Context[string], string) error { return err },
		func(*Context[string], string) error { panic(err) },
	} {
		b := &box[string]{"x", p}
		func() {
			defer func() { _ = recover() }()
			if receive[string](nil, b, f) != err {
				t.Error("the error is lost")
			}
		}()
		if b.pool != p || b.Unbox() != "x" {
			t.Errorf("the box of a failed message is free: %+v", b)
		}
	}
	b := &box[string]{"x", p}
	if err := receive[string](nil, b, Behavior[string](func(*Context[string], string) error { return nil })); err != nil || b.pool != nil {
		t.Errorf("the box of a handled message is not free: %v", err)
	}
	b = &box[string]{"x", p}
	if err := b.sent(nil); err != nil || b.pool != p {
		t.Errorf("a box that was sent is free: %v", err)
	}
	back := &actor.SendError{Msg: b, Reason: actor.ErrFull}
	if err := b.sent(back); err != error(back) || back.Msg != "x" || b.pool != nil {
		t.Errorf("a box that came back is not free: %v, %v", err, back.Msg)
	}
}
