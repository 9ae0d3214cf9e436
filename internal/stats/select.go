package stats

import (
	"math"
	"slices"
	"sort"
)

// estimates are the elementary estimates of a rank test: there is one at least.
type estimates interface {
	// count is how many there are.
	count() int
	// smallest returns the k-th smallest, counted from 1, and the one after it, which is
	// +Inf after the last.
	smallest(k int) (v, next float64)
	// around says how many are below v, and how many at most v.
	around(v float64) (below, atMost int)
}

// median returns the median of estimates.
func median(e estimates) float64 {
	n := e.count()
	v, next := e.smallest((n + 1) / 2)
	if n%2 == 1 {
		return v
	}
	return (v + next) / 2
}

// sorted are estimates that are listed.
type sorted []float64

// listed sorts e, and keeps it.
func listed(e []float64) sorted {
	slices.Sort(e)
	return e
}

func (e sorted) count() int { return len(e) }

func (e sorted) smallest(k int) (v, next float64) {
	if k == len(e) {
		return e[k-1], math.Inf(1)
	}
	return e[k-1], e[k]
}

func (e sorted) around(v float64) (below, atMost int) {
	return sort.SearchFloat64s(e, v), sort.Search(len(e), func(i int) bool { return e[i] > v })
}

// few is up to how many values the averages of pairs are listed and sorted, which is faster.
const few = 12

// averagesOf returns the averages of all pairs of d, each value with itself included.
func averagesOf(d []float64) estimates {
	if len(d) <= few {
		return listed(walsh(d))
	}
	return new(averages).of(d)
}

// of makes a the averages of d. They are listed where some are in no order.
func (a *averages) of(d []float64) estimates {
	n := len(d)
	a.sorted = append(a.sorted[:0], d...)
	slices.Sort(a.sorted)
	if math.IsNaN(a.sorted[0]) || math.IsInf(a.sorted[0], -1) || math.IsInf(a.sorted[n-1], 1) {
		return listed(walsh(d))
	}
	if cap(a.list) < n {
		scratch := make([]int, 3*n)
		a.first, a.end, a.upTo, a.list = scratch[:n], scratch[n:2*n], scratch[2*n:], make([]float64, 0, n)
	}
	a.first, a.end, a.upTo = a.first[:n], a.end[:n], a.upTo[:n]
	return a
}

// averages are those of all pairs of sorted finite values. They are counted, not listed: row i
// has the pairs of value i with itself and the later ones, which rises, so that one pass over
// the rows finds what lies below a bound in each. The k-th smallest average is looked for as
// in quicksort, with the middle of what is left of a random row as the pivot (J. F. Monahan,
// ACM Transactions on Mathematical Software 10, 1984).
type averages struct {
	sorted []float64

	// Of each row: which pairs may be the one that is looked for, and where those begin that
	// are above the last pivot.
	first, end, upTo []int
	list             []float64 // of what is left in the end
}

func (a *averages) count() int { return len(a.sorted) * (len(a.sorted) + 1) / 2 }

// at is the average of two of the values.
func (a *averages) at(i, j int) float64 { return a.sorted[i]/2 + a.sorted[j]/2 }

func (a *averages) around(v float64) (below, atMost int) {
	return a.notAbove(math.Nextafter(v, math.Inf(-1))), a.notAbove(v)
}

// notAbove counts the averages that are at most v, and notes where they end in each row.
func (a *averages) notAbove(v float64) (count int) {
	j := len(a.sorted) // falls while i rises
	for i, x := range a.sorted {
		x /= 2
		for j > i && x+a.sorted[j-1]/2 > v {
			j--
		}
		if j <= i {
			for ; i < len(a.sorted); i++ {
				a.upTo[i] = i
			}
			break
		}
		a.upTo[i] = j
		count += j - i
	}
	return count
}

func (a *averages) smallest(k int) (v, next float64) {
	for i := range a.sorted {
		a.first[i], a.end[i] = i, len(a.sorted)
	}
	left, less := a.count(), 0 // what is left is all but so many that are less
	for random := uint64(1); left > len(a.sorted); random = random*6364136223846793005 + 1442695040888963407 {
		pivot := a.pivot(int(random>>33) % left)
		count := a.notAbove(pivot)
		if count == less+left { // none is above it
			if count = a.notAbove(math.Nextafter(pivot, math.Inf(-1))); k > count {
				if k < less+left {
					return pivot, pivot
				}
				return pivot, a.least(a.end)
			}
		}
		if k <= count {
			a.keepLow()
			left = count - less
		} else {
			a.keepHigh()
			left, less = left+less-count, count
		}
	}
	rest := a.rest()
	if k -= less; k < len(rest) {
		return rest[k-1], rest[k]
	}
	return rest[k-1], a.least(a.end)
}

// pivot returns the middle of what is left of the row that has the nth of all that is left.
func (a *averages) pivot(nth int) float64 {
	row := 0
	for size := a.end[0] - a.first[0]; nth >= size; size = a.end[row] - a.first[row] {
		nth -= size
		row++
	}
	return a.at(row, (a.first[row]+a.end[row])/2)
}

// keepLow leaves what notAbove has counted last.
func (a *averages) keepLow() {
	for i, j := range a.upTo {
		a.end[i] = max(a.first[i], min(a.end[i], j))
	}
}

// keepHigh leaves what notAbove has not counted last.
func (a *averages) keepHigh() {
	for i, j := range a.upTo {
		a.first[i] = min(a.end[i], max(a.first[i], j))
	}
}

// rest lists what is left, sorted.
func (a *averages) rest() []float64 {
	a.list = a.list[:0]
	for i := range a.sorted {
		for j := a.first[i]; j < a.end[i]; j++ {
			a.list = append(a.list, a.at(i, j))
		}
	}
	slices.Sort(a.list)
	return a.list
}

// least returns the least average of the pairs from these on in each row.
func (a *averages) least(from []int) float64 {
	v := math.Inf(1)
	for i, j := range from {
		if j < len(a.sorted) {
			v = min(v, a.at(i, j))
		}
	}
	return v
}
