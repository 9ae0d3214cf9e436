// Package bisect finds which of many versions made a benchmark slower. It builds and
// measures nothing itself: a [Lab] does, on a machine or in a simulation.
//
// A comparison of two versions may err, so that halving the range at each answer, as git
// bisect does, ends at the wrong version in two of five runs (simulated for a step of
// 2 %, power of 90 % and 1,000 versions). A [Search] keeps a probability for each version
// instead. Each visit measures the good end, the bad end and one version between them
// side by side, and moves probability by how well what was seen fits either end; a wrong
// turn is undone by later visits. The next visit is where the most information is to be
// had for its cost (Horstein 1963; Burnashev and Zigangirov 1974). What is found so is only
// suspected: [Find] proves it by fresh measurements of the version and the one before, and
// says what else differs. docs/bisect.md has the figures of its simulations.
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
	ready    []bool    // position i+1 is known to build
	visits   []seen
	trust    float64   // the most that one visit says for or against, as a logarithm of odds
	ends     []float64 // what blocks saw of bad against good
	spread   pooled

	post     []float64        // the posterior; nil if it is not known
	channels map[int]*channel // by 50 times how far apart the levels are
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

// The most that one visit says for or against, as a logarithm of odds. Of 200 that measure
// time one may be misled by something that its blocks do not show; what counts is not.
var (
	trustTime  = math.Log(200)
	trustCount = math.Log(1e6)
)

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
	n := len(prior)
	s := &Search{prior: normalized(prior), excluded: make([]bool, n), ready: make([]bool, n), ends: slices.Clone(ends), trust: trustTime}
	s.ready[n-1] = true // the bad end, which each visit measures anyway
	// The good end is measured twice, itself and its control. So the difference of two sides
	// scatters by 1.5 variances of one, and above by 1 + 1/4 + 1/8.
	s.spread.add(ends, 1.375/1.5)
	return s
}

// Exclude says that the version at this position, from 1, cannot be measured. It may be
// the culprit all the same.
func (s *Search) Exclude(position int) { s.excluded[position-1] = true }

// Ready says that the version at this position, from 1, can be measured.
func (s *Search) Ready(position int) { s.ready[position-1] = true }

// Same says that two positions, 0 being the good end, are the same program: what one
// shows holds for the other, and none between them is the culprit. It has no effect if
// that left none.
func (s *Search) Same(first, second int) {
	first, second = min(first, second), max(first, second)
	prior := slices.Clone(s.prior)
	clear(prior[first:second])
	if slices.Max(prior) > 0 {
		s.prior, s.post = normalized(prior), nil
	}
}

// chance returns how likely it is that position i+1 builds, by those known: commits that
// do not build lie together. Near one that did not, it is as far from it as all that did
// not lie apart, so that a few tries leave a long range of them behind; and between one
// that did not and one that did, it is by how near each is.
func (s *Search) chance(i int) float64 {
	chance := 1.0
	for _, step := range [...]int{-1, 1} {
		apart, far := 0, 0 // of the nearest in this direction that does not build, and of the last before one that does
		for k := i; k >= 0 && k < len(s.excluded) && !s.ready[k]; k += step {
			if s.excluded[k] {
				far = abs(k - i)
				if apart == 0 {
					apart = far
				}
			}
		}
		if far > 0 {
			run := min(far-apart+1, s.readyAt(i, -step))
			chance = min(chance, float64(apart)/float64(apart+run))
		}
	}
	return chance
}

// readyAt returns how far from position i+1 the nearest one is that builds, in steps of by.
func (s *Search) readyAt(i, by int) int {
	k := i
	for k >= 0 && k < len(s.ready) && !s.ready[k] {
		k += by
	}
	return abs(k - i)
}

func abs(n int) int { return max(n, -n) }

// Add tells s what a visit saw. A visit without blocks tells nothing.
func (s *Search) Add(v Visit) {
	if len(v.Blocks) == 0 {
		return
	}
	s.post = nil
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
	_, squares := moments(s.ends)
	return stats.HodgesLehmann(s.ends), math.Sqrt(squares / float64(len(s.ends)-1) / float64(len(s.ends)))
}

// Posterior returns the probability that version i+1 is the culprit. The height of the
// step is integrated out.
func (s *Search) Posterior() []float64 {
	if s.post == nil {
		s.post = s.posterior()
	}
	return slices.Clone(s.post)
}

func (s *Search) posterior() []float64 {
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
		told := min(max(bad-good, -s.trust), s.trust)
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

// A Choice is the next visit, and what it is worth.
type Choice struct {
	Position, Blocks int
	// Bits are expected of it, of those that are still to be had, and Cost is what the
	// caller said of it.
	Bits, Cost float64
}

// Next returns which position to visit, and with how many of the offered numbers of
// blocks: where the most information is expected for the cost, in any unit. It returns
// false if no visit can tell more.
func (s *Search) Next(offered []int, cost func(position, blocks int) float64) (best Choice, ok bool) {
	step, _ := s.Step()
	post := s.Posterior()
	chances := make([]float64, len(post))
	doubt := slices.Contains(s.excluded, true)
	for i := range post {
		if chances[i] = 1; doubt && !s.ready[i] {
			chances[i] = s.chance(i)
		}
	}
	for _, n := range offered {
		channel := s.channel(math.Abs(step) / s.err(n, step))
		var before float64 // the probability that the culprit is at this position or earlier
		for i, p := range post[:len(post)-1] {
			before += p
			if s.excluded[i] {
				continue
			}
			c := Choice{i + 1, n, chances[i] * channel.information(before), 0}
			if c.Bits < negligible {
				continue
			}
			if c.Cost = cost(i+1, n); !ok || c.Bits/c.Cost > best.Bits/best.Cost {
				best, ok = c, true
			}
		}
	}
	return best, ok
}

// Open returns how many bits are not known of which version it is.
func (s *Search) Open() (bits float64) {
	for _, p := range s.Posterior() {
		if p > 0 {
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// Between reports how surely the version at a position is at the level of neither end: by
// how many standard errors it lies off the nearer one, of all visits to it, and in how many
// blocks. It is 0 for what lies off by no more than a quarter of the step, as versions do
// that are not the culprit.
func (s *Search) Between(position int) (errors float64, blocks int) {
	var above float64
	for _, v := range s.visits {
		if v.position == position {
			above += v.above * float64(v.blocks)
			blocks += v.blocks
		}
	}
	if blocks == 0 {
		return 0, 0
	}
	above /= float64(blocks)
	step, stepErr := s.Step()
	off := min(math.Abs(above-step/2), math.Abs(above+step/2))
	if off <= math.Abs(step)/4 {
		return 0, blocks
	}
	return off / math.Sqrt(s.spread.variance()/float64(blocks)+stepErr*stepErr/4), blocks
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

// channel returns the one of a visit that sees both levels so many standard errors apart.
func (s *Search) channel(apart float64) *channel {
	key := int(math.Round(min(apart, 20) * 50))
	if s.channels == nil {
		s.channels = make(map[int]*channel)
	}
	if s.channels[key] == nil {
		s.channels[key] = newChannel(float64(key) / 50)
	}
	return s.channels[key]
}

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

// certain is the probability below which, or above one less than which, nothing is to be
// learnt: the entropy is less than negligible.
const certain = 1e-4

// information returns the expected bits of a visit of a position that is at the bad level
// with probability p.
func (c *channel) information(p float64) float64 {
	x := p*float64(len(c)) - 0.5
	switch i := int(math.Floor(x)); {
	case p <= certain || p >= 1-certain:
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
