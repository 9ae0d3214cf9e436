package mutate

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Package is one whose source is changed.
type Package struct {
	Path string // relative to the module: "impls/channel"; "." is its own folder

	fset  *token.FileSet
	files []file
	types *types.Package
	info  *types.Info
	sizes types.Sizes
	goVer string
	deps  map[string]*types.Package // what it imports, directly
}

// file is a file of a package.
type file struct {
	name string // absolute
	src  []byte
	ast  *ast.File
}

// Load reads packages of the module in the folder dir, for this machine and without tests.
// Patterns are those of the go command. Files with generated code are not changed.
func Load(dir string, patterns ...string) ([]*Package, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
		packages.NeedExportFile | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedModule
	loaded, err := packages.Load(&packages.Config{Dir: dir, Mode: mode}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	var all []*Package
	for _, l := range loaded {
		for _, e := range l.Errors {
			err = errors.Join(err, e)
		}
		if err != nil {
			return nil, fmt.Errorf("mutate: %w", err)
		}
		p := &Package{
			Path: cmp.Or(strings.TrimPrefix(strings.TrimPrefix(l.PkgPath, l.Module.Path), "/"), "."), fset: l.Fset, types: l.Types, info: l.TypesInfo,
			sizes: l.TypesSizes, goVer: "go" + l.Module.GoVersion, deps: map[string]*types.Package{"unsafe": types.Unsafe},
		}
		for path, dep := range l.Imports {
			p.deps[path] = dep.Types
		}
		for i, syntax := range l.Syntax {
			name := l.CompiledGoFiles[i]
			src, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("mutate: %w", err)
			}
			p.files = append(p.files, file{name, src, syntax})
		}
		all = append(all, p)
	}
	return all, nil
}

// Import implements [types.Importer] for the type check of a mutant, which imports what the
// package imports.
func (p *Package) Import(path string) (*types.Package, error) {
	if dep := p.deps[path]; dep != nil {
		return dep, nil
	}
	return nil, fmt.Errorf("mutate: %s does not import %s", p.Path, path)
}

// Source returns the path of the file that m changes, and its text with the change. The
// error says why that does not compile: then it is no mutant.
func (p *Package) Source(m Mutant) (name string, src []byte, err error) {
	f := p.files[m.file]
	src = append(append(append([]byte(nil), f.src[:m.start]...), m.text...), f.src[m.end:]...)
	fset := token.NewFileSet() // the package's would grow with each mutant
	files := make([]*ast.File, len(p.files))
	for i, of := range p.files {
		text := of.src
		if i == m.file {
			text = src
		}
		if files[i], err = parser.ParseFile(fset, filepath.Base(of.name), text, parser.SkipObjectResolution); err != nil {
			return "", nil, err
		}
	}
	conf := types.Config{Importer: p, Sizes: p.sizes, GoVersion: p.goVer}
	if _, err := conf.Check(p.types.Path(), fset, files, nil); err != nil {
		return "", nil, err
	}
	return f.name, src, nil
}

// at returns where a node begins and ends in its file's text.
func (p *Package) at(n ast.Node) (start, end int) {
	return p.fset.Position(n.Pos()).Offset, p.fset.Position(n.End()).Offset
}
