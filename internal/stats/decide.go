package stats

import "math"

// A Rule says what counts as an answer.
type Rule struct {
	// Alpha is the level of the family: the greatest chance that a report claims
	// any difference where there is none.
	Alpha float64

	// Margin is the smallest effect that matters, as the logarithm of a ratio;
	// 0 means that every one does.
	Margin float64
}

// Evidence is what is known of one comparison. All effects are logarithms of
// ratios.
type Evidence struct {
	Lo, Hi   float64 // the interval, of one comparison alone
	Est      float64 // the estimate
	Adjusted float64 // the p-value after correction for the family; NaN is none

	// Apart says that the two were not measured in the same blocks.
	Apart bool

	// Bias is how far the row's A/A control may be off: the end of its interval
	// that is further from 0, if it alarms, and 0 if it does not.
	Bias float64

	// Layouts is the number of code layouts that the two were built in, 0 if both
	// are the same binary.
	Layouts int
}

// An Answer is what a comparison says.
type Answer int

// The answers.
const (
	Unknown  Answer = iota // the data cannot say
	More                   // larger than the base
	Less                   // smaller
	Same                   // no more than the margin away
	Doubtful               // would be one of those, but see the doubt
)

// A Doubt is a reason why an answer is not given.
type Doubt int

// The doubts.
const (
	NoDoubt Doubt = iota

	// MeasuredApart: noise that drifts is taken for a difference, and nothing in
	// the data tells the two apart.
	MeasuredApart

	// BiasedControl: identical code was told apart in this row, by so much that
	// the answer may be due to that.
	BiasedControl

	// FewLayouts: the difference is one that the linker's order of functions may
	// make, and it was measured in too few orders to tell.
	FewLayouts
)

const (
	// LayoutEffect is how much the order of functions may do, as a ratio: builds of
	// one source differed by 0.1 to 1 % in everything but contended locks.
	LayoutEffect = 0.02

	// EnoughLayouts is how many orders a claim below LayoutEffect needs: that eight
	// agree is chance in 1 case of 128.
	EnoughLayouts = 8
)

// Decide returns the answer, and what is held against it if it is Doubtful.
//
// A difference is claimed if the corrected p-value is at most Alpha, and the
// interval does not lie inside the margin. Two things are the same if it does. If
// neither holds, the answer is Unknown.
func (r Rule) Decide(e Evidence) (Answer, Doubt) {
	inside := func(by float64) bool {
		return e.Lo-by > -r.Margin && e.Hi+by < r.Margin || e.Lo == 0 && e.Hi == 0 && by == 0
	}
	var a Answer
	switch {
	case inside(0):
		a = Same
	case !(e.Adjusted <= r.Alpha):
		return Unknown, NoDoubt
	case e.Lo > 0:
		a = More
	case e.Hi < 0:
		a = Less
	default: // the intervals of several looks contradict one another
		return Unknown, NoDoubt
	}
	switch {
	case e.Apart:
		return Doubtful, MeasuredApart
	case e.Bias > 0 && a == Same && !inside(e.Bias), e.Bias > 0 && a != Same && e.Lo-e.Bias <= 0 && e.Hi+e.Bias >= 0:
		return Doubtful, BiasedControl
	case a != Same && e.Layouts > 0 && e.Layouts < EnoughLayouts && math.Abs(e.Est) < math.Log1p(LayoutEffect):
		return Doubtful, FewLayouts
	}
	return a, NoDoubt
}
