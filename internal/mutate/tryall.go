package mutate

import (
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

	work := make(chan Mutant)
	var workers sync.WaitGroup
	for range max(1, bounds.Jobs) {
		workers.Go(func() {
			for m := range work {
				if err := try(m); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, m := range todo {
		if ctx.Err() != nil || bounds.Time > 0 && time.Since(began) > bounds.Time {
			break
		}
		select {
		case work <- m:
		case <-ctx.Done():
		}
	}
	close(work)
	workers.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// left returns how long a run will go on, if its mutants take as long as they did so far.
func left(budget, spent time.Duration, tried, total int) time.Duration {
	rest := time.Duration(float64(spent) / float64(tried) * float64(total-tried))
	if budget > 0 {
		rest = min(rest, max(0, budget-spent))
	}
	return console.Rough(rest)
}
