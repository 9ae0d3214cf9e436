package report

import "slices"

// A Doc is a report: a title, and blocks. [Doc.Text], [Doc.Markdown] and [Doc.HTML] know
// blocks, and nothing of what they are about.
type Doc struct {
	Title  string
	Blocks []Block

	// Home are links to other pages, if there are any. Without them a page refers to
	// nothing outside itself.
	Home []Link
	// Footer is said at the end of a page.
	Footer string
}

// A Link leads to another page, or with # to a part of this one.
type Link struct{ Href, Name string }

// A Block is a part of a Doc: one of the types below.
type Block interface{ block() }

type (
	// A Heading begins a section. ID, if it is not empty, names the section for links;
	// a page's contents list those of level 2, by Short if that is not empty.
	Heading struct {
		Level           int
		Text, ID, Short string
	}
	// A Paragraph is text, with links behind it.
	Paragraph struct {
		Text  string
		Tone  Tone
		Links []Link
	}
	// A Note is lines that must not be overlooked.
	Note []string
	// A List is items. Those of a Numbered list are notes, to which cells refer.
	List struct {
		Items    []Item
		Numbered bool
		Tone     Tone
	}
	// An Item of a list is text, and before it a name if that is not empty.
	Item struct{ Name, Text string }
	// A Tally counts, such as verdicts.
	Tally []Count
	// A Count is how many there are of a word.
	Count struct {
		Word string
		N    int
		Tone Tone
	}
	// A Figure is a chart. A file of it is named after Name; Alt says what it shows.
	Figure struct {
		Name, Alt string
		chart     chart
	}
	// A Fold is blocks below a line, hidden where that is possible unless it is Open.
	Fold struct {
		Summary string
		Open    bool
		Blocks  []Block
	}
	// A Panel is blocks that stand apart from others; with Warn, to be read first.
	Panel struct {
		Warn   bool
		Blocks []Block
	}
	// Verbatim is text as it is, and what it is of.
	Verbatim struct{ Of, Text string }

	// A Table is rows of cells.
	Table struct {
		Label   string // for those who do not see the table
		Caption string
		Columns []Column
		Rows    []Row
		Axis    []tick // above the bars, if there are any
		Look    Tone   // of a page, such as Answer
	}
	// A Column says how a table's cells look. Bars are charts, which text and Markdown
	// leave out.
	Column struct {
		Head  string
		Name  bool // names the row, as the first column always does
		Right bool // numbers
		Long  bool // text of several lines
		Bars  bool
	}
	// A Row may begin a group, or be the title of one: then it has one cell.
	Row struct {
		Cells        []Cell
		Group, Title bool
	}
	// A Cell is text and how it looks.
	Cell struct {
		Text   string
		Code   []string // before Text, as it stands in files
		Small  string   // in a second line
		Tone   Tone
		Strong bool
		Heat   Tone   // how a cell of a heat map is filled
		Hint   string // what a page says where the pointer rests
		Again  bool   // the same as above, which pages show and others need not
		Notes  []int  // indexes of the notes to which Text refers, as [1]
		Link   string // where it leads
		bar    *bar
		spark  markup // a small chart in place of Text
	}
)

func (Heading) block()   {}
func (Paragraph) block() {}
func (Note) block()      {}
func (List) block()      {}
func (Tally) block()     {}
func (Figure) block()    {}
func (Fold) block()      {}
func (Panel) block()     {}
func (Verbatim) block()  {}
func (Table) block()     {}

// A Tone is how something is meant: the name of a style of pages, and a colour of
// terminals.
type Tone string

// The tones. Open is a doubt that calls for no action: terminals do not mark it.
const (
	Good      Tone = "good"
	Bad       Tone = "bad"
	Flat      Tone = "flat"
	Doubt     Tone = "doubt"
	Open      Tone = "unsure"
	Dim       Tone = "dim"
	Reference Tone = "ref"
)

// The looks of what a page begins with, and of tables that lead to other pages.
const (
	Lead    Tone = "lead"   // the sentence that answers
	Answer  Tone = "answer" // ratios below the names of their benchmarks
	HeatMap Tone = "heat"
	Pair    Tone = "pair" // changes from one to the other of two
	Index   Tone = "list"
)

// items are the lines of a list.
func items(lines ...string) []Item {
	return each(lines, func(line string) Item { return Item{Text: line} })
}

func listOf(lines ...string) List { return List{Items: items(lines...)} }

// prefixed are lines that begin alike.
func prefixed(prefix string, lines []string) []string {
	return each(lines, func(line string) string { return prefix + line })
}

// section is a heading and what stands below it; nothing if that is nothing.
func section(h Heading, blocks ...Block) []Block {
	if len(blocks) == 0 {
		return nil
	}
	return append([]Block{h}, blocks...)
}

// listSection is a section of a list; nothing if that is empty.
func listSection(h Heading, l List) []Block {
	if len(l.Items) == 0 {
		return nil
	}
	return section(h, l)
}

// A column makes the cells of a table's column from what the rows are of: a new column
// of a report is one more of these.
type column[T any] struct {
	head              string
	name              bool
	right, long, bars bool
	hide              bool
	only              func(T) bool // the cells of other rows are empty
	text              func(T) string
	cell              func(T) Cell // instead of text
}

// tabulate makes a table of the columns that are not hidden.
func tabulate[T any](rows []T, columns []column[T]) Table {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column[T]) bool { return c.hide })
	t, n := Table{Rows: make([]Row, len(rows))}, len(columns)
	cells := make([]Cell, len(rows)*n)
	for i := range rows {
		t.Rows[i].Cells = cells[i*n : i*n+n : i*n+n]
	}
	for k, c := range columns {
		t.Columns = append(t.Columns, Column{c.head, c.name, c.right, c.long, c.bars})
		for i, row := range rows {
			cell := &t.Rows[i].Cells[k]
			switch {
			case c.only != nil && !c.only(row):
			case c.cell != nil:
				*cell = c.cell(row)
			default:
				cell.Text = c.text(row)
			}
		}
	}
	return t
}

// grouped returns t with a group for each name in its first column.
func grouped(t Table) Table {
	for i := range t.Rows {
		first := i == 0 || t.Rows[i].Cells[0].Text != t.Rows[i-1].Cells[0].Text
		t.Rows[i].Group, t.Rows[i].Cells[0].Again = first, !first
	}
	return t
}

// labelled returns t with a label and a caption.
func labelled(t Table, label, caption string) Table {
	t.Label, t.Caption = label, caption
	return t
}

// isEmpty reports whether all of a column's cells are empty.
func (t Table) isEmpty(column int) bool {
	return !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[column].Text != "" || r.Cells[column].bar != nil })
}
