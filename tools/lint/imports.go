package lint

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

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
