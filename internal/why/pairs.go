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
	Binary testbin.Binary
	Step   record.Step
	Ns     float64 // nanoseconds for an operation, as it was measured
}

// A Pair is a difference that is to be explained: two benchmarks, and what a
// comparison says of them.
type Pair struct {
	Row, BaseCol, Col string
	Verdict           compare.Verdict
	Ratio, Lo, Hi     float64 // of the times, this over base, with its interval
	Base, This        Bench

	// Fastest and Slowest bound the times of all that are compared in the row,
	// in nanoseconds: all of them get the same number of operations.
	Fastest, Slowest float64
}

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

// Pairs returns the cells of c's table of times that are to be explained: those
// that are proven to differ from their base, or with all every one that can be
// compared to it. plan is that of the results file that c was made of, and
// subjects are its test binaries.
func Pairs(c *compare.Comparison, plan *record.Plan, subjects []testbin.Binary, all bool) ([]Pair, error) {
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
		for _, l := range located {
			if l.Row != r.Name || l.Col != t.Cols[col].Name || r.Pkg != "" && l.Case.Pkg != r.Pkg {
				continue
			}
			j := slices.IndexFunc(subjects, func(s testbin.Binary) bool { return s.Pkg == l.Case.Pkg && s.Side == l.Case.Side })
			if j < 0 {
				return Bench{}, false
			}
			return Bench{Binary: subjects[j], Step: l.Step, Ns: r.Cells[col].Center}, true
		}
		return Bench{}, false
	}
	var pairs []Pair
	for _, r := range t.Rows {
		if r.Base < 0 || !(r.Cells[r.Base].Center > 0) {
			continue
		}
		first := len(pairs)
		fastest, slowest := r.Cells[r.Base].Center, r.Cells[r.Base].Center
		for col, cell := range r.Cells {
			if cell.Vs == nil || !(cell.Center > 0) || !all && !cell.Verdict.Proven() {
				continue
			}
			base, ok1 := find(r, r.Base)
			this, ok2 := find(r, col)
			if !ok1 || !ok2 {
				continue
			}
			fastest, slowest = min(fastest, cell.Center), max(slowest, cell.Center)
			pairs = append(pairs, Pair{
				Row: r.Name, BaseCol: t.Cols[r.Base].Name, Col: t.Cols[col].Name,
				Verdict: cell.Verdict, Ratio: cell.Vs.Ratio, Lo: cell.Vs.Lo, Hi: cell.Vs.Hi, Base: base, This: this,
			})
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
	n := float64(d) / p.Fastest
	if p.Slowest > most*p.Fastest {
		n = most * float64(d) / p.Slowest
	}
	return max(2, int(min(n, 1e12)))
}
