package lint

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

func TestBoardFindsEachViolation(t *testing.T) {
	find(t, []violation{
		{
			name: "standard library off the list", file: "impls/a/x.go", src: "package a\n\nimport _ \"fmt\"\n",
			words: []string{"impls/a may not import fmt", "board"},
		},
		{
			name: "standard library under a build tag", file: "switch/x.go", src: "//go:build windows\npackage sw\nimport _ \"os\"\n",
			words: []string{"switch may not import os"},
		},
		{
			name: "fork by build constraint", file: "impls/a/x.go", src: "//go:build tinygo\n\npackage a\n",
			where: "impls/a/x.go", words: []string{"build constraint", "another implementation"},
		},
		{
			name: "fork by file name", file: "impls/a/x_arm64.go", src: "package a\n",
			where: "impls/a/x_arm64.go", words: []string{"build constraint"},
		},
		{
			name: "init", file: "impls/a/x.go", src: "package a\n\nfunc init() {}\n",
			words: []string{"init function"},
		},
		{
			name: "linkname", file: "impls/a/x.go", src: "package a\n\n//go:linkname f runtime.f\nfunc f()\n",
			words: []string{"linkname"},
		},
		{
			name: "assembly", file: "impls/a/x.s", src: "TEXT\n",
			where: "impls/a/x.s", words: []string{"not Go"},
		},
		{
			name: "newer function", file: "impls/a/x.go", src: "package a\nimport rt \"runtime\"\nvar f = rt.AddCleanup[int, int]\n",
			words: []string{"runtime.AddCleanup requires go1.24", "boards have Go 1.23"},
		},
		{
			name: "newer method through an embedded field", file: "impls/a/x.go", src: "package a\nimport \"sync\"\nfunc f() { var s struct{ sync.WaitGroup }; s.Go(nil) }\n",
			words: []string{"sync.(*WaitGroup).Go requires go1.25"},
		},
		{
			name: "banned method of a generic type", file: "impls/a/x.go", src: "package a\nimport \"sync/atomic\"\nfunc f(p *atomic.Pointer[int]) { p.Swap(nil) }\n",
			words: []string{"impls/a may not use (*sync/atomic.Pointer[T]).Swap"},
		},
		{
			name: "newer method where another import is unknown", file: "impls/a/x.go", src: "package a\nimport (\"sync\"; \"other.org/allowed/sub\"; \"example.com/m/contract\")\nfunc f(e *sub.T, _ contract.T) { var w sync.WaitGroup; e.Do(); w.Go(nil) }\n",
			words: []string{"sync.(*WaitGroup).Go requires"},
		},
		{
			name: "newer language", file: "impls/a/x.go", src: "package a\n\nvar p = new(1 + 1)\n",
			words: []string{"requires go1.26 or later"},
		},
		{
			name: "newer language asked for by the file", file: "switch/x.go", src: "//go:build go1.26\npackage sw\nvar p = new(1 + 1)\n",
			words: []string{"requires go1.26 or later"},
		},
		{
			name: "banned type", file: "impls/a/x.go", src: "package a\nimport \"sync\"\ntype s struct{ c *sync.Cond }\n",
			words: []string{"impls/a may not use sync.Cond", "banned"},
		},
		{
			name: "banned predeclared function", file: "impls/a/x.go", src: "package a\n\nfunc f() { println() }\n",
			words: []string{"impls/a may not use println"},
		},
		{
			name: "banned method", file: "impls/a/x.go", src: "package a\nimport \"sync/atomic\"\nfunc f(x *atomic.Int64, y *atomic.Int32) { x.And(1); y.And(1); x.Or(1) }\n",
			words: []string{"impls/a may not use (*sync/atomic.Int64).And", "banned"},
		},
		{
			name: "symbol banned by the rule", file: "impls/a/x.go", src: "package a\nimport . \"time\"\nvar t = Now()\n",
			words: []string{"impls/a may not use time.Now", "no clock"},
		},
		{
			name: "two types of one name within functions", file: "impls/a/x.go",
			src:   "package a\nfunc f() { type request int; var _ request }\nfunc g() { _ = func() { type request string; var _ request } }\n",
			words: []string{"impls/a has two types request within functions", "impls/a/x.go:2", "rename one", "TinyGo"},
		},
		{
			name: "two types of one name within one function", file: "impls/a/x.go",
			src:   "package a\nfunc f() { { type request int }\n{ type request string } }\n",
			words: []string{"two types request"},
		},
		{
			name: "type of one name within a function value and a method", file: "impls/a/x.go",
			src:   "package a\nvar f = func() { type request int; var _ request }; type t int; func (t) m() {\ntype request string; var _ request }\n",
			words: []string{"two types request"},
		},
		{
			name: "type within a generic function", file: "impls/a/x.go", src: "package a\nfunc f[T any](v any) bool {\n\ttype box struct { x T }; _, ok := v.(box); return ok }\n",
			words: []string{"impls/a has a type box within a generic function", "declare it outside"},
		},
		{
			name: "type within a method of a generic type", file: "impls/a/x.go", src: "package a\ntype s[K, V any] struct{}; func (*s[K, V]) f() {\n\ttype box struct { x K }; var _ box }\n",
			words: []string{"impls/a has a type box within a generic function"},
		},
		{
			name: "least of two floats", file: "impls/a/x.go", src: "package a\nfunc f(a, b float64) float64 {\n\treturn min(a, 2, b) }\n",
			words: []string{"min takes the least or greatest of floating-point numbers", "compare them by <", "TinyGo"},
		},
		{
			name: "greatest of floats of a named type", file: "impls/a/x.go", src: "package a\ntype celsius float32\nfunc f(a, b celsius) celsius { return (max)(a, b) }\n",
			words: []string{"max takes the least or greatest"},
		},
		{
			name: "greatest of what may be floats", file: "impls/a/x.go", src: "package a\nimport \"cmp\"\nfunc f[T cmp.Ordered](a, b T) T { return max(a, b) }\n",
			words: []string{"max takes the least or greatest"},
		},
		{
			name: "least of what may be a float among others", file: "impls/a/x.go", src: "package a\ntype number interface { int | ~float64 }\nfunc f[T number](a, b T) T { return min(a, b) }\n",
			words: []string{"min takes the least or greatest"},
		},
		{
			name: "least of a slice of floats", file: "impls/a/x.go", src: "package a\nimport \"slices\"\nfunc f(all []float64) float64 { return slices.Min(all) }\n",
			words: []string{"slices.Min takes the least or greatest"},
		},
		{
			name: "second body of a name declared twice", file: "switch/x.go", src: "//go:build y\npackage sw\nvar On = func() int { println(); return 0 }()\n",
			words: []string{"switch may not use println"},
		},
		{
			name: "newer function in a generated file", file: "impls/a/x.go", src: "// Code generated by hand. DO NOT EDIT.\npackage a\nimport \"runtime\"; var f = runtime.AddCleanup[int, int]\n",
			words: []string{"runtime.AddCleanup requires go1.24"},
		},
		{
			name: "second type in a function that is declared twice", file: "switch/x.go", src: "//go:build y\npackage sw\nfunc on() { type a int; { type a string } }\nfunc on() { type b int }",
			words: []string{"switch has two types a within functions"},
		},
	})
}

func TestBoardReportsUsesInOrder(t *testing.T) {
	fsys := sound()
	fsys["impls/a/x.go"] = &fstest.MapFile{Data: []byte("package a\n\nfunc f() {\n" + strings.Repeat("\tprintln()\n", 20) + "}\n")}
	got, err := Check(fsys, policy())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 20 {
		t.Fatalf("want 20 violations, got %d: %v", len(got), got)
	}
	for i, v := range got {
		if want := "impls/a/x.go:" + strconv.Itoa(i+4); v.Where != want {
			t.Errorf("violation %d is at %s, want %s", i, v.Where, want)
		}
	}
}
