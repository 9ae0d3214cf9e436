package compare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// countsFile is a file of counts in six blocks, of two sides or of none.
func countsFile(toolchain string, sides map[string]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "toolchain: go version %s linux/amd64\ncounter: cachegrind of valgrind-3.19.0\nUnit instrs/op better=lower\npkg: example.com/m\n", toolchain)
	for block := 1; block <= 6; block++ {
		fmt.Fprintf(&b, "block: %d\n", block)
		for _, side := range []string{"", "old", "new"} {
			if v, ok := sides[side]; ok {
				if side != "" {
					fmt.Fprintf(&b, "side: %s\n", side)
				}
				// A process differs from the next by 0.03 %.
				fmt.Fprintf(&b, "BenchmarkA 1000 %.1f instrs/op\n", v*(1+0.0003*float64((block*7+len(side))%3-1)))
			}
		}
	}
	return b.String()
}

// TestCounts: instructions are told apart where times would not be – by less than the order of
// functions may do, and in runs apart if processor, toolchain and counter are the same.
func TestCounts(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := func(toolchain string, v float64) string { return countsFile(toolchain, map[string]float64{"": v}) }
	two := func(old, changed float64) string {
		return countsFile("go1.26.8", map[string]float64{"old": old, "new": changed})
	}
	for _, test := range []struct {
		name  string
		files []string
		col   string
		want  Verdict
	}{
		{"side by side", []string{write("ab.bench", two(10_000, 10_050))}, "side", More},
		{"side by side, less", []string{write("ab.bench", two(10_000, 9_950))}, "side", Fewer},
		{"side by side, the same", []string{write("ab.bench", two(10_000, 10_001))}, "side", Same},
		{"apart", []string{write("a.bench", one("go1.26.8", 10_000)), write("b.bench", one("go1.26.8", 10_050))}, "", More},
		{"apart, by another toolchain", []string{write("a.bench", one("go1.26.8", 10_000)), write("b.bench", one("go1.27.4", 10_050))}, "", Unproven},
	} {
		c, err := Compare(test.files, Options{Alpha: DefaultAlpha, Margin: CountMargin, Col: test.col})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		cell := c.Tables[0].Rows[0].Cells[1]
		if cell.Verdict != test.want {
			t.Errorf("%s: %s (%+v), want %s", test.name, cell.Verdict, cell.Vs, test.want)
		}
	}
}

// TestFewBlocksOfCounts: three blocks tell counts apart that do not vary; it takes six where they do,
// since chance that a block does not decide may have put all of one side above the other.
func TestFewBlocksOfCounts(t *testing.T) {
	for name, c := range map[string]struct {
		vary float64
		want Verdict
	}{"constant": {0, More}, "varying": {1, Inconclusive}} {
		var b strings.Builder
		b.WriteString(record.PlanMark + `{"blocks":6,"looks":[2,3,6]}` + "\ncounter: cachegrind of valgrind-3.19.0\nUnit instrs/op better=lower\npkg: example.com/m\n")
		for block := range 3 {
			fmt.Fprintf(&b, "block: %d\nside: old\nBenchmarkA 1000 %v instrs/op\nside: new\nBenchmarkA 1000 %v instrs/op\n",
				block+1, 10_000+c.vary*float64(block%2), 10_200+c.vary*float64(block/2))
		}
		if got := compareText(t, Options{Margin: CountMargin}, b.String()).Tables[0].Rows[0].Cells[1].Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestTimeBesideCounts: the time of a benchmark stands in the cell of its count, and neither is of
// the family of counts nor closes a gate.
func TestTimeBesideCounts(t *testing.T) {
	var b strings.Builder
	fmt.Fprint(&b, "toolchain: go version go1.26.8 linux/amd64\ncounter: cachegrind of valgrind-3.19.0\nUnit instrs/op better=lower\npkg: example.com/m\n")
	for block := 1; block <= 6; block++ {
		jitter := 1 + 0.0003*float64(block%3)
		fmt.Fprintf(&b, "block: %d\nside: old\nBenchmarkA 1000 %.1f instrs/op 100 own-instrs/op %.4f ns/op\nside: new\nBenchmarkA 1000 10000 instrs/op 100 own-instrs/op %.4f ns/op\n",
			block, 10_000*jitter, 50*jitter, 90*jitter)
	}
	c := compareText(t, Options{Margin: CountMargin}, b.String())
	cell := c.Tables[0].Rows[0].Cells[1]
	if c.Tables[0].Unit != "instrs/op" || cell.Verdict != Same {
		t.Errorf("first is %s, %s", c.Tables[0].Unit, cell.Verdict)
	}
	if cell.Time == nil || cell.Time.Verdict != Slower || math.Abs(cell.Time.Vs.Ratio-1.8) > 0.01 {
		t.Errorf("its time is %+v", cell.Time)
	}
	if c.Comparisons != 1 {
		t.Errorf("%d comparisons of counts, want 1", c.Comparisons)
	}
	if g := c.Gate(); g.Bad() || len(g.Inconclusive) > 0 {
		t.Errorf("time decides: %+v", g)
	}
}

// TestConstantCounts: counts that do not vary at all prove what differs, however many rows there are.
func TestConstantCounts(t *testing.T) {
	var b strings.Builder
	fmt.Fprint(&b, "Unit instrs/op better=lower\n")
	for block := 1; block <= 6; block++ {
		for row := range 50 {
			fmt.Fprintf(&b, "block: %d\nside: old\nBenchmarkA%d 1000 10000 instrs/op\nside: new\nBenchmarkA%d 1000 %d instrs/op\n", block, row, row, 10_000+row%2*50)
		}
	}
	c := compareText(t, Options{Margin: CountMargin}, b.String())
	for i, r := range c.Tables[0].Rows {
		if got, want := r.Cells[1].Verdict, []Verdict{Same, More}[i%2]; got != want {
			t.Fatalf("row %d: %s, want %s", i, got, want)
		}
	}
}
