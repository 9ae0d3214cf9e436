package stats

import (
	"math"

	"github.com/montanaflynn/stats"
)

// An Order says whether blocks depend on when they were measured. All the rest
// takes them to be independent; this looks whether they are.
type Order struct {
	// Lag1 is the correlation of each block with the next. Independent blocks have
	// about -1/n. LagP is the chance of at least as much.
	Lag1, LagP float64

	// Trend is Kendall's rank correlation of the blocks with time, from -1 to 1:
	// what drifts steadily has a large one. TrendP is the chance of a trend at
	// least as strong either way.
	Trend, TrendP float64

	// z is Lag1, standardized.
	z float64
}

// orderBlocks is how many blocks it takes to say anything of their order.
const orderBlocks = 6

// Ordered looks at differences in the order of their blocks. ok is false if they
// are too few, or all the same. The moments of the serial correlation are Moran's
// (1948), the trend test is Mann's (1945); both take the normal approximation.
func Ordered(d []float64) (o Order, ok bool) {
	n := float64(len(d))
	if len(d) < orderBlocks {
		return o, false
	}
	time := make([]float64, len(d))
	for i := range time {
		time[i] = float64(i)
	}
	var err1, err2 error
	o.Lag1, err1 = stats.AutoCorrelation(d, 1)
	o.Trend, err2 = stats.KendallTau(time, d)
	if err1 != nil || err2 != nil {
		return Order{}, false // all the same
	}
	o.z = (o.Lag1 + 1/n) / ((n - 2) / n / math.Sqrt(n-1))
	o.LagP = normalTail(o.z)
	o.TrendP = 2 * normalTail(math.Abs(o.Trend)/math.Sqrt(2*(2*n+5)/(9*n*(n-1))))
	return o, true
}

// Together returns the mean of Lag1 of several orders, and the chance of a mean at
// least as large if all blocks are independent: what is too little to see in one
// comparison is seen in many. Those of one group may have something in common,
// groups are independent of one another. NaN if there are none.
func Together(groups [][]Order) (lag1, p float64) {
	var z, some float64
	for _, g := range groups {
		for _, o := range g {
			lag1 += o.Lag1 / float64(len(g))
			z += o.z / float64(len(g)) // whose variance is 1 at most
		}
		if len(g) > 0 {
			some++
		}
	}
	return lag1 / some, normalTail(z / math.Sqrt(some))
}

// normalTail is the chance of a standard normal value above z.
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
