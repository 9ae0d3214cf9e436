package session

import (
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// A Forecast says how long the rest of a run takes: first by what a plan asks for,
// then by what each row has taken so far.
type Forecast struct {
	groups []forecastGroup
	of     map[record.StepKey]int // index in groups

	measured, expected time.Duration // of what has been measured
}

// A forecastGroup is a row's part of a forecast.
type forecastGroup struct {
	left     int           // steps that are not done, in all blocks
	expected time.Duration // of a step
	turns    bool          // they take turns
	done     int           // steps that were measured in this run
	took     time.Duration // all of those

	// Of them those of the first block, in which the lengths of slices are tried as well.
	firstDone int
	firstTook time.Duration
}

// Rough times of what a step takes beside what the plan asks for.
const (
	// startTime is what it takes to start a process and to prepare the work.
	startTime = 60 * time.Millisecond
	// countTime is what it takes, of two sides beside one another, to start a process on a
	// simulated processor and to count a hundred million instructions, with a part of that of its start.
	countTime = 700 * time.Millisecond
	// turnsTime is what it takes in place of startTime where processes take turns: to find
	// how long slices have to be, too, and to have more of them where collections of garbage
	// are far apart. In kept results (row-ms) it is 235 ms in the median of files of 250
	// rounds, and 428 ms of those of 40.
	turnsTime = 250 * time.Millisecond
	// warmSlices is how many slices of full size it takes to warm up.
	warmSlices = 12
	// sliceTime is what a slice costs beside its time: to ask for it, and to count
	// what it has allocated.
	sliceTime = 200 * time.Microsecond
)

// NewForecast returns the forecast for a plan, of which from has done something;
// nil is nothing.
func NewForecast(plan *record.Plan, from *record.Interrupted) *Forecast {
	f := &Forecast{of: make(map[record.StepKey]int)}
	if from == nil {
		from = new(record.Interrupted)
	}
	alone := startTime
	if d, err := time.ParseDuration(plan.Time); err == nil {
		// testing runs a benchmark with growing numbers of iterations to find the
		// one that takes this long, which together take once or twice that. Of a
		// plan that gives the number nothing is known.
		alone += d * 7 / 4 * time.Duration(max(1, plan.Count))
	}
	if plan.Counter != "" {
		alone = countTime
	}
	turns := turnsTime + warmSlices*max(plan.Slice, leastWarm) + time.Duration(plan.Rounds)*(plan.Slice+sliceTime)
	for i, g := range plan.Groups() {
		blocks := plan.Blocks
		if at, ok := from.Stopped[g.Index]; ok {
			blocks = at
		}
		n := forecastGroup{left: len(g.Steps) * max(0, blocks-from.Ended), expected: alone}
		if plan.TakesTurns(g) && from.Alone[g.Index] == "" {
			n.expected, n.turns = turns, true
		}
		for _, s := range g.Steps {
			f.of[s.Key()] = i
			if from.Done[s.Key()] && n.left > 0 {
				n.left--
			}
		}
		f.groups = append(f.groups, n)
	}
	return f
}

// Took takes in that steps took so long, all together. They are of one row.
func (f *Forecast) Took(d time.Duration, steps ...record.Step) {
	if len(steps) == 0 {
		return
	}
	g := &f.groups[f.of[steps[0].Key()]]
	expected := g.expected * time.Duration(len(steps))
	if g.turns && g.done == 0 {
		d = min(d, expected)
		g.firstDone, g.firstTook = len(steps), d
	}
	g.left -= len(steps)
	g.done += len(steps)
	g.took += d
	f.measured += d
	f.expected += expected
}

// each returns how long a step of g takes by those that were measured.
func (g *forecastGroup) each() float64 {
	if g.done > g.firstDone {
		return float64(g.took-g.firstTook) / float64(g.done-g.firstDone)
	}
	return float64(g.took) / float64(g.done)
}

// decided takes in that a row needs no more blocks.
func (f *Forecast) decided(g record.Group) { f.groups[f.of[g.Steps[0].Key()]].left = 0 }

// Left returns about how long the rest takes.
func (f *Forecast) Left() time.Duration {
	// Rows differ by a factor of ten, so the first of them say little of the others: what
	// they scale by counts for as much as they are of all rows.
	seen := 0
	for _, g := range f.groups {
		if g.done > 0 {
			seen++
		}
	}
	share := float64(seen) / float64(len(f.groups))
	sum := 0.0
	for _, g := range f.groups {
		each := float64(g.expected)
		switch {
		case g.done > 0:
			each = g.each()
		case f.expected > 0:
			each *= share*float64(f.measured)/float64(f.expected) + 1 - share
		}
		sum += each * float64(g.left)
	}
	return time.Duration(sum)
}

// Steps returns how many steps are left.
func (f *Forecast) Steps() int {
	n := 0
	for _, g := range f.groups {
		n += g.left
	}
	return n
}
