package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// However little of a slice is timed, a row takes a bounded time by the clock, has a figure, and
// says so; what a call prepares once is no reason for slices to be short.
func TestUntimed(t *testing.T) {
	// Until more than its first slice is known, what takes long beside its timer is doubled.
	var u untimed
	first, second := program.Slice{N: 10, Elapsed: time.Millisecond, Wall: 11 * time.Millisecond}, program.Slice{N: 20, Elapsed: 2 * time.Millisecond, Wall: 12 * time.Millisecond}
	if u.learn(first); u.grown(first, 1000) != 20 {
		t.Errorf("a first slice that takes long grows to %d", u.grown(first, 1000))
	}
	if u.learn(second); u.grown(second, 1000) != 1000 {
		t.Errorf("one of which is known what it takes beside its timer grows to %d", u.grown(second, 1000))
	}

	const us, ms = time.Microsecond, time.Millisecond
	for name, c := range map[string]struct {
		perOp   time.Duration
		besides func(n int) time.Duration
		mode    string
		slice   time.Duration // at least
		says    string
	}{
		"stopped around 50 µs of work":  {100, func(n int) time.Duration { return time.Duration(n) * 50 * us }, program.ModeLoop, 400 * us, "its timer runs for 0.2 % of the time"},
		"stopped around 50 ms of work":  {100, func(n int) time.Duration { return time.Duration(n) * 50 * ms }, program.ModeLoop, 400, "its timer runs for 0.0002 % of the time"},
		"the same in calls":             {100, func(n int) time.Duration { return time.Duration(n) * 50 * us }, program.ModeRunN, 400 * us, "its timer runs for 0.2 % of the time"},
		"a call prepares for 300 ms":    {1000, func(n int) time.Duration { return 300 * ms }, program.ModeRunN, 15 * ms, "its timer runs for 5.1 % of the time"},
		"half of the work is not timed": {1000, func(n int) time.Duration { return time.Duration(n) * us }, program.ModeRunN, 15 * ms, ""},
		"all of it is timed":            {1000, nil, program.ModeLoop, ms, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &fakeWorld{make: func(int, record.Step) *fakeDriver {
				return &fakeDriver{perOp: constantly(c.perOp), besides: c.besides, mode: c.mode}
			}}
			const blocks = 2
			path, p := turnsRun(t, turnsPlanOf(2, blocks, 250, ms), w)
			for key, f := range find(t, path) {
				if got := time.Duration(f.times.Ns[0]); got < c.slice*9/10 {
					t.Errorf("%s: %d slices of %v, want %v", key, len(f.times.Ns), got, c.slice)
				}
			}
			notes := strings.Join(p.notes, "\n")
			if c.says == "" != (notes == "") || strings.Count(notes, c.says) != 2 && c.says != "" { // of each side
				t.Errorf("notes %q, want %q", notes, c.says)
			}
			// Its lengths are tried for half a minute at most, and then it is 6 s a process.
			if most := 30*time.Second + blocks*3*6*time.Second; w.time > most {
				t.Errorf("it took %v, want no more than %v", w.time, most)
			}
		})
	}
}

// What a benchmark reports of its own operations is of slices as long as go test's, or
// nearly, however it is driven; sums that are divided by operations or time need none.
func TestSlicesOfOwnFigures(t *testing.T) {
	for _, mode := range []string{program.ModeRunN, program.ModeLoop, program.ModeSession} {
		for _, c := range []struct {
			unit  string
			perOp time.Duration
			slice time.Duration
			whole bool
		}{
			{"p99-ns", 10 * time.Microsecond, ownFigureSlice, false},
			{"p99-ns", 10 * time.Millisecond, wholeCall, true},
			{"items/op", 10 * time.Microsecond, leastCall, false},
			{"req/s", 10 * time.Microsecond, leastCall, false},
		} {
			name := fmt.Sprint(mode, " ", c.unit, " ", c.perOp)
			w := &fakeWorld{make: func(int, record.Step) *fakeDriver {
				f := &fakeDriver{perOp: constantly(c.perOp), mode: mode, processors: 1, extra: map[string]float64{c.unit: 1}}
				if mode == program.ModeRunN {
					f.eachSays = f.extra
				}
				return f
			}}
			path, p := turnsRun(t, turnsPlanOf(2, 2, 250, time.Millisecond), w)
			want, rounds := c.slice, leastRounds
			switch {
			case mode == program.ModeSession, mode == program.ModeLoop && c.slice == leastCall:
				want, rounds = max(time.Millisecond, c.perOp), 0 // they are as planned
			case c.slice == leastCall:
				rounds = 0
			case c.whole:
				rounds = 1
			}
			for key, f := range find(t, path) {
				if got := time.Duration(f.times.Ns[0]); got < want*9/10 || got > want*11/10 || rounds > 0 && len(f.times.Ns) != rounds {
					t.Errorf("%s, %s: %d slices of %v, want %d of %v", name, key, len(f.times.Ns), got, rounds, want)
				}
			}
			if len(p.notes) > 0 {
				t.Errorf("%s: notes %q", name, p.notes)
			}
		}
	}
}

// What the first operation takes more is in no figure; it is said once, with the side, if it
// is much and seen in two blocks.
func TestFirstUse(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		first func(block int, s record.Step) time.Duration
		mode  string
		want  string
	}{
		"one side":        {func(_ int, s record.Step) time.Duration { return time.Duration(s.Index-1) * 100 * ms }, program.ModeLoop, "takes 100ms more in BenchmarkX, which"},
		"both":            {func(int, record.Step) time.Duration { return 20 * ms }, program.ModeLoop, "takes 20ms more in BenchmarkX, 20ms more in "},
		"little":          {func(int, record.Step) time.Duration { return 2 * ms }, program.ModeLoop, ""},
		"by chance":       {func(block int, _ record.Step) time.Duration { return time.Duration(2-block) * 100 * ms }, program.ModeLoop, ""},
		"late by chance":  {func(block int, _ record.Step) time.Duration { return time.Duration(block-1) * 100 * ms }, program.ModeLoop, ""},
		"as in go test":   {func(int, record.Step) time.Duration { return 100 * ms }, program.ModeRunN, ""},
		"of one process":  {func(_ int, s record.Step) time.Duration { return time.Duration(s.Copy-1) * 100 * ms }, program.ModeLoop, ""},
		"of no operation": {func(int, record.Step) time.Duration { return 0 }, program.ModeLoop, ""},
	} {
		w := &fakeWorld{make: func(block int, s record.Step) *fakeDriver {
			return &fakeDriver{mode: c.mode, perOp: func(slice int) time.Duration {
				if slice == 1 {
					return 1000 + c.first(block, s)
				}
				return 1000
			}}
		}}
		_, p := turnsRun(t, turnsPlanOf(2, 4, 50, ms), w)
		notes := strings.Join(p.notes, "\n")
		for _, want := range strings.Split(c.want, "BenchmarkX") {
			if c.want == "" != (notes == "") || !strings.Contains(notes, strings.TrimPrefix(want, ",")) || len(p.notes) > 1 {
				t.Errorf("%s: notes %q, want %q", name, notes, c.want)
			}
		}
	}
}
