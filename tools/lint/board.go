package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/ast/inspector"
)

// board reports what does not compile for boards, or is another program there: files in
// other languages, variants by build constraint, init functions, linknames, language and
// symbols that are newer than BoardGo, constants that 32 bits do not hold, banned symbols, min and max of floating-point
// numbers, two types of one name within functions, and two methods of one name in a type.
func (c *checker) board(k *pkg, r Rule) {
	for _, name := range k.foreign {
		c.report(name, "a file that is not Go in a board-safe package", r.Why)
	}
	for _, f := range k.built() {
		c.form(f, r)
	}
	p := c.typeCheck(k)
	info := c.infos[k]
	c.newer(p, info)
	c.banned(k, info, r)
	c.floats(info)
	c.localTypes(k, info)
	c.promoted(k, info)
}

// form reports build constraints, init functions and linknames.
func (c *checker) form(f *file, r Rule) {
	if f.constraint && !r.Variants {
		c.report(c.at(f.Package), "a build constraint: make the other variant another implementation, with another name",
			"host and board would compare different programs under one name")
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
			c.report(c.at(d.Pos()), "an init function in a board-safe package",
				"what registers itself cannot be grepped, and a board would link it whether it is used or not")
		}
	}
	for _, g := range f.Comments {
		for _, line := range g.List {
			if strings.HasPrefix(line.Text, "//go:linkname") {
				c.report(c.at(line.Pos()), "a linkname in a board-safe package", "TinyGo's runtime has other symbols")
			}
		}
	}
}

// newer reports language and symbols of the standard library that came after BoardGo. Of
// Go releases that are newer than golang.org/x/tools, stdversion knows no symbols.
func (c *checker) newer(p *types.Package, info *info) {
	why := "boards have Go " + strings.TrimPrefix(c.BoardGo, "go")
	for _, e := range info.newer {
		c.report(c.at(e.Pos), e.Msg, why)
	}
	for _, e := range info.large {
		c.report(c.at(e.Pos), e.Msg, "most boards have 32 bits")
	}
	for _, f := range info.files { // the type checker has them with go1.23, which does not
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Assign.IsValid() && s.TypeParams != nil {
				c.report(c.at(s.Pos()), "a generic type alias requires go1.24 or later", why)
			}
			return true
		})
	}
	_, err := stdversion.Analyzer.Run(&analysis.Pass{
		Analyzer: stdversion.Analyzer, Fset: c.fset, Files: info.files, Pkg: p, TypesInfo: info.Info,
		ResultOf: map[*analysis.Analyzer]any{inspect.Analyzer: inspector.New(info.files)},
		Report:   func(d analysis.Diagnostic) { c.report(c.at(d.Pos), d.Message, why) },
	})
	if err != nil {
		panic("lint: stdversion: " + err.Error()) // it has none
	}
}

// banned reports uses of banned symbols, under any name and through any variable.
func (c *checker) banned(k *pkg, info *info, r Rule) {
	for _, f := range info.files {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || info.Uses[id] == nil {
				return true
			}
			name := symbol(info.Uses[id])
			if r.Prints && (name == "print" || name == "println") {
				return true
			}
			for _, list := range []Symbols{c.Banned, r.Banned} {
				if why, ok := list[name]; ok {
					c.report(c.at(id.Pos()), k.path+" may not use "+name, why)
				}
			}
			return true
		})
	}
}

// symbol returns the name of an object as [Symbols] has it.
func symbol(o types.Object) string {
	if f, ok := o.(*types.Func); ok {
		return f.Origin().FullName()
	}
	if o.Pkg() == nil {
		return o.Name()
	}
	return o.Pkg().Path() + "." + o.Name()
}

// floats reports where the least or greatest of floating-point numbers is taken by a
// predeclared function or one of package slices, or may be, where a type argument may be
// a float.
func (c *checker) floats(info *info) {
	bad := func(n ast.Node, what string) {
		c.report(c.at(n.Pos()), what+" takes the least or greatest of floating-point numbers: compare them by < instead",
			"of that TinyGo makes an instruction that LLVM has failed to compile for processors without floating point")
	}
	for _, f := range info.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				id, _ := ast.Unparen(n.Fun).(*ast.Ident)
				b, ok := info.Uses[id].(*types.Builtin)
				if v := info.Types[n]; ok && (b.Name() == "min" || b.Name() == "max") && v.Value == nil && mayBeFloat(v.Type) {
					bad(n, b.Name())
				}
			case *ast.Ident:
				if o := info.Uses[n]; o != nil && (symbol(o) == "slices.Min" || symbol(o) == "slices.Max") {
					if slices.ContainsFunc(slices.Collect(info.Instances[n].TypeArgs.Types()), mayBeFloat) {
						bad(n, symbol(o))
					}
				}
			}
			return true
		})
	}
}

// mayBeFloat reports whether a value of type t is a floating-point number, or of a type
// parameter whose constraint lists one.
func mayBeFloat(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsFloat != 0
	case *types.Union:
		return slices.ContainsFunc(slices.Collect(t.Terms()), func(t *types.Term) bool { return mayBeFloat(t.Type()) })
	case *types.Interface: // a constraint
		return slices.ContainsFunc(slices.Collect(t.EmbeddedTypes()), mayBeFloat)
	}
	return false
}

// localTypes reports types that are declared within functions under a name that
// another such type of the package has: Go tells them apart, and TinyGo does not.
// Within a generic function one declaration is a type for each instance, of that same
// name. Whether two are in one function, or in files of which only one is built, makes
// no difference to a reader either.
func (c *checker) localTypes(k *pkg, info *info) {
	const why = "TinyGo knows a type within a function by its package and name only: a type assertion takes one for the other"
	first := make(map[string]token.Pos)
	for _, f := range info.files {
		for _, d := range f.Decls {
			generic := false
			switch d := d.(type) {
			case *ast.GenDecl:
				if d.Tok == token.TYPE {
					continue // outside all functions
				}
			case *ast.FuncDecl:
				method, ok := info.Defs[d.Name].(*types.Func)
				generic = d.Type.TypeParams != nil || ok && method.Signature().RecvTypeParams().Len() > 0
			}
			ast.Inspect(d, func(n ast.Node) bool {
				s, ok := n.(*ast.TypeSpec)
				if !ok || s.Assign.IsValid() || s.Name.Name == "_" {
					return true // an alias is no type of its own
				}
				at, twice := first[s.Name.Name]
				switch {
				case twice:
					c.report(c.at(s.Pos()), k.path+" has two types "+s.Name.Name+" within functions, the other in "+c.at(at)+": rename one", why)
				case generic:
					c.report(c.at(s.Pos()), k.path+" has a type "+s.Name.Name+" within a generic function, one for each instance: declare it outside", why)
				default:
					first[s.Name.Name] = s.Pos()
				}
				return true
			})
		}
	}
}

// promoted reports types that have unexported methods of one name from two packages, their own or by
// embedding: Go tells them apart, and TinyGo does not.
func (c *checker) promoted(k *pkg, info *info) {
	for id, o := range info.Defs {
		if t, ok := o.(*types.TypeName); ok && !t.IsAlias() && !types.IsInterface(t.Type()) {
			methods := make(map[string]string) // the package, by name
			for m := range types.NewMethodSet(types.NewPointer(t.Type())).Methods() {
				name, from := m.Obj().Name(), m.Obj().Pkg().Path()
				if other := methods[name]; other != "" && other != from && !m.Obj().Exported() {
					c.report(c.at(id.Pos()), k.path+" has a type "+id.Name+" with two methods "+name+", of "+min(other, from)+" and "+max(other, from)+": rename one",
						"TinyGo makes one function of them, and does not compile")
				}
				methods[name] = from
			}
		}
	}
}
