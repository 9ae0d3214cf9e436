package lint

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

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

// imports compares the imports of one file with its package's rule.
func (c *checker) imports(k *pkg, f *file, r Rule) {
	for _, spec := range f.Imports {
		target, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		bad := func(what string) {
			c.report(c.at(spec.Pos()), k.path+" may not import "+target+what, r.Why)
		}
		local, ours := c.local(target)
		switch {
		case ours:
			if !matchAny(r.Ours, local) && !(f.test && (local == k.path || matchAny(r.TestOurs, local))) {
				bad("")
			}
		case !isStd(target):
			if !f.test && !matchAny(r.Others, target) {
				bad("")
			}
		case r.BoardSafe && !f.test && !f.generator && !slices.Contains(c.BoardStd, target):
			bad(": it is board-safe and the package is not on the list for boards")
		}
	}
}

// isStd reports whether an import path is of the standard library: it is the
// only one whose first element has no dot.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// match reports whether a package path relative to the module's root matches
// a pattern, as [Rule].Packages describes it.
func match(pattern, pkg string) bool {
	if p, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == p || strings.HasPrefix(pkg, p+"/")
	}
	if p, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path.Dir(pkg) == p
	}
	return pattern == pkg
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, pkg) })
}
