package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
)

// Truth returns what a truth suite shows as a document.
func Truth(t *calibrate.Truth) Doc {
	remarks := []string{fmt.Sprintf("wrong: of all comparisons of which the truth is known well enough. found: of the differences of more than %s, and of those of %s or more. longest: of what a row took.", percent(t.Margin), percent(calibrate.LargeChange))}
	for _, r := range t.Rows {
		for _, v := range r.Dyno {
			for _, n := range v.Notes {
				remarks = append(remarks, fmt.Sprintf("%s, %s: %s", r.Name, v.File, n))
			}
		}
	}
	return Doc{Title: "Truth suite", Blocks: []Block{
		listOf(circumstancesLine(t.Circumstances, t.Measured), fmt.Sprintf("%s; level %v, margin %s", counted(len(t.Rows), "benchmark"), t.Alpha, percent(t.Margin))),
		Heading{Level: 2, Text: "What is true, and what is said of it"},
		truthTable(t),
		listOf(
			"truth: mean time of the new version's processes over that of the old one's, in fresh processes of plain test binaries that alternate; Fieller's interval.",
			fmt.Sprintf("found, missed: a difference of more than %s, called or not. agrees: what is said is true of one within %s. wrong: the opposite is true, or more than %s is called the same, or nothing is there.",
				percent(t.Margin), percent(t.Margin), percent(t.Margin)),
			"took: what benchrun ab needed for the row, all of it. sees: what it would have found nine times out of ten. also: other units of which it proves a difference. benchstat: ten values of old, and then ten of new.",
		),
		Heading{Level: 2, Text: "Summed up"},
		truthSums(t),
		listOf(append(remarks, holesAndProblems(t.Holes, t.Problems)...)...),
	}}
}

// A truthLine is a row of a truth suite, or a further verdict on it.
type truthLine struct {
	calibrate.TruthRow
	i int
}

// truthTable has a row for each benchmark, and more if there are several verdicts.
func truthTable(t *calibrate.Truth) Table {
	var all []truthLine
	for _, r := range t.Rows {
		for i := range max(1, len(r.Dyno), len(r.Benchstat)) {
			all = append(all, truthLine{r, i})
		}
	}
	truth := func(head string, right bool, text func(calibrate.TruthRow) string) column[truthLine] {
		return column[truthLine]{head: head, right: right, cell: func(l truthLine) Cell { return Cell{Text: text(l.TruthRow), Again: l.i > 0} }}
	}
	dyno := func(head string, right bool, text func(calibrate.TruthVerdict) string) column[truthLine] {
		return column[truthLine]{head: head, right: right, text: func(l truthLine) string {
			if l.i >= len(l.Dyno) {
				return ""
			}
			return text(l.Dyno[l.i])
		}}
	}
	benchstat := func(head string, right bool, text func(calibrate.TruthVerdict) string) column[truthLine] {
		return column[truthLine]{head: head, right: right, text: func(l truthLine) string {
			if l.i >= len(l.Benchstat) {
				return ""
			}
			return text(l.Benchstat[l.i])
		}}
	}
	return tabulate(all, []column[truthLine]{
		truth("benchmark", false, func(r calibrate.TruthRow) string { return r.Name }),
		truth("driven", false, func(r calibrate.TruthRow) string { return way(r.Driven) }),
		truth("truth", true, func(r calibrate.TruthRow) string {
			if r.Truth.Pairs == 0 {
				return "–"
			}
			return formatRatio(r.Truth.Ratio)
		}),
		truth(interval(t), true, func(r calibrate.TruthRow) string {
			if r.Truth.Pairs == 0 {
				return ""
			}
			return bounds(r.Truth.Lo, r.Truth.Hi)
		}),
		truth("is", false, func(r calibrate.TruthRow) string { return truthIs(r.Truth) }),
		truth("pairs", true, func(r calibrate.TruthRow) string { return strconv.Itoa(r.Truth.Pairs) }),
		dyno("benchrun ab", false, func(v calibrate.TruthVerdict) string {
			if v.Sees > 0 {
				return string(v.Verdict) + " (sees " + strconv.FormatFloat(100*v.Sees, 'g', 2, 64) + "%)"
			}
			return string(v.Verdict)
		}),
		dyno("ratio", true, func(v calibrate.TruthVerdict) string { return ifPositive(v.Ratio, formatRatio) }),
		dyno(interval(t), true, func(v calibrate.TruthVerdict) string {
			return ifPositive(v.Ratio, func(float64) string { return bounds(v.Lo, v.Hi) })
		}),
		dyno("took", true, func(v calibrate.TruthVerdict) string {
			return ifPositive(v.Seconds, func(sec float64) string { return strconv.FormatFloat(sec, 'f', 1, 64) + " s" })
		}),
		dyno("so", false, func(v calibrate.TruthVerdict) string { return truthSo(v.Outcome) }),
		dyno("also", false, func(v calibrate.TruthVerdict) string { return strings.Join(v.Others, ", ") }),
		benchstat("benchstat", false, func(v calibrate.TruthVerdict) string {
			if v.Verdict == compare.Inconclusive {
				return "~" // it sees nothing
			}
			return string(v.Verdict)
		}),
		benchstat("ratio", true, func(v calibrate.TruthVerdict) string { return formatRatio(v.Ratio) }),
		benchstat("p", true, func(v calibrate.TruthVerdict) string { return formatP(v.P) }),
		benchstat("so", false, func(v calibrate.TruthVerdict) string { return truthSo(v.Outcome) }),
	})
}

// ifPositive writes v; empty if there is none.
func ifPositive(v float64, format func(float64) string) string {
	if v > 0 {
		return format(v)
	}
	return ""
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
func truthSums(t *calibrate.Truth) Table {
	type line struct {
		who, driven string
		calibrate.TruthCount
	}
	var all []line
	for _, who := range []struct {
		name string
		of   func(w calibrate.TruthWay) calibrate.TruthCount
	}{
		{"benchrun ab", func(w calibrate.TruthWay) calibrate.TruthCount { return w.Dyno }},
		{"benchstat", func(w calibrate.TruthWay) calibrate.TruthCount { return w.Benchstat }},
	} {
		if len(t.Ways) > 1 {
			for _, w := range t.Ways {
				all = append(all, line{who.name, way(w.Driven), who.of(w)})
			}
		}
		all = append(all, line{who.name, "all", who.of(calibrate.TruthWay{Dyno: t.Dyno, Benchstat: t.Benchstat})})
	}
	return tabulate(all, []column[line]{
		{head: "who", text: func(l line) string { return l.who }},
		{head: "driven", text: func(l line) string { return l.driven }},
		{head: "comparisons", right: true, text: func(l line) string { return strconv.Itoa(l.Wrong.N) }},
		{head: "wrong", right: true, text: func(l line) string { return strconv.Itoa(l.Wrong.K) }},
		{head: "95% interval", right: true, text: func(l line) string { return rateInterval(l.Wrong) }},
		{head: "found", right: true, text: func(l line) string { return ofAll(l.Found) }},
		{head: "found of " + percent(calibrate.LargeChange), right: true, text: func(l line) string { return ofAll(l.Large) }},
		{head: "missed", right: true, text: func(l line) string { return strconv.Itoa(l.Missed) }},
		{head: "agrees", right: true, text: func(l line) string { return strconv.Itoa(l.Agrees) }},
		{head: "undecided", right: true, text: func(l line) string { return strconv.Itoa(l.Undecided) }},
		{head: "truth unknown", right: true, text: func(l line) string { return strconv.Itoa(l.Unknown) }},
		{head: "longest", right: true, text: func(l line) string { return duration(l.Longest) }},
	})
}

// ofAll writes how many of how many.
func ofAll(r compare.Rate) string {
	if r.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", r.K, r.N)
}
