package group

import (
	"context"
	"math"
)

// GoAll submits fn(ctx, arg) for each element of args, in their order, as calls of [Group.Go]
// would, and returns how many were accepted: all, or with an error fewer. Each is a task
// with a result of its own. It takes less than so many calls, needs no closure for each, and
// returns when the last was accepted: in a group with a limit that is when most are over.
//
//	n, err := group.GoAll(g, urls, fetch)
//
// args must not change until all tasks are over.
func GoAll[A, T any](g Group[T], args []A, fn func(ctx context.Context, arg A) (T, error)) (accepted int, err error) {
	if fn == nil {
		return 0, ErrNilTask
	}
	if b, ok := g.(Bulk[T]); ok && len(args) <= math.MaxInt32 {
		return b.GoBulk(len(args), func(ctx context.Context, i int) (T, error) { return fn(ctx, args[i]) })
	}
	for i, arg := range args {
		if err := g.Go(func(ctx context.Context) (T, error) { return fn(ctx, arg) }); err != nil {
			return i, err
		}
	}
	return len(args), nil
}

// Bulk is a [Group] that accepts many tasks at a time.
type Bulk[T any] interface {
	Group[T]

	// GoBulk submits task(ctx, i) for each i from 0 to n-1, and answers as [GoAll] does, which it
	// is for. n fits in 31 bits.
	GoBulk(n int, task func(ctx context.Context, i int) (T, error)) (accepted int, err error)
}
