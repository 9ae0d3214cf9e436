package calibrate

import (
	"strings"

	"github.com/dynolab/dyno/internal/record"
)

// TruthKey is the configuration key of the files of a truth suite: it says which of
// its parts a file has.
const TruthKey = "truth"

// The parts of a truth suite.
const (
	// TruthPairs are fresh processes of plain test binaries, old and new alternating:
	// the truth.
	TruthPairs = "pairs"
	// TruthAB is an ordinary comparison by benchrun ab.
	TruthAB = "ab"
	// TruthBenchstat is what people give to benchstat: the old version ten times, and
	// then the new one ten times.
	TruthBenchstat = "benchstat"
)

// TruthParts are the parts, in the order in which they are measured.
var TruthParts = []string{TruthPairs, TruthAB, TruthBenchstat}

const (
	// TruthPrefix begins the names of the files of truth suites.
	TruthPrefix = "truth-"
	// TruthTime is how long a process measures for the truth, and for benchstat: as
	// long as go test does if it is told nothing. In a shorter time a memory that
	// grows has not grown yet.
	TruthTime = "1s"
	// LeastPairs is how many pairs tell anything worth having: with fewer the interval
	// is wider than what is to be found.
	LeastPairs = 6
)

// Pairs makes p, which has Time, the plan of the pairs of a truth suite: in each of n
// blocks, for each case of two sides, a process of one version and directly after it
// one of the other, in random order. Each block is of another code layout if there
// are so many, because what a layout does to a version would be taken for the truth
// about the change.
func Pairs(p *record.Plan, cases []record.Case, n, layouts int) {
	p.Mode, p.Col, p.Cases, p.Blocks, p.Count = "", record.SideKey, cases, n, 0
	p.Layouts = min(n, layouts, record.MaxLayouts)
}

// OneByOne makes p, which has Time, the plan of what people give to benchstat: for
// each case one process that prints ten values, all of the old version first.
func OneByOne(p *record.Plan, cases []record.Case) {
	p.Mode, p.Col, p.Cases, p.Blocks, p.Layouts = "", record.SideKey, cases, 1, 0
	p.Count = countOf
	p.Timeout *= countOf
}

// TruthPath returns the path of a part's file by that of any of the suite: the pairs
// are in name.bench, the others in name-ab.bench and name-benchstat.bench.
func TruthPath(path, part string) string {
	stem := strings.TrimSuffix(path, ".bench")
	for _, other := range TruthParts {
		if s, ok := strings.CutSuffix(stem, "-"+other); ok {
			stem = s
			break
		}
	}
	if part != TruthPairs {
		stem += "-" + part
	}
	return stem + ".bench"
}
