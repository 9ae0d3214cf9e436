package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/truth"
)

// aTruth is made up, and has every part.
func aTruth() *calibrate.Truth {
	found := calibrate.TruthVerdict{File: "truth-1-ab.bench", Verdict: compare.Slower, Ratio: 1.2601, Lo: 1.2412, Hi: 1.2789, P: 0.0005, Seconds: 8.25, Others: []string{"allocs/op worse"}, Outcome: calibrate.Found}
	wrong := found
	wrong.File, wrong.Verdict, wrong.Ratio, wrong.Lo, wrong.Hi, wrong.Others, wrong.Outcome = "truth-2-ab.bench", compare.Same, 1, 0.997, 1.003, nil, calibrate.Wrong
	vague := found
	vague.Verdict, vague.Ratio, vague.Lo, vague.Hi, vague.Sees, vague.Others, vague.Outcome = compare.Inconclusive, 1.011, 0.97, 1.06, 0.0456, nil, calibrate.Unknown
	vague.Notes = []string{"the blocks have a trend"}
	missing := calibrate.TruthVerdict{File: "truth-1-ab.bench", Verdict: compare.Missing, P: 1, Outcome: calibrate.Undecided}
	blind := calibrate.TruthVerdict{File: "truth-1-benchstat.bench", Verdict: compare.Inconclusive, Ratio: 1.0712, P: 0.0631, Outcome: calibrate.Missed}
	all := calibrate.TruthCount{
		Wrong: compare.Rate{K: 1, N: 3, Lo: 0.008, Hi: 0.906}, Found: compare.Rate{K: 1, N: 2, Lo: 0.013, Hi: 0.987}, Large: compare.Rate{K: 1, N: 2, Lo: 0.013, Hi: 0.987},
		Undecided: 1, Unknown: 1, Longest: 8.25,
	}
	return &calibrate.Truth{
		Findings: compare.Findings{
			Schema: calibrate.TruthSchema, Files: []string{"truth-1.bench", "truth-1-ab.bench", "truth-1-benchstat.bench", "truth-2-ab.bench"},
			Measured:      time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
			Circumstances: map[string]string{"machine": "some-cpu-2c", "toolchain": "go version go1.26", "commit": "0123456789"},
			Alpha:         0.05, Margin: 0.02,
		},
		Rows: []calibrate.TruthRow{
			{
				Pkg: "example.com/plants", Name: "PointersInHeapN-2", Driven: "runN", Truth: calibrate.TruthRatio{Pairs: 30, Ratio: 1.2660, Lo: 1.2411, Hi: 1.2914, Is: compare.Slower},
				Dyno: []calibrate.TruthVerdict{found, wrong}, Benchstat: []calibrate.TruthVerdict{blind},
			},
			{
				Pkg: "example.com/plants", Name: "ControlHashLoop-2", Driven: "loop", Truth: calibrate.TruthRatio{Pairs: 30, Ratio: 1.0008, Lo: 0.9941, Hi: 1.0075, Is: compare.Same},
				Dyno: []calibrate.TruthVerdict{missing}, Benchstat: []calibrate.TruthVerdict{},
			},
			{Pkg: "example.com/plants", Name: "Odd_N-2", Truth: calibrate.TruthRatio{Pairs: 1, Ratio: 1.3, Is: compare.Inconclusive}, Dyno: []calibrate.TruthVerdict{vague}, Benchstat: []calibrate.TruthVerdict{}},
		},
		Ways: []calibrate.TruthWay{
			{Driven: "runN", Dyno: calibrate.TruthCount{Wrong: compare.Rate{K: 1, N: 2, Lo: 0.013, Hi: 0.987}, Found: all.Found, Large: all.Large}, Benchstat: calibrate.TruthCount{Wrong: compare.Rate{N: 1, Hi: 0.975}, Found: compare.Rate{N: 1, Hi: 0.975}, Large: compare.Rate{N: 1, Hi: 0.975}, Missed: 1}},
			{Driven: "loop", Dyno: calibrate.TruthCount{Wrong: compare.Rate{N: 1, Hi: 0.975}, Undecided: 1}},
			{Dyno: calibrate.TruthCount{Unknown: 1}},
		},
		Dyno:      all,
		Benchstat: calibrate.TruthCount{Wrong: compare.Rate{N: 1, Hi: 0.975}, Found: compare.Rate{N: 1, Hi: 0.975}, Large: compare.Rate{N: 1, Hi: 0.975}, Missed: 1},
		Faults:    compare.Faults{Problems: []string{"t.bench:7: torn"}, Holes: []string{"X: hole in block 3: crashed"}},
	}
}

func TestGoldenTruth(t *testing.T) {
	suite := aTruth()
	golden(t, "truth.txt", render(t, func(w io.Writer) error { return Truth(suite).Text(w, TextOptions{}) }))
	golden(t, "truth.md", render(t, func(w io.Writer) error { return Truth(suite).Markdown(w, MarkdownOptions{}) }))
	text := render(t, func(w io.Writer) error { return TruthJSON(w, suite) })
	back := new(calibrate.Truth)
	if err := json.Unmarshal(text, back); err != nil || !reflect.DeepEqual(back, suite) {
		t.Errorf("%v: read back: %+v", err, back)
	}
	// One without anything in it has no figure, and no NaN either.
	if empty := string(render(t, func(w io.Writer) error { return Truth(new(calibrate.Truth)).Text(w, TextOptions{}) })); strings.Contains(empty, "NaN") {
		t.Error(empty)
	}
}

// The page on calibration has the truth suites between the first marks, by the results
// files that they name, and between the others what the plants are.
var (
	truthFigures = regexp.MustCompile(`(?s)<!-- truth: begin(.*?) -->\n.*?<!-- truth: end -->\n`)
	truthSummary = regexp.MustCompile(`(?s)<!-- truth sums: begin(.*?) -->\n.*?<!-- truth sums: end -->\n`)
	plantList    = regexp.MustCompile(`(?s)<!-- plants: begin() -->\n.*?<!-- plants: end -->\n`)
)

// TestTruthFigures holds the page on calibration to the results files of truth suites
// that it names, as TestCalibrationFigures does with calibrations.
func TestTruthFigures(t *testing.T) {
	hold(t, "docs/calibration.md", truthFigures, "TruthFigures", func(root, files string) []byte { return truthSuites(t, root, files) })
	hold(t, "docs/calibration.md", truthSummary, "TruthFigures", func(root, files string) []byte {
		names := strings.Fields(files)
		for i, name := range names {
			names[i] = filepath.Join(root, filepath.FromSlash(name))
		}
		suite, err := calibrate.ReadTruth(names)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Appendf(nil, "<!-- truth sums: begin%s -->\n%s\n<!-- truth sums: end -->\n", files, tableMarkdown(truthSums(suite)))
	})
}

// truthSuites renders the tables of the suites, one for each machine.
func truthSuites(t *testing.T, root, files string) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- truth: begin%s -->\n", files)
	var machines []string
	of := make(map[string][]string) // names of files by machine
	for _, name := range strings.Fields(files) {
		machine := path.Base(path.Dir(name))
		if of[machine] == nil {
			machines = append(machines, machine)
		}
		of[machine] = append(of[machine], name)
	}
	if len(machines) == 0 {
		b.WriteString("No suite is kept yet.\n")
	}
	for i, machine := range machines {
		var paths []string
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("\n", min(i, 1)), machine)
		for _, name := range of[machine] {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(name)))
			fmt.Fprintf(&b, " [%s](../%s)", strings.TrimSuffix(path.Base(name), ".bench"), name)
		}
		suite, err := calibrate.ReadTruth(paths)
		if err != nil {
			t.Fatal(err)
		}
		if len(suite.Problems) > 0 {
			t.Errorf("%v: %q", of[machine], suite.Problems)
		}
		fmt.Fprintf(&b, ".\n\n%s\n\n%s\n", tableMarkdown(truthTable(suite)), tableMarkdown(truthSums(suite)))
	}
	b.WriteString("<!-- truth: end -->\n")
	return b.Bytes()
}

// TestPlantList holds the page to what the plants' own comments say.
func TestPlantList(t *testing.T) {
	hold(t, "docs/calibration.md", plantList, "PlantList", func(string, string) []byte {
		plants, err := truth.Plants()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		b.WriteString("<!-- plants: begin -->\n| Plant | b.N | b.Loop | What it is |\n|---|---|---|---|\n")
		for _, p := range plants {
			tick := func(way string) string {
				if slices.Contains(p.Ways, way) {
					return "✓"
				}
				return ""
			}
			says := strings.TrimPrefix(p.Says, p.Name+" ")
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, tick("N"), tick("Loop"), strings.ToUpper(says[:1])+says[1:])
		}
		b.WriteString("<!-- plants: end -->\n")
		return b.Bytes()
	})
}

// What the page would have of files is what is in them, by machine.
func TestTruthSuites(t *testing.T) {
	root := t.TempDir()
	for _, machine := range []string{"a", "b"} {
		var text strings.Builder
		fmt.Fprintf(&text, "truth: pairs\nmachine: %s\n", machine)
		for block := range 6 {
			for k, side := range []string{"old", "new"} {
				fmt.Fprintf(&text, "block: %d\nside: %s\nBenchmarkX-2 100 %d ns/op\n", block, side, 1000+100*k+block)
			}
		}
		file := filepath.Join(root, "results", machine, "truth-1.bench")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := string(truthSuites(t, root, " results/a/truth-1.bench results/b/truth-1.bench"))
	for _, want := range []string{
		"<!-- truth: begin results/a/truth-1.bench results/b/truth-1.bench -->\na: [truth-1](../results/a/truth-1.bench).\n",
		"\nb: [truth-1](../results/b/truth-1.bench).\n", "| X-2 | unknown | 1.100 | 1.100 to 1.100 | slower | 6 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if m := truthFigures.FindStringSubmatch(got); m == nil || m[0] != got {
		t.Errorf("the marks are not found in\n%s", got)
	}
}

// tableMarkdown is a table as documents have it.
func tableMarkdown(t Table) string {
	out, _ := MarkdownOptions{}.block(t) // which fails for figures only
	return out
}
