package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A bug is a function with one thing in it changed for the worse.
type bug struct {
	name     string
	function string   // its package's folder in the module and its name: "actor (*Cell).stop"
	old, new string   // the code that is replaced where it stands first in the function, and what stands there then
	clauses  []string // that must notice it on lockbased, without "actor/"
	tests    []string // of the function's own package that must notice it; of an implementation under -race, for its windows
}

//go:embed bugs.txt
var bugsText string

// bugs are all that are planted.
var bugs = parse(bugsText)

// parse reads bugs, as bugs.txt has them.
func parse(text string) (all []bug) {
	for block := range strings.SplitSeq("\n"+text, "\n-- ") {
		var b bug
		var old, new []string
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			switch sign, rest, _ := strings.Cut(line, " "); {
			case sign == "in":
				b.function = rest
			case sign == "by":
				for name := range strings.FieldsSeq(rest) {
					if strings.HasPrefix(name, "Test") {
						b.tests = append(b.tests, name)
					} else {
						b.clauses = append(b.clauses, name)
					}
				}
			case sign == "-":
				old = append(old, rest)
			case sign == "+":
				new = append(new, rest)
			case b.name == "":
				b.name = line
			}
		}
		b.old, b.new = strings.Join(old, "\n"), strings.Join(new, "\n")
		all = append(all, b)
	}
	return all[1:] // behind what the file is about
}

// folder returns the folder of the function's package in the module.
func (b *bug) folder() string {
	folder, _, _ := strings.Cut(b.function, " ")
	return folder
}

// source returns the file of the function, relative to root, with the bug planted. Spaces, line
// breaks and comments of the source, and the file that the function is in, make no difference.
func (b *bug) source(root string) (path string, text []byte, err error) {
	folder, name, _ := strings.Cut(b.function, " ")
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		return "", nil, err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return "", nil, err
		}
		start, end, err := find(src, name)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", file, err)
		}
		if end == 0 {
			continue
		}
		at, cut := locate(src[start:end], b.old)
		if cut == 0 {
			return "", nil, fmt.Errorf("%s has nothing like this any more:\n%s", b.function, b.old)
		}
		path, err = filepath.Rel(root, file)
		return path, slices.Concat(src[:start+at], []byte(b.new), src[start+at+cut:]), err
	}
	return "", nil, fmt.Errorf("there is no function %s", b.function)
}

// find returns where in a file the function of this name is, or 0, 0.
func find(src []byte, name string) (start, end int, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return 0, 0, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && functionName(f) == name {
			return fset.Position(f.Pos()).Offset, fset.Position(f.End()).Offset, nil
		}
	}
	return 0, 0, nil
}

// functionName returns "New", or "(*Cell).stop" of a method; type parameters are left out.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t, format := f.Recv.List[0].Type, "%s.%s"
	if p, ok := t.(*ast.StarExpr); ok {
		t, format = p.X, "(*%s).%s"
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	return fmt.Sprintf(format, t.(*ast.Ident).Name, f.Name.Name)
}

// locate returns where in src the tokens of part stand first, and how many bytes they take; 0, 0
// if they do not.
func locate(src []byte, part string) (at, size int) {
	text, want := tokens(src), tokens([]byte(part))
	same := func(a, b tokenAt) bool { return a.text == b.text }
	for i := range text {
		if i+len(want) <= len(text) && slices.EqualFunc(text[i:i+len(want)], want, same) {
			last := text[i+len(want)-1]
			return text[i].at, last.at + len(last.text) - text[i].at
		}
	}
	return 0, 0
}

// A tokenAt is a token of Go and where it begins.
type tokenAt struct {
	at   int
	text string
}

// tokens returns the tokens of a text, without comments and the semicolons that end lines.
func tokens(src []byte) (all []tokenAt) {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, 0) // a part may end anywhere
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return all
		case tok == token.SEMICOLON && text == "\n":
			continue
		case text == "":
			text = tok.String()
		}
		all = append(all, tokenAt{file.Offset(pos), text})
	}
}
