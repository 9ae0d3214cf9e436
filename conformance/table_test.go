package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor/scenario"
	"github.com/dynolab/dyno/conformance"
)

// TestTable holds the table of clauses about actors in CLAUSES.md to the
// lists: who runs each, and in which form. DYNO_UPDATE=1 writes it.
func TestTable(t *testing.T) {
	told := map[string]bool{}
	for _, lists := range [][][]scenario.Scenario{scenario.Life(), scenario.Failures(), scenario.Services()} {
		for _, list := range lists {
			for _, s := range list {
				told[s.Name] = true
			}
		}
	}
	by := map[string]string{}
	count := map[string]int{}
	for _, c := range slices.Concat(conformance.Actor(), conformance.Core()) {
		who := "implementations"
		switch {
		case told[c.Name]:
			who = "core, a scenario"
		case c.Core:
			who = "core"
		}
		by[c.Name] = fmt.Sprintf("%s | %s", c.Rule, who)
		count[who]++
	}
	var rows []string
	for name, row := range by {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", name, row))
	}
	slices.Sort(rows)
	want := fmt.Sprintf("%d for implementations, %d of the core as scenarios, %d of the core in Go.\n\n", count["implementations"], count["core, a scenario"], count["core"]) +
		"| Clause | Rule | Who runs it |\n|---|---|---|\n" + strings.Join(rows, "")
	holdTable(t, "CLAUSES.md", "clauses", want)
}
