package testbin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What is added to package testing knows all commands and fields of the protocol, and
// says nothing that the protocol does not have.
func TestDriveSpeaksTheProtocol(t *testing.T) {
	text := readFile(t, "../program/PROTOCOL.md")
	page := string(text)
	file, err := parser.ParseFile(token.NewFileSet(), "_drive.go", driveGo, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	words := func(title string) (all []string) {
		_, table, _ := strings.Cut(page, "\n| "+title+" |")
		table, _, _ = strings.Cut(table, "\n\n")
		for _, m := range regexp.MustCompile("(?m)^\\| `([^` =]+)").FindAllStringSubmatch(table, -1) {
			all = append(all, m[1])
		}
		return all
	}
	if got, want := casesOf(file, "next"), words("Command"); !sameWords(got, want) {
		t.Errorf("it obeys %q, the protocol has %q", got, want)
	}
	// How many processors there are Go programs are told by GOMAXPROCS, and to report is
	// between this package and that file.
	got := slices.DeleteFunc(append(casesOf(file, "newDriver"), "processors"), func(word string) bool { return word == reportWord })
	if want := words("Field"); !sameWords(got, want) {
		t.Errorf("it reads %q, the protocol has %q", got, want)
	}
	for _, word := range said(file) {
		if !slices.Contains(slices.Concat(words("Answer"), words("Word")), word) {
			t.Errorf("it answers %q, which the protocol does not have", word)
		}
	}
}

func sameWords(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return len(a) > 0 && slices.Equal(a, b)
}

// casesOf returns the strings that the function's switches tell apart.
func casesOf(file *ast.File, function string) (all []string) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CaseClause); ok {
				for _, e := range c.List {
					all = append(all, firstWord(e)...)
				}
			}
			return true
		})
	}
	return all
}

// said returns the words that answers begin with.
func said(file *ast.File) (all []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "begin" || f.Sel.Name == "tell") {
			ast.Inspect(call.Args[0], func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok {
					all = append(all, firstWord(e)...)
				}
				return true
			})
		}
		return true
	})
	return all
}

// firstWord returns the first word of a string literal; none if it is not one.
func firstWord(e ast.Expr) []string {
	l, ok := e.(*ast.BasicLit)
	if !ok {
		return nil
	}
	s, err := strconv.Unquote(l.Value)
	if err != nil || strings.TrimSpace(s) == "" {
		return nil
	}
	return strings.Fields(s)[:1]
}
