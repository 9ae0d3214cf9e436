package conformance_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor/scenario"
	"github.com/dynolab/dyno/conformance"
)

const (
	tableFile  = "CLAUSES.md"
	tableBegin = "<!-- clauses: begin -->\n"
	tableEnd   = "<!-- clauses: end -->\n"
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
	want := tableBegin + fmt.Sprintf("%d for implementations, %d of the core as scenarios, %d of the core in Go.\n\n", count["implementations"], count["core, a scenario"], count["core"]) +
		"| Clause | Rule | Who runs it |\n|---|---|---|\n" + strings.Join(rows, "") + tableEnd
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	table, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", tableFile)
	}
	if tableBegin+table+tableEnd == want {
		return
	}
	if os.Getenv("DYNO_UPDATE") == "" {
		t.Fatalf("the table in %s is not that of the lists: DYNO_UPDATE=1 go test -run TestTable ./conformance writes it", tableFile)
	}
	if err := os.WriteFile(tableFile, []byte(before+want+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
