package workloads_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dynolab/dyno/workloads"
)

// described is what all workloads tell of themselves, of whichever contract.
type described struct {
	path, name, variant, doc string
	refs                     []reference
}

type reference struct{ name, doc string }

func describedGroups() (all []described) {
	for _, w := range workloads.Groups() {
		d := described{w.Path(), w.Name, w.Variant, w.Doc, nil}
		for _, r := range w.Refs {
			d.refs = append(d.refs, reference{r.Name, r.Doc})
		}
		all = append(all, d)
	}
	return all
}

func describedTasks() (all []described) {
	for _, w := range workloads.Tasks() {
		d := described{w.Path(), w.Name, w.Variant, w.Doc, nil}
		for _, r := range w.Refs {
			d.refs = append(d.refs, reference{r.Name, r.Doc})
		}
		all = append(all, d)
	}
	return all
}

func describedActors() (all []described) {
	for _, w := range workloads.Actors() {
		d := described{w.Path(), w.Name, w.Variant, w.Doc, nil}
		for _, r := range w.Refs {
			d.refs = append(d.refs, reference{r.Name, r.Doc})
		}
		all = append(all, d)
	}
	return all
}

var (
	path     = regexp.MustCompile(`^workload=[a-z0-9]+(/[a-z0-9]+=[a-z0-9]+)*$`)
	sentence = regexp.MustCompile(`^[^\n]{20,160}[^\n.]$`)
)

// checkFields finds what fits no table. The first reference must be base.
func checkFields(t *testing.T, all []described, base string) {
	t.Helper()
	seen := map[string]bool{}
	for _, w := range all {
		switch {
		case !path.MatchString(w.path):
			t.Errorf("%q is not a path of lower-case keys and values", w.path)
		case seen[w.path]:
			t.Errorf("%s is in the list twice", w.path)
		case !sentence.MatchString(w.doc):
			t.Errorf("%s: its description fits no table: %q", w.path, w.doc)
		case len(w.refs) == 0 || w.refs[0].name != base:
			t.Errorf("%s: the first reference, the base, must be %s", w.path, base)
		}
		seen[w.path] = true
		refs := map[string]bool{}
		for _, ref := range w.refs {
			if !strings.HasPrefix(ref.name, "ref-") || refs[ref.name] || ref.doc == "" {
				t.Errorf("%s: reference %q: no ref- name, twice, or without a description", w.path, ref.name)
			}
			refs[ref.name] = true
		}
	}
}

// checkDocument demands that the table in the given section of the document has
// a row for every workload with its variants and references, and none for others. So
// the document is also what keeps names, which are keys of tables and results, from
// changing by accident: old figures could not be compared any more.
func checkDocument(t *testing.T, all []described, section string) {
	t.Helper()
	page, err := os.ReadFile("../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n## "+section+"\n")
	if !found {
		t.Fatalf("docs/workloads.md has no section %s", section)
	}
	table, _, _ = strings.Cut(table, "\n#")
	type row struct{ variants, refs string }
	got := map[string]row{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|") // empty, name, variants, …, references, empty
		if len(cells) != 7 || !strings.Contains(cells[1], "`") {
			continue // no row, or the table's head
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		got[strings.Trim(cells[1], "`")] = row{cells[2], cells[5]}
	}
	want := map[string]row{}
	for _, w := range all {
		r := want[w.name]
		if w.variant != "" {
			if r.variants != "" {
				r.variants += ", "
			}
			r.variants += "`" + w.variant + "`"
		}
		var refs []string
		for _, ref := range w.refs {
			refs = append(refs, "`"+ref.name+"`")
		}
		r.refs = strings.Join(refs, ", ")
		want[w.name] = r
	}
	for name, r := range want {
		if got[name] != r {
			t.Errorf("docs/workloads.md, row of %s: %+v, want %+v", name, got[name], r)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/workloads.md has a row for %s, which is no workload", name)
		}
	}
}
