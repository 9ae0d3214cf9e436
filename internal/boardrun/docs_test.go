package boardrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/quotetest"
)

// Every outcome has a status of its own, and a hint.
func TestOutcomes(t *testing.T) {
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
	}
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
	var b quotetest.Table
	b.Head("llrrl", append([]string{"board", "chip", "RAM", "flash", ""}, impls...)...)
	var notes []string
	for _, board := range boards {
		kind := "real"
		if board.Emulated {
			kind = "emulated"
		}
		row := []string{"`" + board.Name + "`", board.Chip, memory(board.RAM), memory(board.Flash), kind}
		for _, impl := range impls {
			why, no := kept[board.Name].unfit[impl]
			switch {
			case no:
				at := slices.Index(notes, why)
				if at < 0 {
					at, notes = len(notes), append(notes, why)
				}
				row = append(row, fmt.Sprintf("no (%d)", at+1))
			case slices.Contains(kept[board.Name].fit, impl):
				row = append(row, "fits")
			default:
				row = append(row, "not tried")
			}
		}
		b.Row(row...)
	}
	for i, why := range notes {
		b.Sayf("%s%d. %s\n", strings.Repeat("\n", max(0, 1-i)), i+1, why)
	}
	quotetest.Hold(t, "results/boards.md", "fits", func([]string) string { return b.String() })
}
