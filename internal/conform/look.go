package conform

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// faultsText is a fault dictionary, as tests of circuits have them (M. Abramovici, M. A. Breuer,
// A. D. Friedman, Digital Systems Testing and Testable Design, 1990, chapter 12): a line for each bug
// that was planted, with its contract, the clause whose rule it breaks most directly, and after a
// colon all clauses that fail with it. TestFaults of conformance/conformtest makes the lines.
//
//go:embed faults.txt
var faultsText string

// A Fault is a bug that was planted.
type Fault struct {
	First string   // the clause to look at
	Fails []string // all clauses that fail, without First
}

// Faults returns the fault dictionary.
var Faults = sync.OnceValue(func() (all []Fault) {
	for line := range strings.Lines(faultsText) {
		head, names, _ := strings.Cut(line, ":")
		contract, first, _ := strings.Cut(strings.TrimSpace(head), " ")
		f := Fault{First: contract + "/" + first}
		for _, name := range strings.Fields(names) {
			f.Fails = append(f.Fails, contract+"/"+name)
		}
		all = append(all, f)
	}
	return all
})

// alike is how similar the failures have to be to those of a planted bug (the Jaccard index) for
// its clause to be named: with less a new kind of bug would be taken for one that is known.
const alike = 0.25

// LookFirst returns the one of several clauses that fail, in the order of the suite, whose rule is
// broken most directly: that of the planted bug with which most of the same clauses fail, and few
// others do. Where none is alike it is the first.
func LookFirst(failed []string) string {
	if len(failed) == 0 {
		return ""
	}
	best, most := failed[0], alike
	for _, f := range Faults() {
		if !slices.Contains(failed, f.First) {
			continue
		}
		both := 1
		for _, name := range f.Fails {
			if slices.Contains(failed, name) {
				both++
			}
		}
		if share := float64(both) / float64(len(failed)+len(f.Fails)+1-both); share > most {
			best, most = f.First, share
		}
	}
	return best
}
