package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
)

// calibrationFormats are the values of calibrate's --format.
var calibrationFormats = []string{"text", "md", "json"}

// quickCalibration is how long calibrate --quick measures, about.
const quickCalibration = 2 * time.Minute

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	runner.Config

	copies runner.Calibration
	quick  bool
	from   bool
	format string

	truth bool
	suite runner.Truth // without the Config; its Time is that of --time
}

func newCalibrateCmd() *cobra.Command {
	c := &calibrateFlags{Config: runner.Config{
		Blocks: calibrate.CalibrationBlocks, Idle: runner.IdleWarn, Time: "100ms", // of processes alone, of which there are none
		Mode: record.ModeTurns, Control: true, Rounds: calibrate.CalibrationRounds, Slice: calibrate.CalibrationSlice, Layouts: calibrate.CalibrationLayouts,
	}}
	cmd := &cobra.Command{
		Use:   "calibrate [packages]",
		Short: "Find out how far the verdicts can be trusted on this machine",
		Long: `Calibrate measures what is known: programs against themselves, and against
copies that are slowed on purpose by 1, 2, 5 and 10 percent. All of it goes through
what every run and report goes through. Then it counts how often the first are
called different, how often the others are found, and how often intervals have
the true ratio; and what benchstat's test would have said of the same data.

In a checkout of dyno it measures five benchmarks that know of being driven: two
actors that play ping-pong, a stream of messages, work of the processor only, a
contended lock, and garbage; and three kinds of work with b.N and with b.Loop.
Elsewhere it measures those of the package in the working directory, or of the
packages that are named; --bench chooses. They must be such as can be driven.

A trial is what a report has: blocks of fresh processes that take turns. More
trials say more; by default there are as many as fit into ten minutes.

The raw results are appended to a file in the Go benchmark format, and what follows
from them is written beside it as JSON. Reports of results in the same folder,
of the same machine, quote the latest. With --from nothing is measured: it computes
the same from files, of several pooled. Files of benchrun ab count as A/A there: give
those of versions that do the same, such as two that differ in a comment.

With --truth it measures changes of kinds that a Go programmer makes, of which plain
go test finds out the truth: fresh processes of old and new that alternate. Beside
it stands what benchrun ab says of them, and what benchstat says of ten values of the
old version and then ten of the new one. Without arguments the changes are those of
dyno's own suite; otherwise versions and packages are named as for benchrun ab.

The first Ctrl-C ends it after the running row, the second at once. What was measured
is kept: --from says what it shows, and --resume goes on.`,
		Example: `  benchrun calibrate --quick
  benchrun calibrate --for 25m --idle wait
  benchrun calibrate ./mypackage --bench Parse --slow 0.02,0.05
  benchrun calibrate --from results/my-machine/calibration-*.bench
  benchrun calibrate --truth --for 1h
  benchrun calibrate --truth v1.2.0 v1.3.0 ./codec
  benchrun calibrate --truth --from results/my-machine/truth-*.bench`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Given = cmd.Flags().Changed
			if err := c.check(cmd); err != nil {
				return err
			}
			switch {
			case c.from && len(args) == 0:
				return errors.New("--from needs a file that benchrun calibrate has written, or several")
			case c.from && c.truth:
				return showTruth(cmd, args, c.format, "")
			case c.from:
				return c.read(cmd, args)
			case c.truth:
				return c.measureTruth(cmd, args)
			}
			return c.measure(cmd, args)
		},
	}
	c.register(cmd)
	return cmd
}

// register adds the flags to cmd.
func (c *calibrateFlags) register(cmd *cobra.Command) {
	usage := map[string]string{
		"blocks":  "`n` blocks a trial; with --truth, those of ab, which has its own default",
		"rounds":  "`n` rounds a block; with --from, use so many of each; with --truth, those of ab, which has its own default",
		"slice":   "how long a slice takes: a `duration`; with --truth, that of ab, which has its own default",
		"layouts": "link each program in `n` layouts, which blocks take in turn; with --truth, those of ab, and of\nthe pairs, of which by default each has its own",
		"timeout": "end a process that does not answer for this `duration` (default: a minute)",
		"out":     "write the results into this new `file` (default: results/<machine>/calibration-<time>-<commit>.bench)",
		"resume":  "go on with the calibration whose results are in this `file`",
	}
	f := cmd.Flags()
	measuring(cmd, &c.Config, usage, "bench,b")
	f.Float64SliceVar(&c.copies.Slows, "slow", calibrate.CalibrationSlows, "slow copies down by these `parts` of their time: 0.02 is 2 %")
	f.IntVar(&c.copies.Trials, "trials", 0, "measure `n` trials (default: as many as fit into the time)")
	f.DurationVar(&c.copies.For, "for", 10*time.Minute, "measure as many trials as take about this `duration`, at least one; with --truth, all parts take it together")
	f.BoolVar(&c.quick, "quick", false, "the same as --for "+shortDuration(quickCalibration))
	measuring(cmd, &c.Config, usage, "blocks,n", "rounds", "slice", "layouts", "cpu", "seed", "timeout", "out,o", "machine", "resume", "idle")
	f.BoolVar(&c.truth, "truth", false, "measure changes of which plain go test finds out the truth, and what is said of them")
	f.IntVar(&c.suite.Pairs, "pairs", truthPairs, "with --truth: measure `n` pairs of processes of each benchmark (or as many as --for leaves time for)")
	f.StringSliceVar(&c.suite.Parts, "parts", calibrate.TruthParts, "with --truth: measure only these `parts` of the suite")
	f.StringVar(&c.suite.Time, "time", calibrate.TruthTime, "with --truth: how long a plain process measures: a `duration`, or a number of iterations such as 1000x")
	f.BoolVar(&c.from, "from", false, "measure nothing: the arguments are results files of earlier calibrations, or of benchrun ab of versions that do the same")
	f.StringVar(&c.format, "format", "text", "how to print: "+strings.Join(calibrationFormats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(calibrationFormats, cobra.ShellCompDirectiveNoFileComp))
}

// check returns an error for flags that make no sense, before anything takes time.
func (c *calibrateFlags) check(cmd *cobra.Command) error {
	if err := oneOf("--format", c.format, calibrationFormats); err != nil {
		return err
	}
	if err := c.checkTruth(cmd); err != nil {
		return err
	}
	if c.from {
		if flag := firstChanged(cmd, "bench", "blocks", "cpu", "for", "idle", "layouts", "machine", "out", "pairs", "parts", "quick", "resume", "seed", "slice", "slow", "time", "timeout", "trials"); flag != "" {
			return fmt.Errorf("--%s is for measuring, and with --from nothing is measured", flag)
		}
		if c.truth && c.Given("rounds") {
			return errors.New("--rounds is for measuring, and with --truth --from nothing is measured")
		}
		return nil
	}
	if c.quick {
		if flag := firstChanged(cmd, "for", "trials"); flag != "" {
			return fmt.Errorf("--quick and --%s both say how long it takes", flag)
		}
		c.copies.For = quickCalibration
	}
	if c.copies.For <= 0 {
		return fmt.Errorf("--for is %v; it must be more than zero", c.copies.For)
	}
	if n := c.copies.Trials; n < 0 || n == 0 && c.Given("trials") {
		return fmt.Errorf("--trials is %d; it must be at least 1", n)
	}
	return nil
}

// read shows earlier calibrations.
func (c *calibrateFlags) read(cmd *cobra.Command, files []string) error {
	var o calibrate.Options
	if c.Given("rounds") {
		if o.Rounds = c.Rounds; o.Rounds < 1 {
			return fmt.Errorf("--rounds is %d; it must be at least 1", o.Rounds)
		}
	}
	return showCalibration(cmd, files, o, c.format, "")
}

// measure calibrates, or goes on with it, and shows what came of it.
func (c *calibrateFlags) measure(cmd *cobra.Command, packages []string) error {
	c.Packages = packages
	if c.Resume == "" {
		c.Packages = packagesOr(cmd.Context(), packages)
		if c.Bench == "" && len(packages) == 0 && inDyno(cmd.Context()) {
			c.Bench, c.Packages = calibrate.OwnBench, calibrate.OwnPackages
		}
	}
	if c.Bench == "" {
		c.Bench = "."
	}
	path, err := runner.New(consoleOf(cmd), "benchrun calibrate").Packages(cmd.Context(), c.Config, &c.copies)
	if path == "" {
		return err
	}
	if shown := showCalibration(cmd, []string{path}, calibrate.Options{}, c.format, calibrate.CalibrationPath(path)); err == nil {
		err = shown
	}
	return err
}

// shortDuration writes a duration as people do: "2m" for 2m0s.
func shortDuration(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }
