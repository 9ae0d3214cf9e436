package workstealing

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
	cases := map[string]func(g *Group[int]){
		"no more tasks complete than were accepted":        func(g *Group[int]) { g.results.push(group.Result[int]{}) },
		"seen never exceeds the number of completed tasks": func(g *Group[int]) { g.seen.Store(1) },
		"settled implies closed and nothing in flight":     func(g *Group[int]) { g.outcome.Settle() },
	}
	for rule, breakIt := range cases {
		g := NewGroup[int](t.Context(), group.WithMaxConcurrency(2))
		breakIt(g)
		func() {
			defer func() {
				want := "workstealing: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("check said %v, want %q", got, want)
				}
			}()
			g.check()
		}()
	}
}

// Likewise of the dispatcher.
func TestDispatcherInvariantsAreChecked(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	d := NewDispatcherOn(newPool())
	for rule, breakIt := range map[string]func(){
		"first holds a message only while the actor is scheduled": func() {
			b := &box{d: d, any: true}
			b.Send(1, nil)
		},
		"an actor has a turn only if it is scheduled": func() { new(box).run(newWorker(d.pool, 1), nil) },
		"what a worker leaves behind when it begins a job is taken by another": func() {
			w := newWorker(d.pool, 1)
			w.next.Store(new(box))
			w.checkLeft()
		},
	} {
		func() {
			defer func() {
				want := "workstealing: invariant violated: " + rule
				if got := recover(); got != want {
					t.Errorf("%v was said, want %q", got, want)
				}
			}()
			breakIt()
		}()
	}
}
