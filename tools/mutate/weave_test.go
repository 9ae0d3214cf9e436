package mutate

import (
	"bytes"
	"strings"
	"testing"
)

// TestWeave: a program has the function as it was and as each mutant has it, whatever its
// receiver, parameters and results are.
func TestWeave(t *testing.T) {
	src := `package p

type box[T any] struct{ v T }

func (b *box[T]) get(_ int, more ...T) (T, bool) { return b.v, len(more) > 0 }

func first[T, U any](T, U) int { return 1 }

func nothing() { println("a") }
`
	with := func(old, change string) []byte { return []byte(strings.Replace(src, old, change, 1)) }
	got, pkg, err := weave([]byte(src), map[int][]byte{
		1: with("> 0", ">= 0"), 2: with("return 1", "return 2"), 3: with(`"a"`, `"b"`), 5: with(`"a"`, `"c"`),
	})
	if err != nil || pkg != "p" {
		t.Fatal(pkg, err)
	}
	for _, want := range []string{
		"func (b *box[T]) get(unnamed1 int, more ...T) (T, bool) {\n\tswitch plantedMutant {\n\tcase 1:\n\t\treturn b.get_planted1(unnamed1, more...)\n\t}\n\treturn b.v, len(more) > 0\n}",
		"func (b *box[T]) get_planted1(_ int, more ...T) (T, bool) { return b.v, len(more) >= 0 }",
		"return first_planted2[T, U](unnamed0, unnamed1)",
		"switch plantedMutant {\n\tcase 3:\n\t\tnothing_planted3()\n\t\treturn\n\tcase 5:\n",
		`func nothing_planted5() { println("c") }`,
	} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("there is no\n%s\nin\n%s", want, got)
		}
	}
	if _, _, err := weave([]byte(src), map[int][]byte{1: with("struct{ v T }", "struct{ w T }")}); err == nil {
		t.Error("a change outside all functions was built in")
	}
}
