package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// resourceUnits are those of what processes used.
var resourceUnits = []string{record.UnitCPU, record.UnitGCCPU, record.UnitGCs, record.UnitLiveHeap, record.UnitPeakRSS, record.UnitInstructions, record.UnitCycles}

// paidUnits are the resources that a program is paid for with, whatever its time is:
// more of them closes a gate. The others explain.
var paidUnits = []string{record.UnitCPU, record.UnitLiveHeap, record.UnitPeakRSS}

// Judged reports whether a gate goes by what is proven in the unit of t: not by resources that
// only explain.
func (t Table) Judged() bool { return !t.Resource || slices.Contains(paidUnits, t.Unit) }

// withTwins returns the values with their twins: those of the control in the same
// blocks. What a base takes is then known from two processes instead of one.
func withTwins(values, control []value) []value {
	if len(control) == 0 {
		return values
	}
	control, _ = perBlock(control)
	out := slices.Clone(values)
	for i, v := range out {
		k := slices.IndexFunc(control, func(c value) bool { return c.blockID == v.blockID && c.block != "" })
		if k >= 0 {
			out[i].twin = &control[k]
		}
	}
	return out
}

// center returns what v and its twin have in the middle, by the mean of two values.
func (v *value) center(mean func(a, b float64) float64) float64 {
	if v.twin == nil {
		return v.v
	}
	return mean(v.v, v.twin.v)
}

func arithmetic(a, b float64) float64 { return a/2 + b/2 }

func geometric(a, b float64) float64 { return math.Sqrt(a) * math.Sqrt(b) }

// allCloser reports whether all pairs of x and ref differ by less than this, or if there
// are no pairs, all values.
func allCloser(pairs []valuePair, x, ref []value, than float64) bool {
	if len(pairs) == 0 {
		all := floats(slices.Concat(x, ref))
		return slices.Max(all)-slices.Min(all) < than
	}
	return !slices.ContainsFunc(pairs, func(p valuePair) bool { return math.Abs(p.x.v-p.ref.v) >= than })
}

// distribution is distributionOf values of a cell, which is asked for whatever that is compared to.
func (e *evaluator) distribution(values []value) *Distribution {
	of := values[0].measured
	d, ok := e.slices[of]
	if !ok {
		d = distributionOf(values)
		if e.slices != nil {
			e.slices[of] = d
		}
	}
	return d
}

// distributionOf is that of all slices of the values; nil if they have none.
func distributionOf(values []value) *Distribution {
	n := 0
	for _, v := range values {
		n += len(v.rounds)
	}
	all := make([]float64, 0, n)
	for _, v := range values {
		all = v.slices(all)
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return &Distribution{N: len(all), P50: quantile(all, 0.5), P90: quantile(all, 0.9), P99: quantile(all, 0.99), Max: all[len(all)-1]}
}

// slices appends the rounds of v that are not missing to all.
func (v *value) slices(all []float64) []float64 {
	for _, ns := range v.rounds {
		if !math.IsNaN(ns) {
			all = append(all, ns)
		}
	}
	return all
}

// quantile returns the least of the sorted values that at least the part q of them
// does not exceed.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// times is what the slices of pairs say.
type times struct {
	typical, beyond      []float64 // by how much typical times differ in each block, and by how much the tails moved beyond that, as logarithms
	ratio, lo, hi        float64
	tail, tailLo, tailHi float64
}

// A timesKey says of which pairs that is: of the cells that these are the first values of.
type timesKey struct {
	x, ref *measured
	twin   bool
	alpha  float64
}

// typical compares the typical times of pairs, and their tails, as logarithms; nil if some have no
// slices, or too few. It takes most of the time of a comparison, and the same is compared
// again where the control is, or the base of a target.
func (e *evaluator) typical(vs *Versus, pairs []valuePair) (center, beyond []float64) {
	first := pairs[0]
	key := timesKey{first.x.measured, first.ref.measured, first.ref.twin != nil, e.c.Alpha}
	t, ok := e.times[key]
	if !ok {
		t = timesOf(pairs, e.c.Alpha)
		if e.times != nil {
			e.times[key] = t
		}
	}
	vs.Typical, vs.TypicalLo, vs.TypicalHi, vs.Tail, vs.TailLo, vs.TailHi = t.ratio, t.lo, t.hi, t.tail, t.tailLo, t.tailHi
	return t.typical, t.beyond
}

func timesOf(pairs []valuePair, alpha float64) (t times) {
	var tail []float64
	for _, p := range pairs {
		d, ok := p.ref.typically(p.x)
		if !ok {
			t, tail = times{}, nil
			break
		}
		t.typical = append(t.typical, d)
		if moved, ok := p.ref.tail(p.x); ok {
			tail, t.beyond = append(tail, moved), append(t.beyond, moved-d)
		}
	}
	t.ratio, t.lo, t.hi = ratioOf(t.typical, alpha)
	t.tail, t.tailLo, t.tailHi = ratioOf(tail, alpha)
	return t
}

// ratioOf is the ratio of which logs are the logarithms in each block, with its bounds;
// NaN if there are none.
func ratioOf(logs []float64, alpha float64) (ratio, lo, hi float64) {
	if len(logs) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	s := stats.SignedRank(logs, alpha)
	return math.Exp(s.Est), math.Exp(s.Lo), math.Exp(s.Hi)
}

// typicalRounds is how many rounds it takes to say what is typical of a block.
const typicalRounds = 10

// typically returns by how much x lies above the base v in a round, and above v's twin
// if there is one: the Hodges-Lehmann estimate over the rounds that both have, as a
// logarithm.
func (v *value) typically(x *value) (d float64, ok bool) {
	over := func(base []float64) (float64, bool) {
		n := min(len(x.rounds), len(base))
		logs := make([]float64, 0, n)
		for i := range n {
			if a, b := x.rounds[i], base[i]; a > 0 && b > 0 {
				logs = append(logs, math.Log(a)-math.Log(b))
			}
		}
		if len(logs) < typicalRounds {
			return 0, false
		}
		return stats.HodgesLehmann(logs), true
	}
	d, ok = over(v.rounds)
	if ok && v.twin != nil {
		if twin, there := over(v.twin.rounds); there {
			d = arithmetic(d, twin)
		}
	}
	return d, ok
}

// tailSlices is how many slices a process has at least for its tail to be looked at.
const tailSlices = 20

// tail returns by how much the 99th percentile of x's slices lies above that of the
// base v, as a logarithm.
func (v *value) tail(x *value) (d float64, ok bool) {
	if min(len(x.rounds), len(v.rounds)) < tailSlices {
		return 0, false
	}
	a, b := x.slices(make([]float64, 0, len(x.rounds))), v.slices(make([]float64, 0, len(v.rounds)))
	if min(len(a), len(b)) < tailSlices || slices.Min(a) <= 0 || slices.Min(b) <= 0 {
		return 0, false
	}
	slices.Sort(a)
	slices.Sort(b)
	return math.Log(quantile(a, 0.99) / quantile(b, 0.99)), true
}

// tails finds the tails that moved otherwise than what is typical. They are no
// verdicts; but all of the report together are wrong with a chance of at most Alpha. Those
// that became longer, and by more than what is typical, are findings: the others cost
// no time.
func (e *evaluator) tails() {
	var p, by []float64
	var at []*tested
	for _, t := range e.tested {
		if len(t.tail) > 0 && !t.row.Cells[t.col].Damaged {
			s := stats.SignedRank(t.tail, e.c.Alpha)
			p, by, at = append(p, s.P), append(by, s.Est), append(at, t)
		}
	}
	for i, adjusted := range stats.Holm(p) {
		vs := at[i].vs
		vs.TailMoved = adjusted <= e.c.Alpha && math.Abs(by[i]) > math.Log1p(e.c.Margin)
		if vs.TailMoved && by[i] > 0 && vs.TailLo > 1+e.c.Margin {
			e.c.Findings = append(e.c.Findings, fmt.Sprintf("%s, %s: the slowest slices became slower than the others did: the 99th percentile %s, the typical time %s",
				at[i].row.Name, at[i].table.Cols[at[i].col].Name, percentChange(vs.Tail), percentChange(vs.Typical)))
		}
	}
}

// percentChange writes a ratio as what it adds or takes away.
func percentChange(ratio float64) string {
	percent := math.Round(1000*(ratio-1)) / 10
	switch {
	case ratio >= 2:
		return fmt.Sprintf("×%.3g", ratio)
	case percent < 0:
		return fmt.Sprintf("−%.3g %%", -percent)
	}
	return fmt.Sprintf("+%.3g %%", percent)
}
