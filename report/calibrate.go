package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
)

// CalibrationText writes what a calibration shows for a terminal.
func CalibrationText(w io.Writer, c *compare.Calibration) error {
	return textDocument(w, func(d document) { calibrationDocument(d, c) })
}

// CalibrationMarkdown writes what a calibration shows as a document.
func CalibrationMarkdown(w io.Writer, c *compare.Calibration) error {
	return markdownDocument(w, "Calibration", func(d document) { calibrationDocument(d, c) })
}

// CalibrationJSON writes c as JSON, as docs/calibration.md tells it.
func CalibrationJSON(w io.Writer, c *compare.Calibration) error {
	return writeJSON(w, c)
}

// A document is what a calibration or a truth suite is written into, in parts: title
// begins one, line writes a line, and draw draws a table.
type document struct {
	title func(string)
	line  func(format string, args ...any)
	draw  func(layout)
}

// textDocument writes what fill fills for a terminal.
func textDocument(w io.Writer, fill func(document)) error {
	var b bytes.Buffer
	fill(document{
		title: func(title string) { fmt.Fprintf(&b, "\n%s\n\n", title) },
		line:  func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) },
		draw:  func(l layout) { b.WriteString(drawText(l, TextOptions{}) + "\n") },
	})
	_, err := w.Write(b.Bytes())
	return err
}

// markdownDocument writes what fill fills as Markdown below a heading.
func markdownDocument(w io.Writer, heading string, fill func(document)) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n", heading)
	fill(document{
		title: func(title string) { fmt.Fprintf(&b, "\n## %s\n\n", title) },
		line:  func(format string, args ...any) { b.WriteString(escape(fmt.Sprintf(format, args...)) + "\n") },
		draw:  func(l layout) { b.WriteString(drawMarkdown(l) + "\n\n") },
	})
	_, err := w.Write(b.Bytes())
	return err
}

// calibrationDocument fills d with what c shows.
func calibrationDocument(d document, c *compare.Calibration) {
	d.line("%s, %s: %s", machineOf(c.Circumstances), c.Measured.UTC().Format("2006-01-02"), strings.Join(present(c.Circumstances, "toolchain", "kernel", "commit"), ", "))
	d.line("%s, each of up to %s of %s in up to %s; level %v, margin %s",
		counted(c.Trials, "trial"), counted(c.Blocks, "block"), counted(c.Rounds, "round"), counted(max(1, c.Layouts), "layout"), c.Alpha, percent(c.Margin))

	parts := calibrationParts(c)
	d.title("The same program against itself")
	d.draw(againstItself(c, parts))
	d.line("alarms: p ≤ %v, for a comparison alone; %s are promised. called different: the verdict in a report of the whole trial.", c.Alpha, percent(c.Alpha))
	d.line("spread: standard deviation of the blocks' ratios. finds: the smallest slow-down found in nine of ten trials. measured: time of a pair in a trial.")

	if len(c.Effects) > 0 {
		d.title("Slowed on purpose")
		several := slices.ContainsFunc(c.Benchmarks, func(w compare.CalibratedBenchmark) bool { return len(w.Effects) > 1 })
		d.draw(slowedOnPurpose(c, parts, several))
		d.line("The true ratio is in %s of %d intervals (%s); %s are promised.", rate(c.Covered), c.Covered.N, rateInterval(c.Covered), percent(1-c.Alpha))
		for _, p := range parts {
			if p.named() {
				d.line("%s: in %s of %d (%s).", p.name, rate(p.Covered), p.Covered.N, rateInterval(p.Covered))
			}
		}
		d.line("found: p ≤ %v and the right way round, for a comparison alone. called slower, called wrongly (faster, or the same at %s or more): the verdict in a report of the whole trial.",
			c.Alpha, percent(c.Margin))
		if several {
			d.line("The slowed programs of a trial share the program that they are compared to, so the intervals of rates over several slow-downs are somewhat too narrow.")
		}
	}

	d.title("What benchstat's test says of the same data")
	l := layout{head: []string{"values", "comparisons", "alarms", "95% interval"}, right: []bool{false, true, true, true}}
	for _, e := range c.Effects {
		l.head, l.right = append(l.head, "finds "+percent(e.Slow)), append(l.right, true)
	}
	addHabit := func(name string, alarms compare.Rate, found func(slow float64) (compare.Rate, bool)) {
		row := []string{name, strconv.Itoa(alarms.N), rate(alarms), rateInterval(alarms)}
		for _, e := range c.Effects {
			cell := ""
			if r, ok := found(e.Slow); ok {
				cell = fmt.Sprintf("%s of %d", rate(r), r.N)
			}
			row = append(row, cell)
		}
		l.rows = append(l.rows, row)
	}
	for _, h := range c.Habits {
		addHabit(h.Name, h.Alarms, func(slow float64) (compare.Rate, bool) {
			for _, e := range h.Effects {
				if e.Slow == slow {
					return e.Found, true
				}
			}
			return compare.Rate{}, false
		})
	}
	addHabit("ours: interleaved, paired by block", c.Alarms, func(slow float64) (compare.Rate, bool) {
		for _, e := range c.Effects {
			if e.Slow == slow {
				return e.Found, true
			}
		}
		return compare.Rate{}, false
	})
	d.draw(l)
	for _, h := range c.Habits {
		d.line("%s: %s.", h.Name, h.Says)
	}
	for _, h := range c.Holes {
		d.line("hole: %s", h)
	}
	for _, p := range c.Problems {
		d.line("problem: %s", p)
	}
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

// againstItself is the table of the comparisons of programs with themselves.
func againstItself(c *compare.Calibration, parts []calibrationPart) layout {
	l := layout{
		head:  []string{"benchmark", "driven", "comparisons", "alarms", "95% interval", "called different", "95% interval", "spread of blocks", "finds 9 of 10 times", "measured"},
		right: []bool{false, false, true, true, true, true, true, true, true, true},
	}
	var begins []int
	sums := func(name string, alarms, wrong compare.Rate) []string {
		return []string{name, "", strconv.Itoa(alarms.N), rate(alarms), rateInterval(alarms), rate(wrong), rateInterval(wrong), "", "", ""}
	}
	for _, p := range parts {
		begin := len(l.rows)
		for _, w := range p.benchmarks {
			l.rows = append(l.rows, []string{
				w.Name, way(w.Driven), strconv.Itoa(w.Alarms.N), rate(w.Alarms), rateInterval(w.Alarms), rate(w.Wrong), rateInterval(w.Wrong),
				percent(w.Spread), detectable(w.Detectable), duration(w.Seconds),
			})
		}
		if p.named() {
			l.rows = append(l.rows, sums(p.name, p.Alarms, p.Wrong))
			begins = append(begins, begin, len(l.rows))
		}
	}
	l.rows = append(l.rows, sums("all", c.Alarms, c.Wrong))
	return grouped(l, begins)
}

// grouped returns l with groups that begin with the rows of these indexes.
func grouped(l layout, begins []int) layout {
	l.group = make([]bool, len(l.rows))
	for _, i := range begins {
		l.group[i] = true
	}
	return l
}

// slowedOnPurpose is the table of the comparisons with slowed copies. several says
// that a benchmark has several.
func slowedOnPurpose(c *compare.Calibration, parts []calibrationPart, several bool) layout {
	l := layout{
		head:  []string{"benchmark", "driven", "slower by", "comparisons", "found", "95% interval", "called slower", "called wrongly", "true ratio in interval", "95% interval", "ratio", "measured"},
		right: []bool{false, false, true, true, true, true, true, true, true, true, true, true},
	}
	var begins []int
	add := func(name, driven string, effects []compare.CalibratedEffect) {
		if several {
			begins = append(begins, len(l.rows))
		}
		for _, e := range effects {
			l.rows = append(l.rows, []string{
				name, driven, percent(e.Slow), strconv.Itoa(e.Found.N), rate(e.Found), rateInterval(e.Found), rate(e.Called), rate(e.Denied),
				rate(e.Covered), rateInterval(e.Covered), formatRatio(e.Ratio), duration(e.Seconds),
			})
			name, driven = "", "" // told in the row above
		}
	}
	for _, p := range parts {
		begin := len(l.rows)
		for _, w := range p.benchmarks {
			add(w.Name, way(w.Driven), w.Effects)
		}
		if p.named() {
			add(p.name, "", p.Effects)
			begins = append(begins, begin, len(l.rows))
		}
	}
	add("all", "", c.Effects)
	return grouped(l, begins)
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

// A calibrationJSON is what the JSON of a comparison says of a machine.
type calibrationJSON struct {
	Machine  string                     `json:"machine"`
	File     string                     `json:"file"`
	Measured time.Time                  `json:"measured"`
	Stale    []string                   `json:"stale"`
	Alarms   compare.Rate               `json:"alarms"`
	Wrong    compare.Rate               `json:"wrong"`
	Covered  compare.Rate               `json:"covered"`
	Effects  []compare.CalibratedEffect `json:"effects"`
	Ways     []compare.CalibratedWay    `json:"ways"`
}

func calibrationsToJSON(c *compare.Comparison) []calibrationJSON {
	var out []calibrationJSON
	for _, q := range c.Calibrations {
		cal := q.Calibration
		out = append(out, calibrationJSON{
			Machine: q.Machine, File: filepath.Base(q.Path), Measured: cal.Measured, Stale: append([]string{}, q.Stale...),
			Alarms: cal.Alarms, Wrong: cal.Wrong, Covered: cal.Covered, Effects: cal.Effects, Ways: cal.Ways,
		})
	}
	return out
}
