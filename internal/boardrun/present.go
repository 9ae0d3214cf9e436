package boardrun

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/targets"
)

// present says what to do about what went wrong in a run, and prints what came of it.
func (c *Command) present(s *hw.Summary) error {
	var hinted []hw.Outcome
	for _, r := range s.Results {
		if r.Err != nil && r.Case != "" && !slices.Contains(hinted, r.Outcome) {
			hinted = append(hinted, r.Outcome)
			fmt.Fprintf(c.Con, "hint: %s: %s\n", r.Outcome, r.Err.Hint())
		}
	}
	return summary(s).Text(c.Out, c.Text)
}

// summary has a line for each implementation, the sum of its clauses, the targets that
// are decided, and where the results are.
func summary(s *hw.Summary) (d report.Doc) {
	all := tally(s.Results)
	if len(all) > 0 {
		d.Blocks = append(d.Blocks, implementations(all))
	}
	if sums := clauseSums(all); len(sums) > 0 {
		d.Blocks = append(d.Blocks, sums)
	}
	var where report.Note
	var shown []string
	for _, file := range s.Files {
		d.Blocks = append(d.Blocks, decided(file)...)
		where = append(where, "results: "+near(file))
		shown = append(shown, console.ShellWord(near(file)))
	}
	if len(where) > 0 {
		d.Blocks = append(d.Blocks, append(where, "to report them, alone or beside a host's: benchrun report "+strings.Join(shown, " ")))
	}
	return d
}

// near is a path as one would type it here.
func near(path string) string {
	wd, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+"..") {
		return path
	}
	return rel
}

// An implTally counts what came of an implementation on a board.
type implTally struct {
	device, impl string
	worst        hw.Outcome

	benchmarks, clauses counts
}

// counts are of cases, by what came of them.
type counts struct {
	passed, skipped, failed int

	ways [hw.WrongResult + 1]int // failed, by outcome
}

func (n *counts) add(r hw.CaseResult) {
	switch {
	case r.Skip != "":
		n.skipped++
	case r.Outcome != hw.OK:
		n.failed++
		n.ways[r.Outcome]++
	default:
		n.passed++
	}
}

// tally counts results, in the order in which boards and implementations came.
func tally(results []hw.CaseResult) (all []*implTally) {
	for _, r := range results {
		device, impl := r.Device.Entry.ID, cmp.Or(r.Impl, "-")
		at := slices.IndexFunc(all, func(t *implTally) bool { return t.device == device && t.impl == impl })
		if at < 0 {
			at, all = len(all), append(all, &implTally{device: device, impl: impl})
		}
		t := all[at]
		t.worst = max(t.worst, r.Outcome)
		if strings.HasPrefix(r.Case, "conform/") {
			t.clauses.add(r)
		} else {
			t.benchmarks.add(r)
		}
	}
	return all
}

func implementations(all []*implTally) report.Table {
	t := table("board", "implementation", "figures", "clauses passed", "skipped", "failed", "")
	for _, n := range all {
		addRow(&t, n.device, n.impl, strconv.Itoa(n.benchmarks.passed), strconv.Itoa(n.clauses.passed),
			strconv.Itoa(n.benchmarks.skipped+n.clauses.skipped), strconv.Itoa(n.benchmarks.failed+n.clauses.failed), n.worst.String())
	}
	return t
}

// clauseSums has a line for each implementation of which clauses were run.
func clauseSums(all []*implTally) (sums report.Note) {
	for _, t := range all {
		n := t.clauses
		if n.passed+n.skipped+n.failed == 0 {
			continue
		}
		sum := fmt.Sprintf("clauses of %s with %s: %d passed, %d skipped, %d failed", t.device, t.impl, n.passed, n.skipped, n.failed)
		var ways []string
		for o, times := range n.ways {
			if times > 0 {
				ways = append(ways, fmt.Sprintf("%d %s", times, hw.Outcome(o)))
			}
		}
		if len(ways) > 0 {
			sum += " (" + strings.Join(ways, ", ") + ")"
		}
		sums = append(sums, sum)
	}
	return sums
}

// decided are the targets that a results file decides. A file without any figure decides
// none.
func decided(file string) []report.Block {
	d, err := compare.Read([]string{file}, nil)
	if err != nil {
		return nil
	}
	card, err := targets.Evaluate(targets.All(), d, targets.EvaluateOptions{})
	if err != nil {
		return nil // which says that there is nothing in it
	}
	if card = card.Only(targets.Score.Measured); len(card.Scores) == 0 {
		return nil
	}
	return report.Scorecard(card).Blocks
}
