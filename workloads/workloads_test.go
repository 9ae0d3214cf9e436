package workloads_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
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

// Names are keys of tables and results, and must not change by accident: old
// figures could not be compared any more.
func TestNames(t *testing.T) {
	want := []string{
		"workload=cancel: ref-errgroup ref-goroutines ref-floor",
		"workload=consumers: ref-errgroup ref-workers ref-floor",
		"workload=mixed: ref-errgroup ref-goroutines ref-floor",
		"workload=nested: ref-errgroup ref-goroutines ref-floor",
		"workload=short/failfast=off: ref-errgroup ref-goroutines ref-floor",
		"workload=short/failfast=on: ref-errgroup ref-goroutines ref-floor",
		"workload=stream: ref-errgroup ref-workers ref-floor",
		"workload=uneven: ref-errgroup ref-goroutines ref-floor",
	}
	var got []string
	for _, w := range workloads.Groups() {
		line := w.Path() + ":"
		for _, ref := range w.Refs {
			line += " " + ref.Name
		}
		got = append(got, line)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("the workloads and their references are\n%s\nwant\n%s", g, w)
	}
}

func TestFields(t *testing.T) {
	path := regexp.MustCompile(`^workload=[a-z0-9]+(/[a-z0-9]+=[a-z0-9]+)?$`)
	sentence := regexp.MustCompile(`^[^\n]{20,160}[^\n.]$`)
	seen := map[string]bool{}
	for _, w := range workloads.Groups() {
		switch p := w.Path(); {
		case !path.MatchString(p):
			t.Errorf("%q is not a path of lower-case keys and values", p)
		case seen[p]:
			t.Errorf("%s is in the list twice", p)
		case !sentence.MatchString(w.Doc):
			t.Errorf("%s: its description fits no table: %q", p, w.Doc)
		case len(w.Refs) == 0 || w.Refs[0].Name != "ref-errgroup":
			t.Errorf("%s: the first reference, the base, must be ref-errgroup", p)
		}
		seen[w.Path()] = true
		refs := map[string]bool{}
		for _, ref := range w.Refs {
			if !strings.HasPrefix(ref.Name, "ref-") || refs[ref.Name] || ref.Doc == "" {
				t.Errorf("%s: reference %q: no ref- name, twice, or without a description", w.Path(), ref.Name)
			}
			refs[ref.Name] = true
		}
	}
}

// The document's table has a row for every workload, and none for others.
func TestDocumentIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Task groups\n")
	table, _, _ = strings.Cut(table, "\n#")
	rows := map[string][]string{} // by name: empty, name, variants, …, references, empty
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.Contains(cells[1], "`") {
			continue // no row, or the table's head
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows[strings.Trim(cells[1], "`")] = cells
	}
	type row struct{ variants, refs []string }
	want := map[string]row{}
	for _, w := range workloads.Groups() {
		r := row{variants: want[w.Name].variants}
		if w.Variant != "" {
			r.variants = append(r.variants, "`"+w.Variant+"`")
		}
		for _, ref := range w.Refs {
			r.refs = append(r.refs, "`"+ref.Name+"`")
		}
		want[w.Name] = r
	}
	for name, r := range want {
		cells := rows[name]
		if cells == nil {
			t.Errorf("docs/workloads.md has no row for %s", name)
			continue
		}
		if v := strings.Join(r.variants, ", "); cells[2] != v {
			t.Errorf("docs/workloads.md, row of %s: variants %q, want %q", name, cells[2], v)
		}
		if refs := strings.Join(r.refs, ", "); cells[5] != refs {
			t.Errorf("docs/workloads.md, row of %s: references %q, want %q", name, cells[5], refs)
		}
	}
	for name := range rows {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/workloads.md has a row for %s, which is no workload", name)
		}
	}
}

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
