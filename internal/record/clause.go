package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// What can become of a clause on a board.
const (
	ClausePassed  = "pass"
	ClauseSkipped = "skip"
	ClauseFailed  = "fail"
)

// A BoardClause is what became of a clause of the conformance suite on a board, one
// time.
type BoardClause struct {
	Impl   string // "serial"
	Name   string // "group/go-nil-task"
	Result string // ClausePassed, ClauseSkipped or ClauseFailed

	// Outcome is how one failed, in the words of package hw, such as "out of memory";
	// "" of others.
	Outcome string
	Why     string // of a skip or a failure
}

// Line is the line of a results file that says so, without the newline.
func (c BoardClause) Line() string {
	return ClauseMark + formatFields("impl", c.Impl, "clause", c.Name, "result", c.Result, "outcome", quoteSome(c.Outcome), "why", quoteSome(c.Why))
}

// parseClause reads what stands behind ClauseMark.
func parseClause(text string) (c BoardClause, err error) {
	fields, err := ParseFields(text)
	if err != nil {
		return c, fmt.Errorf("malformed line of a clause: %w", err)
	}
	c = BoardClause{fields["impl"], fields["clause"], fields["result"], fields["outcome"], fields["why"]}
	for _, name := range []string{c.Impl, c.Name} {
		if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
			return c, errors.New("malformed line of a clause: it names no implementation or no clause")
		}
	}
	if !slices.Contains([]string{ClausePassed, ClauseSkipped, ClauseFailed}, c.Result) {
		return c, fmt.Errorf("malformed line of a clause: its result is %q, and not pass, skip or fail", c.Result)
	}
	return c, nil
}

// A ClauseTally counts the clauses of an implementation on a board, each once. Of a
// clause that was run several times a failure counts most, and then a pass.
type ClauseTally struct {
	Impl            string
	Passed, Skipped int
	Failed          map[string]int // by outcome
	// Bad are the clauses that have failed, in the order of the file, each with the
	// result that counts.
	Bad []BoardClause
	// Skips counts why clauses were skipped.
	Skips map[string]int
}

// All is how many clauses there are.
func (t *ClauseTally) All() int { return t.Passed + t.Skipped + len(t.Bad) }

// TallyClauses counts clauses by implementation, in order of appearance.
func TallyClauses(clauses []BoardClause) []ClauseTally {
	type key struct{ impl, name string }
	rank := func(c BoardClause) int {
		return slices.Index([]string{ClauseSkipped, ClausePassed, ClauseFailed}, c.Result)
	}
	counts := make(map[key]BoardClause)
	var order []key
	for _, c := range clauses {
		k := key{c.Impl, c.Name}
		before, again := counts[k]
		if !again {
			order = append(order, k)
		}
		if !again || rank(c) > rank(before) {
			counts[k] = c
		}
	}
	var tallies []ClauseTally
	for _, k := range order {
		i := slices.IndexFunc(tallies, func(t ClauseTally) bool { return t.Impl == k.impl })
		if i < 0 {
			i = len(tallies)
			tallies = append(tallies, ClauseTally{Impl: k.impl, Failed: make(map[string]int), Skips: make(map[string]int)})
		}
		t, c := &tallies[i], counts[k]
		switch c.Result {
		case ClausePassed:
			t.Passed++
		case ClauseSkipped:
			t.Skipped++
			t.Skips[c.Why]++
		default:
			t.Failed[c.Outcome]++
			t.Bad = append(t.Bad, c)
		}
	}
	return tallies
}
