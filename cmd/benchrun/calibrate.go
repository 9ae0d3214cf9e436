package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/runner"
)

// quickCalibration is how long calibrate --quick measures, about.
const quickCalibration = "2m"

// truthPairs is how many pairs calibrate --truth measures by default: enough for an
// interval of about a third of what processes differ by.
const truthPairs = 30

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	runner.Truth // of which the Config and For are also those of slowed copies

	copies             runner.Calibration
	plainTime          string // --time: how long plain processes measure
	quick, from, truth bool
	on                 string
	format             string
}

func newCalibrateCmd() *cobra.Command {
	c := &calibrateFlags{
		Truth:  runner.Truth{Config: runner.CalibrationConfig(), Pairs: truthPairs, Parts: calibrate.TruthParts, For: 10 * time.Minute},
		copies: runner.Calibration{Slows: calibrate.CalibrationSlows},
		format: "text", plainTime: calibrate.TruthTime,
	}
	return newCommand("calibrate", c.run, fields{
		"slow": &c.copies.Slows, "trials": &c.copies.Trials, "for": &c.For, "quick": &c.quick, "format": &c.format, "from": &c.from,
		"truth": &c.truth, "on": &c.on, "pairs": &c.Pairs, "parts": &c.Parts, "time": &c.plainTime,
	}, configFields(&c.Config))
}

// run calibrates, or goes on with it, and shows what came of it, or of earlier ones.
func (c *calibrateFlags) run(cmd *cobra.Command, args []string) error {
	c.Given = cmd.Flags().Changed
	const nothing = "is for measuring, and with --from nothing is measured"
	if err := refuse(
		cmd,
		rule{c.truth || c.from, []string{"on"}, "is for slowed copies only"},
		rule{!c.truth, []string{"pairs", "parts", "time"}, "is for --truth"},
		rule{c.truth, []string{"quick", "slow", "trials"}, "is for copies that are slowed on purpose, and with --truth there are none"},
		rule{c.truth && c.Given("for"), []string{"pairs"}, "and --for both say how many pairs are measured"},
		rule{c.from, []string{"bench", "blocks", "cpu", "for", "idle", "layouts", "machine", "out", "pairs", "parts", "quick", "resume", "seed", "slice", "slow", "time", "timeout", "trials"}, nothing},
		rule{c.from && c.truth, []string{"rounds"}, "is for measuring, and with --truth --from nothing is measured"},
		rule{c.quick && c.Given("for"), []string{"quick"}, "and --for both say how long it takes"},
		rule{c.quick && c.Given("trials"), []string{"quick"}, "and --trials both say how long it takes"},
	); err != nil {
		return err
	}
	switch {
	case c.from:
		return c.read(cmd, args)
	case c.truth:
		return c.measureTruth(cmd, args)
	}
	return c.measure(cmd, args)
}

// read shows earlier calibrations, or truth suites.
func (c *calibrateFlags) read(cmd *cobra.Command, files []string) error {
	var o calibrate.Options
	switch {
	case len(files) == 0:
		return errors.New("--from needs a file that benchrun calibrate has written, or several")
	case c.truth:
		return showTruth(cmd, files, c.format, "")
	case c.Given("rounds"):
		if o.Rounds = c.Rounds; o.Rounds < 1 {
			return fmt.Errorf("--rounds is %d; it must be at least 1", o.Rounds)
		}
	}
	return showCalibration(cmd, files, o, c.format, "")
}
