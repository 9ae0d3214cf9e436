package report

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
)

func sideBySide(t *testing.T) (*compare.SideBySide, *targets.Scorecard) {
	t.Helper()
	files := []string{"testdata/side-host.bench", "testdata/side-emulated.bench", "testdata/side-board.bench"}
	d, err := compare.Read(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.SideBySide(compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	card, err := targets.Evaluate(boardTargets, d, targets.EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s, card
}

// boardTargets are of hosts and boards.
var boardTargets = []targets.Target{
	{ID: "FR-014", Says: "1,000 messages within 1 s", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", Times: 1000, Unit: "ns", Limit: 1e9, Required: true, Where: targets.Anywhere},
	{ID: "V11/rate", Says: "a million messages a second", Bench: "Actor", Workload: "pingpong", Metric: "ns/op", PerSecond: true, Unit: "msgs/s", Limit: 1e6, Bound: targets.AtLeast, Required: true, Where: targets.Host},
	{ID: "SC-001/board", Says: "within 20 ms", Bench: "Board", Workload: "first", Metric: "max-ns", Limit: 20e6, Required: true, Where: targets.Board},
}

func TestSideBySideGolden(t *testing.T) {
	s, card := sideBySide(t)
	golden(t, "sidebyside.txt", plainText(t, SideBySide(s, Terminal, card)))
	golden(t, "sidebyside.json", render(t, func(w io.Writer) error { return SideBySideJSON(w, s, card) }))
}

// No form of a side by side sets a figure of one place in relation to another's.
func TestSideBySideRanksNothing(t *testing.T) {
	s, _ := sideBySide(t)
	for name, form := range map[string]func(w io.Writer) error{
		"text": func(w io.Writer) error { return SideBySide(s, Terminal, nil).Text(w, TextOptions{}) },
		"md":   func(w io.Writer) error { return SideBySide(s, Document, nil).Markdown(w, MarkdownOptions{}) },
		"json": func(w io.Writer) error { return SideBySideJSON(w, s, nil) },
		"html": func(w io.Writer) error { return SideBySide(s, Page, nil).HTML(w) },
	} {
		out := string(render(t, form))
		if i := strings.Index(out, "<main>"); i >= 0 {
			out = out[i:] // the style sheet has names of verdicts
		}
		// The legend says that there is no ratio.
		out = strings.ReplaceAll(out, "no ratio and no verdict", "")
		if m := regexp.MustCompile(`faster|slower|better|worse|ratio|verdict|<svg`).FindString(out); m != "" {
			t.Errorf("%s has %q:\n%s", name, m, out)
		}
		if !strings.Contains(out, "emulated") || !strings.Contains(out, "312") {
			t.Errorf("%s does not show the emulated figures, or not as such:\n%s", name, out)
		}
	}
}

func TestSideBySideHTML(t *testing.T) {
	s, card := sideBySide(t)
	page := string(render(t, func(w io.Writer) error { return SideBySide(s, Page, card).HTML(w) }))
	mentions(t, page, "tiny-qemu (emulated)", "312 insns", "30.00 ns", "1 instruction = 64.00 ns emulated", "FR-014", "serial on tiny-qemu, emulated")
	if n := linksLead(t, page); n < 5 || strings.Contains(page, "ZgotmplZ") || strings.Contains(withoutScript(page), "<script") {
		t.Errorf("%d links:\n%s", n, page)
	}
}

func TestWriteSideBySide(t *testing.T) {
	s, card := sideBySide(t)
	out := SideBySidePath([]string{"x=some/run.bench", "other.bench"}, t.TempDir())
	if filepath.Base(out) != "run-boards.md" {
		t.Errorf("the path is %s", out)
	}
	if err := WriteSideBySide(s, card, out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run-boards.md", "run-boards.html", "run-boards.report.json"} {
		if data, err := os.ReadFile(filepath.Join(filepath.Dir(out), name)); err != nil || len(data) < 500 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	var doc struct {
		Schema string
		Places []struct{ Emulated bool }
	}
	data, err := os.ReadFile(strings.TrimSuffix(out, ".md") + ".report.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.Schema != sideBySideSchema || len(doc.Places) != 3 || !doc.Places[1].Emulated {
		t.Errorf("%v: %+v", err, doc)
	}
	if err := SideBySide(s, Terminal, card).Text(failing{}, TextOptions{}); err != errFull {
		t.Errorf("a full disk: %v", err)
	}
}

// A report of one emulated board says that it is.
func TestEmulatedIsSaid(t *testing.T) {
	c := compared(t, "testdata/side-emulated.bench")
	text := terminalOf(t, c)
	mentions(t, text, "side-emulated.bench: tiny-qemu, m3, emulated, 1 instruction = 64.00 ns emulated", "emulated: a program plays the board", "312")
	if text := terminalOf(t, compared(t, "testdata/side-board.bench")); strings.Contains(text, "emulated") {
		t.Errorf("a real board is said to be emulated:\n%s", text)
	}
}
