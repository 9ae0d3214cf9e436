package stats

import (
	"math"
	"slices"
)

// Looks are the times at which a sequential plan looks at its blocks: after At[0]
// blocks, after At[1], … . A comparison that has its answer by then needs no
// more blocks. The zero value is a fixed plan, which looks once, at the end.
//
// Each look may spend a share of the level. The shares add up to one, so by
// Bonferroni's inequality the chance that any look is wrong is at most the level; see
// docs/method.md, Looking before the end.
type Looks struct {
	At []int // numbers of blocks, ascending
}

// ThreeLooks returns the looks of a plan of so many blocks: after a half of them,
// after three quarters, and at the end. Looks at fewer blocks than can prove
// something are left out, so a plan of few blocks has fewer.
func ThreeLooks(blocks int) Looks {
	l := Looks{At: []int{(blocks + 1) / 2, (3*blocks + 3) / 4, blocks}}
	l.At = slices.Compact(slices.DeleteFunc(l.At, func(n int) bool { return n < min(LeastUnits, blocks) }))
	return l
}

// LeastCounts is in how many blocks counts of instructions differ that do not vary at all.
const LeastCounts = 3

// CountLooks returns the looks of a plan of so many blocks that counts instructions, where both sides of
// a block go by the same chance: what is the same shows in two, what differs in LeastCounts if it does
// not vary, and else in all.
func CountLooks(blocks int) Looks {
	l := Looks{At: []int{2, LeastCounts, blocks}}
	l.At = slices.Compact(slices.DeleteFunc(l.At, func(n int) bool { return n > blocks }))
	return l
}

// The shares of the level that looks may spend before the last one, which has the
// rest. They are small, since what is found early is large: the last look, which
// has the most blocks to find something with, hardly misses them.
const (
	firstShare  = 0.05 // the first of three looks
	secondShare = 0.15 // the second of three, and the first of two
)

// share is the part of the level that look k may spend.
func (l Looks) share(k int) float64 {
	early := []float64{firstShare, secondShare}
	switch n := len(l.At); {
	case n <= 1:
		return 1
	case n > 3: // of a file that another program has written
		return 1 / float64(n)
	case k < n-1:
		return early[k+3-n]
	case n == 2:
		return 1 - secondShare
	default:
		return 1 - firstShare - secondShare
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

// combine puts together what test says at each look so far, which is told up to which
// block it may look, and at which level. There are n blocks, with these numbers. P
// is the least level of all looks together at which some look finds a shift, and
// the interval is what the intervals of all looks have in common. Both hold
// whenever the run stops.
//
// If the intervals have nothing in common, which independent blocks seldom show,
// the last one stands.
func (l Looks) combine(n int, number []int, alpha float64, test func(until int, level float64) Shift) Shift {
	if len(l.At) <= 1 {
		return test(always, alpha)
	}
	first, last := 1, n
	if number != nil {
		first, last = number[0], number[len(number)-1]
	}
	res := Shift{Lo: math.Inf(-1), Hi: math.Inf(1), P: 1, MinP: 1}
	var s Shift
	for k, at := range l.At {
		end := k == len(l.At)-1 || last <= at
		if end {
			at = max(at, last) // more than planned are of the last look
		}
		if first <= at {
			s = test(at, alpha*l.share(k))
			lo, hi, p, least := max(res.Lo, s.Lo), min(res.Hi, s.Hi), min(res.P, s.P/l.share(k)), min(res.MinP, s.MinP/l.share(k))
			res = s
			res.Lo, res.Hi, res.P, res.MinP = lo, hi, p, least
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
