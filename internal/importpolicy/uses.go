package importpolicy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// GOROOT returns the root of the Go tree that is in use. The environment of a
// test that the go command runs names it; elsewhere it may be empty.
func GOROOT() string { return build.Default.GOROOT }

// NewerThan reads from goroot's folder api, where each Go release lists the
// symbols it added, those that came after the given release ("go1.23"). It
// fails with [fs.ErrNotExist] if the folder is not there; some distributions
// of Go leave it out.
func NewerThan(goroot fs.FS, release string) ([]Symbol, error) {
	limit, err := minor(release)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(goroot, "api/go1.*.txt")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("importpolicy: no api/go1.*.txt below GOROOT: %w", fs.ErrNotExist)
	}
	var newer []Symbol
	for _, name := range names {
		since := strings.TrimSuffix(path.Base(name), ".txt")
		m, err := minor(since)
		if err != nil {
			return nil, err
		}
		if m <= limit {
			continue
		}
		data, err := fs.ReadFile(goroot, name)
		if err != nil {
			return nil, err
		}
		for s := range strings.Lines(string(data)) {
			if sym, ok := parseAPI(s); ok {
				sym.Why = "it came with Go " + strings.TrimPrefix(since, "go") + ", and boards have Go " + strings.TrimPrefix(release, "go")
				newer = append(newer, sym)
			}
		}
	}
	return newer, nil
}

// minor returns the 23 of "go1.23".
func minor(release string) (int, error) {
	s, ok := strings.CutPrefix(release, "go1.")
	n, err := strconv.Atoi(s)
	if !ok || err != nil {
		return 0, fmt.Errorf("importpolicy: %q is not a Go release like go1.23", release)
	}
	return n, nil
}

var (
	apiLine   = regexp.MustCompile(`^pkg ([^ ,]+)(?: \([^)]*\))?, (func|method|type|const|var) (.+)$`)
	apiMethod = regexp.MustCompile(`^\(\*?(\w+)(?:\[[^]]*\])?\) (\w+)`)
	apiMember = regexp.MustCompile(`^(\w+)(?:\[.*\])? (?:struct|interface), (\w+)(\(| )`)
	apiName   = regexp.MustCompile(`^\w+`)
)

// parseAPI parses a line of a file in GOROOT/api. Lines that only say that a
// symbol has been deprecated add nothing.
func parseAPI(line string) (Symbol, bool) {
	line = strings.TrimSpace(line)
	m := apiLine.FindStringSubmatch(line)
	if m == nil || strings.Contains(line, "//deprecated") {
		return Symbol{}, false
	}
	sym, kind, decl := Symbol{Pkg: m[1]}, m[2], m[3]
	switch {
	case kind == "method":
		m := apiMethod.FindStringSubmatch(decl)
		if m == nil {
			return Symbol{}, false
		}
		sym.Name = m[1] + "." + m[2]
	case kind == "type" && strings.Contains(decl, ", unexported methods"):
		return Symbol{}, false
	default:
		if m := apiMember.FindStringSubmatch(decl); kind == "type" && m != nil {
			sym.Name = m[1] + "." + m[2]
			break
		}
		sym.Name = apiName.FindString(decl)
	}
	return sym, sym.Name != ""
}

// uses type-checks the board-safe packages and reports the banned and the too
// new symbols they use.
//
// All files of a package are checked as one program although build constraints
// may exclude one another: a name declared twice is an error that is passed
// over, and both bodies are looked at.
func (c *checker) uses(std types.Importer) {
	u := &users{checker: c, std: std, done: map[string]*types.Package{}}
	for _, dir := range c.dirs {
		if k := c.pkgs[dir]; k.rule != nil && k.rule.BoardSafe {
			u.check(k)
		}
	}
}

// users imports for the type checker: this module's packages from the files
// that have been read, those of the standard library that boards have from
// GOROOT, and all others as empty packages. What uses an empty package does not
// type-check, which costs nothing but the sight of that expression.
type users struct {
	*checker
	std  types.Importer
	done map[string]*types.Package // by import path
}

// Import implements [types.Importer].
func (u *users) Import(target string) (*types.Package, error) {
	if p := u.done[target]; p != nil {
		return p, nil
	}
	if local, ours := u.local(target); ours {
		if k := u.pkgs[local]; k != nil && !k.checked {
			return u.check(k), nil
		}
	} else if target == "unsafe" {
		return types.Unsafe, nil
	} else if slices.Contains(u.policy.BoardStd, target) {
		p, err := u.std.Import(target)
		if err == nil {
			u.done[target] = p
		}
		return p, err
	}
	p := types.NewPackage(target, path.Base(target))
	p.MarkComplete()
	u.done[target] = p
	return p, nil
}

var needsNewerGo = regexp.MustCompile(`requires go1\.\d+ or later`)

// check type-checks one package, and reports what it uses if it is board-safe.
func (u *users) check(k *pkg) *types.Package {
	k.checked = true // an import cycle ends here, with an empty package
	boardSafe := k.rule != nil && k.rule.BoardSafe
	var files []*ast.File
	for _, f := range k.files {
		if !f.test && !f.generator {
			f.ast.GoVersion = "" // a build constraint does not make boards newer
			files = append(files, f.ast)
		}
	}
	info := &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
	}
	config := types.Config{
		Importer:  u,
		GoVersion: u.policy.BoardGo,
		Error: func(err error) {
			var e types.Error
			if boardSafe && errors.As(err, &e) && needsNewerGo.MatchString(e.Msg) {
				u.report(u.at(e.Pos), e.Msg, "boards have Go "+strings.TrimPrefix(u.policy.BoardGo, "go"))
			}
		},
	}
	importPath := path.Join(u.policy.Module, k.path)
	p, _ := config.Check(importPath, u.fset, files, info) // errors went to config.Error
	u.done[importPath] = p
	if !boardSafe {
		return p
	}

	u.floats(files, info)
	forbidden := map[types.Object]Symbol{}
	for _, list := range [][]Symbol{u.policy.Newer, u.policy.Banned, k.rule.Banned} {
		for _, s := range list {
			if o := u.resolve(s); o != nil {
				forbidden[o] = s
			}
		}
	}
	var idents []*ast.Ident
	for id, o := range info.Uses {
		if _, ok := forbidden[origin(o)]; ok {
			idents = append(idents, id)
		}
	}
	slices.SortFunc(idents, func(a, b *ast.Ident) int { return int(a.Pos() - b.Pos()) })
	for _, id := range idents {
		s := forbidden[origin(info.Uses[id])]
		name := s.Name
		if s.Pkg != "" {
			name = s.Pkg + "." + name
		}
		u.report(u.at(id.Pos()), k.path+" may not use "+name, s.Why)
	}
	return p
}

// floats reports where the least or greatest of floating-point numbers is taken by a
// predeclared function, in files that were type-checked into info. Functions of package
// slices do that too, and generic ones of our own if a type argument may be a float.
func (u *users) floats(files []*ast.File, info *types.Info) {
	bad := func(pos token.Pos, what string) {
		u.report(u.at(pos), what+" takes the least or greatest of floating-point numbers: compare them by < instead",
			"of that TinyGo makes an instruction that LLVM has failed to compile for processors without floating point")
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				id, ok := ast.Unparen(n.Fun).(*ast.Ident)
				if !ok {
					break
				}
				b, ok := info.Uses[id].(*types.Builtin)
				if v := info.Types[n]; ok && (b.Name() == "min" || b.Name() == "max") && v.Value == nil && mayBeFloat(v.Type) {
					bad(n.Pos(), b.Name())
				}
			case *ast.Ident:
				o, args := info.Uses[n], info.Instances[n].TypeArgs
				if o == nil || o.Pkg() == nil || o.Pkg().Path() != "slices" || o.Name() != "Min" && o.Name() != "Max" {
					break
				}
				for t := range args.Types() {
					if mayBeFloat(t) {
						bad(n.Pos(), "slices."+o.Name())
						break
					}
				}
			}
			return true
		})
	}
}

// mayBeFloat reports whether a value of type t is a floating-point number, or of a type
// parameter that may be one.
func mayBeFloat(t types.Type) bool {
	if t == nil {
		return false
	}
	p, ok := t.(*types.TypeParam)
	if !ok {
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsFloat != 0
	}
	constraint, ok := p.Constraint().Underlying().(*types.Interface)
	return ok && slices.ContainsFunc(terms(constraint), mayBeFloat)
}

// terms returns the types that a constraint lists, those of interfaces in it too.
func terms(constraint *types.Interface) (all []types.Type) {
	for e := range constraint.EmbeddedTypes() {
		switch e := e.(type) {
		case *types.Union:
			for t := range e.Terms() {
				all = append(all, inner(t.Type())...)
			}
		default:
			all = append(all, inner(e)...)
		}
	}
	return all
}

// inner returns t, or the types that it lists if it is an interface.
func inner(t types.Type) []types.Type {
	if i, ok := t.Underlying().(*types.Interface); ok {
		return terms(i)
	}
	return []types.Type{t}
}

// resolve finds the object a symbol names. It returns nil if no package that
// was checked so far has imported the symbol's package: nobody can have used it.
func (u *users) resolve(s Symbol) types.Object {
	if s.Pkg == "" {
		return types.Universe.Lookup(s.Name)
	}
	p := u.done[s.Pkg]
	if p == nil {
		return nil
	}
	name, member, isMember := strings.Cut(s.Name, ".")
	o := p.Scope().Lookup(name)
	if o == nil || !isMember {
		return o
	}
	m, index, _ := types.LookupFieldOrMethod(o.Type(), true, p, member)
	if len(index) != 1 {
		return nil // promoted: the symbol is the embedded type's
	}
	return m
}

// origin returns the generic declaration of an instantiated method or field,
// and other objects as they are.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}
