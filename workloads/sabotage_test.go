package workloads_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/workloads"
)

var errSabotage = errors.New("sabotage")

// A sabotage is one thing that a group does wrong.
type sabotage struct {
	// Each is called, if it is not nil, in the place of the method it is named
	// after when its turn comes, that is for one task or result only.
	goes  func(g *sabotaged, fn group.TaskFunc[int]) error
	nexts func(g *sabotaged, r group.Result[int]) (group.Result[int], bool, error)

	// Each is called every time.
	waits   func(err error) error
	cancels func(cause error) error
	opts    []group.Option // added to the caller's
	reverse bool           // hand out results last first
}

// A saboteur makes groups that are right but for one thing.
type saboteur struct {
	sabotage
	impl dyno.Impl // makes the right groups
	at   int64     // the turn, counted over all groups of the run

	tasks, results atomic.Int64
	struck         atomic.Bool // the turn was there
}

// sabotaged is a group of a saboteur.
type sabotaged struct {
	group.Group[int]
	s       *saboteur
	drained atomic.Bool                       // Next says so although it is not
	again   atomic.Pointer[group.Result[int]] // Next returns this one once more
	stack   []group.Result[int]               // for reverse, which needs a single consumer
}

func (s *saboteur) newGroup(ctx context.Context, opts ...group.Option) group.Group[int] {
	return &sabotaged{Group: s.impl.NewGroup(ctx, slices.Concat(opts, s.opts)...), s: s}
}

func (g *sabotaged) Go(fn group.TaskFunc[int]) error {
	if g.s.tasks.Add(1) == g.s.at && g.s.goes != nil {
		g.s.struck.Store(true)
		return g.s.goes(g, fn)
	}
	return g.Group.Go(fn)
}

func (g *sabotaged) Next(ctx context.Context) (group.Result[int], bool, error) {
	if g.drained.Load() {
		return group.Result[int]{}, false, nil
	}
	if r := g.again.Swap(nil); r != nil {
		return *r, true, nil
	}
	if g.s.reverse {
		for {
			r, ok, err := g.Group.Next(ctx)
			if err != nil {
				return r, ok, err
			}
			if !ok {
				break
			}
			g.stack = append(g.stack, r)
		}
		if len(g.stack) == 0 {
			return group.Result[int]{}, false, nil
		}
		r := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		return r, true, nil
	}
	r, ok, err := g.Group.Next(ctx)
	if ok && g.s.results.Add(1) == g.s.at && g.s.nexts != nil {
		g.s.struck.Store(true)
		return g.s.nexts(g, r)
	}
	return r, ok, err
}

func (g *sabotaged) Wait() error {
	err := g.Group.Wait()
	if g.s.waits != nil {
		return g.s.waits(err)
	}
	return err
}

func (g *sabotaged) Cancel(cause error) {
	if g.s.cancels != nil {
		cause = g.s.cancels(cause)
	}
	g.Group.Cancel(cause)
}

// sabotages are the wrong groups, and for which workloads, if not for all.
var sabotages = []struct {
	name   string
	only   []string
	always bool   // it does not wait for its turn
	says   string // in the error, if more than that something is wrong is to be said
	do     sabotage
}{
	{name: "a task is accepted and never run", do: sabotage{
		goes: func(*sabotaged, group.TaskFunc[int]) error { return nil },
	}},
	{name: "a task is refused", says: "group: closed", do: sabotage{
		goes: func(*sabotaged, group.TaskFunc[int]) error { return group.ErrGroupClosed },
	}},
	{name: "a task is run as two", do: sabotage{
		goes: func(g *sabotaged, fn group.TaskFunc[int]) error {
			var mu sync.Mutex // or the race detector notices first
			one := func(ctx context.Context) (int, error) {
				mu.Lock()
				defer mu.Unlock()
				return fn(ctx)
			}
			return errors.Join(g.Group.Go(one), g.Group.Go(one))
		},
	}},
	{name: "a result is lost", do: sabotage{
		nexts: func(g *sabotaged, _ group.Result[int]) (group.Result[int], bool, error) {
			return g.Group.Next(context.Background())
		},
	}},
	{name: "a result is returned twice", do: sabotage{
		nexts: func(g *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
			g.again.Store(&r)
			return r, true, nil
		},
	}},
	{name: "there is a result too many", do: sabotage{
		nexts: func(g *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
			g.again.Store(new(group.Result[int]))
			return r, true, nil
		},
	}},
	{name: "a result replaces the next one", do: sabotage{
		nexts: func(g *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
			if _, ok, err := g.Group.Next(context.Background()); !ok || err != nil {
				return r, ok, err
			}
			g.again.Store(&r)
			return r, true, nil
		},
	}},
	{name: "a value is one too large", do: alter(func(v int) int { return v + 1 })},
	{name: "a value has a wrong bit far up", do: alter(func(v int) int { return v ^ 1<<29 })},
	{name: "a value is negative", do: alter(func(v int) int { return -v - 1 })},
	{name: "a value is not set", do: sabotage{
		nexts: func(_ *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
			// The first task's value is zero, which would be no sabotage.
			if r.Value == 0 {
				return group.Result[int]{Value: 1, Err: r.Err}, true, nil
			}
			return group.Result[int]{Err: r.Err}, true, nil
		},
	}},
	{name: "an error comes from nowhere", says: "sabotage", do: sabotage{
		nexts: func(_ *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
			r.Err = errSabotage
			return r, true, nil
		},
	}},
	{name: "Next fails", says: "sabotage", do: sabotage{
		nexts: func(_ *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
			return group.Result[int]{}, false, errSabotage
		},
	}},
	{name: "Next ends too early", do: sabotage{
		nexts: func(g *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
			g.drained.Store(true)
			return group.Result[int]{}, false, nil
		},
	}},
	{name: "Wait returns another error", always: true, says: "sabotage", do: sabotage{
		waits: func(error) error { return errSabotage },
	}},
	{
		name: "Wait loses the error", always: true,
		only: []string{"workload=cancel", "workload=short/failfast=on"},
		do:   sabotage{waits: func(error) error { return nil }},
	},
	{
		name: "Cancel replaces the cause", always: true,
		only: []string{"workload=cancel"},
		do:   sabotage{cancels: func(error) error { return errSabotage }},
	},
	{
		name: "Cancel loses the cause", always: true,
		only: []string{"workload=cancel"},
		do:   sabotage{cancels: func(error) error { return nil }},
	},
	{
		name: "a failed task does not cancel", always: true,
		only: []string{"workload=short/failfast=on"},
		do:   sabotage{opts: []group.Option{group.WithFailFast(false)}},
	},
	{
		name: "results come in the wrong order", always: true,
		only: []string{"workload=short/failfast=on"},
		do:   sabotage{reverse: true},
	},
}

// alter is the sabotage of one result's value.
func alter(f func(v int) int) sabotage {
	return sabotage{nexts: func(_ *sabotaged, r group.Result[int]) (group.Result[int], bool, error) {
		r.Value = f(r.Value)
		return r, true, nil
	}}
}

// sabotagedImpls are one implementation that runs tasks by itself and those that
// do only while a consumer takes results.
func sabotagedImpls() []dyno.Impl {
	list := []dyno.Impl{lockbased.Impl}
	for _, impl := range impls.All() {
		if !impl.Promises.Eager {
			list = append(list, impl)
		}
	}
	return list
}

// Every workload notices every sabotage, wherever in a run it strikes.
func TestSabotageIsNoticed(t *testing.T) {
	const n = 600 // more than a group of most workloads
	for _, impl := range sabotagedImpls() {
		for _, w := range over(workloads.GroupContract) {
			if len(impl.Promises.Lacks(w.Needs)) > 0 {
				continue
			}
			if w.Name == "mixed" && !impl.Promises.Overlap {
				continue // it takes seconds to wait for each task, and is short but for that
			}
			for _, sab := range sabotages {
				if sab.only != nil && !slices.Contains(sab.only, w.Path()) {
					continue
				}
				t.Run(w.Path()+"/impl="+impl.Name+"/"+sab.name, func(t *testing.T) {
					for _, at := range []int64{1, 2, 100, 256, 257, 590} {
						s := &saboteur{sabotage: sab.do, impl: impl, at: at}
						run := w.Prepare(withGroups(s.newGroup))
						err := run.Do(n)
						if err == nil {
							err = run.Check()
						}
						if !sab.always && !s.struck.Load() {
							t.Fatalf("no task or result number %d: the test tests nothing", at)
						}
						if err == nil {
							t.Fatalf("at %d: not noticed", at)
						}
						if !strings.Contains(err.Error(), sab.says) {
							t.Errorf("at %d: noticed, but not said: %v", at, err)
						}
					}
				})
			}
		}
	}
}

// A run that gives up lets its tasks go, as far as the group does what it says.
func TestFailedRunLeavesNoTasks(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := &saboteur{impl: lockbased.Impl, at: 100, sabotage: sabotage{
		goes: func(*sabotaged, group.TaskFunc[int]) error { return errSabotage },
	}}
	// The 99 tasks before wait until they are cancelled.
	if err := find(t, workloads.GroupContract, "workload=cancel").Prepare(withGroups(s.newGroup)).Do(200); err == nil {
		t.Fatal("the refused task was not noticed")
	}
}

// The saboteur's own machinery does no harm.
func TestNoSabotage(t *testing.T) {
	for _, w := range over(workloads.GroupContract) {
		t.Run(w.Path(), func(t *testing.T) {
			exercise(t, []int{600}, w.Prepare, withGroups((&saboteur{impl: lockbased.Impl}).newGroup))
		})
	}
}
