package lint

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/ast/inspector"
)

// checker is one run of Check. It imports for the type checker: the module's packages
// from the files that were read, those of the standard library that boards have from
// GOROOT, and all others as empty packages. An expression that uses an empty package
// does not type-check and goes unseen, and nothing else does.
type checker struct {
	*tree
	Policy
	types map[string]*types.Package // by import path
	infos map[*pkg]*info
	found []Violation
}

// info is what the type checker knows of a package.
type info struct {
	*types.Info
	files []*ast.File
	newer []types.Error // uses of language that is newer than BoardGo
}

// std reads the packages of the standard library, each once for all checkers, since that
// takes longer than all the rest.
var std = importer.ForCompiler(token.NewFileSet(), "source", nil)

func newChecker(t *tree, p Policy) *checker {
	return &checker{tree: t, Policy: p, types: map[string]*types.Package{"unsafe": types.Unsafe}, infos: map[*pkg]*info{}}
}

func (c *checker) report(where, what, why string) {
	c.found = append(c.found, Violation{Where: where, What: what, Why: why})
}

// board reports what does not compile for boards, or is another program there: files in
// other languages, variants by build constraint, init functions, linknames, language and
// symbols that are newer than BoardGo, banned symbols, min and max of floating-point
// numbers, and two types of one name within functions.
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

var needsNewerGo = regexp.MustCompile(`requires go1\.\d+ or later`)

// typeCheck checks all files of a package as one program although build constraints may
// exclude one another: a name declared twice is an error that is passed over, and both
// bodies are looked at.
func (c *checker) typeCheck(k *pkg) *types.Package {
	importPath := path.Join(c.Module, k.path)
	if p := c.types[importPath]; p != nil {
		return p
	}
	c.types[importPath] = emptyPackage(importPath) // in case of an import cycle
	info := &info{Info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, FileVersions: map[*ast.File]string{},
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
	}}
	for _, f := range k.built() {
		one := *f.File
		one.GoVersion = "" // a build constraint does not make boards newer
		one.Comments = nil // stdversion passes over files that say they are generated
		info.files = append(info.files, &one)
	}
	config := types.Config{
		Importer:  c,
		GoVersion: c.BoardGo,
		Error: func(err error) {
			var e types.Error
			if errors.As(err, &e) && needsNewerGo.MatchString(e.Msg) {
				info.newer = append(info.newer, e)
			}
		},
	}
	p, _ := config.Check(importPath, c.fset, info.files, info.Info) // errors went to config.Error
	c.types[importPath] = p
	c.infos[k] = info
	return p
}

// Import implements [types.Importer].
func (c *checker) Import(importPath string) (*types.Package, error) {
	if p := c.types[importPath]; p != nil {
		return p, nil
	}
	p := emptyPackage(importPath)
	if local, ours := c.local(importPath); ours && c.pkgs[local] != nil {
		return c.typeCheck(c.pkgs[local]), nil
	}
	if slices.Contains(c.BoardStd, importPath) {
		var err error
		if p, err = std.Import(importPath); err != nil {
			return nil, err
		}
	}
	c.types[importPath] = p
	return p, nil
}

func emptyPackage(importPath string) *types.Package {
	p := types.NewPackage(importPath, path.Base(importPath))
	p.MarkComplete()
	return p
}

// newer reports language and symbols of the standard library that came after BoardGo. Of
// Go releases that are newer than golang.org/x/tools, stdversion knows no symbols.
func (c *checker) newer(p *types.Package, info *info) {
	why := "boards have Go " + strings.TrimPrefix(c.BoardGo, "go")
	for _, e := range info.newer {
		c.report(c.at(e.Pos), e.Msg, why)
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
