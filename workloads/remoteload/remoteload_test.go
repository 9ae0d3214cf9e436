package remoteload

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads"
)

// do performs operations, twice, and closes the run.
func do(w workloads.Workload, prepare func(workloads.Setting) workloads.Run, impl dyno.Impl, n int) error {
	run := prepare(workloads.Setting{Impl: impl, Ops: 2 * n})
	defer run.Close()
	for range 2 {
		if err := run.Do(n); err != nil {
			return err
		}
	}
	return run.Check()
}

// Every workload on every implementation that it needs no more of, and every
// reference, for many numbers of operations; no goroutine is left.
func TestWorkloads(t *testing.T) {
	counts := []int{1, 2, 7, 1000}
	if testing.Short() {
		counts = []int{7, 300}
	}
	for _, w := range All(TCP()) {
		for _, ref := range w.Refs {
			t.Run(w.Path()+"/"+ref.Name, func(t *testing.T) {
				before := goleak.IgnoreCurrent()
				for _, n := range counts {
					if err := do(w, ref.Prepare, dyno.Impl{}, n); err != nil {
						t.Errorf("%d operations: %v", n, err)
					}
				}
				goleak.VerifyNone(t, before)
			})
		}
		for _, impl := range impls.All() {
			t.Run(w.Path()+"/"+impl.Name, func(t *testing.T) {
				if why := w.Lacks(impl); why != "" {
					t.Skip(why)
				}
				before := goleak.IgnoreCurrent()
				for _, n := range counts {
					if err := do(w, w.Prepare, impl, n); err != nil {
						t.Errorf("%d operations: %v", n, err)
					}
				}
				goleak.VerifyNone(t, before)
			})
		}
	}
}

// A workload fails if one of its messages is lost, comes twice, or is another.
func TestSabotage(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	patience = 300 * time.Millisecond // what is lost never comes, however long one waits
	impl := impls.All()[0]
	for harm, f := range map[string]func(next actor.ReceiveFunc, ctx *actor.Context, msg any) error{
		"lost": func(actor.ReceiveFunc, *actor.Context, any) error { return nil },
		"twice": func(next actor.ReceiveFunc, ctx *actor.Context, msg any) error {
			if err := next(ctx, msg); err != nil {
				return err
			}
			return next(ctx, msg)
		},
		"altered": func(next actor.ReceiveFunc, ctx *actor.Context, msg any) error {
			switch m := msg.(type) {
			case Note:
				msg = m + 1
			case request:
				m.Note++
				msg = m
			case actor.Terminated:
				m.Err = nil
				msg = m
			}
			return next(ctx, msg)
		},
	} {
		for _, w := range (kit{link: TCP()}).all() {
			t.Run(harm+"/"+w.Path(), func(t *testing.T) {
				var left atomic.Int64 // messages until the one that is harmed
				left.Store(50)
				k := kit{link: TCP(), middleware: []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
					return func(ctx *actor.Context, msg any) error {
						switch msg.(type) {
						case Note, request, actor.Terminated:
							if left.Add(-1) == 0 {
								return f(next, ctx, msg)
							}
						}
						return next(ctx, msg)
					}
				}}}
				for _, x := range k.all() {
					if x.Path() == w.Path() {
						if err := do(x, x.Prepare, impl, 300); err == nil {
							t.Error("nothing was noticed")
						}
					}
				}
			})
		}
	}
}

// The document names every workload.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/remote.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range All(TCP()) {
		for _, part := range strings.Split(strings.TrimPrefix(w.Path(), "workload="), "/") {
			if !strings.Contains(string(text), "`"+part+"`") {
				t.Errorf("docs/remote.md does not have `%s`", part)
			}
		}
	}
}
