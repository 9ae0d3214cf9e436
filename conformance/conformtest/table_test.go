package conformtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/conformance"
)

// clausesPage is the table of all clauses, which is made of the lists.
const clausesPage = "../CLAUSES.md"

// caughtBugs returns, by the clause's full name, the bugs that it has to catch: those of
// wrong implementations, and lines of the core that are changed for the worse.
func caughtBugs() (by map[string][]string, pairs int) {
	by = map[string][]string{}
	add := func(contract, bug string, clauses []string) {
		for _, c := range clauses {
			name := contract + "/" + c
			if !slices.Contains(by[name], bug) {
				by[name] = append(by[name], bug)
				pairs++
			}
		}
	}
	for _, k := range wrongKinds {
		for _, w := range slices.Concat(k.bugs, k.onHost) {
			add(k.contract, string(w.bug), strings.Fields(w.clauses))
		}
	}
	for _, m := range mutants {
		add("actor", m.name, m.clauses)
	}
	return by, pairs
}

// TestTable holds the table of clauses to the lists: who runs each, in which form, and
// which bugs it has to catch. A clause, or a bug that one catches, that goes away
// is a line of this file that goes away. DYNO_UPDATE=1 writes it.
func TestTable(t *testing.T) {
	caught, pairs := caughtBugs()
	count := map[string]int{}
	var rows []string
	row := func(c conformance.Clause, who string) {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", c.Name, c.Rule, who, strings.Join(caught[c.Name], "; ")))
		count[who]++
		delete(caught, c.Name)
	}
	for _, c := range slices.Concat(conformance.Group(), conformance.Actor(), conformance.Core(), conformance.Task()) {
		who := "implementations"
		if c.Core {
			who = "core"
		}
		if c.Script != "" {
			who += ", a scenario"
		}
		row(c, who)
	}
	for _, c := range slices.Concat(hostClauses, actorHostClauses, taskHostClauses) {
		row(c.Clause, "implementations, on a host")
	}
	for name, bugs := range caught {
		t.Errorf("there is no clause %s, which is to catch %q", name, bugs)
	}
	slices.Sort(rows)
	var counts []string
	for who, n := range count {
		counts = append(counts, fmt.Sprintf("%d for %s", n, who))
	}
	slices.Sort(counts)
	want := "# The clauses\n\n" +
		"Who runs each – every implementation, or the tests of the actor core ([why](../docs/conformance.md#who-runs-which-clause)) – and the bugs that were made on purpose for it to catch. `DYNO_UPDATE=1 go test -run TestTable ./conformance/conformtest` writes this.\n\n" +
		fmt.Sprintf("%d clauses: %s. %d pairs of a bug and a clause.\n\n", len(rows), strings.Join(counts, "; "), pairs) +
		"| Clause | Rule | Who runs it | Catches |\n|---|---|---|---|\n" + strings.Join(rows, "")
	got, err := os.ReadFile(clausesPage)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case string(got) == want:
	case os.Getenv("DYNO_UPDATE") == "":
		t.Errorf("%s is not what the lists say: DYNO_UPDATE=1 go test -run %s ./conformance/conformtest writes it; look at what it takes away", clausesPage, t.Name())
	default:
		if err := os.WriteFile(clausesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
