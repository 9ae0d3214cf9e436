package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
)

// SideBySide returns s as a document: a table for each benchmark, and the targets of card
// if that is not nil. It has no summary: nothing is compared.
func SideBySide(s *compare.SideBySide, form Form, card *targets.Scorecard) Doc {
	if form == Screen {
		form = Terminal
	}
	d := Doc{Title: sideTitle(s), Footer: footer}
	notes := new(noteList)
	var tables []Block
	for i, load := range s.Workloads {
		tables = append(tables, Heading{Level: 2, Text: load.Name, ID: rowID(i)}, labelled(sideTable(s, load, notes), "Figures of "+load.Name, ""))
	}
	files, warnings := sideFiles(s), sideWarnings(s)
	clauses, scores := clauseSection(files), scoreSection(card, form)
	switch form {
	case Terminal:
		d.Blocks = slices.Concat(fileLines(files), tables, clauses, closing(sideLegend(s), notes.texts, nil, warnings), scores)
	case Document:
		d.Blocks = slices.Concat([]Block{listOf(sideLegend(s)...)}, warningSection(warnings, form),
			tables, clauses, scores, noteSection(notes.texts), holeSection(files), circumstances(files))
	case Page:
		d.Blocks = slices.Concat(fileLines(files), tables, warningSection(warnings, form), clauses, scores,
			pageEnd(notes.texts, files, sideProblems(s), sideLegend(s)))
	}
	return d
}

// placeName is a place as the head of a column.
func placeName(p compare.Place) string {
	if p.Emulated {
		return p.Name + " (emulated)"
	}
	return p.Name
}

// lineName is what a line of a side by side is of: without a unit for times, whose
// cells have their own.
func lineName(unit string) string {
	if rest, ok := strings.CutPrefix(unit, "ns/"); ok {
		return "time/" + rest
	}
	return strings.TrimSuffix(unit, "-ns")
}

// sideCell is a cell with its unit, if the line's name does not say it, and how
// far its interval reaches.
func sideCell(c compare.SideCell, notes *noteList) Cell {
	if c.N == 0 {
		if c.Why == "" {
			return Cell{}
		}
		return notes.mark(Cell{Text: "—"}, c.Why)
	}
	v := formatValue(c.Center, c.Unit)
	if isInstructions(c.Unit) {
		v += " insns"
	}
	if s := c.Spread(); !math.IsNaN(s) {
		v += fmt.Sprintf(" ±%.0f%%", 100*s)
	}
	return Cell{Text: v}
}

func isInstructions(unit string) bool {
	return strings.HasPrefix(unit, "insns/") || strings.HasSuffix(unit, "-insns")
}

// sideTable has a group of lines for each implementation of a workload, and a column for
// each place.
func sideTable(s *compare.SideBySide, w compare.SideWorkload, notes *noteList) Table {
	t := Table{Columns: []Column{{Head: "impl"}, {}}}
	for _, p := range s.Places {
		t.Columns = append(t.Columns, Column{Head: placeName(p), Right: true})
	}
	for _, impl := range w.Impls {
		for _, line := range impl.Lines {
			cells := []Cell{{Text: impl.Name}, {Text: lineName(line.Unit)}}
			for _, c := range line.Cells {
				cells = append(cells, sideCell(c, notes))
			}
			t.Rows = append(t.Rows, Row{Cells: cells})
		}
	}
	return grouped(t)
}

// sideLegend explains the tables.
func sideLegend(s *compare.SideBySide) []string {
	lines := []string{
		"Each figure stands for itself. Between columns there is no ratio and no verdict: a figure of one machine says nothing of another's.",
		"±: how far the ends of the " + confidence(s.Comparisons[0]) + " interval of the median lie from it; none where a figure is exact, or of too few blocks.",
	}
	if emulates(s, isInstructions) {
		lines = append(lines, "insns: instructions, which the emulator of a board counts. The number is the same in every run, and no measure of real time.")
	}
	if emulates(s, isTime) {
		lines = append(lines, "A time of an emulated machine is what the emulator takes on its host: no measure of the real one.")
	}
	if n := len(s.HostOnly); n > 0 {
		lines = append(lines, "Left out, because no board has them: "+counted(n, "benchmark")+" of hosts. References, which no board runs, are left out too.")
	}
	return lines
}

// emulates reports whether an emulated place has a figure in such a unit.
func emulates(s *compare.SideBySide, unit func(string) bool) bool {
	for _, w := range s.Workloads {
		for _, impl := range w.Impls {
			for _, line := range impl.Lines {
				for i, c := range line.Cells {
					if s.Places[i].Emulated && c.N > 0 && unit(c.Unit) {
						return true
					}
				}
			}
		}
	}
	return false
}

// sideWarnings are the warnings of all places, each with its place.
func sideWarnings(s *compare.SideBySide) (warnings []string) {
	for i, c := range s.Comparisons {
		warnings = append(warnings, prefixed(placeName(s.Places[i])+": ", c.Warnings)...)
	}
	return warnings
}

// sideProblems are the lines that could not be read of all places.
func sideProblems(s *compare.SideBySide) []string {
	return slices.Concat(each(s.Comparisons, func(c *compare.Comparison) []string { return c.Problems })...)
}

// sideFiles are the files of all places.
func sideFiles(s *compare.SideBySide) []compare.File {
	return slices.Concat(each(s.Comparisons, func(c *compare.Comparison) []compare.File { return c.Files })...)
}

// sideTitle names the places.
func sideTitle(s *compare.SideBySide) string {
	names := each(s.Places, func(p compare.Place) string { return p.Name })
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + ", side by side"
}
