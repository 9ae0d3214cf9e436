package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDocuments holds the documents to the tree: what they tell a reader to
// type or to open must be there.
func TestDocuments(t *testing.T) {
	faults, err := checkDocuments(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}

var (
	mdFence     = regexp.MustCompile("^ *(```|~~~)")
	mdSpan      = regexp.MustCompile("`([^`]+)`")
	mdLink      = regexp.MustCompile(`\]\(([^()\s]+)(?: "[^"]*")?\)`)
	mdHeading   = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	makeCommand = regexp.MustCompile(`(?:^|[\s(;&|])make +([a-z][a-z0-9-]*)`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	benchrun    = regexp.MustCompile(`(?:^|[\s(;&|/])benchrun +([a-z][a-z-]*)`)
	published   = regexp.MustCompile(`go (?:get|install)[^#\n]* github\.com/dynolab/dyno`)
	slugDrop    = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// checkDocuments returns the faults of all Markdown files of a tree, one line
// each.
func checkDocuments(fsys fs.FS) ([]string, error) {
	makefile, err := fs.ReadFile(fsys, "Makefile")
	if err != nil {
		return nil, err
	}
	var targets []string
	for _, m := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, m[1])
	}
	commands, err := benchrunCommands(fsys)
	if err != nil {
		return nil, err
	}
	var faults []string
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// Reports below results/ are derived and have tests of their own.
			if name == "bin" || name == "results" || path.Base(name) == "testdata" || name != "." && path.Base(name)[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		fault := func(line int, format string, args ...any) {
			faults = append(faults, fmt.Sprintf("%s:%d: %s", name, line+1, fmt.Sprintf(format, args...)))
		}
		inCode := false
		for i, line := range strings.Split(string(data), "\n") {
			if mdFence.MatchString(line) {
				inCode = !inCode
				continue
			}
			code := []string{line}
			if !inCode {
				code = nil
				for _, m := range mdSpan.FindAllStringSubmatch(line, -1) {
					code = append(code, m[1])
				}
				for _, m := range mdLink.FindAllStringSubmatch(mdSpan.ReplaceAllString(line, ""), -1) {
					if err := checkLink(fsys, name, m[1]); err != nil {
						fault(i, "%v", err)
					}
				}
			}
			for _, c := range code {
				for _, m := range makeCommand.FindAllStringSubmatch(c, -1) {
					if !slices.Contains(targets, m[1]) {
						fault(i, "the Makefile has no target %q", m[1])
					}
				}
				for _, m := range benchrun.FindAllStringSubmatch(c, -1) {
					if !slices.Contains(commands, m[1]) {
						fault(i, "benchrun has no command %q, it has %q", m[1], commands)
					}
				}
			}
			if published.MatchString(line) {
				fault(i, "nothing is published under the module path: tell readers to work from a checkout")
			}
		}
		return nil
	})
	return faults, err
}

// benchrunCommands returns the names of benchrun's commands: the first words
// of its cobra commands' usage lines, and those that cobra adds.
func benchrunCommands(fsys fs.FS) ([]string, error) {
	names, err := fs.Glob(fsys, "cmd/benchrun/*.go")
	if err != nil {
		return nil, err
	}
	commands := []string{"help", "completion"}
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isID := kv.Key.(*ast.Ident)
			use, isLit := kv.Value.(*ast.BasicLit)
			if isID && isLit && key.Name == "Use" && use.Kind == token.STRING {
				s, err := strconv.Unquote(use.Value)
				if name, _, _ := strings.Cut(s, " "); err == nil && name != "benchrun" {
					commands = append(commands, name)
				}
			}
			return true
		})
	}
	return commands, nil
}

// checkLink says what is wrong with a link in the document doc, if anything.
// Links to other sites are not followed.
func checkLink(fsys fs.FS, doc, link string) error {
	u, err := url.Parse(link)
	if err != nil {
		return err
	}
	if u.IsAbs() {
		return nil
	}
	target := doc
	if u.Path != "" {
		target = path.Join(path.Dir(doc), u.Path)
	}
	if _, err := fs.Stat(fsys, target); err != nil {
		return fmt.Errorf("the link %s leads to %s, which does not exist", link, target)
	}
	if u.Fragment == "" || path.Ext(target) != ".md" {
		return nil
	}
	data, err := fs.ReadFile(fsys, target)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if m := mdHeading.FindStringSubmatch(strings.TrimSpace(line)); m != nil && slug(m[1]) == u.Fragment {
			return nil
		}
	}
	return fmt.Errorf("the link %s leads to no heading of %s", link, target)
}

// slug is the fragment under which GitHub shows a heading.
func slug(heading string) string {
	return strings.ReplaceAll(slugDrop.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

func TestCheckDocumentsFindsEachFault(t *testing.T) {
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
			got, err := checkDocuments(fstest.MapFS{
				"Makefile":             {Data: []byte("each = x\ntest: unit ## all\n$(BIN)/all: y\n\tmake each\n")},
				"cmd/benchrun/root.go": {Data: []byte("package main\n\nvar r, c = T{Use: \"benchrun\"}, T{Use: \"run [packages]\"}\n")},
				"docs/a.md":            {Data: []byte("# Two words & more\n\n[up](../README.md)\n")},
				"README.md":            {Data: []byte(c.text)},
				"testdata/x.md":        {Data: []byte("`make nothing`")},
			})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// TestDependenciesPage compares docs/dependencies.md with the go.mod files:
// every direct dependency has a row that says what it is for, and no row is
// left of one that went.
func TestDependenciesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		heading, file string
		direct        func(goMod string) []string
	}{
		{"## go.mod", "go.mod", directRequires},
		{"## tools/go.mod", "tools/go.mod", tools},
	} {
		goMod, err := os.ReadFile("../../" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		want := c.direct(string(goMod))
		got := firstColumn(string(page), c.heading)
		for _, m := range want {
			if !slices.Contains(got, m) {
				t.Errorf("docs/dependencies.md: the table under %q has no row for %s: say what it is for, why this one, and what dropping it would cost", c.heading, m)
			}
		}
		for _, m := range got {
			if !slices.Contains(want, m) {
				t.Errorf("docs/dependencies.md: %s is under %q but not a direct dependency in %s: remove the row", m, c.heading, c.file)
			}
		}
	}
}

var (
	requireLine = regexp.MustCompile(`(?m)^(?:\t|require )(\S+) v\S+$`) // with a comment // indirect it does not match
	toolLine    = regexp.MustCompile(`(?m)^(?:\t|tool )([^\s()]+)$`)
	tableCell   = regexp.MustCompile("^\\| *`([^`]+)` *\\|")
)

// directRequires returns the modules that a go.mod file, in the form the go
// command gives it, requires directly.
func directRequires(goMod string) []string { return submatches(requireLine, goMod) }

// tools returns the packages of a go.mod file's tool directives.
func tools(goMod string) []string { return submatches(toolLine, goMod) }

func submatches(re *regexp.Regexp, s string) []string {
	var all []string
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		all = append(all, m[1])
	}
	return all
}

// firstColumn returns the code in the first cells of the table rows between a
// heading and the next one.
func firstColumn(page, heading string) []string {
	_, section, _ := strings.Cut(page, heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var cells []string
	for line := range strings.Lines(section) {
		if m := tableCell.FindStringSubmatch(line); m != nil {
			cells = append(cells, m[1])
		}
	}
	return cells
}

func TestReadersOfTheDependenciesPage(t *testing.T) {
	const goMod = "module m\n\ngo 1.26.0\n\ntool (\n\ta.org/x/cmd/t\n)\n\ntool b.org/u\n\n" +
		"require (\n\ta.org/x v1.0.0\n\tb.org/y v0.0.0-2026 // indirect\n)\n\nrequire c.org/z/v2 v2.1.0\n"
	if got, want := directRequires(goMod), []string{"a.org/x", "c.org/z/v2"}; !slices.Equal(got, want) {
		t.Errorf("directRequires = %q, want %q", got, want)
	}
	if got, want := tools(goMod), []string{"a.org/x/cmd/t", "b.org/u"}; !slices.Equal(got, want) {
		t.Errorf("tools = %q, want %q", got, want)
	}
	const page = "## A\n| `no` |\n\n## B\n\n| Module | For |\n|---|---|\n| `a.org/x` | `b` |\n|`c`| d |\n\n## C\n| `no` | |\n"
	if got, want := firstColumn(page, "## B"), []string{"a.org/x", "c"}; !slices.Equal(got, want) {
		t.Errorf("firstColumn = %q, want %q", got, want)
	}
}
