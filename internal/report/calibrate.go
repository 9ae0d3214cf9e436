package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
)

// Calibration returns what a calibration shows as a document.
func Calibration(c *compare.Calibration) Doc {
	parts := calibrationParts(c)
	blocks := slices.Concat([]Block{
		listOf(
			circumstancesLine(c.Circumstances, c.Measured),
			fmt.Sprintf("%s, each of up to %s of %s in up to %s; level %v, margin %s",
				counted(c.Trials, "trial"), counted(c.Blocks, "block"), counted(c.Rounds, "round"), counted(max(1, c.Layouts), "layout"), c.Alpha, percent(c.Margin)),
		),
		Heading{Level: 2, Text: "The same program against itself"},
		againstItself(c, parts),
		listOf(
			fmt.Sprintf("alarms: p ≤ %v, for a comparison alone; %s are promised. called different: the verdict in a report of the whole trial.", c.Alpha, percent(c.Alpha)),
			"spread: standard deviation of the blocks' ratios. finds: the smallest slow-down found in nine of ten trials. measured: time of a pair in a trial.",
		),
	}, slowedSection(c, parts))
	remarks := each(c.Habits, func(h compare.Habit) string { return h.Name + ": " + h.Says + "." })
	return Doc{Title: "Calibration", Blocks: append(blocks,
		Heading{Level: 2, Text: "What benchstat's test says of the same data"},
		habitTable(c),
		listOf(slices.Concat(remarks, prefixed("missing: ", c.Holes), prefixed("problem: ", c.Problems))...),
	)}
}

// slowedSection shows the comparisons with slowed copies, if there are any.
func slowedSection(c *compare.Calibration, parts []calibrationPart) []Block {
	if len(c.Effects) == 0 {
		return nil
	}
	several := slices.ContainsFunc(c.Benchmarks, func(w compare.CalibratedBenchmark) bool { return len(w.Effects) > 1 })
	table := calibrationTable(calibrationLines(c, parts, true, several), []column[calibrationLine]{
		{head: "slower by", right: true, text: func(l calibrationLine) string { return percent(l.effect.Slow) }},
		{head: "comparisons", right: true, text: func(l calibrationLine) string { return strconv.Itoa(l.effect.Found.N) }},
		{head: "found", right: true, text: func(l calibrationLine) string { return rate(l.effect.Found) }},
		{head: "95% interval", right: true, text: func(l calibrationLine) string { return rateInterval(l.effect.Found) }},
		{head: "called slower", right: true, text: func(l calibrationLine) string { return rate(l.effect.Called) }},
		{head: "called wrongly", right: true, text: func(l calibrationLine) string { return rate(l.effect.Denied) }},
		{head: "true ratio in interval", right: true, text: func(l calibrationLine) string { return rate(l.effect.Covered) }},
		{head: "95% interval", right: true, text: func(l calibrationLine) string { return rateInterval(l.effect.Covered) }},
		{head: "ratio", right: true, text: func(l calibrationLine) string { return formatRatio(l.effect.Ratio) }},
		{head: "measured", right: true, text: func(l calibrationLine) string { return duration(l.effect.Seconds) }},
	})
	lines := []string{fmt.Sprintf("The true ratio is in %s of %d intervals (%s); %s are promised.", rate(c.Covered), c.Covered.N, rateInterval(c.Covered), percent(1-c.Alpha))}
	for _, p := range parts {
		if p.name != "" {
			lines = append(lines, fmt.Sprintf("%s: in %s of %d (%s).", p.name, rate(p.Covered), p.Covered.N, rateInterval(p.Covered)))
		}
	}
	lines = append(lines, fmt.Sprintf("found: p ≤ %v and the right way round, for a comparison alone. called slower, called wrongly (faster, or the same at %s or more): the verdict in a report of the whole trial.",
		c.Alpha, percent(c.Margin)))
	if several {
		lines = append(lines, "The slowed programs of a trial share the program that they are compared to, so the intervals of rates over several slow-downs are somewhat too narrow.")
	}
	return section(Heading{Level: 2, Text: "Slowed on purpose"}, table, listOf(lines...))
}

// habitTable is what benchstat's test says of the same data if values are taken as people
// take them, and beside it what ours says.
func habitTable(c *compare.Calibration) Table {
	ours := compare.Habit{Name: "ours: interleaved, paired by block", Alarms: c.Alarms}
	for _, e := range c.Effects {
		ours.Effects = append(ours.Effects, compare.HabitEffect{Slow: e.Slow, Found: e.Found})
	}
	columns := []column[compare.Habit]{
		{head: "values", text: func(h compare.Habit) string { return h.Name }},
		{head: "comparisons", right: true, text: func(h compare.Habit) string { return strconv.Itoa(h.Alarms.N) }},
		{head: "alarms", right: true, text: func(h compare.Habit) string { return rate(h.Alarms) }},
		{head: "95% interval", right: true, text: func(h compare.Habit) string { return rateInterval(h.Alarms) }},
	}
	for _, e := range c.Effects {
		columns = append(columns, column[compare.Habit]{head: "finds " + percent(e.Slow), right: true, text: func(h compare.Habit) string {
			for _, r := range h.Effects {
				if r.Slow == e.Slow {
					return fmt.Sprintf("%s of %d", rate(r.Found), r.Found.N)
				}
			}
			return ""
		}})
	}
	return tabulate(append(slices.Clone(c.Habits), ours), columns)
}

// A calibrationPart is what a calibration says of a way of driving: of its
// benchmarks, and of all of them together.
type calibrationPart struct {
	compare.CalibratedWay
	name       string // of what all show together; "" if the calibration has but one way
	benchmarks []compare.CalibratedBenchmark
}

// calibrationParts returns the parts of c, in the order of its benchmarks. A name
// that benchmarks of several packages have gets its package.
func calibrationParts(c *compare.Calibration) []calibrationPart {
	ambiguous := func(b compare.CalibratedBenchmark) bool {
		return slices.ContainsFunc(c.Benchmarks, func(o compare.CalibratedBenchmark) bool { return o.Name == b.Name && o.Pkg != b.Pkg })
	}
	return each(c.Ways, func(w compare.CalibratedWay) calibrationPart {
		p := calibrationPart{CalibratedWay: w}
		if len(c.Ways) > 1 {
			p.name = "all, " + way(w.Driven)
		}
		for _, b := range c.Benchmarks {
			if b.Driven != w.Driven {
				continue
			}
			if ambiguous(b) {
				b.Name = strings.TrimSpace(b.Pkg + " " + b.Name)
			}
			p.benchmarks = append(p.benchmarks, b)
		}
		return p
	})
}

// A calibrationLine is a line of a calibration's tables: a benchmark, all of a way of
// driving, or all; or, where it is of a slow-down, one effect of it.
type calibrationLine struct {
	compare.CalibratedBenchmark
	effect compare.CalibratedEffect
	sum    bool // of several benchmarks
	begins bool // a group
	again  bool // of the same as the line above
}

// calibrationLines are the lines of what parts show and of all; with effects, one for
// each effect, and each in a group of its own if apart.
func calibrationLines(c *compare.Calibration, parts []calibrationPart, effects, apart bool) (all []calibrationLine) {
	add := func(b compare.CalibratedBenchmark, sum, begins bool) {
		if !effects {
			all = append(all, calibrationLine{CalibratedBenchmark: b, sum: sum, begins: begins})
			return
		}
		for i, e := range b.Effects {
			all = append(all, calibrationLine{b, e, sum, i == 0 && (begins || apart), i > 0})
		}
	}
	after := false // a sum of a part
	for _, p := range parts {
		after = p.name != ""
		for i, b := range p.benchmarks {
			add(b, false, after && i == 0)
		}
		if after {
			add(compare.CalibratedBenchmark{Name: p.name, CalibratedWay: p.CalibratedWay}, true, len(p.benchmarks) == 0)
		}
	}
	add(compare.CalibratedBenchmark{Name: "all", CalibratedWay: compare.CalibratedWay{CalibratedRates: c.CalibratedRates, Effects: c.Effects}}, true, after)
	return all
}

// calibrationTable is a table of lines with these columns behind the names.
func calibrationTable(all []calibrationLine, columns []column[calibrationLine]) Table {
	t := tabulate(all, append([]column[calibrationLine]{
		{head: "benchmark", cell: func(l calibrationLine) Cell { return Cell{Text: l.Name, Again: l.again} }},
		{head: "driven", only: isBenchmark, cell: func(l calibrationLine) Cell { return Cell{Text: way(l.Driven), Again: l.again} }},
	}, columns...))
	for i, l := range all {
		t.Rows[i].Group = l.begins
	}
	return t
}

func isBenchmark(l calibrationLine) bool { return !l.sum }

// againstItself is the table of the comparisons of programs with themselves.
func againstItself(c *compare.Calibration, parts []calibrationPart) Table {
	return calibrationTable(calibrationLines(c, parts, false, false), []column[calibrationLine]{
		{head: "comparisons", right: true, text: func(l calibrationLine) string { return strconv.Itoa(l.Alarms.N) }},
		{head: "alarms", right: true, text: func(l calibrationLine) string { return rate(l.Alarms) }},
		{head: "95% interval", right: true, text: func(l calibrationLine) string { return rateInterval(l.Alarms) }},
		{head: "called different", right: true, text: func(l calibrationLine) string { return rate(l.Wrong) }},
		{head: "95% interval", right: true, text: func(l calibrationLine) string { return rateInterval(l.Wrong) }},
		{head: "spread of blocks", right: true, only: isBenchmark, text: func(l calibrationLine) string { return percent(l.Spread) }},
		{head: "finds 9 of 10 times", right: true, only: isBenchmark, text: func(l calibrationLine) string {
			if l.Detectable == 0 {
				return "–" // not known
			}
			return percent(l.Detectable)
		}},
		{head: "measured", right: true, only: isBenchmark, text: func(l calibrationLine) string { return duration(l.Seconds) }},
	})
}

// circumstancesLine says of what a calibration is, and when it was measured.
func circumstancesLine(of map[string]string, measured time.Time) string {
	commit := of["commit"]
	if commit != "" {
		commit = "commit " + commit[:min(8, len(commit))]
	}
	machine := cmp.Or(of["machine"], "a machine without a name")
	return fmt.Sprintf("%s, %s: %s", machine, measured.UTC().Format(time.DateOnly), joined(", ", of["toolchain"], of["kernel"], commit))
}

// way names a way of driving as a Go programmer does: by what a benchmark's loop
// asks.
func way(driven string) string {
	names := map[string]string{"loop": "b.Loop", "runN": "b.N", "": "unknown"}
	return cmp.Or(names[driven], driven)
}

// percent writes a part, such as 0.02, as "2%", with up to three digits.
func percent(part float64) string {
	if math.IsNaN(part) || math.IsInf(part, 0) {
		return "–"
	}
	return strconv.FormatFloat(100*part, 'g', 3, 64) + "%"
}

// rate writes how often something was so, as a percentage with one decimal.
func rate(r compare.Rate) string {
	if r.N == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*r.Part(), 'f', 1, 64) + "%"
}

// rateInterval writes a rate's interval, "3.1 to 6.6%".
func rateInterval(r compare.Rate) string {
	if r.N == 0 {
		return ""
	}
	return strconv.FormatFloat(100*r.Lo, 'f', 1, 64) + " to " + strconv.FormatFloat(100*r.Hi, 'f', 1, 64) + "%"
}

// duration writes seconds.
func duration(sec float64) string {
	if sec == 0 {
		return ""
	}
	return formatTime(sec)
}

// quotedCalibrations returns what to say in a report of c of the calibrations of the
// machines that it is of, a sentence or two for each.
func quotedCalibrations(c *compare.Comparison) []string {
	return each(c.Calibrations, quoteCalibration)
}

// quoteCalibration quotes what the calibration shows of the ways in which the
// benchmarks of the report are driven, and of all together if they are in none of its
// ways or if that is not known.
func quoteCalibration(q compare.CalibrationQuote) string {
	c := q.Calibration
	var quotes, lacking []string
	for _, driven := range q.Driven {
		i := slices.IndexFunc(c.Ways, func(w compare.CalibratedWay) bool { return w.Driven == driven })
		switch {
		case i >= 0 && driven != "":
			quotes = append(quotes, "driven by "+way(driven)+", "+quoteWay(c.Ways[i], c.Alpha))
		case i >= 0:
			quotes = append(quotes, quoteWay(c.Ways[i], c.Alpha))
		case len(c.Ways) > 0:
			lacking = append(lacking, way(driven))
		}
	}
	if len(quotes) == 0 || len(c.Ways) == 1 {
		quotes = []string{quoteWay(compare.CalibratedWay{CalibratedRates: c.CalibratedRates, Effects: c.Effects}, c.Alpha)}
	}
	s := fmt.Sprintf("On this kind of machine (%s, calibrated %s): %s.", q.Machine, c.Measured.UTC().Format(time.DateOnly), strings.Join(quotes, "; "))
	if len(lacking) > 0 {
		s += fmt.Sprintf(" None of that was driven by %s, as benchmarks here are: benchrun calibrate measures it.", strings.Join(lacking, " or "))
	}
	if len(q.Stale) > 0 {
		s += fmt.Sprintf(" That was in other circumstances (%s), so repeat it: benchrun calibrate.", strings.Join(q.Stale, "; "))
	}
	return s
}

// quoteWay quotes what was shown of a way of driving.
func quoteWay(w compare.CalibratedWay, alpha float64) string {
	s := fmt.Sprintf("of %s of a program with itself %s had p ≤ %v (%s) and %s a verdict that they differ (%s)",
		counted(w.Alarms.N, "comparison"), rate(w.Alarms), alpha, rateInterval(w.Alarms), rate(w.Wrong), rateInterval(w.Wrong))
	if len(w.Effects) > 0 {
		s += "; slowed on purpose" + strings.Join(each(w.Effects, func(e compare.CalibratedEffect) string {
			return fmt.Sprintf(" by %s it was found in %s of %d", percent(e.Slow), rate(e.Found), e.Found.N)
		}), ",")
	}
	if w.Covered.N > 0 {
		s += fmt.Sprintf("; intervals had the true ratio in %s of %d", rate(w.Covered), w.Covered.N)
	}
	return s
}
