package program

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// protocolPage is the document that tells what a program has to do.
const protocolPage = "PROTOCOL.md"

// TestPage holds the page to the code: each has all the commands, answers, fields and
// words of the other.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	page, code := string(text), declared(t)
	words := make(map[string]string) // of commands, to those of answers
	for _, c := range commands {
		words[c.word] = c.answer
	}
	answers := append(slices.Collect(maps.Values(words)), saysHello)
	for _, c := range []struct {
		table string
		want  []string
	}{
		{"Field", append(code["field"], code["listWord"]...)},
		{"Command", slices.Collect(maps.Keys(words))},
		{"Answer", answers},
		{"Kind", code["kind"]},
		{"Mode", code["Mode"]},
		{"Word", slices.DeleteFunc(slices.Clone(code["says"]), func(s string) bool { return s == saysHello })},
	} {
		slices.Sort(c.want)
		if got, want := firstWords(page, c.table), slices.Compact(c.want); !slices.Equal(got, want) {
			t.Errorf("the table %s of %s has %q, the code %q", c.table, protocolPage, got, want)
		}
	}
	for word, answer := range words {
		if !regexp.MustCompile("(?m)^\\| `" + word + "\\b.*\\| `" + answer + "` \\|$").MatchString(page) {
			t.Errorf("%s does not say that %s is answered by %s", protocolPage, word, answer)
		}
	}
	for _, word := range slices.Concat(code["Resource"], code["Profile"], []string{Variable, notKnown, "protocol=` | `" + strconv.Itoa(Version)}) {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("%s has no `%s`", protocolPage, word)
		}
	}
	if n := len(code["commands"]); n != len(commands) {
		t.Errorf("%d commands are declared, and %d listed", n, len(commands))
	}
}

// firstWords returns the words that begin the rows of the table whose first column has
// that title: in code spans, without an equals sign at their end. They are sorted.
func firstWords(page, title string) []string {
	_, table, _ := strings.Cut(page, "\n| "+title+" |")
	table, _, _ = strings.Cut(table, "\n\n")
	var words []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^` =]+)[^`]*` \\|").FindAllStringSubmatch(table, -1) {
		words = append(words, m[1])
	}
	slices.Sort(words)
	return words
}

// declared returns the string constants of this package by the prefix that their names
// begin with, up to the first capital behind it, and the commands' words as "commands".
func declared(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	prefix := regexp.MustCompile(`^(field|listWord|kind|Mode|says|Resource|Profile)`)
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if p := prefix.FindString(n.Names[0].Name); p != "" && len(n.Values) == 1 {
					all[p] = append(all[p], literal(n.Values[0]))
				}
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "command" {
					all["commands"] = append(all["commands"], literal(n.Elts[0]))
				}
			}
			return true
		})
	}
	return all
}

// literal returns the value of an expression that is a string literal.
func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok {
		if s, err := strconv.Unquote(l.Value); err == nil {
			return s
		}
	}
	return ""
}
