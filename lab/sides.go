package lab

import "fmt"

// The sides of a run that compares two versions: Case.Side and the columns.
const (
	SideOld = "old"
	SideNew = "new"
)

// MatchSides returns the cases that both versions have, one of each side after
// the other in the order of the new version, and for those that one has alone a
// hole of the other side: nothing was due there.
//
// Cases of a package that one side does not have at all are such, too. A benchmark
// that one side lists under failed is none that it lacks; holes of failures are
// given in failed, by side, and stand for themselves.
func MatchSides(before, after []Case, failed []Hole) (both []Case, alone []Hole) {
	type key struct{ pkg, name string }
	index := func(cases []Case) map[key]bool {
		m := make(map[key]bool)
		for _, c := range cases {
			m[key{c.Pkg, c.Name}] = true
		}
		return m
	}
	isOld, isNew := index(before), index(after)
	has := func(side string, c Case) bool {
		for _, h := range failed {
			if h.Side == side && h.Pkg == c.Pkg && (h.Case == c.Name || h.Case == "") {
				return true
			}
		}
		return false
	}
	lacks := func(side, other string, c Case) {
		if !has(side, c) {
			alone = append(alone, Hole{Pkg: c.Pkg, Case: c.Name, Side: side, Skipped: true, Reason: fmt.Sprintf("only the %s version has it", other)})
		}
	}
	for _, c := range after {
		if isOld[key{c.Pkg, c.Name}] {
			both = append(both, Case{Pkg: c.Pkg, Name: c.Name, Side: SideOld}, Case{Pkg: c.Pkg, Name: c.Name, Side: SideNew})
		} else {
			lacks(SideOld, SideNew, c)
		}
	}
	for _, c := range before {
		if !isNew[key{c.Pkg, c.Name}] {
			lacks(SideNew, SideOld, c)
		}
	}
	return both, alone
}
