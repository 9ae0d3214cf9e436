package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
)

const (
	module          = "github.com/dynolab/dyno"
	defaultPackages = module + "/impls" // a path that means the same in every folder of the checkout
)

// rarelyNeeded are the flags of all that measure which say how, in the help.
var rarelyNeeded = []string{"rounds", "slice", "layouts", "plan", "time", "seed", "timeout", "machine", "idle"}

// measuring adds flags to cmd that say what is measured and how. They fill c, and what c
// has is their default. flags are "name", or "name,n" with a shorthand, in the order of
// the help; usage has what the help says of those of which it is not the same for every
// command.
func measuring(cmd *cobra.Command, c *runner.Config, usage map[string]string, flags ...string) {
	f := cmd.Flags()
	fields := map[string]any{
		"bench": &c.Bench, "blocks": &c.Blocks, "time": &c.Time, "cpu": &c.CPU, "seed": &c.Seed, "benchmem": &c.Benchmem,
		"timeout": &c.Timeout, "out": &c.Out, "machine": &c.Machine, "resume": &c.Resume, "idle": &c.Idle,
		"mode": &c.Mode, "plan": &c.Schedule, "rounds": &c.Rounds, "slice": &c.Slice, "layouts": &c.Layouts, "control": &c.Control,
	}
	for _, flag := range flags {
		name, short, _ := strings.Cut(flag, ",")
		text, ok := usage[name]
		if !ok {
			text = measuringUsage[name]
		}
		switch v := fields[name].(type) {
		case *string:
			f.StringVarP(v, name, short, *v, text)
		case *int:
			f.IntVarP(v, name, short, *v, text)
		case *bool:
			f.BoolVarP(v, name, short, *v, text)
		case *uint64:
			f.Uint64VarP(v, name, short, *v, text)
		case *time.Duration:
			f.DurationVarP(v, name, short, *v, text)
		case *[]int:
			f.IntSliceVarP(v, name, short, *v, text)
		default:
			panic("benchrun: no flag of measuring is called " + name)
		}
		if words, ok := measuringWords[name]; ok {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
		if name == "out" || name == "resume" {
			_ = cmd.MarkFlagFilename(name, "bench")
		}
	}
}

// measuringWords are the words that some flags take.
var measuringWords = map[string][]string{
	"mode": {record.ModeAuto, record.ModeTurns, record.ModeProcess},
	"plan": {runner.ScheduleFixed, runner.ScheduleSequential},
	"idle": {runner.IdleWarn, runner.IdleWait, runner.IdleOff},
}

// measuringUsage is what the help says of flags, where it is the same for most commands.
var measuringUsage = map[string]string{
	"bench":    "measure only benchmarks that match this `pattern`, as go test -bench has it",
	"blocks":   "measure `n` blocks: each benchmark has a new process in each",
	"mode":     "how benchmarks are measured that are compared (`auto|turns|process`): in turns where that is possible, alive\ntogether and slice by slice, or each alone, one value a block",
	"plan":     "how many blocks a row has (`fixed|sequential`): all, or as many as it takes until a look after\na half or three quarters of them finds it decided",
	"rounds":   "in each block take `n` rounds of turns; fewer where slices have to be long",
	"slice":    "the `duration` of a slice; longer where an operation or a cycle of garbage collection is",
	"layouts":  "link each test binary in `n` orders of its functions (default: a new one for each block)",
	"control":  "measure the base of each comparison twice, to see what the method gets wrong",
	"time":     "how long a process measures that takes no turns: a `duration`, or a number of iterations\nsuch as 1000x",
	"cpu":      "measure with these `values` of GOMAXPROCS (default: what this machine has)",
	"seed":     "the `seed` of the order, to repeat an earlier one (default: random, and on record)",
	"benchmem": "also measure bytes and allocations per operation, as go test -benchmem",
	"timeout":  "end a process that takes longer than this `duration` (default: a minute and ten times --time)",
	"out":      "write the results into this new `file` (default: results/<machine>/<time>-<commit>.bench)",
	"machine":  "the `name` of this machine in results (default: CPU model, cores and platform)",
	"resume":   "go on with the run whose results are in this `file`",
	"idle":     "what to do if the machine is busy (`warn|wait|off`): say so, wait until it is not, or do not look",
}

// consoleOf is where cmd says what it does.
func consoleOf(cmd *cobra.Command) *console.Console {
	return console.New(cmd.ErrOrStderr(), console.Width(cmd.ErrOrStderr()))
}

// versionsAndPackages are the arguments of a command that compares versions: those behind
// -- are packages.
func versionsAndPackages(cmd *cobra.Command, args []string) (versions, packages []string) {
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		dash = len(args)
	}
	return args[:dash], args[dash:]
}

// firstChanged returns the first of the flags that was given, "" if none was.
func firstChanged(cmd *cobra.Command, flags ...string) string {
	for _, f := range flags {
		if cmd.Flags().Changed(f) {
			return f
		}
	}
	return ""
}

// oneOf checks a flag that takes one of a few words.
func oneOf(flag, value string, words []string) error {
	if !slices.Contains(words, value) {
		return fmt.Errorf("%s is %q; it must be one of %s", flag, value, strings.Join(words, ", "))
	}
	return nil
}

// inDyno reports whether the working directory is in a checkout of dyno.
func inDyno(ctx context.Context) bool { return runner.Module(ctx) == module }

// packagesOr returns the packages that are named, and else the ones that are
// meant: dyno's own in its checkout, the working directory's elsewhere.
func packagesOr(ctx context.Context, args []string) []string {
	switch {
	case len(args) > 0:
		return args
	case inDyno(ctx):
		return []string{defaultPackages}
	}
	return []string{"."}
}
