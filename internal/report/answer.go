package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// Headline says what was compared, where and when: "5 designs against references, 12
// workloads, Intel(R) Xeon(R) Processor, 2 cores, 22 Nov 2026".
func Headline(c *compare.Comparison) string {
	return joined(", ", subject(c), where(c.Files), when(c.Files))
}

// subject says what was compared.
func subject(c *compare.Comparison) string {
	if len(c.Tables) == 0 {
		return "Nothing to compare"
	}
	t := c.Tables[0]
	rows := counted(len(t.Rows), "benchmark")
	switch {
	case isPair(c):
		return fmt.Sprintf("%s against %s, %s", versionName(c, t, 1), versionName(c, t, 0), rows)
	case len(t.Cols) < 2:
		return rows
	}
	contenders := t.Contenders()
	if len(contenders) == 0 {
		return joined(", ", counted(len(t.Cols), columnNoun(c)), rows)
	}
	isPeer := func(s compare.Standing) bool { return t.Cols[s.Col].Peer }
	designs := slices.DeleteFunc(slices.Clone(contenders), isPeer)
	what := counted(len(designs), columnNoun(c))
	switch n := len(contenders) - len(designs); {
	case n > 0 && len(designs) == 0 && t.Rows[0].Base >= 0:
		return counted(n, "peer") + " against " + t.Cols[t.Rows[0].Base].Name + ", " + rows
	case n > 0:
		what = joined(" and ", what, counted(n, "peer"))
	}
	if refs := slices.ContainsFunc(t.Cols, func(col compare.Column) bool { return col.Ref }); refs && !t.Cols[contenders[0].Col].Ref {
		what += " against references"
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
		return joined(", ", cmp.Or(setting(f, record.BoardKey), setting(f, "cpu-model"), setting(f, "machine"), setting(f, "cpu")), cores)
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
	return strings.Join(slices.Concat(faults(c), sentences(c)[:1]), "; ")
}

// sentences are the answer: one for a pair, else one for each contender.
func sentences(c *compare.Comparison) []string {
	if len(c.Tables) == 0 {
		return []string{"There is nothing to compare."}
	}
	t := c.Tables[0]
	contenders := t.Contenders()
	switch {
	case len(contenders) == 0:
		return []string{"Nothing was compared: each benchmark has one column only."}
	case isPair(c):
		return []string{pairSentence(c)}
	}
	names := rowNames(t)
	return each(contenders, func(s compare.Standing) string { return designSentence(t, names, s) })
}

// designSentence says how a design does: "workstealing: faster on 10 of 12, slower on
// Task/yield (1.24); 0.17 to 1.24 of the base".
func designSentence(t compare.Table, names []string, s compare.Standing) string {
	of := func(n int) string { return fmt.Sprintf("%d of %d", n, len(s.Rows)) }
	var parts []string
	if n := len(s.Good); n > 0 {
		parts = append(parts, fmt.Sprintf("%s on %s", t.Rows[s.Good[0]].Cells[s.Col].Verdict, of(n)))
	}
	if n := len(s.Bad); n > 0 {
		bad := worstFirst(t, s.Bad, s.Col)
		word := string(t.Rows[bad[0]].Cells[s.Col].Verdict)
		first := fmt.Sprintf("%s (%s)", names[bad[0]], formatRatio(t.Rows[bad[0]].Cells[s.Col].Vs.Ratio))
		if n == 1 {
			parts = append(parts, word+" on "+first)
		} else {
			parts = append(parts, fmt.Sprintf("%s on %s, most on %s", word, of(n), first))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no difference proven on "+of(len(s.Rows)))
	}
	rest := ""
	if !math.IsNaN(s.Least) {
		rest = formatRatio(s.Least) + " to " + formatRatio(s.Most)
	}
	return t.Cols[s.Col].Name + ": " + joined("; ", strings.Join(parts, ", "), rest)
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
	reported, _ := split(c)
	parts := changedSentences(reported)
	f := sortFindings(c)
	if len(parts) > 0 {
		if !some(reported[0], func(c compare.Cell) bool { return c.Verdict.Proven() }) {
			parts = append([]string{tally(reported[0]).String() + " in " + reported[0].Unit}, parts...)
		}
		return strings.Join(parts, "; ")
	}
	if n := f.count[string(compare.Same)]; n == f.benchmarks && n > 0 {
		return fmt.Sprintf("No change: %s, the same within ±%s", counted(n, "benchmark"), percentage(c.Margin))
	}
	return "Nothing proven: " + f.summary(c, Versions{})
}

// changedSentences say what has changed, table by table. If that is long, units behind the
// first one are only counted: which benchmarks they are, the rows below say.
func changedSentences(reported []compare.Table) []string {
	const long = 250
	var first, others, counts []string
	for i, t := range reported {
		s, ok := second(t)
		if !ok || repeatsTime(reported, t) {
			continue
		}
		var words []string
		for _, rows := range [][]int{s.Bad, s.Good} {
			if len(rows) == 0 {
				continue
			}
			words = append(words, fmt.Sprintf("%d %s", len(rows), t.Rows[rows[0]].Cells[s.Col].Verdict))
			says := changedSentence(t, s, worstFirst(t, rows, s.Col), i == 0)
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

// repeatsTime reports whether a table says in another unit what the times say.
func repeatsTime(tables []compare.Table, t compare.Table) bool {
	return (t.Unit == "MB/s" || t.Unit == "B/s") && tables[0].Unit == "ns/op"
}

// namedChanges is how many changes a sentence names.
const namedChanges = 3

// changedSentence says which of the rows of a table got better or worse.
func changedSentence(t compare.Table, s compare.Standing, rows []int, first bool) string {
	names := rowNames(t)
	word, unit := string(t.Rows[rows[0]].Cells[s.Col].Verdict), ""
	if !first {
		unit = " in " + t.Unit
	}
	of := fmt.Sprintf("%d of %s got", len(rows), counted(len(s.Rows), "benchmark"))
	var all []string
	for _, i := range rows[:min(len(rows), namedChanges)] {
		vs := t.Rows[i].Cells[s.Col].Vs
		in := ""
		if text := changeInterval(vs); text != "" {
			in = " (" + text + ")"
		}
		says := change(vs.Ratio)
		if p := placeOf(t, t.Rows[i], s.Col); math.IsNaN(vs.Ratio) {
			says = p.base().center() + " to " + p.center()
		}
		all = append(all, names[i]+" "+says+in)
	}
	if n := len(rows) - namedChanges; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("%s %s%s: %s", of, word, unit, strings.Join(all, ", "))
}

// changeInterval writes an interval of ratios as changes: "+9.7 to +10.4 %"; "" if there
// is none.
func changeInterval(vs *compare.Versus) string {
	if vs == nil || math.IsNaN(vs.Lo) || math.IsInf(vs.Hi, 1) || vs.Lo <= 0 {
		return ""
	}
	if vs.Hi >= 2 {
		return change(vs.Lo) + " to " + change(vs.Hi)
	}
	decimals := 1
	if max(math.Abs(vs.Lo-1), math.Abs(vs.Hi-1)) >= 0.2 {
		decimals = 0
	}
	part := func(ratio float64) string {
		text := strconv.FormatFloat(100*math.Abs(ratio-1), 'f', decimals, 64)
		if strings.Trim(text, "0.") == "" {
			return "0"
		}
		return sign(ratio-1) + text
	}
	return part(vs.Lo) + " to " + part(vs.Hi) + " %"
}

// rowNames are the names of a table's rows without what all of them have, as far as they
// stay different: the number of processors at the end, and the word "workload=", which
// says only what a row is.
func rowNames(t compare.Table) []string {
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

// procsOf is what GOMAXPROCS adds to a name, such as "-8".
func procsOf(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return ""
	}
	if _, err := strconv.ParseUint(name[i+1:], 10, 16); err != nil {
		return ""
	}
	return name[i:]
}
