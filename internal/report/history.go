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

// History returns what the runs of machines say as a document: on a terminal all steps and
// what could have been seen; on a page also charts of what matters.
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
	page.far = page.reach()
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
	judged := historyPage{h: h}.judged()
	machines := h.Machines()
	of := strings.Join(machines, ", ")
	if len(machines) > 2 {
		of = counted(len(machines), "machine")
	}
	lines := []string{fmt.Sprintf("%s read, %s of %s, %s to %s", counted(h.Files, "file"), counted(len(h.Runs), "run"), of, date(first), date(last))}
	says := fmt.Sprintf("%s with a reference; %d without one are not judged", countedSeries(judged), len(h.Series)-judged)
	if judged == 0 && len(h.Series) > 0 {
		says += ": benchrun ab v1.2.0, against the same old version each time, is measured beside one"
	}
	return append(lines, says)
}

func countedSeries(n int) string { return strconv.Itoa(n) + " series" }

func date(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.DateOnly)
}

// stepList tells of all steps, those that need attention first, each with what to do about it. What
// is settled has a line.
func stepList(h *history.History, steps []history.Suspicion) []Block {
	if len(steps) == 0 {
		return []Block{Paragraph{Text: "no step is suspected"}}
	}
	blocks := []Block{Paragraph{Text: stepTally(steps).String()}}
	var lines []string
	for _, s := range steps {
		if isSettled(s.Step) {
			lines = append(lines, settledLine(h, s))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s  %s against %s", s.Step.State, stepSize(s.Step), s.Series.Name, referenceName(s.Series)), "  "+whereIs(h, s), "  "+whatToDo(s))
	}
	return append(blocks, listOf(lines...))
}

// stepSize is by how much a series changed: in one step, or little by little.
func stepSize(s *history.Step) string {
	text := formatChange(math.Exp(s.Log))
	if s.Drift {
		return "drift of " + text
	}
	return text
}

// stepTally counts steps by what is known of them.
func stepTally(steps []history.Suspicion) (t Tally) {
	for _, state := range []history.State{history.Proven, history.Suspected, history.Undecided, history.Explained, history.Refuted} {
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

var stateTones = map[history.State]Tone{history.Proven: Bad, history.Suspected: Doubt, history.Undecided: Open, history.Explained: Dim, history.Refuted: Dim}

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
	if len(s.Step.With) > 0 {
		text += "; with it changed " + strings.Join(kinds(s.Step.With), ", ")
	}
	return text
}

// kinds are what changed, each once: what it was only if it did so once.
func kinds(changes []string) (all []string) {
	times := make(map[string]int)
	for _, c := range changes {
		what, _, _ := strings.Cut(c, ": ")
		times[what]++
	}
	for _, c := range changes {
		what, _, _ := strings.Cut(c, ": ")
		switch times[what] {
		case 0: // named already
		case 1:
			all = append(all, c)
		default:
			all = append(all, fmt.Sprintf("%s (%d times)", what, times[what]))
			times[what] = 0
		}
	}
	return all
}

// whatToDo says what proves a step, or what did.
func whatToDo(s history.Suspicion) string {
	switch p := s.Step.Proof; {
	case s.Series.Counted && s.Step.State == history.Proven:
		return "by the counts of both sides, which nothing but the program changes"
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

// quarter is the change that a project wants to see in a quarter of a year.
const quarter = 0.05

// couldDetect says in a sentence or two how small a step would have been seen.
func couldDetect(h *history.History) (lines []string) {
	p := h.Power(math.Log1p(quarter))
	if able := p.Pieces - p.Short; able > 0 {
		lines = append(lines, fmt.Sprintf("A lasting step of %s in its middle would have been seen, nine times of ten, in %d of %d series of %d runs and more; half of them would have shown one of %s (the best %s, the worst %s).",
			percent(quarter), p.Seen, able, history.LeastPoints(h.Alpha), formatStep(p.Median), formatStep(p.Least), formatStep(p.Most)))
		if p.Seen*2 < able {
			lines = append(lines, "Runs of more blocks show more, and most of all benchrun ab with the same old version each time: both alternate, so points scatter less.")
		}
	}
	if p.Short > 0 {
		lines = append(lines, fmt.Sprintf("%s of %d %s fewer than %d runs on one machine, which can show nothing yet: one run a week is enough in two months.",
			countedSeries(p.Short), p.Pieces, map[bool]string{true: "has", false: "have"}[p.Short == 1], history.LeastPoints(h.Alpha)))
	}
	return lines
}

// shortNotes are the notes for a terminal.
func shortNotes(h *history.History) (lines []string) {
	if apart := leftOutRuns(h); len(apart) > 0 {
		lines = append(lines, fmt.Sprintf("%s of %d took no part, such as %s", counted(len(apart), "run"), len(h.Runs), apart[0]))
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
	if n := len(h.Others); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of calibrations, truth suites and bisections, whose programs are changed on purpose, or without results, such as %s; --format json names them all",
			counted(n, "file"), h.Others[0]))
	}
	return lines
}

func historyLegend(h *history.History) []string {
	return []string{
		"A point is a run: its ratio to the reference that was measured in the same run, so that what the machine does cancels; the bar is a standard error to either side, from the run's blocks. More is slower. Below it, grey: the benchmark's own time, which is never judged.",
		"All charts have one scale: percent from the middle of the series, with the band in which two of three points lie if nothing changes. What lies beyond is drawn at the edge.",
		"A series is cut where the machine is another one; each piece is judged by itself. Where the kernel, toolchain, environment, way of measuring or the benchmark itself changed there is a mark, and a step says what changed with it. explained: the benchmark or its reference did, so that no comparison can tell.",
		"A step is by how much the levels beside it differ, all of them fitted together. A drift is where a line fits better than levels.",
		fmt.Sprintf("suspected: by the history alone. The largest step is held against that of a thousand random orders of the points, at %s, and by Student's test, corrected for all places and by Holm for all series of the machine. So steps are suspected seldom where there are none, if points do not depend on one another; a comparison costs a minute, and proves nothing that is not there.", percent(h.Alpha)),
		"proven: a comparison of both sides, measured for it and kept, says so at its own level. refuted: it shows no such step. undecided: it could not tell.",
		"The shaded commits are those among which the step lies with 95 % confidence.",
	}
}

// A historyPage makes the parts of a page.
type historyPage struct {
	h   *history.History
	ids map[*history.Series]string
	far float64 // reach of all charts
}

// steps tells of all steps, each in a panel of its own.
func (p historyPage) steps(steps []history.Suspicion) []Block {
	if len(steps) == 0 {
		return []Block{Paragraph{Text: "No step is suspected."}}
	}
	blocks := []Block{stepTally(steps)}
	var settled []string
	for _, s := range steps {
		if isSettled(s.Step) {
			settled = append(settled, settledLine(p.h, s))
			continue
		}
		blocks = append(blocks, Panel{Warn: s.Step.State == history.Suspected, Blocks: []Block{
			Paragraph{
				Text: fmt.Sprintf("%s %s:", s.Step.State, stepSize(s.Step)), Tone: stepTone(s.Step),
				Links: []Link{{"#" + p.ids[s.Series], s.Series.Name + " against " + referenceName(s.Series)}},
			},
			listOf(whereIs(p.h, s), whatToDo(s)),
		}})
	}
	if len(settled) > 0 {
		blocks = append(blocks, Fold{Summary: "Explained or refuted: " + strconv.Itoa(len(settled)), Blocks: []Block{listOf(settled...)}})
	}
	return blocks
}

// isSettled reports whether there is nothing to do about a step.
func isSettled(s *history.Step) bool {
	return s.State == history.Explained || s.State == history.Refuted
}

// settledLine is all that is said of one.
func settledLine(h *history.History, s history.Suspicion) string {
	return fmt.Sprintf("%s %s  %s against %s, %s", s.Step.State, stepSize(s.Step), s.Series.Name, referenceName(s.Series), whereIs(h, s))
}

// mostCharts is how many series are drawn of which nothing is suspected.
const mostCharts = 12

// drawn are the series that are drawn: those that changed, and of the others those that would
// have shown the smallest steps; by machine and package.
func (p historyPage) drawn() (all []*history.Series) {
	var still []*history.Series
	for i := range p.h.Series {
		s := &p.h.Series[i]
		switch {
		case stepWords(s) != "":
			all = append(all, s)
		case !math.IsInf(bestDetectable(s), 1):
			still = append(still, s)
		}
	}
	slices.SortStableFunc(still, func(a, b *history.Series) int { return cmp.Compare(bestDetectable(a), bestDetectable(b)) })
	all = append(all, still[:min(mostCharts, len(still))]...)
	slices.SortStableFunc(all, func(a, b *history.Series) int { return strings.Compare(groupOf(a), groupOf(b)) })
	return all
}

// overview has a line for each series, below what they have in common.
func (p historyPage) overview() []Block {
	all := p.drawn()
	head := Heading{Level: 2, Text: "Series", ID: "series"}
	if len(all) == 0 {
		return section(head, Paragraph{Text: "No series has runs enough to show a step."})
	}
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
	text := fmt.Sprintf("%s of %d with a reference: those that changed, and those that would have shown the smallest steps. benchrun history --format json has all.", countedSeries(len(all)), p.judged())
	return section(head, Paragraph{Text: text}, labelled(table, "Series", ""))
}

// judged counts the series that have a reference.
func (p historyPage) judged() (n int) {
	for _, s := range p.h.Series {
		if s.Reference != "" {
			n++
		}
	}
	return n
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
	middle float64 // of its points, a logarithm
	scale  scale   // of ratios to that
	height float64
}

// reach is how far the charts go to either side of the middle of a series, as a logarithm: all
// have the same, which holds the points of nine series of ten.
func (p historyPage) reach() float64 {
	var far []float64
	for _, s := range p.drawn() {
		if t, ok := p.trackOf(s, 0, 1); ok {
			most := 0.0
			for _, pt := range t.members() {
				most = max(most, math.Abs(pt.Log-t.middle))
			}
			far = append(far, most)
		}
	}
	if len(far) == 0 {
		return math.Log1p(quarter)
	}
	slices.Sort(far)
	return max(math.Log1p(quarter), far[(len(far)-1)*9/10]*1.05)
}

// members are the points that take part.
func (t track) members() (all []history.Point) {
	for _, pt := range t.s.Points {
		if t.h.Runs[pt.Run].Apart == "" && !math.IsNaN(pt.Log) && !math.IsInf(pt.Log, 0) {
			all = append(all, pt)
		}
	}
	return all
}

// trackOf places the points of a series; ok is false if there is nothing to draw.
func (p historyPage) trackOf(s *history.Series, height, reach float64) (t track, ok bool) {
	t = track{p.h, s, 0, scale{math.Exp(-reach), math.Exp(reach)}, height}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, pt := range t.members() {
		lo, hi = min(lo, pt.Log), max(hi, pt.Log)
	}
	t.middle = (lo + hi) / 2
	return t, hi >= lo
}

func (t track) x(i float64) string { return along((i + 0.5) / float64(len(t.s.Points))) }

// y is the height of the logarithm of a ratio; what lies beyond the scale is at its edge.
func (t track) y(log float64) string { return pixels(t.yAt(log)) }

func (t track) yAt(log float64) float64 {
	return 3 + (t.height-6)*(1-max(0, min(1, t.scale.at(math.Exp(log-t.middle)))))
}

// bands draws of each level in which band two of three points lie if nothing changes.
func (t track) bands(m *markup) {
	n := float64(len(t.s.Points))
	for _, p := range t.s.Pieces {
		ends := []int{p.First}
		for _, s := range p.Steps {
			if ends = append(ends, s.At); s.Ended > 0 {
				ends = append(ends, s.Ended)
			}
		}
		ends = append(ends, p.End)
		for k, first := range ends[:len(ends)-1] {
			var logs []float64
			for i := first; i < ends[k+1]; i++ {
				if pt := t.s.Points[i]; t.h.Runs[pt.Run].Apart == "" {
					logs = append(logs, pt.Log)
				}
			}
			if len(logs) < 2 || math.IsNaN(p.Noise) || slices.ContainsFunc(p.Steps, func(s history.Step) bool { return s.Drift }) {
				continue
			}
			slices.Sort(logs)
			level := logs[len(logs)/2]
			top, bottom := t.yAt(level+p.Noise), t.yAt(level-p.Noise)
			m.add(`<rect class="band" x="%s" width="%s" y="%s" height="%s"/>`, along(float64(first)/n), along(float64(ends[k+1]-first)/n), pixels(top), pixels(max(1, bottom-top)))
		}
	}
}

// lines draws the points of each piece, and the levels of what lies between its steps.
func (t track) lines(m *markup, small bool) {
	for _, p := range t.s.Pieces {
		members := t.h.Members(t.s, p)
		for k, i := range members {
			if k > 0 {
				from := members[k-1]
				m.line("line", t.x(float64(from)), t.y(t.s.Points[from].Log), t.x(float64(i)), t.y(t.s.Points[i].Log))
			}
		}
		if len(members) == 1 && small {
			m.dot("dot", t.x(float64(members[0])), t.y(t.s.Points[members[0]].Log), "2", "")
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
		for _, mark := range p.Marks {
			at := along(float64(mark.At) / n)
			m.add(`<line class="mark" x1="%s" y1="85%%" x2="%s" y2="100%%">%s</line>`, at, at, titled(strings.Join(mark.What, "; ")))
		}
		for i := range p.Steps {
			step := &p.Steps[i]
			from, to := float64(step.Before)+0.5, float64(step.Hi)+0.5
			where := whereIs(t.h, history.Suspicion{Series: t.s, Piece: &p, Step: step})
			hint := titled(fmt.Sprintf("%s: %s %s", step.State, stepSize(step), where))
			m.add(`<g class="%s"><rect class="step" x="%s" width="%s" y="0" height="100%%">%s</rect></g>`, stepTone(step), along(from/n), along((to-from)/n), hint)
		}
	}
}

// spark is a small chart of a series.
func (p historyPage) spark(s *history.Series) (m markup) {
	t, ok := p.trackOf(s, sparkHeight, p.far)
	if !ok {
		return nil
	}
	t.marks(&m)
	t.lines(&m, true)
	return m
}

// series has each series with a reference as a chart and a table.
func (p historyPage) series() (blocks []Block) {
	for _, s := range p.drawn() {
		c, ok := p.chart(s)
		if !ok {
			continue
		}
		blocks = append(blocks, Heading{Level: 3, Text: joined(" ", s.Name, "against", referenceName(s)), ID: p.ids[s]},
			Paragraph{Text: joined(", ", s.Pkg, s.Machine), Tone: Dim},
			Figure{Name: s.Name, Alt: s.Name + " over its runs", chart: c})
		blocks = append(blocks, p.cuts(s)...)
	}
	return section(Heading{Level: 2, Text: "Each series", ID: "each", Short: "Charts"}, blocks...)
}

// chart draws a series, and below it the absolute times.
func (p historyPage) chart(s *history.Series) (c chart, ok bool) {
	t, ok := p.trackOf(s, seriesHeight, p.far)
	if !ok {
		return c, false
	}
	var body markup
	for _, tick := range t.scale.changeTicks(5) {
		y := pixels(3 + (t.height-6)*(1-tick.at))
		body.line("grid", "0", y, "100%", y)
	}
	t.bands(&body)
	t.marks(&body)
	t.lines(&body, false)
	for i, pt := range s.Points {
		t.point(&body, i, pt)
	}
	c.title = s.Name
	c.caption = "ratio to " + referenceName(s) + ", run after run, from its middle of " + formatRatio(math.Exp(t.middle)) + "; less is faster"
	c.panes = []pane{{ticks: t.scale.changeTicks(5), height: seriesHeight, body: body, label: seriesLabel(s)}, p.times(s), p.dates(s)}
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
		m.line("whisker", t.x(float64(i)), t.y(pt.Log-pt.SE), t.x(float64(i)), t.y(pt.Log+pt.SE))
		hint += " ± " + percent(pt.SE)
	}
	if run.Apart != "" {
		class, hint = "hollow", hint+"; takes no part: "+run.Apart
	}
	m.dot(class, t.x(float64(i)), t.y(pt.Log), "3.5", hint)
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

// absolute counts the series that are not judged.
func (p historyPage) absolute() []Block {
	n := len(p.h.Series) - p.judged()
	if n == 0 {
		return nil
	}
	return section(Heading{Level: 2, Text: "Without a reference", ID: "absolute", Short: "Not judged"},
		Paragraph{Text: fmt.Sprintf("%s without a reference, such as %s, not judged: what lies between times of different runs may be the machine's. benchrun history --format json has them.", countedSeries(n), p.firstAbsolute())})
}

// firstAbsolute is the name of a series without a reference.
func (p historyPage) firstAbsolute() string {
	return p.h.Series[slices.IndexFunc(p.h.Series, func(s history.Series) bool { return s.Reference == "" })].Name
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
				"marks,omitempty", each(p.Marks, func(m history.Mark) object { return object{"at", m.At, "what", list(m.What)} }),
				"steps", each(p.Steps, stepObject),
			}
		}),
	}
}

func stepObject(s history.Step) object {
	o := object{
		"at", s.At, "ended,omitempty", s.Ended, "before", s.Before, "lo", s.Lo, "hi", s.Hi, "ratio", math.Exp(s.Log),
		"p", s.P, "p_adjusted", s.Adjusted, "old", s.Old, "new", s.New, "drift,omitempty", s.Drift, "with,omitempty", s.With, "unprovable,omitempty", s.Unprovable, "state", string(s.State),
	}
	if p := s.Proof; p != nil {
		o = append(o, "proof", object{"path", p.Path, "ratio", p.Ratio, "lo", p.Lo, "hi", p.Hi, "verdict", string(p.Verdict), "level", p.Level})
	}
	return o
}
