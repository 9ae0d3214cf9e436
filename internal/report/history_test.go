package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/history"
)

// aHistory is made up: a series with a proven step, a suspected one, a cut and a run on
// another machine, one without a reference, and one of one point.
func aHistory() *history.History {
	h := &history.History{Alpha: 0.05, Files: 14, Others: []string{"calibration-1.bench"}, Notes: []string{"box: 1 of 12 runs have no anchor"}}
	s := history.Series{Machine: "box", Pkg: "example.com/m", Name: "X/impl=b-2", Reference: "ref-a", Unit: "ns/op"}
	for i := range 12 {
		h.Runs = append(h.Runs, history.Run{
			Path: "r/run.bench", Machine: "box", Started: time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC),
			Commit: strings.Repeat("0123456789ab"[i:i+1], 40), Anchor: 1.5,
		})
		s.Points = append(s.Points, history.Point{Run: i, Log: 0.1 * float64(i/4), SE: 0.01, Blocks: 12, Value: 200})
	}
	h.Runs[3].Apart, s.Points[3].Log = "the machine was another one, or busy: its calibration loops took 0.80 times as long as in its other runs", 3
	s.Points[0].SE = math.NaN()
	s.Pieces = []history.Piece{
		{First: 0, End: 10, Noise: 0.01, Detectable: 0.02, Marks: []history.Mark{{At: 7, What: []string{"kernel: a → b"}}}, Steps: []history.Step{
			{
				At: 4, Before: 2, Lo: 4, Hi: 5, Log: 0.1, P: 0.001, Adjusted: 0.002, Old: h.Runs[2].Commit, New: h.Runs[5].Commit, State: history.Proven,
				Proof: &history.Proof{Path: "r/ab.bench", Ratio: 1.1, Lo: 1.05, Hi: 1.15, Verdict: compare.Slower, Level: 0.001},
			},
			{At: 8, Before: 6, Lo: 7, Hi: 8, Log: -0.1, P: 0.01, Adjusted: 0.04, Old: h.Runs[6].Commit, New: h.Runs[8].Commit, State: history.Suspected, Ended: 9},
		}},
		{First: 10, End: 12, Cut: []string{"toolchain: go1 → go2"}, Noise: 0.01, Detectable: math.Inf(1)},
	}
	h.Series = []history.Series{
		s,
		{Machine: "box", Pkg: "example.com/m", Name: "Absolute-2", Unit: "ns/op", Points: []history.Point{{Log: math.NaN(), SE: math.NaN(), Value: 7}}},
	}
	return h
}

// TestHistoryOnTerminal: what was read, the steps with what to do, and what could have been
// seen, in 24 lines.
func TestHistoryOnTerminal(t *testing.T) {
	h := aHistory()
	text := plainText(t, History(h, Screen))
	for _, want := range []string{
		"14 files read, 12 runs of box, 2026-01-01 to 2026-01-12\n",
		"1 series with a reference; 1 without one are not judged\n",
		"\n1 proven, 1 suspected\n",
		"\nproven +10.5 %  X/impl=b-2 against ref-a\n  in 22222222..55555555, measured 2026-01-03 to 2026-01-06, p = 0.002\n  slower in a comparison of both: 1.100 (1.050 to 1.150) at level 0.001, r/ab.bench\n",
		"\nsuspected −9.5 %  X/impl=b-2 against ref-a\n  in 66666666..88888888, measured 2026-01-07 to 2026-01-09, p = 0.040; taken back by 99999999\n  prove it: benchrun history --prove --bench 'X$/^impl=b-2$'\n",
		"A lasting step of 5% in its middle would have been seen, nine times of ten, in 1 of 1 series of 8 runs and more; half of them would have shown one of 2.02%",
		"1 series of 2 has fewer than 8 runs on one machine, which can show nothing yet",
		"1 run of 12 took no part, such as r/run.bench: the machine was another one",
		"box: 1 of 12 runs have no anchor\n",
	} {
		if !strings.Contains("\n"+text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	p := &h.Series[0].Pieces[0]
	for len(p.Steps) < 40 {
		p.Steps = append(p.Steps, p.Steps[1])
	}
	h.Notes = append(h.Notes, h.Notes[0], h.Notes[0], h.Notes[0], h.Notes[0])
	for _, s := range p.Steps[2:] {
		s.State, s.Drift, s.With = history.Explained, true, []string{"kernel: a → b", "kernel: b → c", "toolchain: go1 → go2"}
		p.Steps = append(p.Steps, s)
	}
	text = plainText(t, History(h, Screen))
	if all := strings.Count(text, "suspected −9.5 %"); all != 39 {
		t.Errorf("%d of 39 steps are told:\n%s", all, text)
	}
	if want := "explained drift of −9.5 %  X/impl=b-2 against ref-a, in 66666666..88888888, measured 2026-01-07 to 2026-01-09, p = 0.040; taken back by 99999999; with it changed kernel (2 times), toolchain: go1 → go2\n"; strings.Count(text, want) != 38 {
		t.Errorf("no %q in\n%s", want, text)
	}
	p.Steps[0].Proof, p.Steps[0].State, p.Steps[0].Unprovable = nil, history.Suspected, "both sides are the same commit, so it was not the code"
	if text := plainText(t, History(h, Screen)); !strings.Contains(text, "cannot be proven: both sides are the same commit") {
		t.Errorf("a step that cannot be proven:\n%s", text)
	}
}

// TestHistoryPage: a line for each series that leads to its chart, in which cuts, steps and
// points say what they are.
func TestHistoryPage(t *testing.T) {
	var b bytes.Buffer
	if err := History(aHistory(), Page).HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<h1>History of box</h1>`,
		`<a href="#s1">X/<wbr>impl=b-2</a>`, `id="s1" aria-labelledby="s1-h"`, `<a href="#s1" tabindex="-1" aria-hidden="true"><svg class="spark bad"`,
		`<title>toolchain: go1 → go2</title>`,
		`<title>proven: +10.5 % in 22222222..55555555, measured 2026-01-03 to 2026-01-06, p = 0.002</title>`,
		`<title>suspected: −9.5 % in 66666666..88888888`,
		`<title>2026-01-02, 11111111: 1.000 ± 1%</title>`,
		`class="hollow"`, `takes no part: the machine was another one`, `class="band"`, `<line class="mark"`, `<title>kernel: a → b</title>`, `+10 %`, `from its middle of`,
		`cut before 2026-01-11, aaaaaaaa: toolchain: go1 → go2`,
		`piece 1, 9 points, could detect: 2.02%`, `piece 2, 2 points, could detect: nothing`,
		`<code></code>calibration-1.bench`, `1 series without a reference, such as Absolute-2, not judged`,
	} {
		if want = strings.TrimPrefix(want, "<code></code>"); !strings.Contains(b.String(), want) {
			t.Errorf("no %s on the page", want)
		}
	}
	if n := strings.Count(b.String(), "<title>suspected: −9.5 % in 66666666..88888888"); n != 2 {
		t.Errorf("a step is named in %d charts, want the small one and the whole one", n)
	}
	if bytes.Contains(b.Bytes(), []byte("NaN")) || bytes.Contains(b.Bytes(), []byte("Inf")) {
		t.Error("NaN or Inf on the page")
	}
}

// TestHistoryJSON: what the page has is there for programs; what is unknown is null.
func TestHistoryJSON(t *testing.T) {
	var b bytes.Buffer
	if err := HistoryJSON(&b, aHistory()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Schema string
		Runs   []struct{ Commit, Apart string }
		Series []struct {
			Name, Reference string
			Points          []struct {
				Ratio float64
				LogSE *float64 `json:"log_se"`
			}
			Pieces []struct {
				Cut         []string
				CouldDetect *float64 `json:"could_detect"`
				Steps       []struct {
					State, Old, New string
					Ended           int
					Proof           *struct{ Path string }
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	s := doc.Series[0]
	if doc.Schema != "dyno-history/1" || len(doc.Runs) != 12 || doc.Runs[3].Apart == "" || s.Reference != "ref-a" || s.Points[0].LogSE != nil || *s.Points[1].LogSE != 0.01 {
		t.Errorf("%+v", doc)
	}
	if steps := s.Pieces[0].Steps; len(steps) != 2 || steps[0].State != "proven" || steps[0].Proof.Path != "r/ab.bench" || steps[1].Proof != nil || steps[1].Ended != 9 || s.Pieces[1].CouldDetect != nil {
		t.Errorf("pieces %+v", s.Pieces)
	}
}
