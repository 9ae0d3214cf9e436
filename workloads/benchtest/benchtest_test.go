package benchtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads"
)

// The tests run this binary once more, for its benchmarks. The environment
// variable says with which implementation.
const subject = "BENCHTEST_SUBJECT"

var subjects = map[string]dyno.Impl{
	"right": lockbased.Impl,
	"none":  {Name: "none"}, // has no task group
	"loses": {
		Name:     "loses",
		Promises: dyno.Promises{Overlap: true}, // which hogs needs
		NewDispatcher: func() actor.Dispatcher {
			return &losing{Synchronous: serial.NewDispatcher()}
		},
		NewExecutor: serial.Impl.NewExecutor,
		NewGroup:    serial.Impl.NewGroup,
	},
	"wrong": {
		Name:     "wrong",
		Promises: lockbased.Impl.Promises,
		NewGroup: func(ctx context.Context, opts ...group.Option) group.Group[int] {
			return wrong{lockbased.NewGroup[int](ctx, opts...)}
		},
		NewExecutor: newForgetful,
	},
}

// wrong groups change every value. Some workloads notice at the end only.
type wrong struct{ group.Group[int] }

func (g wrong) Next(ctx context.Context) (group.Result[int], bool, error) {
	r, ok, err := g.Group.Next(ctx)
	r.Value++
	return r, ok, err
}

// forgetful executors run every task and say that it was canceled.
type forgetful struct{ task.Executor }

func (forgetful) Status(*task.Handle) task.Status { return task.Cancelled }

// newForgetful is the executor of the subject that is wrong.
func newForgetful() task.Executor { return forgetful{lockbased.NewExecutor()} }

// losing loses the first message to one of the actors that a workload makes, of
// which the first three are the guardians. It is Synchronous, so that a workload
// need not wait to see that a message does not come.
type losing struct {
	actor.Synchronous
	ports int
	lost  bool
}

func (d *losing) Attach(cfg actor.MailboxConfig) actor.Port {
	d.ports++
	if p := d.Synchronous.Attach(cfg); d.ports <= 3 {
		return p
	} else {
		return losingPort{p, d}
	}
}

type losingPort struct {
	actor.Port
	d *losing
}

func (p losingPort) Send(msg any, from actor.Worker) actor.SendResult {
	if !p.d.lost {
		p.d.lost = true
		return actor.Sent
	}
	return p.Port.Send(msg, from)
}

func BenchmarkGroup(b *testing.B) { Groups(b, subjectOf(b)) }
func BenchmarkTask(b *testing.B)  { Tasks(b, subjectOf(b)) }
func BenchmarkActor(b *testing.B) { Actors(b, subjectOf(b)) }

func BenchmarkGroupSideBySide(b *testing.B) { GroupsSideBySide(b, subjectsOf(b)) }
func BenchmarkTaskSideBySide(b *testing.B)  { TasksSideBySide(b, subjectsOf(b)) }
func BenchmarkActorSideBySide(b *testing.B) { ActorsSideBySide(b, subjectsOf(b)) }

// subjectOf returns the implementation that a test asks for.
func subjectOf(b *testing.B) dyno.Impl {
	impl, ok := subjects[os.Getenv(subject)]
	if !ok {
		b.Skip("only for the tests of this package")
	}
	return impl
}

func subjectsOf(b *testing.B) []dyno.Impl { return []dyno.Impl{subjectOf(b), subjects["none"]} }

// output runs the benchmarks that match pattern, n operations each, and returns
// what they print and whether they succeed.
func output(t *testing.T, impl, pattern, benchtime string, args ...string) (string, bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{
		"-test.run=^$", "-test.bench=" + pattern, "-test.benchtime=" + benchtime,
	}, args...)...)
	cmd.Env = append(os.Environ(), subject+"="+impl)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// records parses output as the tools do that read it.
func records(t *testing.T, out string) []*benchfmt.Result {
	t.Helper()
	var rs []*benchfmt.Result
	reader := benchfmt.NewReader(strings.NewReader(out), "output")
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			rs = append(rs, r.Clone())
		case *benchfmt.SyntaxError:
			t.Errorf("%v in\n%s", r, out)
		}
	}
	return rs
}

// names returns the benchmark names without the number of processors.
func names(rs []*benchfmt.Result) []string {
	var s []string
	for _, r := range rs {
		base, parts := r.Name.Parts()
		n := string(base)
		for _, p := range parts {
			if p[0] == '/' {
				n += string(p)
			}
		}
		s = append(s, n)
	}
	return s
}

// units returns the units of a result as they are printed.
func units(r *benchfmt.Result) []string {
	var us []string
	for _, v := range r.Values {
		if v.OrigUnit != "" {
			us = append(us, v.OrigUnit)
		} else {
			us = append(us, v.Unit)
		}
	}
	slices.Sort(us)
	return us
}

// expected returns the units that a workload reports with an implementation that is right.
func expected(w workloads.Workload) []string {
	all := []string{"B/" + w.Item(), "allocs/" + w.Item()}
	if w.Work != nil {
		all = append(all, "rounds/op")
	}
	if !w.Open {
		all = append(all, "ns/op")
	} else {
		all = append(all, "backlog", "backlog-end", "backlog-mean", "max-ns", "mean-ns", "p50-ns", "p99-ns", "p99.9-ns")
	}
	if w.Path() == "workload=spawn" {
		all = append(all, "stop-ns/actor") // and B/actor and actors, if they are more
	}
	for _, name := range w.Timings {
		all = append(all, name+"-p50-ns", name+"-p99-ns", name+"-max-ns")
	}
	for _, name := range w.Shares {
		all = append(all, name+"-%")
	}
	slices.Sort(all)
	return all
}

func TestNamesAndUnits(t *testing.T) {
	out, ok := output(t, "right", "^Benchmark(Group|Task|Actor)$", "1x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	want := map[string]workloads.Workload{}
	for _, w := range workloads.All() {
		want[w.Benchmark("lockbased")] = w
	}
	rs := records(t, out)
	for i, name := range names(rs) {
		w, ok := want[name]
		if !ok {
			t.Errorf("%s is no workload, or there twice", name)
			continue
		}
		delete(want, name)
		if got, want := units(rs[i]), expected(w); !slices.Equal(got, want) {
			t.Errorf("%s reports %q, want %q", name, got, want)
		}
	}
	for name := range want {
		t.Errorf("no result of %s", name)
	}
}

func TestSideBySideHasReferencesFirst(t *testing.T) {
	out, ok := output(t, "right", "^Benchmark.*SideBySide$", "1x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	got := names(records(t, out))
	for _, c := range []workloads.Contract{workloads.GroupContract, workloads.TaskContract, workloads.ActorContract} {
		var want []string
		for _, w := range workloads.All() {
			if w.Contract != c {
				continue
			}
			for _, ref := range w.Refs {
				want = append(want, string(c)+"SideBySide/"+w.Path()+"/impl="+ref.Name)
			}
			want = append(want, string(c)+"SideBySide/"+w.Path()+"/impl=lockbased")
		}
		var have []string
		for _, name := range got {
			if strings.HasPrefix(name, string(c)) {
				have = append(have, name)
			}
		}
		if !slices.Equal(have, want) {
			t.Errorf("benchmarks\n%q\nwant\n%q", have, want)
		}
	}
}

// An allocation in many operations is not none: one task of a thousand here is the frame of
// the others. Nothing else is counted: a reference that calls functions allocates nothing.
func TestAllocations(t *testing.T) {
	out, ok := output(t, "right", "SideBySide/workload=(short|spawnawait|fib)$/(failfast=off|impl=ref-(goroutines|floor))$/impl=ref-goroutines", "100000x")
	few, ok2 := output(t, "right", "TaskSideBySide/workload=(spawnawait|fib)$/impl=ref-(goroutines|floor)$", "100000x")
	if !ok || !ok2 {
		t.Fatalf("failed:\n%s%s", out, few)
	}
	rs := records(t, out+few)
	if len(rs) != 4 {
		t.Fatalf("%d results, want 4:\n%s%s", len(rs), out, few)
	}
	for _, r := range rs {
		v, _ := r.Value("allocs/task")
		switch name := string(r.Name); {
		case strings.Contains(name, "workload=short"):
			// A context with its cancel function, a semaphore, a slice in 256 tasks.
			if v < 2.0/256 || v > 0.1 {
				t.Errorf("%s: %v allocs/task, want a few in 256 tasks", name, v)
			}
		case strings.Contains(name, "ref-floor"):
			if v > 0.01 {
				t.Errorf("%s: %v allocs/task", name, v)
			}
		case v < 0.9:
			t.Errorf("%s: %v allocs/task, want a closure's at least", name, v)
		}
	}
}

// An implementation that lacks something is skipped with the reason.
func TestWhatIsLackingIsSkipped(t *testing.T) {
	out, ok := output(t, "none", "^Benchmark(Group|Task|Actor)$", "1x", "-test.v")
	if !ok || strings.Contains(out, "ns/op") {
		t.Errorf("success %v, want no figures:\n%s", ok, out)
	}
	for _, reason := range []string{"none has no task group", "none has no executor of tasks", "none runs no actors"} {
		if !strings.Contains(out, reason) {
			t.Errorf("no %q in\n%s", reason, out)
		}
	}
}

// A run whose results are wrong, or that has lost a message, has no figure.
//
// It waits twice for ten seconds for a message that does not come, in other processes.
func TestWrongResultsHaveNoFigure(t *testing.T) {
	t.Parallel()
	for subject, contracts := range map[string][]workloads.Contract{
		"wrong": {workloads.GroupContract, workloads.TaskContract},
		"loses": {workloads.ActorContract},
	} {
		if checked && subject == "loses" {
			continue // builds with invariants notice that the dispatcher is wrapped
		}
		for _, c := range contracts {
			out, ok := output(t, subject, "^Benchmark"+string(c)+"$", "1x")
			if ok || strings.Contains(out, "ns/op") {
				t.Errorf("success %v, or a figure of wrong results:\n%s", ok, out)
			}
			for _, w := range workloads.All() {
				if w.Contract != c {
					continue
				}
				name := "Benchmark" + w.Benchmark(subject)
				if !strings.Contains(out, "--- FAIL: "+name) || !strings.Contains(out, w.Path()+": 1 operations: workloads: ") {
					t.Errorf("%s did not fail with a reason:\n%s", name, out)
				}
			}
		}
	}
}

// A listing, which asks for details, has the sentence of each workload; a measurement has not.
func TestSentence(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{{[]string{"-test.v"}, true}, {nil, false}} {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run=^$", "-test.bench=Group/workload=nested", "-test.benchtime=1x"}, c.args...)...)
		cmd.Env = append(os.Environ(), subject+"=right")
		out, err := cmd.CombinedOutput()
		for _, part := range []string{"whether tasks may wait for tasks; an operation is a leaf", "; checked: "} {
			if got := strings.Contains(string(out), part); err != nil || got != c.want {
				t.Errorf("with %q: %v, %q %v\n%s", c.args, err, part, got, out)
			}
		}
	}
}
