package mutate

import (
	"bytes"
	"encoding/json"
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
)

// Many mutants are built into one program: a function that a mutant changes is there once more
// as the mutant has it, and begins by asking whether that is to be run. So a package is compiled
// and linked once and not once for each mutant, which took most of the time.

// NumberEnv is the variable of the environment that says which of the mutants in a program is
// to be run: its number, from 1. Without it, or with 0, none is.
const NumberEnv = "DYNO_PLANTED"

// numberVar is the same in a package: a variable of each that has mutants.
const numberVar = "plantedMutant"

// switchFile declares the variable in a package.
func switchFile(pkg string) []byte {
	return fmt.Appendf(nil, "package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar %s, _ = strconv.Atoi(os.Getenv(%q))\n", pkg, numberVar, NumberEnv)
}

// A NotWovenError is a change that is not in one function, and so cannot be built into a
// program with others.
type NotWovenError struct{ Number int }

func (e *NotWovenError) Error() string {
	return fmt.Sprintf("mutate: mutant %d changes nothing in a function", e.Number)
}

// Overlay writes the sources of a module at root with all mutants into dir, and returns the file
// for go build -overlay. changed has by path in the module, and by number of mutant, what the
// file's text is with it.
func Overlay(root, dir string, changed map[string]map[int][]byte) (path string, err error) {
	replace := map[string]string{}
	write := func(path string, text []byte) error {
		if _, ok := replace[filepath.Join(root, path)]; ok {
			return nil // the switch of a package with several such files
		}
		at := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		replace[filepath.Join(root, path)] = at
		return os.WriteFile(at, text, 0o600)
	}
	for path, mutated := range changed {
		src, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return "", err
		}
		woven, pkg, err := weave(src, mutated)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		err = errors.Join(write(path, woven), write(filepath.Join(filepath.Dir(path), "planted_mutant.go"), switchFile(pkg)))
		if err != nil {
			return "", err
		}
	}
	return writeOverlay(dir, replace)
}

// writeOverlay writes what the go command is to read in the place of which file.
func writeOverlay(dir string, replace map[string]string) (path string, err error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// edit is a place in a text where so many bytes are replaced.
type edit struct {
	at, cut int
	text    string
}

// weave returns a file with mutants built in, and the name of its package. mutated has the texts
// of the file with each of them, by number.
func weave(src []byte, mutated map[int][]byte) (woven []byte, pkg string, err error) {
	own, err := parseFunctions(src)
	if err != nil {
		return nil, "", err
	}
	copies := map[string][]int{} // the mutants of each function
	var added bytes.Buffer
	for _, number := range slices.Sorted(maps.Keys(mutated)) {
		name, text, err := own.changedIn(mutated[number], number)
		if err != nil {
			return nil, "", err
		}
		added.WriteString(text)
		copies[name] = append(copies[name], number)
	}
	var edits []edit
	for name, numbers := range copies {
		edits = append(edits, own.choose(own.funcs[name], numbers)...)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return b.at - a.at })
	woven = slices.Clone(src)
	for _, e := range edits {
		woven = slices.Concat(woven[:e.at], []byte(e.text), woven[e.at+e.cut:])
	}
	woven, err = format.Source(append(woven, added.Bytes()...))
	return woven, own.pkg, err
}

// functions are those of a file, by receiver and name.
type functions struct {
	src   []byte
	pkg   string
	fset  *token.FileSet
	funcs map[string]*ast.FuncDecl
}

func parseFunctions(src []byte) (*functions, error) {
	fs := &functions{src: src, fset: token.NewFileSet(), funcs: map[string]*ast.FuncDecl{}}
	file, err := parser.ParseFile(fs.fset, "", src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	fs.pkg = file.Name.Name
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			name = string(fs.text(f.Recv.List[0].Type)) + "." + name
		}
		fs.funcs[name] = f
	}
	return fs, nil
}

func (fs *functions) offset(p token.Pos) int { return fs.fset.Position(p).Offset }

func (fs *functions) text(n ast.Node) []byte { return fs.src[fs.offset(n.Pos()):fs.offset(n.End())] }

// changedIn returns the name of the function that another text of the file has changed, and what
// it is there under a name of its own.
func (fs *functions) changedIn(text []byte, number int) (name, body string, err error) {
	other, err := parseFunctions(text)
	if err != nil {
		return "", "", err
	}
	for n, f := range other.funcs {
		now, was := other.text(f), fs.funcs[n]
		if was == nil || bytes.Equal(now, fs.text(was)) {
			continue
		}
		if name != "" {
			return "", "", &NotWovenError{number}
		}
		at := other.offset(f.Name.End()) - other.offset(f.Pos())
		name, body = n, fmt.Sprintf("\n%s_planted%d%s\n", now[:at], number, now[at:])
	}
	if name == "" {
		return "", "", &NotWovenError{number}
	}
	return name, body, nil
}

// choose returns what has a function call the one of its mutants that is to be run: a choice at
// its beginning, and names for parameters that have none.
func (fs *functions) choose(f *ast.FuncDecl, numbers []int) (edits []edit) {
	call := f.Name.Name + "_planted%d"
	if f.Recv != nil {
		recv := f.Recv.List[0]
		if len(recv.Names) == 0 || recv.Names[0].Name == "_" {
			at, cut := fs.offset(recv.Type.Pos()), 0
			if len(recv.Names) > 0 {
				at, cut = fs.offset(recv.Pos()), len("_")
			}
			edits = append(edits, edit{at, cut, "unnamed "})
			call = "unnamed." + call
		} else {
			call = recv.Names[0].Name + "." + call
		}
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
			edits = append(edits, edit{fs.offset(p.Type.Pos()), 0, args[len(args)-1] + " "})
		}
		for _, n := range p.Names {
			args = append(args, n.Name)
			if n.Name == "_" {
				args[len(args)-1] = "unnamed" + strconv.Itoa(len(args))
				edits = append(edits, edit{fs.offset(n.Pos()), len("_"), args[len(args)-1]})
			}
		}
		if _, ok := p.Type.(*ast.Ellipsis); ok {
			args[len(args)-1] += "..."
		}
	}
	call += "(" + strings.Join(args, ", ") + ")"
	var choice strings.Builder
	fmt.Fprintf(&choice, " switch %s {", numberVar) // the compiler makes it a search, however many there are
	for _, number := range numbers {
		run := fmt.Sprintf(call, number)
		if f.Type.Results == nil {
			run += "; return"
		} else {
			run = "return " + run
		}
		fmt.Fprintf(&choice, " case %d: %s;", number, run)
	}
	return append(edits, edit{fs.offset(f.Body.Lbrace) + 1, 0, choice.String() + " };"})
}
