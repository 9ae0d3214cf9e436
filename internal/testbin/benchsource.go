package testbin

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeBenchmarks writes what the benchmarks of test files are made of: their functions,
// TestMain and init, and what these use of the files' declarations. Unit tests change with
// most commits, and the work of benchmarks does not. A name that occurs counts as used, and so
// do the methods of its type: rather too much is written than too little. Neither are comments
// above declarations, nor imports, whose paths change with a module's major version. Of a file
// that cannot be parsed all is written. It reports whether it could read them.
func writeBenchmarks(w io.Writer, dir string, files []string) bool {
	var all []declaration
	var texts []string
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return false
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			texts = append(texts, string(text))
			continue
		}
		for _, n := range declared(f) {
			d := newDeclaration(n)
			d.text = string(text[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
			all = append(all, d)
		}
	}
	texts = append(texts, ofBenchmarks(all)...)
	slices.Sort(texts) // whichever file they are in
	for _, text := range texts {
		fmt.Fprintf(w, "%d\n%s\n", len(text), text)
	}
	return true
}

// declared returns the nodes of a file that declare something. Constants of one group may
// count on from one another, and stay together.
func declared(f *ast.File) (nodes []ast.Node) {
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		switch {
		case !ok || group.Tok == token.CONST:
			nodes = append(nodes, d)
		case group.Tok != token.IMPORT:
			for _, s := range group.Specs {
				nodes = append(nodes, s)
			}
		}
	}
	return nodes
}

// A declaration is one of a test file.
type declaration struct {
	text  string
	root  bool     // it is used whatever else is
	names []string // it is used where one of them occurs
	uses  []string // the names that occur in it
}

func newDeclaration(n ast.Node) (d declaration) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			d.uses = append(d.uses, id.Name)
		}
		return true
	})
	switch n := n.(type) {
	case *ast.FuncDecl:
		name := n.Name.Name
		if n.Recv != nil {
			d.names = []string{receiver(n.Recv.List[0].Type)}
			break
		}
		d.names = []string{name}
		d.root = strings.HasPrefix(name, "Benchmark") || name == "TestMain" || name == "init"
	case *ast.GenDecl:
		for _, s := range n.Specs {
			d.names = append(d.names, namesOf(s)...)
		}
	case ast.Spec:
		d.names = namesOf(n)
	}
	return d
}

// receiver returns the name of the type of a receiver.
func receiver(t ast.Expr) (name string) {
	ast.Inspect(t, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

func namesOf(s ast.Spec) (names []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		names = []string{s.Name.Name}
	case *ast.ValueSpec:
		for _, id := range s.Names {
			names = append(names, id.Name)
		}
	}
	return names
}

// ofBenchmarks returns the texts of those that benchmarks are made of.
func ofBenchmarks(all []declaration) (texts []string) {
	seen := make(map[string]bool)
	isUsed := func(name string) bool { return seen[name] }
	for more := true; more; {
		more = false
		all = slices.DeleteFunc(all, func(d declaration) bool {
			if !d.root && !slices.ContainsFunc(d.names, isUsed) {
				return false
			}
			more = true
			texts = append(texts, d.text)
			for _, name := range d.uses {
				seen[name] = true
			}
			return true
		})
	}
	return texts
}
