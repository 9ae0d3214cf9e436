package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// clauseSection shows what boards ran of the conformance suite, if they did.
func clauseSection(files []compare.File) []Block {
	t := clauseTable(files)
	if len(t.Rows) == 0 {
		return nil
	}
	return section(Heading{Level: 2, Text: "Clauses of the contracts", ID: "clauses"}, t, List{Items: append(badClauses(files), skippedClauses(files)...)})
}

// clauseTable counts the clauses that boards have run, a line for each implementation
// in each file.
func clauseTable(files []compare.File) Table {
	type line struct {
		file string
		record.ClauseTally
	}
	var lines []line
	for _, f := range files {
		for _, t := range record.TallyClauses(f.Clauses) {
			lines = append(lines, line{f.Label, t})
		}
	}
	return labelled(tabulate(lines, []column[line]{
		{head: "file", hide: len(files) < 2, text: func(l line) string { return l.file }},
		{head: "implementation", text: func(l line) string { return l.Impl }},
		{head: "passed", right: true, text: func(l line) string { return strconv.Itoa(l.Passed) }},
		{head: "skipped", right: true, text: func(l line) string { return strconv.Itoa(l.Skipped) }},
		{head: "failed", right: true, text: func(l line) string {
			if ways := failedWays(l.ClauseTally); ways != "" {
				return fmt.Sprintf("%d (%s)", len(l.Bad), ways)
			}
			return strconv.Itoa(len(l.Bad))
		}},
		{head: "of", right: true, text: func(l line) string { return strconv.Itoa(l.All()) }},
	}), "Clauses of the contracts", "")
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
func badClauses(files []compare.File) (bad []Item) {
	for _, f := range files {
		for _, t := range record.TallyClauses(f.Clauses) {
			for _, c := range t.Bad {
				name := c.Name + " with " + c.Impl
				if len(files) > 1 {
					name += ", " + f.Label
				}
				bad = append(bad, Item{name, joined(": ", c.Outcome, cmp.Or(c.Why, unsaid))})
			}
		}
	}
	return bad
}

// skippedClauses are the reasons for which clauses were skipped, the most frequent
// first, each with how often.
func skippedClauses(files []compare.File) []Item {
	count := make(map[string]int)
	for _, f := range files {
		for _, t := range record.TallyClauses(f.Clauses) {
			for why, n := range t.Skips {
				count[cmp.Or(why, unsaid)] += n
			}
		}
	}
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	return items(each(reasons, func(why string) string { return fmt.Sprintf("%d skipped: %s", count[why], why) })...)
}
