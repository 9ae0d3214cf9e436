package conformtest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/conformance"
)

// wrongDispatchers says of every bug which clauses must notice it.
var wrongDispatchers = []struct {
	bug     actorBug
	clauses string // names without "actor/"
}{
	// From Send to Invoke.
	{"every seventh message lost", "tell-in-order mailbox-unbounded"},
	{"every seventh message doubled", "tell-in-order mailbox-unbounded tell-many-to-one account-one-caller"},
	{"every seventh message overtakes one", "tell-in-order mailbox-unbounded account-one-caller"},
	{"newest message first", "tell-in-order mailbox-unbounded"},
	{"nil taken for nothing", "tell-identity tell-forged"},
	{"user message taken for a system message", "tell-forged"},
	{"message handled by its sender", "tell-only-queues"},
	{"messages not counted", "stats tell-random"},
	{"turns not counted", "stats turn-bound"},
	{"counted at the end only", "stats-idle"},

	// Turns.
	{"two turns at once", "one-at-a-time"},
	{"actor not woken again", "tell-wakes"},
	{"what comes in a turn overlooked", "tell-self mailbox-unbounded"},
	{"late message overlooked", "tell-wakes"},
	{"idle actor not woken until twelve numbers wait", "steady-rate"},
	{"late system message overlooked", "stop-idle stop-idle-soon"},
	{"idle actor not woken by system messages", "stop-idle"},
	{"system message of an actor wakes no worker", "stop-idle poststop-after-children"},
	{"suspended actor not woken", "failure-stops failure-takes-children prestart-fails stop-family suspend-self suspend-after"},
	{"suspended actor woken by messages", "suspended-waits suspend-unregistered"},
	{"BeginTurn's answer ignored", "prestart-fails"},
	{"Invoke's answer ignored", "stop-overtakes stop-last-message turn-bound failure-stops"},
	{"yield to the front", "turn-others flood"},
	{"newest ready actor first", "turn-others-pair turn-others-ring turn-others-many turn-others-at-all"},
	{"newest ready actor first, but for every thousandth", "turn-others-pair turn-others-ring"},
	{"one worker", "blocked-handlers overlap block-within-a-turn"},

	// Failures.
	{"panic overlooked", "failure-stops"},
	{"panic's value lost", "failure-stops"},
	{"failed message forgotten", "failure-stops"},
	{"actor stuck after Goexit", "failure-stops failure-many"},
	{"worker lost with Goexit", "failure-many"},

	// Close.
	{"message lost that comes during Close", "account-stop account-one-caller"},
	{"port used again", "ref-namesake pid-never-reused"},
	{"mailbox thrown away by Close", "stop-waiting-letters stop-overtakes failure-stops"},
	{"first message lost by Close", "stop-waiting-letters stop-overtakes"},
	{"mailbox handed over newest first", "stop-waiting-letters stop-overtakes"},
	{"mailbox handed over twice", "stop-waiting-letters"},
	{"mailbox handed over for a wrong reason", "stop-waiting-letters"},
	{"messages accepted after Close", "stop-refuses send-error ref-namesake shutdown-all"},

	// Mailboxes.
	{"message lost when 10,000 wait", "mailbox-unbounded"},
	{"bound one too high", "mailbox-drop-newest mailbox-drop-oldest mailbox-room-again block-self"},
	{"bound one too low", "mailbox-drop-newest mailbox-drop-oldest mailbox-room-again"},
	{"message in hand counts", "mailbox-drop-newest mailbox-drop-oldest block-self"},
	{"room not given back", "mailbox-room-again"},
	{"DropNewest silent", "mailbox-drop-newest priority-drop-newest"},
	{"DropOldest drops the newest", "mailbox-drop-oldest"},
	{"DropOldest silent", "mailbox-drop-oldest priority-drop-oldest"},
	{"Grow is a bound", "mailbox-grow"},
	{"priority ignored", "priority-order priority-overtakes"},
	{"largest priority first", "priority-order"},
	{"priority unstable", "priority-stable priority-order tell-in-order"},
	{"priority looked at once in a while", "priority-overtakes"},
	{"oldest dropped whatever its priority", "priority-drop-oldest"},
	{"newest of the lowest dropped", "priority-drop-oldest"},

	// The policy Block.
	{"Full instead of waiting", "block-waits block-progress"},
	{"waiting sender not let in", "block-waits block-progress block-within-a-turn"},
	{"two senders for one slot", "block-one-for-one"},
	{"last sender served first", "block-first-served"},
	{"waiting sender ignores its context", "block-context block-ring"},
	{"given-up message handled", "block-context"},
	{"waiting senders not released by Close", "block-stop"},
	{"waiting senders let in by Close", "block-stop"},
	{"waiting senders' messages undelivered too", "block-stop"},

	// The end.
	{"done never called", "shutdown-all guardian-stops-system guardian-fails-system"},
	{"goroutine left by Stop", "leaves-no-goroutine goroutines-bounded"},
	{"goroutine until the system ends", "stops-leave-no-goroutine"},
	{"workers counted wrongly", "workers-gone"},
	{"done called with a worker left", "workers-gone"},
	{"second start accepted", "dispatcher-serves-one"},
}

// wrongSynchronousDispatchers is the same for dispatchers without goroutines.
var wrongSynchronousDispatchers = []struct {
	bug     actorBug
	clauses string
}{
	{"message handled by its sender", "tell-only-queues run-until-idle"},
	{"actors run in the background", "run-until-idle"},
	{"RunUntilIdle ends early", "run-until-idle"},
	{"RunUntilIdle runs actors in a turn", "run-until-idle"},
	{"two callers run actors", "run-many-callers"},
	{"waiting sender runs no more than it must", "run-asked-meanwhile"},
	{"ready actors in random order", "deterministic"},
	{"deadlock not noticed", "block-deadlock"},
}

// wrongOnHost is the same for clauses that need a host.
var wrongOnHost = []struct {
	bug     actorBug
	clauses string
	limit   time.Duration // of a run, for bugs that make it hang; 0 means the suite's
}{
	{"messages kept", "messages-collected cycles-leak-nothing", 0},
	{"a byte of each message kept", "cycles-leak-nothing", 0},
	{"mailbox of a stopped actor kept", "stopped-collected", 0},
	{"system kept for ever", "system-collected soak", 0},
	{"one worker", "blocked-for-real", 100 * time.Millisecond},
	{"waiting sender spins", "waits-are-idle", 0},
	{"every seventh message lost", "flood-of-a-million soak", 500 * time.Millisecond}, // the quiet one's as well
	{"every seventh message doubled", "soak", 0},
	{"every seventh message overtakes one", "soak", 0},
	{"message lost that comes during Close", "soak", 0},
	{"mailbox handed over twice", "soak", 0},
	{"DropOldest silent", "soak", 0},
	{"goroutine left by Stop", "soak", 0},
}

// byDay are those of them that are tried by day too, with the others' clauses only at
// night: no machine hides them.
var byDay = []actorBug{"messages kept", "one worker"}

var knownActorBugs = func() map[actorBug]bool {
	m := map[actorBug]bool{}
	for _, w := range wrongDispatchers {
		m[w.bug] = true
	}
	for _, w := range wrongSynchronousDispatchers {
		m[w.bug] = true
	}
	for _, w := range wrongOnHost {
		m[w.bug] = true
	}
	return m
}()

// TestWrongDispatchers runs dispatchers that are wrong in one way, and demands
// that the clauses that are there for it fail every time.
func TestWrongDispatchers(t *testing.T) {
	for _, w := range wrongDispatchers {
		t.Run(string(w.bug), func(t *testing.T) { wrongActors(t, w.bug, false, w.clauses) })
	}
}

// TestWrongSynchronousDispatchers is the same for those without goroutines.
func TestWrongSynchronousDispatchers(t *testing.T) {
	for _, w := range wrongSynchronousDispatchers {
		t.Run(string(w.bug), func(t *testing.T) { wrongActors(t, w.bug, true, w.clauses) })
	}
}

// A clause must catch a bug that it is there for each time, with another seed each time: so
// often by night, and by day. DYNO_MUTANTS says otherwise.
const (
	wrongRuns      = 40
	wrongRunsByDay = 5
)

// wrongRunsOf returns how often it is for c. What is left behind is left by every
// run, whatever its seed, and to see that it stays takes a second of collections
// and waiting. Under -race it is fewer runs of all: the detector finds nothing here
// that it does not find in what is right.
func wrongRunsOf(c conformance.Clause) int {
	slow := c.On.Heap || strings.Contains(c.Name, "goroutine")
	switch asked := mutantRuns(); {
	case asked > 0:
		return asked
	case slow && !nightly:
		return 1
	case raceEnabled:
		return 4
	case slow || !nightly:
		return wrongRunsByDay
	}
	return wrongRuns
}

// wrongRunsOnHost is the same for clauses that need a host. They take real time.
func wrongRunsOnHost() int {
	switch asked := mutantRuns(); {
	case asked > 0:
		return asked
	case raceEnabled, !nightly:
		return 1
	}
	return 2
}

// catches runs a clause so many times on something that is wrong, each time with
// another seed, and demands that it fails every time.
func catches(t *testing.T, clause string, runs int, run func(seed uint64) outcome) {
	t.Helper()
	caught, passed, skip := 0, uint64(0), "" // the seed of a run that passed, and why, if it was skipped
	began := time.Now()
	for range runs {
		seed := rand.Uint64()
		o := run(seed)
		if o.err == nil {
			passed, skip = seed, o.skip
			continue
		}
		if caught++; caught == 1 {
			t.Logf("%s: %v", clause, firstLine(o.err))
		}
	}
	t.Logf("%s: caught in %d of %d runs (%v)", clause, caught, runs, time.Since(began).Round(time.Millisecond))
	if caught < runs {
		t.Errorf("%s passed in %d of %d runs, once with seed %d (skipped: %q)", clause, runs-caught, runs, passed, skip)
	}
}

func wrongActors(t *testing.T, b actorBug, synchronous bool, clauses string) {
	if raceEnabled && b == "two turns at once" {
		t.Skip("the race detector and the core's own checks end this one before the clause sees it")
	}
	set, _ := testSettings(t)
	all := map[string]conformance.Clause{}
	for _, c := range allActors() {
		all[strings.TrimPrefix(c.Name, "actor/")] = c
	}
	s := &suite{impl: wrongActorImpl(b, synchronous), set: set, limit: patience}
	for _, name := range strings.Fields(clauses) {
		c, ok := all[name]
		if !ok {
			t.Fatalf("there is no clause actor/%s", name)
		}
		s.set.rounds = set.rounds
		if name == "turn-others-at-all" {
			s.set.rounds = 1 // nothing happens in any, and there would be millions of messages
		}
		catches(t, c.Name, wrongRunsOf(c), func(seed uint64) outcome { return outcome{err: s.try(t, c.Check, seed)} })
	}
}

// TestWrongOnHost is the same for clauses that need a host.
func TestWrongOnHost(t *testing.T) {
	set, _ := testSettings(t)
	runs := wrongRunsOnHost()
	set.flood, set.cycles = 10_000, 100_000 // and a million suspensions
	all := map[string]hostClause{}
	for _, c := range actorHostClauses {
		all[strings.TrimPrefix(c.Name, "actor/")] = c
	}
	for _, w := range wrongOnHost {
		if !nightly && mutantRuns() == 0 && !slices.Contains(byDay, w.bug) {
			continue
		}
		t.Run(string(w.bug), func(t *testing.T) {
			defer func() { wrongLeft = nil }()
			s := &suite{impl: wrongActorImpl(w.bug, false), set: set, limit: patience}
			if w.limit > 0 {
				s.limit = w.limit
			}
			for _, name := range strings.Fields(w.clauses) {
				c, ok := all[name]
				if !ok {
					t.Fatalf("there is no clause actor/%s", name)
				}
				catches(t, c.Name, runs, func(seed uint64) outcome {
					s.set.seed = seed
					return c.check(t, s)
				})
			}
		})
	}
}

// TestActorModelNotices gives the model dispatchers that are wrong in one way.
func TestActorModelNotices(t *testing.T) {
	set := settings{seed: 1, programs: 500} // the same programs every time
	for _, synchronous := range []bool{false, true} {
		for _, b := range []actorBug{"every seventh message lost", "newest message first", "BeginTurn's answer ignored", "mailbox thrown away by Close"} {
			o := checkActorModel(t, &suite{impl: wrongActorImpl(b, synchronous), set: set, limit: patience})
			if o.err == nil {
				t.Errorf("%s (synchronous: %v): the model saw no difference", b, synchronous)
				continue
			}
			t.Logf("%s: %.300s", b, o.err)
		}
		if o := checkActorModel(t, &suite{impl: wrongActorImpl("", synchronous), set: set, limit: patience}); o.err != nil {
			t.Errorf("the right dispatcher (synchronous: %v) differs from the model: %v", synchronous, o.err)
		}
	}
}

// TestSoakCounts demands that a soak fails that is over before enough messages
// were sent.
func TestSoakCounts(t *testing.T) {
	s := &suite{impl: wrongActorImpl("", false), set: settings{seed: rand.Uint64(), messages: 50_000, soaking: 1}, limit: patience}
	o := checkSoak(t, s)
	if o.err == nil || !strings.Contains(o.err.Error(), "messages of 50000 were sent") {
		t.Errorf("a soak of too few messages ended with %v", o.err)
	}
	s.set.messages = 20_000
	if o := checkSoak(t, s); o.err != nil || len(o.notes) != 1 || !strings.Contains(o.notes[0], " messages=") {
		t.Errorf("a soak of enough messages ended with %v and noted %q", o.err, o.notes)
	}
}

// TestRightDispatcher runs the same dispatchers without a bug, which must pass
// every clause every time, in a bubble and outside.
func TestRightDispatcher(t *testing.T) {
	set, runs := testSettings(t)
	if set.soak == 0 { // the full sizes are the implementations'
		set.messages, set.flood, set.cycles, set.million = 20_000, 100_000, 2_000, 2_000
	}
	for _, synchronous := range []bool{false, true} {
		for _, parks := range []bool{true, false} {
			impl := wrongActorImpl("", synchronous)
			impl.Promises.Parks = parks
			s := &suite{impl: impl, set: set, limit: patience}
			runs := runs
			if !parks { // there it takes long to tell that nothing happens
				if !nightly || raceEnabled { // and there longer than a check waits
					continue
				}
				runs = max(1, set.soak)
			}
			for _, c := range allActors() {
				if c.Skip(s.env(0)) != "" {
					continue
				}
				for i := range runs {
					if err := s.try(t, c.Check, set.seedOf(i)); err != nil {
						t.Errorf("%s (synchronous: %v, parks: %v, run %d of %d, seed %d): %v", c.Name, synchronous, parks, i+1, runs, set.seedOf(i), err)
						break
					}
				}
			}
			for _, c := range actorHostClauses {
				if !nightly || c.Skip(s.env(0)) != "" {
					continue
				}
				if o := c.check(t, s); o.err != nil {
					t.Errorf("%s (synchronous: %v, parks: %v): %v", c.Name, synchronous, parks, o.err)
				}
			}
		}
	}
}

// allActors returns all clauses about actors: those of implementations, and the core's.
func allActors() []conformance.Clause { return slices.Concat(conformance.Actor(), conformance.Core()) }
