package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"

	"github.com/dynolab/dyno/internal/program"
)

// unitLinesOf returns, of a results file, the Unit lines and for each result of a step the
// number of those before it.
func unitLinesOf(t *testing.T, path string) (lines []string, before []int) {
	t.Helper()
	entries(t, path) // other readers can read it too
	data := readFile(t, path)
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, record.UnitMark):
			lines = append(lines, strings.TrimSpace(line))
		case strings.HasPrefix(line, "Benchmark"):
			before = append(before, len(lines))
		}
	}
	return lines, before
}

// TestUnits: what subjects say of their units stands once in the results, before the first
// figure in that unit, and of others nothing. What contradicts is a note, once. A run
// that is resumed says nothing again.
func TestUnits(t *testing.T) {
	plan := recordtest.Plan(1, 3)
	plan.CPU = []int{1}
	if len(plan.Cases) != 1 {
		t.Fatalf("%d cases", len(plan.Cases))
	}
	path := filepath.Join(recordtest.Dir(t), "run.bench")
	s := create(t, path, plan)
	more := "" // of later processes
	tried := 0
	one := inProcesses(func(s record.Step) (string, error) {
		if tried++; tried == 2 {
			return "", program.ErrKilled
		}
		return "Unit p50-ns better=lower\nUnit msgs better=higher assume=exact\nUnit unused better=lower\nUnit was here\n" + more +
			fmt.Sprintf("%s \t 1 \t 100 ns/op 7 p50-ns 8 msgs 9 odd", s.FullName()), nil
	})
	if err := carryOut(context.Background(), plan, s, nil, new(watched), one); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	want := []string{"Unit ns/op better=lower", "Unit p50-ns better=lower", "Unit msgs better=higher assume=exact"}
	check := func() {
		t.Helper()
		if lines, before := unitLinesOf(t, path); strings.Join(lines, "; ") != strings.Join(want, "; ") || before[0] != 3 {
			t.Errorf("%q, %v", lines, before)
		}
	}
	must(t, s.Close())
	check()

	from := interrupted(t, path)
	s = resume(t, from)
	more = "Unit msgs better=lower\nUnit ns/op better=higher\n"
	w := new(watched)
	must(t, errors.Join(carryOut(context.Background(), plan, s, from, w, one), s.Close()))
	check()
	wantNotes := "B: says better=lower of the unit msgs, of which better=higher was said before, and holds\n" +
		"B: says better=higher of the unit ns/op, of which better=lower was said before, and holds"
	if got := strings.Join(w.notes, "\n"); got != wantNotes {
		t.Errorf("notes\n%s\nwant\n%s", got, wantNotes)
	}
	data, err := os.ReadFile(path)
	if n := strings.Count(string(data), "# note: "+`pkg=example.com/a row="B" text="says better=`); err != nil || n != 2 {
		t.Errorf("%d notes, %v:\n%s", n, err, data)
	}
	c, err := compare.Compare([]string{path}, compare.Options{})
	if err != nil || len(c.Problems) > 0 {
		t.Fatalf("%v, %q", err, c.Problems)
	}
	for _, table := range c.Tables {
		if want := map[string]int{"ns/op": -1, "p50-ns": -1, "msgs": 1}[table.Unit]; table.Better != want {
			t.Errorf("%s: %d is better, want %d", table.Unit, table.Better, want)
		}
	}
}

// TestUnitsInTurns: so it is with those that take turns, and a row that is torn takes with
// it what it had said.
func TestUnitsInTurns(t *testing.T) {
	plan := recordtest.Turns(2, 2, 2)
	w := &fakeWorld{make: func(int, record.Step) *fakeDriver {
		return &fakeDriver{unit: 1, reports: "1 123 ns/op 7 msgs", units: []string{"msgs better=higher", "unused better=lower"}}
	}}
	path, _ := turnsRun(t, plan, w)
	lines, before := unitLinesOf(t, path)
	if lines[0] != "Unit ns/op better=lower" || strings.Count(strings.Join(lines, "\n"), "Unit msgs better=higher") != 1 || before[0] != len(lines) {
		t.Errorf("%q, %v", lines, before)
	}
	data := unsummed(readFile(t, path))
	torn := data[:strings.Index(string(data), "\n# end of row")]
	from, err := record.ParseInterrupted(path, torn)
	if kept := string(torn[:len(torn)-len(from.Torn)]); err != nil || strings.Contains(kept, "\nUnit ") {
		t.Errorf("%v; it has kept %q", err, kept)
	}
}
