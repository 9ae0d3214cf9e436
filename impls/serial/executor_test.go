package serial_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// script is the text of what tasks have done, in order.
type script struct{ strings.Builder }

// letters returns a task that notes each of the letters and yields in between.
func (s *script) letters(text string) func(context.Context) error {
	return func(ctx context.Context) error {
		for i, r := range text {
			if i > 0 {
				if err := task.Yield(ctx); err != nil {
					return err
				}
			}
			s.WriteRune(r)
		}
		return nil
	}
}

func TestYieldTakesTurns(t *testing.T) {
	for _, c := range []struct {
		tasks []string
		want  string
	}{
		{[]string{"AB", "12"}, "A1B2"},
		{[]string{"abc", "1", "xyz"}, "a1xbycz"},
	} {
		x := serial.NewExecutor()
		var s script
		for _, text := range c.tasks {
			task.Start(x, s.letters(text))
		}
		want := len(c.want)
		if n := x.Flush(0); n != want || s.String() != c.want || x.Pending() != 0 {
			t.Errorf("%q: %d steps, %q, want %q; %d pending", c.tasks, n, s.String(), c.want, x.Pending())
		}
	}
}

func TestFlushBudget(t *testing.T) {
	x := serial.NewExecutor()
	var s script
	for range 3 {
		task.Start(x, s.letters(strings.Repeat("x", 1000)))
	}
	for i, c := range []struct{ limit, want int }{{1, 1}, {2, 2}, {0, task.FlushLimit}, {-1, task.FlushLimit}, {1 << 30, 3000 - 3 - 2*task.FlushLimit}, {7, 0}} {
		if n := x.Flush(c.limit); n != c.want {
			t.Errorf("Flush number %d, of %d: %d steps, want %d", i, c.limit, n, c.want)
		}
	}
	task.Start(x, func(context.Context) error {
		if n := x.Flush(5); n != 0 {
			t.Errorf("Flush in a task: %d steps", n)
		}
		return nil
	})
	x.Flush(0)
}

// A task that waits has the awaited one run in its place, at any depth, and goes
// on before those in the queue; one that has begun already keeps its place.
func TestInline(t *testing.T) {
	x := serial.NewExecutor()
	var s script
	var d, b, c *task.Handle
	waits := func(name string, for_ ...**task.Handle) *task.Handle {
		return task.Start(x, func(ctx context.Context) error {
			s.WriteString("(" + name)
			for _, h := range for_ {
				if err := (*h).Wait(ctx); err != nil {
					t.Error(err)
				}
			}
			s.WriteString(")")
			return nil
		})
	}
	waits("a", &b, &c) // a diamond: both wait for d
	task.Start(x, s.letters("123"))
	b = waits("b", &d)
	c = waits("c", &d)
	task.Start(x, s.letters("uvw"))
	d = task.Start(x, s.letters("DEF"))
	x.Flush(0)
	if want := "(a(bD1(cuE2vF)))3w"; s.String() != want {
		t.Errorf("%q, want %q", s.String(), want)
	}
}

// Those who wait for one task go on in the order in which they began to wait.
func TestWaitersInOrder(t *testing.T) {
	x := serial.NewExecutor()
	var s script
	d := task.Start(x, s.letters("DDDD"))
	for _, name := range []string{"a", "b", "c"} {
		task.Start(x, func(ctx context.Context) error {
			err := d.Wait(ctx)
			s.WriteString(name)
			return err
		})
	}
	x.Flush(0)
	if want := "DDDDabc"; s.String() != want {
		t.Errorf("%q, want %q", s.String(), want)
	}
}

func TestCycle(t *testing.T) {
	x := serial.NewExecutor()
	var hs [3]*task.Handle
	for i := range hs {
		hs[i] = task.Start(x, func(ctx context.Context) error { return hs[(i+1)%3].Wait(ctx) })
	}
	self := task.Start(x, func(ctx context.Context) error { return task.Current(ctx).Wait(ctx) })
	x.Flush(0)
	for i, c := range []struct {
		h    *task.Handle
		want []uint64
	}{{hs[2], []uint64{3, 1, 2}}, {hs[0], []uint64{3, 1, 2}}, {self, []uint64{4}}} {
		var cycle *task.CycleError
		if err := c.h.Wait(t.Context()); !errors.As(err, &cycle) || !slices.Equal(cycle.Tasks, c.want) {
			t.Errorf("case %d: %v, want the circle of %v", i, err, c.want)
		}
	}
}

// An awaited task may wait for another task than the one that waits: no circle.
func TestNoCycle(t *testing.T) {
	x := serial.NewExecutor()
	var a, b *task.Handle
	c := task.Start(x, new(script).letters("cc"))
	a = task.Start(x, func(ctx context.Context) error { return c.Wait(ctx) })
	b = task.Start(x, func(ctx context.Context) error { return a.Wait(ctx) })
	if err := b.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

//go:noinline
func logMemory(t *testing.T, waiting int) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d tasks wait: %d bytes of stack and %d of heap for each, %d goroutines",
		waiting, m.StackInuse/uint64(waiting), m.HeapAlloc/uint64(waiting), runtime.NumGoroutine())
	return nil
}

func TestDeepJoins(t *testing.T) {
	depth := 100_000
	if testing.Short() {
		depth = 10_000
	}
	x := serial.NewExecutor()
	var down func(ctx context.Context, n int) (int, error)
	down = func(ctx context.Context, n int) (int, error) {
		if n == 0 {
			return 0, logMemory(t, depth)
		}
		v, err := task.ForkCall(ctx, down, n-1).Value(ctx)
		return v + 1, err
	}
	start := time.Now()
	if v, err := task.Call(x, down, depth).Value(t.Context()); v != depth || err != nil {
		t.Errorf("Value: %v, %v", v, err)
	}
	t.Logf("%v", time.Since(start))

	// All exist before the first one waits.
	fs := make([]*task.Future[int], depth)
	for i := range fs {
		fs[i] = task.Go(x, func(ctx context.Context) (int, error) {
			if i+1 == len(fs) {
				return 1, nil
			}
			v, err := fs[i+1].Value(ctx)
			return v + 1, err
		})
	}
	if v, err := fs[0].Value(t.Context()); v != depth || err != nil {
		t.Errorf("Value: %v, %v", v, err)
	}
}

func TestGoexitEndsOneTask(t *testing.T) {
	x := serial.NewExecutor()
	var s script
	a := task.Start(x, func(ctx context.Context) error {
		b := task.Fork(ctx, func(ctx context.Context) (int, error) {
			defer func() { _ = task.Yield(ctx) }() // even then
			runtime.Goexit()
			return 1, nil
		})
		_, err := b.Value(ctx)
		s.WriteString("a")
		return err
	})
	c := task.Start(x, s.letters("cc"))
	if err := a.Wait(t.Context()); !errors.Is(err, task.ErrGoexit) {
		t.Errorf("Wait: %v", err)
	}
	if err := c.Wait(t.Context()); err != nil || s.String() != "cac" {
		t.Errorf("%v, %q", err, s.String())
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := serial.NewExecutor()
		ran := false
		a := task.Start(x, func(context.Context) error { ran = true; return nil })
		done := a.Done()
		if !a.Cancel() || a.Cancel() || x.Pending() != 0 {
			t.Error("a task that had not begun was not canceled once")
		}
		<-done
		if x.Flush(0) != 0 || ran {
			t.Error("a canceled task ran")
		}
		// In progress: those who wait are told at once, and it goes on.
		var s script
		b := task.Start(x, func(ctx context.Context) error {
			defer s.WriteString("b")
			for ctx.Err() == nil {
				_ = task.Yield(ctx)
			}
			return nil
		})
		c := task.Start(x, func(ctx context.Context) error {
			err := b.Wait(ctx)
			s.WriteString("c")
			return err
		})
		task.Start(x, func(context.Context) error { b.Cancel(); return nil })
		if err := c.Wait(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait: %v", err)
		}
		x.Flush(0)
		if s.String() != "cb" || x.Pending() != 0 {
			t.Errorf("%q, %d pending", s.String(), x.Pending())
		}
		// One that waits is woken by its own end.
		gate := task.Start(x, new(script).letters(strings.Repeat("x", 100)))
		d := task.Start(x, func(ctx context.Context) error {
			err := gate.Wait(ctx)
			fmt.Fprintf(&s, " %v after %v", err, gate.Status())
			return err
		})
		x.Flush(3)
		d.Cancel()
		x.Flush(0)
		if s.String() != "cb context canceled after pending" {
			t.Errorf("%q", s.String())
		}
	})
}

// The end of a context that a task waits with is noticed at the next turn, in the
// same place every time.
func TestContextOfATask(t *testing.T) {
	var first string
	for range 20 {
		x := serial.NewExecutor()
		var s script
		slow := task.Start(x, s.letters(strings.Repeat("x", 10)))
		var stop context.CancelFunc
		a := task.Start(x, func(ctx context.Context) error {
			ctx, stop = context.WithCancel(ctx)
			err := slow.Wait(ctx)
			fmt.Fprintf(&s, "(%v)", err)
			return err
		})
		task.Start(x, func(ctx context.Context) error {
			_ = task.Yield(ctx)
			stop()
			return task.Yield(ctx)
		})
		if err := a.Wait(t.Context()); !errors.Is(err, context.Canceled) || slow.Status() != task.Pending {
			t.Errorf("Wait: %v; the awaited task is %v", err, slow.Status())
		}
		x.Flush(0)
		if first == "" {
			first = s.String()
		}
		if s.String() != first || first != "xxx(context canceled)xxxxxxx" {
			t.Errorf("%q, before %q", s.String(), first)
		}
	}
}

// A waiter's context ends its wait and nothing else, also while a task blocks.
func TestContextOfAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := serial.NewExecutor()
		gate := make(chan struct{})
		a := task.Start(x, func(context.Context) error { <-gate; return nil })
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		other := make(chan error)
		go func() { other <- a.Wait(t.Context()) }()
		if err := a.Wait(ctx); err != context.DeadlineExceeded || a.Status() != task.Pending {
			t.Errorf("Wait: %v, %v", err, a.Status())
		}
		close(gate)
		if err := <-other; err != nil {
			t.Errorf("the other one: %v", err)
		}
		if err := a.Wait(ctx); err != nil {
			t.Errorf("Wait of a task that is over, with a context that is: %v", err)
		}
	})
}

// No goroutine is left when no caller waits and no task is in the middle, whether the
// executor is open or closed: a bubble does not end before its goroutines.
func TestNoGoroutineIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := serial.NewExecutor()
		var s script
		for range 30 {
			task.Start(x, s.letters("xyz"))
		}
		x.Flush(30)
		x.Flush(0)
	})
	synctest.Test(t, func(t *testing.T) {
		x := serial.NewExecutor()
		h := task.Start(x, func(ctx context.Context) error {
			_, err := task.Fork(ctx, func(context.Context) (int, error) { return 0, nil }).Value(ctx)
			return err
		})
		g := task.Start(x, func(context.Context) error { runtime.Goexit(); return nil })
		x.Close()
		if err := h.Wait(context.Background()); !errors.Is(err, task.ErrClosed) {
			t.Errorf("a task that an accepted one starts after Close: %v", err)
		}
		if err := g.Wait(context.Background()); !errors.Is(err, task.ErrGoexit) {
			t.Errorf("a task that was accepted before Close: %v", err)
		}
	})
}

// A task that blocks is reported to those who wait outside, and the executor goes
// on when it ends after all.
func TestExecutorStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := serial.NewExecutorWith(serial.ExecutorConfig{StallAfter: time.Second})
		var b *task.Handle
		a := task.Start(x, func(context.Context) error { return b.Wait(context.Background()) }) // not with its own
		b = task.Start(x, func(context.Context) error { return nil })
		var stall *serial.StallError
		if err := a.Wait(t.Context()); !errors.As(err, &stall) || *stall != (serial.StallError{Task: 1, Waiting: 1, After: time.Second}) {
			t.Errorf("Wait: %v", err)
		}
		synctest.Wait() // its own wait has been given up, too
		if err := a.Wait(t.Context()); !errors.As(err, &stall) {
			t.Errorf("Wait: %v", err)
		}
		if err := b.Wait(t.Context()); err != nil {
			t.Errorf("Wait: %v", err)
		}
		// Long is not stalled.
		c := task.Start(x, func(context.Context) error { time.Sleep(time.Hour); return nil })
		if err := c.Wait(t.Context()); err != nil {
			t.Errorf("Wait: %v", err)
		}
		// Nor are many that are short, one after the other; but then it is looked at again.
		for range 5 {
			task.Start(x, func(context.Context) error { time.Sleep(700 * time.Millisecond); return nil })
		}
		gate := make(chan struct{})
		d := task.Start(x, func(context.Context) error { <-gate; return nil })
		e := task.Start(x, func(context.Context) error { return nil })
		if err := e.Wait(t.Context()); !errors.As(err, &stall) || stall.Task != uint64(d.Room().ID) {
			t.Errorf("Wait: %v", err)
		}
		close(gate)
		synctest.Wait()
		if n := x.Flush(0); n != 1 {
			t.Errorf("after the stall: %d steps", n)
		}
	})
}
