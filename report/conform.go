package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dynolab/dyno/internal/conform"
)

// MatrixSchema names the form of ConformJSON's output.
const MatrixSchema = "dyno-conformance/1"

// matrixLayout lays a matrix out, one line a clause and one column a package,
// and lists the footnotes that its cells point to.
func matrixLayout(m *conform.Matrix) (layout, []string) {
	l := layout{head: []string{"clause", "rule"}, right: []bool{false, false}}
	for _, name := range shortNames(m.Packages) {
		l.head, l.right = append(l.head, name), append(l.right, false)
	}
	var notes []string
	index := make(map[string]int)
	note := func(s string) string {
		i, ok := index[s]
		if !ok {
			i = len(notes)
			index[s] = i
			notes = append(notes, s)
		}
		return references([]int{i})
	}
	for _, c := range m.Clauses {
		line := []string{c.Name, c.Rule}
		for _, p := range m.Packages {
			r, ok := p.Results[c.Name]
			switch {
			case !ok:
				line = append(line, "—")
			case r.Outcome == "pass":
				line = append(line, "pass")
			case r.Outcome == "skip":
				line = append(line, "skip"+note("skipped: "+orUnsaid(r.Why)))
			default:
				what := c.Name + " in " + p.Path + ": " + orUnsaid(r.Why)
				if r.Seed != "" {
					what += "; seed " + r.Seed
				}
				if r.Repeat != "" {
					what += "; repeat with: " + r.Repeat
				}
				line = append(line, strings.ToUpper(r.Outcome)+note(what))
			}
		}
		l.rows = append(l.rows, line)
	}
	total := []string{"passed of all", ""}
	for _, p := range m.Packages {
		pass := 0
		for _, r := range p.Results {
			if r.Outcome == "pass" {
				pass++
			}
		}
		total = append(total, fmt.Sprintf("%d of %d", pass, len(m.Clauses)))
	}
	l.rows = append(l.rows, total)
	return l, notes
}

// rulesLayout sums the matrix up by rule: one line a rule, in the order of their
// names, and in each column how many of its clauses the package has passed. So
// a line of the requirements can be looked up.
func rulesLayout(m *conform.Matrix) layout {
	l := layout{head: []string{"rule", "clauses"}, right: []bool{false, true}}
	for _, name := range shortNames(m.Packages) {
		l.head, l.right = append(l.head, name), append(l.right, false)
	}
	clauses := make(map[string][]string) // by rule
	for _, c := range m.Clauses {
		clauses[c.Rule] = append(clauses[c.Rule], c.Name)
	}
	for _, rule := range slices.SortedFunc(maps.Keys(clauses), compareRules) {
		names := clauses[rule]
		line := []string{rule, strconv.Itoa(len(names))}
		for _, p := range m.Packages {
			line = append(line, ruleCell(p, names))
		}
		l.rows = append(l.rows, line)
	}
	return l
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

// ConformText writes m as a table for a terminal, with the reasons of what was
// not passed and the output of what has a problem.
func ConformText(w io.Writer, m *conform.Matrix, o TextOptions) error {
	l, notes := matrixLayout(m)
	if o.Color {
		for _, row := range l.rows {
			for i := 2; i < len(row); i++ {
				switch {
				case row[i] == "pass":
					row[i] = colored(row[i], text.FgGreen)
				case strings.HasPrefix(row[i], "skip"):
					row[i] = colored(row[i], text.FgYellow)
				case strings.HasSuffix(row[i], "]"):
					row[i] = colored(row[i], text.FgRed)
				}
			}
		}
	}
	var b bytes.Buffer
	b.WriteString(drawText(l, o))
	b.WriteString("\n")
	for i, n := range notes {
		fmt.Fprintf(&b, "[%d] %s\n", i+1, n)
	}
	if len(m.Clauses) > 0 {
		fmt.Fprintf(&b, "\nby rule\n\n%s", drawText(rulesLayout(m), o))
	}
	for _, p := range m.Packages {
		if p.Problem != "" {
			fmt.Fprintf(&b, "\n%s: %s; its output:\n%s\n", p.Path, p.Problem, strings.TrimRight(p.Output, "\n"))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// ConformMarkdown writes the same as a document.
func ConformMarkdown(w io.Writer, m *conform.Matrix) error {
	l, notes := matrixLayout(m)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Conformance\n\n%s\n", drawMarkdown(l))
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	for i, n := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, escape(n))
	}
	if len(m.Clauses) > 0 {
		fmt.Fprintf(&b, "\n## By rule\n\n%s\n", drawMarkdown(rulesLayout(m)))
	}
	for _, p := range m.Packages {
		if p.Problem != "" {
			fmt.Fprintf(&b, "\n## %s: %s\n\n", escape(p.Path), p.Problem)
			for _, line := range strings.Split(strings.TrimRight(p.Output, "\n"), "\n") {
				fmt.Fprintf(&b, "    %s\n", line)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

type (
	matrixJSON struct {
		Schema   string            `json:"schema"`
		Clauses  []clauseJSON      `json:"clauses"`
		Packages []conformanceJSON `json:"packages"`
	}
	clauseJSON struct {
		Name string `json:"name"`
		Rule string `json:"rule"`
	}
	conformanceJSON struct {
		Path    string                      `json:"path"`
		Problem string                      `json:"problem,omitempty"`
		Output  string                      `json:"output,omitempty"`
		Results map[string]clauseResultJSON `json:"results"`
	}
	clauseResultJSON struct {
		Result string `json:"result"`
		Why    string `json:"why,omitempty"`
		Seed   string `json:"seed,omitempty"`
		Repeat string `json:"repeat,omitempty"`
	}
)

// ConformJSON writes m as one indented JSON object of the schema MatrixSchema.
func ConformJSON(w io.Writer, m *conform.Matrix) error {
	doc := matrixJSON{Schema: MatrixSchema, Clauses: []clauseJSON{}, Packages: []conformanceJSON{}}
	for _, c := range m.Clauses {
		doc.Clauses = append(doc.Clauses, clauseJSON(c))
	}
	for _, p := range m.Packages {
		pj := conformanceJSON{Path: p.Path, Problem: p.Problem, Output: p.Output, Results: make(map[string]clauseResultJSON)}
		for name, r := range p.Results {
			pj.Results[name] = clauseResultJSON{r.Outcome, r.Why, r.Seed, r.Repeat}
		}
		doc.Packages = append(doc.Packages, pj)
	}
	return writeJSON(w, doc)
}
