package channel

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
	cases := map[string]func(g *Group[int], s *state[int]){
		"the state exists once":                        func(g *Group[int], s *state[int]) { g.turn <- s },
		"inflight >= 0":                                func(g *Group[int], s *state[int]) { s.inflight = -1 },
		"every task in flight has a slot":              func(g *Group[int], s *state[int]) { s.inflight = 1 },
		"settled implies closed and nothing in flight": func(g *Group[int], _ *state[int]) { g.outcome.Settle() },
	}
	for rule, breakIt := range cases {
		g := NewGroup[int](t.Context(), group.WithMaxConcurrency(2))
		s := <-g.turn
		breakIt(g, s)
		func() {
			defer func() {
				want := "channel: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			g.check(s)
		}()
	}
}
