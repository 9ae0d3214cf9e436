package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// A siteGroup is one plan that several machines have measured: runs of the same job, or of the
// same commits. It has the latest of each machine.
type siteGroup struct {
	title string
	runs  []siteRun
}

// besidePath is the path of the page with what several machines say of the same.
const besidePath = "side-by-side.html"

// groups are the plans that more than one machine has measured, the latest first.
func (s *site) groups() (all []siteGroup) {
	at := make(map[string]int)
	for _, r := range s.runs {
		key := planKey(r)
		if key == "" {
			continue
		}
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key], all = i, append(all, siteGroup{title: planTitle(r.Comparison)})
		}
		if !slices.ContainsFunc(all[i].runs, func(o siteRun) bool { return o.machine == r.machine }) {
			all[i].runs = append(all[i].runs, r)
		}
	}
	all = slices.DeleteFunc(all, func(g siteGroup) bool { return len(g.runs) < 2 })
	for _, g := range all {
		slices.SortFunc(g.runs, func(a, b siteRun) int { return strings.Compare(a.machine, b.machine) })
	}
	return all
}

// planTitle says what was compared; a single benchmark by its name.
func planTitle(c *compare.Comparison) string {
	title := subject(c)
	if rows := c.Tables[0].Rows; len(rows) == 1 {
		title = strings.Replace(title, "1 benchmark", workloadOf(rows[0]), 1)
	}
	return title
}

// planKey is the same for runs that measure the same; "" if that is not known.
func planKey(r siteRun) string {
	if len(r.Comparison.Files) != 1 || len(r.Comparison.Tables) == 0 {
		return ""
	}
	f := r.Comparison.Files[0]
	if job := setting(f, "job"); job != "" {
		return job
	}
	commit := cmp.Or(setting(f, record.SideNew), setting(f, "commit"))
	if commit == "" || setting(f, "dirty") == "true" {
		return ""
	}
	return strings.Join([]string{r.Comparison.Col, setting(f, record.SideOld), commit, setting(f, "plan")}, " ")
}

// together is the page with what several machines say of the same: the verdict of each by itself,
// then how many agree and how far they are apart. Times of different machines are not compared,
// so there are none.
func (s *site) together(groups []siteGroup) SitePage {
	var blocks []Block
	for i, g := range groups {
		blocks = append(blocks, Heading{Level: 2, Text: g.title, ID: "plan-" + strconv.Itoa(i+1)}, g.table())
	}
	return SitePage{besidePath, Doc{Title: "Machines side by side", Home: home(besidePath), Blocks: append([]Block{
		Paragraph{Text: "What several machines say of the same code. Each has its own verdict, of figures that were measured on it; together are the logarithms of the ratios, and I² is how much of their spread is that of machines. Times of different machines are never compared."},
	}, blocks...), Footer: siteFooter}}
}

// table has a line for each comparison, and a column for each machine.
func (g siteGroup) table() Table {
	var names []string
	var each []*compare.Comparison
	for _, r := range g.runs {
		names, each = append(names, r.machine), append(each, r.Comparison)
	}
	columns := []column[compare.Across]{
		{head: "benchmark", text: func(a compare.Across) string { return a.Row }},
		{head: "is", text: func(a compare.Across) string { return a.Col }},
		{head: "unit", text: func(a compare.Across) string { return a.Unit }},
	}
	for _, r := range g.runs {
		columns = append(columns, column[compare.Across]{head: r.machine, right: true, cell: func(a compare.Across) Cell {
			i := slices.IndexFunc(a.Machines, func(on compare.AcrossOn) bool { return on.Machine == r.machine })
			if i < 0 {
				return Cell{}
			}
			on := a.Machines[i]
			return Cell{Text: strings.TrimSpace(formatRatio(on.Ratio) + " " + string(on.Verdict)), Tone: verdictTone(on.Verdict), Link: link(besidePath, r.path)}
		}})
	}
	columns = append(columns, column[compare.Across]{head: "together", long: true, text: func(a compare.Across) string { return a.String() }})
	t := labelled(tabulate(compare.Machines(names, each), columns), "Machines side by side", "")
	t.Look = Index
	return t
}
