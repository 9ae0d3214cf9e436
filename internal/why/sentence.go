package why

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A finding is what a sentence is made of.
type finding struct {
	baseName, thisName string
	diff               Interval // of the time, this less base, as it was measured, ns/op
	differs            bool     // that they differ is proven
	cpu                *CPUTime // nil if it was not counted
	profiles           map[Kind]*Profile
	counters           []Counter

	// counted is how long CPU time was counted, as [Options].Time, and sampled the
	// same for the samples of its profile.
	counted, sampled time.Duration
}

// sentence explains the difference in one sentence, by the rules in docs/why.md, and
// reports whether that names what makes up at least half of it.
func (f *finding) sentence() (string, bool) {
	if !f.differs {
		return Unproven(f.thisName, f.baseName), false
	}
	var b strings.Builder
	how := "slower"
	if f.diff.Est < 0 {
		how = "faster"
	}
	fmt.Fprintf(&b, "%s is %s per operation %s than %s", f.thisName, nanos(math.Abs(f.diff.Est)), how, f.baseName)
	explained := false
	t, r := f.reading()
	switch r {
	case computes:
		cpu := t.Diff.towards(f.diff.Est)
		fmt.Fprintf(&b, " and uses %s CPU time (%v)", moreOrLess(t.Diff.Est), cpu)
		if cpu.Lo < half*math.Abs(f.diff.Est) {
			fmt.Fprintf(&b, ", where its time differs by %s", t.Wall.estimate())
		}
		explained = f.where(&b, t)
	case waits:
		f.waiting(&b)
	case absent:
		fmt.Fprintf(&b, " in the results, but not in the %d pairs of processes in which CPU time was counted: there the time differs by %s, so there is nothing to explain.",
			t.Pairs, t.Wall.estimate())
		return b.String(), false
	case unsure:
		if t == nil {
			b.WriteString("; its CPU time was not counted, which would say whether it computes or waits")
			break
		}
		fmt.Fprintf(&b, "; its CPU time cannot tell yet whether it computes or waits: that differs by %s", t.Diff.estimate())
		if t.Diff.towards(f.diff.Est).Hi < half*t.size(f.diff) {
			fmt.Fprintf(&b, ", and in the same processes the time itself by %s", t.Wall.estimate())
		}
		fmt.Fprintf(&b, ": %s", advice(max(f.counted, DefaultTime), t.lacking(f.diff)))
	}
	for _, said := range f.circumstances() {
		b.WriteString("; " + said)
	}
	b.WriteString(".")
	return b.String(), explained
}

// Unproven is the sentence about columns whose times are not proven to differ.
func Unproven(this, base string) string {
	return fmt.Sprintf("%s and %s are not shown to differ: there is nothing to explain.", this, base)
}

// reading returns what CPU time says of the difference; nil if there is none that says
// anything. Where none was counted, that of the samples can say that a program computes.
// It never says that one waits: it is of a single process on each side, and of its
// preparation too.
func (f *finding) reading() (*CPUTime, reading) {
	if f.cpu != nil {
		return f.cpu, f.cpu.reading(f.diff)
	}
	if p := f.profiles[CPU]; p != nil && p.cpuTime().reading(f.diff) == computes {
		return p.cpuTime(), computes
	}
	return nil, unsure
}

// cpuTime is the CPU time of a profile's samples, taken for a Poisson process.
func (p *Profile) cpuTime() *CPUTime {
	change := p.This.Total - p.Base.Total
	noise := sigmas * math.Sqrt(p.Base.variance()+p.This.variance())
	return &CPUTime{Base: p.Base.Total, Diff: Interval{change, change - noise, change + noise}}
}

// waiting says that the difference is no CPU time.
func (f *finding) waiting(b *strings.Builder) {
	t := f.cpu
	cpu, uses := t.Diff.towards(f.diff.Est), moreOrLess(t.Diff.Est)
	switch {
	case cpu.Hi < 0:
		fmt.Fprintf(b, ", although it uses %s CPU time (%v)", uses, t.Diff.towards(-f.diff.Est))
	case cpu.Lo > 0:
		fmt.Fprintf(b, ", but uses only %s CPU time (%v), less than half of that", uses, cpu)
	default:
		fmt.Fprintf(b, ", while its CPU time differs by less than half of that (%v)", t.Diff)
	}
	says := [2]string{"the time is spent waiting", "it waits more or does less in parallel"}
	if f.diff.Est < 0 {
		says = [2]string{"it waits less", "it waits less or does more in parallel"}
	}
	if t.parallel() || cpu.Hi < 0 {
		says[0] = says[1]
	}
	b.WriteString(": " + says[0])
}

// circumstances are what else is different: allocations, locks, counters.
func (f *finding) circumstances() (said []string) {
	add := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if p := f.profiles[Alloc]; p != nil {
		d := p.This.Total - p.Base.Total
		if math.Abs(d) >= 1 && math.Abs(d) >= 0.05*max(p.This.Total, p.Base.Total) {
			where := p.owner(d)
			if where != "" {
				where = ", mostly in " + where
			}
			add("it allocates %s B per operation %s%s", number(math.Abs(d)), direction(d), where)
		}
	}
	if p := f.profiles[Mutex]; p != nil {
		if d := p.This.Total - p.Base.Total; math.Abs(d) >= 0.1*max(math.Abs(f.diff.Est), 10) {
			add("goroutines wait %s per operation %s for locks", nanos(math.Abs(d)), direction(d))
		}
	}
	for _, c := range telling(f.counters, f.diff.Est) {
		write, per := number, ""
		switch {
		case strings.HasPrefix(c.Unit, "ns"):
			write = nanos
		case c.Unit == "B":
			write = func(v float64) string { return number(v) + " B" }
		}
		if strings.HasSuffix(c.Unit, "/op") {
			per = " per operation"
		}
		add("%s: %s%s against %s", c.Name, write(c.This), per, write(c.Base))
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

// moreOrLess writes a difference of times, such as "545 ns more".
func moreOrLess(ns float64) string { return nanos(math.Abs(ns)) + " " + direction(ns) }

func direction(d float64) string {
	if d < 0 {
		return "less"
	}
	return "more"
}

// nanos writes a time for people, with three digits.
func nanos(ns float64) string {
	unit, one := unitOf(ns)
	return number(ns/one) + " " + unit
}

// unitOf returns the unit in which a time is written, and its nanoseconds.
func unitOf(ns float64) (name string, one float64) {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if math.Abs(ns) >= 0.9995*u.ns {
			return u.name, u.ns
		}
	}
	return "ns", 1
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
