package importpolicy

import (
	"errors"
	"go/importer"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The tree that every case changes in one place: it keeps the policy.
func tree() fstest.MapFS {
	return fstest.MapFS{
		"go.mod":                 {Data: []byte("module example.com/m\n")},
		"m.go":                   {Data: []byte("package m\n\nimport _ \"example.com/m/contract\"\n")},
		"contract/c.go":          {Data: []byte("package contract\n\nimport \"context\"\n\nvar _ context.Context\n")},
		"contract/c_test.go":     {Data: []byte("package contract_test\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t\"example.com/m/contract\"\n\t\"example.com/m/suite\"\n\t\"other.org/check\"\n)\n")},
		"contract/a_gen.go":      {Data: []byte("//go:build ignore\n\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(); println() }\n")},
		"impls/a/a.go":           {Data: []byte("package a\n\nimport (\n\t\"example.com/m/contract\"\n\t\"other.org/allowed/sub\"\n)\n")},
		"impls/b/b.go":           {Data: []byte("package b\n\nimport (\n\t\"bufio\"\n\n\t\"example.com/m/host\"\n)\n\nvar _, _ = (*bufio.Reader).ReadByte, host.Print\n")},
		"impls/c/c.go":           {Data: []byte("package c\n\nimport \"slices\"\n\n" + allowed)},
		"impls/c/c_test.go":      {Data: []byte("package c\n\nfunc h() { type local int; var _ local }\n\nvar _ = min(f(1), f(2))\n")},
		"host/h.go":              {Data: []byte("package host\n\nfunc Print() { println() }\n\nfunc f() { type local int }\n\nfunc g() { type local string }\n")},
		"suite/s.go":             {Data: []byte("package suite\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/m\"\n\t\"example.com/m/impls/a\"\n\t\"other.org/check\"\n)\n")},
		"switch/on.go":           {Data: []byte("//go:build x\n\npackage sw\n\nconst On = true\n")},
		"switch/off.go":          {Data: []byte("//go:build !x\n\npackage sw\n\nconst On = false\n")},
		"nested/go.mod":          {Data: []byte("module example.com/nested\n")},
		"nested/n.go":            {Data: []byte("package n\n\nimport \"fmt\"\n")},
		"contract/testdata/t.go": {Data: []byte("not Go at all")},
		".hidden/h.go":           {Data: []byte("package h\n")},
		"_old/o.go":              {Data: []byte("package o\n")},
	}
}

// allowed has types in functions, and least and greatest values, against which nothing
// is to be said.
const allowed = `type local int

func f(x float64) float64 {
	type local string
	type alias = int
	return max(1.5, 2)*x
}

func g[T ~int | ~string](a, b T) T {
	type alias = string
	min := func(a, b float64) float64 { return a }
	min(1, 2)
	slices.Max([]int{1})
	return max(a, b, a)
}

var _, _ = min(1, len("x")), local(1)
`

func policy() Policy {
	return Policy{
		Module:   "example.com/m",
		BoardStd: []string{"bufio", "cmp", "context", "runtime", "slices", "sync", "sync/atomic", "time"},
		BoardGo:  "go1.23",
		Newer: []Symbol{
			{Pkg: "sync", Name: "WaitGroup.Go", Why: "newer"},
			{Pkg: "sync/atomic", Name: "Pointer.Swap", Why: "newer"},
			{Pkg: "runtime", Name: "AddCleanup", Why: "newer"},
			{Pkg: "bufio", Name: "ReadWriter.ReadByte", Why: "newer"}, // of a field: *Reader's is old
		},
		Banned: []Symbol{
			{Pkg: "sync", Name: "Cond", Why: "banned"},
			{Pkg: "sync/atomic", Name: "Int64.And", Why: "banned"},
			{Name: "println", Why: "banned"},
		},
		Rules: []Rule{
			{Packages: ".", Why: "root", Ours: []string{"contract"}, BoardSafe: true},
			{Packages: "contract", Why: "contracts import nothing", TestOurs: []string{"suite"}, BoardSafe: true},
			{Packages: "impls/*", Why: "implementations share no mechanism", Ours: []string{"contract", "host"}, Others: []string{"other.org/allowed/..."}, BoardSafe: true, Banned: []Symbol{{Pkg: "time", Name: "Now", Why: "no clock"}}},
			{Packages: "suite/...", Why: "suite", Ours: []string{".", "impls/..."}, Others: []string{"other.org/check"}},
			{Packages: "host", Why: "host"},
			{Packages: "switch", Why: "switch", BoardSafe: true, Variants: true},
		},
	}
}

// std is shared by the tests, since reading the standard library takes longer
// than all the rest.
var std = importer.ForCompiler(token.NewFileSet(), "source", nil)

func checkTree(fsys fs.FS, p Policy) ([]Violation, error) { return check(fsys, p, std) }

func TestCheckAcceptsWhatKeepsThePolicy(t *testing.T) {
	got, err := Check(tree(), policy())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range got {
		t.Errorf("violation in a tree without one: %v", v)
	}
}

// Each case breaks one rule with one file; exactly the named place must be
// reported, and with the words a reader needs to know which rule it was.
func TestCheckFindsEachViolation(t *testing.T) {
	for _, c := range []struct {
		name  string
		file  string
		src   string
		where string   // empty: c.file and line 3
		words []string // all in the violation's text
	}{
		{
			name: "package without a rule", file: "stray/s.go", src: "package stray\n",
			where: "stray", words: []string{"no rule"},
		},
		{
			name: "own package that is not allowed", file: "contract/x.go", src: "package contract\n\nimport _ \"example.com/m/impls/a\"\n",
			words: []string{"contract may not import example.com/m/impls/a", "contracts import nothing"},
		},
		{
			name: "one implementation importing another", file: "impls/b/x.go", src: "package b\n\nimport _ \"example.com/m/impls/a\"\n",
			words: []string{"impls/b may not import example.com/m/impls/a"},
		},
		{
			name: "root package imported from below", file: "contract/x.go", src: "package contract\n\nimport _ \"example.com/m\"\n",
			words: []string{"may not import example.com/m"},
		},
		{
			name: "own package that only tests may import", file: "contract/x.go", src: "package contract\n\nimport _ \"example.com/m/suite\"\n",
			words: []string{"may not import example.com/m/suite"},
		},
		{
			name: "test importing what tests may not", file: "impls/b/b_test.go", src: "package b\n\nimport _ \"example.com/m/impls/a\"\n",
			words: []string{"may not import example.com/m/impls/a"},
		},
		{
			name: "other module", file: "contract/x.go", src: "package contract\n\nimport _ \"other.org/allowed\"\n",
			words: []string{"contract may not import other.org/allowed"},
		},
		{
			name: "other module in a host package", file: "suite/x.go", src: "package suite\n\nimport _ \"other.org/heavy\"\n",
			words: []string{"suite may not import other.org/heavy"},
		},
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
			words: []string{"impls/a may not use runtime.AddCleanup", "newer"},
		},
		{
			name: "newer method through an embedded field", file: "impls/a/x.go", src: "package a\nimport \"sync\"\nfunc f() { var s struct{ sync.WaitGroup }; s.Go(nil) }\n",
			words: []string{"impls/a may not use sync.WaitGroup.Go", "newer"},
		},
		{
			name: "newer method of a generic type", file: "impls/a/x.go", src: "package a\nimport \"sync/atomic\"\nfunc f(p *atomic.Pointer[int]) { p.Swap(nil) }\n",
			words: []string{"impls/a may not use sync/atomic.Pointer.Swap"},
		},
		{
			name: "newer method where another import is unknown", file: "impls/a/x.go", src: "package a\nimport (\"sync\"; \"other.org/allowed/sub\"; \"example.com/m/contract\")\nfunc f(e *sub.T, _ contract.T) { var w sync.WaitGroup; e.Do(); w.Go(nil) }\n",
			words: []string{"sync.WaitGroup.Go"},
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
			words: []string{"impls/a may not use sync/atomic.Int64.And", "banned"},
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
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := tree()
			fsys[c.file] = &fstest.MapFile{Data: []byte(c.src)}
			got, err := checkTree(fsys, policy())
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 {
				t.Fatalf("want one violation, got %d: %v", len(got), got)
			}
			where := c.where
			if where == "" {
				where = c.file + ":3"
			}
			if got[0].Where != where {
				t.Errorf("reported at %s, want %s", got[0].Where, where)
			}
			for _, w := range c.words {
				if !strings.Contains(got[0].String(), w) {
					t.Errorf("violation %q does not say %q", got[0], w)
				}
			}
		})
	}
}

func TestCheckReportsUsesInOrder(t *testing.T) {
	fsys := tree()
	fsys["impls/a/x.go"] = &fstest.MapFile{Data: []byte("package a\n\nfunc f() {\n" + strings.Repeat("\tprintln()\n", 20) + "}\n")}
	got, err := checkTree(fsys, policy())
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

func TestCheckFindsARuleWithoutAPackage(t *testing.T) {
	p := policy()
	p.Rules = append(p.Rules, Rule{Packages: "gone/..."})
	got, err := checkTree(tree(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Where != `rule "gone/..."` {
		t.Errorf("want one violation of the rule gone/..., got %v", got)
	}
}

func TestCheckFailsForAFileThatDoesNotParse(t *testing.T) {
	fsys := tree()
	fsys["contract/x.go"] = &fstest.MapFile{Data: []byte("package contract\n\nfunc {\n")}
	if _, err := checkTree(fsys, policy()); err == nil || !strings.Contains(err.Error(), "contract/x.go:3") {
		t.Errorf("want an error that names contract/x.go:3, got %v", err)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{".", ".", true},
		{".", "a", false},
		{"a", "a", true},
		{"a", "a/b", false},
		{"a/*", "a", false},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"a/...", "a", true},
		{"a/...", "a/b/c", true},
		{"a/...", "ab", false},
	} {
		if got := Match(c.pattern, c.pkg); got != c.want {
			t.Errorf("Match(%q, %q) = %v, want %v", c.pattern, c.pkg, got, c.want)
		}
	}
}

func TestNewerThan(t *testing.T) {
	api := fstest.MapFS{
		"api/go1.txt":    {Data: []byte("pkg a, func Ancient()\n")},
		"api/go1.9.txt":  {Data: []byte("pkg a, func Old9()\n")},
		"api/go1.23.txt": {Data: []byte("pkg a, func Old()\n")},
		"api/go1.24.txt": {Data: []byte(`pkg a, func F[$0 interface{}](*$0, func($1)) int #1
pkg a, func Gone //deprecated #2
pkg a, method (*Pointer) M(int) #3
pkg a, method (Value[$0]) M() #3
pkg a, type S struct #4
pkg a, type S struct, Field int #4
pkg a, type I interface { M } #5
pkg a, type I interface, M(int) error #5
pkg a, type I interface, unexported methods #5
pkg a/v2, const C = 1 #6
pkg a (linux-386), const D = 1 #6
pkg a, var V *S #7
`)},
		"api/go1.25.txt": {Data: []byte("pkg b, func G()\n")},
	}
	got, err := NewerThan(api, "go1.23")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range got {
		names = append(names, s.Pkg+"."+s.Name)
		if !strings.Contains(s.Why, "Go 1.2") {
			t.Errorf("%s.%s: the reason %q does not name a release", s.Pkg, s.Name, s.Why)
		}
	}
	want := []string{"a.F", "a.Pointer.M", "a.Value.M", "a.S", "a.S.Field", "a.I", "a.I.M", "a/v2.C", "a.D", "a.V", "b.G"}
	if !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}

	if _, err := NewerThan(fstest.MapFS{}, "go1.23"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the folder api: %v, want fs.ErrNotExist", err)
	}
	if _, err := NewerThan(api, "1.23"); err == nil {
		t.Error("no error for a release that is not one")
	}
}

// The lists that come with Go are read as they are: a change of their form
// would otherwise make the check blind without a word.
func TestNewerThanReadsTheRealLists(t *testing.T) {
	got, err := NewerThan(os.DirFS(GOROOT()), "go1.23")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("this Go has no folder api below GOROOT %q: install Go from its release archive to run this test", GOROOT())
	}
	if err != nil {
		t.Fatal(err)
	}
	has := func(pkg, name string) bool {
		return slices.ContainsFunc(got, func(s Symbol) bool { return s.Pkg == pkg && s.Name == name })
	}
	for _, s := range []Symbol{
		{Pkg: "sync", Name: "WaitGroup.Go"},
		{Pkg: "runtime", Name: "AddCleanup"},
		{Pkg: "runtime", Name: "Cleanup.Stop"},
		{Pkg: "testing", Name: "B.Loop"},
	} {
		if !has(s.Pkg, s.Name) {
			t.Errorf("%s.%s is missing from the symbols that came after Go 1.23", s.Pkg, s.Name)
		}
	}
	for _, s := range []Symbol{
		{Pkg: "runtime", Name: "GOROOT"}, // deprecated in 1.24, not added
		{Pkg: "iter", Name: "Seq"},       // added in 1.23
	} {
		if has(s.Pkg, s.Name) {
			t.Errorf("%s.%s is listed as newer than Go 1.23", s.Pkg, s.Name)
		}
	}
}
