package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// Versions say what a comparison of two versions is about, beyond its figures.
type Versions struct {
	Old, New string // what the versions are called, such as "v1.2.0 (1a2b3c4d)"

	// Identical are the packages whose test binaries do not differ, so that there
	// was nothing to measure.
	Identical []string

	// Notes say what a reader should know of how the versions were built.
	Notes []string
}

// Comment writes what a comparison of two versions has shown as markdown for a
// pull request: one line if nothing is proven, else a table of what is, with the
// rest folded. What fails in the new version only comes before all else. c is nil if
// nothing was measured, because all packages are identical.
func Comment(w io.Writer, c *compare.Comparison, v Versions) error {
	var b bytes.Buffer
	if c == nil {
		fmt.Fprintf(&b, "Benchmarks: %s and %s build to identical test binaries (%s): nothing to measure.\n",
			escape(v.Old), escape(v.New), packages(v.Identical))
		_, err := w.Write(b.Bytes())
		return err
	}
	f := sortFindings(c)
	broken := faults(c)
	_, resources := split(c)
	differ := provenIn(resources)
	switch {
	case len(broken) > 0:
		fmt.Fprintf(&b, "### %s\n\n", escape(strings.Join(broken, "; ")))
		fmt.Fprintf(&b, "%s against %s: %s.\n\n", escape(v.New), escape(v.Old), headlines(c, f, resources, "nothing else is proven"))
	case len(f.proven)+len(differ)+len(c.Findings) > 0:
		fmt.Fprintf(&b, "### Benchmarks: %s\n\n", headlines(c, f, resources, "nothing proven"))
		fmt.Fprintf(&b, "%s against %s.\n\n", escape(v.New), escape(v.Old))
	default:
		fmt.Fprintf(&b, "Benchmarks: nothing proven between %s and %s: %s.\n", escape(v.Old), escape(v.New), escape(f.summary(c, v)))
		_, err := w.Write(b.Bytes())
		return err
	}
	if first := slices.Concat(f.broken, f.proven); len(first) > 0 {
		fmt.Fprintf(&b, "%s\n\n", findingsTable(c, first, true))
	}
	for _, finding := range c.Findings {
		fmt.Fprintf(&b, "- finding: %s\n", escape(finding))
	}
	if len(c.Findings) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "<details>\n<summary>%s</summary>\n\n", escape(f.summary(c, v)))
	if len(f.others) > 0 {
		fmt.Fprintf(&b, "%s\n\n", findingsTable(c, f.others, false))
	}
	if len(differ) > 0 {
		fmt.Fprintf(&b, "%s:\n\n%s\n\n", resourcesTitle, findingsTable(c, asFindings(differ), false))
	}
	fmt.Fprintf(&b, "The change of a time is that of total time ÷ operations, block by block, with its %s interval. Proven means: at level %v for all %d comparisons together (Holm), and not a change within ±%s.",
		confidence(c), c.Alpha, c.Comparisons, percentage(c.Margin))
	if c.ResourceComparisons > 0 {
		fmt.Fprintf(&b, " Resources explain times. They are a family of their own, with the same level again: %s.", counted(c.ResourceComparisons, "comparison"))
	}
	b.WriteString("\n")
	var more []string
	for _, file := range c.Files {
		more = append(more, fileLine(file))
		for _, h := range file.Holes {
			more = append(more, holeLine(h))
		}
	}
	for _, pkg := range v.Identical {
		more = append(more, pkg+": identical test binaries, not measured")
	}
	more = append(append(more, v.Notes...), c.Warnings...)
	b.WriteString("\n")
	for _, line := range compact(more) {
		fmt.Fprintf(&b, "- %s\n", escape(line))
	}
	b.WriteString("\n</details>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// headlines count what is proven, what else was found, and apart from them resources.
// none stands where nothing is proven of what benchmarks report.
func headlines(c *compare.Comparison, f findings, resources []compare.Table, none string) string {
	parts := []string{cmp.Or(f.headline(), none)}
	if n := len(c.Findings); n > 0 {
		parts = append(parts, counted(n, "finding"))
	}
	if counts := resourceCounts(resources); counts != "" {
		parts = append(parts, "resources: "+counts)
	}
	return strings.Join(parts, "; ")
}

// asFindings are places as the rows of a table.
func asFindings(places []place) (out []finding) {
	for _, at := range places {
		out = append(out, finding{at.table, at.row, at.cell})
	}
	return out
}

// compact drops lines that were there before.
func compact(lines []string) []string {
	var out []string
	for _, line := range lines {
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// holeLine says what is missing of which version.
func holeLine(h record.Hole) string {
	line := strings.TrimPrefix(h.Name(), "Benchmark")
	if h.Side != "" {
		line += " (" + h.Side + ")"
	}
	return line + ": " + h.String()
}

// A finding is a cell of the new version, and where it stands.
type finding struct {
	table compare.Table
	row   compare.Row
	cell  compare.Cell
}

// findings are the cells of a comparison by what they say.
type findings struct {
	broken, proven, others []finding
	benchmarks             int

	// count is how many cells there are of a word, of what is not proven only
	// those of the first unit, which is time where there is any: a benchmark is
	// counted once.
	count map[string]int

	// The smallest effects that inconclusive times could have shown, as ratios.
	detectable []float64
	blind      int // times that so few blocks could prove nothing of
}

// sortFindings sorts the cells that are compared. What got worse comes first.
func sortFindings(c *compare.Comparison) findings {
	f := findings{count: make(map[string]int)}
	names := make(map[string]bool)
	timed := make(map[string]bool) // that have a figure in ns/op
	reported, _ := split(c)
	for i, t := range reported {
		for _, r := range t.Rows {
			names[benchmark(r)] = true
			if t.Unit == "ns/op" {
				timed[benchmark(r)] = true
			}
			if (t.Unit == "MB/s" || t.Unit == "B/s") && timed[benchmark(r)] {
				continue // as package compare leaves it out itself
			}
			failed := failedRow(c, r)
			for j, cell := range r.Cells {
				at := finding{t, r, cell}
				broken := i == 0 && isFault(c, r, t.Cols[j].Name)
				if broken {
					f.broken = append(f.broken, at)
				}
				if j == r.Base && cell.Verdict == compare.Base || cell.Verdict == compare.Absent || cell.Verdict == compare.Skipped {
					continue
				}
				if failed && (cell.N == 0 || cell.Verdict == compare.NoBase) {
					continue // of which nothing else is to be said
				}
				count := func(word string) {
					if i == 0 {
						f.count[word]++
					}
				}
				if cell.Verdict.Proven() {
					f.count[string(cell.Verdict)]++
					if !broken {
						f.proven = append(f.proven, at)
					}
					continue
				}
				switch cell.Verdict {
				case compare.Same:
					count("same")
				case compare.Unproven:
					count("unproven")
				case compare.Missing, compare.NoBase:
					count("missing")
				default:
					count("inconclusive")
					if i == 0 && cell.Vs != nil {
						switch d := cell.Vs.Detectable; {
						case math.IsInf(d, 1):
							f.blind++
						case d > 1:
							f.detectable = append(f.detectable, d)
						}
					}
				}
				if !broken {
					f.others = append(f.others, at)
				}
			}
		}
	}
	f.benchmarks = len(names)
	bad := func(v compare.Verdict) int {
		if v == compare.Slower || v == compare.Worse {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(f.proven, func(a, b finding) int { return bad(a.cell.Verdict) - bad(b.cell.Verdict) })
	return f
}

// headline counts what is proven: "1 slower, 2 faster".
func (f findings) headline() string {
	var parts []string
	for _, v := range []compare.Verdict{compare.Slower, compare.Worse, compare.Higher, compare.Lower, compare.Faster, compare.Better} {
		if n := f.count[string(v)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

// summary says in a line how much was looked at, and how well.
func (f findings) summary(c *compare.Comparison, v Versions) string {
	parts := []string{plural(f.benchmarks, "benchmark")}
	if n := f.count["same"]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d the same within ±%s", n, percentage(c.Margin)))
	}
	if n := f.count["inconclusive"]; n > 0 {
		text := fmt.Sprintf("%d inconclusive", n)
		if len(f.detectable) > 0 {
			least, most := percentage(slices.Min(f.detectable)-1), percentage(slices.Max(f.detectable)-1)
			if least == most {
				text += fmt.Sprintf(" (smallest change of time that would have been found: %s)", least)
			} else {
				text += fmt.Sprintf(" (smallest changes of time that would have been found: %s to %s)", least, most)
			}
		} else if f.blind > 0 {
			text += " (too few blocks to prove anything)"
		}
		parts = append(parts, text)
	}
	for _, word := range []string{"unproven", "missing"} {
		if n := f.count[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	parts = append(parts, otherFailures(c)...)
	added := make(map[string]bool) // with one for each GOMAXPROCS, and one for all
	for _, file := range c.Files {
		for _, h := range file.Holes {
			if h.Gone() && h.Side == record.SideOld {
				added[h.Pkg+" "+h.Case] = true
			}
		}
	}
	if len(added) > 0 {
		parts = append(parts, fmt.Sprintf("%d in the new version only", len(added)))
	}
	if len(v.Identical) > 0 {
		parts = append(parts, plural(len(v.Identical), "package")+" identical")
	}
	if _, resources := split(c); c.ResourceComparisons > 0 && resourceCounts(resources) == "" {
		parts = append(parts, "no resource proven to differ")
	}
	return strings.Join(parts, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// packages names a few packages, or counts them.
func packages(pkgs []string) string {
	if len(pkgs) > 3 {
		return plural(len(pkgs), "package")
	}
	return escape(strings.Join(pkgs, ", "))
}

// percentage writes a fraction as a percentage with two significant digits, or the
// whole number.
func percentage(x float64) string {
	p := 100 * x
	switch abs := math.Abs(p); {
	case abs >= 9.95:
		return fmt.Sprintf("%.0f %%", p)
	case abs >= 0.995 && math.Abs(p-math.Round(p)) >= 0.05:
		return fmt.Sprintf("%.1f %%", p)
	case abs >= 0.995:
		return fmt.Sprintf("%.0f %%", p)
	}
	return fmt.Sprintf("%.2g %%", p)
}

// change writes a ratio as a change: "+3.4 %", "−12 %"; from twice on as "×2.1".
func change(ratio float64) string {
	switch {
	case math.IsNaN(ratio) || math.IsInf(ratio, 0):
		return "–"
	case ratio >= 2:
		return "×" + formatRatio(ratio)
	case ratio == 1:
		return "0 %"
	case ratio > 1:
		return "+" + percentage(ratio-1)
	}
	return "−" + percentage(1-ratio)
}

// findingsTable draws findings as a markdown table; bold marks what is proven.
func findingsTable(c *compare.Comparison, all []finding, proven bool) string {
	l := layout{
		head:  []string{"benchmark", "unit", "old", "new", "change", confidence(c) + " interval", "verdict"},
		right: []bool{false, false, true, true, true, true, false},
	}
	for _, f := range all {
		base := func() string {
			if f.row.Base < 0 || f.row.Cells[f.row.Base].N == 0 {
				return "—"
			}
			return formatValue(f.row.Cells[f.row.Base].Center, f.table.Unit)
		}()
		value, ratio, interval := "—", "", ""
		if f.cell.N > 0 {
			value = formatValue(f.cell.Center, f.table.Unit)
		}
		if vs := f.cell.Vs; vs != nil {
			ratio = change(vs.Ratio)
			if !math.IsNaN(vs.Lo) && !math.IsInf(vs.Hi, 1) && vs.Lo > 0 {
				interval = change(vs.Lo) + " to " + change(vs.Hi)
			}
		}
		verdict := string(f.cell.Verdict)
		switch {
		case f.cell.Failure != "" && f.cell.N == 0:
			verdict = f.cell.Failure
		case f.cell.Failure != "":
			verdict += "; " + f.cell.Failure
		}
		l.rows = append(l.rows, []string{benchmark(f.row), f.table.Unit, base, value, ratio, interval, verdict})
	}
	t := markdownTable(l)
	for _, cells := range l.rows {
		row := make(table.Row, len(cells))
		for i, cell := range cells {
			row[i] = escape(cell)
		}
		if proven {
			row[len(row)-1] = fmt.Sprintf("**%s**", row[len(row)-1])
		}
		t.AppendRow(row)
	}
	return t.RenderMarkdown()
}
