package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dynolab/dyno/targets"
)

// TargetsSchema names the form of ScorecardJSON's output.
const TargetsSchema = "dyno-targets/1"

// headline is the implementation and how it does.
func headline(impl string, scores []targets.Score) string {
	var parts []string
	for _, kind := range []struct {
		name     string
		required bool
	}{{"required", true}, {"aims", false}} {
		n := (&targets.Scorecard{Scores: scores}).Tally(kind.required)
		if n == (targets.Tally{}) {
			continue
		}
		part := fmt.Sprintf("%s: %d passed, %d missed", kind.name, n.Pass, n.Miss)
		if n.NotMeasured > 0 {
			part += fmt.Sprintf(", %d not measured", n.NotMeasured)
		}
		if n.Skipped > 0 {
			part += fmt.Sprintf(", %d skipped", n.Skipped)
		}
		parts = append(parts, part)
	}
	return impl + " (" + strings.Join(parts, "; ") + ")"
}

// scoreLayout lays the scores of one implementation out.
func scoreLayout(scores []targets.Score) layout {
	l := layout{
		head:  []string{"target", "what", "", "limit", "figure", "range", "n", "", ""},
		right: []bool{false, false, false, true, true, true, true, false, false},
	}
	for _, s := range scores {
		kind, figure, from, n := "aim", "—", "", ""
		if s.Target.Required {
			kind = "required"
		}
		if s.Measured() {
			figure, from, n = formatFigure(s.Target, s.Figure), formatRange(s), strconv.Itoa(s.N)
		}
		l.rows = append(l.rows, []string{s.Target.ID, s.Target.Says, kind, formatLimit(s.Target), figure, from, n, string(s.Outcome), s.Why})
	}
	return l
}

// formatFigure writes a figure of a target with its unit.
func formatFigure(t targets.Target, v float64) string {
	unit := t.FigureUnit()
	switch {
	case t.Ratio():
		return "×" + formatRatio(v)
	case isTime(unit): // the prefix says it
		return formatValue(v, unit)
	}
	return formatValue(v, unit) + " " + unit
}

func isTime(unit string) bool {
	return unit == "ns" || strings.HasSuffix(unit, "-ns") || strings.HasPrefix(unit, "ns/")
}

// formatLimit writes what a figure is to be: a round number without the digits
// that a measured one has.
func formatLimit(t targets.Target) string {
	limit := strconv.FormatFloat(t.Limit, 'f', -1, 64)
	switch unit := t.FigureUnit(); {
	case t.Ratio():
		limit = "×" + limit
	case isTime(unit):
		value, prefix, _ := strings.Cut(formatTime(t.Limit/1e9), " ")
		if strings.Contains(value, ".") {
			value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
		}
		limit = value + " " + prefix
	default:
		limit += " " + unit
	}
	return t.Bound.String() + " " + limit
}

// formatRange writes what the figures of the blocks lie between, and of a ratio
// its interval.
func formatRange(s targets.Score) string {
	lo, hi := s.Min, s.Max
	if s.Target.Ratio() {
		lo, hi = s.Lo, s.Hi
	}
	if math.IsNaN(lo) {
		return ""
	}
	return strings.TrimSuffix(formatFigure(s.Target, lo), " "+s.Target.FigureUnit()) + " to " + formatFigure(s.Target, hi)
}

// scoreLegend explains the tables.
func scoreLegend(c *targets.Scorecard) []string {
	percent := strconv.FormatFloat(100*(1-c.Alpha), 'g', 4, 64) + "%"
	lines := []string{
		"figure: the median of the blocks, and of a count that knows no noise the worst. range: what the blocks lie between; of a ratio (×), its " + percent + " interval.",
		"required: promised, and a miss is a fault. aim: what an implementation is built for.",
	}
	if slices.ContainsFunc(c.Scores, func(s targets.Score) bool { return s.Emulated }) {
		lines = append(lines, "emulated: a time is a number of instructions, each as long as the clock of the emulated board says. It is no measure of a real one. Where that clock counts no instructions, what depends on time is skipped.")
	}
	return lines
}

// ScorecardText writes the card as a table for each implementation.
func ScorecardText(w io.Writer, c *targets.Scorecard, o TextOptions) error {
	var b bytes.Buffer
	for _, f := range c.Files {
		fmt.Fprintln(&b, fileLine(f))
	}
	b.WriteString("\n")
	scorecardText(&b, c, o)
	_, err := w.Write(b.Bytes())
	return err
}

func scorecardText(b *bytes.Buffer, c *targets.Scorecard, o TextOptions) {
	names, scores := c.BySubject()
	for _, name := range names {
		l := scoreLayout(scores[name])
		if o.Color {
			for i, s := range scores[name] {
				color := map[targets.Outcome]text.Color{targets.Pass: text.FgGreen, targets.Miss: text.FgRed, targets.NotMeasured: text.FgYellow, targets.Skip: text.Faint}[s.Outcome]
				l.rows[i][7] = colored(l.rows[i][7], color)
			}
		}
		fmt.Fprintf(b, "%s\n\n%s\n", headline(name, scores[name]), drawText(l, o))
	}
	for _, line := range scoreLegend(c) {
		fmt.Fprintln(b, line)
	}
}

// scorecardMarkdown writes the card as sections of a document.
func scorecardMarkdown(b *bytes.Buffer, c *targets.Scorecard) {
	for _, line := range scoreLegend(c) {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	names, scores := c.BySubject()
	for _, name := range names {
		l := scoreLayout(scores[name])
		for i, s := range scores[name] {
			if s.Outcome == targets.Miss {
				l.rows[i][7] = "**" + l.rows[i][7] + "**"
			}
		}
		fmt.Fprintf(b, "\n### %s\n\n%s\n", escape(headline(name, scores[name])), strings.ReplaceAll(drawMarkdown(l), `\*\*`, "**"))
	}
	b.WriteString("\n")
}

type (
	scorecardJSON struct {
		Schema   string      `json:"schema"`
		Alpha    float64     `json:"alpha"`
		Required tallyJSON   `json:"required"`
		Aims     tallyJSON   `json:"aims"`
		Files    []fileJSON  `json:"files"`
		Scores   []scoreJSON `json:"scores"`
	}
	tallyJSON struct {
		Pass        int `json:"pass"`
		Miss        int `json:"miss"`
		NotMeasured int `json:"not_measured"`
		Skipped     int `json:"skipped"`
	}
	scoreJSON struct {
		ID        string   `json:"id"`
		Says      string   `json:"says"`
		Impl      string   `json:"implementation"`
		Board     string   `json:"board,omitempty"`
		Emulated  bool     `json:"emulated,omitempty"`
		Required  bool     `json:"required"`
		Workload  string   `json:"workload"`
		Metric    string   `json:"metric"`
		Base      string   `json:"base,omitempty"`
		Unit      string   `json:"unit"`
		Bound     string   `json:"bound"` // "<=" or ">="
		Limit     float64  `json:"limit"`
		Statistic string   `json:"statistic"`
		Note      string   `json:"note,omitempty"`
		Outcome   string   `json:"outcome"` // "pass", "miss", "not measured", "skipped"
		Why       string   `json:"why,omitempty"`
		Figure    *float64 `json:"figure"`
		Lo        *float64 `json:"lo"`
		Hi        *float64 `json:"hi"`
		Min       *float64 `json:"min"`
		Max       *float64 `json:"max"`
		N         int      `json:"n"`
		File      string   `json:"file,omitempty"`
	}
)

// ScorecardJSON writes the card as one indented JSON object of the schema
// TargetsSchema.
func ScorecardJSON(w io.Writer, c *targets.Scorecard) error {
	doc := scorecardJSON{
		Schema: TargetsSchema, Alpha: c.Alpha, Files: []fileJSON{}, Scores: scoresToJSON(c),
		Required: tallyJSON(c.Tally(true)), Aims: tallyJSON(c.Tally(false)),
	}
	for _, f := range c.Files {
		doc.Files = append(doc.Files, fileToJSON(f))
	}
	return writeJSON(w, doc)
}

func scoresToJSON(c *targets.Scorecard) []scoreJSON {
	all := []scoreJSON{}
	for _, s := range c.Scores {
		t := s.Target
		sj := scoreJSON{
			ID: t.ID, Says: t.Says, Impl: s.Impl, Board: s.Board, Emulated: s.Emulated, Required: t.Required,
			Workload: t.Row(), Metric: t.Metric, Base: t.Base,
			Unit: t.FigureUnit(), Bound: "<=", Limit: t.Limit, Statistic: t.Statistic.String(), Note: t.Note,
			Outcome: strings.ToLower(string(s.Outcome)), Why: s.Why,
		}
		if t.BaseWorkload != "" {
			sj.Base = targets.Row(t.Bench, t.BaseWorkload)
		}
		if t.Bound == targets.AtLeast {
			sj.Bound = ">="
		}
		if s.Measured() {
			sj.Figure, sj.Lo, sj.Hi = finite(s.Figure), finite(s.Lo), finite(s.Hi)
			sj.Min, sj.Max, sj.N, sj.File = finite(s.Min), finite(s.Max), s.N, s.File
		}
		all = append(all, sj)
	}
	return all
}
