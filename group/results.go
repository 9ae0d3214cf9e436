package group

import (
	"context"
	"iter"
)

// Results returns the results of g in completion order, for use with range:
//
//	for r := range group.Results(ctx, g) {
//		use(r.Value, r.Err)
//	}
//	if err := ctx.Err(); err != nil { … } // ended early?
//
// The sequence ends when the group is drained or when ctx ends, whichever is
// first, as [Group.Next] does; results still queued then stay queued. Leaving
// the loop early takes nothing from the group either: the results not seen can
// be taken later, by another loop or by Next. Several loops over one group
// share its results between them.
//
// It is written over the contract and works with every implementation. A group
// that is never closed is never drained: the loop then waits for more results.
func Results[T any](ctx context.Context, g Group[T]) iter.Seq[Result[T]] {
	return func(yield func(Result[T]) bool) {
		for {
			r, ok, err := g.Next(ctx)
			if err != nil || !ok || !yield(r) {
				return
			}
		}
	}
}
