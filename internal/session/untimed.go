package session

import (
	"fmt"
	"math"
	"time"

	"github.com/dynolab/dyno/internal/program"
)

// A benchmark may stop its timer within its loop, or before it: then a slice takes longer than
// what it measures, by any factor. So slices are bounded by the wall clock as well: a
// slice takes no more than mostUntimed beside what it measures, and its row no more than
// stretchWall times what its rounds may take. What is mostly untimed is measured with what fits, and
// the run says so.
const (
	mostUntimed = 250 * time.Millisecond
	stretchWall = 2
	// mostlyUntimed is how many times as long as what its timer measures an operation takes
	// beside it, from which on slices are bounded by mostUntimed, and lengths are not tried.
	mostlyUntimed = 4
)

// An untimed is what slices take beside what the timer measures.
type untimed struct {
	call, each float64       // nanoseconds of a slice, and of each operation
	first      program.Slice // with the fewest operations
}

// learn takes in a slice.
func (u *untimed) learn(s program.Slice) {
	beside := func(s program.Slice) float64 { return max(0, float64(s.Wall-s.Elapsed)) }
	if u.first.N == 0 || s.N <= u.first.N {
		u.first = s
	}
	u.call = beside(s)
	if s.N > u.first.N {
		u.each = max(0, beside(s)-beside(u.first)) / float64(s.N-u.first.N)
		u.call = max(0, beside(s)-u.each*float64(s.N))
	}
}

// most returns how many operations a slice may have, where one takes perOp by the timer.
func (u *untimed) most(perOp float64) int {
	if u.each <= mostlyUntimed*perOp {
		return mostOps
	}
	return max(1, int(min(float64(mostUntimed)/u.each, mostOps)))
}

// grown bounds n, to which a slice of so many operations grew: until it is known what an
// operation takes beside the timer, a slice that took long is doubled only.
func (u *untimed) grown(s program.Slice, n int) int {
	if s.N == u.first.N && s.Wall-s.Elapsed > mostUntimed/100 {
		n = min(n, 2*s.N)
	}
	return max(min(n, u.most(float64(s.Elapsed)/float64(s.N))), s.N)
}

// besides returns about how long a slice of w takes beside what its timer measures.
func (w *warmth) besides() time.Duration {
	return time.Duration(w.untimed.call + w.untimed.each*float64(w.n))
}

// mostlyUntimed reports whether slices of w are bounded by what they take beside the timer.
func (w *warmth) mostlyUntimed() bool { return w.untimed.most(w.perOp) < mostOps }

// sayUntimed says which sides have few and short slices since their timer seldom runs.
func (r *runner) sayUntimed(sides []*side) {
	for _, p := range sides {
		if p.step.Copy > 1 || p.err != nil || !p.warm.mostlyUntimed() && p.warm.besides() <= mostUntimed {
			continue
		}
		var timed, wall time.Duration
		for _, s := range p.slices {
			timed += s.Elapsed
			wall += s.Wall
		}
		if timed <= 0 || wall < mostlyUntimed*timed {
			continue
		}
		percent := 100 * float64(timed) / float64(wall)
		digits := math.Pow(10, 1-math.Floor(math.Log10(percent)))
		r.say(rowOf(p.step), fmt.Sprintf("its timer runs for %v %% of the time (b.StopTimer, or what a call prepares), so a block measures only %v of it",
			math.Round(percent*digits)/digits, timed.Round(10*time.Microsecond)))
	}
}
