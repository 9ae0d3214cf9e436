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
// says what else differs. SIMULATED.md has the figures of its simulations.
package bisect

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

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
	levels   []level   // of bad against good, a measurement each
	spread   spread
	shared   float64 // the variance of what the blocks of a measurement share, by all that was seen

	post []float64 // the posterior; nil if it is not known
}

// Seen is what a visit told of its position: by how much the candidate lies above the
// middle of both ends.
type seen struct {
	position int
	values   []float64 // of its blocks
	level
}

// A level is what the blocks of a measurement saw on the whole.
type level struct {
	blocks  int
	above   float64
	squares float64 // of their deviations
}

// A spread is how much blocks scatter in their measurements, outliers aside.
type spread struct {
	deviations []float64
	variance   float64 // of one block
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

// difference is the variance of a block of the bad end against the good one, which is
// measured twice, itself and its control, in those of a block of above: 1 + 1/2 in those of
// one side against 1 + 1/4 + 1/8.
const difference = 1.5 / 1.375

// sharings are what the blocks of one measurement may share that those of another do not,
// as the moment when a neighbour is busy: standard deviations, in those of a block, with how
// likely they are before anything is seen.
var sharings = [...]struct{ part, weight float64 }{{0, 0.5}, {0.25, 0.3}, {0.5, 0.15}, {1, 0.05}}

// ownFreedom is how many degrees of freedom the spread of all blocks counts beside those of
// a visit's own, which may have fallen into a noisy minute.
const ownFreedom = 4

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
	s.spread.add(ends, 1/difference)
	s.levels = []level{levelOf(ends)}
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
	above, bad := make([]float64, len(v.Blocks)), make([]float64, len(v.Blocks))
	for i, b := range v.Blocks {
		above[i], bad[i] = b.Candidate-b.Bad/2, b.Bad
	}
	s.ends = append(s.ends, bad...)
	s.levels = append(s.levels, levelOf(bad))
	s.spread.add(above, 1)
	s.visits = append(s.visits, seen{v.Position, above, levelOf(above)})
}

// levelOf returns the level of blocks. Of few, all count in full: there is no telling which
// one is off, and none of them is sure then.
func levelOf(values []float64) level {
	above := stats.HodgesLehmann(values)
	if len(values) < fewBlocks {
		_, squares := moments(values)
		return level{len(values), above, squares}
	}
	return level{len(values), above, bounded(deviations(values, 1)) * float64(len(values)-1)}
}

// fewBlocks is from how many blocks on their middle does not follow one that is off.
const fewBlocks = 5

// Step returns the logarithm of the ratio of the bad end to the good one, of all blocks
// so far, and its standard error.
func (s *Search) Step() (step, err float64) {
	return stats.HodgesLehmann(s.ends), math.Sqrt(bounded(deviations(s.ends, 1)) / float64(len(s.ends)))
}

// Posterior returns the probability that version i+1 is the culprit. The height of the
// step and what the blocks of a measurement share are integrated out.
func (s *Search) Posterior() []float64 {
	if s.post == nil {
		s.post = s.posterior()
	}
	return slices.Clone(s.post)
}

func (s *Search) posterior() []float64 {
	step, err := s.Step()
	visited := s.visited()
	likely := make([][]float64, 0, len(sharings)*stepPoints) // by the runs between visits
	shares := make([]float64, 0, cap(likely))
	top := math.Inf(-1)
	for _, sharing := range sharings {
		shared := sharing.part * sharing.part * s.spread.variance
		width := 5 * math.Sqrt(err*err+shared*difference/float64(len(s.levels)))
		weight := math.Log(sharing.weight * max(width, floor*math.Abs(step)))
		for i := range stepPoints {
			l := s.likelihood(step+width*(2*float64(i)/(stepPoints-1)-1), shared, visited)
			for k := range l {
				l[k] += weight
			}
			likely, shares = append(likely, l), append(shares, shared)
			top = max(top, slices.Max(l))
		}
	}
	post := make([]float64, len(s.prior))
	var total float64
	s.shared = 0
	for n, l := range likely {
		var sum float64
		first := 0
		for k, logarithm := range l {
			last := len(post)
			if k < len(visited) {
				last = visited[k]
			}
			p := math.Exp(logarithm - top)
			for i, prior := range s.prior[first:last] {
				part := prior * p
				post[first+i] += part
				sum += part
			}
			first = last
		}
		total += sum
		s.shared += sum * shares[n]
	}
	for i := range post {
		post[i] /= total
	}
	s.shared /= total
	return post
}

// visited returns the positions of visits, ascending, each once: all versions from one of them
// to the next, which it is not one of, are as likely.
func (s *Search) visited() []int {
	var all []int
	for _, v := range s.visits {
		all = append(all, v.position)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// stepPoints are how many heights of the step are reckoned with, five standard errors about
// what its blocks say.
const stepPoints = 21

// likelihood returns the logarithm of the probability of what was seen if the culprit makes
// a step of this height, and what the blocks of a measurement share has this variance: for
// each run of versions between those visited, since only visits tell versions apart.
func (s *Search) likelihood(step, shared float64, visited []int) []float64 {
	// If version i is the culprit, a visit of it or a later one saw the bad end's level.
	l := make([]float64, len(visited)+1) // changes from run to run, and then their sums
	var none float64                     // of all that was seen, if each visit saw the good end's level
	for _, b := range s.levels {
		err := math.Sqrt(difference * s.variance(b, 1/difference, shared, 0))
		none += logT((b.above-step)/err) - math.Log(err)
	}
	for _, v := range s.visits {
		err := math.Sqrt(s.variance(v.level, 1, shared, step))
		good, bad := logT((v.above+step/2)/err), logT((v.above-step/2)/err)
		none += good - math.Log(err)
		told := min(max(bad-good, -s.trust), s.trust)
		l[0] += told
		if k, ok := slices.BinarySearch(visited, v.position); ok {
			l[k+1] -= told
		}
	}
	sum := none
	for k, change := range l {
		sum += change
		l[k] = sum
	}
	return l
}

// variance returns that of a level about the truth, in those of above; a square of its own
// blocks is factor of one of those. It is never less than the spread of all blocks says.
func (s *Search) variance(l level, factor, shared, step float64) float64 {
	all := s.spread.variance
	own := (ownFreedom*all + l.squares*factor) / (ownFreedom + float64(l.blocks-1))
	return max(own, all)/float64(l.blocks) + shared + alike*alike*step*step + s.least()
}

// least is the variance of what does not scatter.
func (s *Search) least() float64 {
	step := s.levels[0].above
	return floor * floor * step * step
}

// floor is the part of a step below which no standard error is believed.
const floor = 0.01

// err returns the standard error of what a visit of so many blocks will see.
func (s *Search) err(blocks int, step float64) float64 {
	return math.Sqrt(s.variance(level{blocks: blocks, squares: s.spread.variance * float64(blocks-1)}, 1, s.shared, step))
}

// A Choice is the next visit, and what it is worth.
type Choice struct {
	Position, Blocks int
	// Bits are expected of it, of those that are still to be had, and Cost is what the
	// caller said of it.
	Bits, Cost float64
}

// Next returns which position to visit, and with how many of the offered numbers of
// blocks: where the most information is expected for the cost, in any unit; what costs
// infinitely much is no choice. It returns false if no visit can tell more.
func (s *Search) Next(offered []int, cost func(position, blocks int) float64) (best Choice, ok bool) {
	post := s.Posterior()
	step, _ := s.Step()
	chances := make([]float64, len(post))
	doubt := slices.Contains(s.excluded, true)
	for i := range post {
		if chances[i] = 1; doubt {
			chances[i] = s.chance(i)
		}
	}
	for _, n := range offered {
		channel := channelOf(math.Abs(step) / s.err(n, step))
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
			if c.Cost = cost(i+1, n); !math.IsInf(c.Cost, 1) && (!ok || c.Bits/c.Cost > best.Bits/best.Cost) {
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
	var all []float64
	for _, v := range s.visits {
		if v.position == position {
			all = append(all, v.values...)
		}
	}
	if blocks = len(all); blocks == 0 {
		return 0, 0
	}
	above := stats.HodgesLehmann(all)
	step, stepErr := s.Step()
	off := min(math.Abs(above-step/2), math.Abs(above+step/2))
	if off <= math.Abs(step)/4 {
		return 0, blocks
	}
	return off / math.Sqrt(s.spread.variance/float64(blocks)+stepErr*stepErr/4), blocks
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

// channels are those of visits that were asked for, of all searches, by how many fiftieths of
// a standard error apart the levels are.
var channels [20*50 + 1]atomic.Pointer[channel]

// channelOf returns the channel of a visit that sees both levels so many standard errors apart.
func channelOf(apart float64) *channel {
	key := int(math.Round(min(apart, 20) * 50))
	c := channels[key].Load()
	if c == nil {
		c = newChannel(float64(key) / 50)
		channels[key].Store(c)
	}
	return c
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

// atEnds is the entropy of the prior probability of a channel's first bits, and its last ones.
var atEnds = entropy(0.5 / float64(len(channel{})))

// information returns the expected bits of a visit of a position that is at the bad level
// with probability p.
func (c *channel) information(p float64) float64 {
	x := p*float64(len(c)) - 0.5
	switch i := int(math.Floor(x)); {
	case p <= certain || p >= 1-certain:
		return 0
	case i < 0:
		return c[0] * entropy(p) / atEnds
	case i >= len(c)-1:
		return c[len(c)-1] * entropy(p) / atEnds
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

// add adds the deviations of values in a measurement; a variance of theirs is factor of one
// that is looked for.
func (s *spread) add(values []float64, factor float64) {
	s.deviations = append(s.deviations, deviations(values, math.Sqrt(factor))...)
	s.variance = bounded(s.deviations)
}

// deviations returns those of values from their mean, or of many from their middle, times
// factor, and so that the mean of their squares is a variance. There are none of one value.
func deviations(values []float64, factor float64) []float64 {
	n := len(values)
	if n < 2 {
		return nil
	}
	middle, _ := moments(values)
	if n >= fewBlocks {
		middle = stats.HodgesLehmann(values)
	}
	factor *= math.Sqrt(float64(n) / float64(n-1))
	all := make([]float64, n)
	for i, v := range values {
		all[i] = (v - middle) * factor
	}
	return all
}

// bounded returns the mean of the squares of deviations, with those beyond 2.5 standard
// deviations, as their median tells them, bounded there (Winsor). One layout of the binary in
// twenty may take half as long again; if it counted in full, all measurements would seem to
// be worthless from then on.
func bounded(deviations []float64) (variance float64) {
	if len(deviations) == 0 {
		return 0
	}
	squares := make([]float64, len(deviations))
	for i, d := range deviations {
		squares[i] = d * d
	}
	slices.Sort(squares)
	// The median of the square of a standard normal value is 0.6745², and the mean of that
	// square, bounded so, is 0.9776.
	most, part := 2.5*2.5*stats.Median(squares)/(0.6745*0.6745), 0.9776
	if most == 0 {
		most, part = math.Inf(1), 1 // most of them are none at all
	}
	for _, square := range squares {
		variance += min(square, most)
	}
	return variance / part / float64(len(squares))
}

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
