package conformtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/group"
)

// bug is one way to be wrong. The empty bug is none: then wrong is right.
type bug string

// is reports whether b is the given bug; each is named where it bites, and in
// the table of wrongs.
func (b bug) is(name bug) bool {
	if !known[name] {
		panic("a bug that is not in the table: " + string(name))
	}
	return b == name
}

// wrong is a task group of one mutex and a channel that is closed at every
// change, with at most one bug.
type wrong struct {
	bug    bug
	cfg    group.Config
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	closed   bool
	settled  bool
	drained  bool // Next has said so
	inflight int
	slots    int // in use
	accepted int
	done     int
	results  []indexed
	firstErr error
	firstIdx int
	cause    error // of the context, fixed when the group settles

	// For some bugs only.
	ghosts   int           // consumers that gave up
	released int           // consumers or Waits that were told the end
	waited   int           // calls of Wait that returned
	last     error         // the last cause given to Cancel
	nilled   bool          // Cancel was called with nil
	kept     []any         // what should have been let go
	one      chan struct{} // held by the one task that may run
	lazy     []func()      // accepted tasks that were not started
}

type indexed struct {
	group.Result[int]
	index int
}

// shared is what groups must not share.
var shared struct {
	sync.Mutex
	err error
}

func newWrong(b bug) func(ctx context.Context, opts ...group.Option) group.Group[int] {
	return func(ctx context.Context, opts ...group.Option) group.Group[int] {
		if ctx == nil && !b.is("nil context crashes") {
			ctx = context.Background()
		}
		if b.is("parent ignored") {
			ctx = context.WithoutCancel(ctx)
		}
		if b.is("parent's values lost") {
			bare, cancel := context.WithCancelCause(context.Background())
			context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
			ctx = bare
		}
		if b.is("first option wins") {
			slices.Reverse(opts)
		}
		g := &wrong{bug: b, cfg: group.Resolve(opts...), changed: make(chan struct{}), one: make(chan struct{}, 1)}
		if b.is("nil option taken for the end") {
			if i := slices.IndexFunc(opts, func(o group.Option) bool { return o == nil }); i >= 0 {
				g.cfg = group.Resolve(opts[:i]...)
			}
		}
		if b.is("fail-fast ignored") {
			g.cfg.FailFast = false
		}
		if b.is("fail-fast always") {
			g.cfg.FailFast = true
		}
		if b.is("fail-fast off by default") && len(opts) == 0 {
			g.cfg.FailFast = false
		}
		if b.is("limit by default") && g.cfg.MaxConcurrency == 0 {
			g.cfg.MaxConcurrency = 16
		}
		g.ctx, g.cancel = context.WithCancelCause(ctx)
		if b.is("goroutine leaked per group") {
			go func() { <-make(chan int) }()
		}
		if b.is("goroutine until closed") {
			stop := make(chan struct{})
			go func() { <-stop }()
			g.kept = append(g.kept, stop)
		}
		if b.is("closed when made under an ended context") && ctx.Err() != nil {
			g.closed = true
		}
		return g
	}
}

// wait waits for a change, or for done; g.mu is held before and after.
func (g *wrong) wait(done <-chan struct{}) {
	changed := g.changed
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-changed:
	case <-done:
	}
}

func (g *wrong) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *wrong) full() bool {
	limit, used := g.cfg.MaxConcurrency, g.slots
	switch {
	case g.bug.is("limit one too high") && limit > 0:
		limit++
	case g.bug.is("limit one too low") && limit > 1:
		limit--
	case g.bug.is("limit ignored"):
		limit = 0
	case g.bug.is("slot kept until the result is taken"):
		used += len(g.results)
	}
	return limit > 0 && used >= limit
}

func (g *wrong) Go(fn group.TaskFunc[int]) error {
	if fn == nil && !g.bug.is("nil task refused late") {
		if !g.bug.is("nil task accepted") {
			return group.ErrNilTask
		}
		fn = func(context.Context) (int, error) { return 0, nil }
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	closed := g.closed && !g.bug.is("task accepted after Close")
	if g.bug.is("Go refused after Cancel") && g.ctx.Err() != nil {
		return group.ErrGroupClosed
	}
	for !closed && g.full() {
		g.wait(nil)
		if g.bug.is("blocked Go released by Cancel") && g.ctx.Err() != nil {
			return context.Cause(g.ctx)
		}
		closed = g.closed && !g.bug.is("blocked Go accepted after Close") && !g.bug.is("blocked Go not released by Close")
	}
	if closed || g.closed && g.bug.is("blocked Go not released by Close") {
		return group.ErrGroupClosed
	}
	if fn == nil {
		return group.ErrNilTask
	}
	index := g.accepted
	g.accepted++
	g.inflight++
	g.slots++
	if g.bug.is("tasks retained") {
		g.kept = append(g.kept, fn)
	}
	if g.bug.is("task run by the caller of Go") {
		g.mu.Unlock()
		g.run(fn, index)
		g.mu.Lock()
		return nil
	}
	if g.bug.is("tasks started by Wait and Next only") {
		g.lazy = append(g.lazy, func() { g.run(fn, index) })
		g.wake()
		return nil
	}
	go g.run(fn, index)
	return nil
}

// start starts the tasks that were not started; g.mu is held.
func (g *wrong) start() {
	for _, f := range g.lazy {
		go f()
	}
	g.lazy = nil
}

func (g *wrong) run(fn group.TaskFunc[int], index int) {
	if g.bug.is("one task at a time") {
		g.one <- struct{}{}
		defer func() { <-g.one }()
	}
	if g.bug.is("tasks run under the lock") {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	if g.ctx.Err() != nil {
		if g.bug.is("task dropped on Cancel") {
			g.complete(nil, index)
			return
		}
		if g.bug.is("task not run after Cancel") {
			g.complete(&group.Result[int]{Err: context.Cause(g.ctx)}, index)
			return
		}
	}
	r := &group.Result[int]{Err: group.ErrGoexit}
	if g.bug.is("Goexit taken for success") {
		r.Err = nil
	}
	exited := true
	defer func() {
		if exited && g.bug.is("Goexit hangs") {
			return
		}
		if exited && g.bug.is("Goexit yields no result") {
			r = nil
		}
		if exited && g.bug.is("Goexit loses the slot") {
			g.mu.Lock()
			g.slots++
			g.mu.Unlock()
		}
		g.complete(r, index)
	}()
	r.Value, r.Err = g.call(fn)
	if g.bug.is("task run twice") {
		r.Value, r.Err = g.call(fn)
	}
	if g.bug.is("value lost beside an error") && r.Err != nil {
		r.Value = 0
	}
	exited = false
}

func (g *wrong) call(fn group.TaskFunc[int]) (v int, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		switch {
		case !g.cfg.PanicToError && !g.bug.is("panic made an error although off"):
			panic(p)
		case g.bug.is("panic taken for success"):
		case g.bug.is("panic without its type"):
			err = fmt.Errorf("panic: %v", p)
		case g.bug.is("panic that does not unwrap"):
			err = &group.PanicError{Value: fmt.Sprint(p), Stack: group.NewPanicError(p).Stack}
		case g.bug.is("panic without stack"):
			err = &group.PanicError{Value: p}
		case g.bug.is("panic keeps a value"):
			v, err = 1, group.NewPanicError(p)
		case g.bug.is("run-time errors let through"):
			if re, ok := p.(runtime.Error); ok && !errors.As(re, new(*runtime.PanicNilError)) {
				err = errors.New(re.Error())
				return
			}
			err = group.NewPanicError(p)
		default:
			err = group.NewPanicError(p)
		}
	}()
	return fn(g.ctx)
}

// complete books a task that is over; r is nil if it has no result.
func (g *wrong) complete(r *group.Result[int], index int) {
	if g.bug.is("result before the cancellation") && r != nil && r.Err != nil && g.cfg.FailFast {
		defer func() {
			runtime.Gosched()
			g.cancel(r.Err)
		}()
	}
	if !g.bug.is("tasks run under the lock") {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	if g.bug.is("result buffer is a bound") && g.cfg.ResultBuffer > 0 {
		for len(g.results) >= g.cfg.ResultBuffer {
			g.wait(nil)
		}
	}
	if r != nil && g.bug.is("task in flight after its result") {
		g.book(*r, index)
		r = nil
		g.wake()
		g.mu.Unlock()
		runtime.Gosched()
		g.mu.Lock()
	}
	g.done++
	g.inflight--
	g.slots--
	if g.bug.is("result queued after Wait") {
		g.wake()
		g.mu.Unlock()
		runtime.Gosched()
		g.mu.Lock()
	}
	if r != nil {
		g.book(*r, index)
	}
	if g.closed && g.inflight == 0 {
		g.settle()
		if g.bug.is("waiters not woken by the last task") {
			return
		}
	}
	g.wake()
}

func (g *wrong) book(r group.Result[int], index int) {
	if r.Err != nil {
		first := g.firstErr == nil
		if first || g.bug.is("second error overwrites the first") || g.bug.is("first error by submission") && index < g.firstIdx {
			g.firstErr, g.firstIdx = r.Err, index
		}
		if g.cfg.FailFast && !g.bug.is("result before the cancellation") {
			switch {
			case g.bug.is("fail-fast without cause"):
				g.cancel(context.Canceled)
			case g.bug.is("fail-fast by the second error"):
				if !first {
					g.cancel(r.Err)
				}
			default:
				g.cancel(r.Err)
			}
		}
		if g.bug.is("errors shared by groups") {
			shared.Lock()
			shared.err = r.Err
			shared.Unlock()
		}
	} else if g.bug.is("fail-fast on success") && g.cfg.FailFast {
		g.cancel(nil)
	}
	if g.bug.is("results retained") {
		g.kept = append(g.kept, r)
	}
	if g.bug.is("cancelled waiter swallows the next result") && g.ghosts > 0 {
		g.ghosts--
		return
	}
	if g.bug.is("results dropped after fail-fast") && g.ctx.Err() != nil && r.Err == nil {
		return
	}
	x := indexed{r, index}
	if g.bug.is("newest result first") {
		g.results = slices.Insert(g.results, 0, x)
		return
	}
	g.results = append(g.results, x)
	switch {
	case g.bug.is("result delivered twice"):
		g.results = append(g.results, x)
	case g.bug.is("results in submission order"):
		slices.SortFunc(g.results, func(a, b indexed) int { return a.index - b.index })
	}
}

func (g *wrong) settle() {
	if g.settled {
		return
	}
	g.settled = true
	g.cause = context.Cause(g.ctx)
	if !g.bug.is("context not released") {
		g.cancel(nil)
	}
}

func (g *wrong) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		if g.bug.is("second Close panics") {
			panic("close of closed group")
		}
		return
	}
	g.closed = true
	switch {
	case g.bug.is("Close cancels"):
		g.cancel(nil)
	case g.bug.is("Close drops queued results"):
		g.results = nil
	case g.bug.is("Close waits"):
		for g.inflight > 0 {
			g.wait(nil)
		}
	case g.bug.is("goroutine until closed"):
		close(g.kept[0].(chan struct{}))
	}
	if g.inflight == 0 {
		g.settle()
		if g.bug.is("waiters not woken by Close") {
			return
		}
	}
	g.wake()
}

func (g *wrong) Next(ctx context.Context) (group.Result[int], bool, error) {
	if ctx == nil && !g.bug.is("nil context crashes Next") {
		ctx = context.Background()
	}
	done := ctx.Done()
	g.mu.Lock()
	defer g.mu.Unlock()
	var zero group.Result[int]
	for waited := false; ; waited = true {
		g.start()
		err := ctx.Err()
		if g.bug.is("cause instead of Err") {
			err = context.Cause(ctx)
		}
		if err != nil && g.bug.is("ended context beats a queued result") {
			return zero, false, err
		}
		if len(g.results) > 0 {
			r := g.results[0].Result
			if !g.bug.is("result looked at, not taken") || len(g.results) > 1 {
				g.results = slices.Delete(g.results, 0, 1)
			}
			if g.bug.is("slot kept until the result is taken") {
				g.wake()
			}
			if g.bug.is("result buffer is a bound") {
				g.wake()
			}
			if err != nil && waited && g.bug.is("answered waiter gives up and loses the result") {
				return zero, false, err
			}
			return r, true, nil
		}
		if err != nil && g.bug.is("ended context beats the drain") {
			return zero, false, err
		}
		drained := g.closed && g.inflight == 0
		if g.bug.is("drained with tasks in flight") {
			drained = g.closed
		}
		if g.bug.is("drained although open") {
			drained = g.inflight == 0
		}
		if g.bug.is("one waiter released at the drain") && drained && waited && g.released > 0 {
			drained = false
		}
		if g.bug.is("drained said once") && g.drained {
			drained = false
		}
		if drained {
			g.drained = true
			g.released++
			return zero, false, nil
		}
		if err != nil && !g.bug.is("Next ignores its context") {
			if waited {
				g.ghosts++
			}
			if g.bug.is("ended context of Next cancels the group") {
				g.cancel(err)
			}
			if g.bug.is("zero result not zero") {
				zero.Value = 1
			}
			return zero, false, err
		}
		if g.bug.is("Next ended by Cancel") && g.ctx.Err() != nil {
			return zero, false, g.ctx.Err()
		}
		if g.bug.is("Next ignores its context") {
			done = nil
		}
		if g.bug.is("waiting Next ignores its context") && err == nil {
			done = nil
		}
		g.wait(done)
	}
}

func (g *wrong) Wait() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.start()
	target := g.accepted
	for g.inflight > 0 {
		switch {
		case g.bug.is("Wait does not wait"):
			return g.verdict()
		case g.bug.is("Wait ends with one task left") && g.inflight == 1 && g.accepted > 1:
			return g.verdict()
		case g.bug.is("Wait ended by Cancel") && g.ctx.Err() != nil:
			return g.verdict()
		case g.bug.is("Wait ended by Close") && g.closed:
			return g.verdict()
		case g.bug.is("Wait covers only earlier tasks") && g.done >= target:
			return g.verdict()
		}
		g.wait(nil)
		if g.bug.is("one Wait released") && g.inflight == 0 {
			if g.released++; g.released > 1 {
				for {
					g.wait(nil)
				}
			}
		}
		g.start()
	}
	g.waited++
	if g.bug.is("second Wait hangs") && g.waited > 1 {
		for {
			g.wait(nil)
		}
	}
	if g.bug.is("Wait takes the results") {
		g.results = nil
	}
	if g.bug.is("Wait closes") {
		g.closed = true
	}
	if g.bug.is("Wait forgets the error") && g.waited > 1 {
		return nil
	}
	return g.verdict()
}

func (g *wrong) verdict() error {
	cause := context.Cause(g.ctx)
	if g.settled && !g.bug.is("answer of Wait changes after settling") {
		cause = g.cause
	}
	switch {
	case g.bug.is("cause forgotten by Wait"):
		cause = nil
	case g.bug.is("last cause wins") && g.last != nil:
		cause = g.last
	case g.bug.is("nil cause stays nil") && g.nilled:
		cause = nil
	case g.bug.is("cause beats the error") && cause != nil:
		return cause
	case g.bug.is("errors shared by groups"):
		shared.Lock()
		defer shared.Unlock()
		return shared.err
	}
	if g.firstErr != nil {
		return g.firstErr
	}
	return cause
}

func (g *wrong) Cancel(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cause == nil {
		g.nilled = true
		cause = context.Canceled
	}
	g.last = cause
	switch {
	case g.bug.is("cause not passed on"):
		cause = context.Canceled
	case g.bug.is("Cancel closes"):
		g.closed = true
	case g.bug.is("Cancel drops queued results"):
		g.results = nil
	case g.bug.is("Cancel ignored"):
		return
	case g.bug.is("Cancel later"):
		go g.cancel(cause)
		g.wake()
		return
	}
	g.cancel(cause)
	g.wake()
	for g.bug.is("Cancel waits") && g.inflight > 0 {
		g.wait(nil)
	}
}

// wrongImpl is the implementation with the given bug.
func wrongImpl(b bug) dyno.Impl {
	return dyno.Impl{
		Name:     "wrong",
		Idea:     string(b),
		Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Parks: true},
		NewGroup: newWrong(b),
	}
}
