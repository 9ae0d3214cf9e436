package task

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"
	"weak"
)

// straight runs every task when it is waited for, on the goroutine that waits:
// the least that the contract's own parts need to be tested.
type straight struct {
	refusal
	closed bool
}

func (x *straight) Start(h, _ *Handle) error {
	if x.closed {
		return ErrClosed
	}
	return nil
}

func (x *straight) Status(h *Handle) Status { return Status(h.Room().Word.Load()) }

func (x *straight) Wait(_ context.Context, h, _ *Handle) error {
	if x.Status(h) == Pending {
		s := h.Run()
		h.Room().Word.CompareAndSwap(uint32(Pending), uint32(s))
	}
	return nil
}

func (x *straight) Cancel(h *Handle) bool {
	return h.Room().Word.CompareAndSwap(uint32(Pending), uint32(Cancelled))
}

var errTest = errors.New("of the test")

func TestValue(t *testing.T) {
	x := new(straight)
	runs := 0
	f := Call(x, func(_ context.Context, n int) (int, error) { runs++; return 2 * n, nil }, 21)
	for range 2 {
		if v, err := f.Value(nil); v != 42 || err != nil {
			t.Errorf("Value: %v, %v", v, err)
		}
	}
	if runs != 1 || f.Status() != Resolved {
		t.Errorf("%d runs, state %v", runs, f.Status())
	}
}

func TestErrors(t *testing.T) {
	x := new(straight)
	for _, c := range []struct {
		name string
		f    *Future[int]
		text string
		is   error
	}{
		{"returned", Go(x, func(context.Context) (int, error) { return 1, errTest }), "task: the task failed: of the test", errTest},
		{"returned by a call", Call(x, func(context.Context, int) (int, error) { return 1, errTest }, 1), "task: the task failed: of the test", errTest},
		{"panicked with an error", Go(x, func(context.Context) (int, error) { panic(errTest) }), "task: the task panicked: of the test", errTest},
		{"panicked", Go(x, func(context.Context) (int, error) { panic("ouch") }), "task: the task panicked: ouch", nil},
		{"outside", Fork(context.Background(), func(context.Context) (int, error) { return 1, nil }), "task: the task was not started: task: the context is not that of a task", ErrOutside},
		{"closed", Go(&straight{closed: true}, func(context.Context) (int, error) { return 1, nil }), "task: the task was not started: task: the executor is closed", ErrClosed},
	} {
		v, err := c.f.Value(context.Background())
		var e *Error
		if v != 0 || !errors.As(err, &e) || err.Error() != c.text || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, %v", c.name, v, err)
		}
		if c.f.Status() != Failed {
			t.Errorf("%s: the state is %v", c.name, c.f.Status())
		}
		if strings.Contains(c.text, "not started") {
			ex := c.f.Handle().Executor()
			if h := Start(ex, func(context.Context) error { return nil }); !errors.Is(h.Wait(nil), ErrClosed) || ex.Pending() != 0 || ex.Flush(0) != 0 {
				t.Errorf("%s: its executor is not a closed one without tasks", c.name)
			}
		}
		if c.f.Cancel() {
			t.Errorf("%s: it has failed, and was canceled", c.name)
		}
		if strings.HasPrefix(c.name, "panicked") && !strings.Contains(string(e.Stack), "TestErrors") {
			t.Errorf("%s: the stack is %s", c.name, e.Stack)
		}
		if !closed(c.f.Done()) {
			t.Errorf("%s: it has failed, and Done is not closed", c.name)
		}
		if _, again := c.f.Value(context.Background()); again != err {
			t.Errorf("%s: another error the second time: %v", c.name, again)
		}
	}
}

func TestGoexit(t *testing.T) {
	x := new(straight)
	f := Go(x, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil })
	over := make(chan struct{})
	go func() {
		defer close(over)
		f.h.Run()
		t.Error("Run has returned")
	}()
	<-over
	f.h.Room().Word.Store(uint32(Failed))
	if _, err := f.Value(context.Background()); !errors.Is(err, ErrGoexit) {
		t.Errorf("Value: %v", err)
	}
}

func TestContext(t *testing.T) {
	x := new(straight)
	type key struct{}
	var inside context.Context
	f := Go(x, func(ctx context.Context) (int, error) {
		inside = ctx
		if err := Yield(ctx); err != nil {
			t.Errorf("Yield: %v", err)
		}
		if c, err := Canceled(ctx); c || err != nil {
			t.Errorf("Canceled: %v, %v", c, err)
		}
		derived, cancel := context.WithCancel(context.WithValue(ctx, key{}, 1))
		defer cancel()
		if Current(derived) != Current(ctx) || Current(ctx) == nil {
			t.Error("a context made of the task's is not the task's")
		}
		if d := Detached(derived); Current(d) != nil || d.Value(key{}) != 1 {
			t.Error("a detached context is the task's, or has lost a value")
		}
		if ctx.Err() != nil {
			t.Errorf("the context of a task in progress has ended: %v", ctx.Err())
		}
		if !Own(ctx, Current(ctx)) {
			t.Error("a task's own context is not taken for that")
		}
		for _, other := range []context.Context{derived, Detached(ctx), context.Background()} {
			if Own(other, Current(ctx)) {
				t.Errorf("%v is taken for a task's own context", other)
			}
		}
		goroutines := runtime.NumGoroutine()
		for range 10 {
			_, stop := context.WithCancel(ctx)
			defer stop()
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("ten contexts made of the task's cost %d goroutines", n-goroutines)
		}
		if !Current(ctx).Cancel() {
			t.Error("a task in progress could not be canceled")
		}
		if c, err := Canceled(ctx); !c || err != nil {
			t.Errorf("Canceled: %v, %v", c, err)
		}
		<-derived.Done()
		return 1, nil
	})
	if v, err := f.Value(context.Background()); v != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Value: %v, %v", v, err)
	}
	if f.Cancel() {
		t.Error("a task that was over was canceled")
	}
	if inside.Err() != context.Canceled {
		t.Errorf("the context of a task that is over: %v", inside.Err())
	}
	g := Go(x, func(ctx context.Context) (int, error) { inside = ctx; return 1, nil })
	_, _ = g.Value(context.Background())
	select {
	case <-inside.Done():
	default:
		t.Error("the context of a task that is over has not ended")
	}
	if c, err := Canceled(context.Background()); c || err != ErrOutside {
		t.Errorf("Canceled outside: %v, %v", c, err)
	}
	if err := Yield(context.Background()); err != ErrOutside {
		t.Errorf("Yield outside: %v", err)
	}
}

func TestCycleError(t *testing.T) {
	err := &CycleError{Tasks: []uint64{13, 11}}
	if got, want := err.Error(), "task: a circle of waits: task 13 waits for task 11 waits for task 13"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStatusSaysItsName(t *testing.T) {
	if FlushLimit != 1024 {
		t.Errorf("FlushLimit is %d, and documented to be 1,024", FlushLimit)
	}
	for s, want := range map[Status]string{Pending: "pending", Resolved: "resolved", Failed: "failed", Cancelled: "canceled", Cancelled + 1: "invalid"} {
		if got := s.String(); got != want {
			t.Errorf("Status(%d) is %q, want %q", s, got, want)
		}
	}
}

// TestAFutureIsSmall says what a task takes that returns a number and has one as its
// argument, in eight bytes and words: what Go's collector has to do is in proportion to it.
func TestAFutureIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(call[int, int]{}); n > 8+13*unsafe.Sizeof(uintptr(0)) {
		t.Errorf("a future takes %d bytes", n)
	}
}

func TestNilFunctions(t *testing.T) {
	ctx, x := context.Background(), new(straight)
	for name, start := range map[string]func(){
		"Start":    func() { Start(x, nil) },
		"Go":       func() { Go[int](x, nil) },
		"Call":     func() { Call[int, int](x, nil, 1) },
		"Fork":     func() { Fork[int](ctx, nil) },
		"ForkCall": func() { ForkCall[int, int](ctx, nil, 1) },
	} {
		func() {
			defer func() {
				if got, want := recover(), "task: "+name+": nil function"; got != want {
					t.Errorf("%s panicked with %v, want %q", name, got, want)
				}
			}()
			start()
		}()
	}
}

// A task's context has ended, for Err and Done alike, when the task has been canceled or is
// over, whether it was asked for before that or is asked afterwards; why it failed is kept.
func TestContextEnds(t *testing.T) {
	x := new(straight)
	for _, asked := range []bool{false, true} {
		for _, canceled := range []bool{false, true} {
			var ctx context.Context
			ended := func(when string) {
				t.Helper()
				if err := ctx.Err(); err != context.Canceled {
					t.Errorf("%s, asked before %v: Err is %v", when, asked, err)
				}
				if !closed(ctx.Done()) {
					t.Errorf("%s, asked before %v: Done is not closed", when, asked)
				}
			}
			h := Start(x, func(c context.Context) error {
				ctx = c
				if _, ok := ctx.Deadline(); ok || ctx.Err() != nil {
					t.Errorf("the context of a task that runs has a deadline: %v, and the error %v", ok, ctx.Err())
				}
				if asked {
					ctx.Done()
				}
				if canceled {
					Current(ctx).Cancel()
					ended("canceled")
				}
				return errTest
			})
			if s := h.Run(); s != Failed { // and before the executor makes it that
				t.Errorf("Run returned %v", s)
			}
			ended("over")
			h.Room().Word.Store(uint32(Failed))
			ended("failed")
			if err := h.Wait(nil); !errors.Is(err, errTest) {
				t.Errorf("Wait: %v", err)
			}
		}
	}
}

// All who ask for a task's context get the one that ends with it.
func TestContextIsOne(t *testing.T) {
	const askers = 4
	for range 500 {
		h := Start(new(straight), func(context.Context) error { return nil })
		var ready atomic.Int32
		got := make(chan (<-chan struct{}), askers)
		for range askers {
			go func() {
				for ready.Add(1); ready.Load() < askers; {
					runtime.Gosched()
				}
				got <- (*scope)(h).Done()
			}()
		}
		first := <-got
		for range askers - 1 {
			if <-got != first {
				t.Fatal("two who ask for a task's context get different ones")
			}
		}
		if h.Run(); !closed(first) {
			t.Fatal("the task is over, and its context has not ended")
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A task that is over keeps neither its function nor its argument, however long its future lives.
func TestOverTaskKeepsNothing(t *testing.T) {
	type large [64]*int
	x := new(straight)
	for name, start := range map[string]func(arg *large) *Handle{
		"Start": func(arg *large) *Handle {
			return Start(x, func(context.Context) error { runtime.KeepAlive(arg); return nil })
		},
		"Go": func(arg *large) *Handle {
			return Go(x, func(context.Context) (int, error) { runtime.KeepAlive(arg); return 1, nil }).Handle()
		},
		"Call": func(arg *large) *Handle {
			return Call(x, func(context.Context, *large) (int, error) { return 1, nil }, arg).Handle()
		},
		"the function of Call": func(arg *large) *Handle {
			return Call(x, func(context.Context, int) (int, error) { runtime.KeepAlive(arg); return 1, nil }, 1).Handle()
		},
	} {
		var h *Handle
		held := func() weak.Pointer[large] {
			arg := new(large)
			h = start(arg)
			return weak.Make(arg)
		}()
		runtime.GC()
		if held.Value() == nil {
			t.Errorf("%s: a task that is to run has lost what it needs", name)
		}
		if err := h.Wait(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := 0; held.Value() != nil; n++ {
			if n == 10 {
				t.Errorf("%s: what the task held is kept when it is over", name)
				break
			}
			runtime.GC()
		}
		runtime.KeepAlive(h)
	}
}
