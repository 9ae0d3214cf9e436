package workloads

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

const (
	// flowValues is the number of different tasks of a flow: enough that a
	// result is rarely mistaken for another, few enough that they stay in the
	// cache. It is prime, so that a ring buffer that overwrites itself does not
	// replace a result by one that looks the same.
	flowValues = 1021

	// flowLimit bounds the tasks in flight, as a program does that does not know
	// how many there will be.
	flowLimit = 32

	// flowBuffer is the length of the references' channels, and the room that
	// groups are asked to make. The workers gain from each doubling up to about
	// here, to errgroup it makes no difference.
	flowBuffer = 1024
)

// A flow is a job that two workloads have in common: the caller submits a
// stretch of trivial tasks to one group while others take the results.
// A flow belongs to one Run.
type flow struct {
	size  int // tasks of a group
	tasks []group.TaskFunc[int]
}

func newFlow(size int) *flow {
	f := &flow{size: size, tasks: make([]group.TaskFunc[int], flowValues)}
	for i := range f.tasks {
		f.tasks[i] = func(context.Context) (int, error) { return i, nil }
	}
	return f
}

// checkedFlow is what a flow checks.
const checkedFlow = "as many results as tasks, each kind as often as it was submitted; `Wait`'s answer"

// flowRun does a flow's stretches in one of the ways below.
type flowRun struct {
	*flow
	tallies []*tally // one for each consumer
	stretch func(k int) error

	asked int64
	whole uint32             // how often each task has been asked for …
	part  [flowValues]uint32 // … and how many stretches ended before task i in its last turn
}

func (f *flow) newRun(consumers int) *flowRun {
	r := &flowRun{flow: f, tallies: make([]*tally, consumers)}
	for i := range r.tallies {
		r.tallies[i] = new(tally)
	}
	return r
}

func (r *flowRun) Do(n int) error {
	r.asked += int64(n)
	return inRounds(n, r.size, func(k int) error {
		r.whole += uint32(k / flowValues)
		r.part[k%flowValues]++
		err := r.stretch(k)
		for _, t := range r.tallies {
			if t.err != nil {
				return t.err // what stretch returned follows from it
			}
		}
		return err
	})
}

func (r *flowRun) booked() int64 {
	var sum int64
	for _, t := range r.tallies {
		sum += t.taken
	}
	return sum
}

// Check compares how often each value was seen with how often it should have
// been. The counters may wrap, and are compared all the same.
func (r *flowRun) Check() error {
	if err := countCheck(r.asked, r.booked()); err != nil {
		return err
	}
	want := r.whole
	for _, ended := range r.part[1:] {
		want += ended // every stretch with a last turn has task 0 in it
	}
	for i := range flowValues {
		var got uint32
		for _, t := range r.tallies {
			got += t.counts[i]
		}
		if got != want {
			return errors.New("workloads: the result of task " + strconv.Itoa(i) + " was seen " +
				strconv.FormatUint(uint64(got), 10) + " times instead of " + strconv.FormatUint(uint64(want), 10))
		}
		if i+1 < flowValues {
			want -= r.part[i+1]
		}
	}
	return nil
}

func (r *flowRun) Close() { r.flow, r.tallies, r.stretch = nil, nil, nil }

// A tally counts the results one consumer sees, by value.
type tally struct {
	counts [flowValues]uint32
	taken  int64
	err    error // of the first result that was wrong
}

func (t *tally) enter(r group.Result[int]) bool {
	if uint(r.Value) >= flowValues || r.Err != nil {
		if t.err != nil {
			return false
		}
		t.err = errors.New("workloads: a result that no task returned: value " + strconv.Itoa(r.Value) +
			", error: " + errText(r.Err))
		return false
	}
	t.counts[r.Value]++
	t.taken++
	return true
}

// onGroup runs the flow on the groups of an implementation.
func (f *flow) onGroup(newGroup NewGroup, consumers int) Run {
	r := f.newRun(consumers)
	opts := []group.Option{group.WithMaxConcurrency(flowLimit), group.WithResultBuffer(flowBuffer)}
	var (
		g  group.Group[int]
		wg sync.WaitGroup
	)
	jobs := make([]func(), consumers)
	for i, t := range r.tallies {
		jobs[i] = func() {
			defer wg.Done()
			for {
				res, ok, err := g.Next(context.Background())
				if err != nil {
					t.err = errors.New("workloads: Next returned " + errText(err))
					return
				}
				if !ok || !t.enter(res) {
					return
				}
			}
		}
	}
	r.stretch = func(k int) error {
		g = newGroup(context.Background(), opts...)
		wg.Add(consumers)
		for _, job := range jobs {
			go job()
		}
		var err error
		for i := 0; i < k && err == nil; i++ {
			err = g.Go(f.tasks[i%flowValues])
		}
		g.Close()
		wg.Wait()
		if err != nil {
			return errors.New("workloads: Go returned " + errText(err))
		}
		if err := g.Wait(); err != nil {
			return wrongWait(err, nil)
		}
		return nil
	}
	return r
}

// onErrgroup runs the flow as one writes it with errgroup: the tasks send
// their results into a channel, which the caller closes when all are done.
func (f *flow) onErrgroup(consumers int) Run {
	r := f.newRun(consumers)
	var (
		ctx     context.Context
		results chan group.Result[int]
	)
	jobs := make([]func() error, len(f.tasks))
	for i, task := range f.tasks {
		jobs[i] = func() error {
			v, err := task(ctx)
			results <- group.Result[int]{Value: v, Err: err}
			return err
		}
	}
	consume := r.fromChannel(&results)
	r.stretch = func(k int) error {
		var eg *errgroup.Group
		eg, ctx = errgroup.WithContext(context.Background())
		eg.SetLimit(flowLimit)
		results = make(chan group.Result[int], flowBuffer)
		wait := consume()
		for i := range k {
			eg.Go(jobs[i%flowValues])
		}
		err := eg.Wait()
		close(results)
		wait()
		if err != nil {
			return wrongWait(err, nil)
		}
		return nil
	}
	return r
}

// onWorkers runs the flow as one writes it when the tasks are known to be
// short: as many workers as may run at once, a channel of tasks and one of
// results.
func (f *flow) onWorkers(consumers int) Run {
	r := f.newRun(consumers)
	var (
		ctx     context.Context
		cancel  context.CancelCauseFunc
		tasks   chan group.TaskFunc[int]
		results chan group.Result[int]
		wg      sync.WaitGroup
		once    sync.Once // of the run: an error ends it
		first   error
	)
	work := func() {
		defer wg.Done()
		for task := range tasks {
			v, err := task(ctx)
			if err != nil {
				once.Do(func() {
					first = err
					cancel(err)
				})
			}
			results <- group.Result[int]{Value: v, Err: err}
		}
	}
	consume := r.fromChannel(&results)
	r.stretch = func(k int) error {
		ctx, cancel = context.WithCancelCause(context.Background())
		defer cancel(nil)
		tasks = make(chan group.TaskFunc[int], flowBuffer)
		results = make(chan group.Result[int], flowBuffer)
		wait := consume()
		wg.Add(flowLimit)
		for range flowLimit {
			go work()
		}
		for i := range k {
			tasks <- f.tasks[i%flowValues]
		}
		close(tasks)
		wg.Wait()
		close(results)
		wait()
		if first != nil {
			return wrongWait(first, nil)
		}
		return nil
	}
	return r
}

// fromChannel returns a function that starts the consumers of a stretch on the
// channel that results then holds, and returns one that waits for their end.
func (r *flowRun) fromChannel(results *chan group.Result[int]) (consume func() (wait func())) {
	var wg sync.WaitGroup
	jobs := make([]func(), len(r.tallies))
	for i, t := range r.tallies {
		jobs[i] = func() {
			defer wg.Done()
			for res := range *results {
				t.enter(res) // and go on if it was wrong, or the senders would wait for ever
			}
		}
	}
	return func() func() {
		wg.Add(len(jobs))
		for _, job := range jobs {
			go job()
		}
		return wg.Wait
	}
}

// onFloor runs the flow with a bare worker per processor. Each takes the next
// number from an atomic counter, runs that task and tallies it: there is
// neither producer nor consumer.
func (f *flow) onFloor() Run {
	workers := runtime.GOMAXPROCS(0)
	r := f.newRun(workers)
	var line struct {
		_    [64]byte // every worker writes next; nothing else is on its cache line
		next atomic.Int64
		_    [64]byte
	}
	var (
		n  int64
		wg sync.WaitGroup
	)
	work := func(t *tally) {
		for {
			i := line.next.Add(1) - 1
			if i >= n {
				return
			}
			v, err := f.tasks[i%flowValues](context.Background())
			if !t.enter(group.Result[int]{Value: v, Err: err}) {
				return
			}
		}
	}
	jobs := make([]func(), workers)
	for i, t := range r.tallies {
		jobs[i] = func() {
			defer wg.Done()
			work(t)
		}
	}
	r.stretch = func(k int) error {
		line.next.Store(0)
		n = int64(k)
		wg.Add(workers - 1)
		for _, job := range jobs[1:] {
			go job()
		}
		work(r.tallies[0])
		wg.Wait()
		return nil
	}
	return r
}

// flowRefs returns the references of a flow. Goroutines that collect into a
// slice are not among them: nothing can be taken before all are done.
func flowRefs(size, consumers int) []Ref {
	return []Ref{
		{refErrgroup, "errgroup, its limit, and a buffered channel of results", func(Setting) Run { return newFlow(size).onErrgroup(consumers) }},
		{refWorkers, "32 workers between a buffered channel of tasks and one of results", func(Setting) Run { return newFlow(size).onWorkers(consumers) }},
		{refFloor, "bare workers and an atomic counter: neither producer nor consumers", func(Setting) Run { return newFlow(size).onFloor() }},
	}
}
