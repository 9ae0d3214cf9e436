package why

import (
	"fmt"
	"math"
	"strings"
)

const (
	// sigmas is how many standard deviations the change of a part must have to be
	// named. There are up to nineteen groups: that any of them has as many by
	// sampling alone is then as likely as 2.5 %.
	sigmas = 3

	// manySamples and fewSamples are how many samples the profiles of CPU time get
	// if that can be had, the one that has more of them and the other one. Where
	// neither has fewSamples, the shares of the parts have no standard deviation
	// worth the name.
	manySamples, fewSamples = 500, 100

	// mostGroups is how many groups a sentence names. With more it is no
	// explanation any more.
	mostGroups = 3
)

// enough reports whether two profiles have enough samples.
func enough(a, b int64) bool { return max(a, b) >= manySamples && min(a, b) >= fewSamples }

// shares divide the CPU time that was counted among parts: each has the share of it
// that it has of the samples. So only that share is uncertain by sampling, which is
// binomial, and not the whole: of a benchmark that spends all its time in one
// function, all of a difference is that function's, however few the samples.
type shares struct {
	cpu, total, samples [2]float64 // of base and this
	sd                  float64    // of the difference of cpu
}

func newShares(p *Profile, t *CPUTime) *shares {
	return &shares{
		cpu:     [2]float64{t.Base, t.Base + t.Diff.Est},
		total:   [2]float64{p.Base.Total, p.This.Total},
		samples: [2]float64{float64(p.Base.Samples), float64(p.This.Samples)},
		sd:      (t.Diff.Hi - t.Diff.Lo) / 4,
	}
}

// A part is what one part of the CPU time changed by, with its standard deviation.
type part struct {
	*Change
	by, sd float64
}

// of returns what c changed by.
func (s *shares) of(c *Change) part {
	var cost [2]float64
	v := 0.0
	for i, flat := range []float64{c.Base.Flat, c.This.Flat} {
		share := 0.0
		if s.total[i] > 0 {
			share = min(max(0, flat/s.total[i]), 1)
		}
		cost[i] = share * s.cpu[i]
		// A part that no sample has, or all, may still be otherwise by a few.
		n := max(0, s.samples[i]) + 2
		even := (share*(n-2) + 1) / n
		v += s.cpu[i] * s.cpu[i] * even * (1 - even) / n
		if i == 1 {
			v += share * s.sd * share * s.sd
		}
	}
	return part{c, cost[1] - cost[0], math.Sqrt(v)}
}

// clear reports whether sampling alone does not explain the change.
func (p *part) clear() bool { return math.Abs(p.by) >= sigmas*p.sd }

// along returns which of the parts changed in the direction of change, largest
// first.
func (s *shares) along(changes []Change, change float64) []part {
	var out []part
	for i := range changes {
		if p := s.of(&changes[i]); p.by*change > 0 {
			out = append(out, p)
		}
	}
	largestFirst(out, func(p part) float64 { return math.Abs(p.by) })
	return out
}

// leading returns those of parts, which are sorted, that are clear, until they sum
// up to enough; at most mostGroups.
func leading(parts []part, enough float64) (named []part, sum float64) {
	for _, p := range parts {
		if len(named) == mostGroups || sum >= enough {
			break
		}
		if p.clear() {
			named, sum = append(named, p), sum+math.Abs(p.by)
		}
	}
	return named, sum
}

// where adds which groups and functions the change t of CPU time lies in, and
// reports whether they make up half of it. Too few samples to say so are said, with
// how long to take them.
func (f *finding) where(b *strings.Builder, t *CPUTime) bool {
	p := f.profiles[CPU]
	if p == nil {
		b.WriteString("; there is no profile of it that would say where")
		return false
	}
	s, size := newShares(p, t), math.Abs(t.Diff.Est)
	few := func(factor float64) bool {
		fmt.Fprintf(b, "; %d and %d samples are too few to say where: %s", p.Base.Samples, p.This.Samples, advice(f.sampled, factor))
		return false
	}
	if most := max(p.Base.Samples, p.This.Samples); most < fewSamples {
		return few(fewSamples / float64(max(most, 1)))
	}
	parts := s.along(p.Groups, t.Diff.Est)
	named, sum := leading(parts, half*size)
	if sum < half*size {
		if factor := s.lacking(p.Groups, parts, size); factor > 1 {
			return few(factor)
		}
		b.WriteString(", which is spread")
		if len(named) > 0 {
			fmt.Fprintf(b, ": the largest parts, %s, are less than half of it", s.list(named))
		}
		return false
	}
	fmt.Fprintf(b, ": %s", s.list(named))
	if against, back := leading(s.along(p.Groups, -t.Diff.Est), size/4); back >= size/4 {
		fmt.Fprintf(b, ", and %s", s.list(against))
	}
	if factor := s.nameless(named); factor > 1 {
		fmt.Fprintf(b, "; the samples are too few to say in which functions: %s", advice(f.sampled, factor))
	}
	return true
}

// lacking returns how many times as many samples are needed to find which of the
// groups make up half of a change of the given size, or that none do; 1 or less if
// there are enough. parts are those that changed its way, largest first.
//
// If as it seems so many groups make up half, each of them has to be clear with its
// part of that. With enough samples for mostGroups there are enough for anything
// that would be named.
func (s *shares) lacking(groups []Change, parts []part, size float64) float64 {
	sd := s.vaguest(groups)
	times := func(groups int) float64 { return squared(sigmas * sd / (half * size / float64(groups))) }
	if times(mostGroups) <= 1 {
		return 0
	}
	seem, sum := 0, 0.0
	for seem < min(len(parts), mostGroups) && sum < half*size {
		sum += math.Abs(parts[seem].by)
		seem++
	}
	if sum < half*size {
		seem = mostGroups
	}
	for ; seem < mostGroups; seem++ {
		if t := times(seem); t > 1.25 {
			return t
		}
	}
	return max(1.25, times(mostGroups))
}

// functions returns the functions that a group's change clearly comes from, until
// they are two thirds of it.
func (s *shares) functions(g *part) []part {
	named, _ := leading(s.along(g.parts, g.by), math.Abs(g.by)*2/3)
	return named
}

// nameless returns how many times as many samples are needed to say which functions
// the changes of code come from, where a group says nothing by itself; 1 or less if
// there are enough.
func (s *shares) nameless(groups []part) float64 {
	factor := 0.0
	for i := range groups {
		if g := &groups[i]; isCode(g.Name) && len(s.functions(g)) == 0 {
			factor = max(factor, squared(sigmas*s.vaguest(g.parts)/(half*g.by)))
		}
	}
	return factor
}

// vaguest returns the largest standard deviation of what any of all changed by.
func (s *shares) vaguest(all []Change) (sd float64) {
	for i := range all {
		sd = max(sd, s.of(&all[i]).sd)
	}
	return sd
}

func squared(v float64) float64 { return v * v }

// list says how much each group changed, and by which functions.
func (s *shares) list(groups []part) string {
	var parts []string
	for i := range groups {
		g := &groups[i]
		text := fmt.Sprintf("%s in %s", moreOrLess(g.by), g.Name)
		var names []string
		for _, f := range s.functions(g) {
			names = append(names, strings.TrimPrefix(f.Name, "runtime.")) // the group says it
		}
		if len(names) > 0 {
			text += " (" + strings.Join(names, ", ") + ")"
		}
		parts = append(parts, text)
	}
	return joined(parts)
}
