package workloads

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// taskParfor is a loop whose calls do not depend on each other.
func taskParfor() []Workload {
	return []Workload{
		parfor("", "loops of 1,000 calls of some 18 ns, by task.For in a task: whether a short loop loses by being divided", 1000, 18, false),
		parfor("from=outside", "the same, each loop begun by a goroutine that is not a task", 1000, 18, true),
		parfor("calls=1000000", "loops of 1,000,000 calls of some 2 ns, by task.For in a task: what a call costs", 1_000_000, 1, false),
		parfor("calls=64", "loops of 64 calls of some 28 µs, by task.For in a task: whether all processors are at work to the end", 64, 16_000, false),
	}
}

func parfor(variant, doc string, calls int, rounds uint32, outside bool) Workload {
	ref := func(name, doc string, loop func(p *parforLoops, k int) error) Ref {
		return Ref{Name: name, Doc: doc, Prepare: func(Setting) Run {
			p := newParforLoops(calls, rounds)
			return &parforRun{taskRun{job: func(n int) (int, error) {
				return n, p.each(n, func(k int) error { return loop(p, k) })
			}}, p}
		}}
	}
	return Workload{
		Name:    "parfor",
		Variant: variant,
		Doc:     doc,
		Op:      "a call",
		Checked: "how often each index was done",
		Slicing: Slicing{Unit: calls},
		Prepare: func(st Setting) Run {
			p, ex := newParforLoops(calls, rounds), st.Impl.NewExecutor()
			job := func(n int) (int, error) { return n, demand(ex, p.inTask, n, n) }
			if outside {
				job = func(n int) (int, error) {
					for left := n; left > 0; left -= min(left, calls) {
						k := min(left, calls)
						if err := demand(ex, p.inTask, k, k); err != nil {
							return 0, err
						}
					}
					return n, nil
				}
			}
			return &parforRun{taskRun{job: job, ex: ex}, p}
		},
		Refs: []Ref{
			ref(refErrgroup, "an errgroup of a goroutine for each processor, which take the next index from a counter", (*parforLoops).onErrgroup),
			ref(refGoroutines, "a goroutine for each processor, with an equal part of the indexes", (*parforLoops).onGoroutines),
			ref(refFloor, "a loop, on one goroutine", (*parforLoops).onFloor),
		},
	}
}

// parforLoops is what the loops of a run work on.
type parforLoops struct {
	rounds uint32   // of the filler function, in a call
	sums   []uint32 // of index i, what it was to add as often as it was done
	times  []uint32 // how many loops there were of so many indexes
}

func newParforLoops(calls int, rounds uint32) *parforLoops {
	return &parforLoops{rounds: rounds, sums: make([]uint32, calls), times: make([]uint32, calls+1)}
}

// each has do run loops of n calls together.
func (p *parforLoops) each(n int, do func(k int) error) error {
	for n > 0 {
		k := min(n, len(p.sums))
		if err := do(k); err != nil {
			return err
		}
		p.times[k]++
		n -= k
	}
	return nil
}

// call is what is done of index i.
func (p *parforLoops) call(i int) { p.sums[i] += p.value(i) }

func (p *parforLoops) value(i int) uint32 { return fill(uint32(i), p.rounds) | 1 }

// inTask does n calls in loops.
func (p *parforLoops) inTask(ctx context.Context, n int) (int, error) {
	body := func(_ context.Context, i int) error {
		p.call(i)
		return nil
	}
	return n, p.each(n, func(k int) error { return task.For(ctx, k, body) })
}

func (p *parforLoops) onErrgroup(k int) error {
	var (
		eg   errgroup.Group
		next atomic.Int64
	)
	for range min(k, runtime.GOMAXPROCS(0)) {
		eg.Go(func() error {
			for i := int(next.Add(1)) - 1; i < k; i = int(next.Add(1)) - 1 {
				p.call(i)
			}
			return nil
		})
	}
	return eg.Wait()
}

func (p *parforLoops) onGoroutines(k int) error {
	var wg sync.WaitGroup
	n := min(k, runtime.GOMAXPROCS(0))
	for part := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := part * k / n; i < (part+1)*k/n; i++ {
				p.call(i)
			}
		}()
	}
	wg.Wait()
	return nil
}

func (p *parforLoops) onFloor(k int) error {
	for i := range k {
		p.call(i)
	}
	return nil
}

// parforRun is a taskRun that is checked at its end: sums would take as long as short calls.
type parforRun struct {
	taskRun
	p *parforLoops
}

func (r *parforRun) Check() error {
	var times uint32
	for i := len(r.p.sums) - 1; i >= 0; i-- {
		times += r.p.times[i+1]
		if r.p.sums[i] != times*r.p.value(i) {
			return errors.New("workloads: index " + strconv.Itoa(i) + " of a loop was not done once in each of " + strconv.FormatUint(uint64(times), 10) + " loops")
		}
	}
	return r.taskRun.Check()
}
