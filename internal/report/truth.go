package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
)

// Truth returns what a truth suite shows as a document.
func Truth(t *calibrate.Truth) Doc {
	margin := percent(t.Margin)
	remarks := []string{fmt.Sprintf("wrong: of all comparisons of which the truth is known well enough. found: of the differences of more than %s, and of those of %s or more. longest: of what a row took.", margin, percent(calibrate.LargeChange))}
	for _, r := range t.Rows {
		for _, v := range r.Dyno {
			remarks = append(remarks, prefixed(r.Name+", "+v.File+": ", v.Notes)...)
		}
	}
	return Doc{Title: "Truth suite", Blocks: []Block{
		listOf(circumstancesLine(t.Circumstances, t.Measured), fmt.Sprintf("%s; level %v, margin %s", counted(len(t.Rows), "benchmark"), t.Alpha, margin)),
		Heading{Level: 2, Text: "What is true, and what is said of it"},
		truthTable(t),
		listOf(
			"truth: mean time of the new version's processes over that of the old one's, in fresh processes of plain test binaries that alternate; Fieller's interval.",
			fmt.Sprintf("found, missed: a difference of more than %s, called or not. agrees: what is said is true of one within %s. wrong: the opposite is true, or more than %s is called the same, or nothing is there.",
				margin, margin, margin),
			"took: what benchrun ab needed for the row, all of it. sees: what it would have found nine times out of ten. also: other units of which it proves a difference. benchstat: ten values of old, and then ten of new.",
		),
		Heading{Level: 2, Text: "Summed up"},
		truthSums(t),
		listOf(slices.Concat(remarks, prefixed("missing: ", t.Holes), prefixed("problem: ", t.Problems))...),
	}}
}

// A truthLine is a row of a truth suite with a verdict of each, or a further verdict on it.
type truthLine struct {
	calibrate.TruthRow
	again           bool
	dyno, benchstat *calibrate.TruthVerdict // nil for none
}

func (l truthLine) isKnown() bool { return l.Truth.Pairs > 0 }

// truthLines has a line for each row, and more if there are several verdicts.
func truthLines(t *calibrate.Truth) (all []truthLine) {
	for _, r := range t.Rows {
		for i := range max(1, len(r.Dyno), len(r.Benchstat)) {
			l := truthLine{TruthRow: r, again: i > 0}
			if i < len(r.Dyno) {
				l.dyno = &r.Dyno[i]
			}
			if i < len(r.Benchstat) {
				l.benchstat = &r.Benchstat[i]
			}
			all = append(all, l)
		}
	}
	return all
}

// truthTable has a row for each benchmark, and more if there are several verdicts.
func truthTable(t *calibrate.Truth) Table {
	interval := percent(1-t.Alpha) + " interval"
	truth := func(head string, right bool, text func(truthLine) string) column[truthLine] {
		return column[truthLine]{head: head, right: right, cell: func(l truthLine) Cell { return Cell{Text: text(l), Again: l.again} }}
	}
	bounds := func(lo, hi float64) string {
		if hi == 0 {
			return ""
		}
		return formatRatio(lo) + " to " + formatRatio(hi)
	}
	dyno := func(l truthLine) bool { return l.dyno != nil }
	compared := func(l truthLine) bool { return l.dyno != nil && l.dyno.Ratio > 0 }
	timed := func(l truthLine) bool { return l.dyno != nil && l.dyno.Seconds > 0 }
	benchstat := func(l truthLine) bool { return l.benchstat != nil }
	return tabulate(truthLines(t), []column[truthLine]{
		truth("benchmark", false, func(l truthLine) string { return l.Name }),
		truth("driven", false, func(l truthLine) string { return way(l.Driven) }),
		truth("truth", true, func(l truthLine) string {
			if !l.isKnown() {
				return "–"
			}
			return formatRatio(l.Truth.Ratio)
		}),
		truth(interval, true, func(l truthLine) string {
			if !l.isKnown() {
				return ""
			}
			return bounds(l.Truth.Lo, l.Truth.Hi)
		}),
		truth("is", false, func(l truthLine) string {
			if l.Truth.Is == compare.Inconclusive {
				return "not known"
			}
			return string(l.Truth.Is)
		}),
		truth("pairs", true, func(l truthLine) string { return strconv.Itoa(l.Truth.Pairs) }),
		{head: "benchrun ab", only: dyno, text: func(l truthLine) string {
			if l.dyno.Sees > 0 {
				return string(l.dyno.Verdict) + " (sees " + strconv.FormatFloat(100*l.dyno.Sees, 'g', 2, 64) + "%)"
			}
			return string(l.dyno.Verdict)
		}},
		{head: "ratio", right: true, only: compared, text: func(l truthLine) string { return formatRatio(l.dyno.Ratio) }},
		{head: interval, right: true, only: compared, text: func(l truthLine) string { return bounds(l.dyno.Lo, l.dyno.Hi) }},
		{head: "took", right: true, only: timed, text: func(l truthLine) string { return strconv.FormatFloat(l.dyno.Seconds, 'f', 1, 64) + " s" }},
		{head: "so", only: dyno, text: func(l truthLine) string { return truthSo(l.dyno.Outcome) }},
		{head: "also", only: dyno, text: func(l truthLine) string { return strings.Join(l.dyno.Others, ", ") }},
		{head: "benchstat", only: benchstat, text: func(l truthLine) string {
			if l.benchstat.Verdict == compare.Inconclusive {
				return "~" // it has no word for it
			}
			return string(l.benchstat.Verdict)
		}},
		{head: "ratio", right: true, only: benchstat, text: func(l truthLine) string { return formatRatio(l.benchstat.Ratio) }},
		{head: "p", right: true, only: benchstat, text: func(l truthLine) string { return formatP(l.benchstat.P) }},
		{head: "so", only: benchstat, text: func(l truthLine) string { return truthSo(l.benchstat.Outcome) }},
	})
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
	var dyno, benchstat []line
	for _, w := range t.Ways {
		if len(t.Ways) > 1 {
			dyno, benchstat = append(dyno, line{"benchrun ab", way(w.Driven), w.Dyno}), append(benchstat, line{"benchstat", way(w.Driven), w.Benchstat})
		}
	}
	all := slices.Concat(dyno, []line{{"benchrun ab", "all", t.Dyno}}, benchstat, []line{{"benchstat", "all", t.Benchstat}})
	return tabulate(all, []column[line]{
		{head: "who", text: func(l line) string { return l.who }},
		{head: "driven", text: func(l line) string { return l.driven }},
		{head: "comparisons", right: true, text: func(l line) string { return strconv.Itoa(l.Wrong.N) }},
		{head: "wrong", right: true, text: func(l line) string { return strconv.Itoa(l.Wrong.K) }},
		{head: "95% interval", right: true, text: func(l line) string { return rateInterval(l.Wrong) }},
		{head: "found", right: true, text: func(l line) string { return ofAll(l.Found) }},
		{head: "found of " + percent(calibrate.LargeChange), right: true, text: func(l line) string { return ofAll(l.Large) }},
		{head: "truth in interval", right: true, text: func(l line) string { return ofAll(l.Holds) }},
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
