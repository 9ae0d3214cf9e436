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

// wrongGroup is a task group of one mutex and a channel that is closed at every
// change, with at most one bug.
type wrongGroup struct {
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
	errs     []error
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

func newWrongGroup(b bug) func(ctx context.Context, opts ...group.Option) group.Group[int] {
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
		g := &wrongGroup{bug: b, cfg: group.Resolve(opts...), changed: make(chan struct{}), one: make(chan struct{}, 1)}
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
func (g *wrongGroup) wait(done <-chan struct{}) {
	changed := g.changed
	g.mu.Unlock()
	defer g.mu.Lock()
	select {
	case <-changed:
	case <-done:
	}
}

func (g *wrongGroup) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *wrongGroup) full() bool {
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

func (g *wrongGroup) Go(fn group.TaskFunc[int]) error {
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
func (g *wrongGroup) start() {
	for _, f := range g.lazy {
		go f()
	}
	g.lazy = nil
}

func (g *wrongGroup) run(fn group.TaskFunc[int], index int) {
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

func (g *wrongGroup) call(fn group.TaskFunc[int]) (v int, err error) {
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
func (g *wrongGroup) complete(r *group.Result[int], index int) {
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

func (g *wrongGroup) book(r group.Result[int], index int) {
	if r.Err != nil {
		first := g.firstErr == nil
		if g.cfg.AllErrors && (first || !g.bug.is("only the first of all errors")) {
			g.errs = append(g.errs, r.Err)
		}
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

func (g *wrongGroup) settle() {
	if g.settled {
		return
	}
	g.settled = true
	g.cause = context.Cause(g.ctx)
	if !g.bug.is("context not released") {
		g.cancel(nil)
	}
}

func (g *wrongGroup) Close() {
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

func (g *wrongGroup) Next(ctx context.Context) (group.Result[int], bool, error) {
	if ctx == nil && !g.bug.is("nil context crashes Next") {
		ctx = context.Background()
	}
	ended := ctx.Err
	if g.bug.is("cause instead of Err") {
		ended = func() error { return context.Cause(ctx) }
	}
	done, err := ctx.Done(), ended()
	g.mu.Lock()
	defer g.mu.Unlock()
	var zero group.Result[int]
	for waited := false; ; waited = true {
		if waited {
			g.mu.Unlock()
			err = ended()
			g.mu.Lock()
		}
		g.start()
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

func (g *wrongGroup) Wait() error {
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

func (g *wrongGroup) verdict() error {
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
		if len(g.errs) > 1 {
			return errors.Join(g.errs...)
		}
		return g.firstErr
	}
	return cause
}

func (g *wrongGroup) Cancel(cause error) {
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

// wrongGroupImpl is the implementation with the given bug.
func wrongGroupImpl(b bug) dyno.Impl {
	return dyno.Impl{
		Name:     "wrong",
		Idea:     string(b),
		Promises: dyno.Promises{Overlap: true, Eager: true, StartOrder: true, Parks: true},
		NewGroup: newWrongGroup(b),
	}
}

// wrongGroups says of every bug of a group which clauses must notice it.
var wrongGroups = []wrong{
	// Making a group.
	{"nil context crashes", "nil-context"},
	{"parent ignored", "parent"},
	{"parent's values lost", "parent"},
	{"first option wins", "last-option-wins"},
	{"nil option taken for the end", "failfast-off"},
	{"fail-fast off by default", "failfast-cancels"},
	{"limit by default", "go-once"},
	{"closed when made under an ended context", "parent"},
	{"result buffer is a bound", "buffer-is-a-hint"},
	{"errors shared by groups", "groups-are-apart"},

	// Go.
	{"nil task accepted", "go-nil-task"},
	{"nil task refused late", "go-nil-task"},
	{"task accepted after Close", "go-after-close"},
	{"Go refused after Cancel", "go-after-cancel parent"},
	{"task run by the caller of Go", "limit-respected"},
	{"task run twice", "go-once"},
	{"tasks run under the lock", "calls-within-a-task"},
	{"task dropped on Cancel", "go-after-cancel"},
	{"task not run after Cancel", "go-after-cancel limit-cancel-keeps-go"},
	{"value lost beside an error", "wait-remembers"},
	{"one task at a time", "promise-overlap"},
	{"tasks started by Wait and Next only", "promise-eager"},

	// The limit.
	{"limit one too high", "limit-respected"},
	{"limit one too low", "limit-respected promise-overlap"},
	{"limit ignored", "limit-never-exceeded limit-respected limit-close-releases-go"},
	{"slot kept until the result is taken", "next-oldest-first"},
	{"blocked Go not released by Close", "limit-close-releases-go"},
	{"blocked Go accepted after Close", "limit-close-releases-go"},
	{"blocked Go released by Cancel", "limit-cancel-keeps-go"},

	// Close.
	{"second Close panics", "go-after-close"},
	{"Close cancels", "close-does-not-cancel"},
	{"Close waits", "close-does-not-cancel"},
	{"Close drops queued results", "close-keeps-results"},

	// Next.
	{"newest result first", "next-oldest-first next-completion-order"},
	{"results in submission order", "next-completion-order"},
	{"result delivered twice", "next-result-once go-once"},
	{"result looked at, not taken", "next-result-once"},
	{"drained with tasks in flight", "waiters-released-by-last-task"},
	{"drained although open", "next-result-once"},
	{"drained said once", "go-after-close"},
	{"task in flight after its result", "drain-at-once"},
	{"zero result not zero", "next-ended-context"},
	{"nil context crashes Next", "next-nil-context"},
	{"ended context beats a queued result", "next-queued-beats-context"},
	{"ended context beats the drain", "next-queued-beats-context"},
	{"cause instead of Err", "next-ended-context"},
	{"Next ignores its context", "next-ended-context next-context-ends-waiting"},
	{"waiting Next ignores its context", "next-context-ends-waiting"},
	{"ended context of Next cancels the group", "next-context-ends-waiting"},
	{"Next ended by Cancel", "next-outlives-cancel"},
	{"waiters not woken by the last task", "waiters-released-by-last-task"},
	{"waiters not woken by Close", "waiters-released-by-close"},
	{"one waiter released at the drain", "waiters-released-by-last-task waiters-released-by-close"},
	{"cancelled waiter swallows the next result", "waiter-gives-up next-context-ends-waiting"},
	{"answered waiter gives up and loses the result", "waiter-gives-up-as-result-comes"},

	// Wait.
	{"Wait does not wait", "wait-for-all"},
	{"Wait ends with one task left", "calls-within-a-task wait-covers-later-tasks"},
	{"Wait ended by Cancel", "wait-outlives-cancel"},
	{"Wait ended by Close", "wait-outlives-cancel"},
	{"Wait covers only earlier tasks", "wait-covers-later-tasks"},
	{"Wait takes the results", "wait-results-visible"},
	{"result queued after Wait", "wait-results-visible"},
	{"Wait closes", "next-oldest-first"},
	{"one Wait released", "wait-many-callers"},
	{"second Wait hangs", "wait-remembers"},
	{"Wait forgets the error", "wait-remembers"},
	{"second error overwrites the first", "wait-remembers wait-first-by-completion"},
	{"first error by submission", "wait-first-by-completion"},
	{"only the first of all errors", "wait-all-errors"},
	{"cause forgotten by Wait", "wait-cause parent"},
	{"cause beats the error", "wait-cause"},
	{"answer of Wait changes after settling", "wait-settled"},

	// Cancel and fail-fast.
	{"Cancel ignored", "cancel-reaches-tasks cancel-at-once"},
	{"Cancel later", "cancel-at-once"},
	{"Cancel waits", "wait-outlives-cancel"},
	{"Cancel closes", "go-after-cancel"},
	{"Cancel drops queued results", "wait-cause"},
	{"cause not passed on", "cancel-reaches-tasks cancel-first-cause"},
	{"nil cause stays nil", "cancel-first-cause"},
	{"last cause wins", "cancel-first-cause"},
	{"fail-fast ignored", "failfast-cancels"},
	{"fail-fast always", "failfast-off"},
	{"fail-fast without cause", "failfast-cancels"},
	{"fail-fast by the second error", "failfast-cancels"},
	{"fail-fast on success", "failfast-cancels"},
	{"result before the cancellation", "failfast-before-result"},
	{"results dropped after fail-fast", "failfast-keeps-tasks"},

	// Panics and Goexit.
	{"panic taken for success", "panic-is-an-error"},
	{"panic without its type", "panic-is-an-error"},
	{"panic that does not unwrap", "panic-is-an-error"},
	{"panic without stack", "panic-is-an-error"},
	{"panic keeps a value", "panic-is-an-error"},
	{"run-time errors let through", "panic-is-an-error"},
	{"panic made an error although off", ""}, // panic-ends-process, see TestPanicEndsProcess
	{"Goexit hangs", "goexit-is-an-error goexit-slot-back"},
	{"Goexit yields no result", "goexit-is-an-error"},
	{"Goexit loses the slot", "goexit-slot-back"},
	{"Goexit taken for success", "goexit-is-an-error"},

	// What is left.
	{"context not released", "context-released parent-keeps-nothing"},
	{"goroutine leaked per group", "leaves-no-goroutine"},
	{"goroutine until closed", "leaves-no-goroutine"},
	{"results retained", "results-not-retained"},
	{"tasks retained", "results-not-retained"},
}
