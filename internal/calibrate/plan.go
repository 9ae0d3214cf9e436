package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// How a calibration measures, if it is not told otherwise. A trial has the ten
// blocks whose exact test has a level of 4.9 %, closest to 5 % of all small
// numbers of blocks, and each block another layout.
const (
	CalibrationBlocks  = 10
	CalibrationLayouts = 10
	CalibrationRounds  = 50
	CalibrationSlice   = session.SharpSlice
)

// CalibrationSlows are the injected slow-downs, if it is not told otherwise.
var CalibrationSlows = []float64{0.01, 0.02, 0.05, 0.10}

// Calibrate makes p, which has Rounds and Slice, the plan of a calibration: trials
// of so many blocks, and in each block each of the cases, a control of it, and a
// copy slowed by each of slows. So each case is a row, whose columns are slow-downs:
// what a report compares, but that the truth is known.
func Calibrate(p *record.Plan, cases []record.Case, slows []float64, blocks, trials int) {
	p.Mode, p.Col, p.Control = record.ModeTurns, record.SideKey, true
	p.Trial, p.Blocks = blocks, blocks*trials
	p.Cases = nil
	for _, c := range cases {
		for _, slow := range append([]float64{0}, slows...) {
			c.Slow, c.Side = slow, strconv.FormatFloat(slow, 'g', -1, 64)
			p.Cases = append(p.Cases, c)
		}
	}
}

// CalibrateFor is Calibrate with as many trials as take about d, at least one.
func CalibrateFor(p *record.Plan, cases []record.Case, slows []float64, blocks int, d time.Duration) {
	Calibrate(p, cases, slows, blocks, 1)
	trials := max(1, int(d/max(1, session.NewForecast(p, nil).Left())))
	Calibrate(p, cases, slows, blocks, trials)
}

// CheckCalibration returns an error if a calibration cannot be so.
func CheckCalibration(slows []float64, blocks, trials int) error {
	switch {
	case blocks < record.LeastBlocks:
		return fmt.Errorf("--blocks is %d; a trial of fewer than %d can find nothing", blocks, record.LeastBlocks)
	case trials < 1:
		return fmt.Errorf("--trials is %d; it must be at least 1", trials)
	case len(slows) == 0:
		return errors.New("--slow is empty; it lists parts, such as 0.02,0.05")
	}
	for i, slow := range slows {
		if !(slow > 0 && slow <= 1) {
			return fmt.Errorf("--slow %v: it is a part of the time, more than 0 and at most 1: 0.02 is 2 %%", slow)
		}
		if slices.Contains(slows[:i], slow) {
			return fmt.Errorf("--slow has %v twice", slow)
		}
	}
	return nil
}

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
