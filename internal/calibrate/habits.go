package calibrate

import (
	"cmp"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// countOf is how many values people have go test -count take, and leastCount how
// many benchstat asks for; a process of long slices has fewer.
const (
	countOf    = 10
	leastCount = 6
)

// A habitual is a way to take two samples out of measured pairs: take returns the
// comparisons it makes of the pairs of one benchmark and one slow-down, in order
// of trials, none of which uses a value that another does.
type habitual struct {
	name, says string
	take       func(pairs []*trialPair) (a, b [][]float64)
}

var habituals = []habitual{
	{
		name: "one process each, one after the other",
		says: "as by go test -count 10 for the old program, then for the new one: ten slices of one process against ten of another in the next block of the same code layout",
		take: func(pairs []*trialPair) (a, b [][]float64) {
			// Of the blocks of a layout, the first is one program's and the next the
			// other's, and so on. It may be the next trial's.
			type kind struct{ file, layout string }
			open := make(map[kind][]float64) // of the first program, to be compared
			for _, p := range pairs {
				for i := range p.a {
					k := kind{p.file, p.a[i].layout}
					x, ok := open[k]
					if !ok {
						open[k] = p.a[i].perOp()
						continue
					}
					delete(open, k)
					y := p.b[i].perOp()
					if min(len(x), len(y)) >= leastCount {
						a, b = append(a, x[:min(countOf, len(x))]), append(b, y[:min(countOf, len(y))])
					}
				}
			}
			return a, b
		},
	},
	{
		name: "a process a value, all of A first",
		says: "one value from each process of one trial against one from each process of the next trial",
		take: func(pairs []*trialPair) (a, b [][]float64) {
			for i := 0; i+1 < len(pairs); i += 2 {
				first, second := pairs[i], pairs[i+1]
				if first.file != second.file {
					i-- // the last of a file has no next one
					continue
				}
				a, b = append(a, processValues(first.a)), append(b, processValues(second.b))
			}
			return a, b
		},
	},
	{
		name: "interleaved, all slices pooled",
		says: "all slices of all blocks as one sample each, as if each were a value of its own",
		take: ofTrials(func(procs []trialProcess) (all []float64) {
			for _, p := range procs {
				all = append(all, p.perOp()...)
			}
			return all
		}),
	},
	{
		name: "interleaved, a value a process, unpaired",
		says: "one value from each process of the trial, taken as two samples",
		take: ofTrials(processValues),
	},
}

// ofTrials takes the two samples of each trial by itself.
func ofTrials(sample func([]trialProcess) []float64) func([]*trialPair) (a, b [][]float64) {
	return func(pairs []*trialPair) (a, b [][]float64) {
		for _, p := range pairs {
			if x, y := sample(p.a), sample(p.b); len(x) > 0 && len(y) > 0 {
				a, b = append(a, x), append(b, y)
			}
		}
		return a, b
	}
}

// perOp returns the time of an operation in each slice that is there, in
// nanoseconds.
func (p trialProcess) perOp() []float64 {
	there := where(p.slices, func(ns int64) bool { return ns != record.Lost })
	return each(there, func(ns int64) float64 { return float64(ns) / float64(p.n) })
}

func processValues(procs []trialProcess) []float64 {
	return each(procs, func(p trialProcess) float64 { return p.nsPerOp })
}

// habits applies each habit to pairs, at level alpha.
func habits(pairs []*trialPair, alpha float64) (out []compare.Habit) {
	type key struct {
		name string
		slow float64
	}
	type outcome struct {
		slow      float64
		alarm, up bool
	}
	rows := groupBy(pairs, func(p *trialPair) key { return key{p.name, p.slow} })
	for _, h := range habituals {
		var same, slowed []outcome
		for _, row := range rows {
			as, bs := h.take(row.members)
			for i := range as {
				p, up := mannWhitney(as[i], bs[i], alpha)
				o := outcome{row.key.slow, p <= alpha, up}
				if o.slow == 0 {
					same = append(same, o)
				} else {
					slowed = append(slowed, o)
				}
			}
		}
		habit := compare.Habit{Name: h.name, Says: h.says, Effects: []compare.HabitEffect{}}
		habit.Alarms = rateOf(same, func(o outcome) bool { return o.alarm })
		for _, g := range groupBy(slowed, func(o outcome) float64 { return o.slow }) {
			found := rateOf(g.members, func(o outcome) bool { return o.alarm && o.up })
			habit.Effects = append(habit.Effects, compare.HabitEffect{Slow: g.key, Found: found})
		}
		slices.SortFunc(habit.Effects, func(a, b compare.HabitEffect) int { return cmp.Compare(a.Slow, b.Slow) })
		out = append(out, habit)
	}
	return out
}

// mannWhitney tests as benchstat does. up says that the median of b is above
// that of a.
func mannWhitney(a, b []float64, alpha float64) (p float64, up bool) {
	th := &benchmath.Thresholds{CompareAlpha: alpha}
	// NewSample sorts what it is given.
	x, y := benchmath.NewSample(slices.Clone(a), th), benchmath.NewSample(slices.Clone(b), th)
	return min(1, benchmath.AssumeNothing.Compare(x, y).P), medianOf(b) > medianOf(a)
}
