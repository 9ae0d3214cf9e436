package task

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"
)

// For calls body(ctx, i) for each i from 0 to n-1, once, and returns when all calls are over. It is
// the loop of a task, part of which other workers do: like a part of [Join] each call is the
// task's own, as ctx and [Current] say. The order is not said,
// and no call may wait for another one.
//
//	err := task.For(ctx, len(rows), func(ctx context.Context, i int) error {
//		return rows[i].compute()
//	})
//
// How much a worker takes at a time is found out while it runs. The task does the indexes one by
// one, and has the upper half of those that are left for others to take; only when they have taken it
// is the rest divided again. So a loop that no other worker helps with costs little more than one, and one
// whose calls take unequally long is divided where that matters. This is lazy binary splitting
// (Tzannes, Caragea, Barua and Vishkin, PPoPP 2010). An executor that is no [Joiner] cannot say that
// a part is wanted; there a loop is divided into four parts a processor at most.
//
// The first error ends it: no call is begun any more, those in progress go on, and that of the least
// index of those that failed is returned, as it is. If ctx ends, as when the task is canceled, no call
// is begun any more either, and the error is that of ctx. A panic or runtime.Goexit of a call ends
// it too, and is one of For. Nothing of the loop is in progress when For is over, but for the case
// that [Join] has.
//
// ctx is the task's or made of it. With any other For calls nothing, and the error is
// [ErrOutside]. n may be 0 or less: then there is nothing to do.
func For(ctx context.Context, n int, body func(ctx context.Context, i int) error) error {
	if body == nil {
		panic("task: For: nil function")
	}
	s := sharedOf(ctx)
	if s == nil {
		return ErrOutside
	}
	l := &loop{body: body}
	l.part = l.run
	if Own(s, s.of) {
		l.own = s.of
	}
	whole := indexes{0, n, anyParts}
	if s.joiner == nil {
		whole.parts = 4 * runtime.GOMAXPROCS(0)
	}
	if _, err := l.run(s, whole); err != nil {
		return err
	}
	if first := l.first.Load(); first != nil {
		return first.err
	}
	return nil
}

// ForEach is [For] over the elements of s.
func ForEach[A any](ctx context.Context, s []A, fn func(ctx context.Context, arg A) error) error {
	if fn == nil {
		panic("task: ForEach: nil function")
	}
	return For(ctx, len(s), func(ctx context.Context, i int) error { return fn(ctx, s[i]) })
}

// Map returns what fn returns of each element of s, in their order. It is done, and ends, as [For]
// is; with an error there are no values.
func Map[A, T any](ctx context.Context, s []A, fn func(ctx context.Context, arg A) (T, error)) ([]T, error) {
	if fn == nil {
		panic("task: Map: nil function")
	}
	values := make([]T, len(s))
	err := For(ctx, len(s), func(ctx context.Context, i int) (err error) {
		values[i], err = fn(ctx, s[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// ForSeq is [ForEach] over a sequence. It takes elements from seq on the calling goroutine, a batch
// at a time: one, then two, and so on up to 1,024 at once. Between two batches it waits until all
// calls are over, and after an error it takes no more. Who has all elements anyway, or wants values,
// collects them first, for ForEach or [Map].
func ForSeq[A any](ctx context.Context, seq iter.Seq[A], fn func(ctx context.Context, arg A) error) error {
	if seq == nil || fn == nil {
		panic("task: ForSeq: nil function")
	}
	s := sharedOf(ctx)
	if s == nil {
		return ErrOutside
	}
	var batch []A
	size := 1
	for v := range seq {
		if batch = append(batch, v); len(batch) < size {
			continue
		}
		if err := ForEach(s, batch, fn); err != nil {
			return err
		}
		clear(batch)
		batch, size = batch[:0], min(2*size, 1024)
	}
	return ForEach(s, batch, fn)
}

// indexes are those from lo to before hi, which may become so many parts.
type indexes struct{ lo, hi, parts int }

// anyParts is as many as others take.
const anyParts = 1 << 30

// loop is a call of For.
type loop struct {
	body func(context.Context, int) error
	part func(context.Context, indexes) (struct{}, error) // run, made once
	own  *Handle                                          // the task, if the loop's context is its own and not one made of it

	never atomic.Bool // false: of a part beside which nothing was offered

	// first is why it ends early, nil if it does not: of several that fail at once the
	// one with the least index. With it the failed call's error is handed to who returns it.
	first atomic.Pointer[failedCall]
}

type failedCall struct {
	index int
	err   error
}

// run does r, or has others do part of it.
func (l *loop) run(ctx context.Context, r indexes) (none struct{}, err error) {
	s := ctx.(*shared) // as Join's parts get it
	if r.hi-r.lo < 2 || r.parts < 2 {
		l.each(s, r, &l.never)
		return none, nil
	}
	half := indexes{r.lo + (r.hi-r.lo+1)/2, r.hi, r.parts / 2}
	p := offer(s, l.part, half)
	defer p.abandon(s)
	r.hi, r.parts = half.lo, r.parts-half.parts
	if r.lo = l.each(s, r, &p.begun); r.lo < r.hi {
		_, err = l.run(s, r) // which others want more of
	}
	if _, e := p.end(s); err == nil {
		err = e
	}
	return none, err
}

// each does one after the other, until others have begun with what was offered to them beside r, and
// returns the first index that is left. Where the loop ends early none is.
func (l *loop) each(s *shared, r indexes, begun *atomic.Bool) (left int) {
	returned := false
	defer func() {
		if !returned {
			l.fail(r.lo, context.Canceled) // it panics or ends its goroutine, and its error is not asked for
		}
	}()
	left = l.calls(s, r, begun)
	returned = true
	return left
}

func (l *loop) calls(s *shared, r indexes, begun *atomic.Bool) (left int) {
	for i := r.lo; i < r.hi; i++ {
		if begun.Load() {
			return i
		}
		if l.first.Load() != nil {
			break
		}
		// As a rule no caller has asked for the task's context, and Cancel is the first to do so.
		if l.own == nil || l.own.life.Load() != nil {
			if err := s.Err(); err != nil {
				l.fail(i, err)
				break
			}
		}
		if err := l.body(s, i); err != nil {
			l.fail(i, err)
			break
		}
	}
	return r.hi
}

// fail ends the loop because of a call.
func (l *loop) fail(index int, err error) {
	f := &failedCall{index, err}
	for {
		was := l.first.Load()
		if was != nil && was.index <= index || l.first.CompareAndSwap(was, f) {
			return
		}
	}
}
