package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/targets"
)

// Scorecard returns what targets say of results.
func Scorecard(card *targets.Scorecard) Doc {
	return Doc{Title: "Targets", Blocks: slices.Concat(fileLines(card.Files), scores(card, Terminal))}
}

// scoreSection is the section on targets in a report; nothing without a card.
func scoreSection(card *targets.Scorecard, form Form) []Block {
	if card == nil {
		return nil
	}
	return section(Heading{Level: 2, Text: "Targets", ID: "targets"}, scores(card, form)...)
}

// scores are a table for each implementation on each board.
func scores(card *targets.Scorecard, form Form) (blocks []Block) {
	names, bySubject := card.BySubject()
	for _, name := range names {
		blocks = append(blocks, Heading{Level: 3, Text: headline(name, bySubject[name])}, labelled(scoreTable(bySubject[name], form), "Targets of "+name, ""))
	}
	legend := []Block{List{Items: items(scoreLegend(card)...), Tone: Dim}}
	if form == Terminal {
		return append(blocks, legend...)
	}
	return append(legend, blocks...)
}

// scoreTones are the looks of outcomes.
var scoreTones = map[targets.Outcome]Tone{targets.Pass: Good, targets.Miss: Bad, targets.NotMeasured: Doubt, targets.Skip: Dim}

// scoreTable has the scores of one implementation. On a page the outcome is the second
// column: a narrow one shows the first.
func scoreTable(scores []targets.Score, form Form) Table {
	outcome := column[targets.Score]{cell: func(s targets.Score) Cell {
		return Cell{Text: string(s.Outcome), Tone: scoreTones[s.Outcome], Strong: s.Outcome == targets.Miss}
	}}
	early := outcome
	early.head, early.hide = "outcome", form != Page
	outcome.hide = form == Page
	return tabulate(scores, []column[targets.Score]{
		{head: "target", long: true, text: func(s targets.Score) string { return s.Target.Says }},
		early,
		{head: "workload", text: func(s targets.Score) string { return s.Target.Workload }},
		{text: func(s targets.Score) string {
			if s.Target.Required {
				return "required"
			}
			return "aim"
		}},
		{head: "limit", right: true, text: func(s targets.Score) string { return formatLimit(s.Target) }},
		{head: "figure", right: true, text: func(s targets.Score) string {
			if !s.Measured() {
				return "—"
			}
			return formatFigure(s.Target, s.Figure)
		}},
		{head: "range", right: true, only: targets.Score.Measured, text: formatRange},
		{head: "n", right: true, only: targets.Score.Measured, text: func(s targets.Score) string { return strconv.Itoa(s.N) }},
		outcome,
		{long: true, text: func(s targets.Score) string { return s.Why }},
		{head: "id", text: func(s targets.Score) string { return s.Target.ID }},
	})
}

// headline is the implementation and how it does.
func headline(impl string, scores []targets.Score) string {
	card := &targets.Scorecard{Scores: scores}
	say := func(name string, n targets.Tally) string {
		if n == (targets.Tally{}) {
			return ""
		}
		s := fmt.Sprintf("%s: %d passed, %d missed", name, n.Pass, n.Miss)
		if n.NotMeasured > 0 {
			s += fmt.Sprintf(", %d not measured", n.NotMeasured)
		}
		if n.Skipped > 0 {
			s += fmt.Sprintf(", %d skipped", n.Skipped)
		}
		return s
	}
	return impl + " (" + joined("; ", say("required", card.Tally(true)), say("aims", card.Tally(false))) + ")"
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
	if compare.IsBytes(unit) { // the value has its B
		_, per, _ := strings.Cut(unit, "/")
		return joined("/", formatValue(v, unit), per)
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
		if t.Limit >= 10_000 {
			limit = formatCount(t.Limit)
		}
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
