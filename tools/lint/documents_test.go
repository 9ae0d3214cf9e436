package lint

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDocuments holds this tree's documents to it.
func TestDocuments(t *testing.T) {
	tree := os.DirFS("../..")
	found, err := Documents(tree)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Dependencies(tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append(found, rows...) {
		t.Error(v)
	}
}

func TestDocumentsFindsEachViolation(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // the one fault; empty for none
	}{
		{"target that exists", "Run `make test`.\n", ""},
		{"prose about making", "We make no claims, but `go build` does.\n", ""},
		{"missing target", "\nRun `make tests` now.\n", `README.md:2: the Makefile has no target "tests"`},
		{"missing target in a block", "```\nCC=x make all\n```\n", `README.md:2: the Makefile has no target "all"`},
		{"pattern rules and variables are no targets", "`make each`\n", `README.md:1: the Makefile has no target "each"`},
		{"command that exists", "`benchrun run ./x`, `bin/benchrun completion bash`\n", ""},
		{"missing command", "`bin/benchrun go ./x`\n", `README.md:1: benchrun has no command "go", it has ["help" "completion" "run"]`},
		{"publication", "\n    go get -u github.com/dynolab/dyno/group\n", "README.md:2: nothing is published under the module path: tell readers to work from a checkout"},
		{"links that resolve", "[a](docs/a.md) [b](docs/a.md#two-words--more) [c](#d-e) [x](https://example.com/x) ![p](docs)\n# D `e`!\n", ""},
		{"link into nothing", "[a](docs/b.md)\n", "README.md:1: the link docs/b.md leads to docs/b.md, which does not exist"},
		{"link to a missing heading", "[a](docs/a.md#three)\n", "README.md:1: the link docs/a.md#three leads to no heading of docs/a.md"},
		{"links in code are none", "`[a](b.md)`\n```\n[a](b.md)\n```\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Documents(fstest.MapFS{
				"Makefile":                       {Data: []byte("each = x\ntest: unit ## all\n$(BIN)/all: y\n\tmake each\n")},
				"cmd/benchrun/help/benchrun.txt": {Data: []byte("benchrun\nMeasure\n")},
				"cmd/benchrun/help/run.txt":      {Data: []byte("run [packages]\nRun\n")},
				"docs/a.md":                      {Data: []byte("# Two words & more\n\n[up](../README.md) [words](glossary.md)\n")},
				"docs/glossary.md":               {Data: []byte("# Words\n")},
				"README.md":                      {Data: []byte(c.text)},
				"testdata/x.md":                  {Data: []byte("`make nothing`")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || got[0].String() != c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A page of docs/ that does not link the glossary is named; the glossary, and what is
// elsewhere, need no such link.
func TestDocumentsFindsThePageWithoutWords(t *testing.T) {
	got, err := Documents(fstest.MapFS{
		"Makefile":          {},
		"README.md":         {Data: []byte("# R\n")},
		"docs/glossary.md":  {Data: []byte("# Words\n")},
		"docs/linked.md":    {Data: []byte("# L\n\n[Words](glossary.md)\n")},
		"docs/unlinked.md":  {Data: []byte("# U\n\nglossary.md\n")},
		"docs/deeper/in.md": {Data: []byte("# D\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Where != "docs/unlinked.md" {
		t.Errorf("got %q, want docs/unlinked.md only", got)
	}
}

func TestDependenciesFindsEachViolation(t *testing.T) {
	const (
		goMod = "module m\n\ngo 1.26.0\n\nrequire (\n\ta.org/x v1.0.0\n\tb.org/y v0.0.0-2026 // indirect\n)\n\nrequire c.org/z/v2 v2.1.0\n"
		tools = "module t\n\ngo 1.26.0\n\ntool (\n\ta.org/x/cmd/t\n)\n\ntool b.org/u\n\nrequire a.org/x v1.0.0 // indirect\n"
		nats  = "module n\n\nrequire (\n\te.org/n v1.0.0\n\tm v0.0.0\n)\n\nreplace m => ../..\n"
		page  = "## A\n- `no` – x\n\n## go.mod\n\n- `a.org/x` – `b`\n- `c.org/z/v2` – d\n\n## actor/natslink/go.mod\n- `e.org/n` – \n\n## tools/go.mod\n- `a.org/x/cmd/t` – \n- `b.org/u` – \n\n## C\n- `no` – \n"
	)
	for _, c := range []struct{ name, old, new, want string }{
		{name: "all are there"},
		{"module without a line", "- `a.org/x` – `b`\n", "", "no line for a.org/x of go.mod"},
		{"line without a module", "- `a.org/x` – `b`\n", "- `a.org/x` – `b`\n- `gone.org/x` – `b`\n", "gone.org/x is not a direct dependency in go.mod"},
		{"line of an indirect dependency", "- `c.org", "- `b.org/y` – \n- `c.org", "b.org/y is not a direct dependency in go.mod"},
		{"another module's without a line", "- `e.org/n` – \n", "", "no line for e.org/n of actor/natslink/go.mod"},
		{"tool without a line", "- `b.org/u` – \n", "", "no line for b.org/u of tools/go.mod"},
		{"line without a tool", "- `b.org/u` – \n", "- `b.org/u` – \n- `d.org/v` – \n", "d.org/v is not a direct dependency in tools/go.mod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Dependencies(fstest.MapFS{
				"go.mod":                  {Data: []byte(goMod)},
				"actor/natslink/go.mod":   {Data: []byte(nats)},
				"actor/protocodec/go.mod": {Data: []byte("module p\n")},
				"fleet/go.mod":            {Data: []byte("module f\n")},
				"peers/go.mod":            {Data: []byte("module q\n")},
				"tools/go.mod":            {Data: []byte(tools)},
				"docs/dependencies.md":    {Data: []byte(strings.Replace(page, c.old, c.new, 1))},
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0].What, c.want)) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
