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
	var remarks []string
	for _, h := range c.Habits {
		remarks = append(remarks, h.Name+": "+h.Says+".")
	}
	return Doc{Title: "Calibration", Blocks: append(blocks,
		Heading{Level: 2, Text: "What benchstat's test says of the same data"},
		habitTable(c),
		listOf(append(remarks, holesAndProblems(c.Holes, c.Problems)...)...),
	)}
}

// holesAndProblems are what is missing, and what could not be read.
func holesAndProblems(holes, problems []string) (lines []string) {
	for _, h := range holes {
		lines = append(lines, "hole: "+h)
	}
	for _, p := range problems {
		lines = append(lines, "problem: "+p)
	}
	return lines
}

// slowedSection shows the comparisons with slowed copies, if there are any.
func slowedSection(c *compare.Calibration, parts []calibrationPart) []Block {
	if len(c.Effects) == 0 {
		return nil
	}
	several := slices.ContainsFunc(c.Benchmarks, func(w compare.CalibratedBenchmark) bool { return len(w.Effects) > 1 })
	lines := []string{fmt.Sprintf("The true ratio is in %s of %d intervals (%s); %s are promised.", rate(c.Covered), c.Covered.N, rateInterval(c.Covered), percent(1-c.Alpha))}
	for _, p := range parts {
		if p.named() {
			lines = append(lines, fmt.Sprintf("%s: in %s of %d (%s).", p.name, rate(p.Covered), p.Covered.N, rateInterval(p.Covered)))
		}
	}
	lines = append(lines, fmt.Sprintf("found: p ≤ %v and the right way round, for a comparison alone. called slower, called wrongly (faster, or the same at %s or more): the verdict in a report of the whole trial.",
		c.Alpha, percent(c.Margin)))
	if several {
		lines = append(lines, "The slowed programs of a trial share the program that they are compared to, so the intervals of rates over several slow-downs are somewhat too narrow.")
	}
	return section(Heading{Level: 2, Text: "Slowed on purpose"}, slowedOnPurpose(c, parts, several), listOf(lines...))
}

// habitTable is what benchstat's test says of the same data if values are taken as people
// take them, and beside it what ours says.
func habitTable(c *compare.Calibration) Table {
	type line struct {
		name    string
		alarms  compare.Rate
		effects map[float64]compare.Rate // by slow-down
	}
	ours := line{"ours: interleaved, paired by block", c.Alarms, make(map[float64]compare.Rate)}
	for _, e := range c.Effects {
		ours.effects[e.Slow] = e.Found
	}
	var all []line
	for _, h := range c.Habits {
		l := line{h.Name, h.Alarms, make(map[float64]compare.Rate)}
		for _, e := range h.Effects {
			l.effects[e.Slow] = e.Found
		}
		all = append(all, l)
	}
	columns := []column[line]{
		{head: "values", text: func(l line) string { return l.name }},
		{head: "comparisons", right: true, text: func(l line) string { return strconv.Itoa(l.alarms.N) }},
		{head: "alarms", right: true, text: func(l line) string { return rate(l.alarms) }},
		{head: "95% interval", right: true, text: func(l line) string { return rateInterval(l.alarms) }},
	}
	for _, e := range c.Effects {
		columns = append(columns, column[line]{head: "finds " + percent(e.Slow), right: true, text: func(l line) string {
			r, ok := l.effects[e.Slow]
			if !ok {
				return ""
			}
			return fmt.Sprintf("%s of %d", rate(r), r.N)
		}})
	}
	return tabulate(append(all, ours), columns)
}

// A calibrationPart is what a calibration says of a way of driving: of its
// benchmarks, and of all of them together.
type calibrationPart struct {
	compare.CalibratedWay
	name       string // of what all show together; "" if the calibration has but one way
	benchmarks []compare.CalibratedBenchmark
}

func (p calibrationPart) named() bool { return p.name != "" }

// calibrationParts returns the parts of c, in the order of its benchmarks. A name
// that benchmarks of several packages have gets its package.
func calibrationParts(c *compare.Calibration) []calibrationPart {
	ambiguous := func(b compare.CalibratedBenchmark) bool {
		return slices.ContainsFunc(c.Benchmarks, func(o compare.CalibratedBenchmark) bool { return o.Name == b.Name && o.Pkg != b.Pkg })
	}
	var parts []calibrationPart
	for _, w := range c.Ways {
		p := calibrationPart{CalibratedWay: w}
		if len(c.Ways) > 1 {
			p.name = "all, " + way(w.Driven)
		}
		for _, b := range c.Benchmarks {
			if b.Driven == w.Driven {
				if ambiguous(b) {
					b.Name = strings.TrimSpace(b.Pkg + " " + b.Name)
				}
				p.benchmarks = append(p.benchmarks, b)
			}
		}
		parts = append(parts, p)
	}
	return parts
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
		for i, b := range p.benchmarks {
			add(b, false, p.named() && i == 0)
		}
		if after = p.named(); after {
			add(compare.CalibratedBenchmark{Name: p.name, Alarms: p.Alarms, Wrong: p.Wrong, Effects: p.Effects}, true, len(p.benchmarks) == 0)
		}
	}
	add(compare.CalibratedBenchmark{Name: "all", Alarms: c.Alarms, Wrong: c.Wrong, Effects: c.Effects}, true, after)
	return all
}

// unlessSum is empty for sums.
func unlessSum(text func(calibrationLine) string) func(calibrationLine) string {
	return func(l calibrationLine) string {
		if l.sum {
			return ""
		}
		return text(l)
	}
}

// calibrationTable is a table of lines with these columns behind the names.
func calibrationTable(all []calibrationLine, columns []column[calibrationLine]) Table {
	name := func(text func(calibrationLine) string) func(calibrationLine) Cell {
		return func(l calibrationLine) Cell { return Cell{Text: text(l), Again: l.again} }
	}
	t := tabulate(all, append([]column[calibrationLine]{
		{head: "benchmark", cell: name(func(l calibrationLine) string { return l.Name })},
		{head: "driven", cell: name(unlessSum(func(l calibrationLine) string { return way(l.Driven) }))},
	}, columns...))
	for i, l := range all {
		t.Rows[i].Group = l.begins
	}
	return t
}

// againstItself is the table of the comparisons of programs with themselves.
func againstItself(c *compare.Calibration, parts []calibrationPart) Table {
	return calibrationTable(calibrationLines(c, parts, false, false), []column[calibrationLine]{
		{head: "comparisons", right: true, text: func(l calibrationLine) string { return strconv.Itoa(l.Alarms.N) }},
		{head: "alarms", right: true, text: func(l calibrationLine) string { return rate(l.Alarms) }},
		{head: "95% interval", right: true, text: func(l calibrationLine) string { return rateInterval(l.Alarms) }},
		{head: "called different", right: true, text: func(l calibrationLine) string { return rate(l.Wrong) }},
		{head: "95% interval", right: true, text: func(l calibrationLine) string { return rateInterval(l.Wrong) }},
		{head: "spread of blocks", right: true, text: unlessSum(func(l calibrationLine) string { return percent(l.Spread) })},
		{head: "finds 9 of 10 times", right: true, text: unlessSum(func(l calibrationLine) string { return detectable(l.Detectable) })},
		{head: "measured", right: true, text: unlessSum(func(l calibrationLine) string { return duration(l.Seconds) })},
	})
}

// slowedOnPurpose is the table of the comparisons with slowed copies. several says
// that a benchmark has several.
func slowedOnPurpose(c *compare.Calibration, parts []calibrationPart, several bool) Table {
	return calibrationTable(calibrationLines(c, parts, true, several), []column[calibrationLine]{
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
}

// circumstancesLine says of what a calibration is, and when it was measured.
func circumstancesLine(of map[string]string, measured time.Time) string {
	return fmt.Sprintf("%s, %s: %s", machineOf(of), measured.UTC().Format("2006-01-02"), strings.Join(present(of, "toolchain", "kernel", "commit"), ", "))
}

// machineOf names the machine of circumstances.
func machineOf(circumstances map[string]string) string {
	return cmp.Or(circumstances["machine"], "a machine without a name")
}

// present returns the values of the circumstances that are known.
func present(circumstances map[string]string, keys ...string) []string {
	var out []string
	for _, k := range keys {
		switch v := circumstances[k]; {
		case v == "":
		case k == "commit":
			out = append(out, "commit "+v[:min(8, len(v))])
		default:
			out = append(out, v)
		}
	}
	return out
}

// way names a way of driving as a Go programmer does: by what a benchmark's loop
// asks.
func way(driven string) string {
	switch driven {
	case "loop":
		return "b.Loop"
	case "runN":
		return "b.N"
	case "":
		return "unknown"
	}
	return driven
}

// percent writes a part, such as 0.02, as "2%", with up to three digits.
func percent(part float64) string {
	if math.IsNaN(part) || math.IsInf(part, 0) {
		return "–"
	}
	return strconv.FormatFloat(100*part, 'g', 3, 64) + "%"
}

// detectable writes an effect that can be found; "–" if that is not known.
func detectable(part float64) string {
	if part == 0 {
		return "–"
	}
	return percent(part)
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

// Calibrations returns what to say in a report of c of the calibrations of the
// machines that it is of, a sentence or two for each.
func Calibrations(c *compare.Comparison) []string {
	var out []string
	for _, q := range c.Calibrations {
		out = append(out, quoteCalibration(q))
	}
	return out
}

// quoteCalibration quotes what the calibration shows of the ways in which the
// benchmarks of the report are driven, and of all together if they are in none of its
// ways or if that is not known.
func quoteCalibration(q compare.CalibrationQuote) string {
	c := q.Calibration
	var b strings.Builder
	fmt.Fprintf(&b, "On this kind of machine (%s, calibrated %s): ", q.Machine, c.Measured.UTC().Format("2006-01-02"))
	var ways []compare.CalibratedWay
	var lacking []string
	for _, driven := range q.Driven {
		i := slices.IndexFunc(c.Ways, func(w compare.CalibratedWay) bool { return w.Driven == driven })
		if i >= 0 {
			ways = append(ways, c.Ways[i])
		} else if len(c.Ways) > 0 {
			lacking = append(lacking, way(driven))
		}
	}
	if len(ways) == 0 || len(c.Ways) == 1 {
		ways = []compare.CalibratedWay{{Alarms: c.Alarms, Wrong: c.Wrong, Covered: c.Covered, Effects: c.Effects}}
	}
	for i, w := range ways {
		if i > 0 {
			b.WriteString("; ")
		}
		if w.Driven != "" {
			fmt.Fprintf(&b, "driven by %s, ", way(w.Driven))
		}
		b.WriteString(quoteWay(w, c.Alpha))
	}
	b.WriteString(".")
	if len(lacking) > 0 {
		fmt.Fprintf(&b, " None of that was driven by %s, as benchmarks here are: benchrun calibrate measures it.", strings.Join(lacking, " or "))
	}
	if len(q.Stale) > 0 {
		fmt.Fprintf(&b, " That was in other circumstances (%s), so repeat it: benchrun calibrate.", strings.Join(q.Stale, "; "))
	}
	return b.String()
}

// quoteWay quotes what was shown of a way of driving.
func quoteWay(w compare.CalibratedWay, alpha float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "of %s of a program with itself %s had p ≤ %v (%s) and %s a verdict that they differ (%s)",
		counted(w.Alarms.N, "comparison"), rate(w.Alarms), alpha, rateInterval(w.Alarms), rate(w.Wrong), rateInterval(w.Wrong))
	for i, e := range w.Effects {
		if i == 0 {
			b.WriteString("; slowed on purpose")
		} else {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " by %s it was found in %s of %d", percent(e.Slow), rate(e.Found), e.Found.N)
	}
	if w.Covered.N > 0 {
		fmt.Fprintf(&b, "; intervals had the true ratio in %s of %d", rate(w.Covered), w.Covered.N)
	}
	return b.String()
}
