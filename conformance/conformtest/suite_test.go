package conformtest

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/conformance"
)

// wrongs says of every bug which clauses must notice it.
var wrongs = []struct {
	bug     bug
	clauses string // names without "group/"
}{
	// Making a group.
	{"nil context crashes", "nil-context"},
	{"parent ignored", "parent-ends parent-foreign parent-ended-before cancel-after-parent"},
	{"parent's values lost", "parent-values"},
	{"first option wins", "last-option-wins"},
	{"nil option taken for the end", "nil-options"},
	{"fail-fast off by default", "defaults failfast-cancels"},
	{"limit by default", "defaults limit-zero promise-overlap-many"},
	{"closed when made under an ended context", "parent-ended-before"},
	{"result buffer is a bound", "buffer-is-a-hint"},
	{"errors shared by groups", "groups-are-apart"},

	// Go.
	{"nil task accepted", "go-nil-task"},
	{"nil task refused late", "go-nil-task"},
	{"task accepted after Close", "go-after-close"},
	{"Go refused after Cancel", "go-after-cancel parent-ended-before cancel-does-not-close"},
	{"task run by the caller of Go", "go-on-another-goroutine"},
	{"task run twice", "go-once"},
	{"tasks run under the lock", "go-within-a-task calls-within-a-task"},
	{"task dropped on Cancel", "go-after-cancel"},
	{"task not run after Cancel", "go-after-cancel limit-cancel-keeps-go"},
	{"value lost beside an error", "go-result-as-returned"},
	{"one task at a time", "promise-overlap promise-overlap-many limit-all-at-once"},
	{"tasks started by Wait and Next only", "promise-eager limit-never-stuck"},

	// The limit.
	{"limit one too high", "limit-respected limit-slot-back"},
	{"limit one too low", "limit-reached limit-all-at-once"},
	{"limit ignored", "limit-respected limit-close-releases-go"},
	{"slot kept until the result is taken", "limit-slot-free-before-taken"},
	{"blocked Go not released by Close", "limit-close-releases-go limit-go-within-full-group"},
	{"blocked Go accepted after Close", "limit-close-releases-go"},
	{"blocked Go released by Cancel", "limit-cancel-keeps-go"},

	// Close.
	{"second Close panics", "close-twice"},
	{"Close cancels", "close-does-not-cancel"},
	{"Close waits", "close-does-not-wait"},
	{"Close drops queued results", "close-keeps-results"},

	// Next.
	{"newest result first", "next-oldest-first next-completion-order"},
	{"results in submission order", "next-completion-order"},
	{"result delivered twice", "next-result-once go-once"},
	{"result looked at, not taken", "next-result-once"},
	{"drained with tasks in flight", "next-waits-for-inflight"},
	{"drained although open", "next-waits-on-open zero-tasks"},
	{"drained said once", "drain-final"},
	{"task in flight after its result", "drain-at-once"},
	{"zero result not zero", "next-ended-context"},
	{"nil context crashes Next", "next-nil-context"},
	{"ended context beats a queued result", "next-queued-beats-context"},
	{"ended context beats the drain", "next-drained-beats-context"},
	{"cause instead of Err", "next-ended-context"},
	{"Next ignores its context", "next-ended-context next-context-ends-waiting next-deadline-while-waiting"},
	{"waiting Next ignores its context", "next-context-ends-waiting next-deadline-while-waiting"},
	{"ended context of Next cancels the group", "next-context-ends-waiting"},
	{"Next ended by Cancel", "next-outlives-cancel"},
	{"waiters not woken by the last task", "waiters-released-by-last-task next-waits-for-inflight wait-and-next"},
	{"waiters not woken by Close", "waiters-released-by-close"},
	{"one waiter released at the drain", "waiters-released-by-last-task waiters-released-by-close"},
	{"cancelled waiter swallows the next result", "waiter-gives-up waiters-give-up-together next-context-ends-waiting"},
	{"answered waiter gives up and loses the result", "waiter-gives-up-as-result-comes"},

	// Wait.
	{"Wait does not wait", "wait-for-all"},
	{"Wait ends with one task left", "wait-for-the-last go-within-a-task"},
	{"Wait ended by Cancel", "wait-outlives-cancel"},
	{"Wait ended by Close", "wait-outlives-cancel"},
	{"Wait covers only earlier tasks", "wait-covers-later-tasks"},
	{"Wait takes the results", "wait-takes-nothing wait-results-visible"},
	{"result queued after Wait", "wait-results-visible"},
	{"Wait closes", "wait-does-not-close"},
	{"one Wait released", "wait-many-callers"},
	{"second Wait hangs", "wait-takes-nothing wait-remembers"},
	{"Wait forgets the error", "wait-remembers"},
	{"second error overwrites the first", "wait-first-error wait-first-by-completion"},
	{"first error by submission", "wait-first-by-completion"},
	{"cause forgotten by Wait", "wait-cause parent-ends"},
	{"cause beats the error", "wait-error-beats-cause"},
	{"answer of Wait changes after settling", "wait-settled wait-settled-untaken cancel-drained"},

	// Cancel and fail-fast.
	{"Cancel ignored", "cancel-reaches-tasks cancel-at-once"},
	{"Cancel later", "cancel-at-once"},
	{"Cancel waits", "cancel-does-not-wait"},
	{"Cancel closes", "cancel-does-not-close"},
	{"Cancel drops queued results", "cancel-keeps-results"},
	{"cause not passed on", "cancel-reaches-tasks cancel-first-cause"},
	{"nil cause stays nil", "cancel-nil"},
	{"last cause wins", "cancel-first-cause"},
	{"fail-fast ignored", "failfast-cancels failfast-reaches-running"},
	{"fail-fast always", "failfast-off"},
	{"fail-fast without cause", "failfast-cancels failfast-reaches-running"},
	{"fail-fast by the second error", "failfast-cancels"},
	{"fail-fast on success", "failfast-not-without-error"},
	{"result before the cancellation", "failfast-before-result failfast-before-wait"},
	{"results dropped after fail-fast", "failfast-keeps-tasks"},

	// Panics and Goexit.
	{"panic taken for success", "panic-is-an-error panic-last-task"},
	{"panic without its type", "panic-is-an-error"},
	{"panic that does not unwrap", "panic-unwraps failfast-panic"},
	{"panic without stack", "panic-stack"},
	{"panic keeps a value", "panic-is-an-error"},
	{"run-time errors let through", "panic-runtime-error"},
	{"panic made an error although off", ""}, // panic-ends-process, see TestPanicEndsProcess
	{"Goexit hangs", "goexit-is-an-error goexit-last-task goexit-slot-back"},
	{"Goexit yields no result", "goexit-is-an-error goexit-last-task goexit-many"},
	{"Goexit loses the slot", "goexit-slot-back"},
	{"Goexit taken for success", "goexit-is-an-error goexit-cancels"},

	// What is left.
	{"context not released", "context-released parent-keeps-nothing foreign-parent-released"},
	{"goroutine leaked per group", "leaves-no-goroutine leaves-no-goroutine-when-dropped"},
	{"goroutine until closed", "leaves-no-goroutine-when-dropped goroutines-bounded"},
	{"results retained", "results-not-retained"},
	{"tasks retained", "results-not-retained"},
}

var known = func() map[bug]bool {
	m := map[bug]bool{}
	for _, w := range wrongs {
		m[w.bug] = true
	}
	return m
}()

// testSettings returns the settings of the suite's own tests, and how often
// they run everything: once by day, 5 times by night, and DYNO_SOAK times in the long
// version.
func testSettings(t *testing.T) (set settings, runs int) {
	t.Helper()
	set, err := readSettings(os.Getenv, testing.Short(), raceEnabled)
	if err != nil {
		t.Fatal(err)
	}
	set.messages = min(set.messages, 200_000) // the long soak is the implementations'
	runs = 1
	if nightly {
		runs = 5
	}
	return set, max(set.soak, runs)
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

// TestRight runs the same group without a bug, which must pass every clause
// every time, in a bubble and outside.
func TestRight(t *testing.T) {
	set, runs := testSettings(t)
	for _, parks := range []bool{true, false} {
		if !parks && !nightly {
			continue
		}
		impl := wrongImpl("")
		impl.Promises.Parks = parks
		s := &suite{impl: impl, set: set, limit: patience}
		for _, c := range conformance.Group() {
			if c.Skip(s.env(0)) != "" {
				continue
			}
			for i := range runs {
				if err := s.try(t, c.Check, set.seedOf(i)); err != nil {
					t.Errorf("%s (parks: %v, run %d of %d, seed %d): %v", c.Name, parks, i+1, runs, set.seedOf(i), err)
					break
				}
			}
		}
	}
}

// TestWrong runs groups that are wrong in one way, and demands that the clauses
// that are there for it fail every time.
func TestWrong(t *testing.T) {
	set, _ := testSettings(t)
	clauses := map[string]conformance.Clause{}
	for _, c := range conformance.Group() {
		clauses[strings.TrimPrefix(c.Name, "group/")] = c
	}
	for _, w := range wrongs {
		t.Run(string(w.bug), func(t *testing.T) {
			s := &suite{impl: wrongImpl(w.bug), set: set, limit: patience}
			if w.bug == "tasks run under the lock" {
				// A goroutine that waits for a mutex does not count as blocked
				// in a bubble: only real time ends this one.
				s.limit = 100 * time.Millisecond
			}
			for _, name := range strings.Fields(w.clauses) {
				c, ok := clauses[name]
				if !ok {
					t.Fatalf("there is no clause group/%s", name)
				}
				catches(t, c.Name, wrongRunsOf(c), func(seed uint64) outcome { return outcome{err: s.try(t, c.Check, seed)} })
			}
		})
	}
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
