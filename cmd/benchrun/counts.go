package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/why"
)

// blind is what counts of instructions do not see.
const blind = "counts do not see waiting, locks, caches, several processors or the kernel: docs/counts.md"

// explainCounts says of each benchmark whose instructions differ in which functions they do, and
// keeps profiles of both sides. It says nothing of a run that was timed.
func explainCounts(w io.Writer, c *compare.Comparison, run *runner.ABRun) error {
	if run.Counted == nil {
		return nil
	}
	i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return t.Unit == record.UnitCounted })
	if i < 0 {
		return nil
	}
	fmt.Fprintln(w)
	kept := ""
	for _, s := range run.Plan.Steps() {
		row := strings.TrimPrefix(s.FullName(), "Benchmark")
		if s.Case.Side != "new" || !differs(&c.Tables[i], s.Case.Pkg, row) {
			continue
		}
		base, this, err := run.Counted.Sides(s.Case.Pkg, s.Case.Name, s.CPU, "old", "new")
		if err != nil { // counted before the run was resumed
			continue
		}
		if text := why.Counted(base, this); text != "" {
			fmt.Fprintf(w, "%s: %s\n", console.Printable(row), console.Printable(text))
		}
		paths, err := why.WriteCounts(run.Path, row, []string{"old", "new"}, [][]counter.Profile{base, this})
		if err != nil {
			return err
		}
		if kept == "" {
			kept = fmt.Sprintf("go tool pprof -http : -diff_base %s %s", console.ShellWord(paths[0]), console.ShellWord(paths[1]))
		}
	}
	if kept != "" {
		fmt.Fprintf(w, "by line: %s\n", kept)
	}
	fmt.Fprintln(w, blind)
	return nil
}

// differs reports whether a row of t has a proven difference. Rows name their package where
// several have one of the same name.
func differs(t *compare.Table, pkg, row string) bool {
	return slices.ContainsFunc(t.Rows, func(r compare.Row) bool {
		return (r.Pkg == pkg || r.Pkg == "") && r.Name == row && slices.ContainsFunc(r.Cells, func(c compare.Cell) bool { return c.Verdict.Proven() })
	})
}
