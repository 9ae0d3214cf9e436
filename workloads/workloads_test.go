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

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads"
)

// subjects are all implementations, and the simplest executor that there is.
func subjects() []dyno.Impl {
	simplest := dyno.Impl{Name: "plain", NewExecutor: newPlain, Promises: dyno.Promises{Overlap: true, Eager: true, Parks: true}}
	return append([]dyno.Impl{simplest}, impls.All()...)
}

func setting(impl dyno.Impl) workloads.Setting { return workloads.Setting{Impl: impl} }

func withGroups(newGroup workloads.NewGroup) workloads.Setting {
	return setting(dyno.Impl{NewGroup: newGroup})
}

func withExecutor(newExecutor func() task.Executor) workloads.Setting {
	return setting(dyno.Impl{NewExecutor: newExecutor})
}

// over returns the workloads over a contract.
func over(c workloads.Contract) []workloads.Workload {
	return slices.DeleteFunc(workloads.All(), func(w workloads.Workload) bool { return w.Contract != c })
}

func find(t *testing.T, c workloads.Contract, path string) workloads.Workload {
	t.Helper()
	for _, w := range over(c) {
		if w.Path() == path {
			return w
		}
	}
	t.Fatalf("no workload %s", path)
	return workloads.Workload{}
}

// isLarge reports whether w has so many actors that tests leave out those that no operation
// reaches.
func isLarge(w workloads.Workload) bool { return w.Actors >= 10_000 }

// counts returns numbers of operations around everything that a workload might divide by or
// round to, but for problems that take long. The race detector is slow, and allows a
// process no more than 8,128 goroutines.
func counts(w workloads.Workload) []int {
	unit := w.Slicing.Unit
	switch {
	case isLarge(w):
		return []int{1, 1001, 2001} // two actors for each operation
	case unit > 0 && unit < 2000:
		return []int{1, 2, 9, unit - 1, unit, unit + 1, 2*unit + 1}
	case raceEnabled:
		return []int{1, 3, 8, 120, 257, 1025, 5000}
	case hasWhole(w):
		return []int{1, 2, 3, 16, 65, 1025, unit + 1}
	}
	few := []int{1, 2, 3, 8, 33, 120, 241, 257, 1021, 1025, 5000}
	if nightly {
		return append(few, 10_001)
	}
	return few
}

// hasWhole reports whether w is one whole problem of tens of thousands of tasks, which a test has time for.
func hasWhole(w workloads.Workload) bool {
	return w.Contract == workloads.TaskContract && w.Slicing.Unit >= 2000 && w.Slicing.Unit <= 100_000
}

// withoutWhole returns counts without the whole problem, and what comes after it, by day unless
// whole is set: it is cut up before executors and references have a part in it, and one of each
// shows that.
func withoutWhole(w workloads.Workload, whole bool) []int {
	all := counts(w)
	if hasWhole(w) && !raceEnabled && !nightly && !whole {
		all = all[:len(all)-1]
	}
	return all
}

// nightly is whether to run what takes long, and is by day run in a smaller form.
var nightly = os.Getenv("DYNO_NIGHTLY") != ""

// Every workload runs on every implementation, and leaves no goroutine.
func TestWorkloads(t *testing.T) {
	for _, w := range workloads.All() {
		for _, impl := range subjects() {
			t.Run(w.Benchmark(impl.Name), func(t *testing.T) {
				if why := w.Lacks(impl); why != "" {
					t.Skip(why)
				}
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				whole := impl.Name == "plain" || impl.Name == lockbased.Impl.Name
				exercise(t, withoutWhole(w, whole), w.Prepare, scaled(w, setting(impl)))
			})
		}
	}
}

func TestRefs(t *testing.T) {
	for _, w := range workloads.All() {
		for i, ref := range w.Refs {
			t.Run(w.Benchmark(ref.Name), func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exercise(t, withoutWhole(w, i == 0), ref.Prepare, scaled(w, workloads.Setting{}))
			})
		}
	}
}

// What small machines run is checked like the others.
func TestSmall(t *testing.T) {
	for w := range workloads.Small() {
		for _, impl := range impls.All() {
			t.Run(w.Benchmark(impl.Name), func(t *testing.T) {
				if why := w.Lacks(impl); why != "" {
					t.Skip(why)
				}
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exercise(t, []int{1, 2, 33, 500}, w.Prepare, workloads.Setting{Impl: impl, Ring: 8})
			})
		}
	}
}

// scaled has a large workload leave out actors that no operation reaches.
func scaled(w workloads.Workload, st workloads.Setting) workloads.Setting {
	if isLarge(w) {
		all := counts(w)
		st.Ops = all[len(all)-1]
	}
	return st
}

// exercise checks runs of n operations in one go, of several in a row, and
// of two prepared at the same time.
func exercise(t *testing.T, counts []int, prepare func(workloads.Setting) workloads.Run, st workloads.Setting) {
	t.Helper()
	all, other := prepare(st), prepare(st)
	for _, n := range counts {
		st.Ops = n
		one := prepare(st)
		if err := one.Do(n); err != nil {
			t.Fatalf("%d operations, alone: Do: %v", n, err)
		}
		if err := one.Check(); err != nil {
			t.Fatalf("%d operations, alone: Check: %v", n, err)
		}
		one.Close()
		if err := all.Do(n); err != nil {
			t.Fatalf("%d operations, in a row: Do: %v", n, err)
		}
		if err := other.Do(3); err != nil {
			t.Fatalf("3 operations of another run after %d of the first: %v", n, err)
		}
	}
	for name, run := range map[string]workloads.Run{"in a row": all, "another beside it": other} {
		if err := run.Check(); err != nil {
			t.Fatalf("%s: Check: %v", name, err)
		}
		run.Close()
	}
}

// A run that was prepared and never used leaves nothing behind either.
func TestUnusedRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, w := range workloads.All() {
		for _, ref := range w.Refs {
			ref.Prepare(workloads.Setting{Ops: 1}).Close()
		}
		for _, impl := range subjects() {
			if w.Lacks(impl) == "" {
				w.Prepare(workloads.Setting{Impl: impl, Ops: 1}).Close()
			}
		}
	}
}

func TestDoOfNothingPanics(t *testing.T) {
	for _, w := range workloads.All() {
		for _, n := range []int{0, -1} {
			func() {
				run := w.Prepare(workloads.Setting{Impl: lockbased.Impl, Ops: 1})
				defer run.Close()
				defer func() {
					if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "workloads: ") {
						t.Errorf("%s: Do(%d): panicked with %s, want a message of this package", w.Path(), n, v)
					}
				}()
				run.Do(n)
			}()
		}
	}
}

// A workload that lacks something is skipped with that reason.
func TestLacks(t *testing.T) {
	w := workloads.Workload{Contract: workloads.TaskContract, Needs: dyno.Promises{Overlap: true, Eager: true}}
	for _, c := range []struct {
		impl dyno.Impl
		want string
	}{
		{dyno.Impl{Name: "none"}, "none has no executor of tasks"},
		{dyno.Impl{Name: "modest", NewExecutor: newPlain}, "needs Overlap, Eager, which modest does not promise"},
		{dyno.Impl{Name: "eager", NewExecutor: newPlain, Promises: dyno.Promises{Eager: true}}, "needs Overlap, which eager does not promise"},
		{lockbased.Impl, ""},
	} {
		if got := w.Lacks(c.impl); got != c.want {
			t.Errorf("%s: %q, want %q", c.impl.Name, got, c.want)
		}
	}
	none := dyno.Impl{Name: "none"}
	for c, want := range map[workloads.Contract]string{workloads.GroupContract: "none has no task group", workloads.ActorContract: "none runs no actors"} {
		if got := (workloads.Workload{Contract: c}).Lacks(none); got != want {
			t.Errorf("%s: %q, want %q", c, got, want)
		}
	}
	none.NewGroup, none.NewDispatcher = lockbased.Impl.NewGroup, lockbased.Impl.NewDispatcher
	if got := (workloads.Workload{Contract: workloads.ActorContract, Together: true}).Lacks(none); got == "" {
		t.Error("a workload that needs everything lacks nothing without an executor")
	}
}

var (
	path     = regexp.MustCompile(`^workload=[a-z0-9]+(/[a-z0-9]+=[a-z0-9]+)*$`)
	sentence = regexp.MustCompile(`^[^\n]{20,160}[^\n.]$`)
)

// What fits no table.
func TestFields(t *testing.T) {
	seen := map[string]bool{}
	var before workloads.Workload
	for _, w := range workloads.All() {
		base := "ref-errgroup"
		if w.Contract == workloads.ActorContract {
			base = "ref-chan-buffered"
		}
		name := w.Benchmark("")
		switch {
		case !path.MatchString(w.Path()):
			t.Errorf("%q is not a path of lower-case keys and values", w.Path())
		case seen[name]:
			t.Errorf("%s is in the list twice", name)
		case !sentence.MatchString(w.Doc):
			t.Errorf("%s: its description fits no table: %q", name, w.Doc)
		case w.Checked == "" && (w.Contract != before.Contract || w.Name != before.Name):
			t.Errorf("%s does not say what it checks", name)
		case len(w.Refs) == 0 || w.Refs[0].Name != base:
			t.Errorf("%s: the first reference, the base, must be %s", name, base)
		}
		seen[name] = true
		before = w
		refs := map[string]bool{}
		for _, ref := range w.Refs {
			if !strings.HasPrefix(ref.Name, "ref-") || refs[ref.Name] || ref.Doc == "" {
				t.Errorf("%s: reference %q: no ref- name, twice, or without a description", name, ref.Name)
			}
			refs[ref.Name] = true
		}
		if s := w.Slicing; s.Unit < 0 || s.Unit > 0 && s.Whole != "" || w.Open && s.Whole == "" || w.Actors > 0 && s.Whole == "" && s.Unit != w.Actors {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestDocument holds the names in docs/workloads.md to the list of workloads. DYNO_UPDATE=1
// writes them.
func TestDocument(t *testing.T) {
	names := document(t, "../docs/workloads.md")
	for _, c := range []workloads.Contract{workloads.GroupContract, workloads.TaskContract, workloads.ActorContract} {
		names.replace("(?m)^(.*`Benchmark"+string(c)+"`.*\\| )[^|]*( \\|)$", nameList(over(c)))
	}
	names.settle()
}

// page is a document that is compared with the list.
type page struct {
	t         *testing.T
	name      string
	was, text string
}

func document(t *testing.T, name string) *page {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return &page{t, name, string(data), string(data)}
}

// replace puts text between the two groups of the expression, which has one place in the page.
func (p *page) replace(between, text string) {
	p.t.Helper()
	at := regexp.MustCompile(between).FindStringSubmatchIndex(p.text)
	if at == nil {
		p.t.Fatalf("%s has no place like %s", p.name, between)
	}
	p.text = p.text[:at[3]] + text + p.text[at[4]:]
}

// settle writes the page if it is to be, and else reports that it is another.
func (p *page) settle() {
	switch {
	case p.text == p.was:
	case os.Getenv("DYNO_UPDATE") == "":
		p.t.Errorf("%s is not what the list says: DYNO_UPDATE=1 go test -run TestDocument ./workloads writes it", p.name)
	default:
		if err := os.WriteFile(p.name, []byte(p.text), 0o644); err != nil {
			p.t.Error(err)
		}
	}
}

// nameList is the workloads' names in Markdown, each once.
func nameList(all []workloads.Workload) string {
	var names []string
	for _, w := range all {
		if name := "`" + w.Name + "`"; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Together runs on one runtime where the implementation has such.
func TestTogetherOnOneRuntime(t *testing.T) {
	const none = "no runtime of its own is to be used"
	var made []string
	run := find(t, workloads.ActorContract, "workload=together").Prepare(setting(dyno.Impl{
		NewGroup:      func(context.Context, ...group.Option) group.Group[int] { panic(none) },
		NewDispatcher: func() actor.Dispatcher { panic(none) },
		NewExecutor:   func() task.Executor { panic(none) },
		NewRuntime: func() dyno.Runtime {
			made = append(made, "runtime")
			return dyno.Runtime{
				NewGroup: lockbased.Impl.NewGroup,
				NewDispatcher: func() actor.Dispatcher {
					made = append(made, "dispatcher")
					return lockbased.NewDispatcher()
				},
				NewExecutor: func() task.Executor {
					made = append(made, "executor")
					return lockbased.NewExecutor()
				},
			}
		},
	}))
	defer run.Close()
	if err := run.Do(100); err != nil {
		t.Fatal(err)
	}
	slices.Sort(made)
	if want := []string{"dispatcher", "executor", "runtime"}; !slices.Equal(made, want) {
		t.Errorf("the run has made %q, want %q", made, want)
	}
}

// A stretch of stream is longer than any of counts.
func TestStreamOfSeveralGroups(t *testing.T) {
	w := find(t, workloads.GroupContract, "workload=stream")
	exercise(t, []int{100_000, 200_001}, w.Prepare, setting(lockbased.Impl))
	for _, ref := range w.Refs {
		exercise(t, []int{100_000, 200_001}, ref.Prepare, workloads.Setting{})
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
		"workload=pool":               {FailFast: false, PanicToError: true, MaxConcurrency: 32, ResultBuffer: n},
		"workload=short/failfast=off": {FailFast: false, PanicToError: true, MaxConcurrency: 32, ResultBuffer: n},
		"workload=short/failfast=on":  {FailFast: true, PanicToError: true, MaxConcurrency: 32, ResultBuffer: n},
		"workload=stream":             {FailFast: true, PanicToError: true, MaxConcurrency: 32, ResultBuffer: 1024},
		"workload=uneven":             {FailFast: true, PanicToError: true, MaxConcurrency: 0, ResultBuffer: n},
	}
	for path, want := range want {
		run := find(t, workloads.GroupContract, path).Prepare(withGroups(func(ctx context.Context, opts ...group.Option) group.Group[int] {
			if got := group.Resolve(opts...); got != want {
				t.Errorf("%s: a group with %+v, want %+v", path, got, want)
			}
			return lockbased.NewGroup[int](ctx, opts...)
		}))
		if err := run.Do(n); err != nil {
			t.Errorf("%s: %v", path, err)
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
		"workload=pool":               1,
		"workload=short/failfast=off": 79,
		"workload=short/failfast=on":  79,
		"workload=stream":             1,
		"workload=uneven":             20,
	}
	for path, want := range want {
		var made atomic.Int64
		run := find(t, workloads.GroupContract, path).Prepare(withGroups(func(ctx context.Context, opts ...group.Option) group.Group[int] {
			made.Add(1)
			return lockbased.NewGroup[int](ctx, opts...)
		}))
		n := 39*512 + 33 // 20,001
		if path == "workload=cancel" && raceEnabled {
			n, want = 5000, 1
		}
		if err := run.Do(n); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if got := made.Load(); got != want {
			t.Errorf("%s: %d groups for %d operations, want %d", path, got, n, want)
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
		run := find(t, workloads.GroupContract, path).Prepare(withGroups(func(ctx context.Context, opts ...group.Option) group.Group[int] {
			return ends{lockbased.NewGroup[int](ctx, opts...), &n}
		}))
		if err := run.Do(100); err != nil {
			t.Fatal(err)
		}
		if got := n.Load(); got != want {
			t.Errorf("%s: %d takers, want %d", path, got, want)
		}
	}
}
