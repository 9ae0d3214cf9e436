package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dynolab/dyno/internal/stats"
)

// A cut is a place at which a search has parted a piece: before a member of it, by index.
type cut struct {
	at, lo, hi  int // lo and hi bound at
	p, adjusted float64
}

// A part is members of a piece, from first up to and without end, with the level that is fitted
// to the first and to the last of them: another one if they drift.
type part struct {
	first, end int
	from, to   float64
	p, adj     float64 // of a drift
}

func (p part) drifts() bool { return p.from != p.to }

const (
	// farOff is how many spreads of a point count at most of its distance from what is fitted.
	farOff = 6

	// sameErrors is within how many standard errors two levels are the same.
	sameErrors = 2

	// backPart is how much of a step may be left where it was taken back.
	backPart = 0.1
)

// fit fits all steps of a piece together, so that each is by how much the levels beside it
// differ: what the search took them for has those behind them in it. Cuts in a row that a line
// explains better than levels do are a drift.
func (h *History) fit(s *Series, p *Piece, cuts []cut) {
	if len(cuts) == 0 {
		return
	}
	members := h.Members(s, *p)
	q := s.sequence(members)
	noise := q.Noise()
	cuts = settle(q, cuts)
	for len(cuts) > 0 { // what does not differ any more goes, the least first
		parts := levels(q, cuts)
		least, at := math.Inf(1), 0
		for i := range cuts {
			if e := math.Abs(parts[i+1].from-parts[i].to) / jumpError(parts[i], parts[i+1], noise); e < least {
				least, at = e, i
			}
		}
		if least >= sameErrors {
			break
		}
		cuts = settle(q, slices.Delete(cuts, at, at+1))
	}
	parts := drifts(q, levels(q, cuts), cuts, noise)
	var steps []Step
	add := func(before, at, lo, hi int, size, p, adjusted float64, drift bool) *Step {
		steps = append(steps, Step{
			At: members[at], Before: members[before], Lo: members[lo], Hi: members[hi], Log: size, P: p, Adjusted: adjusted, Drift: drift, State: Suspected,
		})
		return &steps[len(steps)-1]
	}
	for i := 0; i < len(parts); i++ {
		now := parts[i]
		if i > 0 {
			before := parts[i-1]
			c := cuts[slices.IndexFunc(cuts, func(c cut) bool { return c.at == now.first })]
			size, err := now.from-before.to, jumpError(before, now, noise)
			switch plain := !before.drifts() && !now.drifts(); {
			case !plain && math.Abs(size) < sameErrors*err: // the line goes on from there
			case plain && i+1 < len(parts) && isBack(before, now, parts[i+1], noise):
				add(c.lo-1, c.at, c.lo, c.hi, size, c.p, c.adjusted, false).Ended = members[now.end]
				i++ // which is where it was before
			default:
				add(c.lo-1, c.at, c.lo, c.hi, size, c.p, c.adjusted, false)
			}
		}
		if now.drifts() {
			add(now.first, now.first+1, now.first, now.end-1, now.to-now.from, now.p, now.adj, true)
		}
	}
	for i := range steps {
		h.circumstances(s, members, &steps[i])
	}
	p.Steps = steps
}

// isBack reports whether levels go back to where they were.
func isBack(before, within, after part, noise float64) bool {
	rest, err := after.from-before.to, jumpError(before, after, noise)
	return !after.drifts() && math.Abs(rest) < max(sameErrors*err, backPart*math.Abs(within.from-before.to))
}

// jumpError is the standard error of the difference of two levels.
func jumpError(a, b part, noise float64) float64 {
	return max(noise, math.SmallestNonzeroFloat64) * math.Sqrt(1/float64(a.end-a.first)+1/float64(b.end-b.first))
}

// between is the values from one member up to and without another.
func between(q stats.Sequence, first, end int) stats.Sequence {
	return stats.Sequence{D: q.D[first:end], SE: q.SE[first:end]}
}

// settle moves each cut to the best place between those beside it, until none moves.
func settle(q stats.Sequence, cuts []cut) []cut {
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Or(a.at-b.at, cmp.Compare(a.adjusted, b.adjusted)) })
	cuts = slices.CompactFunc(cuts, func(a, b cut) bool { return a.at == b.at })
	for moved := len(cuts); moved > 0; {
		was := slices.Clone(cuts)
		for i := range cuts {
			first, end := 0, len(q.D)
			if i > 0 {
				first = cuts[i-1].at
			}
			if i+1 < len(cuts) {
				end = cuts[i+1].at
			}
			if end-first < stats.LeastSequence {
				cuts[i].lo, cuts[i].hi = cuts[i].at, cuts[i].at
				continue
			}
			found := between(q, first, end).Change()
			cuts[i].at, cuts[i].lo, cuts[i].hi = first+found.First, first+found.Lo, first+found.Hi
		}
		if moved--; slices.EqualFunc(was, cuts, func(a, b cut) bool { return a.at == b.at }) {
			break
		}
	}
	return cuts
}

// levels are the parts between cuts, each of one level.
func levels(q stats.Sequence, cuts []cut) (parts []part) {
	first := 0
	for i := range len(cuts) + 1 {
		end := len(q.D)
		if i < len(cuts) {
			end = cuts[i].at
		}
		level := stats.HodgesLehmann(q.D[first:end])
		parts = append(parts, part{first: first, end: end, from: level, to: level})
		first = end
	}
	return parts
}

// drifts replaces parts in a row, which rise or fall all along, by one that drifts, where a line
// is nearer to the values than levels are: by the squares of what is left, in those of the
// noise, and a penalty for each number that is fitted (Schwarz 1978).
func drifts(q stats.Sequence, parts []part, cuts []cut, noise float64) []part {
	if !(noise > 0) {
		return parts
	}
	for {
		gain, first, end := 0.0, 0, 0
		var best part
		for i := range parts {
			for k := i + 1; k < len(parts); k++ {
				if parts[i].drifts() || parts[k].drifts() || (parts[i+1].from > parts[i].to) != (parts[k].from > parts[k-1].to) {
					break
				}
				line := lineOf(q, parts[i].first, parts[k].end)
				penalty := math.Log(float64(line.end - line.first))
				steps := float64(2*(k-i)+1) * penalty // levels, and places
				for _, p := range parts[i : k+1] {
					steps += left(q, p, noise)
				}
				if more := steps - left(q, line, noise) - 2*penalty; more > gain {
					gain, best, first, end = more, line, i, k+1
				}
			}
		}
		if gain == 0 {
			return parts
		}
		best.p, best.adj = 1, 1
		for _, c := range cuts {
			if c.at > best.first && c.at < best.end {
				best.p, best.adj = min(best.p, c.p), min(best.adj, c.adjusted)
			}
		}
		parts = slices.Replace(parts, first, end, best)
	}
}

// left is what a part leaves of its values, in squares of the noise.
func left(q stats.Sequence, p part, noise float64) (sum float64) {
	for i := p.first; i < p.end; i++ {
		fitted := p.from + (p.to-p.from)*float64(i-p.first)/float64(p.end-p.first-1)
		off := min(farOff, math.Abs(q.D[i]-fitted)/noise)
		sum += off * off
	}
	return sum
}

// lineOf is the part that drifts by the median of the slopes of all pairs (Theil 1950; Sen 1968).
func lineOf(q stats.Sequence, first, end int) part {
	var slopes, starts []float64
	for i := first; i < end; i++ {
		for k := first; k < i; k++ {
			slopes = append(slopes, (q.D[i]-q.D[k])/float64(i-k))
		}
	}
	slices.Sort(slopes)
	slope := stats.Median(slopes)
	for i := first; i < end; i++ {
		starts = append(starts, q.D[i]-slope*float64(i-first))
	}
	slices.Sort(starts)
	from := stats.Median(starts)
	return part{first: first, end: end, from: from, to: from + slope*float64(end-first-1)}
}

// circumstances says which commits a step lies between, what changed with it, and whether a
// comparison of both can tell.
func (h *History) circumstances(s *Series, members []int, step *Step) {
	before, after := h.Runs[s.Points[step.Before].Run], h.Runs[s.Points[step.Hi].Run]
	step.Old, step.New = before.Commit, after.Commit
	other := false
	for k, i := range members {
		if i <= step.Before || i > step.Hi {
			continue
		}
		for _, c := range changed(s.Points[members[k-1]], s.Points[i]) {
			other = other || c.what == workSource
			if text := c.String(); !slices.Contains(step.With, text) {
				step.With = append(step.With, text)
			}
		}
	}
	switch {
	case other:
		step.Unprovable = "the benchmark or its reference changed with it, so both sides do not do the same work"
	case step.Old == "" || step.New == "":
		step.Unprovable = "the results do not say of which commits they are"
	case step.Old == step.New:
		step.Unprovable = "both sides are the same commit, so it was not the code"
	case before.Dirty || after.Dirty:
		step.Unprovable = "a side was measured with changes that were not committed"
	}
	if other {
		step.State = Explained
	}
}

// A change is a circumstance that is another one than before.
type change struct{ what, from, to string }

func (c change) String() string {
	return fmt.Sprintf("%s: %s → %s", c.what, cmp.Or(c.from, "not on record"), cmp.Or(c.to, "not on record"))
}

// changed returns in what the circumstances of a point differ from those of one before. What
// neither says is no difference. What one says and the other does not is one: nothing tells
// that it was the same.
func changed(before, now Point) (all []change) {
	was := make(map[string]string)
	for _, c := range before.circumstances {
		was[c.what] = c.value
	}
	for _, c := range now.circumstances {
		if then, known := was[c.what]; known && then != c.value {
			all = append(all, change{c.what, then, c.value})
		}
	}
	return all
}
