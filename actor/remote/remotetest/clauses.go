package remotetest

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/actor/remote"
)

// clauses are all of them.
var clauses = slices.Concat(messages, control, pressure, ends)

// A clause is a rule that two nodes keep over any wire.
type clause struct {
	name string
	why  string
	// config is that of both nodes.
	config remote.Config
	// timed says that it is about time limits: it is run in bubbles only, where
	// the time is nobody's but the clause's.
	timed bool
	check func(w *world)
}

// Run runs the clauses over a link.
func Run(t *testing.T, l Link) {
	for _, c := range clauses {
		t.Run(c.name, func(t *testing.T) {
			check := func(t *testing.T) {
				defer func() {
					if t.Failed() {
						t.Log("the rule:", c.why)
					}
				}()
				w := &world{T: t, link: l, config: c.config}
				w.a = NewHost(t, "a", dispatcher("lockbased"), c.config)
				w.b = NewHost(t, "b", dispatcher("workstealing"), c.config)
				w.join()
				c.check(w)
			}
			switch {
			case l.Bubble:
				synctest.Test(t, check)
			case c.timed:
				t.Skip("it is about time, which here is the machine's: it is run over wires in memory")
			default:
				check(t)
			}
		})
	}
}
