package mutate

import (
	"path"
	"strings"
)

// Patterns are the packages that are changed: the contracts with the actor core, every
// implementation, remoting, and what decides about figures and boards.
var Patterns = []string{
	"./actor", "./actor/mailbox", "./group", "./task", "./internal/queue", "./impls/...",
	"./actor/remote", "./internal/bisect", "./internal/compare", "./internal/history", "./internal/record",
	"./internal/session", "./internal/stats", "./internal/targets", "./hw", "./hw/firmware/line",
}

// leftOut are files that are not changed.
var leftOut = map[string]bool{
	"actor/remote.go": true, // the core's end of a link: the tests of actor/remote are about it
}

// A Program is tests that a mutant is run with.
type Program struct {
	Package string // relative to the module
	Race    bool   // under the race detector, which also checks invariants
	Tests   string // those whose names match, as go test -run takes it; "" means all
}

// String returns the program as it is named in results.
func (p Program) String() string {
	if p.Race {
		return p.Package + " -race"
	}
	return p.Package
}

// Args are those of the program's process.
func (p Program) Args() []string {
	args := []string{"-test.short", "-test.failfast", "-test.v", "-test.timeout=0"}
	if p.Tests != "" {
		args = append(args, "-test.run="+p.Tests)
	}
	if p.Race {
		args = append(args, "-test.cpu=4") // one of several that an author tries: these runs take the most time
	}
	return args
}

// Plan returns what the author of a package runs to find a mistake in it, the quick ones
// first: its own tests, of which the conformance suite is one; for what several
// implementations stand on, theirs as well, and again with the race detector, as
// CONTRIBUTING.md asks. There is none for the list of implementations, which is data.
func Plan(pkg string) []Program {
	switch {
	case pkg == "impls":
		return nil
	case strings.HasPrefix(pkg, "impls/"):
		return []Program{{Package: pkg}, {Package: pkg, Race: true}}
	case pkg == "actor/remote":
		return []Program{{Package: pkg}, {Package: pkg, Race: true}}
	case path.Dir(pkg) == "actor":
		return append([]Program{{Package: pkg}}, Plan("actor")...)
	case pkg == "actor":
		return []Program{{Package: pkg}, {Package: "actor/scenario"}, {Package: "impls/serial"}, {Package: "impls/lockbased"}, {Package: "impls/workstealing"}, {Package: pkg, Race: true}, {Package: "actor/scenario", Race: true}}
	case pkg == "internal/queue":
		return []Program{{Package: pkg}, {Package: "impls/lockbased"}, {Package: "impls/serial"}}
	case pkg == "group" || pkg == "task":
		return []Program{{Package: pkg}, {Package: "impls/serial"}, {Package: "impls/lockbased"}, {Package: "impls/workstealing"}, {Package: "impls/lockbased", Race: true}}
	default:
		return []Program{{Package: pkg}}
	}
}
