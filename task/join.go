package task

import (
	"context"
	"runtime"
	"sync/atomic"
)

// Join is how a task divides what it has to do: it calls fn(ctx, a) and fn(ctx, b),
// and returns both values when both are over. Neither call is a task of its own.
// Both belong to the one that calls Join: ctx, [Current] and [Canceled] are that
// one's in both, and a panic or runtime.Goexit of either is one of Join.
//
//	func sum(ctx context.Context, s []int) (int, error) {
//		if len(s) < 1000 {
//			return add(s), nil
//		}
//		a, b, err := task.Join(ctx, sum, s[:len(s)/2], s[len(s)/2:])
//		return a + b, err
//	}
//
// While the first call runs another worker may take the second one, so the two may
// run at once. If none has, it follows on the calling goroutine, and both have cost
// little more than calls. A call may call Join in turn.
//
// Both are called, also if the first returns an error or the task was canceled. The
// error is the first one's, or else the second one's; with an error the values are
// zero. If the first one panics or calls Goexit the second may not be called at all.
// Nothing of the second is in progress when Join is over, but for one case: an
// executor that runs one task at a time returns a [*CycleError] or [ErrDeadlock]
// where the second call can never end, such as one that waits for the task.
//
// ctx is the task's or made of it. With any other Join calls nothing, and the error
// is [ErrOutside]. An executor that was closed goes on with what its tasks divide.
func Join[A, T any](ctx context.Context, fn func(ctx context.Context, arg A) (T, error), a, b A) (x, y T, err error) {
	if fn == nil {
		panic("task: Join: nil function")
	}
	s := sharedOf(ctx)
	if s == nil {
		return x, y, ErrOutside
	}
	p := offer(s, fn, b)
	defer p.abandon(s)
	if x, err = fn(s, a); err == nil {
		y, err = p.end(s)
	} else {
		_, _ = p.end(s)
	}
	if err != nil {
		var zero T
		return zero, zero, err
	}
	return x, y, nil
}

// Joiner is an [Executor] that need not make a task of a call that [Join] offers to
// other workers. Both methods are called on the goroutine of the task from, which is
// in progress.
type Joiner interface {
	Executor

	// Offer has the executor run part with [Handle.Run], as Start does, unless it is
	// withdrawn. From when it begins it is a task; until then the executor may count it
	// as Pending, or not.
	Offer(part, from *Handle)

	// Withdraw takes back what was offered last of all that was not withdrawn, and
	// reports whether it did. Then part has not begun and never does, and the executor
	// has forgotten it. If not, [Join] calls Wait with it.
	Withdraw(part, from *Handle) bool
}

// shared is the context in which a task's calls of [Join] run on one goroutine: the
// task's own, or one made of it, with what the calls need.
type shared struct {
	context.Context

	// of is the task, and at what is in progress on the goroutine: the task too, or a
	// part of it that another worker has taken.
	of, at *Handle

	joiner Joiner // the task's executor, if it is one

	// spare is a *part that was withdrawn, and so is known to no other goroutine, or nil. There is one for
	// each depth to which calls were nested. Like all here it is the goroutine's.
	spare any
}

// Value implements [context.Context].
func (s *shared) Value(key any) any {
	if key == (current{}) {
		return s
	}
	return s.Context.Value(key)
}

// sharedOf returns the context for calls of Join with ctx, or nil if it is not of a task.
func sharedOf(ctx context.Context) *shared {
	if s, ok := ctx.(*shared); ok {
		return s
	}
	at, of := owner(ctx)
	if at == nil {
		return nil
	}
	s := &shared{Context: ctx, of: of, at: at}
	s.joiner, _ = at.ex.(Joiner)
	return s
}

// part is a call that another worker may take. Then it is a task for the executor, but
// for no one else.
type part[A, T any] struct {
	h       Handle
	fn      func(context.Context, A) (T, error)
	arg     A
	pending bool // it was offered, and neither taken back nor waited for

	// begun is set by who has taken the call: the task that offered it learns that others want work.
	begun atomic.Bool

	// Of who has taken it; handed over with the state.
	ctx   shared
	value T
	err   error

	next any // spare, below it
}

// offer has others take fn(ctx, arg).
func offer[A, T any](s *shared, fn func(context.Context, A) (T, error), arg A) *part[A, T] {
	p, ok := s.spare.(*part[A, T])
	if ok {
		s.spare = p.next
	} else {
		p = new(part[A, T])
		p.h.ex, p.h.body = s.at.ex, p
		p.ctx = shared{Context: s.Context, of: s.of, at: &p.h, joiner: s.joiner}
	}
	p.fn, p.arg = fn, arg
	if s.joiner != nil {
		s.joiner.Offer(&p.h, s.at)
		p.pending = true
	} else {
		p.pending = s.at.ex.Start(&p.h, s.at) == nil
	}
	return p
}

// run implements body, for who has taken the call.
func (p *part[A, T]) run(context.Context) error {
	p.begun.Store(true)
	fn, arg := p.take()
	p.value, p.err = fn(&p.ctx, arg)
	return nil
}

// take returns the call, which p then does not hold any more.
func (p *part[A, T]) take() (fn func(context.Context, A) (T, error), arg A) {
	var zero A
	fn, arg = p.fn, p.arg
	p.fn, p.arg = nil, zero
	return fn, arg
}

// taken reports whether another worker has the call, or may have. If not no one ever will.
func (p *part[A, T]) taken(s *shared) bool {
	return p.pending && (s.joiner == nil || !s.joiner.Withdraw(&p.h, s.at))
}

// end runs the call to its end: here, if no goroutine has taken it.
func (p *part[A, T]) end(s *shared) (T, error) {
	taken := p.taken(s)
	p.pending = false
	if taken {
		return p.await(s)
	}
	fn, arg := p.take()
	p.next, s.spare = s.spare, p
	return fn(s, arg)
}

// await waits for a call that was taken, or may be, and ends as it did.
func (p *part[A, T]) await(s *shared) (v T, err error) {
	if err = p.wait(s); err != nil {
		return v, err
	}
	if p.h.ex.Status(&p.h) == Failed {
		if failure := p.h.life.Load().failure; failure.Panic != nil {
			panic(failure.Panic)
		}
		runtime.Goexit()
	}
	return p.value, p.err
}

// wait waits until p is over, also if the task was canceled.
func (p *part[A, T]) wait(s *shared) error {
	if p.h.ex.Wait((*scope)(s.at), &p.h, s.at) == nil {
		return nil
	}
	return p.h.ex.Wait(context.Background(), &p.h, s.at)
}

// abandon sees to it that nothing of p is in progress when Join ends without it.
func (p *part[A, T]) abandon(s *shared) {
	taken := p.taken(s)
	p.pending = false // a call around this one may have had p before, and abandons it once more
	if taken {
		_ = p.wait(s) // a circle ends the wait, too
	}
}
