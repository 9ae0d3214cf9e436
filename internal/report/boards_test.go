package report

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
)

// What the page on boards quotes stands between these marks; the first names the
// results files.
var boardsFigures = regexp.MustCompile(`(?s)<!-- boards: begin ([^>]+?) -->\n.*?<!-- boards: end -->`)

// TestBoardsFigures holds the page on boards to the results files that it names, as
// TestReadmeFigures does with the README. For other figures name other files in the
// page and run it with -update.
func TestBoardsFigures(t *testing.T) {
	hold(t, "docs/boards.md", boardsFigures, "BoardsFigures", func(root, files string) []byte {
		return boardFigures(t, root, strings.Fields(files))
	})
}

// boardFigures renders what the page quotes: for each file, which is of one board and
// one commit, what the images need, what is promised, and what the workloads take.
func boardFigures(t *testing.T, root string, files []string) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- boards: begin %s -->\n", strings.Join(files, " "))
	for _, file := range files {
		d, err := compare.Read([]string{filepath.Join(root, filepath.FromSlash(file))}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := d.Places()[0]
		c, err := d.Compare(compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := c.Files[0]
		fmt.Fprintf(&b, "### %s, commit %.8s\n\n%s", placeName(p), setting(f, "commit"), setting(f, "chip"))
		if clock := clockOf(f); clock != "" {
			fmt.Fprintf(&b, ", %s", strings.Replace(clock, ".00 ns", " ns", 1))
		}
		fmt.Fprintf(&b, "; %s; [raw file](../%s)", setting(f, "toolchain"), file)
		b.WriteString(".\n\n")
		boardImages(&b, c, f)
		boardPromises(t, &b, p)
		boardWorkloads(&b, c)
	}
	b.WriteString("<!-- boards: end -->")
	return b.Bytes()
}

// What the page says of clauses stands between these marks, as figures do.
var boardsClauses = regexp.MustCompile(`(?s)<!-- clauses: begin ([^>]+?) -->\n.*?<!-- clauses: end -->`)

// TestBoardsFiguresOfClauses holds what the page on boards says of clauses to the
// results files that it names, as TestBoardsFigures does with figures; the same pattern
// runs both.
func TestBoardsFiguresOfClauses(t *testing.T) {
	hold(t, "docs/boards.md", boardsClauses, "BoardsFigures", func(root, files string) []byte {
		return boardClauses(t, root, strings.Fields(files))
	})
}

// outOfMemory is the outcome that the page counts by itself: it says something of the
// board, and nothing of an implementation.
const outOfMemory = "out of memory"

// boardClauses renders how many clauses each implementation keeps on each board, which
// could not be built in, which failed, and why others were skipped. The runs of a board
// may be in several files, each with some implementations and parts of the clauses.
func boardClauses(t *testing.T, root string, files []string) []byte {
	t.Helper()
	var boards []string
	clauses := make(map[string][]record.BoardClause) // by board
	commits := make(map[[2]string][]string)          // by board and implementation
	var absent, sources []string
	for _, file := range files {
		c, err := compare.Compare([]string{filepath.Join(root, filepath.FromSlash(file))}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := c.Files[0]
		if len(c.Problems) > 0 || len(f.Clauses) == 0 {
			t.Errorf("%s has %d clauses, and the problems %q", file, len(f.Clauses), c.Problems)
		}
		if dirty := setting(f, "dirty"); dirty != "false" {
			t.Errorf("%s is of no commit: dirty is %q", file, dirty)
		}
		board := setting(f, "board")
		if !slices.Contains(boards, board) {
			boards = append(boards, board)
		}
		clauses[board] = append(clauses[board], f.Clauses...)
		for _, tally := range record.TallyClauses(f.Clauses) {
			of, commit := [2]string{board, tally.Impl}, fmt.Sprintf("%.8s", setting(f, "commit"))
			if !slices.Contains(commits[of], commit) {
				commits[of] = append(commits[of], commit)
			}
		}
		for _, h := range f.Holes {
			if h.Case == "" && !h.Skipped {
				absent = append(absent, fmt.Sprintf("- %s: %s", board, escape(h.Reason)))
			}
		}
		sources = append(sources, fmt.Sprintf("[%s](../%s)", path.Base(path.Dir(file))+"/"+strings.TrimSuffix(path.Base(file), ".bench"), file))
	}

	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- clauses: begin %s -->\n", strings.Join(files, " "))
	b.WriteString("| board | implementation | passed | skipped | out of memory | failed otherwise | of | commit |\n|---|---|---:|---:|---:|---:|---:|---|\n")
	var bad, reasons []string
	skips := make(map[[2]string]int) // by reason and board
	for _, board := range boards {
		for _, tally := range record.TallyClauses(clauses[board]) {
			memory := tally.Failed[outOfMemory]
			fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %d | %d | %d | %s |\n", board, tally.Impl,
				tally.Passed, tally.Skipped, memory, len(tally.Bad)-memory, tally.All(), strings.Join(commits[[2]string{board, tally.Impl}], ", "))
			for _, c := range tally.Bad {
				if c.Outcome != outOfMemory {
					bad = append(bad, fmt.Sprintf("- `%s`, %s, `%s`: %s: %s", board, tally.Impl, c.Name, c.Outcome, escape(c.Why)))
				}
			}
			for why, n := range tally.Skips {
				// What an implementation does not promise is one reason, whichever it is.
				if needs, ok := strings.CutSuffix(why, ", which "+tally.Impl+" does not promise"); ok {
					why = needs + ", which not every implementation promises"
				}
				if skips[[2]string{why, board}] += n; !slices.Contains(reasons, why) {
					reasons = append(reasons, why)
				}
			}
		}
	}
	b.WriteString("\n")
	for _, list := range []struct {
		head  string
		lines []string
	}{{"There is no image of these, and they are in no count:", absent}, {"What failed otherwise:", bad}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(&b, "%s\n\n%s\n\n", list.head, strings.Join(list.lines, "\n"))
		}
	}
	fmt.Fprintf(&b, "| why clauses are skipped | `%s` |\n|---|%s\n", strings.Join(boards, "` | `"), strings.Repeat("---:|", len(boards)))
	slices.Sort(reasons)
	for _, why := range reasons {
		fmt.Fprintf(&b, "| %s |", escape(why))
		for _, board := range boards {
			fmt.Fprintf(&b, " %d |", skips[[2]string{why, board}])
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nRaw files: %s.\n", strings.Join(sources, ", "))
	b.WriteString("<!-- clauses: end -->")
	return b.Bytes()
}

// tableOf returns the table of a unit.
func tableOf(c *compare.Comparison, unit string) (compare.Table, bool) {
	i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return t.Unit == unit })
	if i < 0 {
		return compare.Table{}, false
	}
	return c.Tables[i], true
}

// boardImages renders how much of the board each image needs.
func boardImages(b *bytes.Buffer, c *compare.Comparison, f compare.File) {
	flash, ok := tableOf(c, "flash-B")
	if !ok {
		return
	}
	// of says how much of the board's limit is used and left.
	of := func(unit, limit string, row string, col int) string {
		t, ok := tableOf(c, unit)
		if !ok {
			return ""
		}
		for _, r := range t.Rows {
			if r.Name != row || r.Cells[col].N == 0 {
				continue
			}
			used := r.Cells[col].Center
			most, err := strconv.ParseFloat(setting(f, limit), 64)
			if err != nil || most == 0 {
				return fmt.Sprintf("%.0f", used)
			}
			return fmt.Sprintf("%.0f of %.0f (%.0f %% left)", used, most, 100*(most-used)/most)
		}
		return ""
	}
	b.WriteString("| image | implementation | bytes of flash | bytes of RAM before it allocates | bytes of heap free at the start |\n|---|---|---:|---:|---:|\n")
	for _, r := range flash.Rows {
		parts := strings.NewReplacer("+", " and ", "-", "/").Replace(strings.TrimPrefix(r.Name, "Board/case=image/parts="))
		for i, col := range flash.Cols {
			if r.Cells[i].N > 0 {
				fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", parts, col.Name,
					of("flash-B", "flash", r.Name, i), of("ram-B", "ram", r.Name, i), of("ram-free-B", "", r.Name, i))
			}
		}
	}
	b.WriteString("\n")
}

// boardPromises renders which targets the board keeps.
func boardPromises(t *testing.T, b *bytes.Buffer, p compare.Place) {
	t.Helper()
	card, err := judgeFiles(slices.DeleteFunc(targets.All(), func(t targets.Target) bool { return !t.Required }), p.Paths, targets.JudgeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var impls, ids []string
	scores := make(map[[2]string]targets.Score)
	for _, s := range card.Scores {
		if !slices.Contains(impls, s.Impl) {
			impls = append(impls, s.Impl)
		}
		if !slices.Contains(ids, s.Target.ID) {
			ids = append(ids, s.Target.ID)
		}
		scores[[2]string{s.Target.ID, s.Impl}] = s
	}
	fmt.Fprintf(b, "| target | what | limit | %s |\n|---|---|---:|%s\n", strings.Join(impls, " | "), strings.Repeat("---:|", len(impls)))
	for _, id := range ids {
		target := scores[[2]string{id, impls[0]}].Target
		fmt.Fprintf(b, "| %s | %s | %s |", id, target.Says, formatLimit(target))
		for _, impl := range impls {
			switch s := scores[[2]string{id, impl}]; s.Outcome {
			case targets.Pass:
				fmt.Fprintf(b, " %s |", formatFigure(target, s.Figure))
			case targets.Miss:
				fmt.Fprintf(b, " **missed**: %s |", formatFigure(target, s.Figure))
			case targets.Skip:
				b.WriteString(" skipped |")
			default:
				b.WriteString(" not measured |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// boardWorkloads renders what an operation of each workload takes.
func boardWorkloads(b *bytes.Buffer, c *compare.Comparison) {
	time := c.Tables[0] // time is first
	allocs, _ := tableOf(c, "allocs/op")
	var cols []string
	for _, col := range time.Cols {
		cols = append(cols, col.Name)
	}
	fmt.Fprintf(b, "| an operation of | %s |\n|---|%s\n", strings.Join(cols, " | "), strings.Repeat("---:|", len(cols)))
	for _, r := range time.Rows {
		fmt.Fprintf(b, "| %s |", r.Name)
		for i := range cols {
			if r.Cells[i].N == 0 {
				b.WriteString(" — |")
				continue
			}
			fmt.Fprintf(b, " %s", sideCell(compare.SideCell{Unit: time.Unit, N: 1, Center: r.Cells[i].Center, Exact: true}, new(noteList)).Text)
			if o, ok := rowIn(allocs, r); ok {
				if at := columnIndex(allocs, cols[i]); at >= 0 && o.Cells[at].N > 0 {
					fmt.Fprintf(b, ", %s allocs", formatValue(o.Cells[at].Center, "allocs/op"))
				}
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}
