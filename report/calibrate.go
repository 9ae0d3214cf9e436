package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/lab"
)

// CalibrationText writes what a calibration shows for a terminal.
func CalibrationText(w io.Writer, c *lab.Calibration) error {
	var b bytes.Buffer
	calibrationDocument(&b, c, func(title string) { fmt.Fprintf(&b, "\n%s\n\n", title) },
		func(s string) string { return s },
		func(l layout) { b.WriteString(drawText(l, TextOptions{})) })
	_, err := w.Write(b.Bytes())
	return err
}

// CalibrationMarkdown writes what a calibration shows as a document.
func CalibrationMarkdown(w io.Writer, c *lab.Calibration) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Calibration\n\n")
	calibrationDocument(&b, c, func(title string) { fmt.Fprintf(&b, "\n## %s\n\n", title) },
		escape,
		func(l layout) { fmt.Fprintf(&b, "%s\n", drawMarkdown(l)) })
	_, err := w.Write(b.Bytes())
	return err
}

// CalibrationJSON writes c as JSON, as docs/calibration.md tells it.
func CalibrationJSON(w io.Writer, c *lab.Calibration) error {
	return writeJSON(w, c)
}

// calibrationDocument writes c in parts: title begins one, say makes a line fit
// for the document, and draw draws a table.
func calibrationDocument(b *bytes.Buffer, c *lab.Calibration, title func(string), say func(string) string, draw func(layout)) {
	line := func(format string, args ...any) { fmt.Fprintln(b, say(fmt.Sprintf(format, args...))) }
	machine := c.Circumstances["machine"]
	if machine == "" {
		machine = "a machine without a name"
	}
	line("%s, %s: %s", machine, c.Measured.UTC().Format("2006-01-02"), strings.Join(present(c, "toolchain", "kernel", "commit"), ", "))
	line("%s, each of up to %s of %s in up to %s; level %v, margin %s",
		counted(c.Trials, "trial"), counted(c.Blocks, "block"), counted(c.Rounds, "round"), counted(max(1, c.Layouts), "layout"), c.Alpha, percent(c.Margin))

	title("The same program against itself")
	l := layout{
		head:  []string{"benchmark", "comparisons", "alarms", "95% interval", "called different", "95% interval", "spread of blocks", "finds 9 of 10 times", "measured"},
		right: []bool{false, true, true, true, true, true, true, true, true},
	}
	for _, w := range c.Benchmarks {
		l.rows = append(l.rows, []string{
			w.Name, strconv.Itoa(w.Alarms.N), rate(w.Alarms), rateInterval(w.Alarms), rate(w.Wrong), rateInterval(w.Wrong),
			percent(w.Spread), detectable(w.Detectable), duration(w.Seconds),
		})
	}
	l.rows = append(l.rows, []string{
		"all", strconv.Itoa(c.Alarms.N), rate(c.Alarms), rateInterval(c.Alarms), rate(c.Wrong), rateInterval(c.Wrong), "", "", "",
	})
	draw(l)
	b.WriteString("\n")
	line("alarms: p ≤ %v, for a comparison alone; %s are promised. called different: the verdict in a report of the whole trial.", c.Alpha, percent(c.Alpha))
	line("spread: standard deviation of the blocks' ratios. finds: the smallest slow-down found in nine of ten trials. measured: time of a pair in a trial.")

	if len(c.Effects) > 0 {
		title("Slowed on purpose")
		l = layout{
			head:  []string{"benchmark", "slower by", "comparisons", "found", "95% interval", "called slower", "called wrongly", "true ratio in interval", "95% interval", "ratio", "measured"},
			right: []bool{false, true, true, true, true, true, true, true, true, true, true},
		}
		several := slices.ContainsFunc(c.Benchmarks, func(w lab.CalibratedBenchmark) bool { return len(w.Effects) > 1 })
		add := func(name string, effects []lab.CalibratedEffect) {
			for i, e := range effects {
				if i > 0 {
					name = ""
				}
				l.group = append(l.group, i == 0 && several)
				l.rows = append(l.rows, []string{
					name, percent(e.Slow), strconv.Itoa(e.Found.N), rate(e.Found), rateInterval(e.Found), rate(e.Called), rate(e.Denied),
					rate(e.Covered), rateInterval(e.Covered), formatRatio(e.Ratio), duration(e.Seconds),
				})
			}
		}
		for _, w := range c.Benchmarks {
			add(w.Name, w.Effects)
		}
		add("all", c.Effects)
		draw(l)
		b.WriteString("\n")
		line("The true ratio is in %s of %d intervals (%s); %s are promised.", rate(c.Covered), c.Covered.N, rateInterval(c.Covered), percent(1-c.Alpha))
		line("found: p ≤ %v and the right way round, for a comparison alone. called slower, called wrongly (faster, or the same at %s or more): the verdict in a report of the whole trial.",
			c.Alpha, percent(c.Margin))
		if several {
			line("The slowed programs of a trial share the program that they are compared to, so the intervals of rates over several slow-downs are somewhat too narrow.")
		}
	}

	title("What benchstat's test says of the same data")
	l = layout{head: []string{"values", "comparisons", "alarms", "95% interval"}, right: []bool{false, true, true, true}}
	for _, e := range c.Effects {
		l.head, l.right = append(l.head, "finds "+percent(e.Slow)), append(l.right, true)
	}
	addHabit := func(name string, alarms lab.Rate, found func(slow float64) (lab.Rate, bool)) {
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
		addHabit(h.Name, h.Alarms, func(slow float64) (lab.Rate, bool) {
			for _, e := range h.Effects {
				if e.Slow == slow {
					return e.Found, true
				}
			}
			return lab.Rate{}, false
		})
	}
	addHabit("ours: interleaved, paired by block", c.Alarms, func(slow float64) (lab.Rate, bool) {
		for _, e := range c.Effects {
			if e.Slow == slow {
				return e.Found, true
			}
		}
		return lab.Rate{}, false
	})
	draw(l)
	b.WriteString("\n")
	for _, h := range c.Habits {
		line("%s: %s.", h.Name, h.Says)
	}
	for _, h := range c.Holes {
		line("hole: %s", h)
	}
	for _, p := range c.Problems {
		line("problem: %s", p)
	}
}

// present returns the values of the circumstances that are known.
func present(c *lab.Calibration, keys ...string) []string {
	var out []string
	for _, k := range keys {
		switch v := c.Circumstances[k]; {
		case v == "":
		case k == "commit":
			out = append(out, "commit "+v[:min(8, len(v))])
		default:
			out = append(out, v)
		}
	}
	return out
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
func rate(r lab.Rate) string {
	if r.N == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*r.Part(), 'f', 1, 64) + "%"
}

// rateInterval writes a rate's interval, "3.1 to 6.6%".
func rateInterval(r lab.Rate) string {
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
func Calibrations(c *lab.Comparison) []string {
	var out []string
	for _, q := range c.Calibrations {
		out = append(out, quoteCalibration(q))
	}
	return out
}

func quoteCalibration(q lab.CalibrationQuote) string {
	c := q.Calibration
	var b strings.Builder
	fmt.Fprintf(&b, "On this kind of machine (%s, calibrated %s): of %s of a program with itself %s had p ≤ %v (%s) and %s a verdict that they differ (%s)",
		q.Machine, c.Measured.UTC().Format("2006-01-02"), counted(c.Alarms.N, "comparison"), rate(c.Alarms), c.Alpha, rateInterval(c.Alarms), rate(c.Wrong), rateInterval(c.Wrong))
	for i, e := range c.Effects {
		if i == 0 {
			b.WriteString("; slowed on purpose")
		} else {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " by %s it was found in %s of %d", percent(e.Slow), rate(e.Found), e.Found.N)
	}
	if c.Covered.N > 0 {
		fmt.Fprintf(&b, "; intervals had the true ratio in %s of %d", rate(c.Covered), c.Covered.N)
	}
	b.WriteString(".")
	if len(q.Stale) > 0 {
		fmt.Fprintf(&b, " That was in other circumstances (%s), so repeat it: benchrun calibrate.", strings.Join(q.Stale, "; "))
	}
	return b.String()
}

// A calibrationJSON is what the JSON of a comparison says of a machine.
type calibrationJSON struct {
	Machine  string                 `json:"machine"`
	File     string                 `json:"file"`
	Measured time.Time              `json:"measured"`
	Stale    []string               `json:"stale"`
	Alarms   lab.Rate               `json:"alarms"`
	Wrong    lab.Rate               `json:"wrong"`
	Covered  lab.Rate               `json:"covered"`
	Effects  []lab.CalibratedEffect `json:"effects"`
}

func calibrationsToJSON(c *lab.Comparison) []calibrationJSON {
	var out []calibrationJSON
	for _, q := range c.Calibrations {
		cal := q.Calibration
		out = append(out, calibrationJSON{
			Machine: q.Machine, File: filepath.Base(q.Path), Measured: cal.Measured, Stale: append([]string{}, q.Stale...),
			Alarms: cal.Alarms, Wrong: cal.Wrong, Covered: cal.Covered, Effects: cal.Effects,
		})
	}
	return out
}
