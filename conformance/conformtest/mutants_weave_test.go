package conformtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// All mutants of a file are built into one program: a function that a mutant changes is there
// once more as the mutant has it, and begins by asking whether that is to be run. So a package is
// compiled once and not once for each mutant, which took most of the time.

// wovenVar is the number of the mutant that is to be run, counted from 1, or 0. It is a variable
// of each package that has mutants, set from the environment.
const wovenVar = "plantedMutant"

// wovenEnv is the variable of the environment.
const wovenEnv = "DYNO_PLANTED"

// switchFile declares the variable in a package.
func switchFile(pkg string) []byte {
	return fmt.Appendf(nil, "package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar %s, _ = strconv.Atoi(os.Getenv(%q))\n", pkg, wovenVar, wovenEnv)
}

// weave returns a file with mutants, the texts that it has with each of them by number, built in.
func weave(src []byte, mutated map[int][]byte) ([]byte, error) {
	fset, funcs, err := functions(src)
	if err != nil {
		return nil, err
	}
	offset := func(p token.Pos) int { return fset.Position(p).Offset }
	copies := map[string][]int{} // the mutants of each function
	var added bytes.Buffer
	for _, number := range slices.Sorted(maps.Keys(mutated)) {
		text := mutated[number]
		otherSet, others, err := functions(text)
		if err != nil {
			return nil, err
		}
		changed := ""
		for name, f := range others {
			body := text[otherSet.Position(f.Pos()).Offset:otherSet.Position(f.End()).Offset]
			was := funcs[name]
			if was == nil || bytes.Equal(body, src[offset(was.Pos()):offset(was.End())]) {
				continue
			}
			changed = name
			at := otherSet.Position(f.Name.End()).Offset - otherSet.Position(f.Pos()).Offset
			fmt.Fprintf(&added, "\n%s_planted%d%s\n", body[:at], number, body[at:])
		}
		if changed == "" {
			return nil, fmt.Errorf("mutant %d changes nothing in a function", number)
		}
		copies[changed] = append(copies[changed], number)
	}
	type edit struct {
		at, cut int // so many bytes are replaced there
		text    string
	}
	var edits []edit
	for name, numbers := range copies {
		f := funcs[name]
		call := f.Name.Name + "_planted%d"
		if f.Recv != nil {
			call = f.Recv.List[0].Names[0].Name + "." + call
		} else if f.Type.TypeParams != nil {
			var types []string
			for _, p := range f.Type.TypeParams.List {
				for _, n := range p.Names {
					types = append(types, n.Name)
				}
			}
			call += "[" + strings.Join(types, ", ") + "]"
		}
		var args []string
		for _, p := range f.Type.Params.List {
			if len(p.Names) == 0 {
				args = append(args, "unnamed"+strconv.Itoa(len(args)))
				edits = append(edits, edit{offset(p.Type.Pos()), 0, args[len(args)-1] + " "})
			}
			for _, n := range p.Names {
				args = append(args, n.Name)
				if n.Name == "_" {
					args[len(args)-1] = "unnamed" + strconv.Itoa(len(args))
					edits = append(edits, edit{offset(n.Pos()), len("_"), args[len(args)-1]})
				}
			}
			if _, ok := p.Type.(*ast.Ellipsis); ok {
				args[len(args)-1] += "..."
			}
		}
		call += "(" + strings.Join(args, ", ") + ")"
		for _, number := range numbers {
			run := fmt.Sprintf(call, number)
			if f.Type.Results == nil {
				run += "; return"
			} else {
				run = "return " + run
			}
			edits = append(edits, edit{offset(f.Body.Lbrace) + 1, 0, fmt.Sprintf(" if %s == %d { %s };", wovenVar, number, run)})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return b.at - a.at })
	woven := slices.Clone(src)
	for _, e := range edits {
		woven = slices.Concat(woven[:e.at], []byte(e.text), woven[e.at+e.cut:])
	}
	return format.Source(append(woven, added.Bytes()...))
}

// functions parses a file, and returns its functions by receiver and name.
func functions(src []byte) (*token.FileSet, map[string]*ast.FuncDecl, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	funcs := map[string]*ast.FuncDecl{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			recv := f.Recv.List[0].Type
			name = string(src[fset.Position(recv.Pos()).Offset:fset.Position(recv.End()).Offset]) + "." + name
		}
		funcs[name] = f
	}
	return fset, funcs, nil
}

// overlay writes the sources with all mutants into dir, and returns what replaces what. A mutant's
// number is its place in the table, from 1.
func overlay(root, dir string) (map[string]string, error) {
	byFile := map[string]map[int][]byte{}
	for i, m := range mutants {
		text, err := m.source(root)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", m.name, err)
		}
		if byFile[m.path()] == nil {
			byFile[m.path()] = map[int][]byte{}
		}
		byFile[m.path()][i+1] = text
	}
	replace := map[string]string{}
	write := func(path string, text []byte) error {
		if _, ok := replace[filepath.Join(root, path)]; ok {
			return nil // the switch of a package with several such files
		}
		at := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		replace[filepath.Join(root, path)] = at
		return os.WriteFile(at, text, 0o600)
	}
	for path, mutated := range byFile {
		src, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		woven, err := weave(src, mutated)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		folder := filepath.Dir(path)
		err = errors.Join(write(path, woven), write(filepath.Join(folder, "planted_mutant.go"), switchFile(filepath.Base(folder))))
		if err != nil {
			return nil, err
		}
	}
	return replace, nil
}

// TestWeave: a program has the function as it was and as each mutant has it, whatever its
// receiver, parameters and results are.
func TestWeave(t *testing.T) {
	src := `package p

type box[T any] struct{ v T }

func (b *box[T]) get(_ int, more ...T) (T, bool) { return b.v, len(more) > 0 }

func first[T, U any](T, U) int { return 1 }

func nothing() { println("a") }
`
	with := func(old, change string) []byte { return []byte(strings.Replace(src, old, change, 1)) }
	got, err := weave([]byte(src), map[int][]byte{
		1: with("> 0", ">= 0"), 2: with("return 1", "return 2"), 3: with(`"a"`, `"b"`), 5: with(`"a"`, `"c"`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"func (b *box[T]) get(unnamed1 int, more ...T) (T, bool) {\n\tif plantedMutant == 1 {\n\t\treturn b.get_planted1(unnamed1, more...)\n\t}\n\treturn b.v, len(more) > 0\n}",
		"func (b *box[T]) get_planted1(_ int, more ...T) (T, bool) { return b.v, len(more) >= 0 }",
		"return first_planted2[T, U](unnamed0, unnamed1)",
		"if plantedMutant == 3 {\n\t\tnothing_planted3()\n\t\treturn\n\t}\n",
		`func nothing_planted5() { println("c") }`,
	} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("there is no\n%s\nin\n%s", want, got)
		}
	}
	if _, err := weave([]byte(src), map[int][]byte{1: with("struct{ v T }", "struct{ w T }")}); err == nil {
		t.Error("a change outside all functions was built in")
	}
}
