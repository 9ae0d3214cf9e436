package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A Sequence is what was measured at one time after another: as a rule the logarithm of a
// ratio for each run, with its standard error, which is 0 if it is not known.
type Sequence struct{ D, SE []float64 }

// A Step is where a sequence looks most as if it had changed: the values from First up to,
// and without, End are different from the others. A lasting step has End equal to the
// number of values.
type Step struct {
	First, End int

	// Shift is by how much: the mean of the values within, less that of the others; both
	// without what is far off.
	Shift float64

	// P is the chance that values in random order look at least as much as if they had
	// changed, wherever that may be: it knows that every place was looked at.
	P float64

	// Student is the same chance by Student's test of the values within and the others, at as
	// many places as count: it may be smaller than so few orders can show, and is right if
	// values scatter normally, what is far off aside.
	Student float64

	// Lo and Hi bound First: with a confidence of 95 % the first value that is different
	// is one from Lo to Hi.
	Lo, Hi int
}

const (
	// leastPart is how many values a part of a sequence has at least: one alone that is
	// far off is no step, but an outlier.
	leastPart = 2

	// LeastSequence is how many values it takes to look for a step at all. So few prove
	// none at any usual level; see Sequence.Detectable.
	LeastSequence = 2 * leastPart

	// clip bounds a standardized value, so that one that is far off does not make a step.
	clip = 2.5

	// lastingShare is the part of the level that is spent on steps that last; the rest
	// is for those that ended, of which there are many more places.
	lastingShare = 0.8

	// enough exceedances end a permutation test early: its p is then known to about a
	// fifth, and is large (Besag and Clifford 1991).
	enough = 20
)

// Step looks for the place at which s changed most. It permutes the values at most so many
// times, in an order that depends on their number only, so that the same values give the
// same answer. It panics if there are fewer values than LeastSequence.
//
// The statistic is that of Sen and Srivastava (1975), the largest standardized difference
// of the means of two parts, of values in units of their own noise that are clipped. For a
// step that lasts the second part goes on to the end; one that ended has values before and
// after it (Levin and Kline 1985). Each has its share of the level.
func (s Sequence) Step(permutations int) Step {
	z := s.standardized()
	if len(z) < LeastSequence {
		panic("stats: too few values for a step")
	}
	c := newContrasts(len(z))
	lasting, ended := c.lasting(z), c.ended(z)
	random := rand.New(rand.NewPCG(uint64(len(z)), 0x5745)) // any fixed seed
	shuffled := slices.Clone(z)
	var done, more, moreEnded int
	for done < permutations && (more < enough || moreEnded < enough) {
		random.Shuffle(len(z), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		done++
		if more < enough && c.lasting(shuffled).size >= lasting.size*(1-rounding) {
			more, c.done = more+1, done
		}
		if moreEnded < enough && c.ended(shuffled).size >= ended.size*(1-rounding) {
			moreEnded, c.doneEnded = moreEnded+1, done
		}
	}
	found := Step{First: lasting.first, End: len(z), P: exceeded(more, c.done, done) / lastingShare}
	if other := exceeded(moreEnded, c.doneEnded, done) / (1 - lastingShare); ended.size > 0 && other < found.P {
		found = Step{First: ended.first, End: ended.end, P: other}
	}
	found.P = min(1, found.P)
	s.complete(&found, z)
	return found
}

// Change is the place at which s, in which there is a step that lasts, is parted best. Its P is
// not known.
func (s Sequence) Change() Step {
	z := s.standardized()
	at := newContrasts(len(z)).lasting(z)
	found := Step{First: max(at.first, leastPart), End: len(z), P: math.NaN()}
	s.complete(&found, z)
	return found
}

// complete says of a step that was found how large it is, how sure, and where.
func (s Sequence) complete(found *Step, z []float64) {
	within := s.D[found.First:found.End]
	rest := slices.Concat(s.D[:found.First], s.D[found.End:])
	found.Shift = HodgesLehmann(within) - HodgesLehmann(rest)
	found.Student = s.student(*found, within, rest)
	found.Lo, found.Hi = places(z, *found)
}

// student is Student's test of the values within a step and the others. They scatter by what
// is left of them without the step, clipped.
func (s Sequence) student(at Step, within, rest []float64) float64 {
	var left []float64
	for _, part := range [][]float64{within, rest} {
		middle := HodgesLehmann(part)
		for _, v := range part {
			left = append(left, v-middle)
		}
	}
	n := len(left)
	far := make([]float64, n)
	for i, v := range left {
		far[i] = math.Abs(v)
	}
	slices.Sort(far)
	most, squares := clip*Median(far)/normalMedian, 0.0
	for _, v := range left {
		if most > 0 {
			v = max(-most, min(most, v))
		}
		squares += v * v
	}
	df := n - 2
	spread := math.Sqrt(squares / float64(df) / clippedVariance)
	if spread == 0 {
		return 0
	}
	size := math.Abs(at.Shift) / (spread * math.Sqrt(1/float64(len(within))+1/float64(len(rest))))
	p := studentTail(size, df)
	if at.End == n {
		return min(1, p*countedPlaces(n)/lastingShare)
	}
	return min(1, p*float64(n*n)/2/(1-lastingShare))
}

// clippedVariance is that of standard normal values that are clipped at clip.
const clippedVariance = 0.9776

// exceeded returns the p-value of a permutation test that ended early, with the
// permutation at, if enough were as large, and else with all that were done.
func exceeded(more, at, done int) float64 {
	if more >= enough {
		return float64(enough) / float64(at)
	}
	return float64(more+1) / float64(done+1)
}

// rounding is by how much sums of the same values in another order may differ.
const rounding = 1e-9

// A split is a part of a sequence, and how far it lies from the rest in standard errors.
type split struct {
	first, end int
	size       float64
}

// contrasts look for the part of n values, whose mean is 0, that lies farthest from the
// rest.
type contrasts struct {
	weight []float64 // by how many values are in the part
	sums   []float64 // of the first values

	done, doneEnded int // permutations until enough were as large
}

func newContrasts(n int) *contrasts {
	c := &contrasts{weight: make([]float64, n), sums: make([]float64, n+1)}
	for k := 1; k < n; k++ {
		c.weight[k] = 1 / math.Sqrt(float64(k)*float64(n-k)/float64(n))
	}
	return c
}

// add takes in the values in their order.
func (c *contrasts) add(z []float64) {
	for i, v := range z {
		c.sums[i+1] = c.sums[i] + v
	}
}

// lasting returns the largest step of z that goes on to the end.
func (c *contrasts) lasting(z []float64) (best split) {
	c.add(z)
	n := len(z)
	for first := leastPart; first <= n-leastPart; first++ {
		if size := math.Abs(c.sums[first]) * c.weight[first]; size > best.size {
			best = split{first, n, size}
		}
	}
	return best
}

// ended returns the largest step of z that ended; its size is 0 if there can be none.
func (c *contrasts) ended(z []float64) (best split) {
	c.add(z)
	n := len(z)
	for k := leastPart; k <= n-2*leastPart; k++ {
		most, at := 0.0, 0
		for first := leastPart; first <= n-leastPart-k; first++ {
			if d := math.Abs(c.sums[first+k] - c.sums[first]); d > most {
				most, at = d, first
			}
		}
		if size := most * c.weight[k]; size > best.size {
			best = split{at, at + k, size}
		}
	}
	return best
}

// standardized returns the values of s in units of their own noise, from their median and
// clipped, and then from their mean.
func (s Sequence) standardized() []float64 {
	mid, between := Median(slices.Sorted(slices.Values(s.D))), s.Between()
	z := make([]float64, len(s.D))
	for i, d := range s.D {
		scale := math.Hypot(s.se(i), between)
		if scale == 0 {
			scale = math.SmallestNonzeroFloat64 // all neighbours are alike: any difference is large
		}
		if z[i] = max(-clip, min(clip, (d-mid)/scale)); d == mid {
			z[i] = 0
		}
	}
	mean, _ := moments(z)
	for i := range z {
		z[i] -= mean
	}
	return z
}

func (s Sequence) se(i int) float64 {
	if i < len(s.SE) && !math.IsNaN(s.SE[i]) && !math.IsInf(s.SE[i], 0) {
		return s.SE[i]
	}
	return 0
}

// Between returns by how much values scatter beyond their standard errors, as a standard
// deviation: what changes from run to run. It is that of neighbours, so a step does not
// count.
func (s Sequence) Between() float64 {
	var known []float64
	for i := range len(s.D) - 1 {
		known = append(known, s.se(i)*s.se(i)+s.se(i+1)*s.se(i+1))
	}
	if len(known) == 0 {
		return 0
	}
	slices.Sort(known)
	scatter := s.Noise()
	return math.Sqrt(max(0, scatter*scatter-Median(known)/2))
}

// Noise returns the standard deviation of a value, from the differences of neighbours, of
// which a step changes one; NaN if there are too few.
func (s Sequence) Noise() float64 {
	diffs := make([]float64, max(0, len(s.D)-1))
	for i := range diffs {
		diffs[i] = math.Abs(s.D[i+1] - s.D[i])
	}
	if len(diffs) == 0 {
		return math.NaN()
	}
	slices.Sort(diffs)
	return Median(diffs) / (normalMedian * math.Sqrt2)
}

// normalMedian is the median distance of standard normal values from zero.
const normalMedian = 0.6744897501960817

// places returns the 95 % set of places at which the step may begin, as far as it reaches:
// the likelihood of each, if the values are normal.
func places(z []float64, at Step) (lo, hi int) {
	type place struct {
		first int
		log   float64
	}
	var all []place
	c, most := newContrasts(len(z)), math.Inf(-1)
	c.add(z)
	noise := noiseBeside(z, at)
	for first := leastPart; first <= at.End-leastPart; first++ {
		size := math.Abs(c.sums[at.End]-c.sums[first]) * c.weight[at.End-first]
		log := size * size / 2 / max(noise, 1e-12)
		all = append(all, place{first, log})
		most = max(most, log)
	}
	weight := 0.0
	for _, p := range all {
		weight += math.Exp(p.log - most)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(-cmp.Compare(a.log, b.log), a.first-b.first) })
	lo, hi = at.First, at.First
	reached := 0.0
	for _, p := range all {
		if reached >= 0.95*weight {
			break
		}
		reached += math.Exp(p.log - most)
		lo, hi = min(lo, p.first), max(hi, p.first)
	}
	return lo, hi
}

// noiseBeside returns the variance of what is left of z when the step is taken away.
func noiseBeside(z []float64, at Step) (noise float64) {
	within := z[at.First:at.End]
	rest := slices.Concat(z[:at.First], z[at.End:])
	for _, part := range [][]float64{within, rest} {
		mean, _ := moments(part)
		for _, v := range part {
			noise += (v - mean) * (v - mean) / max(1, float64(len(z)-3))
		}
	}
	return noise
}

// DetectableStep returns the smallest step of which Step.Student is at most level and Step.P at
// most alpha, with the chance Power, if there are so many values on either side of it and their
// noise has this standard deviation; infinite if so few can show none.
//
// It is the shift that Student's test of the two sides finds at a level that is divided by
// the number of places that count as independent.
func DetectableStep(before, after int, noise, alpha, level float64) float64 {
	n := before + after
	if before < leastPart || after < leastPart || leastStepP(before, after) > alpha {
		return math.Inf(1)
	}
	df := float64(n - 2)
	level *= lastingShare / countedPlaces(n)
	if !(level > 0) {
		return math.Inf(1)
	}
	t := studentQuantile(min(level, 0.5), n-2)
	shift := t*(1-1/(4*df)) + quantile(Power)*math.Sqrt(1+t*t/(2*df))
	return shift * noise * math.Sqrt(1/float64(before)+1/float64(after))
}

// leastStepP is the least p of so many values on either side, if all of one side lie above
// all of the other: of all orders two show the like.
func leastStepP(before, after int) float64 {
	a, _ := math.Lgamma(float64(before + 1))
	b, _ := math.Lgamma(float64(after + 1))
	n, _ := math.Lgamma(float64(before + after + 1))
	return 2 * math.Exp(a+b-n) / lastingShare
}

// countedPlaces is among how many independent places a lasting step of n values is looked
// for: neighbouring places have most of their values in common. It is what the largest of
// them exceeds at the level of 1 %, by simulation, from 10 to 200 values.
func countedPlaces(n int) float64 {
	return min(float64(n-2*leastPart+1), 3*math.Sqrt(float64(n))-1)
}
