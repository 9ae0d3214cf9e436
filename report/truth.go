package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
)

// TruthText writes what a truth suite shows for a terminal.
func TruthText(w io.Writer, t *calibrate.Truth) error {
	return textDocument(w, func(d document) { truthDocument(d, t) })
}

// TruthMarkdown writes what a truth suite shows as a document.
func TruthMarkdown(w io.Writer, t *calibrate.Truth) error {
	return markdownDocument(w, "Truth suite", func(d document) { truthDocument(d, t) })
}

// TruthJSON writes t as JSON, as docs/calibration.md tells it.
func TruthJSON(w io.Writer, t *calibrate.Truth) error {
	return writeJSON(w, t)
}

// truthDocument fills d with what t shows.
func truthDocument(d document, t *calibrate.Truth) {
	d.line("%s, %s: %s", machineOf(t.Circumstances), t.Measured.UTC().Format("2006-01-02"), strings.Join(present(t.Circumstances, "toolchain", "kernel", "commit"), ", "))
	d.line("%s; level %v, margin %s", counted(len(t.Rows), "benchmark"), t.Alpha, percent(t.Margin))
	d.title("What is true, and what is said of it")
	d.draw(truthTable(t))
	d.line("truth: mean time of the new version's processes over that of the old one's, in fresh processes of plain test binaries that alternate; Fieller's interval.")
	d.line("found, missed: a difference of more than %s, called or not. agrees: what is said is true of one within %s. wrong: the opposite is true, or more than %s is called the same, or nothing is there.",
		percent(t.Margin), percent(t.Margin), percent(t.Margin))
	d.line("took: what benchrun ab needed for the row, all of it. sees: what it would have found nine times out of ten. also: other units of which it proves a difference. benchstat: ten values of old, and then ten of new.")
	d.title("Summed up")
	d.draw(truthSums(t))
	d.line("wrong: of all comparisons of which the truth is known well enough. found: of the differences of more than %s, and of those of %s or more. longest: of what a row took.", percent(t.Margin), percent(calibrate.LargeChange))
	for _, r := range t.Rows {
		for _, v := range r.Dyno {
			for _, n := range v.Notes {
				d.line("%s, %s: %s", r.Name, v.File, n)
			}
		}
	}
	for _, h := range t.Holes {
		d.line("hole: %s", h)
	}
	for _, p := range t.Problems {
		d.line("problem: %s", p)
	}
}

// truthTable has a row for each benchmark, and more if there are several verdicts.
func truthTable(t *calibrate.Truth) layout {
	l := layout{
		head: []string{
			"benchmark", "driven", "truth", interval(t), "is", "pairs",
			"benchrun ab", "ratio", interval(t), "took", "so", "also", "benchstat", "ratio", "p", "so",
		},
		right: []bool{false, false, true, true, false, true, false, true, true, true, false, false, false, true, true, false},
	}
	for _, r := range t.Rows {
		row := []string{r.Name, way(r.Driven), "–", "", truthIs(r.Truth), strconv.Itoa(r.Truth.Pairs)}
		if r.Truth.Pairs > 0 {
			row[2], row[3] = formatRatio(r.Truth.Ratio), bounds(r.Truth.Lo, r.Truth.Hi)
		}
		for i := range max(1, len(r.Dyno), len(r.Benchstat)) {
			if i > 0 {
				row = make([]string, len(row)) // told in the row above
			}
			l.rows = append(l.rows, append(append(row, truthDyno(r, i)...), truthBenchstat(r, i)...))
		}
	}
	return l
}

// interval is the head of a column of intervals.
func interval(t *calibrate.Truth) string { return percent(1-t.Alpha) + " interval" }

// truthIs says what is true.
func truthIs(t calibrate.TruthRatio) string {
	if t.Is == compare.Inconclusive {
		return "not known"
	}
	return string(t.Is)
}

// bounds writes an interval; "" if there is none.
func bounds(lo, hi float64) string {
	if hi == 0 {
		return ""
	}
	return formatRatio(lo) + " to " + formatRatio(hi)
}

// truthDyno has the cells of a row's verdict i by benchrun ab, empty without one.
func truthDyno(r calibrate.TruthRow, i int) []string {
	cells := make([]string, 6)
	if i >= len(r.Dyno) {
		return cells
	}
	v := r.Dyno[i]
	cells[0], cells[4], cells[5] = string(v.Verdict), truthSo(v.Outcome), strings.Join(v.Others, ", ")
	if v.Sees > 0 {
		cells[0] += " (sees " + strconv.FormatFloat(100*v.Sees, 'g', 2, 64) + "%)"
	}
	if v.Ratio > 0 {
		cells[1], cells[2] = formatRatio(v.Ratio), bounds(v.Lo, v.Hi)
	}
	if v.Seconds > 0 {
		cells[3] = strconv.FormatFloat(v.Seconds, 'f', 1, 64) + " s"
	}
	return cells
}

// truthBenchstat is truthDyno for what benchstat says: "~" where that sees nothing.
func truthBenchstat(r calibrate.TruthRow, i int) []string {
	if i >= len(r.Benchstat) {
		return make([]string, 4)
	}
	v := r.Benchstat[i]
	verdict := string(v.Verdict)
	if v.Verdict == compare.Inconclusive {
		verdict = "~"
	}
	return []string{verdict, formatRatio(v.Ratio), formatP(v.P), truthSo(v.Outcome)}
}

// truthSo writes an outcome; what is wrong is to be seen.
func truthSo(o calibrate.Outcome) string {
	switch o {
	case calibrate.Wrong:
		return "WRONG"
	case calibrate.Unknown:
		return "?"
	}
	return string(o)
}

// truthSums counts the outcomes, by way of driving and of all.
func truthSums(t *calibrate.Truth) layout {
	l := layout{
		head:  []string{"who", "driven", "comparisons", "wrong", "95% interval", "found", "found of " + percent(calibrate.LargeChange), "missed", "agrees", "undecided", "truth unknown", "longest"},
		right: []bool{false, false, true, true, true, true, true, true, true, true, true, true},
	}
	for _, who := range []struct {
		name string
		of   func(w calibrate.TruthWay) calibrate.TruthCount
	}{
		{"benchrun ab", func(w calibrate.TruthWay) calibrate.TruthCount { return w.Dyno }},
		{"benchstat", func(w calibrate.TruthWay) calibrate.TruthCount { return w.Benchstat }},
	} {
		add := func(driven string, c calibrate.TruthCount) {
			l.rows = append(l.rows, []string{
				who.name, driven, strconv.Itoa(c.Wrong.N), strconv.Itoa(c.Wrong.K), rateInterval(c.Wrong), ofAll(c.Found), ofAll(c.Large),
				strconv.Itoa(c.Missed), strconv.Itoa(c.Agrees), strconv.Itoa(c.Undecided), strconv.Itoa(c.Unknown), duration(c.Longest),
			})
		}
		if len(t.Ways) > 1 {
			for _, w := range t.Ways {
				add(way(w.Driven), who.of(w))
			}
		}
		add("all", who.of(calibrate.TruthWay{Dyno: t.Dyno, Benchstat: t.Benchstat}))
	}
	return l
}

// ofAll writes how many of how many.
func ofAll(r compare.Rate) string {
	if r.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", r.K, r.N)
}
