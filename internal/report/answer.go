package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// The answer of a comparison in words: what was compared, where and when, and one sentence
// that says what came of it, or one for each design. Terminal, page and site begin with it.

// isPair reports whether c compares two things, such as two versions or two files, in all
// of its tables: then what is asked is what has changed.
func isPair(c *compare.Comparison) bool {
	if c.Col != record.SideKey && c.Col != ".file" && c.Col != "commit" {
		return false
	}
	return len(c.Tables) > 0 && !slices.ContainsFunc(c.Tables, func(t compare.Table) bool { return len(t.Cols) != 2 })
}

// pairCols are the columns of a pair: the one that is compared to, and the other.
func pairCols(c *compare.Comparison) (base, other int) {
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			if r.Base >= 0 {
				return r.Base, 1 - r.Base
			}
		}
	}
	return 0, 1
}

// Headline says what was compared, where and when: "5 designs against references, 12
// workloads, Intel(R) Xeon(R) Processor, 2 cores, 22 Nov 2026"; and if a run has not ended,
// how far it is.
func Headline(c *compare.Comparison) string {
	return joined(", ", subject(c), where(c.Files), when(c.Files), unfinished(c.Files))
}

// unfinished says how many blocks there are of runs that have not ended.
func unfinished(files []compare.File) string {
	var parts []string
	for _, f := range files {
		if f.Planned > 0 {
			text := fmt.Sprintf("%d of %d blocks", f.Ended, f.Planned)
			if len(files) > 1 {
				text = f.Label + " has " + text
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// subject says what was compared.
func subject(c *compare.Comparison) string {
	if len(c.Tables) == 0 {
		return "Nothing to compare"
	}
	t := c.Tables[0]
	rows := counted(benchmarks(c), "benchmark")
	switch {
	case isPair(c):
		base, other := pairCols(c)
		return fmt.Sprintf("%s against %s, %s", versionName(c, t, other), versionName(c, t, base), rows)
	case len(t.Cols) < 2:
		return rows
	}
	contenders := t.Contenders()
	if len(contenders) == 0 {
		return joined(", ", counted(len(t.Cols), columnNoun(c)), rows)
	}
	isPeer := func(s compare.Standing) bool { return t.Cols[s.Col].Peer }
	what, peers := "", len(slices.DeleteFunc(slices.Clone(contenders), func(s compare.Standing) bool { return !isPeer(s) }))
	if designs := len(contenders) - peers; designs > 0 {
		what = counted(designs, columnNoun(c))
	}
	if peers > 0 {
		what = joined(" and ", what, counted(peers, "peer"))
	}
	base := t.Rows[0].Base
	switch isRef := func(col compare.Column) bool { return col.Ref }; {
	case slices.ContainsFunc(t.Cols, isRef) && !t.Cols[contenders[0].Col].Ref:
		what += " against references"
	case base >= 0 && !slices.ContainsFunc(t.Rows, func(r compare.Row) bool { return r.Base != base }):
		what += " against " + t.Cols[base].Name
	}
	return what + ", " + rows
}

// columnNoun is what columns are: implementations are designs of one thing.
func columnNoun(c *compare.Comparison) string {
	return cmp.Or(map[string]string{"impl": "design", record.SideKey: "version"}[columnHead(c)], columnHead(c))
}

// versionName is the name of a column, and of a version that of the revision it was.
func versionName(c *compare.Comparison, t compare.Table, col int) string {
	name := t.Cols[col].Name
	if c.Col != record.SideKey || len(c.Files) != 1 {
		return name
	}
	return cmp.Or(setting(c.Files[0], name), name)
}

// where names the machine or the board, if all files are of one.
func where(files []compare.File) string {
	return theOne(files, func(f compare.File) string {
		if f.Emulated() {
			return setting(f, record.BoardKey) + ", emulated"
		}
		cores := setting(f, "cores")
		if cores != "" {
			cores += " cores"
		}
		name := cmp.Or(setting(f, record.BoardKey), setting(f, "cpu-model"), setting(f, "machine"), setting(f, "cpu"))
		return joined(", ", strings.TrimSpace(name), cores) // which go test may end with blanks
	})
}

// when is the day of the files, if it is one.
func when(files []compare.File) string { return theOne(files, day) }

// day is when a file was begun, in UTC; "" if it does not say.
func day(f compare.File) string {
	t, err := time.Parse(time.RFC3339, setting(f, "started"))
	if err != nil {
		return ""
	}
	return t.Format("2 Jan 2006")
}

// theOne is what all files have in common; "" if they differ.
func theOne(files []compare.File, of func(compare.File) string) string {
	if len(files) == 0 {
		return ""
	}
	first := of(files[0])
	if slices.ContainsFunc(files, func(f compare.File) bool { return of(f) != first }) {
		return ""
	}
	return first
}

// Sentence says in one sentence what came of c, or of several designs, how the first of
// them does.
func Sentence(c *compare.Comparison) string {
	c = agreed(c)
	return strings.Join(slices.Concat(faults(c), sentences(c)[:1]), "; ")
}

// Outcome says in a sentence what came of a run, compared or not.
func Outcome(c *compare.Comparison) string {
	clauses := map[string]int{}
	for _, f := range c.Files {
		for _, k := range f.Clauses {
			clauses[k.Result]++
			clauses[""]++
		}
	}
	said := ""
	if n := clauses[""]; n > 0 {
		said = fmt.Sprintf("%s: %d passed, %d skipped, %d failed", counted(n, "clause"), clauses["pass"], clauses["skip"], n-clauses["pass"]-clauses["skip"])
	}
	switch {
	case len(c.Tables) == 0 && said == "":
		return joined("; ", append(faults(c), "There is no figure in it.")...)
	case len(c.Tables) == 0:
		return joined("; ", append(faults(c), said+".")...)
	case len(c.Tables[0].Contenders()) == 0:
		return joined("; ", append(faults(c), said, counted(len(c.Tables[0].Rows), "benchmark")+" measured, and nothing to compare with.")...)
	}
	return joined("; ", said, Sentence(c))
}

// sentences are the answer: one for a pair, else one for each contender.
func sentences(c *compare.Comparison) []string {
	if len(c.Tables) == 0 {
		return []string{"There is nothing to compare."}
	}
	names := contenders(c)
	switch {
	case len(names) == 0 && len(c.Tables[0].Cols) < 2:
		return []string{"Nothing is compared: all results are of " + c.Tables[0].Cols[0].Name + "."}
	case len(names) == 0:
		return []string{"Nothing is compared: " + nothingInCommon(c) + "."}
	case isPair(c):
		return []string{pairSentence(c)}
	}
	return each(names, func(name string) string { return designSentence(c, name) })
}

// contenders are the columns that are compared in some unit, in the order of the tables.
func contenders(c *compare.Comparison) (names []string) {
	for _, t := range c.Tables {
		for _, s := range t.Contenders() {
			if name := t.Cols[s.Col].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// nothingInCommon says why no benchmark of several columns is compared.
func nothingInCommon(c *compare.Comparison) string {
	t := c.Tables[0]
	procs := compare.Procs(each(t.Rows, func(r compare.Row) string { return r.Name }))
	numbers := make(map[string][]string) // of each name without its GOMAXPROCS
	var all []string
	alike := 0
	for _, r := range t.Rows {
		suffix := procs(r.Name)
		name, number := strings.TrimSuffix(r.Name, suffix), cmp.Or(strings.TrimPrefix(suffix, "-"), "1")
		if numbers[name] = append(numbers[name], number); len(numbers[name]) == 2 {
			alike++
		}
		if !slices.Contains(all, number) {
			all = append(all, number)
		}
	}
	switch {
	case alike == len(numbers) && alike > 0:
		return fmt.Sprintf("the names differ in GOMAXPROCS only (%s)", strings.Join(all, " and "))
	case alike > 0:
		return fmt.Sprintf("no benchmark is in two columns; the names of %d of %d differ in GOMAXPROCS only (%s)", alike, len(numbers), strings.Join(all, ", "))
	case isPair(c):
		lacks := "benchmark"
		if t.Cols[0].Silent || t.Cols[1].Silent {
			lacks = "unit"
		}
		return fmt.Sprintf("%s and %s have no %s in common", t.Cols[0].Name, t.Cols[1].Name, lacks)
	}
	return "no benchmark is in two columns"
}

// isTime reports whether a table is of the time of an operation, which figures without a unit
// are taken for.
func (p place) isTime() bool { return isOpTime(p.table) }

func isOpTime(t compare.Table) bool { return t.Unit == "ns/op" || t.Unit == "sec/op" }

// inUnit names a table's unit, if it is not the time of an operation.
func inUnit(t compare.Table) string {
	if isOpTime(t) {
		return ""
	}
	return " in " + t.Unit
}

// designSentence says how a design does: "workstealing: faster on 10 of 12, slower on
// Task/yield (1.24); 0.17 to 1.24 of the base; allocs/op: worse on 1 of 12". Of units
// behind the first one there is what is proven.
func designSentence(c *compare.Comparison, name string) string {
	var parts []string
	reported, resources := split(c)
	for i, t := range reported {
		for _, s := range t.Contenders() {
			if t.Cols[s.Col].Name != name {
				continue
			}
			says := differsOn(t, s)
			switch {
			case says == "" && i == 0 && s.Count[compare.Same] == len(s.Rows):
				says = fmt.Sprintf("the same on %d of %[1]d", len(s.Rows))
			case says == "" && i == 0:
				says = fmt.Sprintf("no difference proven on %d of %[1]d", len(s.Rows))
			}
			if says != "" && !isOpTime(t) {
				says = t.Unit + ": " + says
			}
			if i == 0 && !math.IsNaN(s.Least) {
				says += "; " + formatRatio(s.Least) + " to " + formatRatio(s.Most)
			}
			parts = append(parts, says)
		}
	}
	return name + ": " + joined("; ", append(parts, resourcesOf(resources, name))...)
}

// differsOn says on how many rows of a table a column is proven to differ, and most on which:
// "faster on 10 of 12, slower on Task/yield (1.24)".
func differsOn(t compare.Table, s compare.Standing) string {
	names := rowNames(t)
	var parts []string
	for _, rows := range [][]int{s.Good, s.Bad, s.Higher, s.Lower} {
		if len(rows) == 0 {
			continue
		}
		rows = worstFirst(t, rows, s.Col)
		p := placeOf(t, t.Rows[rows[0]], s.Col)
		word, of := string(p.cell.Verdict), fmt.Sprintf("%d of %d", len(rows), len(s.Rows))
		first := fmt.Sprintf("%s (%s)", names[rows[0]], p.told())
		switch verdictTone(p.cell.Verdict) {
		case Good:
			parts = append(parts, word+" on "+of)
			continue
		case Flat:
			word += " (direction unknown)"
		}
		if len(rows) == 1 {
			parts = append(parts, word+" on "+first)
		} else {
			parts = append(parts, fmt.Sprintf("%s on %s, most on %s", word, of, first))
		}
	}
	return strings.Join(parts, ", ")
}

// told is the ratio of a cell, or what it was and is if no ratio tells.
func (p place) told() string {
	if math.IsNaN(p.cell.Vs.Ratio) {
		return p.base().center() + " to " + p.center()
	}
	return formatRatio(p.cell.Vs.Ratio)
}

// worstFirst orders rows by how far a column's ratio is from 1.
func worstFirst(t compare.Table, rows []int, col int) []int {
	return slices.SortedStableFunc(slices.Values(rows), func(a, b int) int {
		return cmp.Compare(size(t.Rows[b].Cells[col]), size(t.Rows[a].Cells[col]))
	})
}

// size is how far a cell's ratio is from 1, either way. What was nothing before is furthest.
func size(c compare.Cell) float64 {
	switch {
	case c.Vs == nil:
		return 0
	case math.IsNaN(c.Vs.Ratio):
		return math.Inf(1)
	}
	return math.Abs(math.Log(c.Vs.Ratio))
}

// pairSentence says what has changed: "1 of 3 benchmarks got slower: Hash +10 % (+9.7 to
// +10.4 %)".
func pairSentence(c *compare.Comparison) string {
	reported, resources := split(c)
	_, other := pairCols(c)
	used := resourcesOf(resources, c.Tables[0].Cols[other].Name)
	if c.Counted() {
		used = strings.Join(timesSay(c), "")
	}
	parts := changedSentences(reported)
	f := sortFindings(c)
	if len(parts) > 0 {
		if !some(reported[0], func(c compare.Cell) bool { return c.Verdict.Proven() }) {
			parts = append([]string{tally(reported[0]).String() + " in " + reported[0].Unit}, parts...)
		}
		return joined("; ", append(parts, used)...)
	}
	isSame := func(p place) bool { return p.cell.Verdict == compare.Same }
	if n := len(slices.DeleteFunc(slices.Clone(f.others), isSame)); n == 0 && len(f.others) > 0 && len(f.broken) == 0 {
		if used != "" {
			return fmt.Sprintf("%s; %s: the same within ±%s", used, counted(f.benchmarks, "benchmark"), percentage(c.Margin))
		}
		return fmt.Sprintf("No change: %s, the same within ±%s", counted(f.benchmarks, "benchmark"), percentage(c.Margin))
	}
	return joined("; ", "Nothing proven: "+f.summary(c, Versions{}), used)
}

// resourcesOf counts what a column is proven to use more or less of.
func resourcesOf(resources []compare.Table, name string) string {
	counts := countProven(resources, name)
	if len(counts) == 0 {
		return ""
	}
	return "resources: " + tallyOf(counts, verdictOrder...).String()
}

// changedSentences say what has changed, table by table. If that is long, units behind the
// first one are only counted: which benchmarks they are, the rows below say.
func changedSentences(reported []compare.Table) []string {
	const long = 250
	var first, others, counts []string
	for i, t := range reported {
		s, ok := second(t)
		if !ok {
			continue
		}
		var words []string
		for _, rows := range [][]int{s.Bad, s.Good, s.Higher, s.Lower} {
			if len(rows) == 0 {
				continue
			}
			words = append(words, fmt.Sprintf("%d %s", len(rows), t.Rows[rows[0]].Cells[s.Col].Verdict))
			says := changedSentence(t, s, worstFirst(t, rows, s.Col))
			if i == 0 {
				first = append(first, says)
			} else {
				others = append(others, says)
			}
		}
		if i > 0 && len(words) > 0 {
			counts = append(counts, t.Unit+": "+strings.Join(words, ", "))
		}
	}
	if all := slices.Concat(first, others); len(first) == 0 || len(strings.Join(all, "; ")) <= long {
		return all
	}
	return slices.Concat(first, counts)
}

// second is the standing of the column of a pair that is compared.
func second(t compare.Table) (compare.Standing, bool) {
	all := t.Contenders()
	if len(all) == 0 {
		return compare.Standing{}, false
	}
	return all[len(all)-1], true
}

// namedChanges is how many changes a sentence names.
const namedChanges = 3

// changedSentence says which of the rows of a table got better or worse, higher or lower.
func changedSentence(t compare.Table, s compare.Standing, rows []int) string {
	names := rowNames(t)
	verdict := t.Rows[rows[0]].Cells[s.Col].Verdict
	verb := "got"
	in := inUnit(t)
	switch {
	case t.Unit == record.UnitCounted && len(rows) == 1:
		verb, in = "runs", " instructions"
	case t.Unit == record.UnitCounted:
		verb, in = "run", " instructions"
	case verdictTone(verdict) != Flat:
	case len(rows) == 1:
		verb = "is"
	default:
		verb = "are"
	}
	var all []string
	for _, i := range rows[:min(len(rows), namedChanges)] {
		p := placeOf(t, t.Rows[i], s.Col)
		says := p.change()
		if math.IsNaN(p.cell.Vs.Ratio) {
			says.estimate = p.told()
		}
		if says.interval != "" {
			says.estimate += " (" + says.interval + ")"
		}
		all = append(all, names[i]+" "+says.estimate)
	}
	if n := len(rows) - namedChanges; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("%d of %s %s %s%s: %s", len(rows), counted(len(s.Rows), "benchmark"), verb, verdict, in, strings.Join(all, ", "))
}

// rowNames are the names of a table's rows without what all of them have, as far as they
// stay different: the number of processors at the end, and the word "workload=", which
// says only what a row is.
func rowNames(t compare.Table) []string {
	procsOf := compare.Procs(each(t.Rows, func(r compare.Row) string { return r.Name }))
	procs := make(map[string]bool)
	for _, r := range t.Rows {
		procs[procsOf(r.Name)] = true
	}
	short := each(t.Rows, func(r compare.Row) string {
		name := r.Name
		if len(procs) == 1 {
			name = strings.TrimSuffix(name, procsOf(name))
		}
		return joined(" ", r.Pkg, strings.Replace(name, "/workload=", "/", 1))
	})
	count := make(map[string]int)
	for _, name := range short {
		count[name]++
	}
	for i, r := range t.Rows {
		if count[short[i]] > 1 {
			short[i] = benchmark(r)
		}
	}
	return short
}
