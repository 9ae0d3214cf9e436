package remotetest

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/internal/idle"
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
	// the time is the clause's alone.
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
				defer watchdog(c.name, l.Bubble)()
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

// After so many looks a watchdog with the machine's time says that a clause waits in vain: 10 s
// in which no goroutine runs or could run. What a clause waits for by itself takes
// milliseconds, and nodes are silent for no longer than half of that.
const (
	restPause = 100 * time.Millisecond
	restLooks = 100
)

// watchdog ends the process when a clause can only go on waiting, as the limit of go test
// does, though long before it, and by the clause's name. In a bubble that is so when
// time has passed in which everything would have happened; elsewhere when nothing in
// the process runs: how long a busy machine takes says nothing.
func watchdog(clause string, bubble bool) (stop func()) {
	bark := func() { panic(fmt.Sprintf("remotetest: %s waits in vain for what the other node has to do", clause)) }
	if bubble {
		t := time.AfterFunc(2*patience, bark)
		return func() { t.Stop() }
	}
	over := make(chan struct{})
	go func() {
		tick := time.NewTicker(restPause)
		defer tick.Stop()
		for rests := 0; rests < restLooks; {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			if idle.Now() {
				rests++
			} else {
				rests = max(0, rests-1) // a heartbeat, or what looks for work
			}
		}
		bark()
	}()
	return func() { close(over) }
}
