package conformance

import (
	"context"
	"math/rand/v2"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
)

// Everything at once.
var stormClauses = []Clause{
	{
		Name: "group/everything-at-once", Rule: "G2", Kind: Stochastic,
		Why:   "whatever is called at the same time: accepted tasks run once and yield one result, refused ones never run, and all calls return",
		Check: atRandom(storm),
	},
}

// storm lets goroutines submit, consume, give up, wait, cancel and close at
// the same time, and then accounts for every task.
func storm(e *Env, rng *rand.Rand) {
	const submitters, each, consumers = 3, 16, 3
	limit, failFast := rng.IntN(4), rng.IntN(2) == 0
	closeAfter, cancelAfter := rng.IntN(submitters*each*2), rng.IntN(submitters*each*3)
	p := e.open(group.WithMaxConcurrency(limit), group.WithFailFast(failFast), group.WithResultBuffer(rng.IntN(8)))

	var runs, results [submitters * each]atomic.Int32
	var accepted [submitters * each]bool // each written by one submitter, read after it has returned
	var submitted atomic.Int32
	var firstErr atomic.Pointer[error] // of the first failed result that was taken

	var producers [submitters]*call[error]
	for s := range producers {
		seed := rng.Uint64()
		producers[s] = start(e, "a loop of Go", func() error {
			rng := rand.New(rand.NewPCG(seed, 1))
			for i := s * each; i < (s+1)*each; i++ {
				kind := rng.IntN(10)
				err := p.g.Go(func(ctx context.Context) (int, error) {
					runs[i].Add(1)
					switch {
					case kind == 0:
						return i, errA
					case kind < 3:
						yield()
					}
					return i, nil
				})
				switch err {
				case nil:
					accepted[i] = true
				case group.ErrGroupClosed:
				default:
					return err
				}
				if n := int(submitted.Add(1)); n == closeAfter {
					p.g.Close()
				} else if n == cancelAfter {
					p.g.Cancel(errB)
				}
			}
			return nil
		})
	}
	var takers [consumers]*call[error]
	for c := range takers {
		tries := rng.IntN(2 * each)
		takers[c] = start(e, "a loop of Next", func() error {
			for try := 0; ; try++ {
				ctx, cancel := context.WithCancel(context.Background())
				if try < tries { // the impatient phase
					go func() {
						yield()
						cancel()
					}()
				}
				r, ok, err := p.g.Next(ctx)
				cancel()
				switch {
				case ok:
					results[r.Value].Add(1)
					if r.Err != nil {
						firstErr.CompareAndSwap(nil, &r.Err)
					}
				case err == nil:
					return nil
				case err != context.Canceled:
					return err
				}
			}
		})
	}
	waiter := start(e, "Wait", func() error {
		for range each {
			_ = p.g.Wait()
			yield()
		}
		return nil
	})
	for _, c := range producers {
		e.same("what a submitter saw", c.await(), nil)
	}
	p.close()
	for _, c := range takers {
		e.same("what a consumer saw", c.await(), nil)
	}
	waiter.await()
	answer := p.wait().get()
	p.drained()
	for i := range runs {
		want := int32(0)
		if accepted[i] {
			want = 1
		}
		e.require(runs[i].Load() == want && results[i].Load() == want,
			"task ", i, " (accepted: ", accepted[i], ") ran ", int(runs[i].Load()), " times and yielded ", int(results[i].Load()), " results")
	}
	if err := firstErr.Load(); err != nil {
		e.same("what Wait returned", answer, *err)
	} else {
		e.require(answer == nil || answer == errB, "Wait returned ", answer, " although no task failed")
	}
	e.same("what Wait returned the second time", p.wait().get(), answer)
}
