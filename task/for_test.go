package task

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
)

// inLoop calls do in a task of x.
func inLoop(t *testing.T, x Executor, do func(ctx context.Context)) {
	t.Helper()
	if _, err := Go(x, func(ctx context.Context) (int, error) { do(ctx); return 0, nil }).Value(nil); err != nil {
		t.Error(err)
	}
}

// For does each index once, whether others take what is offered or not, and Map has the values in
// their order.
func TestFor(t *testing.T) {
	for name, x := range map[string]Executor{"taken": &lender{takes: true}, "withdrawn": &lender{}, "started": new(straight)} {
		for _, n := range []int{-1, 0, 1, 2, 3, 100, 1000} {
			inLoop(t, x, func(ctx context.Context) {
				times := make([]atomic.Int32, max(0, n))
				if err := For(ctx, n, func(_ context.Context, i int) error { times[i].Add(1); return nil }); err != nil {
					t.Errorf("%s: %d indexes: %v", name, n, err)
				}
				for i := range times {
					if got := times[i].Load(); got != 1 {
						t.Errorf("%s: index %d of %d was done %d times", name, i, n, got)
					}
				}
				values, err := Map(ctx, make([]string, max(0, n)), func(context.Context, string) (int, error) { return n, nil })
				if err != nil || len(values) != max(0, n) || slices.ContainsFunc(values, func(v int) bool { return v != n }) {
					t.Errorf("%s: Map of %d: %v, %v", name, n, values, err)
				}
			})
		}
	}
}

// What no worker wants is divided once for each halving, and costs as many allocations for ten
// indexes as for a hundred thousand; what others take is divided for them.
func TestForDividesOnDemand(t *testing.T) {
	keeping := &lender{}
	nothing := func(context.Context, int) error { return nil }
	inLoop(t, keeping, func(ctx context.Context) {
		if err := For(ctx, 1<<10, nothing); err != nil || keeping.offers.Load() != 10 {
			t.Errorf("%d parts of 1,024 indexes were offered, want 10; %v", keeping.offers.Load(), err)
		}
		few := testing.AllocsPerRun(10, func() { _ = For(ctx, 10, nothing) })
		many := testing.AllocsPerRun(10, func() { _ = For(ctx, 100_000, nothing) })
		if few != many {
			t.Errorf("%v allocations for 10 indexes, %v for 100,000", few, many)
		}
	})
	// One whose parts are begun at once goes on dividing, to the last index.
	taking := &lender{takes: true}
	inLoop(t, taking, func(ctx context.Context) {
		err := For(ctx, 8, func(ctx context.Context, i int) error {
			for i == 0 && taking.offers.Load() < 3 { // until the other half has divided its own
			}
			return nil
		})
		if got := taking.offers.Load(); err != nil || got < 3 || got > 7 {
			t.Errorf("%d parts of 8 indexes were offered; %v", got, err)
		}
	})
}

// The first error ends the loop: of those that fail that of the least index.
func TestForError(t *testing.T) {
	for name, x := range map[string]Executor{"taken": &lender{takes: true}, "withdrawn": &lender{}, "started": new(straight)} {
		inLoop(t, x, func(ctx context.Context) {
			var calls atomic.Int32
			err := For(ctx, 100_000, func(_ context.Context, i int) error {
				calls.Add(1)
				return errors.New(strconv.Itoa(i))
			})
			// Each goroutine that was at it has failed once.
			if n := calls.Load(); err == nil || n > 100 || name != "taken" && err.Error() != "0" {
				t.Errorf("%s: %v after %d calls", name, err, n)
			}
			if values, err := Map(ctx, []int{1, 2}, func(_ context.Context, i int) (int, error) { return i, errors.New("no") }); values != nil || err == nil {
				t.Errorf("%s: Map returned %v, %v", name, values, err)
			}
		})
	}
	inLoop(t, new(straight), func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		calls := 0
		err := For(ctx, 1000, func(context.Context, int) error { calls++; stop(); return nil })
		if !errors.Is(err, context.Canceled) || calls != 1 {
			t.Errorf("a context that ends: %v after %d calls", err, calls)
		}
	})
	if err := For(context.Background(), 1, func(context.Context, int) error { t.Error("called"); return nil }); err != ErrOutside {
		t.Errorf("outside: %v", err)
	}
}

// A panic is one of For, and ends the loop for all.
func TestForPanics(t *testing.T) {
	for name, x := range map[string]Executor{"taken": &lender{takes: true}, "withdrawn": &lender{}, "started": new(straight)} {
		for _, at := range []int{0, 700} {
			inLoop(t, x, func(ctx context.Context) {
				var after atomic.Int32
				func() {
					defer func() {
						if v := recover(); v != "oh" {
							t.Errorf("%s: recovered %v", name, v)
						}
					}()
					_ = For(ctx, 1000, func(_ context.Context, i int) error {
						if i == at {
							panic("oh")
						}
						after.Add(1)
						return nil
					})
				}()
				if after.Load() == 999 && name != "taken" {
					t.Errorf("%s: all others were called although %d panics", name, at)
				}
			})
		}
	}
}

// ForSeq takes elements in growing batches, does each once, and takes no more after an error.
func TestForSeq(t *testing.T) {
	for name, x := range map[string]Executor{"taken": &lender{takes: true}, "withdrawn": &lender{}, "started": new(straight)} {
		for _, n := range []int{0, 1, 2, 3, 100, 5000} {
			inLoop(t, x, func(ctx context.Context) {
				times := make([]atomic.Int32, n)
				err := ForSeq(ctx, indexesOf(n, nil), func(_ context.Context, i int) error { times[i].Add(1); return nil })
				if err != nil || slices.ContainsFunc(slices.Collect(indexesOf(n, nil)), func(i int) bool { return times[i].Load() != 1 }) {
					t.Errorf("%s: of %d elements some were not done once; %v", name, n, err)
				}
			})
		}
		inLoop(t, x, func(ctx context.Context) {
			var took int
			no := errors.New("no")
			err := ForSeq(ctx, indexesOf(5000, &took), func(_ context.Context, i int) error {
				if i == 10 {
					return no
				}
				return nil
			})
			if err != no || took != 1+2+4+8 {
				t.Errorf("%s: %v after %d elements were taken, want those up to the batch that has failed", name, err, took)
			}
		})
	}
	if err := ForSeq(context.Background(), indexesOf(1, nil), func(context.Context, int) error { return nil }); err != ErrOutside {
		t.Errorf("outside: %v", err)
	}
}

// indexesOf returns the numbers below n, and counts those that were taken.
func indexesOf(n int, took *int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if took != nil {
				*took++
			}
			if !yield(i) {
				return
			}
		}
	}
}
