package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/failure"
)

// The sides of a run that compares two versions: Case.Side and the columns.
const (
	SideOld = "old"
	SideNew = "new"
)

// CommandPkg stands for the package of commands that are compared, which have none.
const CommandPkg = "command"

// ListingFailed begins the reason of a hole of a package whose benchmarks could not all
// be listed.
const ListingFailed = "listing its benchmarks: "

// OnlyIn is why a version lacks a benchmark that only the version of this side has.
func OnlyIn(side string) string { return fmt.Sprintf("only the %s version has it", side) }

// MatchSides returns the cases that both versions have, one of each side after the
// other in the order of the new version, and what each side lacks.
//
// failed is what gave no result when it was listed, by side. It is in what is lacking,
// but for a benchmark whose sub-benchmarks the other side has: then each of them is.
// So is each benchmark that the other side has of a package that could not be listed.
// What only one side has, whether it fails there or not, is a hole of the other with
// that reason; nothing was due there, and Hole.Gone says so. So are the cases of a
// package that one side does not have at all.
func MatchSides(before, after []Case, failed []Hole) (both []Case, absent []Hole) {
	old, now := newSide(SideOld, before, failed), newSide(SideNew, after, failed)
	sidesOf := func(h Hole) (own, other side) {
		if h.Side == SideNew {
			return now, old
		}
		return old, now
	}
	for _, h := range failed {
		own, other := sidesOf(h)
		if !slices.ContainsFunc(other.beneath(h), func(c Case) bool { return !own.lists[c] }) {
			absent = append(absent, h)
		}
	}
	for _, c := range after {
		if old.lists[benchmarkOf(c.Pkg, c.Name)] {
			both = append(both, Case{Pkg: c.Pkg, Name: c.Name, Side: SideOld}, Case{Pkg: c.Pkg, Name: c.Name, Side: SideNew})
			continue
		}
		absent = append(absent, old.lacks(c, SideNew)...)
	}
	for _, c := range before {
		if !now.lists[benchmarkOf(c.Pkg, c.Name)] {
			absent = append(absent, now.lacks(c, SideOld)...)
		}
	}
	for _, h := range failed {
		own, other := sidesOf(h)
		c := benchmarkOf(h.Pkg, h.Case)
		if h.Case != "" && !other.lists[c] && len(other.beneath(h)) == 0 {
			absent = append(absent, other.lacks(c, own.name)...)
		}
	}
	return both, absent
}

// A side is what one version has of benchmarks.
type side struct {
	name   string
	lists  map[Case]bool // by benchmarkOf
	failed []Hole
}

// benchmarkOf is a benchmark of either version.
func benchmarkOf(pkg, name string) Case { return Case{Pkg: pkg, Name: name} }

func newSide(name string, cases []Case, failed []Hole) side {
	s := side{name: name, lists: make(map[Case]bool)}
	for _, c := range cases {
		s.lists[benchmarkOf(c.Pkg, c.Name)] = true
	}
	for _, h := range failed {
		if h.Side == name {
			s.failed = append(s.failed, h)
		}
	}
	return s
}

// beneath returns the sub-benchmarks of h's that the side has, well or not.
func (s side) beneath(h Hole) (cases []Case) {
	has := func(pkg, name string) {
		if h.Case != "" && pkg == h.Pkg && strings.HasPrefix(name, h.Case+"/") {
			cases = append(cases, benchmarkOf(pkg, name))
		}
	}
	for c := range s.lists {
		has(c.Pkg, c.Name)
	}
	for _, f := range s.failed {
		has(f.Pkg, f.Case)
	}
	return cases
}

// lacks returns the hole of a case that the other side has and this one does not list;
// none if it has failed by itself, which is told. If what it is beneath has failed, or
// its package, that is the reason.
func (s side) lacks(c Case, other string) []Hole {
	hole := Hole{Pkg: c.Pkg, Case: c.Name, Side: s.name, Skipped: true, Kind: failure.Gone, Reason: OnlyIn(other)}
	for _, h := range s.failed {
		switch {
		case h.Pkg != c.Pkg:
		case h.Case == c.Name:
			return nil
		case h.Case == "" || strings.HasPrefix(c.Name, h.Case+"/"):
			hole.Skipped, hole.Kind, hole.Reason = h.Skipped, h.Kind, h.Reason
		}
	}
	return []Hole{hole}
}
