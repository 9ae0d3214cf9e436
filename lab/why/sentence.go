package why

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A finding is what a sentence is made of.
type finding struct {
	baseName, thisName string
	base, this         float64 // times as they were measured, ns/op
	differs            bool    // that they differ is proven
	profiles           map[Kind]*Profile
	counters           []Counter
}

const (
	// half is the share of a difference that has to be found before it counts as
	// explained.
	half = 0.5

	// manySamples is how many samples the profile of CPU time with more of them
	// must have: a function with a tenth of them is then known to ±28 % of itself
	// (two standard deviations). fewSamples is the same for the other one, which
	// is of the faster side and has less to do with the difference.
	manySamples, fewSamples = 500, 100

	// mostGroups is how many groups a sentence names. With more it is no
	// explanation any more.
	mostGroups = 3
)

// sentence explains the difference in one sentence, and reports whether that
// names what makes up at least half of it. The rules, in this order:
//
//  1. The difference D of the times is held against the difference C of the CPU
//     time. If C goes the other way, or is less than half of D, the profile does
//     not explain D: the time is spent waiting, or it was different under the
//     profile.
//  2. Else the groups that changed in C's direction are named, largest first,
//     until they make up half of C; at most three. If three do not, it is spread.
//  3. What works against it is named if it is at least a quarter of C.
//  4. Allocations, waiting for locks and counters that moved are told as
//     circumstances, not as causes: nothing shows that they are.
func (f *finding) sentence() (string, bool) {
	diff := f.this - f.base
	how := "slower"
	if diff < 0 {
		how = "faster"
	}
	var b strings.Builder
	if f.differs {
		fmt.Fprintf(&b, "%s is %s per operation %s than %s", f.thisName, nanos(math.Abs(diff)), how, f.baseName)
	} else {
		fmt.Fprintf(&b, "%s and %s are not shown to differ", f.thisName, f.baseName)
	}
	explained := false
	cpu := f.profiles[CPU]
	switch {
	case cpu == nil:
		b.WriteString(", and there is no profile of CPU time that would say why")
	case !enough(cpu.Base.Samples, cpu.This.Samples):
		fmt.Fprintf(&b, ", and the profiles of CPU time have too few samples to say why (%d and %d)", cpu.Base.Samples, cpu.This.Samples)
	default:
		explained = f.cpu(&b, cpu, diff)
	}
	if said := f.circumstances(diff); len(said) > 0 {
		b.WriteString("; ")
		b.WriteString(strings.Join(said, "; "))
	}
	b.WriteString(".")
	return b.String(), explained
}

// enough reports whether two profiles have enough samples.
func enough(a, b int64) bool { return max(a, b) >= manySamples && min(a, b) >= fewSamples }

// cpu adds what CPU time says of the difference diff.
func (f *finding) cpu(b *strings.Builder, p *Profile, diff float64) bool {
	change := p.This.Total - p.Base.Total
	noise := p.noise()
	switch {
	case math.Abs(change) <= noise:
		fmt.Fprintf(b, ", with the same CPU time (%s against %s, within what sampling tells apart)", nanos(p.This.Total), nanos(p.Base.Total))
		if f.differs {
			b.WriteString(": no function explains it, the time is spent waiting")
		}
		return false
	case change*diff < 0:
		fmt.Fprintf(b, ", although it uses %s %s CPU time", nanos(math.Abs(change)), moreOrLess(change))
		if f.differs {
			b.WriteString(": no function explains that, it runs more in parallel or waits less")
			if diff > 0 {
				b.Reset()
				fmt.Fprintf(b, "%s is %s per operation slower than %s, although it uses %s less CPU time: no function explains that, it runs less in parallel or waits more",
					f.thisName, nanos(diff), f.baseName, nanos(-change))
			}
		}
		return false
	}
	fmt.Fprintf(b, " and uses %s %s CPU time", nanos(math.Abs(change)), moreOrLess(change))
	named, sum := p.largest(change, math.Abs(change)*half)
	found := math.Abs(sum) >= half*math.Abs(change)
	switch {
	case len(named) == 0:
		return false
	case !found:
		fmt.Fprintf(b, ", which is spread: the largest parts, %s, are less than half of it", groupList(named))
	default:
		fmt.Fprintf(b, ": %s", groupList(named))
	}
	if against, back := p.largest(-change, 0.25*math.Abs(change)); math.Abs(back) >= 0.25*math.Abs(change) {
		fmt.Fprintf(b, ", and %s", groupList(against))
	}
	if math.Abs(change) < half*math.Abs(diff) {
		fmt.Fprintf(b, "; that is less than half of the difference, the rest is waiting")
		return false
	}
	return found && f.differs
}

// noise is the change of the total that sampling alone may make: three standard
// deviations, taking samples for a Poisson process. Zero if what is counted is
// not sampled.
func (p *Profile) noise() float64 {
	if p.Kind != CPU {
		return 0
	}
	v := 0.0
	for _, s := range []Side{p.Base, p.This} {
		if s.Samples > 0 {
			one := s.Total / float64(s.Samples)
			v += one * one * float64(s.Samples)
		}
	}
	return 3 * math.Sqrt(v)
}

// largest returns the groups that changed in the direction of change, largest
// first, until they sum up to enough; at most mostGroups.
func (p *Profile) largest(change, enough float64) (named []Change, sum float64) {
	for _, g := range p.Groups { // sorted by the size of their change
		d := g.change()
		if d*change <= 0 {
			continue
		}
		if len(named) == mostGroups || math.Abs(sum) >= enough {
			break
		}
		named, sum = append(named, g), sum+d
	}
	return named, sum
}

// groupList says how much each group changed, and by which functions.
func groupList(groups []Change) string {
	var parts []string
	for _, g := range groups {
		d := g.change()
		s := fmt.Sprintf("%s %s in %s", nanos(math.Abs(d)), moreOrLess(d), g.Name)
		if len(g.Main) > 0 {
			s += " (" + strings.Join(trimmed(g.Main), ", ") + ")"
		}
		parts = append(parts, s)
	}
	return joined(parts)
}

// trimmed leaves out the package of the runtime's functions: the group says it.
func trimmed(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.TrimPrefix(n, "runtime.")
	}
	return out
}

// circumstances are what else is different: allocations, locks, counters.
func (f *finding) circumstances(diff float64) []string {
	var said []string
	if p := f.profiles[Alloc]; p != nil {
		d := p.This.Total - p.Base.Total
		if math.Abs(d) >= 1 && math.Abs(d) >= 0.05*max(p.This.Total, p.Base.Total) {
			s := fmt.Sprintf("it allocates %s B per operation %s", number(math.Abs(d)), moreOrLess(d))
			if where := p.owner(d); where != "" {
				s += ", mostly in " + where
			}
			said = append(said, s)
		}
	}
	if p := f.profiles[Mutex]; p != nil {
		if d := p.This.Total - p.Base.Total; math.Abs(d) >= 0.1*max(math.Abs(diff), 10) {
			said = append(said, fmt.Sprintf("goroutines wait %s per operation %s for locks", nanos(math.Abs(d)), moreOrLess(d)))
		}
	}
	for _, c := range telling(f.counters, diff) {
		write, per := number, " per operation"
		switch {
		case strings.HasPrefix(c.Unit, "ns"):
			write = nanos
		case c.Unit == "B":
			write = func(v float64) string { return number(v) + " B" }
		}
		if !strings.HasSuffix(c.Unit, "/op") {
			per = ""
		}
		said = append(said, fmt.Sprintf("%s: %s%s against %s", c.Name, write(c.This), per, write(c.Base)))
	}
	return said
}

// owner returns the function outside the runtime that allocates most of a
// change, "" if none stands out.
func (p *Profile) owner(change float64) string {
	for _, f := range p.Top {
		d := f.This.Cum - f.Base.Cum
		if ofRuntime(f.Symbol) || f.This.Flat == 0 && f.Base.Flat == 0 {
			continue
		}
		if own := f.change(); own*change > 0 && math.Abs(own) >= half*math.Abs(change) && d*change > 0 {
			return f.Name
		}
	}
	return ""
}

func moreOrLess(d float64) string {
	if d < 0 {
		return "less"
	}
	return "more"
}

// nanos writes a time for people, with three digits.
func nanos(ns float64) string {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= 0.9995*u.ns {
			return number(ns/u.ns) + " " + u.name
		}
	}
	return number(ns) + " ns"
}

// number writes v with three digits, without an exponent where that can be.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	if abs := math.Abs(v); abs >= 100 && abs < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// joined writes a list as people do.
func joined(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}
