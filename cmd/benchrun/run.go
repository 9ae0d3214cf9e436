package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

func newRunCmd() *cobra.Command {
	c := runner.Config{
		Bench: ".", Blocks: 12, Time: "200ms", Idle: runner.IdleWarn,
		Mode: record.ModeAuto, Control: true, Rounds: 20, Slice: session.FigureSlice, Schedule: runner.ScheduleFixed,
	}
	var files record.Files // that are measured beside packages
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
			c.Packages = append(args, files.Marked()...)
			if c.Resume == "" && !files.Any() {
				c.Packages = packagesOr(cmd.Context(), args)
			}
			if err := checkFiles(files, cmd.Flags().Changed); err != nil {
				return err
			}
			c.Given = cmd.Flags().Changed
			path, err := runner.New(consoleOf(cmd), "benchrun run").Packages(cmd.Context(), c, nil)
			if path != "" {
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return err
		},
	}
	f := cmd.Flags()
	measuring(cmd, &c, nil, "bench,b")
	f.StringArrayVar(&files.Binaries, "binary", nil, "measure the test binary in this `file`, which go test -c has made; may be given several times")
	f.StringArrayVar(&files.Programs, "program", nil, "measure the `program` in this file, which speaks the driving protocol; may be given several times")
	f.StringVar(&files.Dir, "dir", "", "the `folder` in which files of --binary and --program run (default: for each the one it lies in)")
	measuring(cmd, &c, nil, "blocks,n", "mode", "plan", "rounds", "slice", "layouts", "control", "time", "cpu", "seed",
		"benchmem", "timeout", "out,o", "machine", "resume", "idle")
	group(cmd, measuringFlags, rarelyNeeded...)
	group(cmd, measuringFlags, "mode", "control")
	_ = cmd.MarkFlagDirname("dir")
	return cmd
}
