package serial

import (
	"context"
	"testing"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
	"github.com/dynolab/dyno/task"
)

// Each broken state is reported by its rule, in builds that check.
func TestInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	cases := map[string]func(g *Group[int]){
		"a consumer waits only if there is neither result nor end": func(g *Group[int]) {
			g.results.Push(group.Result[int]{})
			g.consumers.Push(new(queue.Node[consumer[int]]))
		},
		"a demanded task is in progress": func(g *Group[int]) {
			g.queued.Push(entry[int]{func(context.Context) (int, error) { return 0, nil }, 1})
			g.idle = new(idle)
		},
		"settled implies closed and nothing in flight": func(g *Group[int]) { g.settled = true },
	}
	for rule, breakIt := range cases {
		g := NewGroup[int](t.Context(), group.WithMaxConcurrency(2))
		breakIt(g)
		func() {
			defer func() {
				want := "serial: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			g.check()
		}()
	}
}

// Each broken state of an executor is reported by its rule, in builds that check.
func TestExecutorInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	returns := func(context.Context) error { return nil }
	for rule, breakIt := range map[string]func(x *Executor){
		"if nothing is ready, nothing is waited for": func(x *Executor) {
			h := task.Start(x, returns)
			x.ready.Remove(h)
			_ = h.Wait(t.Context())
		},
		"a task waits for one thing at a time": func(x *Executor) {
			h, from := task.Start(x, returns), task.Start(x, returns)
			x.current = from
			x.job(from).awaits = h
			_ = x.Wait(t.Context(), h, from)
		},
	} {
		func() {
			defer func() {
				want := "serial: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			breakIt(NewExecutor())
		}()
	}
}
