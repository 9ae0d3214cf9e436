package impls_test

import (
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls"
)

// Names are keys: of tables, of benchmark results, of files.
func TestNames(t *testing.T) {
	wellFormed := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, impl := range impls.All() {
		switch {
		case !wellFormed.MatchString(impl.Name):
			t.Errorf("%q is no name: lower case letters, digits and hyphens", impl.Name)
		case strings.HasPrefix(impl.Name, "ref-"):
			t.Errorf("%q: names that begin with ref- are kept for references", impl.Name)
		case seen[impl.Name]:
			t.Errorf("%q is in the list twice", impl.Name)
		case impl.Idea == "":
			t.Errorf("%q does not say its idea", impl.Name)
		}
		seen[impl.Name] = true
	}
}

var update = flag.Bool("update", false, "rewrite the tables of promises and of allocations")

// TestPromisesTable compares the table of promises in the document with what
// the implementations say.
func TestPromisesTable(t *testing.T) {
	const page, begin, end = "../docs/semantics-group.md", "<!-- promises: begin", "<!-- promises: end -->"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), begin)
	_, rest, _ = strings.Cut(rest, "-->\n")
	got, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s: the marks %s … --> and %s are gone", page, begin, end)
	}
	want := promisesTable()
	switch {
	case got == want:
	case *update:
		before := strings.TrimSuffix(string(data), got+end+after)
		if err := os.WriteFile(page, []byte(before+want+end+after), 0o644); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("%s: the table of promises is not what impls.All says: go test ./impls -run PromisesTable -update writes it", page)
	}
}

// promisesTable is the table in Markdown, a column per field of dyno.Promises.
func promisesTable() string {
	var b strings.Builder
	promises := reflect.TypeFor[dyno.Promises]()
	b.WriteString("|")
	for f := range promises.Fields() {
		b.WriteString(" | " + f.Name)
	}
	b.WriteString(" |\n|---" + strings.Repeat("|---", promises.NumField()) + "|\n")
	for _, impl := range impls.All() {
		b.WriteString("| `" + impl.Name + "` |")
		for _, v := range reflect.ValueOf(impl.Promises).Fields() {
			if v.Bool() {
				b.WriteString(" yes |")
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
