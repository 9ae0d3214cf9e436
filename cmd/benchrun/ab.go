package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/why"
)

// The values of --gate; "" is none.
const (
	gateSlower = "slower"
	gateStrict = "strict"
)

// abFlags are the flags of ab.
type abFlags struct {
	runner.AB
	gate    string
	comment string
	why     bool
}

func newABCmd() *cobra.Command {
	c := &abFlags{AB: runner.DefaultAB()}
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
			if len(args) == 0 && c.Resume == "" {
				return errors.New("ab needs a version to compare to, such as main or HEAD~1")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.gate == gateSlower && slices.Contains(args, gateStrict) {
				return errors.New("the value of --gate follows a =: --gate=strict")
			}
			if c.gate != "" {
				if err := oneOf("--gate", c.gate, []string{gateSlower, gateStrict}); err != nil {
					return err
				}
			}
			c.Args, c.Packages = versionsAndPackages(cmd, args)
			c.Given = cmd.Flags().Changed
			return c.compare(cmd)
		},
	}
	c.register(cmd)
	return cmd
}

// register adds the flags to cmd.
func (c *abFlags) register(cmd *cobra.Command) {
	usage := map[string]string{
		"blocks":   "measure `n` blocks: each benchmark has new processes in each",
		"plan":     "how many blocks a benchmark has (`fixed|sequential`): all, or as many as it takes until a look\nafter a half or three quarters of them finds it decided",
		"benchmem": "also compare bytes and allocations per operation, where benchmarks do not report their own",
		"timeout":  "give up on a benchmark that takes longer than this `duration` (default: about a minute)",
		"out":      "write the results into this new `file` (default: results/<machine>/<time>-ab-<old>-<new>.bench)",
		"resume":   "go on with the comparison whose results are in this `file`, in the same folder",
	}
	f := cmd.Flags()
	f.DurationVar(&c.Within, "within", c.Within, "choose --blocks and --rounds so that measuring takes about this `duration` at most")
	f.StringVar(&c.gate, "gate", "", "exit with 1 if something is proven to be slower, or fails or is gone in the new version only\n(`slower|strict`); strict: else with 3 if that cannot be told")
	f.Lookup("gate").NoOptDefVal = gateSlower
	f.StringVar(&c.comment, "comment", "", "write a markdown comment for a pull request into this `file`, - for standard output in place of the table")
	f.BoolVar(&c.why, "why", false, "explain each difference that is proven, as benchrun why does")
	measuring(cmd, &c.Config, usage, "bench,b", "out,o", "resume")
	f.StringVar(&c.Dir, "dir", c.Dir, "compare versions of the module in this `folder`; packages are relative to it")
	measuring(cmd, &c.Config, usage, "cpu", "blocks,n", "rounds", "slice", "layouts", "plan", "time", "benchmem", "seed", "timeout", "machine", "idle")
	f.BoolVar(&c.Identical, "identical", c.Identical, "measure packages whose test binaries are identical too")
	f.BoolVar(&c.Trimpath, "trimpath", c.Trimpath, "build with -trimpath; without, benchmarks can find their sources, and every package differs")
	f.BoolVar(&c.NoCache, "no-cache", c.NoCache, "do not use or fill the cache of test binaries")
	f.Float64Var(&c.Compare.Alpha, "alpha", c.Compare.Alpha, "the `level` of all claims together, as a part; intervals have confidence 1-alpha")
	f.Float64Var(&c.Compare.Margin, "margin", c.Compare.Margin, "the `part` below which a difference counts as none: 0.02 is 2 %")
	acceptFlag(cmd, &c.Compare)
	group(cmd, measuringFlags, rarelyNeeded...)
	group(cmd, measuringFlags, "blocks", "benchmem", "identical", "trimpath", "no-cache")
	group(cmd, judgingFlags, "alpha", "margin", "accept")
	_ = cmd.MarkFlagFilename("comment", "md")
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.RegisterFlagCompletionFunc("gate", cobra.FixedCompletions([]string{gateSlower, gateStrict}, cobra.ShellCompDirectiveNoFileComp))
}

// compare compares two versions of a module, and reports what was found. Its error may be
// the gate's status.
func (c *abFlags) compare(cmd *cobra.Command) error {
	con := consoleOf(cmd)
	var compared *compare.Comparison
	run, err := runner.New(con, "benchrun ab").AB(cmd.Context(), &c.AB, func(ctx context.Context, run *runner.ABRun) (err error) {
		compared, _, err = compareFiles(cmd, []string{run.Path}, c.AB.Compare)
		if err != nil || !c.why {
			return err
		}
		file := why.File{Comparison: compared, Plan: run.Plan, Binaries: run.Binaries}
		return file.Explain(ctx, con, con, why.Options{Kill: run.Kill, Draw: report.WriteFlames})
	})
	if err != nil {
		return err
	}
	compared = cmp.Or(run.Unmeasured, compared)
	if err := c.show(cmd, compared, run.Versions); err != nil {
		return err
	}
	switch {
	case compared == nil:
	case c.gate != "":
		g := compared.Gate()
		if err := judge(cmd.ErrOrStderr(), g); c.gate == gateStrict || g.Bad() {
			return err
		}
	case run.Unmeasured != nil:
		return runner.ErrNothing
	}
	return nil
}

// show prints a comparison of versions and writes the comment. compared is nil if nothing
// was measured, because all packages are identical.
func (c *abFlags) show(cmd *cobra.Command, compared *compare.Comparison, v *runner.Versions) error {
	out := cmd.OutOrStdout()
	if compared != nil && c.comment != "-" {
		if err := comparison(compared, nil).show(out, "text", nil); err != nil {
			return err
		}
	}
	if c.comment == "" {
		return nil
	}
	comment := report.Comment(compared, report.Versions{Old: v.Old, New: v.New, Identical: v.Identical, Notes: v.Notes})
	if c.comment != "-" {
		return report.WriteMarkdown(c.comment, comment)
	}
	if compared != nil { // the comment may be too short for them
		for _, warning := range compared.Warnings {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", warning)
		}
	}
	return comment.Markdown(out, report.MarkdownOptions{})
}
