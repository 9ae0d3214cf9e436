package conform_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/conform"
	"github.com/dynolab/dyno/hw/firmware/conform/actor"
	groupPart "github.com/dynolab/dyno/hw/firmware/conform/group"
	"github.com/dynolab/dyno/hw/firmware/conform/task"
	"github.com/dynolab/dyno/hw/firmware/internal/porttest"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/serial"
)

// run runs the firmware with the clauses of impl, and returns the texts of what it says.
func run(t *testing.T, impl dyno.Impl, on conformance.Platform, in string) (texts []string) {
	t.Helper()
	p := &porttest.Port{In: in}
	firmware.Main(firmware.Board{Name: "fake", Port: p, Clock: &porttest.Clock{Look: 1}, Exit: func(int) {}, Platform: on}, impl, firmware.Build{}, conform.Cases(impl))
	return porttest.Texts(t, p.Out.String())
}

// asked returns the commands that ask for all clauses of impl.
func asked(impl dyno.Impl) (in string, n int) {
	var b strings.Builder
	for c := range conform.Cases(impl) {
		b.WriteString("run " + c.Part + "/" + c.Name + "\n")
		n++
	}
	return b.String(), n
}

// All clauses of all contracts are cases, and serial, which boards run, keeps them: on a
// board that can do no more than one must.
func TestSerialOnABoard(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as on boards without Settle
	in, n := asked(serial.Impl)
	if want := len(conformance.Group()) + len(conformance.Actor()) + len(conformance.Core()) + len(conformance.Task()); n != want {
		t.Errorf("%d cases, want %d", n, want)
	}
	ok, skipped := 0, 0
	for _, text := range run(t, serial.Impl, conformance.Platform{}, in) {
		switch {
		case strings.HasPrefix(text, "end ") && strings.HasSuffix(text, " ok"):
			ok++
		case strings.HasPrefix(text, "end ") && strings.Contains(text, " skipped needs "):
			skipped++
		case strings.HasPrefix(text, line.FailPrefix), strings.HasPrefix(text, "end "):
			t.Error(text)
		}
	}
	if ok+skipped != n || skipped < 10 || ok < n/2 {
		t.Errorf("of %d clauses %d passed and %d were skipped", n, ok, skipped)
	}
}

// The list says what would be skipped, and why.
func TestList(t *testing.T) {
	skips := make(map[string]string)
	for _, text := range run(t, serial.Impl, conformance.Platform{}, "list\n") {
		if c, ok := line.ParseListed(text); ok {
			skips[c.Name] = c.Skip
		}
	}
	for name, want := range map[string]string{
		"conform/group/goexit-is-an-error":    "needs Goexit, which this platform does not have",
		"conform/group/leaves-no-goroutine":   "needs Goroutines, which this platform does not have",
		"conform/group/next-completion-order": skips["conform/group/next-completion-order"],
	} {
		if got, ok := skips[name]; !ok || got != want {
			t.Errorf("%s: listed %v, skipped for %q, want %q", name, ok, got, want)
		}
	}
}

// forgetful is an implementation whose groups forget that they are closed.
func forgetful() dyno.Impl {
	impl := serial.Impl
	impl.Name = "forgetful"
	impl.NewGroup = func(ctx context.Context, opts ...group.Option) group.Group[int] {
		return &open{Group: serial.Impl.NewGroup(ctx, opts...)}
	}
	return impl
}

type open struct{ group.Group[int] }

func (o *open) Go(fn group.TaskFunc[int]) error {
	if err := o.Group.Go(fn); err != group.ErrGroupClosed {
		return err
	}
	return nil
}

// A clause that is broken fails, says what was seen and which rule that is, and the next
// one runs.
func TestABrokenClause(t *testing.T) {
	said := strings.Join(run(t, forgetful(), conformance.Platform{}, "run conform/group/go-after-close\nrun conform/group/go-nil-task\n"), "\n")
	if !strings.Contains(said, "fail ") || !strings.Contains(said, " – rule G") || !strings.Contains(said, "end run conform/group/go-after-close failed") {
		t.Errorf("the board says\n%s", said)
	}
	if !strings.Contains(said, "end run conform/group/go-nil-task ok") {
		t.Errorf("the board says\n%s", said)
	}
}

// A check settles as its board does.
func TestSettle(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as on boards without Settle
	settled, done := 0, make(chan bool)
	cases := conform.Of(serial.Impl, func(yield func(*conformance.Clause) bool) {
		yield(&conformance.Clause{Name: "toy/settles", Check: func(e *conformance.Env) error {
			ran := done
			go func() {
				for range 20 {
					runtime.Gosched()
				}
				close(ran)
			}()
			e.Settle()
			if settled > 0 {
				return nil // the board's own
			}
			select {
			case <-done:
				return nil
			default:
				return errors.New("a goroutine that could run has not")
			}
		}})
	})
	for _, settle := range []func(){nil, func() { settled++; <-done }} {
		done = make(chan bool)
		p := &porttest.Port{In: "run conform/toy/settles\n"}
		board := firmware.Board{Name: "fake", Port: p, Clock: &porttest.Clock{Look: 1}, Exit: func(int) {}, Settle: settle}
		firmware.Main(board, serial.Impl, firmware.Build{}, cases)
		if said := p.Out.String(); !strings.Contains(said, "end run conform/toy/settles ok") {
			t.Errorf("the board says\n%s", said)
		}
	}
	if settled != 1 {
		t.Errorf("the board's Settle was called %d times, want once", settled)
	}
}

// The parts that an image can have have all clauses together, each once and in the same
// order, and each those of its contract.
func TestParts(t *testing.T) {
	names := func(cases firmware.Cases) (names []string) {
		for c := range cases {
			names = append(names, c.Part+"/"+c.Name)
		}
		return names
	}
	without := serial.Impl
	without.NewGroup, without.NewDispatcher, without.NewExecutor = nil, nil, nil
	var all []string
	for _, part := range []struct {
		prefix string
		cases  func(dyno.Impl) firmware.Cases
	}{
		{"conform/group/", groupPart.Cases},
		{"conform/actor/", actor.Cases},
		{"conform/task/", task.Cases},
	} {
		some := names(part.cases(serial.Impl))
		if len(some) == 0 {
			t.Errorf("a part of %s is empty", part.prefix)
		}
		for _, name := range some {
			if !strings.HasPrefix(name, part.prefix) {
				t.Errorf("%s is in a part of %s", name, part.prefix)
			}
		}
		if some := names(part.cases(without)); len(some) > 0 {
			t.Errorf("an implementation without contracts has %q", some)
		}
		all = append(all, some...)
	}
	if want := names(conform.Cases(serial.Impl)); !slices.Equal(all, want) {
		t.Errorf("the parts have\n%q\nwant\n%q", all, want)
	}
}

// Every implementation has the clauses of what it implements, and no others.
func TestEveryImplementation(t *testing.T) {
	for _, impl := range impls.All() {
		if _, n := asked(impl); n == 0 {
			t.Errorf("%s has no clauses", impl.Name)
		}
		impl.NewDispatcher, impl.NewExecutor = nil, nil
		want := len(conformance.Group())
		if impl.NewGroup == nil {
			want = 0
		}
		if _, n := asked(impl); n != want {
			t.Errorf("%s without actors and executor: %d clauses, want %d", impl.Name, n, want)
		}
	}
}
