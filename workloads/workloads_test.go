package workloads_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/workloads"
)

// counts are numbers of operations around everything a workload might round
// to: its fan-out, its limit, the size of its groups, several of them.
var counts = []int{1, 2, 7, 8, 9, 31, 32, 33, 64, 65, 255, 256, 257, 511, 512, 513, 1000, 1021, 1022, 1024, 1025, 5000, 10_001}

// scale returns which of counts to use for a workload.
func scale(w workloads.Group) []int {
	most := counts[len(counts)-1]
	switch {
	case w.Name == "mixed":
		most = 1025 // it waits for a millisecond a group, or a task
	case w.Name == "cancel" && raceEnabled:
		most = 5000 // the race detector ends a process with more than 8,128 goroutines
	}
	return counts[:slices.Index(counts, most)+1]
}

func TestGroups(t *testing.T) {
	for _, w := range workloads.Groups() {
		for _, impl := range impls.All() {
			t.Run(w.Path()+"/impl="+impl.Name, func(t *testing.T) {
				if impl.NewGroup == nil {
					t.Skip("no task group")
				}
				if lacks := impl.Promises.Lacks(w.Needs); len(lacks) > 0 {
					t.Skip("needs ", strings.Join(lacks, ", "))
				}
				exercise(t, scale(w), func() workloads.Run { return w.Prepare(impl.NewGroup) })
			})
		}
	}
}

func TestRefs(t *testing.T) {
	for _, w := range workloads.Groups() {
		for _, ref := range w.Refs {
			t.Run(w.Path()+"/impl="+ref.Name, func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exercise(t, scale(w), ref.Prepare)
			})
		}
	}
}

// exercise checks runs of n operations in one go, of several in a row, and of
// two prepared at the same time.
func exercise(t *testing.T, counts []int, prepare func() workloads.Run) {
	t.Helper()
	all, other := prepare(), prepare()
	for _, n := range counts {
		one := prepare()
		for name, run := range map[string]workloads.Run{"alone": one, "in a row": all} {
			if err := run.Do(n); err != nil {
				t.Fatalf("%d operations, %s: Do: %v", n, name, err)
			}
			if err := run.Check(); err != nil {
				t.Fatalf("%d operations, %s: Check: %v", n, name, err)
			}
		}
		one.Close()
		if err := other.Do(3); err != nil {
			t.Fatalf("3 operations of another run after %d of the first: %v", n, err)
		}
	}
	if err := other.Check(); err != nil {
		t.Fatalf("another run beside it: Check: %v", err)
	}
	all.Close()
	other.Close()
}

// A stretch of stream is longer than any of counts.
func TestStreamOfSeveralGroups(t *testing.T) {
	w := find(t, "workload=stream")
	exercise(t, []int{100_000, 200_001}, func() workloads.Run { return w.Prepare(impls.All()[0].NewGroup) })
	for _, ref := range w.Refs {
		exercise(t, []int{100_000, 200_001}, ref.Prepare)
	}
}

// What a workload is called after is what its groups are given.
func TestOptions(t *testing.T) {
	const n = 100
	want := map[string]group.Config{
		"workload=cancel":             {FailFast: false, PanicToError: true, MaxConcurrency: 0, ResultBuffer: n},
		"workload=consumers":          {FailFast: true, PanicToError: true, MaxConcurrency: 32, ResultBuffer: 1024},
		"workload=mixed":              {FailFast: false, PanicToError: true, MaxConcurrency: 32, ResultBuffer: n},
		"workload=nested":             {FailFast: true, PanicToError: true, MaxConcurrency: 0, ResultBuffer: 8},
		"workload=short/failfast=off": {FailFast: false, PanicToError: true, MaxConcurrency: 32, ResultBuffer: n},
		"workload=short/failfast=on":  {FailFast: true, PanicToError: true, MaxConcurrency: 32, ResultBuffer: n},
		"workload=stream":             {FailFast: true, PanicToError: true, MaxConcurrency: 32, ResultBuffer: 1024},
		"workload=uneven":             {FailFast: true, PanicToError: true, MaxConcurrency: 0, ResultBuffer: n},
	}
	for _, w := range workloads.Groups() {
		run := w.Prepare(func(ctx context.Context, opts ...group.Option) group.Group[int] {
			if got := group.Resolve(opts...); got != want[w.Path()] {
				t.Errorf("%s: a group with %+v, want %+v", w.Path(), got, want[w.Path()])
			}
			return lockbased.NewGroup[int](ctx, opts...)
		})
		if err := run.Do(n); err != nil {
			t.Errorf("%s: %v", w.Path(), err)
		}
	}
}

// How many groups a number of operations makes.
func TestGroupsMade(t *testing.T) {
	want := map[string]int64{
		"workload=cancel":             3,
		"workload=consumers":          3,
		"workload=mixed":              79,
		"workload=nested":             39*73 + 1 + 1 + 5, // 39 whole trees, and one of 33 leaves
		"workload=short/failfast=off": 79,
		"workload=short/failfast=on":  79,
		"workload=stream":             1,
		"workload=uneven":             20,
	}
	for _, w := range workloads.Groups() {
		var made atomic.Int64
		run := w.Prepare(func(ctx context.Context, opts ...group.Option) group.Group[int] {
			made.Add(1)
			return lockbased.NewGroup[int](ctx, opts...)
		})
		n := 39*512 + 33 // 20,001
		if w.Name == "cancel" && raceEnabled {
			n, want[w.Path()] = 5000, 1
		}
		if err := run.Do(n); err != nil {
			t.Fatalf("%s: %v", w.Path(), err)
		}
		if got := made.Load(); got != want[w.Path()] {
			t.Errorf("%s: %d groups for %d operations, want %d", w.Path(), got, n, want[w.Path()])
		}
	}
}

// ends counts the takers that a group tells that it is drained.
type ends struct {
	group.Group[int]
	n *atomic.Int64
}

func (g ends) Next(ctx context.Context) (group.Result[int], bool, error) {
	r, ok, err := g.Group.Next(ctx)
	if !ok && err == nil {
		g.n.Add(1)
	}
	return r, ok, err
}

func TestTakers(t *testing.T) {
	for path, want := range map[string]int64{"workload=consumers": 8, "workload=stream": 1} {
		var n atomic.Int64
		run := find(t, path).Prepare(func(ctx context.Context, opts ...group.Option) group.Group[int] {
			return ends{lockbased.NewGroup[int](ctx, opts...), &n}
		})
		if err := run.Do(100); err != nil {
			t.Fatal(err)
		}
		if got := n.Load(); got != want {
			t.Errorf("%s: %d takers, want %d", path, got, want)
		}
	}
}

func TestDoOfNothingPanics(t *testing.T) {
	for _, w := range workloads.Groups() {
		for _, n := range []int{0, -1} {
			func() {
				defer func() {
					if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "workloads: ") {
						t.Errorf("%s: Do(%d): panicked with %s, want a message of this package", w.Path(), n, v)
					}
				}()
				w.Prepare(impls.All()[0].NewGroup).Do(n)
			}()
		}
	}
}

func TestFields(t *testing.T) { checkFields(t, describedGroups(), "ref-errgroup") }

func TestDocumentIsCurrent(t *testing.T) { checkDocument(t, describedGroups(), "Task groups") }

func find(t *testing.T, path string) workloads.Group {
	t.Helper()
	for _, w := range workloads.Groups() {
		if w.Path() == path {
			return w
		}
	}
	t.Fatalf("no workload %s", path)
	return workloads.Group{}
}
