package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
	"github.com/dynolab/dyno/internal/why"
)

// A Form is what a document is made for. It has the same sections in each, but a
// terminal is read from its end, so there the figures come before what explains them.
type Form uint8

// The forms.
const (
	Screen Form = iota // a summary, as [Summary] makes it
	Terminal
	Document // from top to bottom, as of Markdown
	Page     // the answer first, then each benchmark with all that is known of it
)

// Extra is what a report says besides the comparison. The zero value is
// nothing.
type Extra struct {
	Title string             // what was compared, where and when, if empty
	Card  *targets.Scorecard // the targets that the results decide

	// Why explains differences, on a Page. Profiles is the start of the links to its
	// profiles, to which a path in Why is added; empty if they cannot be looked at.
	Why      *why.Index
	Profiles string

	Home []Link // to other pages

	// Fold says that a summary is for a terminal: what does not matter is folded, as far as it
	// does not fit, and long lines are wrapped.
	Fold bool

	// Again is what a command was given that says what is compared, files and flags: a
	// summary's next commands have it as well, and without it there are none. Next, if it
	// is not nil, stands in place of these.
	Again string
	Next  []string
}

// footer is said at the end of pages.
const footer = "Derived by benchrun report from the results named above, which anyone can recompute it from."

// Comparison returns the report of c.
func Comparison(c *compare.Comparison, form Form, x Extra) Doc {
	c = agreed(c)
	d := Doc{Title: cmp.Or(x.Title, Headline(c)), Home: x.Home, Footer: footer}
	switch form {
	case Screen:
		return Summary(c, x)
	case Terminal:
		d.Blocks = onTerminal(c, x.Card)
	case Document:
		d.Blocks = inDocument(c, x.Card)
	case Page:
		d.Blocks = onPage(c, x)
	}
	return d
}

// onTerminal has the warnings last, where they are read.
func onTerminal(c *compare.Comparison, card *targets.Scorecard) []Block {
	blocks := slices.Concat(fileLines(c.Files), faultNote(c))
	reported, resources := split(c)
	for i, t := range reported {
		blocks = append(blocks, Heading{Level: 2, Text: caption(t)})
		if i == 0 && wide(t) {
			blocks = append(blocks, overview(t))
		}
		blocks = append(blocks, figuresOf(c, t).rows(t.Rows...))
	}
	return slices.Concat(blocks,
		resourceSection(c, resources), sliceSection(c), clauseSection(c.Files),
		closing(slices.Concat(legend(c), quotedCalibrations(c)), c.Notes, c.Findings, c.Warnings), scoreSection(card, Terminal))
}

// closing is what a terminal has below the figures: what explains them, and what to read
// before one believes them.
func closing(explained, notes, findings, warnings []string) []Block {
	for i, n := range notes {
		explained = append(explained, references([]int{i})+" "+n)
	}
	return []Block{listOf(slices.Concat(explained, prefixed("finding: ", findings), prefixed("warning: ", warnings))...)}
}

// inDocument has each chart beside its table.
func inDocument(c *compare.Comparison, card *targets.Scorecard) []Block {
	blocks := append(faultNote(c), listOf(slices.Concat(legend(c), quotedCalibrations(c))...))
	blocks = slices.Concat(blocks, findingSection(c), warningSection(c.Warnings, Document))
	reported, resources := split(c)
	for i, t := range reported {
		blocks = append(blocks, Heading{Level: 2, Text: caption(t)})
		if i == 0 {
			blocks = append(blocks, charted(c, t)...)
		} else {
			blocks = append(blocks, figuresOf(c, t).rows(t.Rows...))
		}
	}
	return slices.Concat(blocks,
		resourceSection(c, resources), sliceSection(c), clauseSection(c.Files), scoreSection(card, Document),
		noteSection(c.Notes), holeSection(c.Files), circumstances(c.Files))
}

// charted is the table of the first unit with its charts: one of all ratios, one for
// each curve, and one for each benchmark that is on none.
func charted(c *compare.Comparison, t compare.Table) (blocks []Block) {
	if wide(t) {
		drawing, ok := overviewChart(c, t)
		blocks = append([]Block{overview(t)}, figureIf(ok, "overview", "Ratios of all benchmarks", drawing)...)
	}
	drawn := make(map[int]bool) // rows on curves
	curves := t.Curves()
	for _, curve := range curves {
		name := curveName(curve)
		drawing, ok := curveChart(c, t, curve)
		for _, p := range curve.Points {
			drawn[p.Row] = drawn[p.Row] || ok
		}
		blocks = append(blocks, Heading{Level: 3, Text: name})
		blocks = append(append(blocks, figureIf(ok, name, name, drawing)...), curveTable(t, curve))
	}
	if len(curves) > 0 {
		blocks = append(blocks, Heading{Level: 3, Text: "All benchmarks"})
	}
	blocks = append(blocks, figuresOf(c, t).rows(t.Rows...))
	for i, r := range t.Rows {
		drawing, ok := rowChart(c, t, r)
		blocks = append(blocks, figureIf(ok && !drawn[i], benchmark(r), benchmark(r), drawing)...)
	}
	return blocks
}

// figureIf is a figure, if there is something to draw.
func figureIf(ok bool, name, alt string, drawing chart) []Block {
	if !ok {
		return nil
	}
	return []Block{Figure{Name: name, Alt: alt, chart: drawing}}
}

// fileLines say where the figures come from.
func fileLines(files []compare.File) []Block {
	return []Block{List{Items: items(each(files, fileLine)...), Tone: Dim}}
}

// faultNote is what fails by the fault of the new version, before all else.
func faultNote(c *compare.Comparison) []Block {
	if broken := faults(c); len(broken) > 0 {
		return []Block{Note(broken)}
	}
	return nil
}

func findingSection(c *compare.Comparison) []Block {
	return listSection(Heading{Level: 2, Text: "Findings", ID: "findings"}, listOf(prefixed("finding: ", c.Findings)...))
}

func warningSection(warnings []string, form Form) []Block {
	blocks := listSection(Heading{Level: 2, Text: "Warnings", ID: "warnings"}, listOf(warnings...))
	if form == Page && blocks != nil {
		return []Block{blocks[0], Panel{Warn: true, Blocks: blocks[1:]}}
	}
	return blocks
}

// resourceSection shows the resources that differ, or says that none is proven to.
func resourceSection(c *compare.Comparison, resources []compare.Table) []Block {
	if t := resourceTable(c, resources); len(t.Rows) > 0 {
		return section(Heading{Level: 2, Text: resourcesTitle}, t)
	}
	if c.ResourceComparisons > 0 && len(resources) > 0 {
		return []Block{Paragraph{Text: "Processor time, collections and memory: " + resourcesSay(c, nil)}}
	}
	return nil
}

// sliceSection shows the slices of all benchmarks of which a tail moved.
func sliceSection(c *compare.Comparison) []Block {
	var places []place
	for _, t := range c.Tables {
		places = append(places, movedTails(t)...)
	}
	if t := sliceTable(c, places); len(t.Rows) > 0 {
		return section(Heading{Level: 2, Text: "Slices of whose times the slowest moved otherwise than the others"}, t)
	}
	return nil
}

func noteSection(notes []string) []Block {
	return listSection(Heading{Level: 2, Text: "Notes", ID: "notes"}, List{Items: items(notes...), Numbered: true})
}

// holeSection lists everything that was due and is missing, and what skipped itself.
func holeSection(files []compare.File) []Block {
	var missing []Item
	for _, f := range files {
		for _, h := range f.Holes {
			missing = append(missing, Item{h.Name(), h.String()})
		}
	}
	return listSection(Heading{Level: 2, Text: "Missing results", ID: "missing"}, List{Items: missing})
}

// manyValues is how many values of one setting a report shows; the results
// file has them all.
const manyValues = 4

// perResult are the settings that differ from result to result; a report only
// counts them.
var perResult = []string{"block", "case", "order"}

// circumstances say where the figures come from, with every setting of every file.
func circumstances(files []compare.File) []Block {
	blocks := []Block{Heading{Level: 2, Text: "Circumstances", ID: "circumstances"}}
	for _, f := range files {
		blocks = append(blocks, Heading{Level: 3, Text: f.Label}, settingsTable(f))
	}
	return blocks
}

func settingsTable(f compare.File) Table {
	settings := []record.Setting{{Key: "results", Values: nil}}
	number := map[string]int{"results": f.Results, "blocks": f.Blocks, "blocks planned": f.Planned, "blocks complete": f.Ended}
	if f.Blocks > 0 {
		settings = append(settings, record.Setting{Key: "blocks"})
	}
	if f.Planned > 0 {
		settings = append(settings, record.Setting{Key: "blocks complete"}, record.Setting{Key: "blocks planned"})
	}
	for _, s := range f.Config {
		if !slices.Contains(perResult, s.Key) {
			settings = append(settings, s)
		}
	}
	return labelled(tabulate(settings, []column[record.Setting]{
		{head: "setting", text: func(s record.Setting) string { return s.Key }},
		{head: "value", long: true, cell: func(s record.Setting) Cell {
			switch n := len(s.Values); {
			case n == 0:
				return Cell{Text: strconv.Itoa(number[s.Key])}
			case n > manyValues:
				return Cell{Code: s.Values[:manyValues], Text: fmt.Sprintf(" … (%d different values)", n)}
			}
			return Cell{Code: s.Values}
		}},
	}), "Circumstances of "+f.Label, "")
}

// fileLine says in one line where the figures come from.
func fileLine(f compare.File) string {
	var parts []string
	for _, key := range []string{record.BoardKey, "chip", "machine", "cpu", "goos", "goarch", "toolchain", "commit"} {
		parts = append(parts, setting(f, key))
		if key == "chip" && f.Emulated() {
			parts = append(parts, "emulated", clockOf(f))
		}
	}
	parts = append(parts, builds(f), counted(f.Results, "result"))
	switch {
	case f.Planned > 0:
		parts = append(parts, fmt.Sprintf("%d of %d blocks", f.Ended, f.Planned))
	case f.Blocks > 0:
		parts = append(parts, counted(f.Blocks, "block"))
	}
	return f.Label + ": " + joined(", ", append(parts, unreached(f))...)
}

// unreached counts the benchmarks that were not measured because nothing that they can reach
// differs in two versions; "" if there are none.
func unreached(f compare.File) string {
	n := 0
	for _, h := range f.Holes {
		if h.Kind == failure.Unchanged && h.Side == record.SideNew {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return counted(n, "benchmark") + " of which nothing that can be reached differs"
}

// builds says in what the builds of two versions differ, and their environment; "" if both are
// built and run in the same way.
func builds(f compare.File) string {
	var parts []string
	differ := func(what, before, now string) {
		if before != now {
			parts = append(parts, fmt.Sprintf("%s (%s → %s)", what, cmp.Or(before, "default"), cmp.Or(now, "default")))
		}
	}
	of := func(side, key string) string { return setting(f, record.OfSide(side, key)) }
	for _, key := range record.Built() {
		before, now, what := of(record.SideOld, key), of(record.SideNew, key), strings.ToUpper(key)
		switch key {
		case "toolchain":
			before, now, what = releaseIn(before), releaseIn(now), "the toolchain"
		case "go": // which asked for that
			if of(record.SideOld, "toolchain") != "" {
				continue
			}
			what = "--go"
		case "tags", "pgo":
			what = "-" + key
		}
		differ(what, before, now)
	}
	if len(parts) == 0 {
		return ""
	}
	revision := func(side string) string {
		dirty := ""
		if strings.HasPrefix(of(side, "dirty"), "true") {
			dirty = " and what was not committed"
		}
		if commit := of(side, "commit"); commit != "" {
			return shortCommit(commit) + dirty
		}
		return setting(f, side)
	}
	differ("the code", revision(record.SideOld), revision(record.SideNew))
	return "old and new differ in " + joined(" and ", strings.Join(parts[:len(parts)-1], ", "), parts[len(parts)-1])
}

// releaseIn is the release of Go in what go version says.
func releaseIn(said string) string {
	words := strings.Fields(strings.TrimPrefix(said, "go version "))
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words[:max(1, len(words)-1)], " ") // without the platform
}

// setting returns the value of a configuration key, all of them if there are
// several, "" if there is none.
func setting(f compare.File, key string) string {
	for _, s := range f.Config {
		if s.Key == key {
			return strings.Join(s.Values, ", ")
		}
	}
	return ""
}

// clockOf says what a board's clock counts, as its results have it; "" if they do
// not say.
func clockOf(f compare.File) string {
	hz, err := strconv.ParseFloat(setting(f, record.ClockHzKey), 64)
	unit := setting(f, record.ClockUnitKey)
	if err != nil || unit != record.InstructionClock || !(hz > 0) {
		return ""
	}
	return fmt.Sprintf("1 instruction = %s emulated", formatTime(1/hz))
}

// Resources are what processes used while they were measured: processor time,
// collections and memory. They explain times, and there are many of them, so text
// and Markdown have those only that are proven to differ. HTML has all.

// split parts the tables of c: what benchmarks report, and resources. Where there is
// nothing but resources, because a filter asks for them, they are what is asked.
func split(c *compare.Comparison) (reported, resources []compare.Table) {
	for _, t := range c.Tables {
		if t.Resource {
			resources = append(resources, t)
		} else {
			reported = append(reported, t)
		}
	}
	if len(reported) == 0 {
		return resources, nil
	}
	return reported, resources
}

// resourcesTitle heads the table of the resources that differ.
const resourcesTitle = "Resources that differ"

// resourcesSay says how many resources are proven to differ.
func resourcesSay(c *compare.Comparison, resources []compare.Table) string {
	if c.ResourceComparisons == 0 {
		return "nothing was compared."
	}
	return fmt.Sprintf("%s in %s.", cmp.Or(resourceCounts(resources), "no difference proven"), counted(c.ResourceComparisons, "comparison"))
}

// provenIn returns the cells of tables that are proven to differ, benchmark by
// benchmark and column by column.
func provenIn(tables []compare.Table) (out []place) {
	rows, cols := make(map[string]int), make(map[string]int) // in order of appearance
	appear := func(in map[string]int, name string) {
		if _, ok := in[name]; !ok {
			in[name] = len(in)
		}
	}
	for _, t := range tables {
		for _, r := range t.Rows {
			appear(rows, benchmark(r))
			for j, cell := range r.Cells {
				if cell.Verdict.Proven() {
					out = append(out, placeOf(t, r, j))
				}
			}
		}
		for _, col := range t.Cols {
			appear(cols, col.Name)
		}
	}
	slices.SortStableFunc(out, func(a, b place) int {
		return cmp.Or(rows[benchmark(a.row)]-rows[benchmark(b.row)], cols[a.column().Name]-cols[b.column().Name])
	})
	return out
}

// countProven counts the verdicts of what is proven to differ in tables, in the column of this name or, if
// that is "", in all.
func countProven(tables []compare.Table, column string) map[string]int {
	counts := make(map[string]int)
	for _, t := range tables {
		for _, r := range t.Rows {
			for i := range r.Cells {
				if v := r.Cells[i].Verdict; v.Proven() && (column == "" || t.Cols[i].Name == column) {
					counts[string(v)]++
				}
			}
		}
	}
	return counts
}

// resourceCounts says how many resources are proven to differ, and which way: "3
// worse, 1 better"; empty for none.
func resourceCounts(resources []compare.Table) string {
	return tallyOf(countProven(resources, ""), compare.Slower, compare.Worse, compare.More, compare.Faster, compare.Better, compare.Fewer, compare.Higher, compare.Lower).String()
}

// A rowIndex finds a benchmark in the tables of a comparison: where they are.
type rowIndex map[rowIn]int

type rowIn struct{ unit, pkg, name string }

func indexRows(tables ...compare.Table) rowIndex {
	at := make(rowIndex)
	for _, t := range tables {
		for i, r := range t.Rows {
			at[rowIn{t.Unit, r.Pkg, r.Name}] = i
		}
	}
	return at
}

// row returns the row of t that is the same benchmark as r, of whichever table that is.
func (at rowIndex) row(t compare.Table, r compare.Row) (compare.Row, bool) {
	i, there := at[rowIn{t.Unit, r.Pkg, r.Name}]
	if !there {
		return compare.Row{}, false
	}
	return t.Rows[i], true
}

// cell returns the cell of a benchmark in t; one without values if there is none.
func (at rowIndex) cell(t compare.Table, r compare.Row, col string) (cell compare.Cell) {
	o, there := at.row(t, r)
	if i := columnIndex(t, col); there && i >= 0 {
		cell = o.Cells[i]
	}
	return cell
}

// curveName is a curve's title.
func curveName(curve compare.Curve) string {
	return benchmark(compare.Row{Name: curve.Name, Pkg: curve.Pkg}) + " by " + curve.Key
}
