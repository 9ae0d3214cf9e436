package conformtest

import (
	"slices"
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
}{
	// Starting.
	{"every fiftieth task forgotten", false, "start-once fork-many"},
	{"task run by its starter", false, "start-on-another-goroutine fork-on-another-goroutine"},
	{"tasks started by who waits only", false, "promise-eager start-once"},
	{"one task at a time", false, "promise-overlap promise-overlap-many promise-overlap-forks future-nested"},
	{"tasks accepted after Close", false, "close-refuses close-refuses-forks close-in-a-task"},

	// Counting.
	{"Pending counts all that were ever started", false, "pending-counts pending-at-the-end"},
	{"counted after it is seen", false, "pending-at-the-end"},
	{"canceled task counts until it returns", false, "pending-canceled"},

	// The end.
	{"Close cancels", false, "close-runs-on close-does-not-wait"},
	{"Close waits", false, "close-does-not-wait close-in-a-task"},
	{"second Close panics", false, "close-twice"},
	{"goroutine left by Close", false, "leaves-no-goroutine goroutines-bounded"},

	// States and waits.
	{"Done made anew", false, "done-same done-by-many"},
	{"Done closed when the task returns", false, "done-closed-at-the-end cancel-in-progress"},
	{"one waiter released", false, "wait-by-many cancel-releases-waiters wait-same-for-ever"},
	{"waiters released when the task returns", false, "cancel-releases-waiters cancel-in-progress"},
	{"Wait ignores its context", false, "wait-context-ends wait-context-has-ended wait-in-a-task-gives-up"},
	{"context beats the result", false, "wait-result-beats-context"},
	{"cause instead of Err", false, "wait-context-has-ended"},
	{"who gives up takes the task along", false, "wait-context-ends wait-context-has-ended"},
	{"who gives up leaves a goroutine", false, "waiters-leave-no-goroutine"},

	// Cancel.
	{"canceled task runs all the same", false, "cancel-before-start"},
	{"result beats an earlier Cancel", false, "cancel-in-progress cancel-in-a-task status-in-the-task"},
	{"Cancel of a task in progress refused", false, "cancel-in-progress cancel-answers pending-canceled"},
	{"Cancel says yes again", false, "cancel-answers cancel-races-cancel"},
	{"Cancel cancels others, too", false, "cancel-only-one"},

	// Goexit, yields, and what is left.
	{"Goexit loses the end", false, "goexit goexit-many goexit-nested"},
	{"Goexit taken for success", false, "goexit goexit-nested"},
	{"Yield swallows the turn", false, "yield yield-lets-others-run future-memoised"},
	{"Flush says what it was asked", false, "flush-of-eager"},
	{"tasks kept", false, "not-retained"},
	{"canceled tasks kept", false, "canceled-not-retained"},

	// One task at a time, on demand.
	{"tasks run by themselves", true, "demand-only"},
	{"newest task first", true, "order-start order-trace order-yield"},
	{"random order", true, "promise-deterministic order-start"},
	{"who yields comes first", true, "order-trace order-yield"},
	{"awaited task in its turn", true, "order-awaited-first"},
	{"who waited comes last", true, "order-awaited-first"},
	{"circle not noticed", true, "cycle cycle-returned"},
	{"circle of many not noticed", true, "cycle cycle-returned"},
	{"tasks numbered from 0", true, "cycle"},
	{"budget of 1,000", true, "flush-budget"},
	{"ends counted as steps", true, "flush-counts-steps order-trace"},
	{"canceled task is a step", true, "cancel-not-begun"},
	{"waiters are not told that tasks are not run", true, "waiters-take-over"},
}

// wrongExecutorsOnHost is the same for clauses that need a host.
var wrongExecutorsOnHost = []struct {
	bug     taskBug
	lone    bool
	clauses string
	limit   time.Duration // of a run, for bugs that make it hang; 0 means the suite's
}{
	{"result beats an earlier Cancel", false, "linearizable cancel-races-the-end-a-million-times", 0},
	{"Cancel says yes again", false, "linearizable cancel-races-the-end-a-million-times", 0},
	{"context beats the result", false, "linearizable", 0},
	{"Cancel says yes again", true, "linearizable cancel-races-the-end-a-million-times", 0},
	{"one task at a time", false, "deep-joins blocked-for-real", 200 * time.Millisecond},
	{"who gives up remembered", false, "waiters-forgotten", 0},
	{"who gives up leaves a goroutine", false, "waiters-forgotten", 0},
	{"tasks kept", false, "futures-collected", 0},
	{"goroutine left by Close", false, "futures-collected", 0},
	{"executors kept", false, "executor-collected futures-collected", 0},
	{"who waits spins", false, "waits-are-idle", 0},
}

// tasksByDay are those of them that are tried by day too, as [byDay] has it.
var tasksByDay = []taskBug{"one task at a time", "executors kept"}

var knownTaskBugs = func() map[taskBug]bool {
	m := map[taskBug]bool{}
	for _, w := range wrongExecutors {
		m[w.bug] = true
	}
	for _, w := range wrongExecutorsOnHost {
		m[w.bug] = true
	}
	return m
}()

// TestRightExecutor runs the same executors without a bug, which must pass every
// clause every time, in a bubble and outside.
func TestRightExecutor(t *testing.T) {
	set, runs := testSettings(t)
	set.contests, set.futures, set.depth = 10_000, 5_000, 2000
	if raceEnabled {
		set.contests, set.futures, set.depth = 2000, 1000, 500
	}
	for _, lone := range []bool{false, true} {
		for _, parks := range []bool{true, false} {
			impl := wrongTaskImpl("", lone)
			impl.Promises.Parks = parks
			s := &suite{impl: impl, set: set, limit: patience}
			runs := runs
			if !parks { // there it takes long to tell that nothing happens
				if !nightly || raceEnabled {
					continue
				}
				runs = max(1, set.soak)
			}
			for _, c := range conformance.Task() {
				if c.Skip(s.env(0)) != "" {
					continue
				}
				for i := range runs {
					if err := s.try(t, c.Check, set.seedOf(i)); err != nil {
						t.Errorf("%s (lone: %v, parks: %v, run %d of %d, seed %d): %v", c.Name, lone, parks, i+1, runs, set.seedOf(i), err)
						break
					}
				}
			}
			for _, c := range taskHostClauses {
				if !nightly || c.Skip(s.env(0)) != "" {
					continue
				}
				if o := c.check(t, s); o.err != nil {
					t.Errorf("%s (lone: %v, parks: %v): %v", c.Name, lone, parks, o.err)
				}
			}
		}
	}
}

// TestWrongExecutorsOnHost is TestWrongExecutors for clauses that need a host.
func TestWrongExecutorsOnHost(t *testing.T) {
	set, _ := testSettings(t)
	runs := wrongRunsOnHost()
	set.contests, set.futures, set.depth = 20_000, 5_000, 1000
	all := map[string]hostClause{}
	for _, c := range taskHostClauses {
		all[strings.TrimPrefix(c.Name, "task/")] = c
	}
	for _, w := range wrongExecutorsOnHost {
		if !nightly && mutantRuns() == 0 && !slices.Contains(tasksByDay, w.bug) {
			continue
		}
		t.Run(string(w.bug), func(t *testing.T) {
			defer func() { wrongExecutorsLeft = nil }()
			s := &suite{impl: wrongTaskImpl(w.bug, w.lone), set: set, limit: patience}
			if w.limit > 0 {
				s.limit = w.limit
			}
			for _, name := range strings.Fields(w.clauses) {
				c, ok := all[name]
				if !ok {
					t.Fatalf("there is no clause task/%s", name)
				}
				catches(t, c.Name, runs, func(seed uint64) outcome {
					s.set.seed = seed
					return c.check(t, s)
				})
			}
		})
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
				catches(t, c.Name, wrongRunsOf(c), func(seed uint64) outcome { return outcome{err: s.try(t, c.Check, seed)} })
			}
		})
	}
}
