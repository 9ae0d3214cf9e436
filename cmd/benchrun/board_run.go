package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/boardrun"
)

func newBoardRunCmd() *cobra.Command {
	var c boardrun.Command
	var o boardrun.RunOptions
	cmd := &cobra.Command{
		Use:   "run board...",
		Short: "Run workloads and clauses on boards, and keep the results",
		Long: `Run builds the firmware for each board and implementation, flashes it where that is
needed, and runs its cases, each after a reset: workloads, which give figures, and
clauses of the conformance suite. A board is named by its ID in the hardware map, or
by its kind if there is only one.

If a board has no room for all --parts of the firmware together, each is an image of
its own, and they are run one after the other.

The results of a board are appended to a new file in the Go benchmark format,
results/<board>/<time>-<commit>.bench in the checkout, or --out; it is synced case
by case. A case that fails is a hole there, with its reason, and does not stop the
others; an image that cannot be built or flashed does not stop the other images.
Without --impl all implementations are run. Then one that is too big for the board is
skipped, and that, or cases that run out of memory, is a finding and no failure, as
long as something has passed; of an implementation that is named it is one.
Ctrl-C ends the run, and says how to go on; what was measured until then is kept.

--resume goes on with a run that was interrupted or killed: it runs the cases that
its file does not have yet, and adds them to it. A case that has failed stays
failed. The other flags are what they were, and need not be given again.

The exit status is that of the greatest outcome that is a failure; benchrun board
--help has them.`,
		Example: `  benchrun board run linux-arm64-qemu
  benchrun board run cortex-m3-qemu rv32-qemu --impl serial --parts bench
  benchrun board run cortex-m3-qemu --impl serial --parts conform/group,conform/task
  benchrun board run pico --parts bench --case 'workload=(pingpong|ring)'
  benchrun board run pico-left --count 10 --map lab.yaml --out pico.bench
  benchrun board run cortex-m3-qemu --resume results/cortex-m3-qemu/run.bench`,
		Args: needBoard(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Given = cmd.Flags().Changed
			return onBoards(cmd, &c, args, func() error { return c.Run(cmd.Context(), o) })
		},
	}
	imageFlags(cmd, &c, true)
	mapFlag(cmd, &c.Map)
	f := cmd.Flags()
	f.StringVar(&o.Case, "case", "", "only cases whose names match this `pattern`, a regular expression")
	f.IntVar(&o.Count, "count", 1, "run each case `n` times, each after a reset; a time is a block")
	f.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "how long a case may take: a `duration`")
	f.DurationVar(&o.Silence, "silence", time.Minute, "how long a board may say nothing in the middle of a case: a `duration`")
	f.StringVar(&o.Out, "out", "", "write the results into this new `file`, of one board (default: results/<board>/<time>-<commit>.bench)")
	f.StringVar(&o.Resume, "resume", "", "go on with the run whose results are in this `file`")
	_ = cmd.MarkFlagFilename("out", "bench")
	_ = cmd.MarkFlagFilename("resume", "bench")
	return cmd
}
