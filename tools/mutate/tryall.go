package mutate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/console"
)

// Bounds say how much is done in one go; what is 0 has no bound.
type Bounds struct {
	Time    time.Duration // after which no mutant is begun
	Batch   int           // so many are built into one program; 0 means [defaultBatch]
	Mutants int           // in the file, with those of earlier runs
	Jobs    int           // so many mutants are tried at a time, one at least
}

// TryAll tries those of the mutants that have no result in the file, in their order, adds
// what becomes of them, and says so on w with the time that is left. If ctx ends, it returns at
// once and without an error: those that were being tried are tried again the next time.
func (b *Bench) TryAll(ctx context.Context, w io.Writer, packages []*Package, order []Mutant, file *File, bounds Bounds) error {
	done := file.Latest()
	todo := slices.DeleteFunc(slices.Clone(order), func(m Mutant) bool { _, ok := done[m.ID]; return ok })
	if bounds.Mutants > 0 {
		todo = todo[:min(len(todo), max(0, bounds.Mutants-len(done)))]
	}
	byPath := map[string]*Package{}
	for _, p := range packages {
		byPath[p.Path] = p
	}
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // guards tried and w
	tried := 0
	try := func(m Mutant) error {
		r, err := b.Try(ctx, byPath[m.Package], m)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		tried++
		rest := left(bounds.Time, time.Since(began), tried, len(todo))
		fmt.Fprintf(w, "%d of %d, %v left: %s: %s\n", len(done)+tried, len(done)+len(todo), rest, r.Verdict, r.ID)
		return file.Add(r)
	}

	over := func() bool { return ctx.Err() != nil || bounds.Time > 0 && time.Since(began) > bounds.Time }
	defer b.Unweave()
	for batch := range slices.Chunk(todo, cmp.Or(bounds.Batch, defaultBatch)) {
		if over() {
			break
		}
		if err := b.Weave(ctx, byPath, batch); err != nil && ctx.Err() == nil {
			return err
		}
		each(batch, max(1, bounds.Jobs), func(m Mutant) {
			if over() {
				return
			}
			if err := try(m); err != nil {
				cancel(err)
			}
		})
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// defaultBatch is how many mutants are built into one program: enough for its build to be a small
// part of the time, and few enough for a program of some megabytes more.
const defaultBatch = 400

// each calls f for each mutant, so many at a time, and returns when all are done.
func each(ms []Mutant, jobs int, f func(Mutant)) {
	work := make(chan Mutant)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for m := range work {
				f(m)
			}
		})
	}
	for _, m := range ms {
		work <- m
	}
	close(work)
	workers.Wait()
}

// left returns how long a run will go on, if its mutants take as long as they did so far.
func left(budget, spent time.Duration, tried, total int) time.Duration {
	rest := time.Duration(float64(spent) / float64(tried) * float64(total-tried))
	if budget > 0 {
		rest = min(rest, max(0, budget-spent))
	}
	return console.Rough(rest)
}
