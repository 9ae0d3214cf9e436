package lint

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// planted is the policy of testdata/module.
var planted = Policy{
	Module:   "example.com/m",
	BoardStd: []string{"bufio", "cmp", "context", "errors", "runtime", "slices", "sync", "sync/atomic", "time"},
	BoardGo:  "go1.23",
	Banned: Symbols{
		"sync.Cond":                      "on TinyGo every Wait allocates",
		"(*sync/atomic.Int64).And":       "",
		"(*sync/atomic.Pointer[T]).Swap": "",
		"(*bufio.ReadWriter).ReadByte":   "there is none: it is *bufio.Reader's",
		"println":                        "",
	},
	Rules: []Rule{
		{Packages: ".", Ours: []string{"contract"}, BoardSafe: true},
		{Packages: "contract", Why: "contracts import nothing", TestOurs: []string{"suite"}, BoardSafe: true},
		{
			Packages: "impls/*", Why: "implementations share no mechanism",
			Ours: []string{"contract", "host"}, Others: []string{"other.org/allowed/..."},
			BoardSafe: true, Banned: Symbols{"time.Now": "no clock"},
		},
		{Packages: "suite/...", Ours: []string{".", "impls/..."}, Others: []string{"other.org/check"}},
		{Packages: "host"},
		{Packages: "switch", BoardSafe: true, Variants: true},
		{Packages: "gone/..."},
	},
}

// TestCheck: each line of testdata/module that says what it wants is a violation, and
// nothing else is.
func TestCheck(t *testing.T) {
	module := os.DirFS("testdata/module")
	got, err := Check(module, planted)
	if err != nil {
		t.Fatal(err)
	}
	want := wants(t, module)
	want["stray"] = "the package has no rule: add one"
	want[`rule "gone/..."`] = "no package matches it: remove it"
	want["impls/form/form.s"] = "a file that is not Go in a board-safe package (implementations share"
	compare(t, got, want)
}

// wants returns what lines of a tree want: a comment says it, and where is the key.
func wants(t *testing.T, tree fs.FS) map[string]string {
	t.Helper()
	comment := regexp.MustCompile("// want `(.+)`$")
	want := map[string]string{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := fs.ReadFile(tree, name)
		for i, line := range strings.Split(string(src), "\n") {
			if m := comment.FindStringSubmatch(line); m != nil {
				want[fmt.Sprintf("%s:%d", name, i+1)] = m[1]
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// compare reports violations that are not wanted, or do not say what is, and wanted ones
// that are missing.
func compare(t *testing.T, got []Violation, want map[string]string) {
	t.Helper()
	for _, v := range got {
		if w := want[v.Where]; w == "" || !strings.Contains(v.String(), w) {
			t.Errorf("got  %s\nwant %q", v, w)
		}
		delete(want, v.Where)
	}
	for where, w := range want {
		t.Errorf("%s: %q is not found", where, w)
	}
}

func TestCheckFailsForAFileThatDoesNotParse(t *testing.T) {
	_, err := Check(fstest.MapFS{"x/x.go": {Data: []byte("package x\n\nfunc {\n")}}, planted)
	if err == nil || !strings.Contains(err.Error(), "x/x.go:3") {
		t.Errorf("want an error that names x/x.go:3, got %v", err)
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
