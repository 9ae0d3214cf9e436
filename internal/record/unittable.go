package record

import (
	"iter"
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
		for unit, fact := range factsOf(line) {
			key, _, _ := strings.Cut(fact, "=")
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

// factsOf returns the unit and each "key=value" of a Unit line without its mark. What has
// none is some other text that begins like one.
func factsOf(line string) iter.Seq2[string, string] {
	return func(yield func(unit, fact string) bool) {
		fields := strings.Fields(line)
		for i, fact := range fields {
			if i > 0 && strings.Index(fact, "=") > 0 && !yield(fields[0], fact) {
				return
			}
		}
	}
}

// has notes that lines, as learn takes them, are in the file.
func (t *unitTable) has(lines ...string) {
	t.learn(lines...)
	for _, line := range lines {
		for unit, fact := range factsOf(line) {
			t.written[unit+" "+fact] = true
		}
	}
}

// before returns the Unit lines that the file lacks for benchmark lines that come next, and
// takes them for written.
func (t *unitTable) before(results string) (lacks string) {
	for line := range strings.Lines(results) {
		res, ok := ParseResult(strings.TrimRight(line, "\n"))
		if !ok {
			continue
		}
		for _, v := range res.Values {
			unit := Written(v)
			isWritten := func(fact string) bool { return t.written[unit+" "+fact] }
			if facts := slices.DeleteFunc(slices.Clone(t.facts[unit]), isWritten); len(facts) > 0 {
				line := unit + " " + strings.Join(facts, " ")
				t.has(line)
				lacks += UnitMark + line + "\n"
			}
		}
	}
	return lacks
}
