// Package importpolicy checks a module's source tree against rules about what
// each package may import and use. The rules are data with reasons; this
// module's own are in internal/lint.
//
// How it works:
//
//  1. [Check] reads every Go file below the root, whatever its build
//     constraints, and finds the [Rule] for its package.
//  2. Imports are compared with the rule, file by file.
//  3. Packages that are board-safe are type-checked as well, so that a use of
//     a banned or too new symbol is found under any name and through any
//     variable: the method WaitGroup.Go is as visible as a package's function.
//
// Everything happens in the calling process and all files of the module are
// read through the given file system. A test that asked the go command instead
// would have its result cached and keep passing after an import had changed;
// with os.DirFS the go command sees what the test has read, and runs it again.
//
// The package does not follow what other modules import in their turn, and it
// takes reflection, assembly in other modules and code in testdata as given.
package importpolicy

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"path"
	"slices"
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

	// Newer are the standard library's symbols that came after BoardGo, as
	// [NewerThan] reads them.
	Newer []Symbol

	// Banned are symbols that no board-safe package may use.
	Banned []Symbol
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

	// BoardSafe packages compile for boards: they import only the policy's
	// BoardStd, use no symbol that is newer or banned, have no init function,
	// no linkname and no files in other languages, no two types of one name
	// within functions, none within generic ones, and no min or max of
	// floating-point numbers.
	BoardSafe bool

	// Variants allows a board-safe package to choose files by build
	// constraint. Without it host and board would run different programs under
	// one name.
	Variants bool

	// Banned are symbols that the packages may not use, in addition to the
	// policy's. It has an effect for board-safe packages only.
	Banned []Symbol
}

// Symbol is an exported name of the standard library, or a predeclared one.
type Symbol struct {
	Pkg  string // import path; empty for predeclared functions
	Name string // "NewCond" or, for a method or field, "WaitGroup.Go"
	Why  string // why not to use it
}

// Violation is one thing that a rule forbids.
type Violation struct {
	Where string // file:line, or a package or rule if it concerns one as a whole
	What  string // what was found, and what to do if that is not obvious
	Why   string // the reason of the rule
}

// String returns the violation on one line.
func (v Violation) String() string {
	s := v.Where + ": " + v.What
	if v.Why != "" {
		s += " (" + v.Why + ")"
	}
	return s
}

// Check reads the module in fsys and returns what breaks the policy, in the
// order of the files' names. The error is that of a file that cannot be read
// or parsed.
func Check(fsys fs.FS, p Policy) ([]Violation, error) {
	return check(fsys, p, importer.ForCompiler(token.NewFileSet(), "source", nil))
}

// check is Check with an importer for the standard library, which takes a
// quarter of a second to warm up.
func check(fsys fs.FS, p Policy, std types.Importer) ([]Violation, error) {
	c := &checker{policy: p, fsys: fsys, fset: token.NewFileSet(), pkgs: map[string]*pkg{}}
	if err := c.read(); err != nil {
		return nil, err
	}
	matched := make([]bool, len(p.Rules))
	for _, dir := range c.dirs {
		k := c.pkgs[dir]
		i := slices.IndexFunc(p.Rules, func(r Rule) bool { return Match(r.Packages, k.path) })
		if i < 0 {
			c.report(k.path, "the package has no rule: add one to the policy", "a package without a rule may import anything")
			continue
		}
		matched[i] = true
		k.rule = &p.Rules[i]
		for _, f := range k.files {
			c.imports(k, f)
		}
		for _, f := range k.files {
			c.form(k, f)
		}
		if k.rule.BoardSafe {
			c.localTypes(k)
		}
		for _, name := range k.foreign {
			if k.rule.BoardSafe {
				c.report(name, "a file that is not Go in a board-safe package", k.rule.Why)
			}
		}
	}
	for i, ok := range matched {
		if !ok {
			c.report("rule "+strconv.Quote(p.Rules[i].Packages), "no package matches it: remove it from the policy", "")
		}
	}
	c.uses(std)
	return c.found, nil
}

// Match reports whether a package path relative to the module's root matches
// a pattern, as [Rule].Packages describes it.
func Match(pattern, pkg string) bool {
	if p, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == p || strings.HasPrefix(pkg, p+"/")
	}
	if p, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path.Dir(pkg) == p
	}
	return pattern == pkg
}

// checker is one run of Check.
type checker struct {
	policy Policy
	fsys   fs.FS
	fset   *token.FileSet
	dirs   []string        // sorted
	pkgs   map[string]*pkg // by dir
	found  []Violation
}

// pkg is a folder with Go files.
type pkg struct {
	path    string // relative to the module's root, "." for the root
	files   []*file
	foreign []string // names of files in other languages that the go command would build
	rule    *Rule
	checked bool // by uses
}

// file is one Go file.
type file struct {
	name       string // relative to the module's root
	ast        *ast.File
	test       bool
	generator  bool // a program that is run by hand or by go generate: //go:build ignore
	constraint bool // has a build constraint, in its text or its name
}

func (c *checker) report(where, what, why string) {
	c.found = append(c.found, Violation{Where: where, What: what, Why: why})
}

// at is a position as file:line.
func (c *checker) at(pos token.Pos) string {
	p := c.fset.Position(pos)
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// read parses all files of the module, leaving out what the go command does
// not see either: other modules and names that begin with a dot or underscore.
func (c *checker) read() error {
	return fs.WalkDir(c.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name == "." {
				return nil
			}
			if base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor" {
				return fs.SkipDir
			}
			if _, err := fs.Stat(c.fsys, name+"/go.mod"); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if base[0] == '.' || base[0] == '_' {
			return nil
		}
		switch path.Ext(base) {
		case ".go":
			return c.readFile(name)
		case ".s", ".S", ".sx", ".c", ".cc", ".cpp", ".cxx", ".m", ".f", ".F", ".syso", ".swig", ".swigcxx":
			k := c.pkg(path.Dir(name))
			k.foreign = append(k.foreign, name)
		}
		return nil
	})
}

func (c *checker) pkg(dir string) *pkg {
	k := c.pkgs[dir]
	if k == nil {
		k = &pkg{path: dir}
		c.pkgs[dir] = k
		c.dirs = append(c.dirs, dir)
	}
	return k
}

func (c *checker) readFile(name string) error {
	src, err := fs.ReadFile(c.fsys, name)
	if err != nil {
		return err
	}
	tree, err := parser.ParseFile(c.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("importpolicy: %w", err)
	}
	f := &file{name: name, ast: tree, test: strings.HasSuffix(name, "_test.go"), constraint: namesPlatform(name)}
	for _, g := range tree.Comments {
		if g.Pos() >= tree.Package {
			break
		}
		for _, line := range g.List {
			if !constraint.IsGoBuild(line.Text) {
				continue
			}
			x, err := constraint.Parse(line.Text)
			if err != nil {
				return fmt.Errorf("importpolicy: %s: %w", c.at(line.Pos()), err)
			}
			f.constraint = true
			f.generator = x.String() == "ignore"
		}
	}
	k := c.pkg(path.Dir(name))
	k.files = append(k.files, f)
	return nil
}

// namesPlatform reports whether the name alone, like x_linux.go, keeps a file
// out of some builds.
func namesPlatform(name string) bool {
	nowhere := build.Context{
		GOOS: "none", GOARCH: "none", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("package p\n")), nil
		},
	}
	ok, err := nowhere.MatchFile(path.Dir(name), path.Base(name))
	return err == nil && !ok && !strings.HasSuffix(name, "_test.go")
}

// imports compares the imports of one file with its package's rule.
func (c *checker) imports(k *pkg, f *file) {
	r := k.rule
	for _, spec := range f.ast.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has accepted it
		}
		bad := func(what string) {
			c.report(c.at(spec.Pos()), k.path+" may not import "+target+what, r.Why)
		}
		local, ours := c.local(target)
		switch {
		case ours:
			allowed := matchAny(r.Ours, local) || f.test && (local == k.path || matchAny(r.TestOurs, local))
			if !allowed {
				bad("")
			}
		case !isStd(target):
			if !f.test && !matchAny(r.Others, target) {
				bad("")
			}
		case r.BoardSafe && !f.test && !f.generator:
			if !slices.Contains(c.policy.BoardStd, target) {
				bad(": it is board-safe and the package is not on the list for boards")
			}
		}
	}
}

// local returns the path relative to the module's root if the package is one
// of this module.
func (c *checker) local(importPath string) (string, bool) {
	if importPath == c.policy.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, c.policy.Module+"/")
}

// isStd reports whether an import path is of the standard library: it is the
// only one whose first element has no dot.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

func matchAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, pkg) })
}

// form checks what a board-safe file must not contain whatever it means.
func (c *checker) form(k *pkg, f *file) {
	if !k.rule.BoardSafe || f.test || f.generator {
		return
	}
	if f.constraint && !k.rule.Variants {
		c.report(f.name, "a build constraint: make the other variant another implementation, with another name",
			"host and board would compare different programs under one name")
	}
	for _, d := range f.ast.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
			c.report(c.at(d.Pos()), "an init function in a board-safe package",
				"what registers itself cannot be grepped, and a board would link it whether it is used or not")
		}
	}
	for _, g := range f.ast.Comments {
		for _, line := range g.List {
			if strings.HasPrefix(line.Text, "//go:linkname") {
				c.report(c.at(line.Pos()), "a linkname in a board-safe package", "TinyGo's runtime has other symbols")
			}
		}
	}
}

// localTypes reports types that are declared within functions under a name that
// another such type of the package has: Go tells them apart, and TinyGo does not.
// Within a generic function one declaration is a type for each instance, of that same
// name. Whether two are in one function, or in files of which only one is built, makes
// no difference to a reader either.
func (c *checker) localTypes(k *pkg) {
	const why = "TinyGo knows a type within a function by its package and name only: a type assertion takes one for the other"
	first := make(map[string]token.Pos)
	for _, f := range k.files {
		if f.test || f.generator {
			continue
		}
		outer := make(map[ast.Spec]bool)
		for _, d := range f.ast.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				for _, s := range d.Specs {
					outer[s] = true
				}
			}
		}
		for _, d := range f.ast.Decls {
			generic := isGeneric(d)
			ast.Inspect(d, func(n ast.Node) bool {
				s, ok := n.(*ast.TypeSpec)
				if !ok || outer[s] || s.Assign.IsValid() || s.Name.Name == "_" {
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

// isGeneric reports whether a declaration is of a function with type parameters, or of
// a method of a type with such.
func isGeneric(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return false
	}
	if f.Type.TypeParams != nil {
		return true
	}
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return false
	}
	t := f.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	switch t.(type) {
	case *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}
