package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/report"
)

// calibrationFormats are the values of calibrate's --format.
var calibrationFormats = []string{"text", "md", "json"}

// quickCalibration is how long calibrate --quick measures, about.
const quickCalibration = 2 * time.Minute

// calibrationBench is what is calibrated in a checkout of dyno: work of five kinds,
// because they differ in what disturbs them.
var calibrationBench = strings.Join([]string{
	"^BenchmarkActor$/^workload=pingpong$/^impl=workstealing$", // two that wait for one another
	"^BenchmarkActor$/^workload=count$/^impl=workstealing$",    // a stream of messages
	"^BenchmarkTask$/^workload=matmul$/^impl=serial$",          // processor time and little else
	"^BenchmarkActor$/^workload=fanin$/^impl=lockbased$",       // a lock that many want
	"^BenchmarkActor$/^workload=forkjoin$/^impl=workstealing$", // garbage
}, "|")

// calibrateConfig are the flags that only calibrate has.
type calibrateConfig struct {
	slows  []float64
	trials int
	time   time.Duration // that measuring may take, about, if trials is 0
}

// plan makes p the plan of a calibration of cases. The number of trials is what
// fits into the time that there is, at least one.
func (c *calibrateConfig) plan(p *lab.Plan, cases []lab.Case, blocks int) {
	trials := c.trials
	if trials == 0 {
		p.Calibrate(cases, c.slows, blocks, 1)
		trials = max(1, int(c.time/max(1, lab.NewForecast(p, nil).Left())))
	}
	p.Calibrate(cases, c.slows, blocks, trials)
}

func newCalibrateCmd() *cobra.Command {
	var (
		c      = measureConfig{mode: lab.ModeTurns, control: true, time: "100ms"} // of which the last is for processes alone
		own    calibrateConfig
		from   bool
		quick  bool
		format string
	)
	cmd := &cobra.Command{
		Use:   "calibrate [packages]",
		Short: "Find out how far the verdicts can be trusted on this machine",
		Long: `Calibrate measures what is known: programs against themselves, and against
copies that are slowed on purpose by 1, 2, 5 and 10 percent. All of it goes through
what every run and report goes through. Then it counts how often the first are
called different, how often the others are found, and how often intervals have
the true ratio; and what benchstat's test would have said of the same data.

In a checkout of dyno it measures five benchmarks: two actors that play ping-pong,
a stream of messages, work of the processor only, a contended lock, and garbage.
Elsewhere it measures those of the package in the working directory, or of the
packages that are named; --bench chooses. They must be such as can be driven.

A trial is what a report has: blocks of fresh processes that take turns. More
trials say more; by default there are as many as fit into ten minutes.

The raw results are appended to a file in the Go benchmark format, and what follows
from them is written beside it as JSON. Reports of results in the same folder,
of the same machine, quote the latest. With --from nothing is measured: it computes
the same from files, of several pooled.

The first Ctrl-C ends it after the running row, the second at once. What was measured
is kept: --from says what it shows, and --resume goes on.`,
		Example: `  benchrun calibrate --quick
  benchrun calibrate --for 25m --idle wait
  benchrun calibrate ./mypackage --bench Parse --slow 0.02,0.05
  benchrun calibrate --from results/my-machine/calibration-*.bench`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--format", format, calibrationFormats); err != nil {
				return err
			}
			if from {
				if flag := firstChanged(cmd, "bench", "blocks", "cpu", "for", "idle", "layouts", "machine", "out", "quick", "resume", "seed", "slice", "slow", "timeout", "trials"); flag != "" {
					return fmt.Errorf("--%s is for measuring, and with --from nothing is measured", flag)
				}
				if len(args) == 0 {
					return errors.New("--from needs a file that benchrun calibrate has written, or several")
				}
				var o lab.CalibrateOptions
				if cmd.Flags().Changed("rounds") {
					if o.Rounds = c.rounds; o.Rounds < 1 {
						return fmt.Errorf("--rounds is %d; it must be at least 1", o.Rounds)
					}
				}
				return showCalibration(cmd, args, o, format, "")
			}
			if quick {
				if flag := firstChanged(cmd, "for", "trials"); flag != "" {
					return fmt.Errorf("--quick and --%s both say how long it takes", flag)
				}
				own.time = quickCalibration
			}
			if own.time <= 0 {
				return fmt.Errorf("--for is %v; it must be more than zero", own.time)
			}
			if err := lab.CheckCalibration(own.slows, c.blocks, max(own.trials, 1)); err != nil {
				return err
			}
			if own.trials < 0 || own.trials == 0 && cmd.Flags().Changed("trials") {
				return fmt.Errorf("--trials is %d; it must be at least 1", own.trials)
			}
			c.packages, c.calibrate = args, &own
			if c.resume == "" {
				c.packages = packagesOr(cmd.Context(), args)
				if c.bench == "" && len(args) == 0 && inDyno(cmd.Context()) {
					c.bench = calibrationBench
				}
			}
			if c.bench == "" {
				c.bench = "."
			}
			c.cpu = uniqueSorted(c.cpu)
			path, err := measure(cmd, c, cmd.Flags().Changed)
			if path == "" {
				return err
			}
			if shown := showCalibration(cmd, []string{path}, lab.CalibrateOptions{}, format, lab.CalibrationPath(path)); err == nil {
				err = shown
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.bench, "bench", "", "measure only benchmarks that match this `pattern`, as go test -bench has it")
	f.Float64SliceVar(&own.slows, "slow", lab.CalibrationSlows, "slow copies down by these `parts` of their time: 0.02 is 2 %")
	f.IntVar(&own.trials, "trials", 0, "measure `n` trials (default: as many as fit into the time)")
	f.DurationVar(&own.time, "for", 10*time.Minute, "measure as many trials as take about this `duration`, at least one")
	f.BoolVar(&quick, "quick", false, "the same as --for "+shortDuration(quickCalibration))
	f.IntVar(&c.blocks, "blocks", lab.CalibrationBlocks, "`n` blocks a trial")
	f.IntVar(&c.rounds, "rounds", lab.CalibrationRounds, "`n` rounds a block; with --from, use so many of each")
	f.DurationVar(&c.slice, "slice", lab.CalibrationSlice, "how long a slice takes: a `duration`")
	f.IntVar(&c.layouts, "layouts", lab.CalibrationLayouts, "link each program in `n` layouts, which blocks take in turn")
	f.IntSliceVar(&c.cpu, "cpu", nil, "measure with these `values` of GOMAXPROCS (default: what this machine has)")
	f.Uint64Var(&c.seed, "seed", 0, "the `seed` of the order, to repeat an earlier one (default: random, and on record)")
	f.DurationVar(&c.timeout, "timeout", 0, "end a process that does not answer for this `duration` (default: a minute)")
	f.StringVar(&c.out, "out", "", "write the results into this new `file` (default: results/<machine>/calibration-<time>-<commit>.bench)")
	f.StringVar(&c.machine, "machine", "", "the `name` of this machine in results (default: CPU model, cores and platform)")
	f.StringVar(&c.resume, "resume", "", "go on with the calibration whose results are in this `file`")
	f.StringVar(&c.idle, "idle", "warn", "`what` to do if the machine is busy: warn, wait (until it is not) or off (do not look)")
	f.BoolVar(&from, "from", false, "measure nothing: the arguments are results files of earlier calibrations")
	f.StringVar(&format, "format", "text", "how to print: "+strings.Join(calibrationFormats, ", "))
	_ = cmd.MarkFlagFilename("out", "bench")
	_ = cmd.MarkFlagFilename("resume", "bench")
	_ = cmd.RegisterFlagCompletionFunc("idle", cobra.FixedCompletions([]string{"warn", "wait", "off"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(calibrationFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// shortDuration writes a duration as people do: "2m" for 2m0s.
func shortDuration(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }

// showCalibration computes what the files show and prints it, and writes it as
// JSON to path, if that is not empty.
func showCalibration(cmd *cobra.Command, files []string, o lab.CalibrateOptions, format, path string) error {
	c, err := lab.ReadCalibration(files, o)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch format {
	case "md":
		err = report.CalibrationMarkdown(out, c)
	case "json":
		err = report.CalibrationJSON(out, c)
	default:
		err = report.CalibrationText(out, c)
	}
	if err != nil || path == "" {
		return err
	}
	var b bytes.Buffer
	if err := report.CalibrationJSON(&b, c); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the calibration: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "calibration: %s\nresults: %s\n", path, files[0])
	return nil
}
