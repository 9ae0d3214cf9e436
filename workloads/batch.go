package workloads

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// A batch is a job that four workloads have in common and differ in its parts:
// submit a number of tasks to a new group, close it, take the results in
// completion order until the group is drained, wait. Once through is a round.
//
// It can be run by a dyno group and by each of the references. A batch belongs
// to one Run, since its tasks may keep something between them.
type batch struct {
	tasks    []group.TaskFunc[int] // as many as a round has at most
	want     []int                 // what each returns, see ledger
	limit    int                   // of concurrency; 0 is none
	failFast bool
	atOnce   bool // an implementation's group gets them by one GoAll

	// cause, if not nil, is what the group is cancelled with after the last
	// submission. No task ends before that, and failFast is off.
	cause error

	accepts func(b *ledger, i int, err error) bool // see ledger
	waitErr error                                  // what Wait returns
	after   func() error                           // a last look after Wait; may be nil

	// deal, if not nil, deals the first k tasks to the workers of the floor beforehand.
	deal func(workers []floorWorker, k int)
}

// checkedBatch is what a batch checks.
const checkedBatch = "each task's result, once; `Wait`'s answer"

// settle checks the end of a round: all results booked, Wait's answer.
func (b *batch) settle(k *ledger, waitErr error) error {
	if err := k.shut(); err != nil {
		return err
	}
	if waitErr != b.waitErr {
		return wrongWait(waitErr, b.waitErr)
	}
	if b.after != nil {
		return b.after()
	}
	return nil
}

// batchRun does a batch's rounds in one of the ways below.
type batchRun struct {
	*batch
	ledger        *ledger
	round         func(k int) error
	asked, booked int64
}

func (r *batchRun) Do(n int) error {
	r.asked += int64(n)
	return inRounds(n, len(r.tasks), r.round)
}

func (r *batchRun) Check() error { return countCheck(r.asked, r.booked) }

func (r *batchRun) Close() { r.batch, r.ledger, r.round = nil, nil, nil }

// onGroup runs the batch on the groups of an implementation.
func (b *batch) onGroup(newGroup NewGroup) Run {
	r := &batchRun{batch: b, ledger: newLedger(b, true)}
	opts := []group.Option{group.WithFailFast(b.failFast), group.WithMaxConcurrency(b.limit), nil}
	room := 0
	r.round = func(k int) error {
		if k != room { // rarely: whole rounds are alike
			// The errgroup reference makes its channel this long, too.
			opts[2], room = group.WithResultBuffer(k), k
		}
		g := newGroup(context.Background(), opts...)
		if err := b.submit(g, k); err != nil {
			return abandon(g, errors.New("workloads: Go returned "+errText(err)))
		}
		if b.cause != nil {
			g.Cancel(b.cause)
		}
		g.Close()
		r.ledger.open(k)
		for {
			res, ok, err := g.Next(context.Background())
			if err != nil {
				return abandon(g, errors.New("workloads: Next returned "+errText(err)))
			}
			if !ok {
				break
			}
			if err := r.ledger.enter(res); err != nil {
				return abandon(g, err)
			}
		}
		r.booked += int64(r.ledger.taken)
		return b.settle(r.ledger, g.Wait())
	}
	return r
}

// submit submits the first k tasks.
func (b *batch) submit(g group.Group[int], k int) error {
	if b.atOnce {
		_, err := group.GoAll(g, b.tasks[:k], func(ctx context.Context, t group.TaskFunc[int]) (int, error) { return t(ctx) })
		return err
	}
	for _, t := range b.tasks[:k] {
		if err := g.Go(t); err != nil {
			return err
		}
	}
	return nil
}

// abandon gives up a group that did something wrong, and returns err.
func abandon(g group.Group[int], err error) error {
	g.Close()
	g.Cancel(err)
	return err
}

// onErrgroup runs the batch as one writes it with errgroup: the tasks send
// their results into a channel that has room for all of them, so that none
// waits for the consumer and the consumer, who knows how many there are, needs
// no close.
func (b *batch) onErrgroup() Run {
	r := &batchRun{batch: b, ledger: newLedger(b, true)}
	var ctx context.Context
	var results chan group.Result[int]
	// The closures are made once, as those of the other ways are. What differs
	// between rounds they find in variables, which are set before they run.
	jobs := make([]func() error, len(b.tasks))
	for i, task := range b.tasks {
		jobs[i] = func() error {
			v, err := task(ctx)
			results <- group.Result[int]{Value: v, Err: err}
			return err
		}
	}
	r.round = func(k int) error {
		var (
			eg     *errgroup.Group
			cancel context.CancelCauseFunc
		)
		if b.failFast {
			eg, ctx = errgroup.WithContext(context.Background())
		} else {
			eg = new(errgroup.Group)
			ctx, cancel = context.WithCancelCause(context.Background())
			defer cancel(nil)
		}
		if b.limit > 0 {
			eg.SetLimit(b.limit)
		}
		results = make(chan group.Result[int], k)
		for _, job := range jobs[:k] {
			eg.Go(job)
		}
		if b.cause != nil {
			cancel(b.cause)
		}
		r.ledger.open(k)
		for range k {
			if err := r.ledger.enter(<-results); err != nil {
				return err
			}
		}
		r.booked += int64(r.ledger.taken)
		return b.settle(r.ledger, eg.Wait())
	}
	return r
}

// onGoroutines runs the batch with a goroutine per task, a semaphore where
// there is a limit, a WaitGroup, and the results in a slice behind a mutex:
// they can be looked at only when all tasks are done.
func (b *batch) onGoroutines() Run {
	r := &batchRun{batch: b, ledger: newLedger(b, true)}
	var (
		ctx    context.Context
		cancel context.CancelCauseFunc
		sem    chan struct{}
		wg     sync.WaitGroup

		mu      sync.Mutex
		results []group.Result[int]
		first   error
	)
	jobs := make([]func(), len(b.tasks))
	for i, task := range b.tasks {
		jobs[i] = func() {
			defer func() {
				if sem != nil {
					<-sem
				}
				wg.Done()
			}()
			v, err := task(ctx)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, group.Result[int]{Value: v, Err: err})
			if err != nil && first == nil {
				first = err
				if b.failFast {
					cancel(err)
				}
			}
		}
	}
	r.round = func(k int) error {
		ctx, cancel = context.WithCancelCause(context.Background())
		defer cancel(nil)
		if b.limit > 0 {
			sem = make(chan struct{}, b.limit)
		}
		results, first = make([]group.Result[int], 0, k), nil
		wg.Add(k)
		for _, job := range jobs[:k] {
			if sem != nil {
				sem <- struct{}{}
			}
			go job()
		}
		if b.cause != nil {
			cancel(b.cause)
		}
		wg.Wait()
		r.ledger.open(k)
		for _, res := range results {
			if err := r.ledger.enter(res); err != nil {
				return err
			}
		}
		r.booked += int64(r.ledger.taken)
		return b.settle(r.ledger, first)
	}
	return r
}

// onWorkers runs the batch as one writes it when the tasks are known to be short and none fails: a
// worker for each processor, a channel of tasks and one of results.
func (b *batch) onWorkers() Run {
	r := &batchRun{batch: b, ledger: newLedger(b, true)}
	r.round = func(k int) error {
		tasks, results := make(chan group.TaskFunc[int], flowBuffer), make(chan group.Result[int], k)
		var wg sync.WaitGroup
		work := func() {
			defer wg.Done()
			for task := range tasks {
				v, err := task(context.Background())
				results <- group.Result[int]{Value: v, Err: err}
			}
		}
		workers := runtime.GOMAXPROCS(0)
		wg.Add(workers)
		for range workers {
			go work()
		}
		for _, task := range b.tasks[:k] {
			tasks <- task
		}
		close(tasks)
		r.ledger.open(k)
		for range k {
			if err := r.ledger.enter(<-results); err != nil {
				return err
			}
		}
		wg.Wait()
		r.booked += int64(r.ledger.taken)
		return b.settle(r.ledger, nil)
	}
	return r
}

// onFloor runs the batch with bare workers that take the next task's number
// from an atomic counter, or from what was dealt to them. Nothing is streamed, ordered or recovered: it is what
// tasks, harness and checking cost by themselves. The caller is one of the
// workers; GOMAXPROCS of them are enough unless tasks wait, which workers > 0
// allows for.
func (b *batch) onFloor(workers int) Run {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	f := &floor{batch: b, workers: make([]floorWorker, workers)}
	for i := range f.workers {
		w := &f.workers[i]
		w.ledger = newLedger(b, false)
		w.job = func() {
			defer f.wg.Done()
			w.work(f)
		}
	}
	r := &batchRun{batch: b, ledger: newLedger(b, false)}
	f.deal(len(b.tasks))
	r.round = func(k int) error {
		if k != f.n { // rarely: whole rounds are alike
			f.deal(k)
		}
		var cancel context.CancelCauseFunc
		f.ctx, cancel = context.WithCancelCause(context.Background())
		defer cancel(nil)
		f.cancel = cancel
		f.failed.Store(false)
		f.next.Store(0)
		f.wg.Add(workers - 1)
		for i := 1; i < workers; i++ {
			go f.workers[i].job()
		}
		if b.cause != nil {
			cancel(b.cause)
		}
		f.workers[0].work(f)
		f.wg.Wait()
		r.ledger.open(k)
		for i := range f.workers {
			w := &f.workers[i]
			if w.err != nil {
				return w.err
			}
			if err := r.ledger.absorb(w.ledger); err != nil {
				return err
			}
		}
		r.booked += int64(r.ledger.taken)
		return b.settle(r.ledger, f.first)
	}
	return r
}

// floor is what the workers of onFloor share.
type floor struct {
	*batch
	workers []floorWorker

	// Set by the caller before the workers of a round start.
	n      int
	ctx    context.Context
	cancel context.CancelCauseFunc

	_    [64]byte // next is written by all workers; the fields above are read with every task
	next atomic.Int64
	_    [64]byte

	wg     sync.WaitGroup
	failed atomic.Bool
	first  error // of a round that failed; written by the worker that sets failed, read after wg.Wait
}

// deal prepares rounds of k tasks.
func (f *floor) deal(k int) {
	f.n = k
	if f.batch.deal != nil {
		f.batch.deal(f.workers, k)
	}
}

// floorWorker is one worker. It books on its own, so that workers share
// nothing but the counter.
type floorWorker struct {
	dealt []int // numbers of its tasks; nil if it takes the next one
	pos   int   // in dealt
	load  int64 // what those dealt cost

	ledger *ledger
	err    error
	job    func()
	_      [64]byte // the next worker's line is another processor's
}

// next returns the number of its next task, or f.n.
func (w *floorWorker) next(f *floor) int {
	if w.dealt == nil {
		return int(f.next.Add(1)) - 1
	}
	if w.pos == len(w.dealt) {
		return f.n
	}
	w.pos++
	return w.dealt[w.pos-1]
}

func (w *floorWorker) work(f *floor) {
	w.ledger.open(f.n)
	w.pos = 0
	for {
		i := w.next(f)
		if i >= f.n {
			return
		}
		v, err := f.tasks[i](f.ctx)
		if err != nil && f.failed.CompareAndSwap(false, true) {
			f.first = err
			if f.failFast {
				f.cancel(err)
			}
		}
		if err := w.ledger.enter(group.Result[int]{Value: v, Err: err}); err != nil {
			w.err = err
			return
		}
	}
}

// numbers returns 0 … n-1, the values of tasks that return their number.
func numbers(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// batchRefs returns all references of a batch; floorWorkers is onFloor's.
func batchRefs(newBatch func() *batch, floorWorkers int) []Ref {
	return []Ref{
		refBatchErrgroup(newBatch),
		refBatchGoroutines(newBatch),
		{refFloor, "bare workers and an atomic counter: no order, no stream, no limit to keep", func(Setting) Run { return newBatch().onFloor(floorWorkers) }},
	}
}

func refBatchErrgroup(newBatch func() *batch) Ref {
	return Ref{
		Name:    refErrgroup,
		Doc:     "errgroup, its limit, and a channel with room for every result",
		Prepare: func(Setting) Run { return newBatch().onErrgroup() },
	}
}

func refBatchGoroutines(newBatch func() *batch) Ref {
	return Ref{
		Name:    refGoroutines,
		Doc:     "a goroutine each, a semaphore channel, a WaitGroup, results in a slice behind a mutex",
		Prepare: func(Setting) Run { return newBatch().onGoroutines() },
	}
}
