package report

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
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
		Faults:    compare.Faults{Problems: []string{"t.bench:7: torn"}, Holes: []string{"X: missing in block 3: crashed"}},
	}
}

func TestGoldenTruth(t *testing.T) {
	suite := aTruth()
	golden(t, "truth.txt", plainText(t, Truth(suite)))
	text := render(t, func(w io.Writer) error { return WriteJSON(w, suite) })
	back := new(calibrate.Truth)
	if err := json.Unmarshal(text, back); err != nil || !reflect.DeepEqual(back, suite) {
		t.Errorf("%v: read back: %+v", err, back)
	}
	// One without anything in it has no figure, and no NaN either.
	if empty := plainText(t, Truth(new(calibrate.Truth))); strings.Contains(empty, "NaN") {
		t.Error(empty)
	}
}
