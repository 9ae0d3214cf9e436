package lint

import (
	"strings"
	"testing"
	"testing/fstest"
)

// sound is the module that every case changes in one place: it keeps the policy.
func sound() fstest.MapFS {
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
		Banned: Symbols{
			"sync.Cond":                      "banned",
			"(*sync/atomic.Int64).And":       "banned",
			"(*sync/atomic.Pointer[T]).Swap": "banned",
			"(*bufio.ReadWriter).ReadByte":   "there is none: it is *Reader's",
			"println":                        "banned",
		},
		Rules: []Rule{
			{Packages: ".", Why: "root", Ours: []string{"contract"}, BoardSafe: true},
			{Packages: "contract", Why: "contracts import nothing", TestOurs: []string{"suite"}, BoardSafe: true},
			{Packages: "impls/*", Why: "implementations share no mechanism", Ours: []string{"contract", "host"}, Others: []string{"other.org/allowed/..."}, BoardSafe: true, Banned: Symbols{"time.Now": "no clock"}},
			{Packages: "suite/...", Why: "suite", Ours: []string{".", "impls/..."}, Others: []string{"other.org/check"}},
			{Packages: "host", Why: "host"},
			{Packages: "switch", Why: "switch", BoardSafe: true, Variants: true},
		},
	}
}

func TestCheckAcceptsWhatKeepsThePolicy(t *testing.T) {
	got, err := Check(sound(), policy())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range got {
		t.Errorf("violation in a tree without one: %v", v)
	}
}

// violation is a file that breaks one rule; exactly the named place is reported, with
// the words a reader needs to know which rule it was.
type violation struct {
	name, file, src string
	where           string   // empty: file and line 3
	words           []string // all in the violation's text
}

// find plants each violation in a tree that keeps the policy, and sees it found.
func find(t *testing.T, cases []violation) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fsys := sound()
			fsys[c.file] = &fstest.MapFile{Data: []byte(c.src)}
			got, err := Check(fsys, policy())
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

func TestImportsFindsEachViolation(t *testing.T) {
	find(t, []violation{
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
	})
}

func TestCheckFindsARuleWithoutAPackage(t *testing.T) {
	p := policy()
	p.Rules = append(p.Rules, Rule{Packages: "gone/..."})
	got, err := Check(sound(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Where != `rule "gone/..."` {
		t.Errorf("want one violation of the rule gone/..., got %v", got)
	}
}

func TestCheckFailsForAFileThatDoesNotParse(t *testing.T) {
	fsys := sound()
	fsys["contract/x.go"] = &fstest.MapFile{Data: []byte("package contract\n\nfunc {\n")}
	if _, err := Check(fsys, policy()); err == nil || !strings.Contains(err.Error(), "contract/x.go:3") {
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
		if got := match(c.pattern, c.pkg); got != c.want {
			t.Errorf("match(%q, %q) = %v, want %v", c.pattern, c.pkg, got, c.want)
		}
	}
}
