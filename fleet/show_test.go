package fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/runner"
)

// What each machine is said to do, from its lease and its orders.
func TestShown(t *testing.T) {
	machine := func(live *Live, queue ...time.Duration) MachineStatus {
		m := MachineStatus{Machine: Machine{Machine: runner.Machine{Name: "one", Platform: "linux/amd64"}}, Live: live, For: 61.6}
		for i, d := range queue {
			m.Queue = append(m.Queue, Order{Job: strings.Repeat(string(rune('c'+i)), 64), Expected: d})
		}
		return m
	}
	drained := func(m MachineStatus) MachineStatus { m.Drained = true; return m }
	board := func(m MachineStatus) MachineStatus { m.Platform = "board/m3"; return m }
	works := &Live{State: StateMeasuring, Job: someJob, Title: "run .\a", Left: 90, Block: 2, Of: 3}
	queued := strings.Repeat("d", 64)
	for name, c := range map[string]struct {
		m                               MachineStatus
		does, what, since, left, queues string
		line                            string // of the job someJob, or of the second one that is queued
	}{
		"away":         {m: machine(nil), does: "away", line: "one is away; the job waits for it"},
		"free":         {m: machine(&Live{State: StateFree}), does: StateFree},
		"drained":      {m: drained(machine(&Live{State: StateFree})), does: "drained", line: "one is drained; the job waits"},
		"waits":        {m: machine(&Live{State: StateWaiting, Job: someJob, Waits: "make"}), does: "waits for the machine", what: "abababababab  (make)", since: "1m2s", line: "one: waits for the machine for 1m2s"},
		"works":        {m: machine(works), does: StateMeasuring, what: `abababababab run .\a`, since: "1m2s", left: "about 1m30s, block 3 of 3", line: "one: measuring for 1m2s  about 1m30s, block 3 of 3"},
		"the last":     {m: board(machine(&Live{State: StateMeasuring, Job: someJob, Left: 1, Block: 3, Of: 3})), does: StateMeasuring, what: "abababababab ", since: "1m2s", left: "about 1s, case 3 of 3", line: "one: measuring for 1m2s  about 1s, case 3 of 3"},
		"not known":    {m: machine(&Live{State: StateSending, Job: someJob, Left: 2}), does: StateSending, what: "abababababab ", since: "1m2s", left: "about 2s", line: "one: sending for 1m2s  about 2s"},
		"and then not": {m: drained(machine(&Live{State: StateSending, Job: someJob})), does: "sending, then drained", what: "abababababab ", since: "1m2s", line: "one: sending, then drained for 1m2s"},
		"queued":       {m: machine(&Live{State: StateSending, Job: queued[1:]}, time.Minute, 2*time.Minute), does: StateSending, what: "dddddddddddd ", since: "1m2s", queues: "2, about 3m0s", line: "one: 2 jobs before this job"},
		"queued first": {m: machine(&Live{State: StateFree}, time.Minute, 2*time.Minute), does: StateFree, queues: "2, about 3m0s", line: "one: 1 job before this job"},
	} {
		job := someJob
		if c.queues != "" {
			job = queued
		}
		s := &Status{Machines: []MachineStatus{{Machine: Machine{Machine: runner.Machine{Name: "other"}}}, c.m}}
		for what, got := range map[string][2]string{
			"does": {c.m.does(), c.does}, "has": {c.m.what(), c.what}, "since": {c.m.since(), c.since}, "left": {c.m.left(), c.left},
			"queues": {c.m.waiting(), c.queues}, "line": {s.Line("one", job), c.line},
		} {
			if got[0] != got[1] {
				t.Errorf("%s, %s: %q, want %q", name, what, got[0], got[1])
			}
		}
	}
	if got := duration(-1); got != "0s" {
		t.Errorf("before now is %s", got)
	}
}

// How long something is waited for or kept, and how much of it there may be.
func TestBounds(t *testing.T) {
	for given, want := range map[string]time.Duration{"": 30 * time.Second, "x": 30 * time.Second, "1s": time.Second, "999ms": 30 * time.Second} {
		if got := leaseOf(given); got != want {
			t.Errorf("the lease of %q is %v, want %v", given, got, want)
		}
	}
	for size, want := range map[int64]time.Duration{0: 30 * time.Second, 256 << 10: 31 * time.Second, 1 << 20: 34 * time.Second} {
		if got := transferTime(size); got != want {
			t.Errorf("%d bytes may take %v, want %v", size, got, want)
		}
	}
	if keepParts != 24*time.Hour || keepResults != 30*24*time.Hour || mostTries != 3 || mostOrder != 64<<10 || mostResult != 256<<10 || mostResults != 256<<20 || mostSaid != 16<<10 || objectChunk != 768<<10 {
		t.Error("a bound is another one")
	}
	for text, want := range map[string]string{"abcd": "abcd", "abcde": "…bcde", "ä123": "…123"} {
		if got := tail(text, 4); got != want {
			t.Errorf("the end of %q is %q, want %q", text, got, want)
		}
	}
	if got := printable(strings.Repeat("é", 1001) + "x"); got != strings.Repeat("é", 1000) {
		t.Errorf("%d bytes are printed of what has no end", len(got))
	}
	if got := printable("a\nb\x1b"); got != `a b\x1b` {
		t.Errorf("printed is %q", got)
	}
}

// The outcome of a job is an error unless it has results.
func TestStoredErr(t *testing.T) {
	for outcome, want := range map[string]string{Done: "", Cancelled: "the job was cancelled", Failed: `the job has no results (failed): why\a`, Refused: `the job has no results (refused): why\a`} {
		err := (&Stored{Result: Result{Outcome: outcome, Said: "why\a"}}).Err()
		if err == nil {
			err = errors.New("")
		}
		if err.Error() != want {
			t.Errorf("%s: %v, want %s", outcome, err, want)
		}
	}
}
