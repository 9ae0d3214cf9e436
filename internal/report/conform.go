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
func Conformance(m *conform.Matrix, form Form) Doc {
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

// matrixTable has one line a clause and one column a package, and lists the notes to
// which its cells point.
func matrixTable(m *conform.Matrix) (Table, []string) {
	notes := new(noteList)
	columns := []column[conform.Clause]{
		{head: "clause", text: func(c conform.Clause) string { return cmp.Or(c.Name, "passed of all") }},
		{head: "rule", text: func(c conform.Clause) string { return c.Rule }},
	}
	names := shortNames(m.Packages)
	results := make(map[[2]string]Cell) // by clause and package, so that notes are numbered line by line
	for _, c := range m.Clauses {
		for _, p := range m.Packages {
			results[[2]string{c.Name, p.Path}] = resultCell(c, p, notes)
		}
	}
	for i, p := range m.Packages {
		columns = append(columns, column[conform.Clause]{head: names[i], cell: func(c conform.Clause) Cell {
			if c.Name == "" {
				return Cell{Text: fmt.Sprintf("%d of %d", passed(p), len(m.Clauses))}
			}
			return results[[2]string{c.Name, p.Path}]
		}})
	}
	sum := conform.Clause{} // the line of sums
	return labelled(tabulate(append(slices.Clone(m.Clauses), sum), columns), "Clauses", ""), notes.texts
}

// passed counts the clauses that a package has passed.
func passed(p conform.Conformance) (n int) {
	for _, r := range p.Results {
		if r.Outcome == "pass" {
			n++
		}
	}
	return n
}

// resultCell says what became of a clause in a package.
func resultCell(c conform.Clause, p conform.Conformance, notes *noteList) Cell {
	r, ok := p.Results[c.Name]
	switch {
	case !ok:
		return Cell{Text: "—"}
	case r.Outcome == "pass":
		return Cell{Text: "pass", Tone: Good}
	case r.Outcome == "skip":
		return notes.mark(Cell{Text: "skip", Tone: Doubt}, "skipped: "+orUnsaid(r.Why))
	}
	what := c.Name + " in " + p.Path + ": " + orUnsaid(r.Why)
	if r.Seed != "" {
		what += "; seed " + r.Seed
	}
	if r.Repeat != "" {
		what += "; repeat with: " + r.Repeat
	}
	return notes.mark(Cell{Text: strings.ToUpper(r.Outcome), Tone: Bad}, what)
}

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
	count := make(map[string]int) // by outcome; "" is a clause that did not run
	for _, name := range clauses {
		count[p.Results[name].Outcome]++
	}
	pass, skip := count["pass"], count["skip"]
	missing := count[""]
	bad := len(clauses) - pass - skip - missing
	switch {
	case pass == len(clauses):
		return "pass"
	case missing == len(clauses):
		return "—"
	case skip == len(clauses):
		return "skip"
	}
	var parts []string
	for _, part := range []struct {
		n    int
		name string
	}{{bad, "FAIL"}, {pass, "pass"}, {skip, "skip"}, {missing, "missing"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	return strings.Join(parts, ", ")
}

// compareRules orders rules by their letters and then by number: G2 before G10.
func compareRules(a, b string) int {
	split := func(s string) (string, int) {
		i := strings.IndexAny(s, "0123456789")
		if i < 0 {
			return s, 0
		}
		n, err := strconv.Atoi(s[i:])
		if err != nil {
			return s, 0
		}
		return s[:i], n
	}
	aName, aNumber := split(a)
	bName, bNumber := split(b)
	return cmp.Or(strings.Compare(aName, bName), aNumber-bNumber, strings.Compare(a, b))
}

func orUnsaid(s string) string {
	if s == "" {
		return "no reason given"
	}
	return s
}

// shortNames are the packages' last elements where those differ, else their
// paths.
func shortNames(packages []conform.Conformance) []string {
	count := make(map[string]int)
	for _, p := range packages {
		count[path.Base(p.Path)]++
	}
	names := make([]string, len(packages))
	for i, p := range packages {
		names[i] = path.Base(p.Path)
		if count[names[i]] > 1 {
			names[i] = p.Path
		}
	}
	return names
}
