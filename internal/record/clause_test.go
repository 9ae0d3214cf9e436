package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// What is written of a clause is read again, and other readers take it for a comment.
func TestBoardClauses(t *testing.T) {
	clauses := []BoardClause{
		{Impl: "serial", Name: "group/a", Result: ClausePassed},
		{Impl: "serial", Name: "group/b", Result: ClauseSkipped, Why: `needs "Heap"`},
		{Impl: "serial", Name: "group/c", Result: ClauseFailed, Outcome: "out of memory", Why: "panic: out of memory"},
	}
	var text strings.Builder
	text.WriteString("board: x\nBenchmarkX/impl=serial 1 2 ns/op\n")
	for _, c := range clauses {
		text.WriteString(c.Line() + "\n")
	}
	text.WriteString("# conform: impl=serial clause=group/d result=maybe\n" +
		"# conform: impl=serial clause=group/e result=fail why=\"torn\n" +
		"# conform: impl=serial result=pass\n# conform: clause=group/f result=pass\n" +
		"# conform: impl=serial clause=\"group g\" result=pass\n# conformity: is no clause\n")
	f := Read("f", []byte(text.String()))
	if !slices.Equal(f.Clauses, clauses) || len(f.Results) != 1 {
		t.Errorf("%d results, and\n%+v, want\n%+v", len(f.Results), f.Clauses, clauses)
	}
	var want []string
	for line := 6; line <= 10; line++ {
		want = append(want, fmt.Sprint(line, ": malformed line of a clause: "))
	}
	told(t, f.Problems, want)
}

// Each clause counts once: a failure more than a pass, and that more than a skip.
func TestTallyClauses(t *testing.T) {
	of := func(impl, name, result, outcome, why string) BoardClause {
		return BoardClause{Impl: impl, Name: name, Result: result, Outcome: outcome, Why: why}
	}
	got := TallyClauses([]BoardClause{
		of("serial", "a", ClausePassed, "", ""),
		of("serial", "b", ClauseSkipped, "", "needs Heap"),
		of("channel", "a", ClauseSkipped, "", "needs Heap"),
		of("serial", "c", ClauseFailed, "hung", "no line"),
		of("serial", "a", ClauseFailed, "wrong result", "once"), // the second time
		of("serial", "c", ClausePassed, "", ""),
		of("serial", "d", ClauseSkipped, "", "needs Heap"),
		of("serial", "d", ClausePassed, "", ""),
		of("serial", "e", ClauseFailed, "hung", "no line"),
		of("serial", "f", ClauseSkipped, "", "needs Stacks"),
	})
	if len(got) != 2 || got[0].Impl != "serial" || got[1].Impl != "channel" {
		t.Fatalf("%+v", got)
	}
	s := got[0]
	if s.Passed != 1 || s.Skipped != 2 || s.All() != 6 || !maps.Equal(s.Failed, map[string]int{"hung": 2, "wrong result": 1}) ||
		!maps.Equal(s.Skips, map[string]int{"needs Heap": 1, "needs Stacks": 1}) {
		t.Errorf("serial: %+v", s)
	}
	if bad := fmt.Sprint(s.Bad); bad != "[{serial a fail wrong result once} {serial c fail hung no line} {serial e fail hung no line}]" {
		t.Errorf("bad: %s", bad)
	}
	if c := got[1]; c.Passed != 0 || c.Skipped != 1 || c.All() != 1 {
		t.Errorf("channel: %+v", c)
	}
	if got := TallyClauses(nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}
