package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/quotetest"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/targets"
	"github.com/dynolab/dyno/internal/targets/targetstest"
)

// A quote is what a page says of results files.
type quote struct {
	t *testing.T
	quotetest.Table
}

// TestQuotes holds pages to the results files that they name. For other figures name other
// files in the page and run it with -update.
func TestQuotes(t *testing.T) {
	for _, part := range []struct {
		page, mark string
		make       func(q *quote, files []string)
	}{
		{"README.md", "ab", (*quote).ab},
		{"README.md", "heat map", (*quote).heatMap},
		{"docs/choose.md", "choices", (*quote).choices},
		{"results/memory.md", "memory", (*quote).memory},
		{"results/targets.md", "group aims", func(q *quote, files []string) { q.aims("Group", files) }},
		{"results/targets.md", "task aims", func(q *quote, files []string) { q.aims("Task", files) }},
		{"results/targets.md", "actor aims", func(q *quote, files []string) { q.aims("Actor", files) }},
		{"results/targets.md", "remote aims", func(q *quote, files []string) { q.aims("Remote", files) }},
		{"results/peers.md", "peers", (*quote).peers},
		{"results/dispatchers.md", "figures", (*quote).dispatchers},
		{"results/mailboxes.md", "figures", (*quote).mailboxes},
		{"results/containers.md", "conditions", (*quote).conditions},
		{"results/containers.md", "memory", (*quote).sides},
		{"results/releases.md", "time", (*quote).sides},
		{"results/releases.md", "collector", (*quote).sides},
		{"results/releases.md", "counts", (*quote).sides},
		{"results/releases.md", "modules", (*quote).sides},
		{"results/boards.md", "boards", (*quote).boards},
		{"results/boards.md", "clauses", (*quote).clauses},
		{"README.md", "proof", (*quote).proof},
		{"results/calibration.md", "calibrations", (*quote).calibrations},
		{"results/calibration.md", "unchanged", (*quote).unchanged},
		{"results/calibration.md", "truth", (*quote).truth},
		{"results/calibration.md", "truth sums", (*quote).truthSums},
		{"results/calibration.md", "allocations", (*quote).truth},
		{"results/calibration.md", "allocations of one processor", (*quote).truth},
	} {
		t.Run(path.Base(part.page)+"/"+part.mark, func(t *testing.T) {
			quotetest.Hold(t, part.page, part.mark, func(files []string) string {
				q := &quote{t: t}
				part.make(q, files)
				return q.String()
			})
		})
	}
}

// must ends the test if what is quoted cannot be had.
func must[T any](q *quote, v T, err error) T {
	q.t.Helper()
	if err != nil {
		q.t.Fatal(err)
	}
	return v
}

// below are the paths of files.
func below(files ...string) []string {
	return each(files, func(file string) string { return filepath.Join(quotetest.Root, filepath.FromSlash(file)) })
}

func (q *quote) compare(file string, o compare.Options) *compare.Comparison {
	q.t.Helper()
	c, err := compare.Compare(below(file), o)
	return must(q, c, err)
}

// calibrations are those that were read: several pages quote the same files, and to evaluate
// their trials takes seconds.
var calibrations = map[string]*compare.Calibration{}

// calibration reads files together.
func (q *quote) calibration(paths ...string) *compare.Calibration {
	q.t.Helper()
	key := strings.Join(paths, " ")
	if c := calibrations[key]; c != nil {
		return c
	}
	c, err := calibrate.Read(paths, calibrate.Options{})
	must(q, c, err)
	if len(c.Problems) > 0 {
		q.t.Errorf("%v: %q", paths, c.Problems)
	}
	calibrations[key] = c
	return c
}

// machine says what a file was measured on, and by the settings that keys name.
func machine(f compare.File, keys ...string) string {
	parts := []string{"Machine: " + setting(f, "cpu-model"), setting(f, "cores") + " cores"}
	return strings.Join(append(parts, each(keys, func(key string) string { return setting(f, key) })...), ", ")
}

// tableOf returns the table of a unit; one without rows if there is none.
func tableOf(c *compare.Comparison, unit string) compare.Table {
	i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return t.Unit == unit })
	if i < 0 {
		return compare.Table{}
	}
	return c.Tables[i]
}

// workloadName is a row's name without what all rows have.
func workloadName(r compare.Row) string {
	_, name, _ := strings.Cut(r.Name, "=")
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		name = name[:i]
	}
	return name
}

// ratio is a compared cell of a table of ratios, bold if it is proven that the ratio is not
// 1: for the whole report, that is, and not for this cell alone.
func ratio(cell compare.Cell) string {
	switch {
	case cell.Vs == nil:
		return ""
	case cell.Verdict.Proven():
		return fmt.Sprintf("**%.2f**", cell.Vs.Ratio)
	}
	return fmt.Sprintf("%.2f", cell.Vs.Ratio)
}

func nanoseconds(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.2f µs", v/1000)
	}
	return fmt.Sprintf("%.0f ns", v)
}

// baseFirst returns the columns of a table with the base first, and without the references
// that leave says.
func baseFirst(t compare.Table, base string, leave func(compare.Column) bool) (cols []int) {
	for i, col := range t.Cols {
		switch {
		case col.Name == base:
			cols = slices.Insert(cols, 0, i)
		case !leave(col):
			cols = append(cols, i)
		}
	}
	return cols
}

// names are those of columns.
func names(t compare.Table, cols []int) []string {
	return each(cols, func(i int) string { return t.Cols[i].Name })
}

// ratios adds a row of times: that of the base, which is the first of cols, and the ratios of
// the others to it.
func (q *quote) ratios(name string, r compare.Row, cols []int) {
	q.Row(append([]string{name}, each(cols, func(i int) string {
		if cell := r.Cells[i]; i == cols[0] && cell.N > 0 {
			return nanoseconds(cell.Center)
		}
		return ratio(r.Cells[i])
	})...)...)
}

// aimsOf judges what the implementations of a contract aim at. A miss is shown as one; no
// test fails for it.
func (q *quote) aimsOf(bench string, files []string) []targets.Score {
	all := slices.DeleteFunc(targets.All(), func(t targets.Target) bool { return t.Required || t.Bench != bench })
	card, err := targetstest.EvaluateFiles(all, below(files...), targets.EvaluateOptions{})
	return must(q, card, err).Scores
}

// quoteAim is a score as results/targets.md quotes it: the figure and what it shows.
func quoteAim(s targets.Score) (measured, verdict string) {
	switch t := s.Target; {
	case !s.Measured():
		return "not measured", "open"
	case t.BaseWorkload != "":
		measured = fmt.Sprintf("%.1f", s.Figure)
	case t.Base != "":
		measured = fmt.Sprintf("%.2f (%.2f to %.2f)", s.Figure, s.Lo, s.Hi)
	case math.IsNaN(s.Hi):
		measured = digits3(s.Figure)
	default:
		measured = fmt.Sprintf("%s (%s to %s)", digits3(s.Figure), digits3(s.Lo), digits3(s.Hi))
	}
	switch {
	case s.Outcome == targets.Miss:
		return measured, "**missed**"
	case math.IsNaN(s.Hi):
		return measured, "met, but without an interval"
	case s.Doubtful():
		return measured, "met, the interval reaches beyond"
	}
	return measured, "met"
}

// digits3 is v with three digits, as far as they mean anything.
func digits3(v float64) string {
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v):
		return "–"
	case math.Abs(v) >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// aims are those of a contract, of files of which the first that has the row counts.
func (q *quote) aims(bench string, files []string) {
	for i, file := range files {
		f := q.compare(file, compare.Options{}).Files[0]
		if i == 0 {
			q.Sayf("%s. Files:", machine(f, "kernel", "toolchain"))
		}
		q.Sayf(" [%.8s, %d blocks](../%s)", setting(f, "commit"), f.Blocks, file)
	}
	q.Sayf(".\n\n")
	q.Head("llllrrl", "workload", "implementation", "unit", "base", "aim", "measured (interval)", "")
	for _, a := range q.aimsOf(bench, files) {
		base, limit := a.Target.BaseWorkload, digits3(a.Target.Limit)
		if a.Target.Base != "" {
			base, limit = "`"+a.Target.Base+"`", fmt.Sprintf("%.2f", a.Target.Limit)
		}
		measured, verdict := quoteAim(a)
		q.Row(a.Target.Workload, a.Impl, a.Target.Metric, base, a.Target.Bound.String()+" "+limit, measured, verdict)
	}
}

// dispatchers are times relative to buffered channels, and the bytes of an idle actor.
func (q *quote) dispatchers(files []string) {
	const base = "ref-chan-buffered"
	c := q.compare(files[0], compare.Options{Base: base, Filter: ".name:Actor"})
	f, times := c.Files[0], tableOf(c, "ns/op")
	times.Rows = slices.DeleteFunc(times.Rows, func(r compare.Row) bool { return workloadName(r) == "idlewake" }) // its pace
	q.Sayf("Time per operation relative to `%s`, less is better; **bold** where the difference is proven. An operation is a message;\nwith `ask` it is a request with its reply, with `spawn` an actor with its first message.\n", base)
	q.Sayf("%s; commit %.8s, %d blocks ([raw file](%s)).\n\n", machine(f, "toolchain"), setting(f, "commit"), f.Blocks, strings.TrimPrefix(files[0], "results/"))
	q.relative(times, base)
	latency := tableOf(c, "p50-ns")
	for _, r := range latency.Rows {
		q.ratios(workloadName(r)+", median latency", r, baseFirst(latency, base, isRef))
	}
	bytesEach := tableOf(c, "B/actor")
	for _, r := range bytesEach.Rows {
		q.Row(append([]string{"bytes of an idle actor"}, each(baseFirst(bytesEach, base, isRef), func(i int) string { return fmt.Sprintf("%.0f", r.Cells[i].Center) })...)...)
	}
}

func isRef(col compare.Column) bool { return col.Ref }

// relative adds a table of times relative to those of base.
func (q *quote) relative(times compare.Table, base string) {
	cols := baseFirst(times, base, isRef)
	q.Head("lr", append([]string{"workload"}, names(times, cols)...)...)
	for _, r := range times.Rows {
		q.ratios(workloadName(r), r, cols)
	}
}

// mailboxes are the times for a message, relative to the box word, and bytes.
func (q *quote) mailboxes(files []string) {
	c := q.compare(files[0], compare.Options{Col: "/box", Base: "word"})
	f, head := c.Files[0], false
	q.Sayf("Time per message, of `word` and of the others relative to it; **bold** where the difference is proven. Below it the bytes of a mailbox.\n")
	q.Sayf("%s; commit %.8s, %d blocks ([raw file](%s)).\n\n", machine(f, "toolchain"), setting(f, "commit"), f.Blocks, strings.TrimPrefix(files[0], "results/"))
	for _, tab := range c.Tables {
		isTime := tab.Unit == "ns/op"
		if !isTime && !strings.HasPrefix(tab.Unit, "B/") || tab.Unit == "B/msg" {
			continue
		}
		if !head {
			head = true
			q.Head("lr", append([]string{""}, each(tab.Cols, func(col compare.Column) string { return "`" + col.Name + "`" })...)...)
		}
		for _, r := range tab.Rows {
			name := "`" + tab.Unit + "`"
			if isTime {
				name = workloadName(r)
			}
			q.Row(append([]string{name}, each(r.Cells, func(cell compare.Cell) string {
				switch {
				case !isTime:
					return fmt.Sprintf("%.0f", cell.Center)
				case cell.Vs == nil && cell.N > 0:
					return fmt.Sprintf("%.1f ns", cell.Center)
				}
				return ratio(cell)
			})...)...)
		}
	}
}

// boards says of each file, which is of one board and one commit, what the images need, what
// is promised, and what the workloads take.
func (q *quote) boards(files []string) {
	for _, file := range files {
		d, err := compare.Read(below(file), nil)
		p := must(q, d, err).Places()[0]
		c, err := d.Compare(compare.Options{})
		f := must(q, c, err).Files[0]
		q.Sayf("### %s, commit %.8s\n\n%s", placeName(p), setting(f, "commit"), setting(f, "chip"))
		if clock := clockOf(f); clock != "" {
			q.Sayf(", %s", strings.Replace(clock, ".00 ns", " ns", 1))
		}
		q.Sayf("; %s; [raw file](../%s).\n\n", setting(f, "toolchain"), file)
		q.images(c, f)
		q.promises(p)
		q.workloads(c)
	}
}

// images are how much of the board each image needs.
func (q *quote) images(c *compare.Comparison, f compare.File) {
	flash, rows := tableOf(c, "flash-B"), indexRows(c.Tables...)
	// of says how much of the board's limit is used and left.
	of := func(unit, limit string, r compare.Row, impl string) string {
		cell := rows.cell(tableOf(c, unit), r, impl)
		most, err := strconv.ParseFloat(setting(f, limit), 64)
		switch {
		case cell.N == 0:
			return ""
		case err != nil || most == 0:
			return fmt.Sprintf("%.0f", cell.Center)
		}
		return fmt.Sprintf("%.0f of %.0f (%.0f %% left)", cell.Center, most, 100*(most-cell.Center)/most)
	}
	q.Head("llr", "image", "implementation", "bytes of flash", "bytes of RAM before it allocates", "bytes of heap free at the start")
	for _, r := range flash.Rows {
		parts := strings.NewReplacer("+", " and ", "-", "/").Replace(strings.TrimPrefix(r.Name, "Board/case=image/parts="))
		for i, col := range flash.Cols {
			if r.Cells[i].N > 0 {
				q.Row(parts, col.Name, of("flash-B", "flash", r, col.Name), of("ram-B", "ram", r, col.Name), of("ram-free-B", "", r, col.Name))
			}
		}
	}
	q.Sayf("\n")
}

// promises are which targets the board keeps.
func (q *quote) promises(p compare.Place) {
	card, err := targetstest.EvaluateFiles(slices.DeleteFunc(targets.All(), func(t targets.Target) bool { return !t.Required }), p.Paths, targets.EvaluateOptions{})
	var impls, ids []string
	scores := make(map[[2]string]targets.Score)
	for _, s := range must(q, card, err).Scores {
		impls, ids = once(impls, s.Impl), once(ids, s.Target.ID)
		scores[[2]string{s.Target.ID, s.Impl}] = s
	}
	q.Head("llr", append([]string{"target", "what", "limit"}, impls...)...)
	for _, id := range ids {
		target := scores[[2]string{id, impls[0]}].Target
		q.Row(append([]string{id, target.Says, formatLimit(target)}, each(impls, func(impl string) string {
			switch s := scores[[2]string{id, impl}]; s.Outcome {
			case targets.Pass:
				return formatFigure(target, s.Figure)
			case targets.Miss:
				return "**missed**: " + formatFigure(target, s.Figure)
			case targets.Skip:
				return "skipped"
			}
			return "not measured"
		})...)...)
	}
	q.Sayf("\n")
}

// once appends what is not there yet.
func once[T comparable](all []T, v T) []T {
	if slices.Contains(all, v) {
		return all
	}
	return append(all, v)
}

// workloads are what an operation of each workload takes.
func (q *quote) workloads(c *compare.Comparison) {
	time, allocs := c.Tables[0], tableOf(c, "allocs/op") // time is first
	rows := indexRows(allocs)
	q.Head("lr", append([]string{"an operation of"}, each(time.Cols, func(col compare.Column) string { return col.Name })...)...)
	for _, r := range time.Rows {
		cells := []string{r.Name}
		for i, cell := range r.Cells {
			if cell.N == 0 {
				cells = append(cells, "—")
				continue
			}
			text := sideCell(compare.SideCell{Unit: time.Unit, N: 1, Center: cell.Center, Exact: true}, new(noteList)).Text
			if a := rows.cell(allocs, r, time.Cols[i].Name); a.N > 0 {
				text += ", " + formatValue(a.Center, "allocs/op") + " allocs"
			}
			cells = append(cells, text)
		}
		q.Row(cells...)
	}
	q.Sayf("\n")
}

// outOfMemory is the outcome that the page counts by itself: it says something of the
// board, and nothing of an implementation.
const outOfMemory = "out of memory"

// clauses are how many clauses each implementation keeps on each board, which could not be
// built in, which failed, and why others were skipped. The runs of a board may be in several
// files, each with some implementations and parts of the clauses.
func (q *quote) clauses(files []string) {
	var boards, absent, sources []string
	clauses := make(map[string][]record.BoardClause) // by board
	commits := make(map[[2]string][]string)          // by board and implementation
	for _, file := range files {
		c := q.compare(file, compare.Options{})
		f := c.Files[0]
		if len(c.Problems) > 0 || len(f.Clauses) == 0 {
			q.t.Errorf("%s has %d clauses, and the problems %q", file, len(f.Clauses), c.Problems)
		}
		if dirty := setting(f, "dirty"); dirty != "false" {
			q.t.Errorf("%s is of no commit: dirty is %q", file, dirty)
		}
		board := setting(f, "board")
		boards = once(boards, board)
		clauses[board] = append(clauses[board], f.Clauses...)
		for _, tally := range record.TallyClauses(f.Clauses) {
			of := [2]string{board, tally.Impl}
			commits[of] = once(commits[of], fmt.Sprintf("%.8s", setting(f, "commit")))
		}
		for _, h := range f.Holes {
			if h.Case == "" && !h.Skipped {
				absent = append(absent, fmt.Sprintf("- %s: %s", board, escape(h.Reason)))
			}
		}
		sources = append(sources, fmt.Sprintf("[%s](../%s)", path.Base(path.Dir(file))+"/"+strings.TrimSuffix(path.Base(file), ".bench"), file))
	}
	q.Head("llrrrrrl", "board", "implementation", "passed", "skipped", "out of memory", "failed otherwise", "of", "commit")
	var bad, reasons []string
	skips := make(map[[2]string]int) // by reason and board
	for _, board := range boards {
		for _, tally := range record.TallyClauses(clauses[board]) {
			memory := tally.Failed[outOfMemory]
			q.Row(append(append([]string{"`" + board + "`", tally.Impl},
				each([]int{tally.Passed, tally.Skipped, memory, len(tally.Bad) - memory, tally.All()}, strconv.Itoa)...),
				strings.Join(commits[[2]string{board, tally.Impl}], ", "))...)
			for _, c := range tally.Bad {
				if c.Outcome != outOfMemory {
					bad = append(bad, fmt.Sprintf("- `%s`, %s, `%s`: %s: %s", board, tally.Impl, c.Name, c.Outcome, escape(c.Why)))
				}
			}
			for why, n := range tally.Skips {
				// What an implementation does not promise is one reason, whichever it is.
				if needs, ok := strings.CutSuffix(why, ", which "+tally.Impl+" does not promise"); ok {
					why = needs + ", which not every implementation promises"
				}
				skips[[2]string{why, board}] += n
				reasons = once(reasons, why)
			}
		}
	}
	q.Sayf("\n")
	for _, list := range []struct {
		head  string
		lines []string
	}{{"There is no image of these, and they are in no count:", absent}, {"What failed otherwise:", bad}} {
		if len(list.lines) > 0 {
			q.Sayf("%s\n\n%s\n\n", list.head, strings.Join(list.lines, "\n"))
		}
	}
	q.Head("lr", append([]string{"why clauses are skipped"}, each(boards, func(board string) string { return "`" + board + "`" })...)...)
	slices.Sort(reasons)
	for _, why := range reasons {
		q.Row(append([]string{escape(why)}, each(boards, func(board string) string { return strconv.Itoa(skips[[2]string{why, board}]) })...)...)
	}
	q.Sayf("\nRaw files: %s.\n", strings.Join(sources, ", "))
}

// calibrations have a row for each benchmark and slow-down of each file, and what all files
// show together.
func (q *quote) calibrations(files []string) {
	q.Head("lllrrrrrrrrr", "file", "benchmark", "driven", "blocks × rounds", "A/A", "alarms", "called different", "slower by", "found", "true ratio in interval", "ratio", "measured")
	for i, name := range files {
		c := q.calibration(below(name)...)
		file := fmt.Sprintf("[%d](../%s)", i+1, name)
		for _, w := range c.Benchmarks {
			alike := []string{
				file, strings.NewReplacer("workload=", "", "impl=", "").Replace(w.Name), way(w.Driven), fmt.Sprintf("%d × %d", c.Blocks, c.Rounds),
				fmt.Sprint(w.Alarms.N), fmt.Sprint(w.Alarms.K), fmt.Sprint(w.Wrong.K),
			}
			for _, e := range w.Effects {
				q.Row(append(alike, percent(e.Slow), ofAll(e.Found), ofAll(e.Covered), formatRatio(e.Ratio), duration(e.Seconds))...)
				alike, file = make([]string, len(alike)), "" // told in the row above
			}
		}
	}
	all := q.calibration(below(files...)...)
	sum := func(name string, alarms, wrong, covered compare.Rate) {
		q.Sayf("%s: %d A/A comparisons, of which %s alarm (%s) and %s are called different (%s); the true ratio is in %s of %d intervals (%s).\n",
			name, alarms.N, rate(alarms), rateInterval(alarms), rate(wrong), rateInterval(wrong), rate(covered), covered.N, rateInterval(covered))
	}
	q.Sayf("\n")
	sum("All together", all.Alarms, all.Wrong, all.Covered)
	for _, w := range all.Ways {
		if len(all.Ways) == 1 {
			q.Sayf("All are driven by %s.\n", way(w.Driven))
			break
		}
		sum("By "+way(w.Driven), w.Alarms, w.Wrong, w.Covered)
	}
	machines := slices.Compact(slices.Sorted(slices.Values(each(files, func(name string) string { return path.Base(path.Dir(name)) }))))
	q.Sayf("Machines: %s.\n", strings.Join(machines, ", "))
}

// unchanged are the files of modules in which nothing changed that counts, which a pattern
// names: a row for each package and way of driving, and one for each way.
func (q *quote) unchanged(patterns []string) {
	paths, err := filepath.Glob(below(patterns...)[0])
	if err != nil || len(paths) == 0 {
		q.t.Fatalf("%s: no such files (%v)", patterns, err)
	}
	c := q.calibration(paths...)
	q.Head("llrrrrr", "package", "driven", "comparisons", "p ≤ 0.05", "95% interval", "called different", "95% interval")
	type part struct{ driven, pkg string }
	counts := make(map[part][3]int) // comparisons, alarms, called different
	for _, w := range c.Benchmarks {
		n := counts[part{w.Driven, w.Pkg}]
		counts[part{w.Driven, w.Pkg}] = [3]int{n[0] + w.Alarms.N, n[1] + w.Alarms.K, n[2] + w.Wrong.K}
	}
	byDriven := func(a, b part) int { return cmp.Or(strings.Compare(a.driven, b.driven), strings.Compare(a.pkg, b.pkg)) }
	for _, p := range slices.SortedFunc(maps.Keys(counts), byDriven) {
		n := counts[p]
		q.Row(p.pkg, way(p.driven), strconv.Itoa(n[0]), strconv.Itoa(n[1]), "", strconv.Itoa(n[2]), "")
	}
	sum := func(name string, alarms, wrong compare.Rate) {
		q.Row(name, "", strconv.Itoa(alarms.N), rate(alarms), rateInterval(alarms), rate(wrong), rateInterval(wrong))
	}
	for _, w := range c.Ways {
		sum("all, "+way(w.Driven), w.Alarms, w.Wrong)
	}
	sum("all", c.Alarms, c.Wrong)
	most := 0 // rows of a report
	for _, path := range paths {
		for _, table := range compared(q.t, path).Tables {
			most = max(most, len(table.Rows))
		}
	}
	q.Sayf("\n%d reports of up to %d rows of %d blocks; %s, %s.\n", c.Trials, most, c.Blocks, c.Circumstances["machine"], c.Circumstances["toolchain"])
}

func (q *quote) suite(files []string) *calibrate.Truth {
	q.t.Helper()
	suite, err := calibrate.ReadTruth(below(files...))
	if must(q, suite, err); len(suite.Problems) > 0 {
		q.t.Errorf("%v: %q", files, suite.Problems)
	}
	return suite
}

// truth are the tables of truth suites, one for each machine.
func (q *quote) truth(files []string) {
	var machines []string
	of := make(map[string][]string) // files by machine
	for _, file := range files {
		machine := path.Base(path.Dir(file))
		machines, of[machine] = once(machines, machine), append(of[machine], file)
	}
	if len(machines) == 0 {
		q.Sayf("No suite is kept yet.\n")
	}
	for i, machine := range machines {
		q.Sayf("%s%s:", strings.Repeat("\n", min(i, 1)), machine)
		for _, file := range of[machine] {
			q.Sayf(" [%s](../%s)", strings.TrimSuffix(path.Base(file), ".bench"), file)
		}
		suite := q.suite(of[machine])
		q.Sayf(".\n\n%s\n\n%s\n", tableMarkdown(truthTable(suite)), tableMarkdown(truthSums(suite)))
	}
}

func (q *quote) truthSums(files []string) { q.Sayf("%s\n", tableMarkdown(truthSums(q.suite(files)))) }

// tableMarkdown is a table as documents have it.
func tableMarkdown(t Table) string {
	out, _ := MarkdownOptions{}.block(t) // which fails for figures only
	return out
}
