package targets

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// A Scorecard says which targets results keep.
type Scorecard struct {
	Alpha  float64 // intervals have confidence 1-Alpha
	Files  []compare.File
	Scores []Score // in the order of the targets, and of the columns for each

	// Problems are malformed input lines, each "file:line: what". They were
	// left out, the rest was read.
	Problems []string
}

// A Score is one target evaluated for one implementation.
type Score struct {
	Target Target

	// Impl is the implementation; empty if the target is promised of every one
	// and the results have none.
	Impl string

	// Board is the board that it was evaluated on, empty for a host, and Emulated
	// whether that was emulated. Its times are then emulated ones: instructions, each
	// as long as the results' clock says.
	Board    string
	Emulated bool

	Outcome Outcome

	// Why says why there is no figure, or why it is a doubtful one.
	Why string

	// Figure is what is evaluated; the other fields are of no use if there is
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
	return s.Measured() && s.Target.Met(s.Lo) != s.Target.Met(s.Hi)
}

// EvaluateOptions say how results are evaluated. The zero value is the default.
type EvaluateOptions struct {
	Filter string  // as in [compare.Options]
	Alpha  float64 // as in [compare.Options]
}

// Evaluate holds results against the targets that apply to what they are of: hosts, and
// each board by itself. Of several files of the same that have a figure the first
// counts: figures of different runs are not pooled. The error is that of
// [compare.Data.Compare].
func Evaluate(all []Target, d *compare.Data, o EvaluateOptions) (*Scorecard, error) {
	o.Alpha = cmp.Or(o.Alpha, compare.DefaultAlpha)
	card := &Scorecard{Alpha: o.Alpha}
	var subjects []*subject
	for _, one := range d.Each() {
		f := &file{data: one, options: compare.Options{Col: "/impl", Filter: o.Filter, Alpha: o.Alpha}}
		var err error
		if f.c, err = one.Compare(f.options); err != nil {
			return nil, err
		}
		card.Files = append(card.Files, f.c.Files...)
		card.Problems = append(card.Problems, f.c.Problems...)
		of := f.of()
		i := slices.IndexFunc(subjects, func(s *subject) bool { return s.board == of.Board() && s.emulated == of.Emulated() })
		if i < 0 {
			i, subjects = len(subjects), append(subjects, &subject{board: of.Board(), emulated: of.Emulated()})
		}
		subjects[i].files = append(subjects[i].files, f)
	}
	for _, s := range subjects {
		for _, t := range all {
			if t.Where&s.place() == 0 {
				continue
			}
			card.Scores = append(card.Scores, s.evaluate(t)...)
		}
	}
	return card, nil
}

// A subject is what targets are evaluated of: the hosts, or one board.
type subject struct {
	board    string
	emulated bool
	files    []*file
}

func (s *subject) place() Place {
	if s.board != "" {
		return Board
	}
	return Host
}

// evaluate evaluates one target for each implementation that it is promised of.
func (s *subject) evaluate(t Target) []Score {
	impls := t.Impls
	if impls == nil {
		impls = implementations(s.files, t)
	}
	var scores []Score
	for _, impl := range impls {
		scores = append(scores, evaluateOne(t, impl, s.files))
	}
	if len(impls) == 0 {
		scores = []Score{{Target: t, Outcome: NotMeasured, Why: "no results of any implementation"}}
	}
	for i := range scores {
		scores[i].Board, scores[i].Emulated = s.board, s.emulated
	}
	return scores
}

// A file is one results file, and what it says of each implementation.
type file struct {
	data    *compare.Data
	options compare.Options
	c       *compare.Comparison
}

func (f *file) of() compare.File { return f.c.Files[0] }

// implementations are the columns that are neither references nor peers and have a value, or a
// hole, in some benchmark of the target's contract.
func implementations(files []*file, target Target) []string {
	prefix := Row(target.Bench, "")
	var names []string
	for _, f := range files {
		for _, t := range f.c.Tables {
			for _, r := range t.Rows {
				if !strings.HasPrefix(r.Name, prefix) {
					continue
				}
				for i, c := range t.Cols {
					if !c.Ref && !c.Peer && r.Cells[i].Verdict != compare.Absent && !slices.Contains(names, c.Name) {
						names = append(names, c.Name)
					}
				}
			}
		}
	}
	return names
}

// evaluateOne evaluates one target for one implementation by the first file that has the
// figure: the figure is measured, and then evaluated.
func evaluateOne(t Target, impl string, files []*file) Score {
	none := Score{Target: t, Impl: impl, Outcome: NotMeasured, Why: noRow(t.Row())}
	for _, f := range files {
		s := Score{Target: t, Impl: impl, Outcome: NotMeasured, Lo: math.NaN(), Hi: math.NaN(), Min: math.NaN(), Max: math.NaN()}
		if cell := f.measure(&s); cell != nil {
			s.evaluate(cell)
			return s
		}
		// A reason that a file gives is better than that it has no such row.
		if none.Why == noRow(t.Row()) || s.Outcome == Skip {
			none.Outcome, none.Why = s.Outcome, s.Why
		}
	}
	return none
}

// measure fills in the figure of s, and returns the cell that it is of; without one, s says
// why.
func (f *file) measure(s *Score) *compare.Cell {
	cell, figure := f.find(s)
	if cell == nil {
		return nil
	}
	s.File, s.N = f.of().Label, cell.N
	switch t := s.Target; {
	case t.Base != "":
		return f.toReference(s)
	case t.BaseWorkload != "":
		if !s.toWorkload(f.c, cell) {
			return nil
		}
	default:
		s.absolute(cell, figure)
	}
	return cell
}

// evaluate gives s, which has the figure of cell, its outcome, and says what is to be doubted.
func (s *Score) evaluate(cell *compare.Cell) {
	t := s.Target
	if t.Statistic == Median && t.BaseWorkload == "" && (math.IsInf(cell.Hi, 0) || math.IsInf(s.Hi, 0) || math.IsNaN(s.Hi)) {
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
		s.Why = strings.TrimPrefix(s.Why+"; a result is missing", "; ")
	}
}

// find returns the measured cell of a score, and what makes the figure that is evaluated
// of its values. Without a cell, s says why.
func (f *file) find(s *Score) (cell *compare.Cell, figure func(float64) float64) {
	c, t, of := f.c, s.Target, f.of()
	unit, isTime := OnInstructions(t.Metric)
	if (isTime || t.Timed) && of.Emulated() && of.Value(record.ClockUnitKey) != record.InstructionClock {
		s.Outcome, s.Why = Skip, "the time is what the emulator takes on its host, and says nothing of the board"
		return nil, nil
	}
	if cell = figureOf(c, t.Row(), t.Metric, s.Impl); cell != nil {
		return cell, t.Figure
	}
	if of.Emulated() {
		if cell = figureOf(c, t.Row(), unit, s.Impl); cell != nil {
			hz, err := strconv.ParseFloat(of.Value(record.ClockHzKey), 64)
			if err != nil || !(hz > 0) {
				s.Why = "the results do not say how long an instruction takes (" + record.ClockHzKey + ")"
				return nil, nil
			}
			return cell, func(insns float64) float64 { return t.Figure(insns * 1e9 / hz) }
		}
	}
	s.Outcome, s.Why = absence(c, t.Row(), t.Metric, s.Impl)
	return nil, nil
}

// toReference makes the figure that is a ratio to the target's base, and returns its cell; nil if
// there is nothing to compare to.
func (f *file) toReference(s *Score) (cell *compare.Cell) {
	t, o := s.Target, f.options
	o.Base, o.Unit = t.Base, t.Metric
	if to, err := f.data.Compare(o); err == nil { // else there is no such column
		cell = figureOf(to, t.Row(), t.Metric, s.Impl)
	}
	if cell == nil || cell.Vs == nil || math.IsNaN(cell.Vs.Ratio) {
		s.Why = "no results of " + t.Base + " to compare to"
		return nil
	}
	vs := cell.Vs
	s.Figure, s.Lo, s.Hi = vs.Ratio, vs.Lo, vs.Hi
	if vs.Paired {
		s.N = vs.N
	}
	return cell
}

// toWorkload makes the figure that is a ratio to another workload's.
func (s *Score) toWorkload(c *compare.Comparison, cell *compare.Cell) bool {
	row := Row(s.Target.Bench, s.Target.BaseWorkload)
	from := figureOf(c, row, s.Target.Metric, s.Impl)
	if from == nil {
		_, why := absence(c, row, s.Target.Metric, s.Impl)
		s.Why = "nothing to compare to: " + why
		return false
	}
	s.Figure = cell.Center / from.Center
	s.Why = "of two medians, without an interval"
	return true
}

// absolute makes the figure that is none of a ratio.
func (s *Score) absolute(cell *compare.Cell, figure func(float64) float64) {
	s.Figure, s.Lo, s.Hi = figure(cell.Center), figure(cell.Lo), figure(cell.Hi)
	s.Min, s.Max = figure(cell.Min), figure(cell.Max)
	if s.Min > s.Max { // the derived figure falls where the measured one rises
		s.Lo, s.Hi, s.Min, s.Max = s.Hi, s.Lo, s.Max, s.Min
	}
	if s.Target.Statistic == Worst {
		s.Figure, s.Lo, s.Hi = s.Max, math.NaN(), math.NaN()
		if s.Target.Bound == AtLeast {
			s.Figure = s.Min
		}
	}
}

// figureOf returns the cell of a benchmark, unit and column, nil if it has no
// value. Of several GOMAXPROCS the largest counts.
func figureOf(c *compare.Comparison, row, unit, col string) (found *compare.Cell) {
	most := 0
	for _, t := range c.Tables {
		at := slices.IndexFunc(t.Cols, func(c compare.Column) bool { return c.Name == col })
		if t.Unit != unit || at < 0 {
			continue
		}
		for _, r := range t.Rows {
			if name, procs := compare.WithoutProcs(r.Name); name == row && r.Cells[at].N > 0 && procs > most {
				found, most = &r.Cells[at], procs
			}
		}
	}
	return found
}

// absence says why there is no figure.
func absence(c *compare.Comparison, row, unit, impl string) (Outcome, string) {
	_, what, _ := strings.Cut(row, "/")
	full := "Benchmark" + row + "/impl=" + impl
	for _, h := range c.Files[0].Holes {
		if name, _ := compare.WithoutProcs(h.Case); h.Case != full && name != full {
			continue
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
	return NotMeasured, noRow(row)
}

// noRow is why there is no figure where nothing is known of it.
func noRow(row string) string {
	_, what, _ := strings.Cut(row, "/")
	return "no results of " + what
}

// Doubt adds what there is to say against all figures of a file.
func (c *Scorecard) Doubt(file, why string) {
	for i := range c.Scores {
		if s := &c.Scores[i]; s.Measured() && s.File == file {
			s.Why = strings.TrimPrefix(s.Why+"; "+why, "; ")
		}
	}
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

// BySubject groups scores by implementation and board, in order of appearance.
func (c *Scorecard) BySubject() (names []string, scores map[string][]Score) {
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
