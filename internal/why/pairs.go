package why

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// A Bench is a benchmark of a test binary. One that can be driven should be:
// otherwise its profiles have the preparation of the work too, and it has no
// counters.
type Bench struct {
	Column string
	Binary testbin.Binary
	Step   record.Step
	Ns     float64 // nanoseconds for an operation, as it was measured
}

// A Pair is a difference that is to be explained: two benchmarks, and what a
// comparison says of them.
type Pair struct {
	Row           string
	Verdict       compare.Verdict
	Ratio, Lo, Hi float64 // of the times, this over base, with its interval
	Base, This    Bench

	// Fastest and Slowest bound the times of all that are compared in the row,
	// in nanoseconds: all of them get the same number of operations.
	Fastest, Slowest float64
}

// of reports whether c is the cell of the pair.
func (p *Pair) of(c *Cell) bool {
	return c.Pkg == p.pkg() && c.Row == p.Row && c.Base == p.Base.Column && c.Column == p.This.Column
}

// pkg is the package of the benchmarks.
func (p *Pair) pkg() string { return p.This.Step.Case.Pkg }

// diff is the difference in time, this less base, in nanoseconds for an operation:
// that of the ratio that was judged, and not what the two figures of the table
// differ by, which are not compared block by block and may contradict it. Without
// bounds, both are the estimate.
func (p *Pair) diff() Interval {
	d := Interval{Est: p.Base.Ns * (p.Ratio - 1), Lo: p.Base.Ns * (p.Lo - 1), Hi: p.Base.Ns * (p.Hi - 1)}
	if math.IsNaN(d.Est) || math.IsInf(d.Est, 0) {
		d.Est = p.This.Ns - p.Base.Ns
	}
	if !(d.Lo <= d.Est && d.Est <= d.Hi) {
		d.Lo, d.Hi = d.Est, d.Est
	}
	return d
}

// timeUnit is the unit that is explained.
const timeUnit = "ns/op"

// findPairs returns the cells of c's table of times that are to be explained: those
// that are proven to differ from their base, or with all every one that can be
// compared to it. plan is that of the results file that c was made of, and
// subjects are its test binaries.
func findPairs(c *compare.Comparison, plan *record.Plan, subjects []testbin.Binary, all bool) ([]Pair, error) {
	if len(c.Files) != 1 {
		return nil, fmt.Errorf("%d files are compared; the differences of one are explained at a time", len(c.Files))
	}
	i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return t.Unit == timeUnit })
	if i < 0 {
		return nil, errors.New("nothing to explain: there are no times in " + timeUnit)
	}
	t := c.Tables[i]
	located, err := compare.Locate(plan, c.Col)
	if err != nil {
		return nil, err
	}
	find := func(r compare.Row, col int) (Bench, bool) {
		b := Bench{Column: t.Cols[col].Name, Ns: r.Cells[col].Center}
		i := slices.IndexFunc(located, func(l compare.Located) bool {
			return l.Row == r.Name && l.Col == b.Column && (r.Pkg == "" || l.Case.Pkg == r.Pkg)
		})
		if i < 0 {
			return b, false
		}
		b.Step = located[i].Step
		j := slices.IndexFunc(subjects, func(s testbin.Binary) bool { return s.Pkg == b.Step.Case.Pkg && s.Side == b.Step.Case.Side })
		if j < 0 {
			return b, false
		}
		b.Binary = subjects[j]
		return b, true
	}
	var pairs []Pair
	for _, r := range t.Rows {
		if r.Base < 0 || !(r.Cells[r.Base].Center > 0) {
			continue
		}
		base, ok := find(r, r.Base)
		if !ok {
			continue
		}
		first, fastest, slowest := len(pairs), base.Ns, base.Ns
		for col, cell := range r.Cells {
			if cell.Vs == nil || !(cell.Center > 0) || !all && !cell.Verdict.Proven() {
				continue
			}
			if this, ok := find(r, col); ok {
				fastest, slowest = min(fastest, this.Ns), max(slowest, this.Ns)
				pairs = append(pairs, Pair{
					Row: r.Name, Verdict: cell.Verdict, Ratio: cell.Vs.Ratio, Lo: cell.Vs.Lo, Hi: cell.Vs.Hi, Base: base, This: this,
				})
			}
		}
		for j := range pairs[first:] {
			pairs[first+j].Fastest, pairs[first+j].Slowest = fastest, slowest
		}
	}
	return pairs, nil
}

// most is how many times longer than asked for the slowest of a row may be
// profiled.
const most = 6

// Ops returns how many operations take the fastest of the pair's row about as
// long as d; fewer if the slowest would take more than six times as long. It is
// at least 2: package testing leaves its second run out for 1.
func (p *Pair) Ops(d time.Duration) int {
	return max(2, int(min(float64(d)/p.Fastest, most*float64(d)/p.Slowest, 1e12)))
}
