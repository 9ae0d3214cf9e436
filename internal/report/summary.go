package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
)

// A terminal usually has so many lines of so many columns. A summary fits into them as far as
// that cuts nothing that matters.
const (
	SummaryLines   = 24
	SummaryColumns = 100
)

// Summary returns the answer of c, a row for each benchmark, and what to type next. For a
// terminal rows of what is the same or inconclusive are folded, as far as they do not fit,
// and of many warnings and findings the first few stand there.
func Summary(c *compare.Comparison, x Extra) (d Doc) {
	c = agreed(c)
	d.Title = Headline(c)
	if !x.Fold {
		d.Blocks = summarized(c, x, math.MaxInt)
		return d
	}
	for rows := SummaryLines; ; rows-- {
		d.Blocks = summarized(c, x, rows)
		if rows == 0 || height(d.Blocks) <= SummaryLines {
			return d
		}
	}
}

// height is how many lines the lists and tables of a summary take in text, with a blank line
// between two.
func height(blocks []Block) int {
	n := max(0, len(blocks)-1)
	for _, b := range blocks {
		switch b := b.(type) {
		case List:
			n += len(b.Items)
		case Table:
			n += 1 + len(b.Rows)
		}
	}
	return n
}

// summarized has at most so many rows in its table of what may be folded.
func summarized(c *compare.Comparison, x Extra, rows int) []Block {
	named := math.MaxInt
	if x.Fold {
		named = namedChanges
	}
	blocks := linesOf(slices.Concat(faults(c), x.wrapped(slices.Concat(answerLines(c), settle(c)))))
	if len(c.Tables) > 0 {
		table, folded := summaryTable(c, rows, x.Fold)
		for _, t := range table {
			if x.Fold {
				t = t.narrowed(SummaryColumns)
			}
			blocks = append(blocks, t)
		}
		blocks = append(blocks, linesOf(x.wrapped(slices.Concat(folded, undecided(c, named))))...)
	}
	return append(blocks, linesOf(slices.Concat(x.wrapped(doubts(c, x)), next(c, x)))...)
}

// linesOf is a list of lines, if there are any.
func linesOf(lines []string) []Block {
	if len(lines) == 0 {
		return nil
	}
	return []Block{listOf(lines...)}
}

// wrapped are lines that fit on a terminal. Commands are not among them, which are to be
// copied, nor what crashes, which is to be found.
func (x Extra) wrapped(lines []string) []string {
	if !x.Fold {
		return lines
	}
	return Wrap(SummaryColumns, lines...)
}

// Wrap breaks lines that are longer than so many columns between words.
func Wrap(columns int, lines ...string) (out []string) {
	const together = "\ue000%" // a number and its sign: no break between them
	for _, line := range lines {
		for part := range strings.SplitSeq(text.WrapSoft(strings.ReplaceAll(line, " %", together), columns), "\n") {
			out = append(out, strings.TrimRight(strings.ReplaceAll(part, together, " %"), " "))
		}
	}
	return out
}

// answerLines are the sentences, below what they are of.
func answerLines(c *compare.Comparison) []string {
	lines := []string{Headline(c)}
	for _, f := range c.Files {
		if text := builds(f); text != "" {
			lines = append(lines, strings.ToUpper(text[:1])+text[1:]+".")
		}
		if text := unreached(f); text != "" {
			lines = append(lines, "Not measured: "+text+".")
		}
	}
	lines = append(lines, sentences(c)...)
	if c.Counted() {
		lines = append(lines, fmt.Sprintf("Counted by %s. %s", counterOf(c), blind))
	}
	return lines
}

// settle says why two files prove nothing, and what would.
func settle(c *compare.Comparison) []string {
	if !isPair(c) || c.Col == record.SideKey || !isUnpaired(c) || c.Counted() {
		return nil
	}
	return []string{
		"The two were measured one after the other, so whatever the machine did in between counts as a difference.",
		"benchrun ab main (or HEAD~1, or ../old) measures both versions alternately, and settles it.",
	}
}

// undecided says what would decide those of two versions' times that are inconclusive, and
// about how long that takes, and names so many of them.
func undecided(c *compare.Comparison, named int) (lines []string) {
	if !isPair(c) || c.Col != record.SideKey {
		return nil
	}
	t, names := c.Tables[0], rowNames(c.Tables[0])
	var near, far []string
	blocks, row := 0, time.Duration(0) // row is how long a block takes of all that is near
	for i, r := range t.Rows {
		cell := r.Cells[len(r.Cells)-1]
		switch {
		case cell.Verdict != compare.Inconclusive || cell.Vs == nil:
		case slices.ContainsFunc(c.Files, r.IsControlOf): // no more blocks are worth that
		case cell.Vs.Undecidable:
			far = append(far, names[i])
		case cell.Vs.Need > 0:
			near = append(near, names[i])
			blocks = max(blocks, cell.Vs.Need)
			row += cell.Vs.NeedTime / time.Duration(cell.Vs.Need)
		}
	}
	if c.Counted() { // neither a quieter machine nor sides that alternate change anything
		if len(near) > 0 {
			lines = append(lines, fmt.Sprintf("to decide %s: --blocks %d", someOf(near, named), blocks))
		}
		return lines
	}
	if len(near) > 0 {
		took := ""
		if row > 0 {
			took = fmt.Sprintf(", up to about %v", (row * time.Duration(blocks)).Round(time.Second))
		}
		lines = append(lines, fmt.Sprintf("to decide %s: close other programs, and --blocks %d%s", someOf(near, named), blocks, took))
	}
	if len(far) > 0 {
		lines = append(lines, "not decidable in reasonable time while the machine is this noisy: "+someOf(far, named)+"; close other programs (--idle=wait waits for them)")
	}
	return lines
}

// someOf names the first of several things, at most so many, and counts the others.
func someOf(names []string, most int) string {
	if most == 0 {
		return fmt.Sprintf("%d of them", len(names))
	}
	shown := names[:min(len(names), most)]
	if n := len(names) - len(shown); n > 0 {
		shown = append(slices.Clone(shown), fmt.Sprintf("%d more", n))
	}
	return strings.Join(shown, ", ")
}

// isUnpaired reports whether c compares values that were not measured together.
func isUnpaired(c *compare.Comparison) bool {
	return slices.ContainsFunc(c.Tables, func(t compare.Table) bool {
		return some(t, func(c compare.Cell) bool { return c.Vs != nil && !c.Vs.Paired && !math.IsNaN(c.Vs.P) })
	})
}

// summaryTable are the tables of a summary, with so many rows at most of what may be folded,
// and lines for what they have not.
func summaryTable(c *compare.Comparison, rows int, fold bool) (table []Table, folded []string) {
	switch {
	case isPair(c):
		return pairTable(c, rows)
	case len(contenders(c)) > 0:
		return ratioTables(c, rows, fold)
	default:
		return valueTable(c, c.Tables[0], rows)
	}
}

// pairTable has a row for each benchmark with old, new and change: what got worse first,
// then what got better, then the rest.
func pairTable(c *compare.Comparison, rows int) (table []Table, folded []string) {
	f := sortFindings(c)
	reported, resources := split(c)
	all := slices.Concat(f.broken, f.proven)
	// What a gate closes on has a row.
	all = append(all, kept(provenIn(resources), func(p place) bool { return p.table.Judged() && p.cell.Verdict.Bad() })...)
	for _, matters := range []bool{true, false} {
		all = append(all, kept(f.others, func(p place) bool { return p.table.Unit == reported[0].Unit && p.matters() == matters })...)
	}
	all = append(all, kept(f.others, func(p place) bool {
		return p.table.Unit != reported[0].Unit && p.matters() && p.cell.N > 0 && p.cell.Verdict != compare.NoBase
	})...)
	others := reported[1:]
	if isUnpaired(c) { // unit by unit, as benchstat has them
		all, others = nil, nil
		_, other := pairCols(c)
		for _, t := range reported {
			if !some(t, func(c compare.Cell) bool { return c.Vs != nil && c.Verdict != compare.Same }) {
				others = append(others, t)
				continue
			}
			all = append(all, kept(placesIn(t, t.Rows...), func(p place) bool { return p.col == other })...)
		}
	}
	shown, left := foldable(all, rows, place.matters)
	if len(shown) > 0 {
		table = append(table, pairRows(c, shown, reported[0], Screen))
	}
	if n := len(left); n > 0 {
		folded = append(folded, fmt.Sprintf("%d more: %s", n, countOf(left)))
	}
	if units := unchangedUnits(others); len(units) > 0 {
		folded = append(folded, strings.Join(units, ", ")+": no difference proven")
	}
	if says := resourceCounts(resources); says != "" && !c.Counted() {
		folded = append(folded, "processor time, collections, memory: "+says)
	}
	return table, folded
}

// foldable parts rows: the first of them, as many as may stand there: those that matter do.
func foldable[T any](all []T, most int, matters func(T) bool) (shown, left []T) {
	for _, row := range all {
		switch {
		case matters(row):
			shown = append(shown, row)
			most--
		case most > 0:
			shown = append(shown, row)
			most--
		default:
			left = append(left, row)
		}
	}
	return shown, left
}

// countOf counts the verdicts of places.
func countOf(all []place) Tally {
	counts := make(map[string]int)
	for _, p := range all {
		counts[string(p.cell.Verdict)]++
	}
	return tallyOf(counts, verdictOrder...)
}

// unchangedUnits are the units of tables in which something is compared, and nothing is
// proven to differ.
func unchangedUnits(tables []compare.Table) (units []string) {
	for _, t := range tables {
		isCompared := some(t, func(c compare.Cell) bool { return c.Vs != nil })
		if isCompared && !some(t, func(c compare.Cell) bool { return c.Verdict.Proven() }) {
			units = append(units, t.Unit)
		}
	}
	return units
}

// pairRows are the rows of places of a pair, and on a screen below them the geometric mean of
// the times of all benchmarks. A page has bars as well, and what stands behind a verdict.
func pairRows(c *compare.Comparison, shown []place, first compare.Table, form Form) Table {
	unpaired := isUnpaired(c)
	names := make(map[string]string)
	for _, t := range c.Tables {
		for i, name := range rowNames(t) {
			names[benchmark(t.Rows[i])] = name
		}
	}
	value := func(p place) string {
		if !p.isMeasured() {
			return "—"
		}
		if unpaired {
			return p.center() + " " + formatSpread(p.cell)
		}
		return p.center()
	}
	link := make(map[string]string)
	for i, r := range first.Rows {
		link[benchmark(r)] = "#" + rowID(i)
	}
	scaled := slices.DeleteFunc(slices.Clone(shown), func(p place) bool { return p.table.Unit != first.Unit })
	if len(scaled) == 0 {
		scaled = shown
	} // else what vanished or came in another unit stands at the edge of the times' axis
	s := ratioScale(compare.Table{Cols: first.Cols}, each(scaled, func(p place) compare.Row { return p.row })...)
	bars := barColumn(c, s, true)
	bars.head, bars.hide = "", form != Page
	verdict := func(here bool) column[place] {
		return column[place]{head: "verdict", hide: !here, cell: func(p place) Cell {
			cell := verdictCell(p)
			for _, f := range c.Failures {
				if f.Row == p.row.Name && f.Pkg == p.row.Pkg && f.Col == p.column().Name && !p.isMeasured() {
					cell.Text = string(f.Kind)
				}
			}
			return cell
		}}
	}
	isBounded := func(p place) bool { return p.isCompared() && p.change().interval != "" }
	base, other := pairCols(c)
	t := tabulate(shown, []column[place]{
		{head: "benchmark", cell: func(p place) Cell {
			return Cell{Text: names[benchmark(p.row)], Link: link[benchmark(p.row)]}
		}},
		{
			head: "unit", hide: !slices.ContainsFunc(shown, func(p place) bool { return !p.isTime() }),
			text: func(p place) string { return p.table.Unit },
		},
		{head: cutMiddle(first.Cols[base].Name, headWidth), right: true, text: func(p place) string { return value(placeOf(p.table, p.row, base)) }},
		{head: cutMiddle(first.Cols[other].Name, headWidth), right: true, text: func(p place) string { return value(placeOf(p.table, p.row, other)) }},
		{head: "change", right: true, only: place.isCompared, text: func(p place) string { return p.change().estimate }},
		verdict(form == Page), // in view on a phone, where the rest is scrolled to
		bars,
		{head: confidence(c) + " interval", right: true, hide: unpaired && form != Page, only: isBounded, text: func(p place) string { return p.change().interval }},
		{head: "p", right: true, hide: !unpaired, only: place.isCompared, text: func(p place) string { return formatP(p.cell.Vs.P) }},
		{head: "n", right: true, hide: !unpaired, only: place.isCompared, text: func(p place) string { return formatN(p.cell) }},
		verdict(form != Page),
		timeColumn(c),
		{head: "why", long: true, hide: form != Page, cell: func(p place) Cell {
			return Cell{Text: joined(" ", references(p.cell.Notes), more(c, p)), Notes: p.cell.Notes}
		}},
	})
	if form == Page {
		t.Look, t.Axis, t.Label = Pair, s.changeTicks(5), "Changes"
		return t
	}
	var rows []Row
	for i, r := range t.Rows {
		rows = append(rows, r)
		unit := shown[i].table
		if last := i+1 == len(t.Rows); unpaired && (last || shown[i+1].table.Unit != unit.Unit) {
			rows = append(rows, geomeanRow(t, unit)...)
		} else if last {
			rows = append(rows, geomeanRow(t, first)...)
		}
	}
	t.Rows = rows
	return t
}

// geomeanRow is the geometric mean of the changes in a unit, if there are several, as a row
// of t.
func geomeanRow(t Table, unit compare.Table) []Row {
	s, ok := second(unit)
	if !ok || s.GeomeanRows < 2 {
		return nil
	}
	r := Row{Cells: make([]Cell, len(t.Columns))}
	for i, c := range t.Columns {
		switch c.Head {
		case "benchmark":
			r.Cells[i].Text = "geomean"
		case "unit":
			r.Cells[i].Text = unit.Unit
		case "change":
			r.Cells[i].Text = changeOf(s.Geomean, math.NaN(), math.NaN()).estimate
		case "verdict":
			r.Cells[i] = Cell{Text: fmt.Sprintf("of %d", s.GeomeanRows), Tone: Dim}
		}
	}
	return []Row{r}
}

// ratioTables have the ratio and a word for each benchmark and design: of the first unit, and
// of the others where something differs, proven or not.
func ratioTables(c *compare.Comparison, rows int, fold bool) (tables []Table, folded []string) {
	reported, resources := split(c)
	var unchanged []compare.Table
	for i, t := range slices.Concat(reported, resources) {
		contenders := t.Contenders()
		differs := func(row int) bool {
			return slices.ContainsFunc(contenders, func(s compare.Standing) bool {
				p := placeOf(t, t.Rows[row], s.Col)
				if t.Resource {
					return p.cell.Verdict.Bad() && t.Judged()
				}
				return p.cell.Verdict.Proven() || p.cell.Verdict == compare.Unproven
			})
		}
		matters := func(row int) bool {
			return slices.ContainsFunc(contenders, func(s compare.Standing) bool { return placeOf(t, t.Rows[row], s.Col).matters() })
		}
		var indexes []int
		for row := range t.Rows {
			if i == 0 || differs(row) {
				indexes = append(indexes, row)
			}
		}
		if len(indexes) == 0 || len(contenders) == 0 {
			if !t.Resource {
				unchanged = append(unchanged, t)
			}
			continue
		}
		shown, left := foldable(indexes, rows, matters)
		rows = max(0, rows-len(shown))
		if len(left) > 0 {
			folded = append(folded, fmt.Sprintf("%d more%s, in which nothing is proven to differ", len(left), inUnit(t)))
		}
		if len(shown) == 0 {
			continue
		}
		table := ratioMatrix(t, contenders, shown)
		if fold && table.narrowed(SummaryColumns).width() > SummaryColumns {
			table = differences(c, t, contenders, shown)
		}
		tables = append(tables, table)
	}
	if units := unchangedUnits(unchanged); len(units) > 0 {
		folded = append(folded, strings.Join(units, ", ")+": no difference proven")
	}
	return tables, folded
}

// ratioMatrix has the ratio and a word for each of some rows, and for each design.
func ratioMatrix(t compare.Table, contenders []compare.Standing, rows []int) Table {
	names := rowNames(t)
	head := "ratio to the base"
	if in := inUnit(t); in != "" {
		head = "ratio" + in
	}
	columns := []column[int]{{head: head, text: func(i int) string { return names[i] }}}
	for _, s := range contenders {
		columns = append(columns, column[int]{head: t.Cols[s.Col].Name, right: true, cell: func(i int) Cell {
			p := placeOf(t, t.Rows[i], s.Col)
			p.cell.Notes = nil // which a summary has not
			text := brief(p.cell)
			if p.isCompared() && math.IsNaN(p.cell.Vs.Ratio) && p.cell.Verdict != compare.Same {
				text = p.change().estimate + " " + text
			}
			return Cell{Text: text, Tone: verdictTone(p.cell.Verdict)}
		}})
	}
	return tabulate(rows, columns)
}

// differences are what matters of some rows, a line each, where there are too many designs to
// stand beside one another.
func differences(c *compare.Comparison, t compare.Table, contenders []compare.Standing, rows []int) Table {
	names := rowNames(t)
	var places []place
	name := make(map[string]string)
	for _, i := range rows {
		name[benchmark(t.Rows[i])] = names[i]
		for _, s := range contenders {
			if p := placeOf(t, t.Rows[i], s.Col); p.cell.Verdict != compare.Absent && p.cell.Verdict != compare.Base && p.matters() {
				places = append(places, p)
			}
		}
	}
	ratios := ratioColumns(c)
	ratios[0].head += inUnit(t)
	return tabulate(places, slices.Concat([]column[place]{
		{head: "benchmark", text: func(p place) string { return name[benchmark(p.row)] }}, nameColumn(c),
	}, ratios, []column[place]{{head: "verdict", cell: verdictCell}}))
}

// valueTable has the values of what is compared with nothing.
func valueTable(c *compare.Comparison, t compare.Table, rows int) (table []Table, folded []string) {
	places, names := placesIn(t, t.Rows...), make(map[string]string)
	for i, name := range rowNames(t) {
		names[benchmark(t.Rows[i])] = name
	}
	shown := places[:min(len(places), rows)]
	if n := len(places) - len(shown); n > 0 {
		folded = append(folded, fmt.Sprintf("and %d more", n))
	}
	if len(shown) == 0 {
		return nil, folded
	}
	return []Table{tabulate(shown, []column[place]{
		{head: "benchmark", text: func(p place) string { return names[benchmark(p.row)] }},
		nameColumn(c),
		{head: t.Unit, right: true, text: place.center},
		{head: "±", right: true, hide: t.Exact, only: place.isMeasured, text: func(p place) string { return formatSpread(p.cell) }},
		{head: "n", right: true, only: place.isMeasured, text: func(p place) string { return formatN(p.cell) }},
		{cell: func(p place) Cell { return Cell{Text: p.cell.Failure} }},
	})}, folded
}

// At most so many findings and warnings stand on a terminal.
const (
	shownFindings = 5
	shownWarnings = 3
)

// doubts are what to read before one believes the figures, each in a line, and how many
// targets are met.
func doubts(c *compare.Comparison, x Extra) (lines []string) {
	some := func(what string, all []string, most int) {
		shown := all
		if x.Fold {
			shown = all[:min(len(all), most)]
		}
		lines = append(lines, prefixed(what+": ", shown)...)
		if n := len(all) - len(shown); n > 0 {
			lines = append(lines, fmt.Sprintf("%d more %ss: --format full has them", n, what))
		}
	}
	if score := scored(x.Card); score != "" {
		lines = append(lines, score)
	}
	some("warning", c.Warnings, shownWarnings)
	some("finding", c.Findings, shownFindings)
	return lines
}

// headWidth is how many characters the name of a file has as a head.
const headWidth = 18

// nameWidth is how many characters of a row's name are shown at least.
const nameWidth = 16

// narrowed is t, with the names of its rows cut so that a line has so many columns at
// most, if that can be.
func (t Table) narrowed(columns int) Table {
	over := t.width() - columns
	if over <= 0 {
		return t
	}
	name := max(t.widthOf(0)-over, nameWidth)
	t.Rows = slices.Clone(t.Rows)
	for i, r := range t.Rows {
		r.Cells = slices.Clone(r.Cells)
		r.Cells[0].Text = cutMiddle(r.Cells[0].Text, name)
		t.Rows[i] = r
	}
	return t
}

// width is how long the lines of t are in text.
func (t Table) width() int {
	n := 2 * (len(t.Columns) - 1)
	for i := range t.Columns {
		n += t.widthOf(i)
	}
	return n
}

func (t Table) widthOf(column int) int {
	n := utf8.RuneCountInString(t.Columns[column].Head)
	for _, r := range t.Rows {
		n = max(n, utf8.RuneCountInString(r.Cells[column].plain()))
	}
	return n
}

// cutMiddle is s, cut in its middle to so many characters: the ends of names differ.
func cutMiddle(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// scored counts the targets that the results decide.
func scored(card *targets.Scorecard) string {
	if card == nil || len(card.Scores) == 0 {
		return ""
	}
	must, aim := card.Tally(true), card.Tally(false)
	return fmt.Sprintf("targets: %d met, %d missed", must.Pass+aim.Pass, must.Miss+aim.Miss)
}

// ofCommands reports whether whole commands are compared, of which there are no profiles.
func ofCommands(c *compare.Comparison) bool {
	return len(c.Tables) > 0 && slices.ContainsFunc(c.Tables[0].Rows, func(r compare.Row) bool { return r.Package == record.CommandPkg })
}

// next are the commands with which to go on.
func next(c *compare.Comparison, x Extra) (lines []string) {
	if x.Next != nil || x.Again == "" {
		return x.Next
	}
	if len(c.Tables) > 0 && len(contenders(c)) == 0 {
		lines = append(lines, "benchrun ab main (in the module) compares it with another version")
	}
	lines = append(lines, "benchrun report "+x.Again, "benchrun compare --format full "+x.Again)
	if c.Col == record.SideKey && !c.Counted() && !ofCommands(c) && len(countProven(c.Tables[:min(1, len(c.Tables))], "")) > 0 {
		lines = append(lines, "benchrun why "+x.Again)
	}
	return lines
}
