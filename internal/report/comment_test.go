package report

import (
	"math"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
)

// twoVersions compares two versions in two units, as compare.Compare would; verdict is that
// of the time of the first benchmark.
func twoVersions(verdict compare.Verdict, ratio float64) *compare.Comparison {
	base := compare.Cell{N: 12, Center: 1000, Lo: 990, Hi: 1010, Verdict: compare.Base}
	vs := func(ratio, detectable float64) *compare.Versus {
		return &compare.Versus{Ratio: ratio, Lo: ratio * 0.99, Hi: ratio * 1.01, P: 0.0005, Adjusted: 0.001, Paired: true, N: 12, BaseN: 12, Detectable: detectable, Layouts: 12}
	}
	cell := func(v compare.Verdict, ratio, detectable float64) compare.Cell {
		return compare.Cell{N: 12, Center: 1000 * ratio, Vs: vs(ratio, detectable), Verdict: v}
	}
	cols := []compare.Column{{Name: "old"}, {Name: "new"}}
	row := func(name string, c compare.Cell) compare.Row {
		return compare.Row{Name: name, Cells: []compare.Cell{base, c}}
	}
	return &compare.Comparison{
		Alpha: 0.05, Margin: 0.02, Col: record.SideKey, Comparisons: 5,
		Files: []compare.File{{
			Label: "run.bench", Path: "run.bench", Results: 96, Blocks: 12,
			Config: []record.Setting{{Key: "machine", Values: []string{"box"}}, {Key: "toolchain", Values: []string{"go version go1.26.0 linux/amd64"}}},
			Holes: []record.Hole{
				{Pkg: "example.com/m", Case: "BenchmarkCame-2", Side: "old", Skipped: true, Kind: failure.Gone, Reason: "only the new version has it"},
				{Pkg: "example.com/m", Case: "BenchmarkCrash-2", Side: "new", Kind: failure.Crash, Reason: "crashed: panic: oh"},
			},
		}},
		Warnings: []string{"missing results in run.bench, measurements that were due and failed: 1"},
		Tables: []compare.Table{
			{Unit: "ns/op", Better: -1, Cols: cols, Rows: []compare.Row{
				row("Decode/size=1k-2", cell(verdict, ratio, 1.013)),
				row("Encode-2", cell(compare.Inconclusive, 1.011, 1.034)),
				row("Noisy|*x*-2", cell(compare.Unproven, 1.05, 1.02)),
				row("Sum-2", cell(compare.Same, 1.001, 1.01)),
				{Name: "Lost-2", Cells: []compare.Cell{base, {Verdict: compare.Missing, Hole: true}}},
			}},
			{Unit: "allocs/op", Better: -1, Exact: true, Cols: cols, Rows: []compare.Row{
				row("Decode/size=1k-2", compare.Cell{N: 12, Center: 1000, Verdict: compare.Same, Vs: &compare.Versus{Ratio: 1, Lo: math.NaN(), Hi: math.NaN(), P: math.NaN()}}),
				{Name: "Alone-2", Base: -1, Cells: []compare.Cell{{}, {N: 12, Center: 5, Verdict: compare.NoBase}}},
			}},
		},
	}
}

var someVersions = Versions{
	Old: "v1.2.0 (1a2b3c4d)", New: "work tree (5e6f7a8b and what is not committed)",
	Identical: []string{"example.com/m/internal"},
	Notes:     []string{"the submodules of v1.2.0 are not checked out"},
}

// Each verdict that is a claim makes the comment a table; anything else leaves it
// at one line.
func TestComment(t *testing.T) {
	golden(t, "comment-slower.md", markdownOf(t, Comment(twoVersions(compare.Slower, 1.25), someVersions)))
	const quiet = "Benchmarks: nothing proven between v1.2.0 (1a2b3c4d) and work tree (5e6f7a8b and what is not committed): " +
		"6 benchmarks, 1 the same within ±2 %, 2 inconclusive (smallest changes of time that would have been found: 1.3 % to 3.4 %), " +
		"1 unproven, 1 missing, 1 in the new version only, 1 package identical.\n"
	if got := markdownOf(t, Comment(twoVersions(compare.Inconclusive, 1.25), someVersions)); got != quiet {
		t.Errorf("got  %q\nwant %q", got, quiet)
	}
}

func TestCommentIsQuiet(t *testing.T) {
	for v, quiet := range map[compare.Verdict]bool{
		compare.Faster: false, compare.Slower: false, compare.Better: false, compare.Worse: false, compare.Lower: false, compare.Higher: false,
		compare.Same: true, compare.Inconclusive: true, compare.Unproven: true, compare.Missing: true, compare.NoBase: true, compare.Skipped: true,
	} {
		out := markdownOf(t, Comment(twoVersions(v, 0.5), someVersions))
		if got := strings.Count(out, "\n") == 1; got != quiet {
			t.Errorf("%s: one line is %v:\n%s", v, got, out)
		}
	}
}

// What got worse is what one has to see first.
func TestCommentHasTheBadNewsFirst(t *testing.T) {
	c := twoVersions(compare.Faster, 0.5)
	c.Tables[1].Rows[0].Cells[1].Verdict = compare.Worse
	text := markdownOf(t, Comment(c, someVersions))
	worse, faster := strings.Index(text, "**worse**"), strings.Index(text, "**faster**")
	if !strings.HasPrefix(text, "### Benchmarks: 1 worse, 1 faster\n") || worse < 0 || worse > faster {
		t.Errorf("worse at %d, faster at %d:\n%s", worse, faster, text)
	}
}

func TestCommentOfIdenticalBuilds(t *testing.T) {
	want := "Benchmarks: v1.2.0 (1a2b3c4d) and work tree (5e6f7a8b and what is not committed) build to identical test binaries (example.com/m/internal): nothing to measure.\n"
	if got := markdownOf(t, Comment(nil, someVersions)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestChange(t *testing.T) {
	for ratio, want := range map[float64]string{
		1: "0 %", 1.02: "+2 %", 1.034: "+3.4 %", 1.0004: "+0.04 %", 1.123: "+12.3 %", 2.13: "×2.130", 0.5: "−50 %", 0.987: "−1.3 %", math.NaN(): "–",
	} {
		if got := changeOf(ratio, math.NaN(), math.NaN()).estimate; got != want {
			t.Errorf("%v: %q, want %q", ratio, got, want)
		}
	}
}
