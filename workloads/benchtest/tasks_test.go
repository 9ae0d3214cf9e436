package benchtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads"
)

// forgetful executors run every task and say that it was canceled.
type forgetful struct{ task.Executor }

func (forgetful) Status(*task.Handle) task.Status { return task.Cancelled }

// newForgetful is the executor of the subject that is wrong.
func newForgetful() task.Executor { return forgetful{lockbased.NewExecutor()} }

func BenchmarkTask(b *testing.B) {
	impl, ok := subjects[os.Getenv(subject)]
	if !ok {
		b.Skip("only for the tests of this package")
	}
	Tasks(b, impl)
}

func BenchmarkTaskSideBySide(b *testing.B) {
	if os.Getenv(subject) == "" {
		b.Skip("only for the tests of this package")
	}
	TasksSideBySide(b, []dyno.Impl{subjects["right"], subjects["none"]})
}

// No workload of today needs a promise; this one does.
func BenchmarkTaskNeeds(b *testing.B) {
	if os.Getenv(subject) == "" {
		b.Skip("only for the tests of this package")
	}
	w := workloads.Tasks()[0]
	w.Needs = dyno.Promises{Overlap: true, Eager: true}
	promises := subjects["right"]
	modest := dyno.Impl{Name: "modest", Promises: dyno.Promises{Eager: true}, NewExecutor: promises.NewExecutor}
	for _, impl := range []dyno.Impl{modest, promises} {
		benchTaskImpl(b, w, impl)
	}
}

func TestTaskNamesAndUnits(t *testing.T) {
	out, ok := output(t, "right", "^BenchmarkTask$", "300x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	rs := records(t, out)
	var want []string
	for _, w := range workloads.Tasks() {
		want = append(want, "Task/"+w.Path()+"/impl=lockbased")
	}
	if got := names(rs); !slices.Equal(got, want) {
		t.Errorf("benchmarks\n%q\nwant\n%q", got, want)
	}
	for _, r := range rs {
		if us, want := units(r), []string{"B/task", "allocs/task", "ns/op"}; !slices.Equal(us, want) {
			t.Errorf("%s reports %q, want %q", r.Name, us, want)
		}
	}
}

func TestTaskSideBySideHasReferencesFirst(t *testing.T) {
	out, ok := output(t, "right", "^BenchmarkTaskSideBySide$", "1x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	var want []string
	for _, w := range workloads.Tasks() {
		for _, ref := range w.Refs {
			want = append(want, "TaskSideBySide/"+w.Path()+"/impl="+ref.Name)
		}
		want = append(want, "TaskSideBySide/"+w.Path()+"/impl=lockbased")
	}
	if got := names(records(t, out)); !slices.Equal(got, want) {
		t.Errorf("benchmarks\n%q\nwant\n%q", got, want)
	}
}

// What is allocated for a task is counted, and nothing else: one task of a
// thousand here is the frame of the others, and a reference that calls functions
// allocates nothing.
func TestTaskAllocations(t *testing.T) {
	out, ok := output(t, "right", "TaskSideBySide/workload=(spawnawait|fib)$/impl=ref-(goroutines|floor)$", "100000x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	rs := records(t, out)
	if len(rs) != 3 {
		t.Fatalf("%d results, want 3:\n%s", len(rs), out)
	}
	for _, r := range rs {
		v, _ := r.Value("allocs/task")
		switch name := string(r.Name); {
		case strings.Contains(name, "ref-floor"):
			if v > 0.01 {
				t.Errorf("%s: %v allocs/task", name, v)
			}
		case v < 0.9:
			t.Errorf("%s: %v allocs/task, want a closure's at least", name, v)
		}
	}
}

func TestTaskLackingPromiseIsSkippedWithReason(t *testing.T) {
	out, ok := output(t, "right", "^BenchmarkTaskNeeds$", "1x", "-test.v")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	if !strings.Contains(out, "needs Overlap, which modest does not promise") {
		t.Errorf("no reason in\n%s", out)
	}
	if got := names(records(t, out)); len(got) != 1 || !strings.HasSuffix(got[0], "/impl=lockbased") {
		t.Errorf("figures of %q, want of lockbased only", got)
	}
}

func TestNoExecutorIsSkipped(t *testing.T) {
	out, ok := output(t, "none", "^BenchmarkTask$", "1x", "-test.v")
	if !ok || !strings.Contains(out, "none has no executor of tasks") || strings.Contains(out, "ns/op") {
		t.Errorf("success %v, want the reason and no figures:\n%s", ok, out)
	}
}

func TestWrongTasksHaveNoFigure(t *testing.T) {
	out, ok := output(t, "wrong", "^BenchmarkTask$", "1x")
	if ok {
		t.Errorf("success")
	}
	if strings.Contains(out, "ns/op") {
		t.Errorf("a figure of wrong results:\n%s", out)
	}
	for _, w := range workloads.Tasks() {
		name := "BenchmarkTask/" + w.Path() + "/impl=wrong"
		if !strings.Contains(out, "--- FAIL: "+name) || !strings.Contains(out, w.Path()+": 1 operations: workloads: ") {
			t.Errorf("%s did not fail with a reason:\n%s", name, out)
		}
	}
}
