package infer

import (
	"math"
	"slices"
)

// Looks are the times at which a sequential plan looks at its blocks: after At[0]
// blocks, after At[1], … . A comparison that has its answer by then needs no
// more blocks. The zero value is a fixed plan, which looks once, at the end.
//
// Each look may spend a share of the level. Looking several times at the usual
// level would find more than it should, since each look is another chance to be
// wrong; here the shares add up to one, so by Bonferroni's inequality the chance
// that any look is wrong is at most the level, whatever the looks have to do
// with one another and whatever it is that makes somebody stop. Bounds that use
// how the looks depend (Pocock, O'Brien and Fleming) are a little narrower, and
// hold for normal values; with a dozen blocks, discrete tests and Holm's
// correction on top, that is not worth the assumption.
//
// Sources: the union bound needs none. Intervals that hold at each look: C.
// Jennison, B. W. Turnbull, Interim analyses: the repeated confidence interval
// approach, Journal of the Royal Statistical Society B 51 (1989). Spending a
// level: K. K. G. Lan, D. L. DeMets, Discrete sequential boundaries for clinical
// trials, Biometrika 70 (1983).
type Looks struct {
	At []int // numbers of blocks, ascending
}

// ThreeLooks returns three looks for at most blocks blocks: after about a half of
// them, after three quarters, and at the end.
func ThreeLooks(blocks int) Looks {
	l := Looks{At: []int{(blocks + 1) / 2, (3*blocks + 3) / 4, blocks}}
	l.At = slices.Compact(slices.DeleteFunc(l.At, func(n int) bool { return n < 1 }))
	return l
}

// share is the part of the level that look k may spend. The last one gets half,
// since it has the most blocks to find something with; the others share the rest.
func (l Looks) share(k int) float64 {
	switch n := len(l.At); {
	case n <= 1:
		return 1
	case k >= n-1:
		return 0.5
	default:
		return 0.5 / float64(n-1)
	}
}

// Share returns the part of the level that is spent by a look at this many blocks:
// the first one that is due after at least as many. What lies between two looks,
// since a run was broken off or a block is missing, is the next look come early.
func (l Looks) Share(blocks int) float64 {
	for k, at := range l.At {
		if blocks <= at {
			return l.share(k)
		}
	}
	return l.share(len(l.At) - 1)
}

// SignedRank is the function of that name for differences that were looked at
// several times: d[i] is of block block[i], counted from 1 and ascending. P is
// the least level of all looks together at which some look so far finds a shift,
// and the interval is what the intervals of all looks have in common. Both hold
// whenever the run stops.
//
// If the intervals have nothing in common, which independent blocks seldom show,
// the last one stands. It panics like SignedRank.
func (l Looks) SignedRank(d []float64, block []int, alpha float64) Shift {
	if len(l.At) <= 1 {
		return SignedRank(d, alpha)
	}
	check(len(d) > 0, alpha)
	last := block[len(block)-1]
	res := Shift{Lo: math.Inf(-1), Hi: math.Inf(1), P: 1, MinP: 1}
	var s Shift
	for k, at := range l.At {
		end := k == len(l.At)-1 || last <= at
		n := len(d)
		if !end {
			n, _ = slices.BinarySearch(block, at+1)
		}
		if n > 0 {
			s = SignedRank(d[:n], alpha*l.share(k))
			res.Est = s.Est
			res.Lo, res.Hi = max(res.Lo, s.Lo), min(res.Hi, s.Hi)
			res.P = min(res.P, s.P/l.share(k))
			res.MinP = min(res.MinP, s.MinP/l.share(k))
		}
		if end {
			break
		}
	}
	if res.Lo > res.Hi {
		res.Lo, res.Hi = s.Lo, s.Hi
	}
	return res
}
