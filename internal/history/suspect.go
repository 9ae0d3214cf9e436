package history

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/stats"
)

// A Step is where a series changed, as far as the history can tell.
type Step struct {
	At    int // index of the first point that is different
	Ended int // index of the first point after it that is as before; 0 if it lasts

	// Lo and Hi bound At with 95 % confidence, and Before is the point before Lo: what changed
	// is in Hi and not in Before.
	Before, Lo, Hi int

	// Drift says that it is no step: levels went that way little by little, from At to Hi.
	Drift bool

	Log      float64 // by how much the logarithm of the ratio changed, by this step alone
	P        float64 // of its part of the piece alone, at any place
	Adjusted float64 // corrected for all pieces of the machine: at most History.Alpha

	// Old and New are commits, clean ones, between which it lies: of the points Before and
	// Hi. Unprovable says why no two commits can be compared; "" if they can.
	Old, New   string
	Unprovable string
	With       []string // circumstances that changed between these points, "kernel: a → b"

	State State
	Proof *Proof // what decided State; nil if that is Suspected
}

// A State is what is known of a step.
type State string

// The states.
const (
	Suspected State = "suspected" // by the history alone
	Proven    State = "proven"    // by a comparison of both sides, or by two counts of instructions
	Refuted   State = "refuted"   // a comparison of both sides shows nothing of the kind
	Undecided State = "undecided" // a comparison of both sides could not tell
	Explained State = "explained" // something else changed with it, of which no comparison could part it
)

// permutations is how many orders a step is held against. They tell whether a part of a piece
// has one if it is looked at alone, however its points scatter. For all parts of a machine
// together there are too few orders of a dozen points, as a quarter of weekly runs has; that is
// told by Student's test.
const permutations = 999

// A span is points of a piece in which a step is looked for.
type span struct {
	piece   *Piece
	series  *Series
	members []int // points
	offset  int   // of the first of them, among the members of the piece
	found   stats.Step
	p       float64 // by both tests
	tested  bool
	split   bool
}

// suspect looks for steps, machine by machine. Where one is found its sides are looked at
// again, and belong to the family of tests like all others.
func (h *History) suspect() {
	for _, machine := range h.Machines() {
		var spans []*span
		for s, p := range h.pieces(machine) {
			if s.Counted {
				h.proveCounts(s, p)
				continue
			}
			spans = h.consider(spans, &span{piece: p, series: s, members: h.Members(s, *p)})
		}
		adjusted, cuts := h.search(&spans)
		for s, p := range h.pieces(machine) {
			h.fit(s, p, cuts[p])
		}
		h.detectable(machine, stats.HolmLevel(adjusted, h.Alpha))
	}
}

// sureErrors is how many standard errors two counts of instructions have to lie apart for a step
// between them: with six blocks each, by chance in one of ten thousand cases.
const sureErrors = 6

// proveCounts finds the steps of a series of counts. Nothing but the program changes them, so two
// points prove a step that is larger than the margin of counts, and than what their blocks vary by.
func (h *History) proveCounts(s *Series, p *Piece) {
	members := h.Members(s, *p)
	for k := 1; k < len(members); k++ {
		was, is := s.Points[members[k-1]], s.Points[members[k]]
		size, se := is.Log-was.Log, math.Hypot(is.SE, was.SE)
		if math.Abs(size) > math.Log1p(compare.CountMargin) && math.Abs(size) > sureErrors*se {
			step := Step{At: members[k], Before: members[k-1], Lo: members[k], Hi: members[k], Log: size, State: Proven}
			h.circumstances(s, members, &step)
			p.Steps = append(p.Steps, step)
		}
	}
}

// pieces yields the pieces of all series of a machine, each with its series.
func (h *History) pieces(machine string) iter.Seq2[*Series, *Piece] {
	return func(yield func(*Series, *Piece) bool) {
		for i := range h.Series {
			s := &h.Series[i]
			if s.Machine != machine {
				continue
			}
			for k := range s.Pieces {
				if !yield(s, &s.Pieces[k]) {
					return
				}
			}
		}
	}
}

// consider adds a span, if its points could show anything at all. That depends on their
// number alone, so those that could not are no members of the family.
func (h *History) consider(spans []*span, sp *span) []*span {
	if len(sp.members) < LeastPoints(h.Alpha) {
		return spans
	}
	return append(spans, sp)
}

// search tests all spans, splits those in which there is a step, and goes on until there is
// none. It returns the corrected p-values of all, and where pieces were split.
func (h *History) search(spans *[]*span) (adjusted []float64, found map[*Piece][]cut) {
	found = make(map[*Piece][]cut)
	for {
		p := make([]float64, len(*spans))
		for i, sp := range *spans {
			if !sp.tested {
				sp.found, sp.tested = sp.series.sequence(sp.members).Step(permutations), true
				if sp.p = sp.found.Student; sp.found.P > h.Alpha {
					sp.p = max(sp.p, sp.found.P)
				}
			}
			p[i] = sp.p
		}
		adjusted = stats.Holm(p)
		more := false
		for i, sp := range slices.Clone(*spans) {
			if sp.split || adjusted[i] > h.Alpha {
				continue
			}
			sp.split, more = true, true
			ends := []int{0, sp.found.First, sp.found.End, len(sp.members)}
			for k, from := range ends[:3] {
				if from > 0 && from < len(sp.members) {
					found[sp.piece] = append(found[sp.piece], cut{at: sp.offset + from, p: sp.p, adjusted: adjusted[i]})
				}
				part := *sp
				part.members, part.offset, part.tested, part.split = sp.members[from:ends[k+1]], sp.offset+from, false, false
				*spans = h.consider(*spans, &part)
			}
		}
		if !more {
			return adjusted, found
		}
	}
}

// sequence is the points of a series with these indexes.
func (s *Series) sequence(points []int) (q stats.Sequence) {
	for _, i := range points {
		q.D = append(q.D, s.Points[i].Log)
		q.SE = append(q.SE, s.Points[i].SE)
	}
	return q
}

// detectable says of each piece of a machine what would have been suspected at this level.
func (h *History) detectable(machine string, level float64) {
	for s, p := range h.pieces(machine) {
		members := h.Members(s, *p)
		n := len(members)
		p.Noise = s.sequence(members).Noise()
		p.Detectable = stats.DetectableStep(n/2, n-n/2, p.Noise, h.Alpha, level)
	}
}

// Power is how small the steps are that would have been suspected, in the middle of a piece
// and nine times of ten, as logarithms of ratios. Of Pieces those that are Short have too few
// points for any step.
type Power struct {
	Pieces, Short       int
	Seen                int // pieces in which a step of the size that was asked for would have been
	Least, Median, Most float64
}

// Power sums up what could have been seen, and where a step of this size.
func (h *History) Power(size float64) (p Power) {
	var seen []float64
	for i := range h.Series {
		for _, piece := range h.Series[i].Pieces {
			p.Pieces++
			if math.IsInf(piece.Detectable, 1) || math.IsNaN(piece.Detectable) {
				p.Short++
			} else {
				if seen = append(seen, piece.Detectable); piece.Detectable <= size {
					p.Seen++
				}
			}
		}
	}
	if len(seen) > 0 {
		slices.Sort(seen)
		p.Least, p.Median, p.Most = seen[0], stats.Median(seen), seen[len(seen)-1]
	}
	return p
}

// A Suspicion is a step, and where it is.
type Suspicion struct {
	Series *Series
	Piece  *Piece
	Step   *Step
}

// Steps returns all steps, those that need attention first: proven ones, then suspected
// ones, and among them what became slower most first.
func (h *History) Steps() (all []Suspicion) {
	for i := range h.Series {
		s := &h.Series[i]
		for k := range s.Pieces {
			p := &s.Pieces[k]
			for j := range p.Steps {
				all = append(all, Suspicion{s, p, &p.Steps[j]})
			}
		}
	}
	rank := []State{Proven, Suspected, Undecided, Explained, Refuted}
	slices.SortStableFunc(all, func(a, b Suspicion) int {
		return cmp.Or(slices.Index(rank, a.Step.State)-slices.Index(rank, b.Step.State), cmp.Compare(b.Step.Log, a.Step.Log))
	})
	return all
}

// LeastPoints is how many points a piece has to have for a step to be suspected at all, were
// it the only one.
func LeastPoints(alpha float64) int {
	n := stats.LeastSequence
	for math.IsInf(stats.DetectableStep(n/2, n-n/2, 1, alpha, alpha), 1) {
		n++
	}
	return n
}
