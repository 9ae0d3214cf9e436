package boardrun

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw"
)

var update = flag.Bool("update", false, "rewrite what docs/boards.md says of outcomes and boards; look at the difference before you commit it")

// holdBoards compares the part of docs/boards.md between the marks of this name with
// what it should be. With -update it writes that.
func holdBoards(t *testing.T, name, want string) {
	t.Helper()
	const page = "../../docs/boards.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	marks := regexp.MustCompile("(?s)" + begin + "(.*?)" + end)
	m := marks.FindStringSubmatchIndex(string(data))
	if m == nil {
		t.Fatalf("docs/boards.md has no %s", strings.TrimSpace(begin))
	}
	got := string(data[m[2]:m[3]])
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("docs/boards.md is not what the program says; run go test ./internal/boardrun -run TestBoardsPage -update\ngot:\n%s\nwant:\n%s", got, want)
	}
	if err := os.WriteFile(page, []byte(string(data[:m[2]])+want+string(data[m[3]:])), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The page has every outcome with its status and what to do, as the command says it.
func TestBoardsPageOutcomes(t *testing.T) {
	var b strings.Builder
	b.WriteString("| Status | Outcome | What to do |\n|---:|---|---|\n")
	seen := make(map[int]bool)
	for _, o := range hw.Outcomes() {
		if o == hw.OK {
			continue
		}
		code := o.ExitCode()
		if seen[code] || code < 10 || code >= 128 || o.Hint() == "" {
			t.Errorf("%s has the status %d, which something else has, or no hint", o, code)
		}
		seen[code] = true
		fmt.Fprintf(&b, "| %d | %s | %s |\n", code, o, o.Hint())
	}
	holdBoards(t, "outcomes", b.String())
}

// The page says which implementations fit which board, and why others do not, as kept
// results have it.
func TestBoardsPageFits(t *testing.T) {
	boards, err := hw.Boards()
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := hw.FindCheckout(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	impls, err := checkout.Implementations()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := keptFits(checkout)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| board | chip | RAM | flash | | %s |\n|---|---|---:|---:|---|%s\n", strings.Join(impls, " | "), strings.Repeat("---|", len(impls)))
	var notes []string
	for _, board := range boards {
		kind := "real"
		if board.Emulated {
			kind = "emulated"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |", board.Name, board.Chip, memory(board.RAM), memory(board.Flash), kind)
		for _, impl := range impls {
			why, no := kept[board.Name].unfit[impl]
			switch {
			case no:
				at := slices.Index(notes, why)
				if at < 0 {
					at, notes = len(notes), append(notes, why)
				}
				fmt.Fprintf(&b, " no (%d) |", at+1)
			case slices.Contains(kept[board.Name].fit, impl):
				b.WriteString(" fits |")
			default:
				b.WriteString(" not tried |")
			}
		}
		b.WriteString("\n")
	}
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	for i, why := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, why)
	}
	holdBoards(t, "fits", b.String())
}
