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

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/targets"
)

// TargetsSchema names the form of ScorecardJSON's output.
const TargetsSchema = "dyno-targets/1"

// A Scorecard says which targets results keep.
type Scorecard struct {
	Alpha  float64 // intervals have confidence 1-Alpha
	Files  []compare.File
	Scores []Score // in the order of the targets, and of the columns for each

	// Problems are malformed input lines, each "file:line: what". They were
	// left out, the rest was read.
	Problems []string
}

// A Score is one target judged for one implementation.
type Score struct {
	Target targets.Target

	// Impl is the implementation; empty if the target is promised of every one
	// and the results have none.
	Impl string

	// Board is the board that it was judged on, empty for a host, and Emulated
	// whether that was emulated. Its times are then emulated ones: instructions, each
	// as long as the results' clock says.
	Board    string
	Emulated bool

	Outcome Outcome

	// Why says why there is no figure, or why it is a doubtful one.
	Why string

	// Figure is what is judged; the other fields are of no use if there is
	// none. Lo and Hi bound it; NaN if there is no interval. Min and Max are
	// the extremes over the blocks; NaN of a ratio.
	Figure, Lo, Hi, Min, Max float64
	N                        int
	File                     string // the label of the file that it is from
}

// An Outcome is the word for a Score.
type Outcome string

// The outcomes. A target is skipped if its workload has skipped itself, because the
// implementation lacks what that needs; and if it depends on time, and that is what an
// emulator takes on its host.
const (
	Pass        Outcome = "pass"
	Miss        Outcome = "MISS"
	NotMeasured Outcome = "not measured"
	Skip        Outcome = "skipped"
)

// Measured reports whether there is a figure.
func (s Score) Measured() bool { return s.Outcome == Pass || s.Outcome == Miss }

// Doubtful reports whether the interval of the figure holds the limit, so that
// the truth may lie on its other side.
func (s Score) Doubtful() bool {
	return s.Measured() && !math.IsNaN(s.Lo) && s.Target.Met(s.Lo) != s.Target.Met(s.Hi)
}

// JudgeOptions say how results are judged. The zero value is the default.
type JudgeOptions struct {
	Filter string  // as in [compare.Options]
	Alpha  float64 // as in [compare.Options]
}

// Judge holds results against the targets that apply to what they are of: hosts, and
// each board by itself. Of several files of the same that have a figure the first
// counts: figures of different runs are not pooled. The error is that of
// [compare.Data.Compare].
func Judge(all []targets.Target, d *compare.Data, o JudgeOptions) (*Scorecard, error) {
	if o.Alpha == 0 {
		o.Alpha = compare.DefaultAlpha
	}
	var inputs []*judged
	for _, one := range d.Each() {
		in := &judged{byBase: make(map[string]*compare.Comparison)}
		in.compare = func(base string) (*compare.Comparison, error) {
			return one.Compare(compare.Options{Col: "/impl", Filter: o.Filter, Base: base, Alpha: o.Alpha})
		}
		c, err := in.compare("")
		if err != nil {
			return nil, err
		}
		in.byBase[""] = c
		inputs = append(inputs, in)
	}
	card := &Scorecard{Alpha: o.Alpha}
	for _, in := range inputs {
		card.Files = append(card.Files, in.byBase[""].Files...)
		card.Problems = append(card.Problems, in.byBase[""].Problems...)
	}
	for _, g := range subjectsOf(inputs) {
		for _, t := range all {
			if t.Where&g.place == 0 {
				continue
			}
			impls := t.Impls
			if impls == nil {
				impls = implementations(g.inputs, t)
			}
			for _, impl := range impls {
				s, err := score(t, impl, g.inputs)
				if err != nil {
					return nil, err
				}
				s.Board, s.Emulated = g.board, g.emulated
				card.Scores = append(card.Scores, s)
			}
			if len(impls) == 0 {
				card.Scores = append(card.Scores, Score{
					Target: t, Board: g.board, Emulated: g.emulated, Outcome: NotMeasured, Why: "no results of any implementation",
				})
			}
		}
	}
	return card, nil
}

// A subject is what targets are judged of: the hosts, or one board.
type subject struct {
	board    string
	emulated bool
	place    targets.Place
	inputs   []*judged
}

func subjectsOf(inputs []*judged) (subjects []*subject) {
	for _, in := range inputs {
		f := in.byBase[""].Files[0]
		g := &subject{board: f.Board(), emulated: f.Emulated(), place: targets.Host}
		if g.board != "" {
			g.place = targets.Board
		}
		i := slices.IndexFunc(subjects, func(o *subject) bool { return o.board == g.board && o.emulated == g.emulated })
		if i < 0 {
			i, subjects = len(subjects), append(subjects, g)
		}
		subjects[i].inputs = append(subjects[i].inputs, in)
	}
	return subjects
}

// judged is one file, compared to each base that a target names.
type judged struct {
	byBase  map[string]*compare.Comparison
	compare func(base string) (*compare.Comparison, error)
}

// to returns the comparison to a column; nil if the file has no such column.
func (in *judged) to(base string) (*compare.Comparison, error) {
	if c, ok := in.byBase[base]; ok {
		return c, nil
	}
	var c *compare.Comparison
	if slices.ContainsFunc(in.byBase[""].Tables, func(t compare.Table) bool { return columnIndex(t, base) >= 0 }) {
		var err error
		if c, err = in.compare(base); err != nil {
			return nil, err
		}
	}
	in.byBase[base] = c
	return c, nil
}

func columnIndex(t compare.Table, name string) int {
	return slices.IndexFunc(t.Cols, func(c compare.Column) bool { return c.Name == name })
}

// implementations are the columns that are no references and have a value, or a
// hole, in some benchmark of the target's contract.
func implementations(inputs []*judged, target targets.Target) []string {
	prefix := targets.Row(target.Bench, "")
	var names []string
	for _, in := range inputs {
		for _, t := range in.byBase[""].Tables {
			for _, r := range t.Rows {
				if !strings.HasPrefix(r.Name, prefix) {
					continue
				}
				for i, c := range t.Cols {
					if !c.Ref && r.Cells[i].Verdict != compare.Absent && !slices.Contains(names, c.Name) {
						names = append(names, c.Name)
					}
				}
			}
		}
	}
	return names
}

// score judges one target for one implementation by the first file that has the
// figure.
func score(t targets.Target, impl string, inputs []*judged) (Score, error) {
	none := Score{Target: t, Impl: impl, Outcome: NotMeasured}
	for _, in := range inputs {
		s, err := in.score(t, impl)
		if err != nil || s.Measured() {
			return s, err
		}
		// A reason that a file gives is better than that it has no such row.
		if none.Why == "" || s.Outcome == Skip {
			none.Outcome, none.Why = s.Outcome, s.Why
		}
	}
	return none, nil
}

func (in *judged) score(t targets.Target, impl string) (Score, error) {
	s := Score{Target: t, Impl: impl, Outcome: NotMeasured, Lo: math.NaN(), Hi: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	c := in.byBase[""]
	cell := figureOf(c, t.Row(), t.Metric, impl)
	figure := t.Figure
	if _, time := targets.OnInstructions(t.Metric); (time || t.Timed) && c.Files[0].Emulated() && setting(c.Files[0], record.ClockUnitKey) != record.InstructionClock {
		s.Outcome, s.Why = Skip, "the time is what the emulator takes on its host, and says nothing of the board"
		return s, nil
	}
	if cell == nil && c.Files[0].Emulated() {
		if unit, ok := targets.OnInstructions(t.Metric); ok {
			if cell = figureOf(c, t.Row(), unit, impl); cell != nil {
				hz, err := strconv.ParseFloat(setting(c.Files[0], record.ClockHzKey), 64)
				if err != nil || !(hz > 0) {
					s.Why = "the results do not say how long an instruction takes (" + record.ClockHzKey + ")"
					return s, nil
				}
				figure = func(insns float64) float64 { return t.Figure(insns * 1e9 / hz) }
			}
		}
	}
	if cell == nil {
		s.Outcome, s.Why = absence(c, t.Row(), t.Metric, impl)
		return s, nil
	}
	if t.Base != "" {
		to, err := in.to(t.Base)
		if err != nil {
			return s, err
		}
		if to == nil { // and cell is compared to something else
			s.Why = "no results of " + t.Base + " to compare to"
			return s, nil
		}
		cell = figureOf(to, t.Row(), t.Metric, impl)
	}
	s.N, s.File = cell.N, c.Files[0].Label
	switch {
	case t.Base != "":
		if cell.Vs == nil || math.IsNaN(cell.Vs.Ratio) {
			s.Why = "no results of " + t.Base + " to compare to"
			return s, nil
		}
		s.Figure, s.Lo, s.Hi = cell.Vs.Ratio, cell.Vs.Lo, cell.Vs.Hi
		if cell.Vs.Paired {
			s.N = cell.Vs.N
		}
	case t.BaseWorkload != "":
		row := targets.Row(t.Bench, t.BaseWorkload)
		from := figureOf(c, row, t.Metric, impl)
		if from == nil {
			_, why := absence(c, row, t.Metric, impl)
			s.Why = "nothing to compare to: " + why
			return s, nil
		}
		s.Figure = cell.Center / from.Center
		s.Why = "of two medians, without an interval"
	default:
		s.Figure, s.Lo, s.Hi = figure(cell.Center), figure(cell.Lo), figure(cell.Hi)
		s.Min, s.Max = figure(cell.Min), figure(cell.Max)
		if s.Min > s.Max { // the derived figure falls where the measured one rises
			s.Lo, s.Hi, s.Min, s.Max = s.Hi, s.Lo, s.Max, s.Min
		}
		if t.Statistic == targets.Worst {
			s.Figure, s.Lo, s.Hi = s.Max, math.NaN(), math.NaN()
			if t.Bound == targets.AtLeast {
				s.Figure = s.Min
			}
		}
	}
	if t.Statistic == targets.Median && t.BaseWorkload == "" && (math.IsInf(cell.Hi, 0) || math.IsInf(s.Hi, 0) || math.IsNaN(s.Hi)) {
		s.Lo, s.Hi = math.NaN(), math.NaN()
		s.Why = "too few blocks for an interval"
	}
	s.Outcome = Miss
	if t.Met(s.Figure) {
		s.Outcome = Pass
	}
	if s.Doubtful() {
		s.Why = "not certain: the interval holds the limit"
	}
	if cell.Hole {
		s.Why = strings.TrimPrefix(s.Why+"; with a hole", "; ")
	}
	return s, nil
}

// figureOf returns the cell of a benchmark, unit and column, nil if it has no
// value. Of several GOMAXPROCS the largest counts.
func figureOf(c *compare.Comparison, row, unit, col string) *compare.Cell {
	var found *compare.Cell
	most := -1
	for i := range c.Tables {
		t := &c.Tables[i]
		at := columnIndex(*t, col)
		if t.Unit != unit || at < 0 {
			continue
		}
		for j := range t.Rows {
			procs, ok := isBenchmark(t.Rows[j].Name, row)
			if cell := &t.Rows[j].Cells[at]; ok && cell.N > 0 && procs > most {
				found, most = cell, procs
			}
		}
	}
	return found
}

// isBenchmark reports whether a row of a table is that of a benchmark, and with
// which GOMAXPROCS it was measured.
func isBenchmark(row, benchmark string) (procs int, ok bool) {
	rest, ok := strings.CutPrefix(row, benchmark)
	if !ok {
		return 0, false
	}
	return procsOf(rest)
}

// procsOf reads the end of a benchmark's name: "-8", or nothing for 1.
func procsOf(s string) (procs int, ok bool) {
	if s == "" {
		return 1, true
	}
	digits, ok := strings.CutPrefix(s, "-")
	procs, err := strconv.Atoi(digits)
	return procs, ok && err == nil
}

// absence says why there is no figure.
func absence(c *compare.Comparison, row, unit, impl string) (Outcome, string) {
	_, what, _ := strings.Cut(row, "/")
	for _, h := range c.Files[0].Holes {
		name, ok := strings.CutPrefix(h.Case, "Benchmark")
		before, after, has := strings.Cut(name, "/impl="+impl)
		if !ok || !has || before != row {
			continue
		}
		if _, ok := procsOf(after); !ok {
			continue // the implementation's name goes on
		}
		if h.Skipped {
			return Skip, h.Reason
		}
		return NotMeasured, h.String()
	}
	for _, t := range c.Tables {
		if figureOf(c, row, t.Unit, impl) != nil {
			return NotMeasured, "the results of " + what + " have no " + unit
		}
	}
	return NotMeasured, "no results of " + what
}

// A Tally counts scores.
type Tally struct{ Pass, Miss, NotMeasured, Skipped int }

// Tally counts the scores of targets that are required, or of those that are not.
func (c *Scorecard) Tally(required bool) Tally {
	var n Tally
	for _, s := range c.Scores {
		if s.Target.Required != required {
			continue
		}
		switch s.Outcome {
		case Pass:
			n.Pass++
		case Miss:
			n.Miss++
		case Skip:
			n.Skipped++
		default:
			n.NotMeasured++
		}
	}
	return n
}

// Only returns the card with those scores that keep says.
func (c *Scorecard) Only(keep func(Score) bool) *Scorecard {
	out := *c
	out.Scores = slices.DeleteFunc(slices.Clone(c.Scores), func(s Score) bool { return !keep(s) })
	return &out
}

// Subject is what the score is of: an implementation, and on which board.
func (s Score) Subject() string {
	name := s.Impl
	if name == "" {
		name = "no implementation"
	}
	if s.Board != "" {
		name += " on " + s.Board
	}
	if s.Emulated {
		name += ", emulated"
	}
	return name
}

// bySubject groups scores by implementation and board, in order of appearance.
func (c *Scorecard) bySubject() (names []string, scores map[string][]Score) {
	scores = make(map[string][]Score)
	for _, s := range c.Scores {
		name := s.Subject()
		if scores[name] == nil {
			names = append(names, name)
		}
		scores[name] = append(scores[name], s)
	}
	return names, scores
}

// headline is the implementation and how it does.
func headline(impl string, scores []Score) string {
	var parts []string
	for _, kind := range []struct {
		name     string
		required bool
	}{{"required", true}, {"aims", false}} {
		n := (&Scorecard{Scores: scores}).Tally(kind.required)
		if n == (Tally{}) {
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
func scoreLayout(scores []Score) layout {
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
func formatRange(s Score) string {
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
func scoreLegend(c *Scorecard) []string {
	percent := strconv.FormatFloat(100*(1-c.Alpha), 'g', 4, 64) + "%"
	lines := []string{
		"figure: the median of the blocks, and of a count that knows no noise the worst. range: what the blocks lie between; of a ratio (×), its " + percent + " interval.",
		"required: promised, and a miss is a fault. aim: what an implementation is built for.",
	}
	if slices.ContainsFunc(c.Scores, func(s Score) bool { return s.Emulated }) {
		lines = append(lines, "emulated: a time is a number of instructions, each as long as the clock of the emulated board says. It is no measure of a real one. Where that clock counts no instructions, what depends on time is skipped.")
	}
	return lines
}

// ScorecardText writes the card as a table for each implementation.
func ScorecardText(w io.Writer, c *Scorecard, o TextOptions) error {
	var b bytes.Buffer
	for _, f := range c.Files {
		fmt.Fprintln(&b, fileLine(f))
	}
	b.WriteString("\n")
	scorecardText(&b, c, o)
	_, err := w.Write(b.Bytes())
	return err
}

func scorecardText(b *bytes.Buffer, c *Scorecard, o TextOptions) {
	names, scores := c.bySubject()
	for _, name := range names {
		l := scoreLayout(scores[name])
		if o.Color {
			for i, s := range scores[name] {
				color := map[Outcome]text.Color{Pass: text.FgGreen, Miss: text.FgRed, NotMeasured: text.FgYellow, Skip: text.Faint}[s.Outcome]
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
func scorecardMarkdown(b *bytes.Buffer, c *Scorecard) {
	for _, line := range scoreLegend(c) {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	names, scores := c.bySubject()
	for _, name := range names {
		l := scoreLayout(scores[name])
		for i, s := range scores[name] {
			if s.Outcome == Miss {
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
func ScorecardJSON(w io.Writer, c *Scorecard) error {
	doc := scorecardJSON{
		Schema: TargetsSchema, Alpha: c.Alpha, Files: []fileJSON{}, Scores: scoresToJSON(c),
		Required: tallyJSON(c.Tally(true)), Aims: tallyJSON(c.Tally(false)),
	}
	for _, f := range c.Files {
		doc.Files = append(doc.Files, fileToJSON(f))
	}
	return writeJSON(w, doc)
}

func scoresToJSON(c *Scorecard) []scoreJSON {
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
