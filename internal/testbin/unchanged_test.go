package testbin

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// unchangedModule is a module of which each benchmark reaches something else.
var unchangedModule = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.24\n",
	"m.go": `package m

import (
	_ "embed"
	"reflect"
)

const constant = 1

var global = 1

//go:embed data.txt
var data string

// The initialization of a map of this size is left out if nothing reaches that.
var table = map[string]int{
	"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9, "j": 10, "k": 11, "l": 12, "m": 13, "n": 14,
	"o": 15, "p": 16, "q": 17, "r": 18, "s": 19, "t": 20, "u": 21, "v": 22, "w": 23, "x": 24, "y": 25, "z": 26,
}

var started int

func init() { started = 1 }

type shape interface{ area() int }

type square struct{ side int }

func (s square) area() int { return s.side }

type named struct{}

func (named) Hello() int { return 1 }

func Constant() int { return constant }
func Global() int   { return global }
func Embedded() int { return len(data) }
func Table() int    { return table["a"] }
func Inlined() int  { return small() }

func small() int { return 1 }

//go:noinline
func Method(s shape) int { return s.area() }

func Reflected(name string) int {
	return int(reflect.ValueOf(named{}).MethodByName(name).Call(nil)[0].Int())
}

func Assembly() int

//go:noinline
func Untouched() int { return started }
`,
	"m_amd64.s": "TEXT ·Assembly(SB), 4, $0-8\n\tMOVQ $1, ret+0(FP)\n\tRET\n",
	"m_arm64.s": "TEXT ·Assembly(SB), 4, $0-8\n\tMOVD $1, R0\n\tMOVD R0, ret+0(FP)\n\tRET\n",
	"data.txt":  "a",
	"m_test.go": `package m

import "testing"

var sink int

func BenchmarkConstant(b *testing.B)  { sink += Constant() }
func BenchmarkGlobal(b *testing.B)    { sink += Global() }
func BenchmarkEmbedded(b *testing.B)  { sink += Embedded() }
func BenchmarkInlined(b *testing.B)   { sink += Inlined() }
func BenchmarkMethod(b *testing.B)    { sink += Method(square{b.N}) }
func BenchmarkReflected(b *testing.B) { sink += Reflected(b.Name()) }
func BenchmarkAssembly(b *testing.B)  { sink += Assembly() }
func BenchmarkTable(b *testing.B)     { sink += Table() }

func TestUntouched(t *testing.T) {}
`,
	"x_test.go": `package m_test

import (
	"testing"

	"example.com/m"
)

func BenchmarkUntouched(b *testing.B) { m.Untouched() }
func BenchmarkNothing(b *testing.B)   {}
`,
}

// Of benchmarks one is the same only if nothing that it can reach differs, in whatever way. Lines and tests
// that come or go above it make no difference.
func TestUnchanged(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("compiles test binaries, and reads the variables of those of Linux")
	}
	build := func(replace ...string) Binary {
		dir := t.TempDir()
		for name, text := range unchangedModule {
			text = strings.NewReplacer(replace...).Replace(text)
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		o := BuildOptions{Env: []string{"GOFLAGS=-trimpath", "GOWORK=off"}}
		built, problems, err := Build(context.Background(), dir, t.TempDir(), []string{"."}, o)
		if err != nil || len(problems) > 0 || len(built) != 1 {
			t.Fatalf("%v %+v %+v", err, built, problems)
		}
		return built[0]
	}
	old := build()
	all := []string{
		"BenchmarkConstant", "BenchmarkGlobal", "BenchmarkEmbedded", "BenchmarkInlined", "BenchmarkMethod", "BenchmarkReflected",
		"BenchmarkAssembly", "BenchmarkTable", "BenchmarkUntouched", "BenchmarkNothing",
	}
	for _, c := range []struct {
		name    string
		replace []string
		want    []string
		why     string
	}{
		{
			"each in its own way",
			[]string{
				"const constant = 1", "const constant = 2", "var global = 1", "var global = 2", "func small() int { return 1 }", "func small() int {\n\t// says\n\treturn 2\n}",
				"return s.side", "return 2 * s.side", "Hello() int { return 1 }", "Hello() int { return 2 }", "$1, ret", "$2, ret", "$1, R0", "$2, R0", "func TestUntouched", "\nfunc TestMore",
			},
			[]string{"BenchmarkTable", "BenchmarkUntouched", "BenchmarkNothing"},
			"",
		},
		{"another test, benchmark and variable", []string{"func TestUntouched", "var more *int\n\nfunc BenchmarkMore(*testing.B) { more = nil }\n\nfunc TestMore(*testing.T) { more = nil }\n\nfunc TestUntouched"}, all, ""},
		{"an init function", []string{"started = 1", "started = 2"}, nil, "initialization"},
		{"a map that is made by all", []string{`"b": 2`, `"b": 3`}, nil, "initialization"},
		{"much for a collection to look at", []string{"var sink int", "var sink int\nvar large [1 << 12]*int\n\nfunc TestLarge(*testing.T) { large[sink] = nil }"}, nil, "variables"},
	} {
		t.Run(c.name, func(t *testing.T) {
			choices := []Choice{{Old: old, New: build(c.replace...), Benchmarks: all}}
			if c.name == "each in its own way" {
				must(t, os.WriteFile(filepath.Join(choices[0].New.Dir, "data.txt"), []byte("b"), 0o644))
			}
			must(t, Unchanged(context.Background(), t.TempDir(), choices))
			if got := choices[0]; !slices.Equal(got.Unchanged, c.want) || !strings.Contains(got.Why, c.why) || got.Why != "" && c.why == "" {
				t.Errorf("unchanged %q, want %q; why: %s", got.Unchanged, c.want, got.Why)
			}
		})
	}
}
