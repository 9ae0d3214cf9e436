package record

import (
	"slices"
	"strings"
)

// ownUnits say which way the units are better that package testing and this package
// measure. Of any other unit the benchmark that reports it says so, in a Unit line.
var ownUnits = []string{
	"ns/op better=lower", "B/op better=lower", "allocs/op better=lower",
	UnitCPU + " better=lower", UnitGCCPU + " better=lower", UnitGCs + " better=lower",
	UnitLiveHeap + " better=lower", UnitPeakRSS + " better=lower",
	UnitInstructions + " better=lower", UnitCycles + " better=lower",
}

// UnitMark begins a line of the Go benchmark format that says what is to be known of a
// unit: "Unit p50-ns better=lower assume=exact".
const UnitMark = "Unit "

// A unitTable is what is known of the units of a results file.
type unitTable struct {
	facts    map[string][]string // by unit: "better=lower", the first that was said of each key
	written  map[string]bool     // units and facts that are in the file
	rejected map[string]bool     // units and facts that contradict those
}

func newUnitTable() *unitTable {
	return &unitTable{facts: make(map[string][]string), written: make(map[string]bool), rejected: make(map[string]bool)}
}

// learn takes in Unit lines, without their mark, and returns what contradicts an earlier
// one, each once. The earlier one holds.
func (t *unitTable) learn(lines ...string) (contradictions []string) {
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		unit := fields[0]
		for _, fact := range fields[1:] {
			key, _, ok := strings.Cut(fact, "=")
			if !ok || key == "" {
				continue // not a Unit line but some other text that begins like one
			}
			i := slices.IndexFunc(t.facts[unit], func(f string) bool { return strings.HasPrefix(f, key+"=") })
			switch {
			case i < 0:
				t.facts[unit] = append(t.facts[unit], fact)
			case t.facts[unit][i] != fact && !t.rejected[unit+" "+fact]:
				t.rejected[unit+" "+fact] = true
				contradictions = append(contradictions, "says "+fact+" of the unit "+unit+", of which "+t.facts[unit][i]+" was said before, and holds")
			}
		}
	}
	return contradictions
}

// has notes that lines, as learn takes them, are in the file.
func (t *unitTable) has(lines ...string) {
	t.learn(lines...)
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 0 {
			for _, fact := range fields[1:] {
				t.written[fields[0]+" "+fact] = true
			}
		}
	}
}

// before returns the Unit lines that the file lacks for benchmark lines that come next, and
// takes them for written.
func (t *unitTable) before(results string) string {
	var b strings.Builder
	for line := range strings.Lines(results) {
		res, ok := ParseResult(strings.TrimRight(line, "\n"))
		if !ok {
			continue
		}
		for _, v := range res.Values {
			unit := Written(v)
			var lacks []string
			for _, fact := range t.facts[unit] {
				if !t.written[unit+" "+fact] {
					lacks = append(lacks, fact)
				}
			}
			if len(lacks) > 0 {
				line := unit + " " + strings.Join(lacks, " ")
				t.has(line)
				b.WriteString(UnitMark + line + "\n")
			}
		}
	}
	return b.String()
}
