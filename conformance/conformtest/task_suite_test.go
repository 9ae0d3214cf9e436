package conformtest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/conformance"
)

// wrongExecutors says of every bug which clauses must notice it.
var wrongExecutors = []struct {
	bug     taskBug
	lone    bool
	clauses string // names without "task/"
}{}

var knownTaskBugs = func() map[taskBug]bool {
	m := map[taskBug]bool{}
	for _, w := range wrongExecutors {
		m[w.bug] = true
	}
	return m
}()

// TestRightExecutor runs the same executors without a bug, which must pass every
// clause every time, in a bubble and outside.
func TestRightExecutor(t *testing.T) {
	set, runs := testSettings(t)
	for _, lone := range []bool{false, true} {
		for _, parks := range []bool{true, false} {
			impl := wrongTaskImpl("", lone)
			impl.Promises.Parks = parks
			s := &suite{impl: impl, set: set, limit: patience}
			runs := runs
			if !parks { // there it takes long to tell that nothing happens
				if testing.Short() || raceEnabled {
					continue
				}
				runs = max(1, set.soak)
			}
			for _, c := range conformance.Task() {
				if c.Skip(s.env(0)) != "" {
					continue
				}
				began := time.Now()
				for i := range runs {
					if err := s.try(t, c.Check, set.seedOf(i)); err != nil {
						t.Errorf("%s (lone: %v, parks: %v, run %d of %d, seed %d): %v", c.Name, lone, parks, i+1, runs, set.seedOf(i), err)
						break
					}
				}
				if d := time.Since(began) / time.Duration(runs); d > 200*time.Millisecond {
					t.Logf("%s (lone: %v, parks: %v) took %v", c.Name, lone, parks, d)
				}
			}
		}
	}
}

// TestWrongExecutors runs executors that are wrong in one way, and demands that
// the clauses that are there for it fail every time.
func TestWrongExecutors(t *testing.T) {
	for _, w := range wrongExecutors {
		t.Run(string(w.bug), func(t *testing.T) {
			set, _ := testSettings(t)
			all := map[string]conformance.Clause{}
			for _, c := range conformance.Task() {
				all[strings.TrimPrefix(c.Name, "task/")] = c
			}
			s := &suite{impl: wrongTaskImpl(w.bug, w.lone), set: set, limit: patience}
			for _, name := range strings.Fields(w.clauses) {
				c, ok := all[name]
				if !ok {
					t.Fatalf("there is no clause task/%s", name)
				}
				caught, passed := 0, uint64(0) // the seed of a run that passed
				began := time.Now()
				for range wrongRuns {
					seed := rand.Uint64()
					err := s.try(t, c.Check, seed)
					if err == nil {
						passed = seed
						continue
					}
					if caught++; caught == 1 {
						t.Logf("%s: %v", c.Name, firstLine(err))
					}
				}
				t.Logf("%s: caught in %d of %d runs (%v)", c.Name, caught, wrongRuns, time.Since(began).Round(time.Millisecond))
				if caught < wrongRuns {
					t.Errorf("%s passed in %d of %d runs, once with seed %d", c.Name, wrongRuns-caught, wrongRuns, passed)
				}
			}
		})
	}
}
