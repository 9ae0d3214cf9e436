package conformtest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
)

// bug is one way for a group, an executor or a dispatcher to be wrong. The empty bug is
// none: then it is right.
type bug string

// is reports whether b is one of the given bugs. Each is named where it bites, and in a
// table of those that clauses must notice, which TestBugsAreInATable demands.
func (b bug) is(names ...bug) bool { return slices.Contains(names, b) }

// TestBugsAreInATable looks at the source: to look a name up whenever a bug could bite takes
// more than all else that wrong implementations do.
func TestBugsAreInATable(t *testing.T) {
	files, err := filepath.Glob("wrong_*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	call, name := regexp.MustCompile(`\.is\((.*)`), regexp.MustCompile(`"[^"]*"`)
	named := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range call.FindAllStringSubmatch(string(src), -1) {
			args, _, _ := strings.Cut(c[1], ")")
			for _, quoted := range name.FindAllString(args, -1) {
				named++
				if b := bug(strings.Trim(quoted, `"`)); !known[b] {
					t.Errorf("%s: %q is in no table of bugs", file, b)
				}
			}
		}
	}
	if named < len(known)/2 {
		t.Errorf("%d names are found in the source, of %d bugs", named, len(known))
	}
}

// wrong says of a bug which clauses must notice it.
type wrong struct {
	bug     bug
	clauses string // names, without that of the contract
}

// wrongKind is a kind of implementation that can be wrong.
type wrongKind struct {
	name     string
	contract string
	impl     func(b bug) dyno.Impl
	clauses  func() []conformance.Clause
	host     []hostClause // that need a host
	bugs     []wrong      // for clauses that run anywhere
	onHost   []wrong      // for those that need a host
}

var wrongKinds = []wrongKind{
	{"groups", "group", wrongGroupImpl, conformance.Group, nil, wrongGroups, nil},
	{"executors", "task", func(b bug) dyno.Impl { return wrongExecutorImpl(b, false) }, conformance.Task, taskHostClauses, wrongExecutors, wrongExecutorsOnHost},
	{"lone-executors", "task", func(b bug) dyno.Impl { return wrongExecutorImpl(b, true) }, conformance.Task, taskHostClauses, wrongLoneExecutors, wrongLoneExecutorsOnHost},
	{"dispatchers", "actor", func(b bug) dyno.Impl { return wrongDispatcherImpl(b, false) }, allActors, actorHostClauses, wrongDispatchers, wrongDispatchersOnHost},
	{"synchronous-dispatchers", "actor", func(b bug) dyno.Impl { return wrongDispatcherImpl(b, true) }, allActors, actorHostClauses, wrongSynchronousDispatchers, nil},
}

// allActors returns all clauses about actors: those of implementations, and the core's.
func allActors() []conformance.Clause { return slices.Concat(conformance.Actor(), conformance.Core()) }

// known are the bugs of the tables.
var known = map[bug]bool{}

func init() {
	for _, k := range wrongKinds {
		for _, w := range slices.Concat(k.bugs, k.onHost) {
			known[w.bug] = true
		}
	}
}

// nightly is whether to run what takes minutes, or is about real time, processors or
// memory: on a machine that others use, such a bug may be hidden by them for once.
var nightly = os.Getenv("DYNO_NIGHTLY") != ""

// atNight skips a test by day.
func atNight(t *testing.T) {
	t.Helper()
	if !nightly {
		t.Skip("only with DYNO_NIGHTLY: it takes real time")
	}
}

// testSettings returns the settings of the suite's own tests, and how often
// they run everything: once by day, 5 times by night, and DYNO_SOAK times in the long
// version.
func testSettings(t *testing.T) (set settings, runs int) {
	t.Helper()
	set, err := readSettings(os.Getenv, testing.Short(), raceEnabled)
	if err != nil {
		t.Fatal(err)
	}
	runs = 1
	if nightly {
		runs = 5
	}
	return set, max(set.soak, runs)
}

// TestRight runs the same implementations without a bug, which must pass every clause every
// time, in a bubble and outside.
func TestRight(t *testing.T) {
	set, runs := testSettings(t)
	if set.soak == 0 { // the full sizes are the implementations'
		set.flood, set.cycles, set.million = 100_000, 2_000, 2_000
	}
	set.futures, set.depth = 5_000, 2000
	if raceEnabled {
		set.futures, set.depth = 1000, 500
	}
	for _, k := range wrongKinds {
		for _, parks := range []bool{true, false} {
			runs := runs
			if !parks { // there it takes long to tell that nothing happens
				if !nightly || raceEnabled { // and there longer than a check waits
					continue
				}
				runs = max(1, set.soak)
			}
			name := k.name + "/bubble"
			if !parks {
				name = k.name + "/outside"
			}
			t.Run(name, func(t *testing.T) {
				impl := k.impl("")
				impl.Promises.Parks = parks
				k.right(t, &suite{impl: impl, set: set, limit: patience}, runs)
			})
		}
	}
}

// right demands that a right implementation passes all clauses.
func (k *wrongKind) right(t *testing.T, s *suite, runs int) {
	for _, c := range k.clauses() {
		if c.Skip(s.env(0)) != "" {
			continue
		}
		for i := range runs {
			if err := s.try(t, c.Check, s.set.seedOf(i)); err != nil {
				t.Errorf("%s (run %d of %d, seed %d): %v", c.Name, i+1, runs, s.set.seedOf(i), err)
				break
			}
		}
	}
	for _, c := range k.host {
		if !nightly || c.Skip(s.env(0)) != "" {
			continue
		}
		if o := c.check(t, s); o.err != nil {
			t.Errorf("%s: %v", c.Name, o.err)
		}
	}
}

// TestWrong runs implementations that are wrong in one way, and demands that the clauses
// that are there for it fail every time.
func TestWrong(t *testing.T) {
	for _, k := range wrongKinds {
		clauses := k.clauses()
		for _, w := range k.bugs {
			t.Run(k.name+"/"+string(w.bug), func(t *testing.T) {
				if raceEnabled && w.bug == "two turns at once" {
					t.Skip("the race detector and the core's own checks end this one before the clause sees it")
				}
				set, _ := testSettings(t)
				// Goroutines that wrong ones leave in their bubbles stay, and the stacks of a
				// bubble are found among those of all. TestPlaces looks at them.
				s := &suite{impl: k.impl(w.bug), set: set, limit: patience, terse: true}
				if strings.HasSuffix(string(w.bug), "under the lock") {
					// A goroutine that waits for a mutex does not count as blocked
					// in a bubble: only real time ends this one.
					s.limit = 100 * time.Millisecond
				}
				for _, name := range strings.Fields(w.clauses) {
					i := slices.IndexFunc(clauses, func(c conformance.Clause) bool { return c.Name == k.contract+"/"+name })
					if i < 0 {
						t.Fatalf("there is no clause %s/%s", k.contract, name)
					}
					c := clauses[i]
					s.set.rounds = set.rounds
					if name == "turn-others-at-all" {
						s.set.rounds = 1 // nothing happens in any, and there would be millions of messages
					}
					catches(t, c.Name, wrongRunsOf(c), func(seed uint64) outcome { return outcome{err: s.try(t, c.Check, seed)} })
				}
			})
		}
	}
}

// A clause must catch a bug that it is there for each time, with another seed each time: so
// often by night, and by day.
const (
	wrongRuns      = 40
	wrongRunsByDay = 5
)

// wrongEnv asks for so many runs of each clause on each wrong implementation, each time with a seed
// of its own.
const wrongEnv = "DYNO_WRONG"

// wrongRunsAsked returns how many that are; 0 if they are not asked for.
func wrongRunsAsked() int {
	runs, _ := strconv.Atoi(os.Getenv(wrongEnv))
	return runs
}

// wrongRunsOf returns how often it is for c. What is left behind is left by every
// run, whatever its seed, and to see that it stays takes a second of collections
// and waiting. Under -race it is fewer runs of all: the detector finds nothing here
// that it does not find in what is right.
func wrongRunsOf(c conformance.Clause) int {
	slow := c.On.Heap || strings.Contains(c.Name, "goroutine")
	switch asked := wrongRunsAsked(); {
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

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

// TestActorModelNotices gives the model dispatchers that are wrong in one way.
func TestActorModelNotices(t *testing.T) {
	set := settings{seed: 1, programs: 500} // the same programs every time
	for _, synchronous := range []bool{false, true} {
		for _, b := range []bug{"every seventh message lost", "newest message first", "BeginTurn's answer ignored", "mailbox thrown away by Close"} {
			o := checkActorModel(t, &suite{impl: wrongDispatcherImpl(b, synchronous), set: set, limit: patience})
			if o.err == nil {
				t.Errorf("%s (synchronous: %v): the model saw no difference", b, synchronous)
				continue
			}
			t.Logf("%s: %.300s", b, o.err)
		}
		if o := checkActorModel(t, &suite{impl: wrongDispatcherImpl("", synchronous), set: set, limit: patience}); o.err != nil {
			t.Errorf("the right dispatcher (synchronous: %v) differs from the model: %v", synchronous, o.err)
		}
	}
}
