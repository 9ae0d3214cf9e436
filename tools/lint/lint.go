// Package lint holds the module to rules that the compiler does not know. Each has a file:
//
//   - imports.go: which package may import which
//   - board.go: what compiles for boards
//   - recursion.go: what runs there needs a bounded stack
//   - documents.go: what documents tell a reader to type or to open is there
//
// The rules are data with reasons, in policy_test.go and recursion_policy_test.go, and
// the tests there apply them to this module. For each rule another test plants a
// violation and sees it found.
//
// Files are read in the calling process: the go command then knows what a test has read,
// and runs it again when that has changed.
package lint

import (
	"io/fs"
	"strconv"
	"strings"
)

// Policy is what a module's packages may do.
type Policy struct {
	// Module is the module's path.
	Module string

	// Rules say what packages may import. The first one that matches a package
	// governs it. A package without a rule is a violation, and so is a rule
	// without a package: the list would otherwise drift from the tree.
	Rules []Rule

	// BoardStd are the packages of the standard library that a board-safe
	// package may import.
	BoardStd []string

	// BoardGo is the newest Go release whose language and standard library a
	// board-safe package may use, such as "go1.23".
	BoardGo string

	// Banned are symbols that no board-safe package may use.
	Banned Symbols
}

// Rule is what the packages that match a pattern may import and use. Files
// whose names end in _test.go may in addition import what TestOurs says,
// all of the standard library and all of other modules.
type Rule struct {
	// Packages is a pattern of package paths relative to the module's root:
	// "." is the root, "a/*" every package directly below a, "a/..." the
	// package a and everything below it, and anything else is one package.
	Packages string

	// Why says in a sentence what the rule protects; a violation prints it.
	Why string

	// Ours are patterns of this module's packages that may be imported.
	Ours []string

	// TestOurs are further ones that only test files may import.
	TestOurs []string

	// Others are import paths, or patterns of them, of other modules.
	Others []string

	// BoardSafe packages compile for boards; board.go says what that asks.
	BoardSafe bool

	// Variants allows a board-safe package to choose files by build
	// constraint. Without it host and board would run different programs under
	// one name.
	Variants bool

	// Prints says that they are programs, which may print by print and println whatever
	// the policy bans: that is all that a board has.
	Prints bool

	// Banned are symbols that the packages may not use, in addition to the
	// policy's. It has an effect for board-safe packages only.
	Banned Symbols
}

// Symbols are functions, methods, types, variables and constants that may not be used,
// with the reason. Names are those of go/types: "sync.NewCond",
// "(*sync/atomic.Int32).And", and "println" for what is predeclared.
type Symbols map[string]string

// Violation is one thing that a rule forbids.
type Violation struct {
	Where string // file:line, or a package or rule if it concerns one as a whole
	What  string // what was found, and what to do if that is not obvious
	Why   string // the reason of the rule, if it has one of its own
}

// String returns the violation on one line.
func (v Violation) String() string {
	s := v.What
	if v.Where != "" {
		s = v.Where + ": " + s
	}
	if v.Why != "" {
		s += " (" + v.Why + ")"
	}
	return s
}

// Check reads the module in fsys and returns what breaks the policy's rules of imports
// and of boards, in the order of the packages. The error is that of a file that cannot
// be read or parsed. It is not for concurrent use.
func Check(fsys fs.FS, p Policy) ([]Violation, error) {
	t, err := readTree(fsys)
	if err != nil {
		return nil, err
	}
	c := newChecker(t, p)
	matched := make([]bool, len(p.Rules))
	for _, k := range t.sorted() {
		i := p.rule(k.path)
		if i < 0 {
			c.report(k.path, "the package has no rule: add one to the policy", "a package without a rule may import anything")
			continue
		}
		matched[i] = true
		for _, f := range k.files {
			c.imports(k, f, p.Rules[i])
		}
		if p.Rules[i].BoardSafe {
			c.board(k, p.Rules[i])
		}
	}
	for i, ok := range matched {
		if !ok {
			c.report("rule "+strconv.Quote(p.Rules[i].Packages), "no package matches it: remove it from the policy", "")
		}
	}
	return c.found, nil
}

// rule returns the rule that governs a package, or -1.
func (p Policy) rule(pkg string) int {
	for i, r := range p.Rules {
		if match(r.Packages, pkg) {
			return i
		}
	}
	return -1
}

// boardSafe reports whether a package runs on boards.
func (p Policy) boardSafe(pkg string) bool {
	i := p.rule(pkg)
	return i >= 0 && p.Rules[i].BoardSafe
}

// local returns the path relative to the module's root if a package is the module's.
func (p Policy) local(importPath string) (string, bool) {
	if importPath == p.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, p.Module+"/")
}
