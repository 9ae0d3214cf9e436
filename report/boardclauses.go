package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// clausesTitle heads what boards ran of the conformance suite.
const clausesTitle = "Clauses of the contracts"

// clausesLayout counts the clauses that boards have run, a line for each implementation
// in each file. There are no lines if there are no clauses.
func clausesLayout(files []compare.File) layout {
	l := layout{head: []string{"implementation", "passed", "skipped", "failed", "of"}, right: []bool{false, true, true, true, true}}
	if len(files) > 1 {
		l.head, l.right = slices.Insert(l.head, 0, "file"), slices.Insert(l.right, 0, false)
	}
	for _, f := range files {
		for _, t := range record.TallyClauses(f.Clauses) {
			line := []string{t.Impl, strconv.Itoa(t.Passed), strconv.Itoa(t.Skipped), strconv.Itoa(len(t.Bad)), strconv.Itoa(t.All())}
			if ways := failedWays(t); ways != "" {
				line[3] += " (" + ways + ")"
			}
			if len(files) > 1 {
				line = slices.Insert(line, 0, f.Label)
			}
			l.rows = append(l.rows, line)
		}
	}
	return l
}

// failedWays counts the clauses that have failed by how: "1 hung, 2 out of memory".
func failedWays(t record.ClauseTally) string {
	var ways []string
	for _, o := range slices.Sorted(maps.Keys(t.Failed)) {
		ways = append(ways, strconv.Itoa(t.Failed[o])+" "+cmp.Or(o, "for no reason given"))
	}
	return strings.Join(ways, ", ")
}

// badClauses are those that have failed, each with the implementation and why.
func badClauses(files []compare.File) (bad []holeView) {
	for _, f := range files {
		for _, t := range record.TallyClauses(f.Clauses) {
			for _, c := range t.Bad {
				name := c.Name + " with " + c.Impl
				if len(files) > 1 {
					name += ", " + f.Label
				}
				why := orUnsaid(c.Why)
				if c.Outcome != "" {
					why = c.Outcome + ": " + why
				}
				bad = append(bad, holeView{name, why})
			}
		}
	}
	return bad
}

// skippedClauses are the reasons for which clauses were skipped, the most frequent
// first, each with how often.
func skippedClauses(files []compare.File) []string {
	count := make(map[string]int)
	for _, f := range files {
		for _, t := range record.TallyClauses(f.Clauses) {
			for why, n := range t.Skips {
				count[orUnsaid(why)] += n
			}
		}
	}
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	for i, why := range reasons {
		reasons[i] = fmt.Sprintf("%d skipped: %s", count[why], why)
	}
	return reasons
}

func clausesText(b *bytes.Buffer, files []compare.File, o TextOptions) {
	l := clausesLayout(files)
	if len(l.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n%s\n", clausesTitle, drawText(l, o))
	for _, c := range badClauses(files) {
		fmt.Fprintf(b, "%s: %s\n", c.Name, c.Reason)
	}
	for _, why := range skippedClauses(files) {
		fmt.Fprintln(b, why)
	}
}

func clausesMarkdown(b *bytes.Buffer, files []compare.File) {
	l := clausesLayout(files)
	if len(l.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n%s\n\n", clausesTitle, drawMarkdown(l))
	for _, c := range badClauses(files) {
		fmt.Fprintf(b, "- %s: %s\n", escape(c.Name), escape(c.Reason))
	}
	for _, why := range skippedClauses(files) {
		fmt.Fprintf(b, "- %s\n", escape(why))
	}
	b.WriteString("\n")
}

// A clausesView is what a page shows of them.
type clausesView struct {
	Table gridView
	Bad   []holeView
	Skips []string
}

// newClausesView returns nil if there are none.
func newClausesView(files []compare.File) *clausesView {
	l := clausesLayout(files)
	if len(l.rows) == 0 {
		return nil
	}
	return &clausesView{gridOf(l, clausesTitle), badClauses(files), skippedClauses(files)}
}

// A boardClauseJSON is a clause that a board has run, one time.
type boardClauseJSON struct {
	Impl    string `json:"implementation"`
	Name    string `json:"clause"`
	Result  string `json:"result"` // "pass", "skip" or "fail"
	Outcome string `json:"outcome,omitempty"`
	Why     string `json:"why,omitempty"`
}
