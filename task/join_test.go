package task

import (
	"context"
	"sync/atomic"
	"testing"
)

// lender is straight, and has a goroutine of its own run each part if it takes them.
type lender struct {
	straight
	takes  bool
	offers atomic.Int32
	open   []*Handle // that it has not taken, and that were not withdrawn
}

func (x *lender) Offer(part, _ *Handle) {
	x.offers.Add(1)
	if !x.takes {
		x.open = append(x.open, part)
		return
	}
	over := make(chan struct{})
	part.Room().Own = over
	go func() {
		defer close(over)
		s := Failed // unless Run returns
		defer func() { part.Room().Word.Store(uint32(s)) }()
		s = part.Run()
	}()
}

func (x *lender) Withdraw(part, _ *Handle) bool {
	if x.takes {
		return false
	}
	last := len(x.open) - 1
	if last < 0 || x.open[last] != part {
		panic("withdrawn is not what was offered last")
	}
	x.open = x.open[:last]
	return true
}

func (x *lender) Wait(ctx context.Context, h, from *Handle) error {
	if over, ok := h.Room().Own.(chan struct{}); ok {
		<-over
		return nil
	}
	return x.straight.Wait(ctx, h, from)
}

func fibonacci(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return 1, nil
	}
	x, y, err := Join(ctx, fibonacci, n-1, n-2)
	return x + y, err
}

// Join gives the values of its parts whether others take them, the executor takes them back, or
// it knows nothing of parts.
func TestJoin(t *testing.T) {
	taking, keeping := &lender{takes: true}, &lender{}
	for name, x := range map[string]Executor{"taken": taking, "withdrawn": keeping, "started": new(straight)} {
		if v, err := Call(x, fibonacci, 10).Value(nil); v != 89 || err != nil {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	if a, b := taking.offers.Load(), keeping.offers.Load(); a != 88 || b != 88 {
		t.Errorf("%d and %d parts were offered, want 88", a, b)
	}
}

// A part that was withdrawn is used again, at each depth.
func TestJoinAllocatesOnce(t *testing.T) {
	f := Go(&lender{}, func(ctx context.Context) (int, error) {
		var ctxs context.Context
		_, _, err := Join(ctx, func(ctx context.Context, _ int) (int, error) {
			ctxs = ctx
			return fibonacci(ctx, 10)
		}, 0, 0)
		if n := testing.AllocsPerRun(10, func() { _, _ = fibonacci(ctxs, 10) }); n != 0 {
			t.Errorf("%v allocations in 88 calls of Join", n)
		}
		return 0, err
	})
	if _, err := f.Value(nil); err != nil {
		t.Error(err)
	}
}

// The executor learns what is in progress on a goroutine, the task or a part that was taken;
// users see the task. A wait with a part's context may end before either.
func TestPartsContext(t *testing.T) {
	type key struct{}
	for _, takes := range []bool{false, true} {
		f := Go(&lender{takes: takes}, func(ctx context.Context) (int, error) {
			self := Current(ctx)
			_, _, err := Join(ctx, func(ctx context.Context, i int) (int, error) {
				taken := takes && i == 1
				for _, made := range []bool{false, true} {
					ctx := ctx
					if made {
						ctx = context.WithValue(ctx, key{}, 1)
					}
					at, of := owner(ctx)
					if own := Own(ctx, at); own != (!made && !taken) {
						t.Errorf("part %d, taken %v, another context %v: that a wait ends with what is in progress only is %v", i, taken, made, own)
					}
					if of != self || (at == self) == taken {
						t.Errorf("part %d, taken %v: in progress is the task %v, and it is of the task %v", i, taken, at == self, of == self)
					}
				}
				return 0, nil
			}, 0, 1)
			return 0, err
		})
		if _, err := f.Value(nil); err != nil {
			t.Error(err)
		}
	}
}

// What is offered is withdrawn once, last first, also by a panic that passes calls which have had the
// same piece of memory one after the other.
func TestPanicWithdrawsOnce(t *testing.T) {
	x := new(lender)
	var fall func(ctx context.Context, n int) (int, error)
	fall = func(ctx context.Context, n int) (int, error) {
		if n == 0 {
			panic("oh")
		}
		if n%2 == 0 {
			return 0, nil // the first part: the second one has its place
		}
		_, _, err := Join(ctx, fall, n-1, max(0, n-2))
		return 0, err
	}
	_, err := Call(x, fall, 9).Value(nil)
	if err == nil || err.Error() != "task: the task panicked: oh" || len(x.open) != 0 {
		t.Errorf("%v, and %d parts are still offered", err, len(x.open))
	}
}
