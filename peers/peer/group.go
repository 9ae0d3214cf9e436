package peer

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/workloads"
)

// Tasks are the tasks of one group, run by a peer. Close and Wait of a group end in Wait, so
// it may be called by several goroutines.
type Tasks interface {
	// Go has fn run on another goroutine, by [Run] with a context that ends as the peer has
	// it and with results. What Run returns is the task's error. Who runs it writes the one
	// closure of each task, as programs do.
	Go(fn group.TaskFunc[int], results chan<- group.Result[int])

	// Wait waits for all of them and returns what the peer answers.
	Wait() error
}

// Run runs a task and sends its result.
func Run(ctx context.Context, fn group.TaskFunc[int], results chan<- group.Result[int]) error {
	v, err := fn(ctx)
	results <- group.Result[int]{Value: v, Err: err}
	return err
}

// Opened is what a peer keeps for as long as a program runs, such as its pools.
type Opened struct {
	// New makes a group whose tasks' context is derived from ctx.
	New func(ctx context.Context, cfg group.Config) Tasks

	// Close releases what is kept; nil is nothing.
	Close func()
}

// Group is a peer that runs groups of tasks.
type Group struct {
	Name string // of its column, without "peer-"
	Idea string // half a sentence: what of the peer is used
	Open func() Opened

	// Without are the paths of workloads that the peer cannot do, each with the reason.
	Without map[string]string
}

// Column is the name of the peer's column.
func (p Group) Column() string { return Prefix + p.Name }

// Impl returns the peer as an implementation of the contract, each of whose groups has the
// peer to itself. It is for the conformance suite, which says what of the contract is kept.
func (p Group) Impl() dyno.Impl {
	return dyno.Impl{
		Name:     p.Column(),
		Idea:     p.Idea,
		Promises: dyno.Promises{Overlap: true, Eager: true},
		NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
			o := p.Open()
			cfg := group.Resolve(opts...)
			cfg.ResultBuffer = max(cfg.ResultBuffer, 1<<14) // who waits before taking results shall not wait for room
			g := newAdapter(ctx, o, cfg)
			g.release = o.Close
			return g
		},
	}
}

// Ref returns the peer as what a workload is compared with: what it keeps is made before the
// clock starts, once, as programs have it.
func (p Group) Ref(w workloads.Workload) workloads.Ref {
	return workloads.Ref{Name: p.Column(), Doc: p.Idea, Prepare: func(st workloads.Setting) workloads.Run {
		o := p.Open()
		st.Impl = dyno.Impl{
			Name: p.Column(),
			NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
				return newAdapter(ctx, o, group.Resolve(opts...))
			},
		}
		return &opened{Run: w.Prepare(st), close: o.Close}
	}}
}

// opened is a run of what a peer has opened for it.
type opened struct {
	workloads.Run
	close func()
}

func (r *opened) Close() {
	r.Run.Close()
	if r.close != nil {
		r.close()
	}
}

// An adapter has a peer's tasks look like a task group, by what a program that wants results
// as they come writes around any of them: a channel of results, which a goroutine closes
// when all tasks are done. Whatever else the contract asks for is the peer's to keep, or not.
type adapter struct {
	tasks   Tasks
	cancel  context.CancelCauseFunc
	results chan group.Result[int]
	closed  atomic.Bool
	release func() // nil: nothing

	done   chan struct{} // closed by the goroutine that Close starts, which has then written answer
	answer error
}

func newAdapter(ctx context.Context, o Opened, cfg group.Config) *adapter {
	if ctx == nil {
		ctx = context.Background()
	}
	g := &adapter{results: make(chan group.Result[int], cfg.ResultBuffer), done: make(chan struct{})}
	ctx, g.cancel = context.WithCancelCause(ctx)
	g.tasks = o.New(ctx, cfg)
	return g
}

func (g *adapter) Go(fn group.TaskFunc[int]) error {
	switch {
	case fn == nil:
		return group.ErrNilTask
	case g.closed.Load():
		return group.ErrGroupClosed
	}
	g.tasks.Go(fn, g.results)
	return nil
}

func (g *adapter) Close() {
	if g.closed.Swap(true) {
		return
	}
	go func() {
		g.answer = g.tasks.Wait()
		close(g.results)
		g.cancel(nil)
		if g.release != nil {
			g.release()
		}
		close(g.done)
	}()
}

func (g *adapter) Next(ctx context.Context) (group.Result[int], bool, error) {
	if ctx == nil || ctx.Done() == nil {
		r, ok := <-g.results
		return r, ok, nil
	}
	select {
	case r, ok := <-g.results:
		return r, ok, nil
	default:
	}
	select {
	case r, ok := <-g.results:
		return r, ok, nil
	case <-ctx.Done():
		return group.Result[int]{}, false, ctx.Err()
	}
}

func (g *adapter) Wait() error {
	if g.closed.Load() {
		<-g.done
		return g.answer
	}
	return g.tasks.Wait()
}

func (g *adapter) Cancel(cause error) { g.cancel(cause) }

// PerLimit keeps a pool for each limit that groups have, made by open when it is asked for.
type PerLimit[P any] struct {
	open func(limit int) P

	mu    sync.Mutex // guards pools: groups are made by any goroutine
	pools map[int]P
}

// NewPerLimit returns one without pools.
func NewPerLimit[P any](open func(limit int) P) *PerLimit[P] {
	return &PerLimit[P]{open: open, pools: make(map[int]P)}
}

// Get returns the pool for a limit.
func (p *PerLimit[P]) Get(limit int) P {
	p.mu.Lock()
	defer p.mu.Unlock()
	pool, ok := p.pools[limit]
	if !ok {
		pool = p.open(limit)
		p.pools[limit] = pool
	}
	return pool
}

// Each calls f with every pool.
func (p *PerLimit[P]) Each(f func(pool P)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pool := range p.pools {
		f(pool)
	}
}
