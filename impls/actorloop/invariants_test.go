package actorloop

import (
	"testing"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
)

// Each broken state is reported by its rule, in builds that check.
func TestInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	cases := map[string]func(g *Group[int], m *state[int]){
		"inflight >= 0": func(_ *Group[int], m *state[int]) { m.inflight, m.submitted = -1, -1 },
		"a submit arrives only if a credit was spent for it":        func(_ *Group[int], m *state[int]) { m.coming = -1 },
		"credit + inflight + submits on their way = limit":          func(_ *Group[int], m *state[int]) { m.inflight, m.submitted = 1, 1 },
		"firstErr never changes":                                    func(_ *Group[int], m *state[int]) { m.firsts = 2 },
		"drained implies closed, nothing in flight, no result left": func(_ *Group[int], m *state[int]) { m.drained = true },
		"closed, nothing in flight, no result left imply drained": func(g *Group[int], m *state[int]) {
			m.closed, m.settled = true, true
		},
		"a next waits only if there is neither result nor end": func(_ *Group[int], m *state[int]) {
			new(call[int]).join(&m.nextWaiters)
			m.results.Push(group.Result[int]{})
		},
		"a wait waits only if a task is in flight": func(_ *Group[int], m *state[int]) {
			new(call[int]).join(&m.waiters)
		},
		"every submitted task is in flight or has emitted one taskDone": func(_ *Group[int], m *state[int]) {
			m.submitted = 1
		},
		"only the manager loop changes the state": func(g *Group[int], m *state[int]) {
			m.loops.Add(1)
		},
	}
	for rule, breakIt := range cases {
		g := NewGroup[int](t.Context(), group.WithMaxConcurrency(2))
		g.manager.loops.Store(1)
		breakIt(g, &g.manager)
		func() {
			defer func() {
				want := "actorloop: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			g.check()
		}()
	}
}
