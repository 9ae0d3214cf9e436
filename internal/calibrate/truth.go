package calibrate

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/dynolab/dyno/internal/compare"
)

// TruthSchema names the form of a Truth's JSON. Fields may be added under the same
// name; a change of meaning gets a new one.
const TruthSchema = "dyno-truth/1"

// A Truth is what is said of two versions of benchmarks, beside what is true of them:
// by benchrun ab, and by benchstat as people use it. The truth is what plain test
// binaries show, in fresh processes that alternate. docs/calibration.md tells how it
// comes about.
type Truth struct {
	compare.Findings

	Rows []TruthRow `json:"rows"` // in the plan's order
	Ways []TruthWay `json:"ways"` // by how benchmarks are driven

	Dyno      TruthCount `json:"dyno"` // over all rows
	Benchstat TruthCount `json:"benchstat"`

	compare.Faults
}

// A TruthRow is a benchmark of both versions.
type TruthRow struct {
	Pkg    string `json:"pkg"`
	Name   string `json:"name"`   // with the suffix that tells GOMAXPROCS
	Driven string `json:"driven"` // by benchrun ab, as CalibratedWay has it; "" if that is not known

	Truth TruthRatio `json:"truth"`

	// Dyno and Benchstat are the verdicts, one for each file that has one.
	Dyno      []TruthVerdict `json:"dyno"`
	Benchstat []TruthVerdict `json:"benchstat"`
}

// A TruthRatio is the new version's time over the old one's: of the mean of all
// processes to that of all others.
type TruthRatio struct {
	Pairs int     `json:"pairs"` // of processes, one of each version
	Ratio float64 `json:"ratio"` // 0 without pairs

	// Lo and Hi bound the ratio with confidence 1-Alpha; both are 0 if there is no such
	// interval, as with fewer than two pairs.
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`

	// Is says what is true: Slower or Faster, by more than the margin; Same, by less
	// than the margin; or Inconclusive, if the interval has the margin in it.
	Is compare.Verdict `json:"is"`
}

// A TruthVerdict is what one measurement makes of a row.
type TruthVerdict struct {
	File    string          `json:"file"` // of Truth.Files
	Verdict compare.Verdict `json:"verdict"`
	Ratio   float64         `json:"ratio"` // 0 if there is none
	Lo      float64         `json:"lo"`    // both 0 if there is no interval, as of benchstat's
	Hi      float64         `json:"hi"`
	P       float64         `json:"p"`       // as reported, so after any correction; 1 if there was no test
	Seconds float64         `json:"seconds"` // that measuring the row took, all of it; 0 if that is not known

	// Others are the units, other than that of time, of which a difference is proven,
	// each with its verdict: "allocs/op worse".
	Others []string `json:"others,omitempty"`

	// Sees is the smallest slow-down that such a measurement finds in nine cases of
	// ten, as a part, if the verdict is Inconclusive and that is known; else 0. Notes
	// are what the report says beside the verdict.
	Sees  float64  `json:"sees,omitempty"`
	Notes []string `json:"notes,omitempty"`

	Outcome Outcome `json:"outcome"`
}

// An Outcome says what a verdict is worth by the truth.
type Outcome string

// The outcomes.
const (
	// Found: there is a difference of more than the margin, and it is called, the
	// right way round.
	Found Outcome = "found"
	// Missed: there is one, and nothing is called.
	Missed Outcome = "missed"
	// Agrees: what is said is true of a difference within the margin: that there is
	// none of more, or which way it goes.
	Agrees Outcome = "agrees"
	// Undecided: there is none of more than the margin, and nothing is called.
	Undecided Outcome = "undecided"
	// Wrong: the opposite is true, or "same" is said of a difference of more than the
	// margin, or a difference is called where there is none to be seen.
	Wrong Outcome = "wrong"
	// Unknown: the truth is not known well enough to say.
	Unknown Outcome = "unknown"
)

// evaluate says what v is worth.
func (t TruthRatio) evaluate(v compare.Verdict) Outcome {
	if t.Hi == 0 {
		return Unknown
	}
	beyond := claims(t.Is)
	side := compare.Same // on which the whole interval lies
	switch {
	case t.Lo > 1:
		side = compare.Slower
	case t.Hi < 1:
		side = compare.Faster
	}
	switch {
	case claims(v) && side != v && (side != compare.Same || t.Is == compare.Same), v == compare.Same && beyond:
		return Wrong
	case claims(v) && side == v && beyond:
		return Found
	case claims(v) && side == v, v == compare.Same && t.Is == compare.Same:
		return Agrees
	case claims(v), v == compare.Same:
		return Unknown
	case beyond:
		return Missed
	case t.Is == compare.Same:
		return Undecided
	}
	return Unknown
}

// within reports whether the interval of v has the truth. That has an interval of its own: so they
// may lie apart by what the interval of their difference is wide to either side, the root of
// the sum of the squares of both. All are logarithms.
func (t TruthRatio) within(v TruthVerdict) bool {
	side, other := math.Log(v.Hi/v.Ratio), math.Log(t.Ratio/t.Lo)
	if t.Ratio < v.Ratio {
		side, other = math.Log(v.Ratio/v.Lo), math.Log(t.Hi/t.Ratio)
	}
	return math.Abs(math.Log(t.Ratio/v.Ratio)) <= math.Hypot(side, other)
}

// ratioOfMeans estimates the truth from pairs: before[i] and after[i] are times of
// the same pair.
//
// The interval is Fieller's (Journal of the Royal Statistical Society B 16, 1954): all
// ratios r for which the differences after[i] - r*before[i] are 0 on average by
// Student's t. Where single processes make up most of a mean there is none: then that
// mean is as good as not known.
func ratioOfMeans(before, after []float64, alpha, margin float64) TruthRatio {
	t := TruthRatio{Pairs: len(before), Is: compare.Inconclusive}
	if len(before) == 0 {
		return t
	}
	a, b := mean(before), mean(after)
	t.Ratio = b / a
	if len(before) < 2 {
		return t
	}
	// In units of their means, so that the ratio is 1 and the bounds are those of a
	// quadratic equation whose coefficients are 1 less what the interval is wide by.
	x, y, added := make([]float64, len(before)), make([]float64, len(before)), make([]float64, len(before))
	for i := range before {
		x[i], y[i] = before[i]/a, after[i]/b
		added[i] = x[i] + y[i]
	}
	xx, yy, both := halfWidth(x, alpha), halfWidth(y, alpha), halfWidth(added, alpha)
	xy := (both*both - xx*xx - yy*yy) / 2
	square, linear, constant := 1-xx*xx, 1-xy, 1-yy*yy
	if square <= 0 {
		return t
	}
	root := math.Sqrt(max(0, linear*linear-square*constant))
	t.Lo, t.Hi = max(0, t.Ratio*(linear-root)/square), t.Ratio*(linear+root)/square
	switch {
	case t.Lo > 1+margin:
		t.Is = compare.Slower
	case t.Hi < 1/(1+margin):
		t.Is = compare.Faster
	case t.Lo >= 1/(1+margin) && t.Hi <= 1+margin:
		t.Is = compare.Same
	}
	return t
}

// halfWidth is half of the width of the interval of Student's t for the mean of
// values, of which there are at least two.
func halfWidth(values []float64, alpha float64) float64 {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds) // which sorts them
	s := benchmath.AssumeNormal.Summary(sample, 1-alpha)
	return s.Hi - s.Center
}

// LargeChange is the part from which on a change counts as large: 0.05 is 5 %.
const LargeChange = 0.05

// A TruthCount sums verdicts up.
type TruthCount struct {
	// Wrong counts the wrong ones, of those of which the truth is known well enough.
	Wrong compare.Rate `json:"wrong"`
	// Found counts the differences of more than the margin that were called, and Large
	// those of them that are not below LargeChange.
	Found compare.Rate `json:"found"`
	Large compare.Rate `json:"large"`
	// Holds counts the intervals that have the truth, as far as both are known.
	Holds compare.Rate `json:"holds"`
	// Missed, Agrees, Undecided and Unknown count the other outcomes.
	Missed    int `json:"missed"`
	Agrees    int `json:"agrees"`
	Undecided int `json:"undecided"`
	Unknown   int `json:"unknown"`

	// Longest is how many seconds measuring took of the row that took longest; 0 if
	// that is not known.
	Longest float64 `json:"longest"`
}

// A TruthWay is a TruthCount of the benchmarks that are driven in one way.
type TruthWay struct {
	Driven    string     `json:"driven"`
	Dyno      TruthCount `json:"dyno"`
	Benchstat TruthCount `json:"benchstat"`
}

// sum sums up the verdicts that of picks of each row.
func sum(rows []TruthRow, of func(TruthRow) []TruthVerdict) TruthCount {
	type judged struct {
		truth TruthRatio
		TruthVerdict
	}
	var all []judged
	var c TruthCount
	for _, r := range rows {
		for _, v := range of(r) {
			all = append(all, judged{r.Truth, v})
			c.Longest = max(c.Longest, v.Seconds)
		}
	}
	is := func(o Outcome) func(judged) bool { return func(v judged) bool { return v.Outcome == o } }
	intervals := where(all, func(v judged) bool { return v.Hi > 0 && v.Lo > 0 && v.truth.Lo > 0 })
	c.Holds = rateOf(intervals, func(v judged) bool { return v.truth.within(v.TruthVerdict) })
	known := where(all, func(v judged) bool { return v.Outcome != Unknown })
	differ := where(known, func(v judged) bool { return claims(v.truth.Is) })
	large := where(differ, func(v judged) bool { return v.truth.Ratio >= 1+LargeChange || v.truth.Ratio <= 1/(1+LargeChange) })
	c.Wrong, c.Found, c.Large = rateOf(known, is(Wrong)), rateOf(differ, is(Found)), rateOf(large, is(Found))
	c.Missed, c.Agrees = len(where(all, is(Missed))), len(where(all, is(Agrees)))
	c.Undecided, c.Unknown = len(where(all, is(Undecided))), len(where(all, is(Unknown)))
	return c
}

// count judges the verdicts of all rows and sums them up.
func (t *Truth) count() {
	for _, r := range t.Rows {
		for _, list := range [][]TruthVerdict{r.Dyno, r.Benchstat} {
			for k := range list {
				list[k].Outcome = r.Truth.evaluate(list[k].Verdict)
			}
		}
	}
	dyno := func(r TruthRow) []TruthVerdict { return r.Dyno }
	benchstat := func(r TruthRow) []TruthVerdict { return r.Benchstat }
	t.Dyno, t.Benchstat = sum(t.Rows, dyno), sum(t.Rows, benchstat)
	for _, way := range groupBy(t.Rows, func(r TruthRow) string { return r.Driven }) {
		t.Ways = append(t.Ways, TruthWay{way.key, sum(way.members, dyno), sum(way.members, benchstat)})
	}
}
