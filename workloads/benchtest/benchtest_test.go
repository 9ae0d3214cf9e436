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
	"github.com/dynolab/dyno/workloads"
)

// The tests run this binary once more, for its benchmarks. The environment
// variable says with which implementation.
const subject = "BENCHTEST_SUBJECT"

var subjects = map[string]dyno.Impl{
	"right": lockbased.Impl,
	"none":  {Name: "none"}, // has no task group
	"loses": {
		Name: "loses",
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

func BenchmarkGroup(b *testing.B) {
	impl, ok := subjects[os.Getenv(subject)]
	if !ok {
		b.Skip("only for the tests of this package")
	}
	Groups(b, impl)
}

func BenchmarkGroupSideBySide(b *testing.B) {
	if os.Getenv(subject) == "" {
		b.Skip("only for the tests of this package")
	}
	GroupsSideBySide(b, []dyno.Impl{subjects["right"], subjects["none"]})
}

// No workload of today needs a promise; this one does.
func BenchmarkNeeds(b *testing.B) {
	if os.Getenv(subject) == "" {
		b.Skip("only for the tests of this package")
	}
	w := workloads.Groups()[0]
	w.Needs = dyno.Promises{Overlap: true, Eager: true}
	promises := subjects["right"]
	eager := dyno.Impl{Name: "eager", Promises: dyno.Promises{Eager: true}, NewGroup: promises.NewGroup}
	modest := dyno.Impl{Name: "modest", NewGroup: promises.NewGroup}
	for _, impl := range []dyno.Impl{modest, eager, promises} {
		benchImpl(b, w, impl)
	}
}

func BenchmarkActor(b *testing.B) {
	impl, ok := subjects[os.Getenv(subject)]
	if !ok {
		b.Skip("only for the tests of this package")
	}
	Actors(b, impl)
}

func BenchmarkActorSideBySide(b *testing.B) {
	if os.Getenv(subject) == "" {
		b.Skip("only for the tests of this package")
	}
	ActorsSideBySide(b, []dyno.Impl{subjects["right"], subjects["none"]})
}

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

func TestNamesAndUnits(t *testing.T) {
	out, ok := output(t, "right", "^BenchmarkGroup$", "300x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	rs := records(t, out)
	var want []string
	for _, w := range workloads.Groups() {
		want = append(want, "Group/"+w.Path()+"/impl=lockbased")
	}
	if got := names(rs); !slices.Equal(got, want) {
		t.Errorf("benchmarks\n%q\nwant\n%q", got, want)
	}
	for _, r := range rs {
		units := []string{"sec/op", "allocs/task", "B/task"}
		if strings.Contains(string(r.Name), "workload=uneven") {
			units = append(units, "rounds/op")
		}
		for _, unit := range units {
			if _, ok := r.Value(unit); !ok {
				t.Errorf("%s reports no %s", r.Name, unit)
			}
		}
		if len(r.Values) != len(units) {
			t.Errorf("%s reports %d values, want %d: %v", r.Name, len(r.Values), len(units), r.Values)
		}
	}
}

func TestSideBySideHasReferencesFirst(t *testing.T) {
	out, ok := output(t, "right", "^BenchmarkGroupSideBySide$", "1x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	var want []string
	for _, w := range workloads.Groups() {
		for _, ref := range w.Refs {
			want = append(want, "GroupSideBySide/"+w.Path()+"/impl="+ref.Name)
		}
		want = append(want, "GroupSideBySide/"+w.Path()+"/impl=lockbased")
	}
	if got := names(records(t, out)); !slices.Equal(got, want) {
		t.Errorf("benchmarks\n%q\nwant\n%q", got, want)
	}
}

// An allocation in many operations is not none.
func TestAllocationsHaveFractions(t *testing.T) {
	out, ok := output(t, "right", "GroupSideBySide/workload=short/failfast=off/impl=ref-goroutines$", "256000x")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	rs := records(t, out)
	if len(rs) != 1 {
		t.Fatalf("%d results, want 1:\n%s", len(rs), out)
	}
	for _, unit := range []string{"allocs/task", "B/task"} {
		v, _ := rs[0].Value(unit)
		if v == 0 || v == float64(int(v)) {
			t.Errorf("%v %s: the fraction is lost", v, unit)
		}
	}
	// A context with its cancel function, a semaphore, a slice in 256 tasks.
	if v, _ := rs[0].Value("allocs/task"); v < 2.0/256 || v > 0.1 {
		t.Errorf("%v allocs/task, want a few in 256 tasks", v)
	}
}

func TestLackingPromiseIsSkippedWithReason(t *testing.T) {
	out, ok := output(t, "right", "^BenchmarkNeeds$", "1x", "-test.v")
	if !ok {
		t.Fatalf("failed:\n%s", out)
	}
	for _, want := range []string{
		"needs Overlap, Eager, which modest does not promise",
		"needs Overlap, which eager does not promise",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no reason %q in\n%s", want, out)
		}
	}
	if got := names(records(t, out)); len(got) != 1 || !strings.HasSuffix(got[0], "/impl=lockbased") {
		t.Errorf("figures of %q, want of lockbased only", got)
	}
}

func TestNoTaskGroupIsSkipped(t *testing.T) {
	out, ok := output(t, "none", "^BenchmarkGroup$", "1x", "-test.v")
	if !ok || !strings.Contains(out, "none has no task group") || strings.Contains(out, "ns/op") {
		t.Errorf("success %v, want the reason and no figures:\n%s", ok, out)
	}
}

func TestWrongResultsHaveNoFigure(t *testing.T) {
	out, ok := output(t, "wrong", "^BenchmarkGroup$", "1x")
	if ok {
		t.Errorf("success")
	}
	if strings.Contains(out, "ns/op") {
		t.Errorf("a figure of wrong results:\n%s", out)
	}
	for _, w := range workloads.Groups() {
		name := "BenchmarkGroup/" + w.Path() + "/impl=wrong"
		if !strings.Contains(out, "--- FAIL: "+name) || !strings.Contains(out, w.Path()+": 1 operations: workloads: ") {
			t.Errorf("%s did not fail with a reason:\n%s", name, out)
		}
	}
}
