package report

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/conform"
)

// Conformance returns m as a document: which package passes which clause, the reasons of
// what was not passed, and the output of what has a problem.
// On a screen the failures come first, as go test has them, and the matrix is left out.
func Conformance(m *conform.Matrix, form Form) Doc {
	if form == Screen {
		return Doc{Title: "Conformance", Blocks: conformScreen(m)}
	}
	matrix, notes := matrixTable(m)
	blocks := []Block{matrix, List{Items: items(notes...), Numbered: true}}
	byRule := "By rule"
	if form == Terminal {
		byRule = "by rule"
	}
	if len(m.Clauses) > 0 {
		blocks = append(blocks, Heading{Level: 2, Text: byRule}, ruleTable(m))
	}
	for _, p := range m.Packages {
		if p.Problem != "" {
			blocks = append(blocks, Verbatim{p.Path + ": " + p.Problem, p.Output})
		}
	}
	return Doc{Title: "Conformance", Blocks: blocks}
}

// conformScreen has each failure with what was seen, a line for each package, and what to
// look at first.
func conformScreen(m *conform.Matrix) (blocks []Block) {
	for _, p := range m.Packages {
		if p.Problem != "" {
			blocks = append(blocks, Verbatim{p.Path + ": " + p.Problem, p.Output})
		}
		for _, c := range m.Clauses {
			if r, ok := p.Results[c.Name]; ok && !r.Passed() {
				blocks = append(blocks, linesOf(failureLines(p, c, r))...)
			}
		}
	}
	return append(blocks, listOf(append(each(m.Packages, packageLine), conformSentence(m))...))
}

// failureLines are a failure as go test has one.
func failureLines(p conform.Conformance, c conform.Clause, r conform.ClauseResult) []string {
	seen, rule, _ := strings.Cut(cmp.Or(r.Why, unsaid), " – rule: ")
	lines := []string{"--- " + strings.ToUpper(r.Outcome) + ": " + c.Name + " (" + p.Path + ")"}
	for _, field := range []struct{ name, text string }{{"rule", joined(": ", c.Rule, rule)}, {"seen", seen}, {"seed", r.Seed}, {"repeat", r.Repeat}} {
		if field.text != "" {
			lines = append(lines, fmt.Sprintf("    %-7s %s", field.name+":", strings.ReplaceAll(field.text, "\n", "\n            ")))
		}
	}
	return lines
}

// packageLine says how a package did, as go test does.
func packageLine(p conform.Conformance) string {
	passed, skipped, failed := p.Count()
	word := "ok"
	if failed > 0 || p.Problem != "" {
		word = "FAIL"
	}
	return fmt.Sprintf("%-4s  %s  %d passed, %d skipped, %d failed", word, p.Path, passed, skipped, failed)
}

// conformSentence is what came of all clauses in all packages, and where to begin.
func conformSentence(m *conform.Matrix) string {
	failed, all, skipped, first := 0, 0, 0, ""
	for _, p := range m.Packages {
		passed, s, f := p.Count()
		failed, skipped, all = failed+f, skipped+s, all+passed+s+f
		var names []string
		for _, c := range m.Clauses {
			if r, ok := p.Results[c.Name]; ok && !r.Passed() {
				names = append(names, c.Name)
			}
		}
		if len(names) > 0 && first == "" {
			first = conform.LookFirst(names)
			if len(m.Packages) > 1 {
				first += " in " + p.Path
			}
		}
	}
	switch {
	case failed > 0:
		return fmt.Sprintf("%d of %d clauses fail; look first at %s.", failed, all, first)
	case m.Broken():
		return fmt.Sprintf("No clause of %d fails, but not all could be run: see above.", all)
	case skipped > 0:
		return fmt.Sprintf("No clause fails: %d of %d pass, %d skipped (--format full has the reasons).", all-skipped, all, skipped)
	}
	return fmt.Sprintf("All %d clauses pass.", all)
}

// matrixTable has one line a clause and one column a package, and lists the notes to
// which its cells point. They are numbered line by line.
func matrixTable(m *conform.Matrix) (Table, []string) {
	notes := new(noteList)
	t := Table{Label: "Clauses", Columns: []Column{{Head: "clause"}, {Head: "rule"}}}
	sums := []Cell{{Text: "passed of all"}, {}}
	names := shortNames(m.Packages)
	for i, p := range m.Packages {
		t.Columns = append(t.Columns, Column{Head: names[i]})
		passed, _, _ := p.Count()
		sums = append(sums, Cell{Text: fmt.Sprintf("%d of %d", passed, len(m.Clauses))})
	}
	for _, c := range m.Clauses {
		cells := []Cell{{Text: c.Name}, {Text: c.Rule}}
		for _, p := range m.Packages {
			cells = append(cells, resultCell(c, p, notes))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	t.Rows = append(t.Rows, Row{Cells: sums})
	return t, notes.texts
}

// resultCell says what became of a clause in a package.
func resultCell(c conform.Clause, p conform.Conformance, notes *noteList) Cell {
	r, ok := p.Results[c.Name]
	why := cmp.Or(r.Why, unsaid)
	switch {
	case !ok:
		return Cell{Text: "—"}
	case r.Outcome == "pass":
		return Cell{Text: "pass", Tone: Good}
	case r.Outcome == "skip":
		return notes.mark(Cell{Text: "skip", Tone: Doubt}, "skipped: "+why)
	}
	if r.Seed != "" {
		why += "; seed " + r.Seed
	}
	if r.Repeat != "" {
		why += "; repeat with: " + r.Repeat
	}
	return notes.mark(Cell{Text: strings.ToUpper(r.Outcome), Tone: Bad}, c.Name+" in "+p.Path+": "+why)
}

// unsaid stands for a reason.
const unsaid = "no reason given"

// A noteList numbers notes in order of appearance, each once.
type noteList struct{ texts []string }

// mark returns the cell with a reference to a note.
func (n *noteList) mark(c Cell, note string) Cell {
	i := slices.Index(n.texts, note)
	if i < 0 {
		i, n.texts = len(n.texts), append(n.texts, note)
	}
	c.Notes = []int{i}
	c.Text += references(c.Notes)
	return c
}

// ruleTable sums the matrix up by rule: one line a rule, in the order of their
// names, and in each column how many of its clauses the package has passed. So
// a line of the requirements can be looked up.
func ruleTable(m *conform.Matrix) Table {
	clauses := make(map[string][]string) // by rule
	for _, c := range m.Clauses {
		clauses[c.Rule] = append(clauses[c.Rule], c.Name)
	}
	columns := []column[string]{
		{head: "rule", text: func(rule string) string { return rule }},
		{head: "clauses", right: true, text: func(rule string) string { return strconv.Itoa(len(clauses[rule])) }},
	}
	names := shortNames(m.Packages)
	for i, p := range m.Packages {
		columns = append(columns, column[string]{head: names[i], text: func(rule string) string { return ruleCell(p, clauses[rule]) }})
	}
	return labelled(tabulate(slices.SortedFunc(maps.Keys(clauses), compareRules), columns), "Clauses by rule", "")
}

// ruleCell says what became of a rule's clauses in a package.
func ruleCell(p conform.Conformance, clauses []string) string {
	count := make(map[string]int)
	for _, name := range clauses {
		outcome := "FAIL"
		switch r, ok := p.Results[name]; {
		case !ok || r.Outcome == "":
			outcome = "missing"
		case r.Outcome == "pass", r.Outcome == "skip":
			outcome = r.Outcome
		}
		count[outcome]++
	}
	var parts []string
	for _, outcome := range []string{"FAIL", "pass", "skip", "missing"} {
		switch n := count[outcome]; {
		case n == 0:
		case n == len(clauses) && outcome == "missing":
			return "—"
		case n == len(clauses) && outcome != "FAIL":
			return outcome
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return strings.Join(parts, ", ")
}

// compareRules orders rules by their letters and then by number: G2 before G10.
func compareRules(a, b string) int {
	split := func(s string) (string, int) {
		letters := strings.TrimRight(s, "0123456789")
		n, err := strconv.Atoi(s[len(letters):])
		if err != nil {
			return s, 0
		}
		return letters, n
	}
	aName, aNumber := split(a)
	bName, bNumber := split(b)
	return cmp.Or(strings.Compare(aName, bName), aNumber-bNumber, strings.Compare(a, b))
}

// shortNames are the packages' last elements where those differ, else their
// paths.
func shortNames(packages []conform.Conformance) []string {
	count := make(map[string]int)
	for _, p := range packages {
		count[path.Base(p.Path)]++
	}
	return each(packages, func(p conform.Conformance) string {
		if base := path.Base(p.Path); count[base] == 1 {
			return base
		}
		return p.Path
	})
}
