package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns the p-values corrected for their number: the least level of the
// whole family at which each hypothesis is rejected by Holm's procedure. NaN is
// no member of the family, and stays. Whatever the tests have to do with one
// another, the chance that any true hypothesis is among those rejected at level
// alpha is at most alpha.
func Holm(p []float64) []float64 {
	out := slices.Clone(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 0.0
	for k, i := range order {
		least = max(least, min(1, float64(len(order)-k)*p[i]))
		out[i] = least
	}
	return out
}

// HolmLevel returns the level at which Holm's procedure tests what it does not
// reject: alpha over the number of adjusted p-values above it. It is alpha if all
// are rejected.
func HolmLevel(adjusted []float64, alpha float64) float64 {
	left := 0
	for _, p := range adjusted {
		if p > alpha {
			left++
		}
	}
	return alpha / float64(max(1, left))
}
