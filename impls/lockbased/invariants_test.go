package lockbased

import (
	"testing"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
)

// Each broken state is reported by its rule, in builds that check.
func TestInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	cases := map[string]func(g *Group[int]){
		"inflight >= 0":              func(g *Group[int]) { g.inflight = -1 },
		"inflight <= MaxConcurrency": func(g *Group[int]) { g.inflight = 3 },
		"a submission waits only if the group is open and full": func(g *Group[int]) {
			g.inflight = 1
			g.blocked.Push(new(submission[int]))
		},
		"a consumer waits only if there is neither result nor end": func(g *Group[int]) {
			g.results.Push(group.Result[int]{})
			g.consumers.Push(new(queue.Node[consumer[int]]))
		},
		"a Wait waits only if a task is in flight":     func(g *Group[int]) { g.idle = new(idle) },
		"settled implies closed and nothing in flight": func(g *Group[int]) { g.settled = true },
	}
	for rule, breakIt := range cases {
		g := NewGroup[int](t.Context(), group.WithMaxConcurrency(2))
		breakIt(g)
		func() {
			defer func() {
				want := "lockbased: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			g.check()
		}()
	}
}
