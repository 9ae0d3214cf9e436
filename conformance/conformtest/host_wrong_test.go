package conformtest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests of this file come before all others that run wrong implementations: the clauses
// make hundreds of collections, and each has to go through the stacks of the goroutines that
// wrong ones have left in their bubbles.

// hostLimits are of a run of a host's clause, for bugs that make it hang.
var hostLimits = map[bug]time.Duration{
	"one task at a time":         200 * time.Millisecond,
	"one worker":                 100 * time.Millisecond,
	"who waits spins":            time.Second,
	"waiting sender spins":       time.Second,
	"every seventh message lost": 500 * time.Millisecond, // the quiet one's as well
}

// byDay are the bugs that clauses on a host are tried with by day too, with the others only
// at night: no machine hides them.
var byDay = []bug{"messages kept", "one worker", "one task at a time", "executors kept"}

// TestWrongOnHost is TestWrong for clauses that need a host.
func TestWrongOnHost(t *testing.T) {
	for _, k := range wrongKinds {
		for _, w := range k.onHost {
			if !nightly && wrongRunsAsked() == 0 && !slices.Contains(byDay, w.bug) {
				continue
			}
			t.Run(k.name+"/"+string(w.bug), func(t *testing.T) {
				// What spins may see only in the middle of the next bug that it is over.
				spinOver.Store(!w.bug.is("who waits spins", "waiting sender spins"))
				defer func() {
					spinOver.Store(true) // else the next bugs lack the processors
					wrongLeft, wrongExecutorsLeft = nil, nil
				}()
				set, _ := testSettings(t)
				set.flood, set.cycles = 10_000, 100_000
				if !nightly {
					set.million = 50_000 // what keeps a word of each shows
				}
				if w.bug == "a byte of each message kept" {
					set.million = 1_000_000 // fewer bytes do not show
				}
				set.futures, set.depth = 5_000, 1000
				s := &suite{impl: k.impl(w.bug), set: set, limit: patience}
				if limit := hostLimits[w.bug]; limit > 0 {
					s.limit = limit
				}
				for _, name := range strings.Fields(w.clauses) {
					i := slices.IndexFunc(k.host, func(c hostClause) bool { return c.Name == k.contract+"/"+name })
					if i < 0 {
						t.Fatalf("there is no clause %s/%s", k.contract, name)
					}
					catches(t, k.host[i].Name, wrongRunsOnHost(), func(seed uint64) outcome {
						s.set.seed = seed
						return k.host[i].check(t, s)
					})
				}
			})
		}
	}
}

// wrongRunsOnHost is how often a clause that needs a host is run. They take real time.
func wrongRunsOnHost() int {
	switch asked := wrongRunsAsked(); {
	case asked > 0:
		return asked
	case raceEnabled, !nightly:
		return 1
	}
	return 2
}
