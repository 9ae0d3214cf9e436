// Package bisect finds which of many versions made a benchmark slower. It is
// arithmetic: what is measured where is the caller's to carry out.
//
// A comparison of two versions may err, so that halving the range at each answer, as git
// bisect does, ends at the wrong version in two of five runs (simulated for a step of
// 2 %, power of 90 % and 1,000 versions). A [Search] keeps a probability for each version
// instead. Each visit measures the good end, the bad end and one version between them
// side by side, and moves probability by how well what was seen fits either end; a wrong
// turn is undone by later visits. The next visit is where the most information is to be
// had for its cost (Horstein 1963; Burnashev and Zigangirov 1974). What is found is only
// suspected: the caller proves it by fresh measurements of the version and the one before.
package bisect

import (
	"cmp"
	"math"
	"slices"

	"github.com/dynolab/dyno/internal/stats"
)

// A Block is what one block of a visit saw: logarithms of ratios of the time of an
// operation to that of the good end.
type Block struct {
	Candidate, Bad float64
}

// A Visit is a measurement of the version at Position side by side with both ends.
type Visit struct {
	Position int
	Blocks   []Block
}

// A Search looks for the one version, of 1 to n, at which the level of a benchmark steps
// from that of the good end, 0, to that of the bad end, n. It is not safe for concurrent
// use.
type Search struct {
	prior    []float64 // of version i+1
	excluded []bool    // position i+1 cannot be measured
	visits   []seen
	ends     []float64 // what blocks saw of bad against good
	spread   pooled
}

// Seen is what a visit told of its position: by how much the candidate lies above the
// middle of both ends.
type seen struct {
	position, blocks int
	above            float64
}

// Pooled is a sum of squared deviations, with its degrees of freedom.
type pooled struct {
	squares, freedom float64
}

// degrees is the freedom of Student's t with which a visit speaks: heavy tails, so that
// one visit that was disturbed cannot overrule all others.
const degrees = 5

// trust is the most that one visit says for or against, as a logarithm of odds: one of 200
// may be misled by something that its blocks do not show.
var trust = math.Log(200)

// alike is by how much versions that are not the culprit differ, as a part of the step:
// layouts of the binary, small changes. Without it many blocks would be oversure.
const alike = 0.1

// New returns a search among versions with these prior weights, which need not sum to 1:
// weight i is that of version i+1 being the culprit. The last version is the bad end.
// ends are logarithms of the ratio of the bad end to the good one in blocks that
// compared both; there must be at least two, and both ends must differ.
func New(prior, ends []float64) *Search {
	if len(prior) == 0 || len(ends) < 2 {
		panic("bisect: a search needs a version and two blocks of its ends")
	}
	s := &Search{prior: normalized(prior), excluded: make([]bool, len(prior)), ends: slices.Clone(ends)}
	s.excluded[len(prior)-1] = true // the bad end: each visit measures it anyway
	// The difference of two sides scatters by 2 variances of one; above, by 1.5.
	s.spread.add(ends, 1.5/2)
	return s
}

// Exclude says that the version at this position, from 1, cannot be measured. It may be
// the culprit all the same.
func (s *Search) Exclude(position int) { s.excluded[position-1] = true }

// Add tells s what a visit saw. A visit without blocks tells nothing.
func (s *Search) Add(v Visit) {
	if len(v.Blocks) == 0 {
		return
	}
	above := make([]float64, len(v.Blocks))
	for i, b := range v.Blocks {
		above[i] = b.Candidate - b.Bad/2
		s.ends = append(s.ends, b.Bad)
	}
	s.spread.add(above, 1)
	s.visits = append(s.visits, seen{v.Position, len(v.Blocks), stats.HodgesLehmann(above)})
}

// Step returns the logarithm of the ratio of the bad end to the good one, of all blocks
// so far, and its standard error.
func (s *Search) Step() (step, err float64) {
	mean, squares := moments(s.ends)
	return mean, math.Sqrt(squares / float64(len(s.ends)-1) / float64(len(s.ends)))
}

// Posterior returns the probability that version i+1 is the culprit. The height of the
// step is integrated out.
func (s *Search) Posterior() []float64 {
	step, err := s.Step()
	post := make([]float64, len(s.prior))
	var total float64
	logs := make([][]float64, 0, len(nodes))
	top := math.Inf(-1)
	for _, z := range nodes {
		l := s.likelihood(step + z*err)
		logs = append(logs, l)
		top = max(top, slices.Max(l))
	}
	for _, l := range logs {
		for i := range post {
			p := s.prior[i] * math.Exp(l[i]-top)
			post[i] += p
			total += p
		}
	}
	for i := range post {
		post[i] /= total
	}
	return post
}

// nodes are standard normal quantiles of equal weight, over which the step is integrated.
var nodes = [...]float64{-1.534, -0.887, -0.489, -0.157, 0.157, 0.489, 0.887, 1.534}

// likelihood returns the logarithm of the probability of what the visits saw if version
// i+1 is the culprit and makes a step of this height.
func (s *Search) likelihood(step float64) []float64 {
	// If version i is the culprit, a visit of it or a later one saw the bad end's level.
	change := make([]float64, len(s.prior)+1)
	var none float64 // of all visits, if each saw the good end's level
	for _, v := range s.visits {
		err := s.err(v.blocks, step)
		good, bad := logT((v.above+step/2)/err), logT((v.above-step/2)/err)
		none += good
		told := min(max(bad-good, -trust), trust)
		change[0] += told
		change[v.position] -= told
	}
	l := make([]float64, len(s.prior))
	for i, sum := 0, none; i < len(l); i++ {
		sum += change[i]
		l[i] = sum
	}
	return l
}

// err returns the standard error of what a visit of so many blocks sees.
func (s *Search) err(blocks int, step float64) float64 {
	return math.Sqrt(s.spread.variance()/float64(blocks) + alike*alike*step*step)
}

// Next returns which position to visit, and with how many of the offered numbers of
// blocks: where the most information is expected for the cost, in any unit. It returns
// false if no visit can tell more.
func (s *Search) Next(offered []int, cost func(position, blocks int) float64) (position, blocks int, ok bool) {
	step, _ := s.Step()
	post := s.Posterior()
	best := 0.0
	for _, n := range offered {
		channel := newChannel(math.Abs(step) / s.err(n, step))
		var before float64 // the probability that the culprit is at this position or earlier
		for i, p := range post {
			before += p
			if s.excluded[i] {
				continue
			}
			bits := channel.information(before)
			if bits < negligible {
				continue
			}
			if value := bits / cost(i+1, n); value > best {
				position, blocks, ok, best = i+1, n, true, value
			}
		}
	}
	return position, blocks, ok
}

// negligible are the bits of a visit that is not worth its while: what is left cannot be
// told apart.
const negligible = 0.002

// Culprit returns the version that most probably is it, from 1, and its probability.
func (s *Search) Culprit() (version int, probability float64) {
	post := s.Posterior()
	p := slices.Max(post)
	return slices.Index(post, p) + 1, p
}

// Suspects returns the fewest versions, ascending, that hold the culprit with at least
// this probability.
func (s *Search) Suspects(probability float64) []int {
	post := s.Posterior()
	order := make([]int, len(post))
	for i := range order {
		order[i] = i + 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(post[b-1], post[a-1]) })
	var sum float64
	for n, version := range order {
		if sum += post[version-1]; sum >= probability {
			order = order[:n+1]
			break
		}
	}
	slices.Sort(order)
	return order
}

// A channel tells what a visit is worth: it answers before or after with noise.
type channel [32]float64 // bits by the prior probability, in steps of 1/32 from 1/64

// newChannel returns the channel of a visit that sees both levels so many standard errors
// apart.
func newChannel(apart float64) *channel {
	var c channel
	for i := range c {
		p := (float64(i) + 0.5) / float64(len(c))
		c[i] = entropy(p) - remaining(p, apart)
	}
	return &c
}

// information returns the expected bits of a visit of a position that is at the bad level
// with probability p.
func (c *channel) information(p float64) float64 {
	x := p*float64(len(c)) - 0.5
	switch i := int(math.Floor(x)); {
	case p <= 0 || p >= 1:
		return 0
	case i < 0:
		return c[0] * entropy(p) / entropy(0.5/float64(len(c)))
	case i >= len(c)-1:
		return c[len(c)-1] * entropy(p) / entropy(0.5/float64(len(c)))
	default:
		part := x - float64(i)
		return c[i]*(1-part) + c[i+1]*part
	}
}

// remaining returns the entropy, in bits, that is expected to be left of a question whose
// answer is yes with probability p, once a normal value is seen whose mean is 0 or apart.
func remaining(p, apart float64) float64 {
	const width, points = 4.0, 24
	var left, total float64
	for i := range points {
		z := width * (2*(float64(i)+0.5)/points - 1)
		density := math.Exp(-z * z / 2)
		total += density
		for _, yes := range [...]bool{false, true} {
			x, weight := z, 1-p
			if yes {
				x, weight = z+apart, p
			}
			odds := math.Exp(apart*x-apart*apart/2) * p / (1 - p)
			left += weight * density * entropy(odds/(1+odds))
		}
	}
	return left / total
}

// entropy returns that of an event of probability p, in bits.
func entropy(p float64) float64 {
	if !(p > 0 && p < 1) {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// logT returns the logarithm of the density of Student's t at x, but for a constant.
func logT(x float64) float64 { return -(degrees + 1) / 2.0 * math.Log1p(x*x/degrees) }

// add adds the deviations of values from their mean; a variance of theirs is factor of
// one that is looked for.
func (p *pooled) add(values []float64, factor float64) {
	_, squares := moments(values)
	p.squares += squares * factor
	p.freedom += float64(len(values) - 1)
}

// variance returns that of one block.
func (p *pooled) variance() float64 { return p.squares / max(p.freedom, 1) }

// moments returns the mean of values and the sum of their squared deviations from it.
func moments(values []float64) (mean, squares float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, squares
}

// normalized returns weights that sum to 1.
func normalized(weights []float64) []float64 {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	n := make([]float64, len(weights))
	for i, w := range weights {
		n[i] = w / sum
	}
	return n
}
