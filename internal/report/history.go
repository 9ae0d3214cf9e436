package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/history"
)

// historySchema names the form of the history's JSON.
const historySchema = "dyno-history/1"

// mostSteps is how many steps a terminal is told of: more are on the page.
const mostSteps = 4

// History returns what the runs of machines say as a document: on a terminal the steps and
// what could have been seen, in two dozen lines at most; on a page also all series.
func History(h *history.History, form Form) Doc {
	d := Doc{Title: historyTitle(h)}
	steps := h.Steps()
	if form == Screen || form == Terminal {
		d.Blocks = slices.Concat([]Block{listOf(historyRead(h)...)}, stepList(h, steps), []Block{listOf(slices.Concat(couldDetect(h), shortNotes(h))...)})
		return d
	}
	page := historyPage{h: h, ids: make(map[*history.Series]string)}
	for i := range h.Series {
		page.ids[&h.Series[i]] = "s" + strconv.Itoa(i+1)
	}
	d.Blocks = slices.Concat(
		[]Block{listOf(historyRead(h)...), Heading{Level: 2, Text: "What has changed", ID: "steps", Short: "Steps"}},
		page.steps(steps),
		[]Block{Heading{Level: 2, Text: "What could have been seen", ID: "power", Short: "Power"}, listOf(couldDetect(h)...)},
		page.overview(), page.series(), page.absolute(),
		listSection(Heading{Level: 2, Text: "Left out", ID: "left-out"}, listOf(leftOutOf(h)...)),
		listSection(Heading{Level: 2, Text: "Runs that do not say everything", ID: "notes", Short: "Notes"}, listOf(h.Notes...)),
		listSection(Heading{Level: 2, Text: "How to read this", ID: "reading"}, listOf(historyLegend(h)...)),
	)
	return d
}

func historyTitle(h *history.History) string {
	if machines := h.Machines(); len(machines) == 1 {
		return "History of " + machines[0]
	}
	return "History"
}

// historyRead says what was read.
func historyRead(h *history.History) []string {
	first, last := h.Span()
	judged := 0
	for _, s := range h.Series {
		if s.Reference != "" {
			judged++
		}
	}
	machines := h.Machines()
	of := strings.Join(machines, ", ")
	if len(machines) > 2 {
		of = counted(len(machines), "machine")
	}
	lines := []string{fmt.Sprintf("%s read, %s of %s, %s to %s", counted(h.Files, "file"), counted(len(h.Runs), "run"), of, date(first), date(last))}
	return append(lines, fmt.Sprintf("%s with a reference; %d without one are not judged", countedSeries(judged), len(h.Series)-judged))
}

func countedSeries(n int) string { return strconv.Itoa(n) + " series" }

func date(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.DateOnly)
}

// stepList tells of the steps that matter most, each with what to do about it.
func stepList(h *history.History, steps []history.Suspicion) []Block {
	if len(steps) == 0 {
		return []Block{Paragraph{Text: "no step is suspected"}}
	}
	blocks := []Block{Paragraph{Text: stepTally(steps).String()}}
	var lines []string
	for _, s := range steps[:min(mostSteps, len(steps))] {
		lines = append(lines, fmt.Sprintf("%s %s  %s against %s", s.Step.State, formatChange(math.Exp(s.Step.Log)), s.Series.Name, referenceName(s.Series)),
			"  "+whereIs(h, s), "  "+whatToDo(s))
	}
	if more := len(steps) - mostSteps; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s, in --format html", counted(more, "more step")))
	}
	return append(blocks, listOf(lines...))
}

// stepTally counts steps by what is known of them.
func stepTally(steps []history.Suspicion) (t Tally) {
	for _, state := range []history.State{history.Proven, history.Suspected, history.Undecided, history.Refuted} {
		n := 0
		for _, s := range steps {
			if s.Step.State == state {
				n++
			}
		}
		if n > 0 {
			t = append(t, Count{Word: string(state), N: n, Tone: stateTones[state]})
		}
	}
	return t
}

var stateTones = map[history.State]Tone{history.Proven: Bad, history.Suspected: Doubt, history.Undecided: Open, history.Refuted: Dim}

// stepTone is the tone of a step: that of what is proven says whether it is good.
func stepTone(s *history.Step) Tone {
	if s.State == history.Proven && s.Log < 0 {
		return Good
	}
	return stateTones[s.State]
}

// referenceName is a series' reference; a commit is shortened.
func referenceName(s *history.Series) string {
	if isCommit(s.Reference) {
		return shortCommit(s.Reference)
	}
	return s.Reference
}

func isCommit(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

func shortCommit(c string) string {
	if isCommit(c) {
		return c[:8]
	}
	return cmp.Or(c, "no commit")
}

// whereIs says between which commits a step lies.
func whereIs(h *history.History, s history.Suspicion) string {
	run := func(point int) history.Run { return h.Runs[s.Series.Points[point].Run] }
	before, after := run(s.Step.Before), run(s.Step.Hi)
	text := fmt.Sprintf("in %s..%s, measured %s to %s, p = %s", shortCommit(before.Commit), shortCommit(after.Commit), date(before.Started), date(after.Started), formatP(s.Step.Adjusted))
	if s.Step.Ended > 0 {
		last := run(s.Step.Ended)
		text += fmt.Sprintf("; taken back by %s", shortCommit(last.Commit))
	}
	return text
}

// whatToDo says what proves a step, or what did.
func whatToDo(s history.Suspicion) string {
	switch p := s.Step.Proof; {
	case p != nil:
		return fmt.Sprintf("%s in a comparison of both: %s (%s to %s) at level %.3g, %s", p.Verdict, formatRatio(p.Ratio), formatRatio(p.Lo), formatRatio(p.Hi), p.Level, p.Path)
	case s.Step.Unprovable != "":
		return "cannot be proven: " + s.Step.Unprovable
	}
	return "prove it: benchrun history --prove --bench '" + namePattern(s.Series.Name) + "'"
}

// namePattern is a pattern of the benchmark of that name and no longer one.
func namePattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + strings.NewReplacer("(", `\(`, ")", `\)`, "+", `\+`, ".", `\.`).Replace(p) + "$"
	}
	parts[0] = strings.TrimPrefix(parts[0], "^")
	return strings.Join(parts, "/")
}

// couldDetect says how small a step would have been seen.
func couldDetect(h *history.History) (lines []string) {
	p := h.Power()
	if able := p.Pieces - p.Short; able > 0 {
		lines = append(lines, fmt.Sprintf("could detect nine times of ten, in the middle of a piece: steps of %s in half of %s, of %s in the best, of %s in the worst",
			formatStep(p.Median), countedPieces(able), formatStep(p.Least), formatStep(p.Most)))
	}
	if p.Short > 0 {
		lines = append(lines, fmt.Sprintf("could detect nothing in %s of %d: too few points to prove anything among so many (%d and more are needed)", countedPieces(p.Short), p.Pieces, history.LeastPoints(h.Alpha)))
	}
	return lines
}

func countedPieces(n int) string { return counted(n, "piece") }

// shortNotes are the notes for a terminal.
func shortNotes(h *history.History) (lines []string) {
	if apart := leftOutRuns(h); len(apart) > 0 {
		lines = append(lines, fmt.Sprintf("%s took no part, such as %s", counted(len(apart), "run"), apart[0]))
	}
	const most = 1
	lines = append(lines, h.Notes[:min(most, len(h.Notes))]...)
	if more := len(h.Notes) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s, in --format html", counted(more, "more note")))
	}
	return lines
}

func leftOutRuns(h *history.History) (lines []string) {
	for _, r := range h.Runs {
		if r.Apart != "" {
			lines = append(lines, r.Path+": "+r.Apart)
		}
	}
	return lines
}

// leftOutOf lists the files and runs that take no part.
func leftOutOf(h *history.History) []string {
	lines := leftOutRuns(h)
	for _, path := range h.Others {
		lines = append(lines, path+": a calibration or truth suite, whose programs are slowed or changed on purpose, or a file without results")
	}
	return lines
}

func historyLegend(h *history.History) []string {
	return []string{
		"A point is a run: its ratio to the reference that was measured in the same run, so that what the machine does cancels; the bar is a standard error to either side, from the run's blocks. More is slower. Below it, grey: the benchmark's own time, which is never judged.",
		"A series is cut where something changes that its ratio may depend on: the machine, kernel, toolchain, environment, the sources of the workload and its references, or the way of measuring. Each piece is judged by itself.",
		fmt.Sprintf("suspected: by the history alone. The test takes the largest step of each of thousands of orders of the points, so it knows that it looked everywhere, and Holm's correction knows of all pieces of the machine: the chance that any step is suspected in a history without one is %s if points do not depend on one another.", percent(h.Alpha)),
		"proven: a comparison of both sides, measured for it and kept, says so at its own level. refuted: it shows no such step. undecided: it could not tell.",
		"The shaded commits are those among which the step lies with 95 % confidence.",
	}
}

// A historyPage makes the parts of a page.
type historyPage struct {
	h   *history.History
	ids map[*history.Series]string
}

// steps tells of all steps, each in a panel of its own.
func (p historyPage) steps(steps []history.Suspicion) []Block {
	if len(steps) == 0 {
		return []Block{Paragraph{Text: "No step is suspected."}}
	}
	blocks := []Block{stepTally(steps)}
	for _, s := range steps {
		blocks = append(blocks, Panel{Warn: s.Step.State == history.Suspected, Blocks: []Block{
			Paragraph{
				Text: fmt.Sprintf("%s %s:", s.Step.State, formatChange(math.Exp(s.Step.Log))), Tone: stepTone(s.Step),
				Links: []Link{{"#" + p.ids[s.Series], s.Series.Name + " against " + referenceName(s.Series)}},
			},
			listOf(whereIs(p.h, s), whatToDo(s)),
		}})
	}
	return blocks
}

// judged are the series that have a reference, and several points, by machine and package.
func (p historyPage) judged() (all []*history.Series) {
	for i := range p.h.Series {
		if s := &p.h.Series[i]; s.Reference != "" && len(s.Points) > 1 {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b *history.Series) int { return strings.Compare(groupOf(a), groupOf(b)) })
	return all
}

// overview has a line for each series, below what they have in common.
func (p historyPage) overview() []Block {
	all := p.judged()
	table := tabulate(all, []column[*history.Series]{
		{head: "series", cell: func(s *history.Series) Cell { return Cell{Text: s.Name, Link: "#" + p.ids[s]} }},
		{head: "over its runs", bars: true, cell: func(s *history.Series) Cell { return Cell{spark: p.spark(s), Tone: worstTone(s), Link: "#" + p.ids[s]} }},
		{head: "last ratio", right: true, cell: func(s *history.Series) Cell {
			return Cell{Text: formatRatio(math.Exp(s.Points[len(s.Points)-1].Log)), Small: counted(len(s.Points), "point")}
		}},
		{head: "steps", cell: func(s *history.Series) Cell {
			return Cell{Text: cmp.Or(stepWords(s), "–"), Tone: worstTone(s), Small: "could detect " + formatStep(bestDetectable(s))}
		}},
	})
	var rows []Row
	for i, s := range all {
		if title := groupOf(s); i == 0 || title != groupOf(all[i-1]) {
			rows = append(rows, Row{Title: true, Cells: []Cell{{Text: title}}})
		}
		rows = append(rows, table.Rows[i])
	}
	table.Rows, table.Look = rows, Answer
	return section(Heading{Level: 2, Text: "All series", ID: "series", Short: "Series"}, labelled(table, "Series", ""))
}

// groupOf is what a series has in common with others.
func groupOf(s *history.Series) string {
	return joined(", ", s.Machine, s.Pkg, "against "+referenceName(s))
}

// bestDetectable is the smallest step that any piece of a series would have shown.
func bestDetectable(s *history.Series) float64 {
	least := math.Inf(1)
	for _, p := range s.Pieces {
		least = min(least, p.Detectable)
	}
	return least
}

// formatStep writes the logarithm of a ratio as a percentage; nothing could be detected if it
// is infinite.
func formatStep(log float64) string {
	if math.IsInf(log, 1) || math.IsNaN(log) {
		return "nothing"
	}
	return percent(math.Expm1(log))
}

// worstTone is that of the step of a series that needs most attention.
func worstTone(s *history.Series) (tone Tone) {
	rank := []Tone{Bad, Doubt, Good, Open, Dim, ""}
	at := len(rank) - 1
	for _, p := range s.Pieces {
		for i := range p.Steps {
			at = min(at, slices.Index(rank, stepTone(&p.Steps[i])))
		}
	}
	return rank[at]
}

// stepWords counts the steps of a series.
func stepWords(s *history.Series) string {
	var steps []history.Suspicion
	for i := range s.Pieces {
		for k := range s.Pieces[i].Steps {
			steps = append(steps, history.Suspicion{Series: s, Piece: &s.Pieces[i], Step: &s.Pieces[i].Steps[k]})
		}
	}
	return stepTally(steps).String()
}

const (
	sparkHeight  = 30
	seriesHeight = 150
	timesHeight  = 50
)

// A track is where the points of a series stand in a chart.
type track struct {
	h      *history.History
	s      *history.Series
	scale  scale
	height float64
}

// trackOf places the points of a series; ok is false if there is nothing to draw.
func (p historyPage) trackOf(s *history.Series, height float64) (t track, ok bool) {
	var values []float64
	for _, pt := range s.Points {
		if p.h.Runs[pt.Run].Apart == "" {
			values = append(values, math.Exp(pt.Log))
		}
	}
	lo, hi := extremes(values)
	if hi < lo {
		return t, false
	}
	lo, hi = min(lo/1.005, math.Sqrt(lo*hi)/1.02), max(hi*1.005, math.Sqrt(lo*hi)*1.02)
	return track{p.h, s, scale{lo, hi}, height}, true
}

func (t track) x(i float64) string { return along((i + 0.5) / float64(len(t.s.Points))) }

// y is the height of a ratio; what takes no part may lie beyond the scale, and is at its edge.
func (t track) y(ratio float64) string {
	return pixels(3 + (t.height-6)*(1-max(0, min(1, t.scale.at(ratio)))))
}

// lines draws the points of each piece, and the levels of what lies between its steps.
func (t track) lines(m *markup, small bool) {
	for _, p := range t.s.Pieces {
		members := t.h.Members(t.s, p)
		for k, i := range members {
			if k > 0 {
				from := members[k-1]
				m.line("line", t.x(float64(from)), t.y(math.Exp(t.s.Points[from].Log)), t.x(float64(i)), t.y(math.Exp(t.s.Points[i].Log)))
			}
		}
		if len(members) == 1 && small {
			m.dot("dot", t.x(float64(members[0])), t.y(math.Exp(t.s.Points[members[0]].Log)), "2", "")
		}
	}
}

// marks draws cuts, and behind the points the commits among which steps lie, which are named
// where the pointer rests.
func (t track) marks(m *markup) {
	n := float64(len(t.s.Points))
	for _, p := range t.s.Pieces {
		if p.First > 0 && len(p.Cut) > 0 {
			at := along(float64(p.First) / n)
			m.add(`<line class="one" x1="%s" y1="0" x2="%s" y2="100%%">%s</line>`, at, at, titled(strings.Join(p.Cut, "; ")))
		}
		for i := range p.Steps {
			step := &p.Steps[i]
			from, to := float64(step.Before)+0.5, float64(step.Hi)+0.5
			where := whereIs(t.h, history.Suspicion{Series: t.s, Piece: &p, Step: step})
			hint := titled(fmt.Sprintf("%s: %s %s", step.State, formatChange(math.Exp(step.Log)), where))
			m.add(`<g class="%s"><rect class="step" x="%s" width="%s" y="0" height="100%%">%s</rect></g>`, stepTone(step), along(from/n), along((to-from)/n), hint)
		}
	}
}

// spark is a small chart of a series.
func (p historyPage) spark(s *history.Series) (m markup) {
	t, ok := p.trackOf(s, sparkHeight)
	if !ok {
		return nil
	}
	t.marks(&m)
	t.lines(&m, true)
	return m
}

// series has each series with a reference as a chart and a table.
func (p historyPage) series() (blocks []Block) {
	for _, s := range p.judged() {
		c, ok := p.chart(s)
		if !ok {
			continue
		}
		blocks = append(blocks, Heading{Level: 3, Text: joined(" ", s.Name, "against", referenceName(s)), ID: p.ids[s]},
			Paragraph{Text: joined(", ", s.Pkg, s.Machine), Tone: Dim},
			Figure{Name: s.Name, Alt: s.Name + " over its runs", chart: c})
		blocks = append(blocks, p.cuts(s)...)
		blocks = append(blocks, Fold{Summary: "The points", Blocks: []Block{p.points(s)}})
	}
	return section(Heading{Level: 2, Text: "Each series", ID: "each", Short: "Charts"}, blocks...)
}

// chart draws a series, and below it the absolute times.
func (p historyPage) chart(s *history.Series) (c chart, ok bool) {
	t, ok := p.trackOf(s, seriesHeight)
	if !ok {
		return c, false
	}
	var body markup
	for _, tick := range t.scale.ratioTicks(5) {
		y := pixels(3 + (t.height-6)*(1-tick.at))
		body.line("grid", "0", y, "100%", y)
	}
	t.marks(&body)
	t.lines(&body, false)
	for i, pt := range s.Points {
		t.point(&body, i, pt)
	}
	c.title = s.Name
	c.caption = "ratio to " + referenceName(s) + ", run after run; logarithmic, less is faster"
	c.panes = []pane{{ticks: t.scale.ratioTicks(5), height: seriesHeight, body: body, label: seriesLabel(s)}, p.times(s), p.dates(s)}
	return c, true
}

// seriesLabel is a series for those who do not see it.
func seriesLabel(s *history.Series) string {
	words := stepWords(s)
	if words == "" {
		words = "no step"
	}
	return fmt.Sprintf("%s, %s: %s", s.Name, counted(len(s.Points), "point"), words)
}

// point draws a point with its standard error. One that takes no part is hollow.
func (t track) point(m *markup, i int, pt history.Point) {
	run := t.h.Runs[pt.Run]
	class := "dot"
	hint := fmt.Sprintf("%s, %s: %s", date(run.Started), shortCommit(run.Commit), formatRatio(math.Exp(pt.Log)))
	if run.Dirty {
		hint += ", with changes that were not committed"
	}
	if !math.IsNaN(pt.SE) {
		m.line("whisker", t.x(float64(i)), t.y(math.Exp(pt.Log-pt.SE)), t.x(float64(i)), t.y(math.Exp(pt.Log+pt.SE)))
		hint += " ± " + percent(pt.SE)
	}
	if run.Apart != "" {
		class, hint = "hollow", hint+"; takes no part: "+run.Apart
	}
	m.dot(class, t.x(float64(i)), t.y(math.Exp(pt.Log)), "3.5", hint)
}

// times draws the absolute times of a series, which are not judged.
func (p historyPage) times(s *history.Series) pane {
	var values []float64
	for _, pt := range s.Points {
		values = append(values, pt.Value)
	}
	sc, _ := scaleOf(values...)
	var body markup
	for i, v := range values {
		if v > 0 {
			x := along((float64(i) + 0.5) / float64(len(values)))
			body.dot("dot", x, pixels(3+(timesHeight-6)*(1-sc.at(v))), "2", formatValue(v, s.Unit))
		}
	}
	return pane{ticks: []tick{{0.5, s.Unit}}, height: timesHeight, class: Reference, body: body}
}

// dates are those of the first and the last run, and of some between.
func (p historyPage) dates(s *history.Series) pane {
	n := len(s.Points)
	var ticks []tick
	shown := min(n, 4)
	for k := range shown {
		i := k * (n - 1) / max(1, shown-1)
		ticks = append(ticks, tick{(float64(i) + 0.5) / float64(n), date(p.h.Runs[s.Points[i].Run].Started)})
	}
	return axisPane(ticks)
}

// cuts lists why a series is cut.
func (p historyPage) cuts(s *history.Series) (blocks []Block) {
	var lines []string
	for _, piece := range s.Pieces {
		if len(piece.Cut) > 0 {
			run := p.h.Runs[s.Points[piece.First].Run]
			lines = append(lines, fmt.Sprintf("cut before %s, %s: %s", date(run.Started), shortCommit(run.Commit), strings.Join(piece.Cut, "; ")))
		}
	}
	for i, piece := range s.Pieces {
		text := fmt.Sprintf("could detect: %s", formatStep(piece.Detectable))
		if len(s.Pieces) > 1 {
			text = fmt.Sprintf("piece %d, %s, %s", i+1, counted(len(p.h.Members(s, piece)), "point"), text)
		}
		lines = append(lines, text)
	}
	return []Block{List{Items: items(lines...), Tone: Dim}}
}

// points has the points of a series as a table.
func (p historyPage) points(s *history.Series) Table {
	run := func(pt history.Point) history.Run { return p.h.Runs[pt.Run] }
	return labelled(tabulate(s.Points, []column[history.Point]{
		{head: "measured", text: func(pt history.Point) string { return run(pt).Started.UTC().Format("2006-01-02 15:04") }},
		{head: "commit", text: func(pt history.Point) string {
			if run(pt).Dirty {
				return shortCommit(run(pt).Commit) + " and changes"
			}
			return shortCommit(run(pt).Commit)
		}},
		{head: "ratio", right: true, text: func(pt history.Point) string { return formatRatio(math.Exp(pt.Log)) }},
		{head: "standard error", right: true, text: func(pt history.Point) string {
			if math.IsNaN(pt.SE) {
				return ""
			}
			return percent(pt.SE)
		}},
		{head: "blocks", right: true, text: func(pt history.Point) string { return strconv.Itoa(pt.Blocks) }},
		{head: s.Unit + ", not judged", right: true, text: func(pt history.Point) string { return formatValue(pt.Value, s.Unit) }},
		{head: "results", text: func(pt history.Point) string { return joined(": ", run(pt).Path, run(pt).Apart) }},
	}), "Points of "+s.Name, "")
}

// absolute lists the series that are not judged: those without a reference, or of one point.
func (p historyPage) absolute() []Block {
	var all []*history.Series
	for i := range p.h.Series {
		if s := &p.h.Series[i]; s.Reference == "" || len(s.Points) == 1 {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	table := tabulate(all, []column[*history.Series]{
		{head: "benchmark", text: func(s *history.Series) string { return s.Name }},
		{head: "machine", text: func(s *history.Series) string { return s.Machine }},
		{head: "points", right: true, text: func(s *history.Series) string { return strconv.Itoa(len(s.Points)) }},
		{head: "last time", right: true, text: func(s *history.Series) string { return formatValue(s.Points[len(s.Points)-1].Value, s.Unit) }},
	})
	return section(Heading{Level: 2, Text: "Without a reference, or of one run", ID: "absolute", Short: "Not judged"},
		Paragraph{Text: "Times of different runs are not compared: what lies between them may be the machine's."},
		Fold{Summary: countedSeries(len(all)), Blocks: []Block{labelled(table, "Series that are not judged", "")}})
}

// HistoryJSON writes h as one indented JSON object.
func HistoryJSON(w io.Writer, h *history.History) error {
	return WriteJSON(w, object{
		"schema", historySchema, "alpha", h.Alpha, "files", h.Files,
		"runs", each(h.Runs, func(r history.Run) object {
			return object{
				"path", r.Path, "machine", r.Machine, "started", r.Started, "commit,omitempty", r.Commit, "dirty,omitempty", r.Dirty,
				"old_commit,omitempty", r.Old, "anchor_ns,omitempty", r.Anchor, "apart,omitempty", r.Apart,
			}
		}),
		"series", each(h.Series, seriesObject),
		"left_out", list(h.Others), "notes", list(h.Notes),
	})
}

func seriesObject(s history.Series) object {
	return object{
		"machine", s.Machine, "package", s.Pkg, "name", s.Name, "reference,omitempty", s.Reference, "unit", s.Unit,
		"points", each(s.Points, func(p history.Point) object {
			return object{"run", p.Run, "ratio", math.Exp(p.Log), "log_se", p.SE, "blocks", p.Blocks, "value", p.Value}
		}),
		"pieces", each(s.Pieces, func(p history.Piece) object {
			return object{
				"first", p.First, "end", p.End, "cut", list(p.Cut), "noise", p.Noise, "could_detect", math.Expm1(p.Detectable),
				"steps", each(p.Steps, stepObject),
			}
		}),
	}
}

func stepObject(s history.Step) object {
	o := object{
		"at", s.At, "ended,omitempty", s.Ended, "before", s.Before, "lo", s.Lo, "hi", s.Hi, "ratio", math.Exp(s.Log),
		"p", s.P, "p_adjusted", s.Adjusted, "old", s.Old, "new", s.New, "unprovable,omitempty", s.Unprovable, "state", string(s.State),
	}
	if p := s.Proof; p != nil {
		o = append(o, "proof", object{"path", p.Path, "ratio", p.Ratio, "lo", p.Lo, "hi", p.Hi, "verdict", string(p.Verdict), "level", p.Level})
	}
	return o
}
