package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

const (
	// proofsPerYear is how many comparisons of suspected steps a machine has in a year. Each
	// may spend one part of so many of the level, so that the chance that any of them
	// proves what is not there is at most the level, however often one looks.
	proofsPerYear = 50
	year          = 365 * 24 * time.Hour

	// ProofBlocks is how many blocks such a comparison has, in ProofLayouts code layouts:
	// with half of them a step of 2 % was proven in six of ten cases where runs of twelve
	// blocks suspect it in all.
	ProofBlocks  = 48
	ProofLayouts = 24
)

// A Proof is what a comparison of both sides of a step says.
type Proof struct {
	Path          string // of its results
	Ratio, Lo, Hi float64
	Verdict       compare.Verdict
	Level         float64 // of the comparison
}

// ProofSetting is what stands in the results of a comparison that is measured for a
// suspicion and judged at level.
func ProofSetting(level float64) record.Setting {
	return record.Setting{Key: record.ProvesKey, Values: []string{"history level=" + strconv.FormatFloat(level, 'g', -1, 64)}}
}

// ProofLevel returns the level of the next comparison of a suspected step of a machine, and
// how many are left of those of the year that ends now.
func (h *History) ProofLevel(machine string, now time.Time) (level float64, left int) {
	left = proofsPerYear
	for _, r := range h.Runs {
		if r.Machine == machine && r.proves != "" && now.Sub(r.Started) < year {
			left--
		}
	}
	return h.Alpha / proofsPerYear, left
}

// readProofs takes in what comparisons say that were measured for suspicions.
func (h *History) readProofs() {
	for i := range h.Runs {
		r := &h.Runs[i]
		if r.proves == "" {
			continue
		}
		fields, err := record.ParseFields(strings.TrimPrefix(r.proves, "history"))
		level, bad := strconv.ParseFloat(fields["level"], 64)
		if err != nil || bad != nil || !(level > 0 && level < 1) {
			h.Notes = append(h.Notes, fmt.Sprintf("%s proves nothing: %s: %s", r.Path, record.ProvesKey, r.proves))
			continue
		}
		c, err := r.compared(level)
		if err != nil {
			h.Notes = append(h.Notes, fmt.Sprintf("%s proves nothing: %v", r.Path, err))
			continue
		}
		h.takeProof(r, c, level)
	}
}

// takeProof takes in what a comparison says of each benchmark.
func (h *History) takeProof(r *Run, c *compare.Comparison, level float64) {
	if len(c.Tables) == 0 || c.Col != record.SideKey || r.Old == "" || r.Dirty {
		return
	}
	names := r.names(c.Col)
	for _, row := range c.Tables[0].Rows {
		for i, cell := range row.Cells {
			b, known := names[place{row.Name, row.Pkg, c.Tables[0].Cols[i].Name}]
			if !known || cell.Vs == nil {
				continue
			}
			proof := &Proof{Path: r.Path, Ratio: cell.Vs.Ratio, Lo: cell.Vs.Lo, Hi: cell.Vs.Hi, Verdict: cell.Verdict, Level: level}
			for _, s := range h.Steps() {
				if s.Series.Machine == r.Machine && s.Series.Pkg == b.pkg && s.Series.Name == b.name && h.spans(s, r.Old, r.Commit) {
					s.Step.take(proof)
				}
			}
		}
	}
}

// spans reports whether a step lies between two commits: the one was measured before it, and
// the other behind it, and before the next one; of a drift
// that the one is of its first quarter, and the other of its second half: it goes on with each run.
func (h *History) spans(s Suspicion, old, now string) bool {
	before, after := false, false
	if first, long := s.Step.Before, s.Step.Hi-s.Step.Before; s.Step.Drift {
		for i := first; i <= s.Step.Hi; i++ {
			commit := h.Runs[s.Series.Points[i].Run].Commit
			before = before || i <= first+long/4 && commit == old
			after = after || i >= first+long/2 && commit == now
		}
		return before && after
	}
	from, to := s.Piece.First, s.Piece.End
	for _, other := range s.Piece.Steps {
		if other.At < s.Step.At {
			from = max(from, other.At)
		} else if other.At > s.Step.At {
			to = min(to, other.At)
		}
	}
	for i := from; i < to; i++ {
		commit := h.Runs[s.Series.Points[i].Run].Commit
		before = before || i < s.Step.At && commit == old
		after = after || i >= s.Step.At && commit == now
	}
	return before && after
}

// take takes in what a comparison of both sides says. What is proven stays so.
func (s *Step) take(p *Proof) {
	if s.State == Proven {
		return
	}
	s.Proof = p
	agrees := math.Log(p.Ratio)*s.Log > 0
	switch {
	case p.Verdict.Proven() && agrees:
		s.State = Proven
	case p.Verdict.Proven(), p.Verdict == compare.Same:
		s.State = Refuted
	default:
		s.State = Undecided
	}
}

// A Request is a comparison that would prove suspected steps: those between the same
// commits of one package are measured together.
type Request struct {
	Machine, Pkg, Old, New string
	Cases                  []record.Case // without a side
	Largest                float64       // of the steps, as the logarithm of a ratio
}

// Pattern returns what --bench takes for the benchmarks of the request.
func (r Request) Pattern() string {
	patterns := make([]string, len(r.Cases))
	for i, c := range r.Cases {
		patterns[i] = c.Pattern()
	}
	return strings.Join(patterns, "|")
}

// Requests returns what there is to prove, the largest steps first. Of benchmarks that differ
// in GOMAXPROCS only, one is asked for.
func (h *History) Requests() (all []Request) {
	for _, s := range h.Steps() {
		if s.Step.State != Suspected || s.Step.Unprovable != "" {
			continue
		}
		at := slices.IndexFunc(all, func(r Request) bool {
			return r.Machine == s.Series.Machine && r.Pkg == s.Series.Pkg && r.Old == s.Step.Old && r.New == s.Step.New
		})
		if at < 0 {
			at = len(all)
			all = append(all, Request{Machine: s.Series.Machine, Pkg: s.Series.Pkg, Old: s.Step.Old, New: s.Step.New})
		}
		r := &all[at]
		name, _ := compare.WithoutProcs(s.Series.Name)
		if c := (record.Case{Pkg: r.Pkg, Name: record.ResultMark + name}); !slices.Contains(r.Cases, c) {
			r.Cases = append(r.Cases, c)
		}
		r.Largest = max(r.Largest, math.Abs(s.Step.Log))
	}
	slices.SortStableFunc(all, func(a, b Request) int { return -cmp.Compare(a.Largest, b.Largest) })
	return all
}
