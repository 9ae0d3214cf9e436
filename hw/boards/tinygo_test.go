package boards_test

import (
	"encoding/json"
	"go/ast"
	"go/build/constraint"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw/boards"
)

// board is what board.json and the Go package beside it both say.
type board struct {
	Name     string
	Chip     string
	Kind     string
	RAM      int64
	Flash    int64
	Emulated bool
	Emulator []string
}

// TestTinyGoBoards holds the two halves of each microcontroller's folder together:
// the host goes by the one, the firmware by the other, and no compiler that every
// developer has sees the second.
func TestTinyGoBoards(t *testing.T) {
	files, err := fs.Glob(boards.FS, "*/board.json")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		data, err := fs.ReadFile(boards.FS, file)
		if err != nil {
			t.Fatal(err)
		}
		var b board
		if err := json.Unmarshal(data, &b); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if b.Kind != "tinygo" {
			continue
		}
		checked++
		t.Run(b.Name, func(t *testing.T) { check(t, b, path.Join(path.Dir(file), "board.go")) })
	}
	if checked < 6 {
		t.Errorf("%d boards for TinyGo, and there are six at least", checked)
	}
}

func check(t *testing.T, b board, name string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if !forTinyGo(f) {
		t.Errorf("%s is not for TinyGo alone: it needs //go:build tinygo", name)
	}
	if f.Doc == nil && len(f.Comments) < 2 {
		t.Errorf("%s says nowhere what the board is", name)
	}
	fields := fieldsOf(f)
	if fields == nil {
		t.Fatalf("%s has no firmware.Board{…}", name)
	}
	value := func(field string) string {
		x := fields[field]
		if x == nil {
			return ""
		}
		tv, err := types.Eval(fset, nil, token.NoPos, types.ExprString(x))
		if err != nil || tv.Value == nil {
			t.Errorf("%s: %s is not a constant: %v", name, field, err)
			return ""
		}
		if tv.Value.Kind() == constant.String {
			return constant.StringVal(tv.Value)
		}
		return tv.Value.ExactString()
	}
	for _, c := range []struct{ field, want string }{
		{"Name", b.Name},
		{"Chip", b.Chip},
		{"RAM", strconv.FormatInt(b.RAM, 10)},
		{"Flash", strconv.FormatInt(b.Flash, 10)},
	} {
		if got := value(c.field); got != c.want {
			t.Errorf("%s is %q in %s and %q in board.json", c.field, got, name, c.want)
		}
	}
	if got := value("Emulated") == "true"; got != b.Emulated {
		t.Errorf("Emulated is %v in %s and %v in board.json", got, name, b.Emulated)
	}
	for _, field := range []string{"Port", "Clock", "Platform"} {
		if fields[field] == nil {
			t.Errorf("%s does not say its %s", name, field)
		}
	}
	if !b.Emulated {
		if fields["Reset"] == nil {
			t.Errorf("%s has no Reset: each case begins with one", name)
		}
		return
	}
	if fields["Exit"] == nil {
		t.Errorf("%s has no Exit: nothing else ends the emulator", name)
	}
	// The clock says that an instruction takes insnNs, and the emulator's command
	// line makes it so.
	ns := constOf(fset, f, "insnNs")
	if ns == "" {
		t.Fatalf("%s has no constant insnNs", name)
	}
	if got := instruction(b.Emulator); got != ns {
		t.Errorf("an instruction takes %q ns by the emulator's -icount in board.json, and %s ns by %s", got, ns, name)
	}
}

// forTinyGo reports whether only TinyGo compiles the file.
func forTinyGo(f *ast.File) bool {
	for _, g := range f.Comments {
		for _, line := range g.List {
			if x, err := constraint.Parse(line.Text); err == nil && g.Pos() < f.Package {
				return x.String() == "tinygo"
			}
		}
	}
	return false
}

// fieldsOf returns the fields of the firmware.Board{…} in f.
func fieldsOf(f *ast.File) map[string]ast.Expr {
	var fields map[string]ast.Expr
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || lit.Type == nil || types.ExprString(lit.Type) != "firmware.Board" {
			return true
		}
		fields = map[string]ast.Expr{}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				fields[types.ExprString(kv.Key)] = kv.Value
			}
		}
		return false
	})
	return fields
}

// constOf returns the value of a constant of the file, "" if there is none.
func constOf(fset *token.FileSet, f *ast.File, name string) string {
	value := ""
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, id := range spec.Names {
			if id.Name == name && i < len(spec.Values) {
				if tv, err := types.Eval(fset, nil, token.NoPos, types.ExprString(spec.Values[i])); err == nil {
					value = tv.Value.ExactString()
				}
			}
		}
		return true
	})
	return value
}

// instruction returns how many nanoseconds an instruction takes with QEMU's
// -icount shift=N, which is 2 to the N.
func instruction(command []string) string {
	for i, arg := range command[1:] {
		if command[i] != "-icount" {
			continue
		}
		first, _, _ := strings.Cut(arg, ",")
		if n, err := strconv.Atoi(strings.TrimPrefix(first, "shift=")); err == nil && n >= 0 && n < 32 {
			return strconv.Itoa(1 << n)
		}
	}
	return ""
}
