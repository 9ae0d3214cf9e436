package report

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
)

// comparedTexts compares files of the given texts, "a.txt", "b.txt" and so on.
func comparedTexts(t testing.TB, o compare.Options, texts ...string) *compare.Comparison {
	t.Helper()
	var paths []string
	dir := t.TempDir()
	for i, text := range texts {
		paths = append(paths, filepath.Join(dir, string(rune('a'+i))+".txt"))
		writeFixture(t, paths[i], []byte(text))
	}
	c, err := compare.Compare(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// times is a file of six lines of a benchmark; each ~ of rest is a number from 1 to 6.
func times(name, rest string) string {
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, "Benchmark%s 100 %s\n", name, strings.ReplaceAll(rest, "~", string(rune('1'+i))))
	}
	return b.String()
}

// inBlocks has eight blocks of two columns, a and b, in the units of rest; each ~ is noise, and
// ^ the value of the column.
func inBlocks(rest, a, b string) string {
	var text strings.Builder
	for i := range 8 {
		fmt.Fprintf(&text, "block: %d\n", i+1)
		for k, value := range []string{a, b} {
			line := strings.NewReplacer("~", fmt.Sprint((5*i+3*k)%7), "^", value).Replace(rest)
			fmt.Fprintf(&text, "BenchmarkX/impl=%c-8 1 %s\n", "ab"[k], line)
		}
	}
	return text.String()
}

// What figures mean is told rightly, whatever the unit, the files and their number are.
func TestFiguresMeanOneThing(t *testing.T) {
	const same = "101.~ ns/op 16 B/op "
	sizes := func(n int) string {
		return fmt.Sprintf("Unit text-bytes assume=exact\nBenchmarkSize 1 %d text-bytes\nBenchmarkSame 1 100 text-bytes\n", n)
	}
	for name, test := range map[string]struct {
		files       []string
		col         string
		says        []string // the summary
		saysNot     []string
		gate        string // what is slower
		undecidedBy string // what the gate cannot tell
	}{
		"a pair whose first unit only one of them reports stays a pair": {
			files:   []string{times("A-8", "7 a-ns/op 10~.1 ns/op"), times("A-8", "20~.1 ns/op 5 zz/op")},
			says:    []string{"b.txt against a.txt, 1 benchmark", "×1.965", "warning: no result of a.txt has zz/op: not compared", "warning: no result of b.txt has a-ns/op: not compared"},
			saysNot: []string{"ratio to the base", "missing"},
		},
		"a pair that has no unit in common stays a pair": {
			files:   []string{times("A-8", "7 a-ns/op"), times("A-8", "5 b-ns/op")},
			says:    []string{"b.txt against a.txt, 1 benchmark", "a.txt and b.txt have no unit in common", "no result of b.txt has a-ns/op: not compared", "no result of a.txt has b-ns/op: not compared"},
			saysNot: []string{"all results are of", "missing"},
		},
		"three columns hide no memory": {
			files: []string{times("A-8", same+"0 errors/op 0 allocs/op"), times("A-8", same+"0 errors/op 0 allocs/op"), times("A-8", same+"100 errors/op 5 allocs/op")},
			says:  []string{"c.txt: ", "allocs/op: worse on A (0 to 5)", "ratio in errors/op", "+100 ?", "ratio in allocs/op", "+5 worse"},
			gate:  "A-8, c.txt, allocs/op: worse",
		},
		"a proven change of unknown direction is counted": {
			files:       []string{sizes(100), sizes(105)},
			says:        []string{"1 of 2 benchmarks is higher in text-bytes: Size +5 %\n", "+5 %", "higher (direction unknown)"},
			saysNot:     []string{"Nothing proven", "No change"},
			undecidedBy: "Size, b.txt, text-bytes: higher, and nothing says which way is better",
		},
		"and so it is in columns of one file": {
			files:       []string{"note: before\n\n" + sizes(100) + "note: after\n\n" + sizes(105)},
			col:         "note",
			says:        []string{"after: text-bytes: higher (direction unknown) on Size (1.050)"},
			saysNot:     []string{"no difference proven on 2"},
			undecidedBy: "Size, after, text-bytes: higher",
		},
		"names that differ in GOMAXPROCS": {
			files:   []string{times("A-8", same+"0 allocs/op"), times("A-16", same+"0 allocs/op")},
			says:    []string{"Nothing is compared: the names differ in GOMAXPROCS only (8 and 16)", "\nA-8 ", "\nA-16 "},
			saysNot: []string{"no difference proven", "allocs/op"},
		},
		"GOMAXPROCS 1 is written nowhere": {
			files:   []string{times("A/Size-100", same) + times("B", same), times("A/Size-100-4", same) + times("B-4", same)},
			says:    []string{"the names differ in GOMAXPROCS only (1 and 4)"},
			saysNot: []string{"no difference proven"},
		},
		"nothing in common": {
			files: []string{times("A-8", same), times("B-8", same)},
			says:  []string{"Nothing is compared: a.txt and b.txt have no benchmark in common."},
		},
		"no percentage of a negative base": {
			files:   []string{times("A-8", "0 ns/op -5 delta"), times("A-8", "0.25 ns/op 5 delta")},
			says:    []string{"+10 ", "delta"},
			saysNot: []string{"-200", "−200", "×"},
		},
		"no unit but that of times is left out": {
			files: []string{times("A-8", "12.~ ms/frame"), times("A-8", "24.~ ms/frame")},
			says:  []string{"ms/frame", "12.35 ms", "24.35 ms", "×1.972"},
		},
		"nor where only p99 is": {
			files: []string{times("A-8", "53.~ p99-ns"), times("A-8", "93.~ p99-ns")},
			says:  []string{"p99-ns", "53.35 ns"},
		},
		"the change is of the medians that stand beside it": {
			files: []string{
				"BenchmarkA 1 100 ns/op\nBenchmarkA 1 110 ns/op\nBenchmarkA 1 160 ns/op\nBenchmarkA 1 175 ns/op\nBenchmarkA 1 176 ns/op\nBenchmarkA 1 177 ns/op\n",
				"BenchmarkA 1 90 ns/op\nBenchmarkA 1 95 ns/op\nBenchmarkA 1 100 ns/op\nBenchmarkA 1 120 ns/op\nBenchmarkA 1 130 ns/op\nBenchmarkA 1 170 ns/op\n",
			},
			says: []string{"167.5 ns", "110.0 ns", "−34.3 %"},
		},
		"a rate alone": {
			files:   []string{inBlocks("^~ req/s", "100", "90")},
			col:     "/impl",
			says:    []string{"b: req/s: slower on X (0.9", "slower"},
			saysNot: []string{"no difference"},
			gate:    "X-8, b, req/s: slower",
		},
		"a latency beside a time that is the same": {
			files: []string{inBlocks("100 ns/op ^~ p99-ns", "100", "177")},
			col:   "/impl",
			says:  []string{"b: the same on 1 of 1; 1.000 to 1.000; p99-ns: slower on X (1.7"},
			gate:  "X-8, b, p99-ns: slower",
		},
		"an allocation more than next to none": {
			files:   []string{inBlocks("100~ ns/op ^~ allocs/op", "0.000035", "1.002")},
			col:     "/impl",
			says:    []string{"allocs/op: worse on X (0.00004 to 1.002)", "+1.002 worse"},
			saysNot: []string{"×"},
			gate:    "X-8, b, allocs/op: worse",
		},
	} {
		c := comparedTexts(t, compare.Options{Col: test.col}, test.files...)
		out := summaryOf(t, c, Extra{})
		mentions(t, out, test.says...)
		for _, bad := range test.saysNot {
			if strings.Contains(out, bad) {
				t.Errorf("%s: %q in\n%s", name, bad, out)
			}
		}
		g := c.Gate()
		if slower := strings.Join(g.Slower, "\n"); !strings.Contains(slower, test.gate) || (slower == "") != (test.gate == "") {
			t.Errorf("%s: the gate names %q, want %q", name, slower, test.gate)
		}
		if unsure := strings.Join(g.Inconclusive, "\n"); !strings.Contains(unsure, test.undecidedBy) {
			t.Errorf("%s: the gate cannot tell %q, want %q", name, unsure, test.undecidedBy)
		}
	}
}

// A line is one measurement, whatever it says twice.
func TestUnitTwiceInALine(t *testing.T) {
	c := comparedTexts(t, compare.Options{}, "BenchmarkA 1 12 ns/op 13 ns/op\n", times("A", "1~ ns/op"))
	if cell := c.Tables[0].Rows[0].Cells[0]; cell.N != 1 || cell.Center != 12 {
		t.Errorf("the cell has %d values, of which the middle is %v", cell.N, cell.Center)
	}
	if len(c.Problems) != 1 || !strings.HasSuffix(c.Problems[0], "a.txt:1: ns/op stands twice in the line; the first value is taken") {
		t.Errorf("problems %q", c.Problems)
	}
}

// CSV says of which package a benchmark is, also where names tell no packages apart.
func TestCSVHasPackages(t *testing.T) {
	c := comparedTexts(t, compare.Options{}, "pkg: example.com/m\n"+times("A", "1~ ns/op"), "pkg: example.com/m\n"+times("A", "1~ ns/op"))
	var b strings.Builder
	if err := CSV(&b, c); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(lines[0], "pkg")
	for _, line := range lines[1:] {
		if line[at] != "example.com/m" {
			t.Errorf("the package is %q", line[at])
		}
	}
}

// What differs, proven or not, is not folded on a page.
func TestPageFoldsWhatDoesNotMatter(t *testing.T) {
	c := comparedTexts(t, compare.Options{}, times("A-8", "100.~ ns/op 3 B/op"), times("A-8", "150.~ ns/op 3 B/op"))
	first := firstScreen(t, pageOf(t, c, Extra{}))
	before, _, _ := strings.Cut(first, "<details")
	mentions(t, before, "100.3 ns", "150.4 ns", "unproven")
}

// A run that has not ended says so in every document.
func TestInterruptedRunSaysSo(t *testing.T) {
	c := interleaved(t)
	c.Files[0].Planned, c.Files[0].Ended = 14, 10
	forms := formsOf(t, c)
	forms["summary"], forms["comment"], forms["JSON"] = summaryOf(t, c, Extra{}), commentOn(t, c), jsonOf(t, c, nil)
	for name, out := range forms {
		want := "10 of 14 blocks"
		if name == "JSON" {
			want = `"planned_blocks": 14`
		}
		if !strings.Contains(out, want) {
			t.Errorf("%s has no %q:\n%s", name, want, out)
		}
	}
}
