package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/report"
)

func newRunCmd() *cobra.Command {
	var c measureConfig
	cmd := &cobra.Command{
		Use:   "run [packages]",
		Short: "Measure benchmarks and keep the results",
		Long: `Run measures the benchmarks of Go packages: of this module or of any package
path that go list resolves. Without packages it measures ./impls in a checkout
of dyno, and the package in the working directory elsewhere. It also measures
test binaries that go test -c has made, --binary, and programs in any language that
speak the driving protocol of docs/driving-protocol.md, --program.

In each block every benchmark has a fresh process. Those that are compared with
one another, because their names differ in /impl only, take turns: their
processes live side by side, and each measures a slice of 5 ms while the others
wait, round after round in random order. The base of each comparison is there
twice, as a control. What cannot be driven so, or is compared with nothing, is
measured in a process of its own for --time, in random order. More blocks say
more; six are the least that can prove a single difference.

Results are appended to a file in the Go benchmark format below results/, synced
row by row. The first Ctrl-C lets the running process finish, or a row if that is
a matter of seconds, and says how to go on; the second ends it at once. A subject
that crashes, hangs or prints nothing leaves a hole that the report shows, and
the rest of the run goes on.

Progress is on standard error; the path of the results is on standard output.

Exit status: 0, also with holes; 2 on an error; 130 if it was interrupted.`,
		Example: `  benchrun run
  benchrun run ./impls --bench '/workload=short' --blocks 20
  benchrun run ./impls --bench '/workload=ring/actors=' --cpu 1,2,4
  benchrun run ./mypackage ./other/... --cpu 1,2,4 --time 50ms
  benchrun run --binary old.test --binary other.test
  benchrun run --program ./bench-c --program ./bench-rust --bench '/impl='
  benchrun run --resume results/my-machine/run.bench`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.packages = append(args, c.files.Marked()...)
			if c.resume == "" && !c.files.Any() {
				c.packages = packagesOr(cmd.Context(), args)
			}
			if err := checkFiles(c.files, cmd.Flags().Changed); err != nil {
				return err
			}
			c.cpu = uniqueSorted(c.cpu)
			path, err := measure(cmd, c, cmd.Flags().Changed)
			if path != "" {
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&c.bench, "bench", "b", ".", "measure only benchmarks that match this `pattern`, as go test -bench has it")
	f.StringArrayVar(&c.files.Binaries, "binary", nil, "measure the test binary in this `file`, which go test -c has made; may be given several times")
	f.StringArrayVar(&c.files.Programs, "program", nil, "measure the `program` in this file, which speaks the driving protocol; may be given several times")
	f.StringVar(&c.files.Dir, "dir", "", "the `folder` in which files of --binary and --program run (default: for each the one it lies in)")
	f.IntVarP(&c.blocks, "blocks", "n", 12, "measure `n` blocks: each benchmark has a new process in each")
	f.StringVar(&c.mode, "mode", record.ModeAuto, "how benchmarks are measured that are compared (`auto|turns|process`): in turns where that is possible, alive\ntogether and slice by slice, or each alone, one value a block")
	f.StringVar(&c.plan, "plan", planFixed, "how many blocks a row has (`fixed|sequential`): all, or as many as it takes until a look after\na half or three quarters of them finds it decided")
	f.IntVar(&c.rounds, "rounds", 20, "in each block take `n` rounds of turns; fewer where slices have to be long")
	f.DurationVar(&c.slice, "slice", session.FigureSlice, "the `duration` of a slice; longer where an operation or a cycle of garbage collection is")
	f.IntVar(&c.layouts, "layouts", 0, "link each test binary in `n` orders of its functions (default: a new one for each block)")
	f.BoolVar(&c.control, "control", true, "measure the base of each comparison twice, to see what the method gets wrong")
	f.StringVar(&c.time, "time", "200ms", "how long a process measures that takes no turns: a `duration`, or a number of iterations\nsuch as 1000x")
	f.IntSliceVar(&c.cpu, "cpu", nil, "measure with these `values` of GOMAXPROCS (default: what this machine has)")
	f.Uint64Var(&c.seed, "seed", 0, "the `seed` of the order, to repeat an earlier one (default: random, and on record)")
	f.BoolVar(&c.benchmem, "benchmem", false, "also measure bytes and allocations per operation, as go test -benchmem")
	f.DurationVar(&c.timeout, "timeout", 0, "end a process that takes longer than this `duration` (default: a minute and ten times --time)")
	f.StringVarP(&c.out, "out", "o", "", "write the results into this new `file` (default: results/<machine>/<time>-<commit>.bench)")
	f.StringVar(&c.machine, "machine", "", "the `name` of this machine in results (default: CPU model, cores and platform)")
	f.StringVar(&c.resume, "resume", "", "go on with the run whose results are in this `file`")
	f.StringVar(&c.idle, "idle", "warn", "what to do if the machine is busy (`warn|wait|off`): say so, wait until it is not, or do not look")
	group(cmd, measuringFlags, measuringOf...)
	group(cmd, measuringFlags, "mode", "control")
	_ = cmd.MarkFlagFilename("out", "bench")
	_ = cmd.MarkFlagFilename("resume", "bench")
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.RegisterFlagCompletionFunc("plan", cobra.FixedCompletions([]string{planFixed, planSequential}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{record.ModeAuto, record.ModeTurns, record.ModeProcess}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("idle", cobra.FixedCompletions([]string{"warn", "wait", "off"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// defaultConfig is what the default comparison measures: all task groups, and of
// actors and executors what tells most and takes turns in slices of milliseconds.
// With all of them it would take an hour. 14 blocks, because the least p that so
// many can have, 2/2^14, is still small enough after Holm's correction over some
// four hundred comparisons; each has a layout of its own.
var defaultConfig = measureConfig{
	packages: []string{defaultPackages},
	bench: "^BenchmarkGroup$" +
		"|^BenchmarkActor$/^workload=(pingpong|count|ring)$/^impl=" +
		"|^BenchmarkTask$/^workload=yield$/^impl=",
	blocks:  14,
	mode:    record.ModeAuto,
	control: true,
	rounds:  4,
	slice:   session.FigureSlice,
	layouts: 14,
	plan:    planFixed,
	time:    "100ms",
	idle:    "warn",
}

// runDefault is benchrun without a command: the comparison of dyno's own
// implementations, sized to take about five minutes on two cores.
func runDefault(cmd *cobra.Command, _ []string) error {
	if !inDyno(cmd.Context()) {
		return errors.New("without a command benchrun compares dyno's implementations, and this folder is not in a checkout of dyno; " +
			"to measure a package here: benchrun run ./package (benchrun --help shows more)")
	}
	start := time.Now()
	path, err := measure(cmd, defaultConfig, func(string) bool { return false })
	if err != nil {
		return err
	}
	if err := present(cmd, path); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "took %v\n", time.Since(start).Round(time.Second))
	return nil
}

// present shows the results of the default comparison and writes their report.
func present(cmd *cobra.Command, path string) error {
	c, card, err := compareFiles(cmd, []string{path}, compare.Options{Alpha: compare.DefaultAlpha, Margin: compare.DefaultMargin})
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if err := report.Comparison(c, report.Terminal, report.Extra{Card: card}).Text(out, report.TextOptions{Color: wantsColor(out)}); err != nil {
		return err
	}
	doc := report.Path([]string{path}, "")
	if err := report.Write(c, card, doc); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	fmt.Fprintf(out, "\nreport:  %s\nresults: %s\n", report.HTMLPath(doc), path)
	return nil
}
