package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/versions"
	"github.com/dynolab/dyno/internal/why"
)

// abConfig is what the flags of ab say.
type abConfig struct {
	measureConfig
	dir     string
	compare compare.Options
	gate    string
	comment string
	within  time.Duration
	noCache bool

	blocksGiven, roundsGiven bool // by flags

	trimpath  bool
	identical bool
	why       bool
}

// The values of --gate; "" is none.
const (
	gateSlower = "slower"
	gateStrict = "strict"
)

func newABCmd() *cobra.Command { return abCommand(new(abConfig)) }

// abCommand returns the command, whose flags are in c: at first their defaults.
func abCommand(c *abConfig) *cobra.Command {
	c.mode, c.control = record.ModeAuto, true
	cmd := &cobra.Command{
		Use:   "ab version [version] [packages]",
		Short: "Compare two versions of a Go module",
		Long: `Ab measures the benchmarks of two versions of a Go module against one another
and says what got slower or faster, by how much and how surely.

A version is a git revision, a folder with a module, or path@version of a module
on the proxy. The second is by default the working directory as it is, with what
is not committed. Packages are by default ./...; what follows -- is packages, and
so is what is neither a revision nor a folder with a go.mod of its own.

Revisions are checked out as worktrees outside of the repository and removed in
the end; neither your files nor your branches are touched. Both versions are
built with -trimpath, so that code that does not differ gives the same binary,
of which there is nothing to measure. A benchmark that only one version has, or
that fails in one, is told and left out.

Each benchmark of both versions and a second copy of the old one take turns,
slice by slice, in each block; see benchrun run. Results are kept in a file below
results/, and can be read by compare and report.

Exit status: 0; 2 on an error, such as a version that does not build; 130 if it
was interrupted. With --gate it is 1 if something is proven to be slower or
worse, or crashes, fails, hangs, skips itself or is gone in the new version only;
--accept names benchmarks that may skip themselves or be gone. With --gate=strict
it is else 3 if that cannot be told of something.`,
		Example: `  benchrun ab main
  benchrun ab HEAD~1 ./codec/... --bench Decode
  benchrun ab v1.2.0 v1.3.0 --within 5m
  benchrun ab ../old ../new -- ./codec
  benchrun ab origin/main --gate --comment comment.md`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && c.resume == "" {
				return errors.New("ab needs a version to compare to, such as main or HEAD~1")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.cpu = uniqueSorted(c.cpu)
			c.blocksGiven, c.roundsGiven = cmd.Flags().Changed("blocks"), cmd.Flags().Changed("rounds")
			if c.gate == gateSlower && slices.Contains(args, gateStrict) {
				return errors.New("the value of --gate follows a =: --gate=strict")
			}
			dash := cmd.ArgsLenAtDash()
			if dash < 0 {
				dash = len(args)
			}
			return ab(cmd, *c, args[:dash], args[dash:])
		},
	}
	f := cmd.Flags()
	f.DurationVar(&c.within, "within", 0, "choose --blocks and --rounds so that measuring takes about this `duration` at most")
	f.StringVar(&c.gate, "gate", "", "exit with 1 if something is proven to be slower, or fails or is gone in the new version only\n(`slower|strict`); strict: else with 3 if that cannot be told")
	f.Lookup("gate").NoOptDefVal = gateSlower
	f.StringVar(&c.comment, "comment", "", "write a markdown comment for a pull request into this `file`, - for standard output in place of the table")
	f.BoolVar(&c.why, "why", false, "explain each difference that is proven, as benchrun why does")
	f.StringVarP(&c.bench, "bench", "b", ".", "measure only benchmarks that match this `pattern`, as go test -bench has it")
	f.StringVarP(&c.out, "out", "o", "", "write the results into this new `file` (default: results/<machine>/<time>-ab-<old>-<new>.bench)")
	f.StringVar(&c.resume, "resume", "", "go on with the comparison whose results are in this `file`, in the same folder")
	f.StringVar(&c.dir, "dir", ".", "compare versions of the module in this `folder`; packages are relative to it")
	f.IntSliceVar(&c.cpu, "cpu", nil, "measure with these `values` of GOMAXPROCS (default: what this machine has)")
	f.IntVarP(&c.blocks, "blocks", "n", 12, "measure `n` blocks: each benchmark has new processes in each")
	f.IntVar(&c.rounds, "rounds", session.SharpRounds, "in each block take `n` rounds of turns; fewer where slices have to be long")
	f.DurationVar(&c.slice, "slice", session.SharpSlice, "the `duration` of a slice; longer where an operation or a cycle of garbage collection is")
	f.IntVar(&c.layouts, "layouts", 0, "link each test binary in `n` orders of its functions (default: a new one for each block)")
	f.StringVar(&c.plan, "plan", planFixed, "how many blocks a benchmark has (`fixed|sequential`): all, or as many as it takes until a look\nafter a half or three quarters of them finds it decided")
	f.StringVar(&c.time, "time", "200ms", "how long a process measures that takes no turns: a `duration`, or a number of iterations\nsuch as 1000x")
	f.BoolVar(&c.benchmem, "benchmem", true, "also compare bytes and allocations per operation, where benchmarks do not report their own")
	f.Uint64Var(&c.seed, "seed", 0, "the `seed` of the order, to repeat an earlier one (default: random, and on record)")
	f.DurationVar(&c.timeout, "timeout", 0, "give up on a benchmark that takes longer than this `duration` (default: about a minute)")
	f.StringVar(&c.machine, "machine", "", "the `name` of this machine in results (default: CPU model, cores and platform)")
	f.StringVar(&c.idle, "idle", "warn", "what to do if the machine is busy (`warn|wait|off`): say so, wait until it is not, or do not look")
	f.BoolVar(&c.identical, "identical", false, "measure packages whose test binaries are identical too")
	f.BoolVar(&c.trimpath, "trimpath", true, "build with -trimpath; without, benchmarks can find their sources, and every package differs")
	f.BoolVar(&c.noCache, "no-cache", false, "do not use or fill the cache of test binaries")
	f.Float64Var(&c.compare.Alpha, "alpha", compare.DefaultAlpha, "the `level` of all claims together, as a part; intervals have confidence 1-alpha")
	f.Float64Var(&c.compare.Margin, "margin", compare.DefaultMargin, "the `part` below which a difference counts as none: 0.02 is 2 %")
	acceptFlag(cmd, &c.compare)
	group(cmd, measuringFlags, measuringOf...)
	group(cmd, measuringFlags, "blocks", "benchmem", "identical", "trimpath", "no-cache")
	group(cmd, judgingFlags, "alpha", "margin", "accept")
	_ = cmd.MarkFlagFilename("out", "bench")
	_ = cmd.MarkFlagFilename("comment", "md")
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.RegisterFlagCompletionFunc("idle", cobra.FixedCompletions([]string{"warn", "wait", "off"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("plan", cobra.FixedCompletions([]string{planFixed, planSequential}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("gate", cobra.FixedCompletions([]string{gateSlower, gateStrict}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// ab compares two versions of a module.
func ab(cmd *cobra.Command, c abConfig, args, packages []string) (err error) {
	var from *record.Interrupted
	if c.resume != "" {
		if from, err = resumedAB(&c, args, packages); err != nil {
			return err
		}
	}
	plan := newPlan(c.measureConfig, from, cmd.Flags().Changed)
	plan.Col = record.SideKey
	if err := checkAB(c, plan); err != nil {
		return err
	}
	w := &syncWriter{w: cmd.ErrOrStderr()}
	measuring := newProgress(w, terminalWidth(cmd.ErrOrStderr()))
	ctx, kill, stop := interruptible(cmd.Context(), func() { measuring.interrupted() })
	defer stop()
	d := &duel{trimpath: c.trimpath, identical: c.identical}
	if !c.noCache {
		d.cache = openCache(w)
	}
	if d.desk, err = versions.Open(ctx, c.dir); err == nil {
		defer d.leave(w)
		err = d.prepare(ctx, w, c, plan, from, args, packages)
	}
	var here *record.Circumstances
	if err == nil && len(d.cases) > 0 {
		here = d.circumstances(ctx, c)
		if ctx.Err() == nil && c.idle != "off" {
			err = checkIdle(ctx, w, c.idle == "wait")
		}
	}
	switch {
	case errors.Is(err, session.ErrInterrupted), ctx.Err() != nil:
		fmt.Fprintln(w, "interrupted before anything was measured")
		return exitError(exitInterrupted)
	case err != nil:
		return err
	case len(d.cases) == 0:
		return d.finish(cmd, c, d.unmeasured)
	}
	store, err := d.store(ctx, c, plan, from, here)
	if err != nil {
		return err
	}
	if err := carryOut(ctx, w, plan, testbin.NewBinaries(plan, slices.Concat(d.subjects[0], d.subjects[1]), kill), store, from, measuring, kill, "benchrun ab"); err != nil {
		return err
	}
	compared, _, err := compareFiles(cmd, []string{store.Path}, c.compare)
	if err != nil {
		return err
	}
	if c.why {
		if err := explain(ctx, w, w, compared, plan, slices.Concat(d.subjects[0], d.subjects[1]), "", why.Options{Kill: kill}, false); err != nil {
			return err
		}
	}
	return d.finish(cmd, c, compared)
}

// resumedAB reads the run that is to be gone on with.
func resumedAB(c *abConfig, args, packages []string) (*record.Interrupted, error) {
	if c.out != "" || len(args)+len(packages) > 0 || c.within > 0 {
		return nil, errors.New("--resume goes on in its own file with its own versions and packages: leave out --out, --within, versions and packages")
	}
	from, err := record.ReadInterrupted(c.resume)
	if err != nil {
		return nil, err
	}
	if !isAB(from) {
		return nil, fmt.Errorf("%s does not compare two versions: go on with benchrun run --resume", c.resume)
	}
	if c.machine == "" {
		c.machine = from.Config["machine"]
	}
	c.trimpath = from.Config["build"] == trimpath
	if len(from.Plan.Looks) > 0 { // which decided at this level
		c.compare.Alpha, c.compare.Margin = from.Plan.Alpha, from.Plan.Margin
	}
	return from, nil
}

// isAB reports whether a file is of ab: it says what each side is.
func isAB(from *record.Interrupted) bool { return from.Config[record.SideOld] != "" }

// trimpath is the flag that makes equal sources give equal binaries.
const trimpath = "-trimpath"

// checkAB returns an error for flags that cannot be carried out, before anything
// takes time.
func checkAB(c abConfig, plan *record.Plan) error {
	if c.gate != "" {
		if err := oneOf("--gate", c.gate, []string{gateSlower, gateStrict}); err != nil {
			return err
		}
	}
	if c.within < 0 {
		return fmt.Errorf("--within is %v; it must be positive", c.within)
	}
	if err := checkLevels(c.compare); err != nil {
		return err
	}
	if _, err := regexp.Compile(c.compare.Accept); err != nil {
		return fmt.Errorf("--accept %q: %w", c.compare.Accept, err)
	}
	return checkFlags(c.measureConfig, plan)
}

// openCache opens the cache of test binaries; nil if there is no place for it,
// which is told on w.
func openCache(w io.Writer) *testbin.BuildCache {
	folder, err := os.UserCacheDir()
	if err == nil {
		var c *testbin.BuildCache
		if c, err = testbin.OpenBuildCache(filepath.Join(folder, "benchrun", "builds")); err == nil {
			return c
		}
	}
	fmt.Fprintf(w, "building without a cache: %v\n", err)
	return nil
}
