package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// kinds are what a planted change does, and how: statements of a function that is called often.
// They use the variables of helper.
var kinds = []struct{ name, code string }{
	{"loop", "for plantedI := 0; plantedI < 10; plantedI++ { plantedSum += plantedI ^ plantedSum }"},
	{"allocation", "plantedBytes = make([]byte, 100)"},
	{"map", "plantedMap[plantedSum&255]++; plantedSum++"},
	{"encoding", "plantedBytes = plantedAppend(plantedBytes[:0], int64(plantedSum), 10); plantedSum += 7919"},
	{"goroutine", "plantedDone := make(chan struct{}); go func() { close(plantedDone) }(); <-plantedDone"},
}

const helper = `package %s

import "strconv"

var (
	plantedCalls, plantedSum int
	plantedBytes             []byte
	plantedMap               = make(map[int]int)
	plantedAppend            = strconv.AppendInt
)

var _ = []interface{}{&plantedCalls, &plantedSum, &plantedBytes, &plantedMap, &plantedAppend}
`

// A function is one of a module in which something may be planted.
type function struct {
	name  string // as the linker has it, without the path of its package: "(*T).Next"
	file  string
	pkg   string // name of the package
	first int    // line of the body
	last  int
	at    int // offset behind the opening brace
}

// functionsOf returns the functions of the package in a folder, without tests.
func functionsOf(folder string) (all []function, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			all = append(all, function{
				name: nameOf(f), file: path, pkg: file.Name.Name, at: set.Position(f.Body.Lbrace).Offset + 1,
				first: set.Position(f.Body.Lbrace).Line, last: set.Position(f.Body.Rbrace).Line,
			})
		}
	}
	return all, err
}

// nameOf is the name of a function as profiles have it, without type arguments.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t, pointer := f.Recv.List[0].Type, false
	if star, ok := t.(*ast.StarExpr); ok {
		t, pointer = star.X, true
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	name := "?"
	if id, ok := t.(*ast.Ident); ok {
		name = id.Name
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return name + "." + f.Name.Name
}

// plant has a function do something each so many calls, so many times over.
func (f function) plant(kind string, every, times int) error {
	code := ""
	for _, k := range kinds {
		if k.name == kind {
			code = k.code
		}
	}
	// All on one line, so that no other moves.
	body := fmt.Sprintf(" if plantedCalls++; plantedCalls%%%d == 0 { for plantedK := 0; plantedK < %d; plantedK++ { %s } }; ", every, times, code)
	if every == 1 && times == 1 {
		body = " { " + code + " }; "
	}
	text, err := os.ReadFile(f.file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.file, []byte(string(text[:f.at])+body+string(text[f.at:])), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(f.file), "zz_planted.go"), fmt.Appendf(nil, helper, f.pkg), 0o644)
}
