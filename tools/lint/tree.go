package lint

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// tree is the Go files of a module, whatever their build constraints.
type tree struct {
	fset *token.FileSet
	pkgs map[string]*pkg // by path
}

// pkg is a folder with Go files.
type pkg struct {
	path    string // relative to the module's root, "." for the root
	files   []*file
	foreign []string // names of files in other languages that the go command would build
}

// file is one Go file.
type file struct {
	*ast.File
	name       string // relative to the module's root
	test       bool
	generator  bool // a program that is run by hand or by go generate: //go:build ignore
	constraint bool // has a build constraint, in its text or its name
}

// readTree parses all files of a module, leaving out what the go command does not see
// either: other modules, and names that begin with a dot or underscore.
func readTree(fsys fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet(), pkgs: map[string]*pkg{}}
	return t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir():
			_, noModule := fs.Stat(fsys, name+"/go.mod")
			if base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor" || noModule == nil {
				return fs.SkipDir
			}
			return nil
		case base[0] == '.' || base[0] == '_':
			return nil
		}
		switch path.Ext(base) {
		case ".go":
			f, err := t.readFile(fsys, name)
			if err != nil {
				return fmt.Errorf("lint: %w", err)
			}
			k := t.pkg(path.Dir(name))
			k.files = append(k.files, f)
		case ".s", ".S", ".sx", ".c", ".cc", ".cpp", ".cxx", ".m", ".f", ".F", ".syso", ".swig", ".swigcxx":
			k := t.pkg(path.Dir(name))
			k.foreign = append(k.foreign, name)
		}
		return nil
	})
}

func (t *tree) readFile(fsys fs.FS, name string) (*file, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{File: parsed, name: name, test: strings.HasSuffix(name, "_test.go"), constraint: namesPlatform(name)}
	for _, g := range parsed.Comments {
		for _, line := range g.List {
			if line.Pos() < parsed.Package && constraint.IsGoBuild(line.Text) {
				f.constraint = true
				f.generator = line.Text == "//go:build ignore"
			}
		}
	}
	return f, nil
}

// namesPlatform reports whether the name alone, like x_linux.go, keeps a file out of
// some builds.
func namesPlatform(name string) bool {
	nowhere := build.Context{
		GOOS: "none", GOARCH: "none", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("package p\n")), nil
		},
	}
	ok, err := nowhere.MatchFile("", path.Base(name))
	return err == nil && !ok
}

// pkg returns the package of a path, which is added if it is not there.
func (t *tree) pkg(path string) *pkg {
	if t.pkgs[path] == nil {
		t.pkgs[path] = &pkg{path: path}
	}
	return t.pkgs[path]
}

// sorted returns the packages by their paths.
func (t *tree) sorted() (all []*pkg) {
	for _, p := range slices.Sorted(maps.Keys(t.pkgs)) {
		all = append(all, t.pkgs[p])
	}
	return all
}

// built returns the files that go into a build of the package, for one platform or
// another: no tests, no generators.
func (k *pkg) built() []*file {
	return slices.DeleteFunc(slices.Clone(k.files), func(f *file) bool { return f.test || f.generator })
}

// at returns a position as file:line.
func (t *tree) at(pos token.Pos) string {
	p := t.fset.Position(pos)
	return p.Filename + ":" + strconv.Itoa(p.Line)
}
