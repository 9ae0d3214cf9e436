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
			out[i].twin, out[i].twinRounds = control[k].v, control[k].rounds
		}
	}
	return out
}

// center returns what v and its twin have in the middle, by the mean of two values.
func (v value) center(mean func(a, b float64) float64) float64 {
	if math.IsNaN(v.twin) {
		return v.v
	}
	return mean(v.v, v.twin)
}

func arithmetic(a, b float64) float64 { return a/2 + b/2 }

func geometric(a, b float64) float64 { return math.Sqrt(a) * math.Sqrt(b) }

// allCloser reports whether all pairs of x and ref differ by less than this, or if there
// are no pairs, all values.
func allCloser(x, ref []value, than float64) bool {
	pairs, ok := pair(x, ref)
	if !ok {
		all := floats(slices.Concat(x, ref))
		return slices.Max(all)-slices.Min(all) < than
	}
	return !slices.ContainsFunc(pairs, func(p valuePair) bool { return math.Abs(p.x.v-p.ref.v) >= than })
}

// distributionOf is that of all slices of the values; nil if they have none.
func distributionOf(values []value) *Distribution {
	var all []float64
	for _, v := range values {
		all = append(all, v.slices()...)
	}
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return &Distribution{N: len(all), P50: quantile(all, 0.5), P90: quantile(all, 0.9), P99: quantile(all, 0.99), Max: all[len(all)-1]}
}

// slices are the rounds of v that are not missing.
func (v value) slices() []float64 {
	return slices.DeleteFunc(slices.Clone(v.rounds), math.IsNaN)
}

// quantile returns the least of the sorted values that at least the part q of them
// does not exceed.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// typical compares the typical times of pairs, and their tails. It returns by how
// much they differ in each block, and by how much the tail of each pair moved beyond
// that, as logarithms; nil if some have no slices, or too few.
func typical(vs *Versus, pairs []valuePair, alpha float64) (center, beyond []float64) {
	var tail []float64
	for _, p := range pairs {
		d, ok := p.ref.typically(p.x)
		if !ok {
			return nil, nil
		}
		center = append(center, d)
		if t, ok := p.ref.tail(p.x); ok {
			tail, beyond = append(tail, t), append(beyond, t-d)
		}
	}
	vs.Typical, vs.TypicalLo, vs.TypicalHi = ratioOf(center, alpha)
	vs.Tail, vs.TailLo, vs.TailHi = ratioOf(tail, alpha)
	return center, beyond
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
func (v value) typically(x value) (d float64, ok bool) {
	over := func(base []float64) (float64, bool) {
		var logs []float64
		for i := range min(len(x.rounds), len(base)) {
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
	if twin, there := over(v.twinRounds); ok && there {
		d = arithmetic(d, twin)
	}
	return d, ok
}

// tailSlices is how many slices a process has at least for its tail to be looked at.
const tailSlices = 20

// tail returns by how much the 99th percentile of x's slices lies above that of the
// base v, as a logarithm.
func (v value) tail(x value) (d float64, ok bool) {
	a, b := x.slices(), v.slices()
	if min(len(a), len(b)) < tailSlices || slices.Min(a) <= 0 || slices.Min(b) <= 0 {
		return 0, false
	}
	slices.Sort(a)
	slices.Sort(b)
	return math.Log(quantile(a, 0.99) / quantile(b, 0.99)), true
}

// tails finds the tails that moved otherwise than what is typical. They are no
// verdicts; but all of the report together are wrong with a chance of at most Alpha. Those
// that became longer, and by more than what is typical, are findings: the others lose
// nobody any time.
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
