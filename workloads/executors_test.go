package workloads_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads"
)

// plain is the simplest executor that keeps the contract: a goroutine for each
// task, and one mutex. The tests of the workloads need one that is right.
type plain struct {
	mu      sync.Mutex
	pending int
	closed  bool
}

func newPlain() task.Executor { return new(plain) }

func (x *plain) Start(h, _ *task.Handle) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return task.ErrClosed
	}
	x.pending++
	h.Room().Own = make(chan struct{})
	go func() {
		if x.Status(h) != task.Pending {
			return
		}
		s := task.Failed // if Run does not return
		defer func() { x.end(h, s) }()
		s = h.Run()
	}()
	return nil
}

func (x *plain) end(h *task.Handle, s task.Status) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if task.Status(h.Room().Word.Load()) != task.Pending {
		return false
	}
	x.pending--
	h.Room().Word.Store(uint64(s))
	close(h.Room().Own.(chan struct{}))
	return true
}

func (x *plain) Status(h *task.Handle) task.Status { return task.Status(h.Room().Word.Load()) }

func (x *plain) Wait(ctx context.Context, h, _ *task.Handle) error {
	select {
	case <-x.Done(h):
		return nil
	default:
	}
	select {
	case <-x.Done(h):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *plain) Done(h *task.Handle) <-chan struct{} { return h.Room().Own.(chan struct{}) }
func (x *plain) Cancel(h *task.Handle) bool          { return x.end(h, task.Cancelled) }
func (x *plain) Yield(*task.Handle)                  { runtime.Gosched() }
func (x *plain) Flush(int) int                       { return 0 }

func (x *plain) Pending() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.pending
}

func (x *plain) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
}

// executors are the simplest one and all that there are.
func executors() []dyno.Impl {
	list := []dyno.Impl{{Name: "plain", NewExecutor: newPlain, Promises: dyno.Promises{Overlap: true, Eager: true, Parks: true}}}
	for _, impl := range impls.All() {
		if impl.NewExecutor != nil {
			list = append(list, impl)
		}
	}
	return list
}

// taskScale returns which numbers of operations to use for a workload. The race
// detector is slow, and allows a process no more than 8,128 goroutines.
func taskScale(w workloads.Task) []int {
	switch {
	case w.Name == "quicksort":
		return []int{1, 2, 3, 7, 256, 257} // tasks that do something
	case w.Name == "matmul":
		return []int{1, 2, 3, 7, 64, 65}
	case raceEnabled:
		return []int{1, 2, 3, 16, 17, 65, 257, 1025, 4097}
	}
	counts := []int{1, 2, 3, 4, 5, 15, 16, 17, 33, 63, 64, 65, 255, 256, 257, 1000, 1023, 1024, 1025, 2057, 4095, 4097}
	switch w.Name {
	case "fib", "queens", "spawnawait", "tree":
		counts = append(counts, 100_001) // a problem of full size, and part of one
	}
	return counts
}

func TestTasks(t *testing.T) {
	for _, w := range workloads.Tasks() {
		for _, impl := range executors() {
			t.Run(w.Path()+"/impl="+impl.Name, func(t *testing.T) {
				if lacks := impl.Promises.Lacks(w.Needs); len(lacks) > 0 {
					t.Skip("needs ", strings.Join(lacks, ", "))
				}
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exercise(t, taskScale(w), func() workloads.Run { return w.Prepare(impl.NewExecutor) })
			})
		}
	}
}

func TestTaskRefs(t *testing.T) {
	for _, w := range workloads.Tasks() {
		for _, ref := range w.Refs {
			t.Run(w.Path()+"/impl="+ref.Name, func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exercise(t, taskScale(w), ref.Prepare)
			})
		}
	}
}

// A run that was prepared and never used leaves nothing behind either.
func TestUnusedTaskRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, w := range workloads.Tasks() {
		for _, ref := range w.Refs {
			ref.Prepare().Close()
		}
		for _, impl := range executors() {
			w.Prepare(impl.NewExecutor).Close()
		}
	}
}

// counting counts the tasks that it is given.
type counting struct {
	task.Executor
	mu     sync.Mutex
	n      int
	yields int
}

func (c *counting) Start(h, from *task.Handle) error {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return c.Executor.Start(h, from)
}

func (c *counting) Yield(h *task.Handle) {
	c.mu.Lock()
	c.yields++
	c.mu.Unlock()
	c.Executor.Yield(h)
}

// One operation is one task, but for those that are the frame of a job.
func TestTasksMade(t *testing.T) {
	const n = 5000
	want := map[string]int{
		"workload=cancel":                  n + 5*3,  // the one that starts the others, and two that cancel
		"workload=fib":                     n,        //
		"workload=matmul":                  n,        //
		"workload=pipeline":                n + 2,    // the one that starts the others
		"workload=queens":                  n,        //
		"workload=queens/board=8":          n,        //
		"workload=quicksort":               n,        //
		"workload=shared":                  n + 79*2, // the one that starts the others, and the one that they wait for
		"workload=spawnawait":              n + 1,    // the one that starts the others
		"workload=spawnawait/from=outside": n,        //
		"workload=tree":                    n,        //
		"workload=yield":                   3,        // and as many yields as operations
	}
	for _, w := range workloads.Tasks() {
		c := &counting{Executor: newPlain()}
		run := w.Prepare(func() task.Executor { return c })
		if err := run.Do(n); err != nil {
			t.Fatalf("%s: %v", w.Path(), err)
		}
		run.Close()
		if c.n != want[w.Path()] {
			t.Errorf("%s: %d tasks for %d operations, want %d", w.Path(), c.n, n, want[w.Path()])
		}
		if w.Name == "yield" && c.yields != n {
			t.Errorf("%s: %d yields for %d operations", w.Path(), c.yields, n)
		}
	}
}

func TestTasksDoOfNothingPanics(t *testing.T) {
	for _, w := range workloads.Tasks() {
		for _, n := range []int{0, -1} {
			func() {
				run := w.Prepare(newPlain)
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

// Names are keys of tables and results, and must not change by accident: old
// figures could not be compared any more.
func TestTaskNames(t *testing.T) {
	const joins = ": ref-errgroup ref-goroutines ref-chan-buffered ref-floor"
	want := []string{
		"workload=cancel: ref-errgroup ref-goroutines",
		"workload=fib" + joins,
		"workload=matmul" + joins,
		"workload=pipeline: ref-errgroup ref-chan-buffered ref-chan-unbuffered",
		"workload=queens" + joins,
		"workload=queens/board=8" + joins,
		"workload=quicksort" + joins,
		"workload=shared: ref-errgroup ref-goroutines",
		"workload=spawnawait: ref-errgroup ref-goroutines ref-chan-buffered",
		"workload=spawnawait/from=outside: ref-errgroup ref-goroutines ref-chan-buffered",
		"workload=tree" + joins,
		"workload=yield: ref-errgroup ref-goroutines ref-chan-unbuffered",
	}
	var got []string
	for _, w := range workloads.Tasks() {
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

func TestTaskFields(t *testing.T) {
	path := regexp.MustCompile(`^workload=[a-z0-9]+(/[a-z0-9]+=[a-z0-9]+)?$`)
	sentence := regexp.MustCompile(`^[^\n]{20,160}[^\n.]$`)
	seen := map[string]bool{}
	for _, w := range workloads.Tasks() {
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
func TestTaskDocumentIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n## Executors\n")
	if !found {
		t.Fatal("docs/workloads.md has no section of executors")
	}
	table, _, _ = strings.Cut(table, "\n#")
	type row struct{ variants, refs string }
	got := map[string]row{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|") // empty, name, variants, …, references, empty
		if len(cells) != 7 || !strings.Contains(cells[1], "`") {
			continue // no row, or the table's head
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		got[strings.Trim(cells[1], "`")] = row{cells[2], cells[5]}
	}
	want := map[string]row{}
	for _, w := range workloads.Tasks() {
		r := want[w.Name]
		if w.Variant != "" {
			if r.variants != "" {
				r.variants += ", "
			}
			r.variants += "`" + w.Variant + "`"
		}
		var refs []string
		for _, ref := range w.Refs {
			refs = append(refs, "`"+ref.Name+"`")
		}
		r.refs = strings.Join(refs, ", ")
		want[w.Name] = r
	}
	for name, r := range want {
		if got[name] != r {
			t.Errorf("docs/workloads.md, row of %s: %+v, want %+v", name, got[name], r)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/workloads.md has a row for %s, which is no workload", name)
		}
	}
}
