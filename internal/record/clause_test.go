package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// What is written of a clause is read again, and other readers take it for a comment.
func TestBoardClauses(t *testing.T) {
	clauses := []record.BoardClause{
		{Impl: "serial", Name: "group/a", Result: record.ClausePassed},
		{Impl: "serial", Name: "group/b", Result: record.ClauseSkipped, Why: `needs "Heap"`},
		{Impl: "serial", Name: "group/c", Result: record.ClauseFailed, Outcome: "out of memory", Why: "panic: out of memory"},
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
	c := compareText(t, Options{}, text.String())
	if got := c.Files[0].Clauses; !slices.Equal(got, clauses) {
		t.Errorf("read\n%+v, want\n%+v", got, clauses)
	}
	if c.Files[0].Results != 1 {
		t.Errorf("%d results", c.Files[0].Results)
	}
	if len(c.Problems) != 5 {
		t.Fatalf("problems: %q", c.Problems)
	}
	for i, want := range []string{":6: ", ":7: ", ":8: ", ":9: ", ":10: "} {
		if !strings.Contains(c.Problems[i], want+"malformed line of a clause: ") {
			t.Errorf("problem %d is %q, want%s", i, c.Problems[i], want)
		}
	}
}

// Each clause counts once: a failure more than a pass, and that more than a skip.
func TestTallyClauses(t *testing.T) {
	of := func(impl, name, result, outcome, why string) record.BoardClause {
		return record.BoardClause{Impl: impl, Name: name, Result: result, Outcome: outcome, Why: why}
	}
	got := record.TallyClauses([]record.BoardClause{
		of("serial", "a", record.ClausePassed, "", ""),
		of("serial", "b", record.ClauseSkipped, "", "needs Heap"),
		of("channel", "a", record.ClauseSkipped, "", "needs Heap"),
		of("serial", "c", record.ClauseFailed, "hung", "no line"),
		of("serial", "a", record.ClauseFailed, "wrong result", "once"), // the second time
		of("serial", "c", record.ClausePassed, "", ""),
		of("serial", "d", record.ClauseSkipped, "", "needs Heap"),
		of("serial", "d", record.ClausePassed, "", ""),
		of("serial", "e", record.ClauseFailed, "hung", "no line"),
		of("serial", "f", record.ClauseSkipped, "", "needs Stacks"),
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
	if got := record.TallyClauses(nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

func FuzzClause(f *testing.F) {
	f.Add(`# conform: impl=serial clause=group/a result=fail outcome="out of memory" why="\"x\""`)
	f.Add(`# conform: impl=a clause=b result=pass`)
	f.Fuzz(func(t *testing.T, line string) {
		c, ok, err := record.ParseClauseLine(line)
		if err != nil || !ok || strings.ContainsAny(c.Impl+c.Name, "\"") {
			return
		}
		again, ok, err := record.ParseClauseLine(c.Line())
		if err != nil || !ok || again != c {
			t.Errorf("%q is read as %+v, and that as %+v, %v", line, c, again, err)
		}
	})
}
