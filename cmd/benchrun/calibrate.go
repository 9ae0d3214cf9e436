package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/report"
)

// calibrationFormats are the values of calibrate's --format.
var calibrationFormats = []string{"text", "md", "json"}

// quickCalibration is how long calibrate --quick measures, about.
const quickCalibration = 2 * time.Minute

// calibrationBench is what is calibrated in a checkout of dyno: work of several kinds,
// because they differ in what disturbs them, driven in each of the three ways, because
// those differ in what they see.
var calibrationBench = strings.Join([]string{
	"^BenchmarkActor$/^workload=pingpong$/^impl=workstealing$", // two that wait for one another
	"^BenchmarkActor$/^workload=count$/^impl=workstealing$",    // a stream of messages
	"^BenchmarkTask$/^workload=matmul$/^impl=serial$",          // processor time and little else
	"^BenchmarkActor$/^workload=fanin$/^impl=lockbased$",       // a lock that many want
	"^BenchmarkActor$/^workload=forkjoin$/^impl=workstealing$", // garbage
	// And benchmarks as others write them, each with b.N and with b.Loop.
	"^BenchmarkControlHash", // processor time
	"^BenchmarkControlJSON", // garbage
	"^BenchmarkControlLock", // a contended lock
}, "|")

// calibrationPackages have the benchmarks of calibrationBench.
var calibrationPackages = []string{defaultPackages, module + "/internal/truth/plants"}

// calibrateConfig are the flags that only calibrate has.
type calibrateConfig struct {
	slows  []float64
	trials int
	time   time.Duration // that measuring may take, about, if trials is 0
}

// plan makes p the plan of a calibration of cases. The number of trials is what
// fits into the time that there is, at least one.
func (c *calibrateConfig) plan(p *record.Plan, cases []record.Case, blocks int) {
	trials := c.trials
	if trials == 0 {
		calibrate.Calibrate(p, cases, c.slows, blocks, 1)
		trials = max(1, int(c.time/max(1, session.NewForecast(p, nil).Left())))
	}
	calibrate.Calibrate(p, cases, c.slows, blocks, trials)
}

func newCalibrateCmd() *cobra.Command {
	var (
		c      = measureConfig{mode: record.ModeTurns, control: true, time: "100ms"} // of which the last is for processes alone
		own    calibrateConfig
		suite  truthConfig
		truth  bool
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
			if err := oneOf("--format", format, calibrationFormats); err != nil {
				return err
			}
			if err := checkTruth(cmd, truth, suite); err != nil {
				return err
			}
			if from {
				if flag := firstChanged(cmd, "bench", "blocks", "cpu", "for", "idle", "layouts", "machine", "out", "pairs", "parts", "quick", "resume", "seed", "slice", "slow", "time", "timeout", "trials"); flag != "" {
					return fmt.Errorf("--%s is for measuring, and with --from nothing is measured", flag)
				}
				if len(args) == 0 {
					return errors.New("--from needs a file that benchrun calibrate has written, or several")
				}
				if truth {
					if cmd.Flags().Changed("rounds") {
						return errors.New("--rounds is for measuring, and with --truth --from nothing is measured")
					}
					return showTruth(cmd, args, format, "")
				}
				var o calibrate.Options
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
			c.cpu = uniqueSorted(c.cpu)
			if truth {
				if cmd.Flags().Changed("for") {
					suite.all = own.time
				}
				return runTruth(cmd, c, suite, args, format)
			}
			if err := calibrate.CheckCalibration(own.slows, c.blocks, max(own.trials, 1)); err != nil {
				return err
			}
			if own.trials < 0 || own.trials == 0 && cmd.Flags().Changed("trials") {
				return fmt.Errorf("--trials is %d; it must be at least 1", own.trials)
			}
			c.packages, c.calibrate = args, &own
			if c.resume == "" {
				c.packages = packagesOr(cmd.Context(), args)
				if c.bench == "" && len(args) == 0 && inDyno(cmd.Context()) {
					c.bench, c.packages = calibrationBench, calibrationPackages
				}
			}
			if c.bench == "" {
				c.bench = "."
			}
			path, err := measure(cmd, c, cmd.Flags().Changed)
			if path == "" {
				return err
			}
			if shown := showCalibration(cmd, []string{path}, calibrate.Options{}, format, calibrate.CalibrationPath(path)); err == nil {
				err = shown
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&c.bench, "bench", "b", "", "measure only benchmarks that match this `pattern`, as go test -bench has it")
	f.Float64SliceVar(&own.slows, "slow", calibrate.CalibrationSlows, "slow copies down by these `parts` of their time: 0.02 is 2 %")
	f.IntVar(&own.trials, "trials", 0, "measure `n` trials (default: as many as fit into the time)")
	f.DurationVar(&own.time, "for", 10*time.Minute, "measure as many trials as take about this `duration`, at least one; with --truth, all parts take it together")
	f.BoolVar(&quick, "quick", false, "the same as --for "+shortDuration(quickCalibration))
	f.IntVarP(&c.blocks, "blocks", "n", calibrate.CalibrationBlocks, "`n` blocks a trial; with --truth, those of ab, which has its own default")
	f.IntVar(&c.rounds, "rounds", calibrate.CalibrationRounds, "`n` rounds a block; with --from, use so many of each; with --truth, those of ab, which has its own default")
	f.DurationVar(&c.slice, "slice", calibrate.CalibrationSlice, "how long a slice takes: a `duration`; with --truth, that of ab, which has its own default")
	f.IntVar(&c.layouts, "layouts", calibrate.CalibrationLayouts, "link each program in `n` layouts, which blocks take in turn; with --truth, those of ab, and of\nthe pairs, of which by default each has its own")
	f.IntSliceVar(&c.cpu, "cpu", nil, "measure with these `values` of GOMAXPROCS (default: what this machine has)")
	f.Uint64Var(&c.seed, "seed", 0, "the `seed` of the order, to repeat an earlier one (default: random, and on record)")
	f.DurationVar(&c.timeout, "timeout", 0, "end a process that does not answer for this `duration` (default: a minute)")
	f.StringVarP(&c.out, "out", "o", "", "write the results into this new `file` (default: results/<machine>/calibration-<time>-<commit>.bench)")
	f.StringVar(&c.machine, "machine", "", "the `name` of this machine in results (default: CPU model, cores and platform)")
	f.StringVar(&c.resume, "resume", "", "go on with the calibration whose results are in this `file`")
	f.StringVar(&c.idle, "idle", "warn", "what to do if the machine is busy (`warn|wait|off`): say so, wait until it is not, or do not look")
	f.BoolVar(&truth, "truth", false, "measure changes of which plain go test finds out the truth, and what is said of them")
	f.IntVar(&suite.pairs, "pairs", truthPairs, "with --truth: measure `n` pairs of processes of each benchmark (or as many as --for leaves time for)")
	f.StringSliceVar(&suite.parts, "parts", calibrate.TruthParts, "with --truth: measure only these `parts` of the suite")
	f.StringVar(&suite.time, "time", calibrate.TruthTime, "with --truth: how long a plain process measures: a `duration`, or a number of iterations such as 1000x")
	f.BoolVar(&from, "from", false, "measure nothing: the arguments are results files of earlier calibrations, or of benchrun ab of versions that do the same")
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
func showCalibration(cmd *cobra.Command, files []string, o calibrate.Options, format, path string) error {
	c, err := calibrate.Read(files, o)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch format {
	case "md":
		err = report.Calibration(c).Markdown(out, report.MarkdownOptions{})
	case "json":
		err = report.CalibrationJSON(out, c)
	default:
		err = report.Calibration(c).Text(out, report.TextOptions{})
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
