package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
