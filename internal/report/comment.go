package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// Versions say what a comparison of two versions is about, beyond its figures.
type Versions struct {
	Old, New string // what the versions are called, such as "v1.2.0 (1a2b3c4d)"

	// Identical are the packages whose test binaries do not differ, so that there
	// was nothing to measure.
	Identical []string

	// Why says of benchmarks in which functions their instructions differ, each in a line.
	Why []string

	// Notes say what a reader should know of how the versions were built.
	Notes []string
}

// Comment returns what a comparison of two versions has shown for a pull request: one
// line if nothing is proven, else a table of what is, with the rest folded. What fails in
// the new version only comes before all else. c is nil if nothing was measured, because
// all packages are identical.
func Comment(c *compare.Comparison, v Versions) Doc {
	if c == nil {
		return Doc{Blocks: []Block{Paragraph{Text: fmt.Sprintf("Benchmarks: %s and %s build to identical test binaries (%s): nothing to measure.", v.Old, v.New, packages(v.Identical))}}}
	}
	c = agreed(c)
	f := sortFindings(c)
	broken := faults(c)
	_, resources := split(c)
	differ := provenIn(resources)
	var blocks []Block
	switch {
	case len(broken) > 0:
		blocks = []Block{
			Heading{Level: 3, Text: strings.Join(broken, "; ")},
			Paragraph{Text: fmt.Sprintf("%s against %s: %s.", v.New, v.Old, headlines(c, f, resources, "nothing else is proven"))},
		}
	case len(f.proven)+len(differ)+len(c.Findings) > 0:
		blocks = []Block{
			Heading{Level: 3, Text: "Benchmarks: " + headlines(c, f, resources, "nothing proven")},
			Paragraph{Text: fmt.Sprintf("%s against %s.", v.New, v.Old)},
		}
	default:
		return Doc{Blocks: []Block{Paragraph{Text: fmt.Sprintf("Benchmarks: nothing proven between %s and %s: %s.", v.Old, v.New, f.summary(c, v))}}}
	}
	if first := slices.Concat(f.broken, f.proven); len(first) > 0 {
		blocks = append(blocks, findingTable(c, first, true))
	}
	rest := Fold{Summary: f.summary(c, v), Blocks: commentRest(c, v, f.others, differ)}
	return Doc{Blocks: append(blocks, listOf(v.Why...), listOf(prefixed("finding: ", c.Findings)...), rest)}
}

// commentRest is what a comment has folded: what is not proven, resources, and of what
// the comparison is.
func commentRest(c *compare.Comparison, v Versions, others, differ []place) (blocks []Block) {
	if len(others) > 0 {
		blocks = append(blocks, findingTable(c, others, false))
	}
	if len(differ) > 0 {
		blocks = append(blocks, Paragraph{Text: resourcesTitle + ":"}, findingTable(c, differ, false))
	}
	method := fmt.Sprintf("The change %s, block by block, with its %s interval. Proven means: at level %v after correction for %s (Holm), and not a change within ±%s.",
		ofWhat(c), confidence(c), c.Alpha, counted(c.Comparisons, "comparison"), percentage(c.Margin))
	switch {
	case c.Counted():
		method += " Time was measured beside it, and decides nothing. " + blind
	case c.ResourceComparisons > 0:
		method += fmt.Sprintf(" Resources explain times. They are a family of their own, with the same level again: %s.", counted(c.ResourceComparisons, "comparison"))
	}
	var remarks []string
	for _, file := range c.Files {
		remarks = append(append(remarks, fileLine(file)), each(file.Holes, holeLine)...)
	}
	identical := each(v.Identical, func(pkg string) string { return pkg + ": identical test binaries, not measured" })
	var more []string // each once
	for _, line := range slices.Concat(remarks, identical, v.Notes, c.Warnings) {
		if !slices.Contains(more, line) {
			more = append(more, line)
		}
	}
	return append(blocks, Paragraph{Text: method}, listOf(more...))
}

// ofWhat says of what a change is.
func ofWhat(c *compare.Comparison) string {
	if c.Counted() {
		return "is that of the instructions of an operation, by " + counterOf(c)
	}
	return "of a time is that of total time ÷ operations"
}

// counterOf names the tools that counted, with their versions.
func counterOf(c *compare.Comparison) string {
	var all []string
	for _, f := range c.Files {
		for _, s := range f.Config {
			if s.Key == record.CounterKey {
				all = append(all, s.Values...)
			}
		}
	}
	return strings.Join(slices.Compact(all), ", ")
}

// blind says what counts of instructions do not see.
const blind = "Counts do not see waiting, locks, caches, several processors or the kernel."

// headlines count what is proven, what else was found, and apart from them resources.
// none stands where nothing is proven of what benchmarks report.
func headlines(c *compare.Comparison, f findings, resources []compare.Table, none string) string {
	proven := tallyOf(f.count, compare.Slower, compare.Worse, compare.More, compare.Higher, compare.Lower, compare.Faster, compare.Better, compare.Fewer).String()
	parts := []string{cmp.Or(proven, none)}
	if text := unfinished(c.Files); text != "" {
		parts = append(parts, text)
	}
	if n := len(c.Findings); n > 0 {
		parts = append(parts, counted(n, "finding"))
	}
	if c.Counted() {
		parts = append(parts, timesSay(c)...)
	} else if counts := resourceCounts(resources); counts != "" {
		parts = append(parts, "resources: "+counts)
	}
	return strings.Join(parts, "; ")
}

// timesSay counts what time says of the benchmarks whose instructions differ: "time: 2
// inconclusive". It says nothing if none was measured.
func timesSay(c *compare.Comparison) []string {
	counts := make(map[string]int)
	for _, p := range provenIn(c.Tables[:1]) {
		if p.hasTime() {
			counts[string(p.cell.Time.Verdict)]++
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return []string{"time: " + tallyOf(counts, verdictOrder...).String()}
}

// holeLine says what is missing of which version.
func holeLine(h record.Hole) string {
	line := strings.TrimPrefix(h.Name(), "Benchmark")
	if h.Side != "" {
		line += " (" + h.Side + ")"
	}
	return line + ": " + h.String()
}

// findings are the cells of a comparison by what they say.
type findings struct {
	broken, proven, others []place
	benchmarks             int

	// count is how many cells there are of a word, of what is not proven only
	// those of the first unit, which is time where there is any: a benchmark is
	// counted once.
	count map[string]int

	// The smallest effects that inconclusive times could have shown, as ratios.
	detectable []float64
	blind      int // times that so few blocks could prove nothing of
}

// sortFindings sorts the cells that are compared. What got worse comes first, of that the
// first unit, and in each unit what changed by most.
func sortFindings(c *compare.Comparison) findings {
	f := findings{count: make(map[string]int), benchmarks: benchmarks(c)}
	reported, _ := split(c)
	base, _ := pairCols(c)
	for i, t := range reported {
		for _, r := range t.Rows {
			for j := range r.Cells {
				// Of a pair what is compared to says nothing, but for how it fails.
				if j != base || !isPair(c) || isFault(c, r, t.Cols[j].Name) {
					f.add(c, placeOf(t, r, j), i == 0)
				}
			}
		}
	}
	unit := func(p place) int {
		i := slices.IndexFunc(reported, func(t compare.Table) bool { return t.Unit == p.table.Unit })
		if verdictTone(p.cell.Verdict) != Bad {
			i += len(reported)
		}
		return i
	}
	slices.SortStableFunc(f.proven, func(a, b place) int {
		return cmp.Or(unit(a)-unit(b), cmp.Compare(size(b.cell), size(a.cell)))
	})
	return f
}

// benchmarks counts the benchmarks of c, each once however many units it has.
func benchmarks(c *compare.Comparison) int {
	names := make(map[string]bool)
	reported, _ := split(c)
	for _, t := range reported {
		for _, r := range t.Rows {
			names[benchmark(r)] = true
		}
	}
	return len(names)
}

// add sorts a cell in. first says that it is of the first unit.
func (f *findings) add(c *compare.Comparison, at place, first bool) {
	cell := at.cell
	broken := first && isFault(c, at.row, at.column().Name)
	if broken {
		f.broken = append(f.broken, at)
	}
	if at.isBase() && cell.Verdict == compare.Base || cell.Verdict == compare.Absent || cell.Verdict == compare.Skipped {
		return
	}
	if failedRow(c, at.row) && (cell.N == 0 || cell.Verdict == compare.NoBase) {
		return // of which nothing else is to be said
	}
	proven, word := cell.Verdict.Proven(), commentWord(cell.Verdict)
	if proven || first {
		f.count[word]++
	}
	if first && word == inconclusive && cell.Vs != nil {
		switch d := cell.Vs.Detectable; {
		case math.IsInf(d, 1):
			f.blind++
		case d > 1:
			f.detectable = append(f.detectable, d)
		}
	}
	switch {
	case broken:
	case proven:
		f.proven = append(f.proven, at)
	default:
		f.others = append(f.others, at)
	}
}

// inconclusive is the word for all verdicts that say nothing.
const inconclusive = string(compare.Inconclusive)

// commentWord is the word under which a comment counts a verdict.
func commentWord(v compare.Verdict) string {
	switch {
	case v.Proven(), v == compare.Same, v == compare.Unproven, v == compare.Missing:
		return string(v)
	case v == compare.NoBase:
		return string(compare.Missing)
	}
	return inconclusive
}

// summary says in a line how much was looked at, and how well.
func (f findings) summary(c *compare.Comparison, v Versions) string {
	parts := []string{counted(f.benchmarks, "benchmark")}
	if n := f.count["same"]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d the same within ±%s", n, percentage(c.Margin)))
	}
	if n := f.count[inconclusive]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d inconclusive%s", n, f.detects()))
	}
	for _, n := range tallyOf(f.count, compare.Unproven, compare.Missing) {
		parts = append(parts, Tally{n}.String())
	}
	reported, _ := split(c)
	for _, t := range reported[min(1, len(reported)):] {
		counts := make(map[string]int)
		for _, p := range f.others {
			if p.table.Unit == t.Unit && p.cell.Verdict != compare.Same && p.cell.Verdict != compare.NoBase && p.cell.N > 0 {
				counts[string(p.cell.Verdict)]++
			}
		}
		if len(counts) > 0 {
			parts = append(parts, tallyOf(counts, verdictOrder...).String()+" in "+t.Unit)
		}
	}
	parts = append(parts, otherFailures(c)...)
	added := make(map[string]bool) // with one for each GOMAXPROCS, and one for all
	for _, file := range c.Files {
		for _, h := range file.Holes {
			if h.Gone() && h.Side == record.SideOld {
				added[h.Pkg+" "+h.Case] = true
			}
		}
	}
	if len(added) > 0 {
		parts = append(parts, fmt.Sprintf("%d in the new version only", len(added)))
	}
	if len(v.Identical) > 0 {
		parts = append(parts, counted(len(v.Identical), "package")+" identical")
	}
	if _, resources := split(c); c.ResourceComparisons > 0 && resourceCounts(resources) == "" {
		parts = append(parts, "no resource proven to differ")
	}
	return strings.Join(parts, ", ")
}

// detects says which changes inconclusive times could have shown.
func (f findings) detects() string {
	if len(f.detectable) == 0 {
		if f.blind > 0 {
			return " (too few blocks to prove anything)"
		}
		return ""
	}
	least, most := percentage(slices.Min(f.detectable)-1), percentage(slices.Max(f.detectable)-1)
	if least == most {
		return fmt.Sprintf(" (smallest change of time that would have been found: %s)", least)
	}
	return fmt.Sprintf(" (smallest changes of time that would have been found: %s to %s)", least, most)
}

// packages names a few packages, or counts them.
func packages(pkgs []string) string {
	if len(pkgs) > 3 {
		return counted(len(pkgs), "package")
	}
	return strings.Join(pkgs, ", ")
}

// percentage writes a fraction as a percentage with two significant digits, or the
// whole number.
func percentage(x float64) string {
	p := 100 * x
	switch abs := math.Abs(p); {
	case abs < 0.995:
		return fmt.Sprintf("%.2g %%", p)
	case abs < 9.95 && math.Abs(p-math.Round(p)) >= 0.05:
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", p)
}

// findingTable has cells of the new version beside those of the old one; strong marks
// what is proven.
func findingTable(c *compare.Comparison, all []place, strong bool) Table {
	isBounded := func(p place) bool { return p.isCompared() && p.change().interval != "" }
	old, other := pairCols(c)
	heads := [2]string{"old", "new"}
	if c.Col != record.SideKey && isPair(c) {
		heads = [2]string{c.Tables[0].Cols[old].Name, c.Tables[0].Cols[other].Name}
	}
	return tabulate(all, []column[place]{
		benchmarkColumn(),
		{head: "unit", text: func(p place) string { return p.table.Unit }},
		{head: heads[0], right: true, text: func(p place) string {
			if p.row.Base < 0 {
				return "—"
			}
			return p.base().center()
		}},
		{head: heads[1], right: true, text: place.center},
		{head: "change", right: true, only: place.isCompared, text: func(p place) string { return p.change().estimate }},
		{head: confidence(c) + " interval", right: true, only: isBounded, text: func(p place) string { return p.change().interval }},
		{head: "verdict", cell: func(p place) Cell {
			verdict := joined("; ", verdictCell(p).Text, p.cell.Failure)
			if p.cell.Failure != "" && p.cell.N == 0 {
				verdict = p.cell.Failure
			}
			return Cell{Text: verdict, Strong: strong}
		}},
		timeColumn(c),
	})
}
