package why

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// A File is a results file whose differences are to be explained.
type File struct {
	Comparison *compare.Comparison // of this file alone
	Plan       *record.Plan
	Binaries   []testbin.Binary // what the plan measures
	Others     string           // which of them are not what was measured, as in [Index].Built
	All        bool             // not only differences that are proven
}

// Explain explains the differences, one after another, and writes profiles and index
// beside the results file. It prints a sentence for each to out, and what it does to log.
// If it is interrupted, what is done by then is kept, and the error is
// [session.ErrInterrupted].
func (f *File) Explain(ctx context.Context, out, log io.Writer, o Options) error {
	results := f.Comparison.Files[0].Path
	pairs, err := findPairs(f.Comparison, f.Plan, f.Binaries, f.All)
	if err != nil {
		return err
	}
	x, doubts := openIndex(results, f.Plan, f.Comparison.Col, f.Others)
	for _, d := range doubts {
		fmt.Fprintf(log, "benchrun: %s\n", d)
	}
	done := 0
	for _, c := range x.Cells {
		explainedAgain := slices.ContainsFunc(pairs, func(p Pair) bool { return p.of(&c) })
		if c.Unit == record.UnitCounted && c.Explained && !explainedAgain {
			fmt.Fprintf(out, "%s: %s\n", c.Row, c.Sentence)
			done++
		}
	}
	if len(pairs) == 0 && done == 0 {
		fmt.Fprintln(log, "nothing to explain: no difference in time is proven; --all profiles every comparison")
		return nil
	}
	timed := 0
	o.step = func(what string) { fmt.Fprintf(log, "[%d/%d] %s\n", timed+1, len(pairs), what) }
	o.done = func(c *Cell) {
		done++
		timed++
		fmt.Fprintf(out, "%s: %s\n", c.Row, c.Sentence)
		for _, n := range c.Notes {
			fmt.Fprintf(out, "    %s\n", n)
		}
	}
	err = explain(ctx, results, x, pairs, o)
	if done > 0 {
		fmt.Fprintln(out, filepath.Join(Folder(results), indexName))
	}
	return err
}
