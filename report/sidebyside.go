package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/lab"
	"github.com/dynolab/dyno/targets"
)

// SideBySideSchema names the form of SideBySideJSON's output.
const SideBySideSchema = "dyno-sidebyside/1"

// placeName is a place as the head of a column.
func placeName(p lab.Place) string {
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

// A sideNotes numbers the reasons why cells are empty, in order of appearance.
type sideNotes struct{ texts []string }

func (n *sideNotes) mark(text string) string {
	i := slices.Index(n.texts, text)
	if i < 0 {
		i, n.texts = len(n.texts), append(n.texts, text)
	}
	return references([]int{i})
}

// sideValue is a cell with its unit, if the line's name does not say it, and how
// far its interval reaches.
func sideValue(c lab.SideCell, notes *sideNotes) string {
	if c.N == 0 {
		if c.Why == "" {
			return ""
		}
		return "—" + notes.mark(c.Why)
	}
	v := formatValue(c.Center, c.Unit)
	if isInstructions(c.Unit) {
		v += " insns"
	}
	if s := c.Spread(); !math.IsNaN(s) {
		v += fmt.Sprintf(" ±%.0f%%", 100*s)
	}
	return v
}

func isInstructions(unit string) bool {
	return strings.HasPrefix(unit, "insns/") || strings.HasSuffix(unit, "-insns")
}

// sideLayout lays a workload out: a group of lines for each implementation, a column
// for each place.
func sideLayout(s *lab.SideBySide, w lab.SideWorkload, notes *sideNotes) layout {
	l := layout{head: []string{"impl", ""}, right: []bool{false, false}}
	for _, p := range s.Places {
		l.head, l.right = append(l.head, placeName(p)), append(l.right, true)
	}
	for _, impl := range w.Impls {
		for i, line := range impl.Lines {
			name := ""
			if i == 0 {
				name = impl.Name
			}
			row := []string{name, lineName(line.Unit)}
			for _, c := range line.Cells {
				row = append(row, sideValue(c, notes))
			}
			l.rows, l.group = append(l.rows, row), append(l.group, i == 0)
		}
	}
	return l
}

// sideLegend explains the tables.
func sideLegend(s *lab.SideBySide) []string {
	lines := []string{
		"Each figure stands for itself. Between columns there is no ratio and no verdict: a figure of one machine says nothing of another's.",
		"±: how far the ends of the " + confidence(s.Comparisons[0]) + " interval of the median lie from it; none where a figure is exact, or of too few blocks.",
	}
	counts, times := false, false
	for i, p := range s.Places {
		if !p.Emulated {
			continue
		}
		for _, w := range s.Workloads {
			for _, impl := range w.Impls {
				for _, line := range impl.Lines {
					if c := line.Cells[i]; c.N > 0 {
						counts = counts || isInstructions(c.Unit)
						times = times || isTime(c.Unit)
					}
				}
			}
		}
	}
	if counts {
		lines = append(lines, "insns: instructions, which the emulator of a board counts. The number is the same in every run, and no measure of real time.")
	}
	if times {
		lines = append(lines, "A time of an emulated machine is what the emulator takes on its host: no measure of the real one.")
	}
	if n := len(s.HostOnly); n > 0 {
		lines = append(lines, "Left out, because no board has them: "+counted(n, "benchmark")+" of hosts. References, which no board runs, are left out too.")
	}
	return lines
}

// sideWarnings are the warnings of all places, each with its place.
func sideWarnings(s *lab.SideBySide) (warnings []string) {
	for i, c := range s.Comparisons {
		for _, w := range c.Warnings {
			warnings = append(warnings, placeName(s.Places[i])+": "+w)
		}
	}
	return warnings
}

// sideProblems are the lines that could not be read of all places.
func sideProblems(s *lab.SideBySide) (problems []string) {
	for _, c := range s.Comparisons {
		problems = append(problems, c.Problems...)
	}
	return problems
}

// sideFiles are the files of all places.
func sideFiles(s *lab.SideBySide) []lab.File {
	var files []lab.File
	for _, c := range s.Comparisons {
		files = append(files, c.Files...)
	}
	return files
}

// SideBySideText writes s as tables for a terminal, one a benchmark, and card after
// them if that is not nil.
func SideBySideText(w io.Writer, s *lab.SideBySide, card *targets.Scorecard, o TextOptions) error {
	var b bytes.Buffer
	for _, f := range sideFiles(s) {
		fmt.Fprintln(&b, fileLine(f))
	}
	notes := new(sideNotes)
	for _, load := range s.Workloads {
		fmt.Fprintf(&b, "\n%s\n\n%s", load.Name, drawText(sideLayout(s, load, notes), o))
	}
	clausesText(&b, sideFiles(s), o)
	b.WriteString("\n")
	for _, line := range sideLegend(s) {
		fmt.Fprintln(&b, line)
	}
	for i, n := range notes.texts {
		fmt.Fprintf(&b, "[%d] %s\n", i+1, n)
	}
	for _, warning := range sideWarnings(s) {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	if card != nil {
		b.WriteString("\nTargets\n\n")
		scorecardText(&b, card, o)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// SideBySideMarkdown writes s as a document, with the targets of card if that is
// not nil.
func SideBySideMarkdown(w io.Writer, s *lab.SideBySide, card *targets.Scorecard) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", escape(sideTitle(s)))
	for _, line := range sideLegend(s) {
		fmt.Fprintf(&b, "- %s\n", escape(line))
	}
	b.WriteString("\n")
	if warnings := sideWarnings(s); len(warnings) > 0 {
		b.WriteString("## Warnings\n\n")
		for _, warning := range warnings {
			fmt.Fprintf(&b, "- %s\n", escape(warning))
		}
		b.WriteString("\n")
	}
	notes := new(sideNotes)
	for _, load := range s.Workloads {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", escape(load.Name), drawMarkdown(sideLayout(s, load, notes)))
	}
	clausesMarkdown(&b, sideFiles(s))
	if card != nil {
		b.WriteString("## Targets\n\n")
		scorecardMarkdown(&b, card)
	}
	if len(notes.texts) > 0 {
		b.WriteString("## Notes\n\n")
		for i, n := range notes.texts {
			fmt.Fprintf(&b, "%d. %s\n", i+1, escape(n))
		}
		b.WriteString("\n")
	}
	all := &lab.Comparison{Files: sideFiles(s)}
	holesMarkdown(&b, all)
	circumstancesMarkdown(&b, all)
	_, err := w.Write(append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
	return err
}

// sideTitle names the places.
func sideTitle(s *lab.SideBySide) string {
	var names []string
	for _, p := range s.Places {
		names = append(names, p.Name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + ", side by side"
}

type sideView struct {
	ID, Name string
	Table    gridView
}

// SideBySideHTML writes s as one HTML document that refers to nothing outside
// itself, with the targets of card if that is not nil.
func SideBySideHTML(w io.Writer, s *lab.SideBySide, card *targets.Scorecard) error {
	p := page{Title: sideTitle(s), Style: Style(), Policy: Policy(), Warnings: sideWarnings(s), Legend: sideLegend(s)}
	notes := new(sideNotes)
	for i, load := range s.Workloads {
		p.Side = append(p.Side, sideView{rowID(i), load.Name, gridOf(sideLayout(s, load, notes), "Figures of "+load.Name)})
		p.Sections = append(p.Sections, link{rowID(i), load.Name})
	}
	for i, n := range notes.texts {
		p.Notes = append(p.Notes, noteView{noteID(i), n})
	}
	for _, f := range sideFiles(s) {
		p.Files = append(p.Files, fileView{f.Label, fileLine(f), settingsGrid(f)})
		for _, h := range f.Holes {
			p.Holes = append(p.Holes, holeView{h.Name(), h.String()})
		}
	}
	p.Clauses = newClausesView(sideFiles(s))
	p.Problems = sideProblems(s)
	if card != nil {
		p.Targets = newTargetsView(card)
	}
	p.Sections = append(p.Sections, p.rest()...)
	var b bytes.Buffer
	if err := reportHTML.ExecuteTemplate(&b, "sidebyside", p); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

type (
	sideJSON struct {
		Schema    string             `json:"schema"`
		Places    []placeJSON        `json:"places"`
		Files     []fileJSON         `json:"files"`
		Workloads []sideWorkloadJSON `json:"workloads"`
		HostOnly  []string           `json:"host_only"`
		remarksJSON
	}
	placeJSON struct {
		Name     string   `json:"name"`
		Board    bool     `json:"board"`
		Chip     string   `json:"chip,omitempty"`
		Emulated bool     `json:"emulated"`
		Paths    []string `json:"paths"`
	}
	sideWorkloadJSON struct {
		Benchmark string           `json:"benchmark"`
		Figures   []sideFigureJSON `json:"figures"`
	}
	sideFigureJSON struct {
		Impl   string   `json:"implementation"`
		Place  string   `json:"place"`
		Unit   string   `json:"unit"`
		Exact  bool     `json:"exact"`
		N      int      `json:"n"`
		Procs  int      `json:"procs,omitempty"`
		Center *float64 `json:"center"`
		Lo     *float64 `json:"lo"`
		Hi     *float64 `json:"hi"`
		Why    string   `json:"why,omitempty"`
	}
)

// SideBySideJSON writes s as one indented JSON object of the schema
// SideBySideSchema, with the scores of card if that is not nil.
func SideBySideJSON(w io.Writer, s *lab.SideBySide, card *targets.Scorecard) error {
	doc := sideJSON{
		Schema: SideBySideSchema, Workloads: []sideWorkloadJSON{}, HostOnly: append([]string{}, s.HostOnly...),
		remarksJSON: remarksToJSON(sideWarnings(s), sideProblems(s), card),
	}
	for _, p := range s.Places {
		doc.Places = append(doc.Places, placeJSON{p.Name, p.Board, p.Chip, p.Emulated, p.Paths})
	}
	for _, f := range sideFiles(s) {
		doc.Files = append(doc.Files, fileToJSON(f))
	}
	for _, load := range s.Workloads {
		wj := sideWorkloadJSON{Benchmark: load.Name, Figures: []sideFigureJSON{}}
		for _, impl := range load.Impls {
			for _, line := range impl.Lines {
				for i, c := range line.Cells {
					if c.N == 0 && c.Why == "" {
						continue
					}
					fj := sideFigureJSON{Impl: impl.Name, Place: s.Places[i].Name, Unit: line.Unit, N: c.N, Procs: c.Procs, Exact: c.Exact, Why: c.Why}
					if c.N > 0 {
						fj.Unit, fj.Center, fj.Lo, fj.Hi = c.Unit, finite(c.Center), finite(c.Lo), finite(c.Hi)
					}
					wj.Figures = append(wj.Figures, fj)
				}
			}
		}
		doc.Workloads = append(doc.Workloads, wj)
	}
	return writeJSON(w, doc)
}

// SideBySidePath returns where the side by side of the results files belongs: beside
// the first of them, or in dir if that is not empty. Its name ends in -boards.md, so
// that it does not replace the report of that file alone.
func SideBySidePath(results []string, dir string) string {
	path := Path(results, dir)
	return strings.TrimSuffix(path, filepath.Ext(path)) + "-boards.md"
}

// WriteSideBySide writes s as a markdown document, out, and beside it as HTML, whose
// path is that of [HTMLPath], and as JSON, whose name ends in .report.json.
func WriteSideBySide(s *lab.SideBySide, card *targets.Scorecard, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	for _, one := range []struct {
		path  string
		write func(io.Writer, *lab.SideBySide, *targets.Scorecard) error
	}{
		{out, SideBySideMarkdown},
		{HTMLPath(out), SideBySideHTML},
		{strings.TrimSuffix(out, filepath.Ext(out)) + ".report.json", SideBySideJSON},
	} {
		var b bytes.Buffer
		if err := one.write(&b, s, card); err != nil {
			return err
		}
		if err := os.WriteFile(one.path, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// clockOf says what a board's clock counts, as its results have it; "" if they do
// not say.
func clockOf(f lab.File) string {
	hz, err := strconv.ParseFloat(setting(f, lab.ClockHzKey), 64)
	unit := setting(f, lab.ClockUnitKey)
	if err != nil || unit != lab.InstructionClock || !(hz > 0) {
		return ""
	}
	return fmt.Sprintf("1 instruction = %s emulated", formatTime(1/hz))
}
