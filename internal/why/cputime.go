package why

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// newCPUTime compares the CPU time that was counted in pairs of processes; nil if
// the system counts none.
func newCPUTime(base, this []tally) *CPUTime {
	cpu, cpus := inPairs(base, this, tally.cpu)
	wall, walls := inPairs(base, this, tally.wall)
	// The largest step that the CPU time of all slices is a multiple of: the system's
	// clock of CPU time is no finer than that.
	clock, least := uint64(0), math.Inf(1)
	for _, t := range slices.Concat(base, this) {
		least = min(least, t.ops()/float64(len(t)))
		for _, s := range t {
			clock = commonStep(clock, uint64(max(0, s.Counters["user-ns"]+s.Counters["system-ns"])))
		}
	}
	if len(cpu) == 0 || clock == 0 { // a clock that stands still
		return nil
	}
	c := &CPUTime{
		Base: median(cpu), Diff: paired(cpu, cpus, difference), Wall: paired(wall, walls, difference), BaseWall: median(wall),
		Pairs: len(cpu), Clock: 2 * float64(clock) / least,
	}
	// What a clock in steps has not shown may be there in all pairs alike.
	c.Diff.Lo, c.Diff.Hi = c.Diff.Lo-c.Clock, c.Diff.Hi+c.Clock
	for _, v := range []float64{c.Base, c.BaseWall, c.Diff.Est, c.Diff.Lo, c.Diff.Hi, c.Wall.Est, c.Wall.Lo, c.Wall.Hi} {
		if v != finite(v) {
			return nil
		}
	}
	return c
}

// cpu returns the CPU time of an operation in nanoseconds, of all threads together.
func (t tally) cpu() (ns float64, ok bool) {
	user, ok1 := t.value(kindOf("user-ns"))
	system, ok2 := t.value(kindOf("system-ns"))
	return user + system, ok1 && ok2
}

// coarse reports whether the clock of CPU time is too coarse to say anything of a
// difference of diff: with it alone, the interval is a quarter as wide as the
// difference.
func (t *CPUTime) coarse(diff float64) bool { return t.Clock > math.Abs(diff)/8 }

// A reading is what the CPU time says of a difference in time.
type reading int

const (
	unsure   reading = iota // an interval holds half of the difference
	computes                // the CPU time differs by at least half of it, in its direction
	waits                   // it differs by less, or the other way, while the time itself does differ
	absent                  // the time itself differs by less than half of what the results show at least
)

// half is the share of a difference that has to be found before it counts as
// explained.
const half = 0.5

// reading reads what the CPU time says of a difference diff. Nothing but an interval
// that leaves out half of it says anything: an interval that holds both none of it
// and all of it must not be read as none.
func (t *CPUTime) reading(diff Interval) reading {
	cpu, wall, enough := t.Diff.towards(diff.Est), t.Wall.towards(diff.Est), half*t.size(diff)
	switch {
	case cpu.Lo >= half*math.Abs(diff.Est):
		return computes
	case wall.Hi < half*diff.towards(diff.Est).Lo:
		return absent
	case cpu.Lo >= enough:
		return computes
	case cpu.Hi >= enough, wall.Lo < enough:
		return unsure
	}
	return waits
}

// size returns how large the difference diff is: as in the results, or as in the
// processes that were counted if that is less and has the narrower interval. What
// a few noisy blocks show of a small difference is often too much.
func (t *CPUTime) size(diff Interval) float64 {
	size := math.Abs(diff.Est)
	if wall := t.Wall.towards(diff.Est); wall.Lo > 0 && wall.Hi-wall.Lo < diff.Hi-diff.Lo {
		size = min(size, wall.Est)
	}
	return size
}

// towards returns i counted in the direction of diff: positive is the same way.
func (i Interval) towards(diff float64) Interval {
	if diff < 0 {
		return Interval{Est: -i.Est, Lo: -i.Hi, Hi: -i.Lo}
	}
	return i
}

// lacking returns how many times longer CPU time must be counted for its reading of
// diff not to be unsure; infinity if that is not foreseeable. That a program waits
// takes the time itself, too.
func (t *CPUTime) lacking(diff Interval) float64 {
	enough := half * t.size(diff)
	cpu := t.Diff.towards(diff.Est)
	factor := cpu.lacking(enough)
	if cpu.Est < enough {
		factor = max(factor, t.Wall.towards(diff.Est).lacking(enough))
	}
	return factor
}

// lacking returns how many times longer it takes for the interval to leave out
// enough, with a width that falls with the root of the time; 0 if it does already. A
// half-width of half of enough does so 39 times of 40 (docs/why.md says why); an interval
// that is that narrow and still holds it has its centre near, whose distance counts then.
func (i Interval) lacking(enough float64) float64 {
	if i.Lo >= enough || i.Hi < enough {
		return 0
	}
	width, want := (i.Hi-i.Lo)/2, enough/2
	if width <= want {
		want = math.Abs(i.Est-enough) / 1.5
	}
	return max(1.5, squared(width/want))
}

// parallel reports whether either side has more CPU time than time: then its work is
// shared by processors, and what differs may be how well.
func (t *CPUTime) parallel() bool {
	const more = 1.05
	return t.Base > more*t.BaseWall || t.Base+t.Diff.Est > more*(t.BaseWall+t.Wall.Est)
}

// String writes an interval of times in nanoseconds for people, such as "480 to 610 ns".
func (i Interval) String() string {
	unit, ns := unitOf(max(math.Abs(i.Lo), math.Abs(i.Hi)))
	return number(i.Lo/ns) + " to " + number(i.Hi/ns) + " " + unit
}

// estimate writes the estimate too.
func (i Interval) estimate() string { return fmt.Sprintf("%s (%v)", nanos(i.Est), i) }

// mostAdvised is the longest --time that is advised.
const mostAdvised = time.Hour

// advice says that --time should be factor times as long as d, rounded up.
func advice(d time.Duration, factor float64) string {
	seconds := math.Ceil(d.Seconds() * factor)
	switch {
	case !(seconds <= mostAdvised.Seconds()): // nor is NaN
		return "not even --time 1h would do"
	case seconds > 120:
		return fmt.Sprintf("--time %dm would do", int(math.Ceil(seconds/60)))
	case seconds > 10:
		return fmt.Sprintf("--time %ds would do", int(5*math.Ceil(seconds/5)))
	}
	return fmt.Sprintf("--time %ds would do", int(max(seconds, 1)))
}
