package bisect

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dynolab/dyno/internal/stats"
)

// A Lab has versions in a row, by position: 0 is the good end and the last one the bad
// end. It is called by one goroutine. An error of it ends the bisection.
type Lab interface {
	// Build makes the version at a position ready to be measured.
	Build(ctx context.Context, position int) (Build, error)
	// Measure measures versions side by side.
	Measure(ctx context.Context, m Measurement) (*Measured, error)
	// Cost returns about how many seconds it takes to build what is not built of these
	// positions, and to measure them side by side in so many blocks.
	Cost(positions []int, blocks int) float64
	// Left returns how many seconds there are before an answer is due; it may be infinite.
	Left() float64
}

// A Build is what came of building a version.
type Build struct {
	Identity string // the same for versions that are the same program with the same data
	Problem  string // why it cannot be measured; "" if it can
}

// A Measurement asks for versions to be measured side by side.
type Measurement struct {
	Positions []int // different ones
	Blocks    int
	// Proof asks for blocks whose layouts no earlier measurement had. The second position
	// is then the suspect, and the first, if it is the one before, its parent.
	Proof bool
}

// Measured is what a measurement gave.
type Measured struct {
	// Levels has a value for each block, by position: by how much it lies above the first
	// position, as the logarithm of a ratio, or of counts as their difference.
	Levels map[int][]float64
	// Failed says why positions have no values, or not in each block.
	Failed map[int]string
	// Compare compares the version at x with that at base, at the level alpha.
	Compare func(base, x int, alpha float64) (Comparison, error)
}

// A Comparison says how one version compares with another.
type Comparison struct {
	Word   string // the verdict: "slower", "same", …
	Proven bool   // that they differ
	Same   bool   // that they do not, beyond the margin
	// Ratio is x over base, with its interval, and P the corrected p-value. Of counts, that
	// are exact, Lo and Hi are Ratio and P is NaN.
	Ratio, Lo, Hi, P float64
	Base, X          float64 // what both took, in the unit
	Detectable       float64 // the smallest ratio above 1 that would have been proven in nine of ten cases; NaN if unknown
	Need             int     // about how many blocks would tell if nothing is proven; 0 if unknown
}

// Options say how a bisection goes about it.
type Options struct {
	Alpha    float64 // the chance that any version is named that changes nothing
	Blocks   int     // of a comparison of ends, and the least of a proof
	Offered  []int   // numbers of blocks that a visit may have, ascending
	Suspects float64 // the probability at which a version is proven, and of the set in its place
	Exact    bool    // levels are counts: they do not vary
	Margin   float64 // as a level: what differs by less is the same

	// Ends is the comparison of both ends, if there is one already.
	Ends *Measured
	// Weights are those of versions being the culprit, from position 1; nil is equal ones.
	Weights []float64

	Report func(Event) // is called with what is done; nil for none
}

// DefaultOptions returns those for times, of which nothing is said.
func DefaultOptions() Options {
	return Options{Alpha: 0.05, Blocks: 12, Offered: []int{2, 3, 4, 6, 9, 12}, Suspects: 0.95}
}

// An Event is what a bisection has just learnt, or is about to do.
type Event struct {
	Kind     EventKind
	Position int // of EventVisit, EventSeen, EventBroken and EventProof; the first of a range
	Last     int // of a range
	Blocks   int
	Problem  string     // of EventBroken
	Level    float64    // of EventSeen: above the good end of the range, as in Measured.Levels
	Step     float64    // of EventSeen: the bad end's
	Compared Comparison // of EventEnds and EventProved
	Suspects []int      // of EventSeen
	Most     float64    // of EventSeen: the probability of the likeliest
	Left     float64    // of EventVisit: about how many seconds it still takes, with the proof
}

// An EventKind is what an Event is about.
type EventKind int

// The kinds of events.
const (
	EventCompare EventKind = iota // the ends of a range are about to be compared
	EventEnds                     // they were
	EventVisit                    // a position is about to be visited
	EventSeen                     // it was
	EventBroken                   // it cannot be measured
	EventSame                     // it is the same program as Last
	EventSplit                    // it is at the level of neither end of its range, which is searched on both sides
	EventProof                    // a position is about to be proven
	EventProved                   // it was, or was not
	EventRest                     // a range that still differs is searched
)

// An Answer is what a bisection has found.
type Answer struct {
	Ends  Comparison // of the bad end against the good one
	Steps []Step     // those that are proven, by position
	Open  []Open     // what is not pinned down to one version

	Comparisons, Blocks int // measurements that were made, and their blocks
	Broken              map[int]string
	TimeUp              bool // more would have been measured if there had been time
}

// A Step is a version that is proven to differ from the one before.
type Step struct {
	Position int
	Compared Comparison
	levels   []float64 // by how much, in the blocks of its proof
}

// An Open is a range of which something is known, but no one version.
type Open struct {
	First, Last int   // the culprit is after First, and Last at the latest
	Suspects    []int // the versions that it may be
	Narrowed    bool  // a search has left them: they hold it with Options.Suspects probability, if there is one step
	Why         string
	Compared    *Comparison // of Last against First, fresh, if that was measured
}

// A finder carries out a bisection.
type finder struct {
	Options
	lab    Lab
	built  map[int]Build
	proofs int
	same   [][2]int // ranges whose ends were seen to be the same
	answer *Answer
}

// mostProofs bounds the proofs of a range, of one suspect or of several.
const mostProofs = 3

// Find finds which of the versions from 1 to last, the bad end, made a benchmark slower,
// or faster.
//
// Both ends are compared first. Then a [Search] visits versions between them, and what it
// suspects is proven by a fresh comparison with the version before; each has half the
// level of the one before it, so that all together keep to o.Alpha. In the same
// measurement it is seen what is left before and after it: a rest that is proven to differ
// too is searched in turn. So is each side of a version that is at the level of neither
// end: there is more than one step then. Last, what was found is held against the ends of the
// whole: if significantly more differs, the answer says so.
func Find(ctx context.Context, lab Lab, last int, o Options) (*Answer, error) {
	f := &finder{Options: o, lab: lab, built: make(map[int]Build), answer: &Answer{Broken: make(map[int]string)}}
	if f.Report == nil {
		f.Report = func(Event) {}
	}
	err := f.find(ctx, last)
	slices.SortFunc(f.answer.Steps, func(a, b Step) int { return a.Position - b.Position })
	slices.SortFunc(f.answer.Open, func(a, b Open) int { return a.First - b.First })
	return f.answer, err
}

func (f *finder) find(ctx context.Context, last int) (err error) {
	ends := f.Ends
	if ends == nil {
		if ends, err = f.measure(ctx, Measurement{Positions: []int{0, last}, Blocks: f.Blocks}); err != nil {
			return err
		}
	}
	if err := f.compareEnds(last, ends); err != nil {
		return err
	}
	if need := f.answer.Ends.Need; !f.answer.Ends.Proven && !f.answer.Ends.Same && need > 0 && need <= mostProofBlocks {
		// Once more, with as many blocks as it takes; each time has half of the level.
		again := Measurement{Positions: []int{0, last}, Blocks: min(max(need+need/4, 2*f.Blocks), mostProofBlocks)}
		if !f.fits(f.lab.Cost(again.Positions, again.Blocks)) {
			return nil
		}
		f.Report(Event{Kind: EventCompare, Position: 0, Last: last, Blocks: again.Blocks})
		if ends, err = f.measure(ctx, again); err != nil {
			return err
		}
		if err := f.compareEnds(last, ends); err != nil {
			return err
		}
	}
	if !f.answer.Ends.Proven {
		return nil
	}
	h, err := f.search(ctx, 0, last, ends)
	if h != nil && err == nil {
		h.account()
	}
	return err
}

// compareEnds says whether the ends differ, by what was measured of them.
func (f *finder) compareEnds(last int, ends *Measured) (err error) {
	if err := ends.whole(0, last); err != nil {
		return err
	}
	if f.answer.Ends, err = ends.Compare(0, last, f.Alpha/2); err != nil {
		return err
	}
	f.Report(Event{Kind: EventEnds, Position: 0, Last: last, Compared: f.answer.Ends})
	return nil
}

// whole returns an error if positions that have to be there gave no values.
func (m *Measured) whole(positions ...int) error {
	for _, p := range positions {
		if why := m.Failed[p]; why != "" {
			return &EndError{p, why}
		}
	}
	return nil
}

// An EndError says why an end of a range gave no figures.
type EndError struct {
	Position int
	Reason   string
}

func (e *EndError) Error() string { return fmt.Sprintf("position %d: %s", e.Position, e.Reason) }

// measure has the lab measure something.
func (f *finder) measure(ctx context.Context, m Measurement) (*Measured, error) {
	seen, err := f.lab.Measure(ctx, m)
	if err == nil {
		f.answer.Comparisons++
		f.answer.Blocks += m.Blocks
	}
	return seen, err
}

// fits reports whether there is time for something; if not, the answer says so.
func (f *finder) fits(cost float64) bool {
	fits := f.lab.Left() >= cost
	f.answer.TimeUp = f.answer.TimeUp || !fits
	return fits
}

// build has the lab build something, once.
func (f *finder) build(ctx context.Context, position int) (Build, error) {
	b, ok := f.built[position]
	if ok {
		return b, nil
	}
	b, err := f.lab.Build(ctx, position)
	if err != nil {
		return b, err
	}
	f.built[position] = b
	if b.Problem != "" {
		f.broken(position, b.Problem)
	}
	return b, nil
}

func (f *finder) broken(position int, why string) {
	f.built[position] = Build{Problem: why}
	f.answer.Broken[position] = why
	f.Report(Event{Kind: EventBroken, Position: position, Problem: why})
}

// A hunt is the search of one range whose ends differ.
type hunt struct {
	*finder
	*Search
	first, last int
	proofs      int
	need        int          // about how many blocks would have proven what the latest proof did not; 0 if unknown
	known       map[int]bool // positions of which the search knows what came of building them
}

// steps returns by how much the last position of a range lay above the first in each block.
func (m *Measured) steps(first, last int) []float64 {
	levels := make([]float64, len(m.Levels[last]))
	for i := range levels {
		levels[i] = m.Levels[last][i]
		if base := m.Levels[first]; len(base) == len(levels) {
			levels[i] -= base[i]
		}
	}
	return levels
}

// height returns by how much the ends of a range differ, in blocks enough to search by it,
// or why it cannot be searched. What just proved the ends to differ is no such measure: of a
// step that is lost in the noise, only what looks several times as high is proven. They are
// then measured anew, and only that counts.
func (f *finder) height(ctx context.Context, first, last int, ends *Measured) (levels []float64, why string, err error) {
	levels = ends.steps(first, last)
	for again := false; !f.Exact; again = true {
		need := blocksToKnow(levels)
		if need <= len(levels) {
			break
		}
		why = fmt.Sprintf("how much both ends differ is not known well enough to search between them: that would take about %d blocks", need)
		m := Measurement{Positions: []int{first, last}, Blocks: max(need, f.Blocks)}
		if again || need > mostProofBlocks || !f.fits(f.lab.Cost(m.Positions, m.Blocks)) {
			return nil, why, nil
		}
		f.Report(Event{Kind: EventCompare, Position: first, Last: last, Blocks: m.Blocks})
		if ends, err = f.measure(ctx, m); err == nil {
			err = ends.whole(first, last)
		}
		if err != nil {
			return nil, "", err
		}
		levels = ends.steps(first, last)
	}
	return levels, "", nil
}

// blocksToKnow returns about how many blocks show the height of a step so well that its
// standard error is a part of it that a search can bear.
func blocksToKnow(levels []float64) int {
	step, squares := moments(levels)
	n := squares / float64(len(levels)-1) * knownErrors * knownErrors / (step * step)
	return int(math.Ceil(min(n, math.MaxInt32)))
}

// knownErrors is how many standard errors a step has to be high for that.
const knownErrors = 4

// search finds what makes the ends of a range differ, which were compared. It returns nil if
// that cannot be searched.
func (f *finder) search(ctx context.Context, first, last int, ends *Measured) (*hunt, error) {
	levels, why, err := f.height(ctx, first, last, ends)
	if err != nil {
		return nil, err
	}
	if why != "" {
		f.answer.Open = append(f.answer.Open, Open{First: first, Last: last, Suspects: upTo(first, last), Why: why})
		return nil, nil
	}
	weights := slices.Repeat([]float64{1}, last-first)
	if f.Weights != nil {
		weights = f.Weights[first:last]
	}
	h := &hunt{finder: f, Search: New(weights, levels), first: first, last: last, known: make(map[int]bool)}
	if f.Exact {
		h.trust = trustCount
	}
	for p, b := range f.built {
		if p > first && p < last {
			h.know(p, b)
		}
	}
	for {
		done, err := h.step(ctx)
		if done || err != nil {
			return h, err
		}
	}
}

// know takes in what came of building a position of the range.
func (h *hunt) know(position int, b Build) (same bool) {
	if h.known[position] {
		return false
	}
	h.known[position] = true
	if b.Problem != "" {
		h.Exclude(position - h.first)
		return false
	}
	h.Ready(position - h.first)
	for other, o := range h.built {
		if other != position && other >= h.first && other <= h.last && o.Problem == "" && o.Identity != "" && o.Identity == b.Identity {
			h.Same(position-h.first, other-h.first)
			h.Report(Event{Kind: EventSame, Position: position, Last: other})
			same = true
		}
	}
	return same
}

// step makes the next visit, or if enough is known proves it. done says that the range has
// its answer.
func (h *hunt) step(ctx context.Context) (done bool, err error) {
	suspect, p := h.Culprit()
	if p >= h.Options.Suspects {
		return h.prove(ctx, h.first+suspect)
	}
	choice, ok := h.next(math.Inf(1))
	if !ok {
		return h.narrow(ctx)
	}
	// What fits before a proof comes first. If nothing does, the proof is given up, and the
	// time goes into visits, for as long as one fits: each leaves fewer suspects.
	proof := h.lab.Cost(h.proofPositions(h.first+suspect-1, h.first+suspect), h.proofBlocks())
	for _, time := range [...]float64{h.lab.Left() - proof, h.lab.Left()} {
		if choice, ok = h.next(time); ok {
			break
		}
	}
	if !ok {
		h.timeUp()
		return true, nil
	}
	left := max(choice.Cost, max(0, h.Open()-sureBits)*choice.Cost/choice.Bits) + proof
	return h.visit(ctx, h.first+choice.Position, choice.Blocks, min(left, h.lab.Left()))
}

// next returns the visit that is worth most for its cost, of those that cost at most so much.
func (h *hunt) next(most float64) (Choice, bool) {
	return h.Next(h.Offered, func(position, blocks int) float64 {
		if cost := h.lab.Cost([]int{h.first, h.last, h.first + position}, blocks); cost <= most {
			return cost
		}
		return math.Inf(1)
	})
}

// timeUp leaves the range with the set of suspects, since there is no time for more.
func (h *hunt) timeUp() {
	h.answer.TimeUp = true
	h.open("the time was used up before more was known", nil)
}

// sureBits is about how much is not known of what is known with 95 %.
const sureBits = 0.4

// visit measures a position with both ends of the range.
func (h *hunt) visit(ctx context.Context, position, blocks int, left float64) (done bool, err error) {
	h.Report(Event{Kind: EventVisit, Position: position, Blocks: blocks, Left: left})
	b, err := h.build(ctx, position)
	if err != nil {
		return false, err
	}
	if h.know(position, b) || b.Problem != "" {
		return false, nil
	}
	m, err := h.measure(ctx, Measurement{Positions: []int{h.first, h.last, position}, Blocks: blocks})
	if err != nil {
		return false, err
	}
	if err := m.whole(h.first, h.last); err != nil {
		return false, err // without its ends nothing is known of the position
	}
	if why := m.Failed[position]; why != "" {
		h.broken(position, why)
		h.Exclude(position - h.first)
		return false, nil
	}
	h.take(m, position)
	_, most := h.Culprit()
	h.Report(Event{
		Kind: EventSeen, Position: position, Blocks: blocks, Level: mean(m.Levels[position]), Step: mean(m.Levels[h.last]),
		Suspects: h.suspects(), Most: most,
	})
	switch off, seen := h.Between(position - h.first); {
	case off >= doubtful && seen < h.Options.Blocks && h.lab.Left() >= h.lab.Cost([]int{h.first, h.last, position}, h.Options.Blocks):
		return h.visit(ctx, position, h.Options.Blocks, left)
	case off >= between:
		return true, h.split(ctx, position)
	}
	return false, nil
}

// By how many standard errors a version lies off both ends so that it is visited again, and
// so that there is more than one step. Spreads are known from a few dozen blocks.
const (
	doubtful = 3
	between  = 5
)

// take takes in what a measurement with both ends says of a position.
func (h *hunt) take(m *Measured, position int) {
	good, bad, seen := m.Levels[h.first], m.Levels[h.last], m.Levels[position]
	v := Visit{Position: position - h.first}
	for i := range min(len(bad), len(seen)) {
		var base float64
		if i < len(good) {
			base = good[i]
		}
		v.Blocks = append(v.Blocks, Block{Candidate: seen[i] - base, Bad: bad[i] - base})
	}
	h.Add(v)
}

// suspects are the fewest positions that hold the culprit.
func (h *hunt) suspects() []int {
	all := h.Search.Suspects(h.Options.Suspects)
	for i := range all {
		all[i] += h.first
	}
	return all
}

// open leaves the range with the set of suspects.
func (h *hunt) open(why string, compared *Comparison) {
	all := h.suspects()
	h.answer.Open = append(h.answer.Open, Open{First: all[0] - 1, Last: all[len(all)-1], Suspects: all, Narrowed: true, Why: why, Compared: compared})
}

// split searches both sides of a position that is at the level of neither end.
func (h *hunt) split(ctx context.Context, position int) error {
	h.Report(Event{Kind: EventSplit, Position: position})
	found := len(h.answer.Steps) + len(h.answer.Open)
	if err := h.rest(ctx, h.first, position, nil); err != nil {
		return err
	}
	if err := h.rest(ctx, position, h.last, nil); err != nil {
		return err
	}
	if len(h.answer.Steps)+len(h.answer.Open) == found {
		h.open("there is more than one step, and none of them is large enough to be proven alone", nil)
	}
	return nil
}

// rest searches a range that may differ, if its ends are proven to. before is the measurement
// in which they did, nil if there is none: if both together still show a difference, that is
// left open.
func (f *finder) rest(ctx context.Context, first, last int, before *Measured) error {
	if !f.fits(f.lab.Cost([]int{first, last}, f.rangeBlocks())) {
		f.answer.Open = append(f.answer.Open, Open{First: first, Last: last, Suspects: upTo(first, last), Why: "there was no time to search it, too"})
		return nil
	}
	f.Report(Event{Kind: EventCompare, Position: first, Last: last})
	// A range of one version is its own proof, of which nothing was chosen.
	m, err := f.measure(ctx, Measurement{Positions: []int{first, last}, Blocks: f.rangeBlocks(), Proof: last == first+1})
	if err != nil {
		return err
	}
	if err := m.whole(first, last); err != nil {
		return err
	}
	f.proofs++
	j, err := m.Compare(first, last, f.level())
	if err != nil {
		return err
	}
	f.Report(Event{Kind: EventEnds, Position: first, Last: last, Compared: j})
	switch {
	case j.Same:
		f.same = append(f.same, [2]int{first, last})
	case !j.Proven && before != nil:
		both := stats.Mean(append(before.steps(first, last), m.steps(first, last)...), nil, f.Alpha/2)
		if f.beyond(both.Lo, both.Hi) {
			why := fmt.Sprintf("two measurements of its ends together differ by %s (%s to %s), and neither was enough to search between them", f.amount(both.Est), f.amount(both.Lo), f.amount(both.Hi))
			f.answer.Open = append(f.answer.Open, Open{First: first, Last: last, Suspects: upTo(first, last), Why: why})
		}
	case j.Proven && last == first+1:
		f.answer.Steps = append(f.answer.Steps, Step{last, j, m.steps(first, last)})
	case j.Proven:
		_, err = f.search(ctx, first, last, m)
	}
	return err
}

// beyond reports whether an interval says that something differs, by what is not the same.
func (f *finder) beyond(lo, hi float64) bool {
	return (lo > 0 || hi < 0) && max(-lo, hi) > f.Margin
}

// amount writes a level for people.
func (f *finder) amount(level float64) string {
	if f.Exact {
		return fmt.Sprintf("%+.4g", level)
	}
	return fmt.Sprintf("%+.2f %%", 100*math.Expm1(level))
}

// account holds what was found against the ends of the whole, of which h was the search: what
// significantly more differs is open, though no range of it was proven to. Steps that are too
// small to be proven one by one may add up to that.
func (h *hunt) account() {
	if len(h.answer.Steps) == 0 || len(h.answer.Open) > 0 {
		return
	}
	ends, err := h.Step()
	left, squares := ends, err*err+difference*h.shared/float64(len(h.levels))
	unknown := slices.DeleteFunc(upTo(h.first, h.last), h.isSame)
	for _, s := range h.answer.Steps {
		proof := levelOf(s.levels)
		left -= proof.above
		squares += difference * h.variance(proof, 1/difference, h.shared, 0)
		if !h.Exact {
			squares += alike * alike * proof.above * proof.above
		}
		unknown = slices.DeleteFunc(unknown, func(p int) bool { return p == s.Position })
	}
	half := math.Sqrt(2*squares) * math.Erfinv(1-h.Alpha/2)
	if !h.beyond(left-half, left+half) {
		return
	}
	if len(unknown) == 0 {
		unknown = upTo(h.first, h.last)
	}
	why := fmt.Sprintf("both ends differ by %s, and what was found by %s together: %s (%s to %s) is left, of which no range was proven to differ", h.amount(ends), h.amount(ends-left), h.amount(left), h.amount(left-half), h.amount(left+half))
	h.answer.Open = append(h.answer.Open, Open{First: unknown[0] - 1, Last: unknown[len(unknown)-1], Suspects: unknown, Why: why})
}

// isSame reports whether a version lies in a range that was seen to be the same.
func (f *finder) isSame(position int) bool {
	return slices.ContainsFunc(f.same, func(r [2]int) bool { return position > r[0] && position <= r[1] })
}

// rangeBlocks are those in which a part of the whole is compared. Counts may vary by what the
// runtime does beside the program, and are compared by their signs then: so many prove a
// difference at the level of the next proof.
func (f *finder) rangeBlocks() int {
	if !f.Exact {
		return f.Blocks
	}
	next := f.level() / 2
	return max(f.Blocks, leastProofCounts, 1+int(math.Ceil(-math.Log2(next))))
}

// leastProofCounts are how many blocks a proof of counts has at least.
const leastProofCounts = 10

// level is that of the latest proof: a half of what is left, so that all that there may be
// add up to Alpha.
func (f *finder) level() float64 { return f.Alpha * math.Pow(0.5, float64(f.proofs)) }

// upTo are the positions after first up to last.
func upTo(first, last int) (all []int) {
	for p := first + 1; p <= last; p++ {
		all = append(all, p)
	}
	return all
}

// proofPositions are those that the proof of a suspect measures: it and its parent, and if
// they are others both ends of the range.
func (h *hunt) proofPositions(parent, suspect int) []int {
	all := []int{parent, suspect}
	for _, end := range [...]int{h.first, h.last} {
		if !slices.Contains(all, end) {
			all = append(all, end)
		}
	}
	return all
}

// prove compares a suspect with the version before it, in fresh blocks. If one of them
// cannot be measured, it is the nearest that can, and what is proven is that it lies
// between.
func (h *hunt) prove(ctx context.Context, suspect int) (done bool, err error) {
	parent, err := h.nearest(ctx, suspect-1, -1)
	if err != nil {
		return false, err
	}
	if suspect, err = h.nearest(ctx, suspect, 1); err != nil {
		return false, err
	}
	positions, blocks := h.proofPositions(parent, suspect), h.proofBlocks()
	for blocks > h.Options.Blocks && h.lab.Left() < h.lab.Cost(positions, blocks) {
		blocks-- // fewer may do
	}
	if h.lab.Left() < h.lab.Cost(positions, blocks) {
		h.timeUp()
		return true, nil
	}
	h.Report(Event{Kind: EventProof, Position: suspect, Last: parent, Blocks: blocks})
	m, err := h.measure(ctx, Measurement{Positions: positions, Blocks: blocks, Proof: true})
	if err != nil {
		return false, err
	}
	if err := m.whole(positions...); err != nil {
		return false, err
	}
	h.proofs++
	h.finder.proofs++
	j, err := m.Compare(parent, suspect, h.level())
	if err != nil {
		return false, err
	}
	h.Report(Event{Kind: EventProved, Position: suspect, Last: parent, Compared: j})
	switch {
	case j.Proven && suspect == parent+1:
		h.answer.Steps = append(h.answer.Steps, Step{suspect, j, m.steps(parent, suspect)})
	case j.Proven:
		h.answer.Open = append(h.answer.Open, Open{parent, suspect, upTo(parent, suspect), true, "what lies between cannot be measured", &j})
	case h.proofs == mostProofs:
		h.open(fmt.Sprintf("%d proofs were tried, and none of them succeeded", mostProofs), nil)
		return true, nil
	default: // two visits more: they lead elsewhere, or to another proof in fresh blocks
		for _, p := range [...]int{parent, suspect} {
			if p > h.first && p < h.last {
				h.take(m, p)
			}
		}
		if h.need = j.Need; h.need > mostProofBlocks {
			h.need = 0 // one unlucky layout may be the reason, which others do not have
		}
		if s, p := h.Culprit(); j.Same && p >= h.Options.Suspects && h.first+s == suspect {
			h.open("it is where both ends' levels meet, and what it changes is less than the margin", &j)
			return true, nil
		}
		return false, nil
	}
	return true, h.others(ctx, m, parent, suspect)
}

// others searches what is left before and after a step that is proven, if that was seen to
// differ in the same measurement.
func (h *hunt) others(ctx context.Context, m *Measured, parent, suspect int) error {
	for _, r := range [...][2]int{{h.first, parent}, {suspect, h.last}} {
		if r[0] == r[1] {
			continue
		}
		j, err := m.Compare(r[0], r[1], h.Alpha)
		if err != nil {
			return err
		}
		if j.Same {
			h.same = append(h.same, r)
		}
		if !j.Proven {
			continue
		}
		h.Report(Event{Kind: EventRest, Position: r[0], Last: r[1], Compared: j})
		if err := h.rest(ctx, r[0], r[1], m); err != nil {
			return err
		}
	}
	return nil
}

// narrow ends a search in which no visit can tell more, since what is left cannot be
// measured: it proves between which versions the step lies.
func (h *hunt) narrow(ctx context.Context) (done bool, err error) {
	all := h.suspects()
	parent, err := h.nearest(ctx, all[0]-1, -1)
	if err != nil {
		return false, err
	}
	suspect, err := h.nearest(ctx, all[len(all)-1], 1)
	if err != nil {
		return false, err
	}
	positions := h.proofPositions(parent, suspect)
	if !h.fits(h.lab.Cost(positions, h.Options.Blocks)) {
		h.open("what lies between cannot be measured", nil)
		return true, nil
	}
	for !done && err == nil {
		done, err = h.prove(ctx, suspect)
	}
	return true, err
}

// nearest returns the nearest position from p on, in steps of by, that can be measured. The
// ends of the range can. One that is not likely to build is not tried.
func (h *hunt) nearest(ctx context.Context, p, by int) (int, error) {
	for ; p > h.first && p < h.last; p += by {
		if h.excluded[p-h.first-1] || h.chance(p-h.first-1) < unlikely {
			continue
		}
		b, err := h.build(ctx, p)
		if err != nil {
			return p, err
		}
		if h.know(p, b); b.Problem == "" {
			break
		}
	}
	return p, nil
}

// unlikely is the chance of building below which the next version is as good.
const unlikely = 0.3

// proofBlocks is how many blocks prove a step of this height with little doubt: a block of
// a difference scatters by the spread times √(1.5/1.375), and four standard errors more
// than the critical value of about three are enough. A proof that failed may have told that it
// takes more.
func (h *hunt) proofBlocks() int {
	if h.Exact {
		return h.rangeBlocks()
	}
	step, _ := h.Step()
	n := h.spread.variance * 1.5 / 1.375 * 36 / (step * step)
	return min(max(h.Options.Blocks, int(math.Ceil(n)), h.need), mostProofBlocks)
}

// mostProofBlocks bounds the blocks of a proof: more take too long.
const mostProofBlocks = 48

func mean(values []float64) float64 {
	m, _ := moments(values)
	return m
}
