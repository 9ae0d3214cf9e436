package report

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// A site is static pages about many results files: an index, a page for each run, machine,
// design and workload. They lead to one another by relative links, and need no server.

// A SiteRun is a results file of a site.
type SiteRun struct {
	Path       string // below the folder of the results, with slashes
	Comparison *compare.Comparison
	Extra      Extra
}

// A SitePage is a page of a site, at a path below its folder, with slashes.
type SitePage struct {
	Path string
	Doc  Doc
}

// Site returns the pages about runs. more are pages that are made elsewhere; the index leads
// to these, too.
func Site(runs []SiteRun, more ...SitePage) []SitePage {
	s := newSite(runs)
	groups := s.groups()
	pages := []SitePage{s.index(more, len(groups))}
	if len(groups) > 0 {
		pages = append(pages, s.together(groups))
	}
	for i, p := range more {
		more[i].Doc.Home = home(p.Path)
	}
	for _, run := range s.runs {
		pages = append(pages, s.run(run))
	}
	for _, m := range s.machines {
		pages = append(pages, s.machine(m))
	}
	for _, kind := range []*siteNames{&s.designs, &s.workloads} {
		for _, name := range kind.names {
			pages = append(pages, s.figures(kind, name))
		}
	}
	return append(pages, more...)
}

type site struct {
	runs               []siteRun // the latest first
	machines           []siteMachine
	designs, workloads siteNames
	figuresOf          []siteFigure // the latest of each workload, design and machine
}

type siteRun struct {
	SiteRun
	path, machine, started string
}

type siteMachine struct {
	name, path string
	runs       []siteRun
}

// siteNames are what pages of one kind are of, and where these are.
type siteNames struct {
	noun  string
	names []string
	paths map[string]string
	taken map[string]bool
}

// A siteFigure is how a design did on a workload.
type siteFigure struct {
	workload, design string
	run              siteRun
	row              int
	place            place
}

func newSite(runs []SiteRun) *site {
	s := &site{designs: siteNames{noun: "design"}, workloads: siteNames{noun: "workload"}}
	for _, r := range runs {
		run := siteRun{r, "runs/" + withoutExt(r.Path) + ".html", path.Dir(r.Path), ""}
		if files := r.Comparison.Files; len(files) > 0 {
			run.machine = cmp.Or(setting(files[0], "machine"), setting(files[0], record.BoardKey), run.machine)
			run.started = setting(files[0], "started")
		}
		s.runs = append(s.runs, run)
	}
	slices.SortStableFunc(s.runs, func(a, b siteRun) int {
		return cmp.Or(strings.Compare(b.started, a.started), strings.Compare(a.Path, b.Path))
	})
	taken := make(map[string]bool)
	for _, run := range s.runs {
		i := slices.IndexFunc(s.machines, func(m siteMachine) bool { return m.name == run.machine })
		if i < 0 {
			i = len(s.machines)
			s.machines = append(s.machines, siteMachine{name: run.machine, path: "machines/" + fileName(run.machine, taken) + ".html"})
		}
		s.machines[i].runs = append(s.machines[i].runs, run)
	}
	for _, ratios := range []bool{true, false} {
		for _, run := range s.runs {
			s.take(run, ratios)
		}
	}
	slices.Sort(s.workloads.names)
	s.sortDesigns()
	slices.SortStableFunc(s.figuresOf, func(a, b siteFigure) int {
		return cmp.Or(strings.Compare(a.workload, b.workload), strings.Compare(a.design, b.design))
	})
	return s
}

// take takes the figures of a run that no later one has: those with a ratio to a reference,
// or those without. A ratio to another design is none to go by here, where that may be of
// another run. What names no implementation is of no design, nor are the ways to call a peer.
func (s *site) take(run siteRun, ratios bool) {
	if run.Comparison.Col != "/impl" || len(run.Comparison.Tables) == 0 {
		return
	}
	t := run.Comparison.Tables[0]
	for i, r := range t.Rows {
		if strings.Contains(r.Name, "/peer=") {
			continue
		}
		for _, p := range placesIn(t, r) {
			f := siteFigure{workloadOf(r), p.column().Name, run, i, p}
			if p.column().Ref || f.design == compare.Without(run.Comparison.Col) || !p.isMeasured() || f.hasRatio() != ratios || s.has(f) {
				continue
			}
			s.figuresOf = append(s.figuresOf, f)
			s.designs.add(f.design)
			s.workloads.add(f.workload)
		}
	}
}

// hasRatio reports whether a figure is compared with a reference.
func (f siteFigure) hasRatio() bool { return f.place.isCompared() && f.place.base().column().Ref }

func (s *site) has(f siteFigure) bool {
	return slices.ContainsFunc(s.figuresOf, func(o siteFigure) bool {
		return o.workload == f.workload && o.design == f.design && o.run.machine == f.run.machine
	})
}

// workloadOf is the name of a row, wherever it was measured.
func workloadOf(r compare.Row) string {
	return strings.Replace(strings.TrimSuffix(r.Name, compare.Procs([]string{r.Name})(r.Name)), "/workload=", "/", 1)
}

func (n *siteNames) add(name string) {
	if n.paths == nil {
		n.paths, n.taken = make(map[string]string), make(map[string]bool)
	}
	if n.paths[name] == "" {
		n.names = append(n.names, name)
		n.paths[name] = n.noun + "s/" + fileName(name, n.taken) + ".html"
	}
}

// sortDesigns has the designs before the peers, of each those first that have most figures.
func (s *site) sortDesigns() {
	n := make(map[string]int)
	for _, f := range s.figuresOf {
		n[f.design]++
	}
	slices.SortFunc(s.designs.names, func(a, b string) int {
		switch peer := record.IsPeer(a); {
		case peer == record.IsPeer(b):
			return cmp.Or(n[b]-n[a], strings.Compare(a, b))
		case peer:
			return 1
		}
		return -1
	})
}

// link leads from a page to another one.
func link(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + urlPath(to)
}

// home leads to the index.
func home(from string) []Link { return []Link{{link(from, "index.html"), "All results"}} }

const siteFooter = "Derived by benchrun report --site from the results files, which anyone can recompute it from."

// index leads everywhere.
// plans is how many of them several machines have measured.
func (s *site) index(more []SitePage, plans int) SitePage {
	const here = "index.html"
	blocks := section(Heading{Level: 2, Text: "Machines and boards", ID: "machines"}, s.machineTable(here))
	if plans > 0 {
		blocks = append(blocks, Paragraph{Links: []Link{{link(here, besidePath), "Machines side by side: " + counted(plans, "plan") + " that several have measured"}}})
	}
	for _, kind := range []*siteNames{&s.designs, &s.workloads} {
		if len(kind.names) > 0 {
			title := strings.ToUpper(kind.noun[:1]) + kind.noun[1:] + "s"
			blocks = append(blocks, Heading{Level: 2, Text: title, ID: kind.noun + "s"}, kind.table(s, here))
		}
	}
	if len(more) > 0 {
		links := each(more, func(p SitePage) Link { return Link{link(here, p.Path), p.Doc.Title} })
		blocks = append(blocks, Heading{Level: 2, Text: "Over time", ID: "time"}, Paragraph{Links: links})
	}
	blocks = append(blocks, Heading{Level: 2, Text: "Runs", ID: "runs"}, runTable(here, s.runs, s))
	return SitePage{here, Doc{Title: "Results: " + counted(len(s.runs), "run") + " on " + counted(len(s.machines), "machine"), Blocks: blocks, Footer: siteFooter}}
}

func (s *site) machineTable(here string) Table {
	t := labelled(tabulate(s.machines, []column[siteMachine]{
		{head: "machine", cell: func(m siteMachine) Cell { return Cell{Text: m.name, Link: link(here, m.path)} }},
		{head: "what it is", long: true, text: func(m siteMachine) string { return where(m.runs[0].Comparison.Files) }},
		{head: "runs", right: true, text: func(m siteMachine) string { return formatCount(float64(len(m.runs))) }},
		{head: "latest", text: func(m siteMachine) string { return when(m.runs[0].Comparison.Files) }},
	}), "Machines and boards", "")
	t.Look = Index
	return t
}

// table has a line for each name, with how many figures there are of it.
func (n *siteNames) table(s *site, here string) Table {
	t := labelled(tabulate(n.names, []column[string]{
		{head: n.noun, cell: func(name string) Cell {
			return Cell{Text: markedName(compare.Column{Name: name, Peer: record.IsPeer(name)}), Link: link(here, n.paths[name])}
		}},
		{head: "faster on", right: true, text: func(name string) string { return s.share(n, name, Good) }},
		{head: "slower on", right: true, text: func(name string) string { return s.share(n, name, Bad) }},
		{head: "figures", right: true, text: func(name string) string { return formatCount(float64(len(s.of(n, name)))) }},
	}), "By "+n.noun, "")
	t.Look = Index
	return t
}

// of are the figures of a name.
func (s *site) of(kind *siteNames, name string) (out []siteFigure) {
	for _, f := range s.figuresOf {
		if kind == &s.designs && f.design == name || kind == &s.workloads && f.workload == name {
			out = append(out, f)
		}
	}
	return out
}

// share counts the figures of a name with verdicts of a tone, and those that are compared with
// a reference: "48 of 120"; "" if none is.
func (s *site) share(kind *siteNames, name string, tone Tone) string {
	n, all := 0, 0
	for _, f := range s.of(kind, name) {
		if !f.hasRatio() {
			continue
		}
		all++
		if verdictTone(f.place.cell.Verdict) == tone {
			n++
		}
	}
	if all == 0 {
		return ""
	}
	return formatCount(float64(n)) + " of " + formatCount(float64(all))
}

// runTable lists runs with what came of them.
func runTable(here string, runs []siteRun, s *site) Table {
	t := labelled(tabulate(runs, []column[siteRun]{
		{head: "started", text: func(r siteRun) string { return strings.TrimSuffix(strings.Replace(r.started, "T", " ", 1), "Z") }},
		{head: "what", long: true, cell: func(r siteRun) Cell { return Cell{Text: subject(r.Comparison), Link: link(here, r.path)} }},
		{head: "machine", hide: len(s.machines) < 2, cell: func(r siteRun) Cell {
			i := slices.IndexFunc(s.machines, func(m siteMachine) bool { return m.name == r.machine })
			return Cell{Text: r.machine, Link: link(here, s.machines[i].path)}
		}},
		{head: "what came of it", long: true, text: func(r siteRun) string { return strings.Join(sentences(r.Comparison), ". ") }},
		{head: "file", long: true, text: func(r siteRun) string { return path.Base(r.Path) }},
	}), "Runs", "")
	t.Look = Index
	return t
}

// run is the report of a results file.
func (s *site) run(r siteRun) SitePage {
	r.Extra.Home = home(r.path)
	return SitePage{r.path, Comparison(r.Comparison, Page, r.Extra)}
}

// machine has the latest ratio of each design on each workload, and all runs.
func (s *site) machine(m siteMachine) SitePage {
	blocks := fileLines(m.runs[0].Comparison.Files)
	if t := s.machineHeat(m); len(t.Rows) > 0 {
		blocks = append(blocks, Heading{Level: 2, Text: "Designs on workloads", ID: "ratios"}, t,
			Paragraph{Text: "The latest ratio to a reference that was measured here; a time stands where nothing was compared with one. Filled is what is proven: ▼ less, ▲ more; blue is better, orange worse. = the same, ~ inconclusive, ? unproven.", Tone: Dim})
	}
	blocks = append(blocks, Heading{Level: 2, Text: "Runs", ID: "runs"}, runTable(m.path, m.runs, s))
	return SitePage{m.path, Doc{Title: m.name, Home: home(m.path), Blocks: blocks, Footer: siteFooter}}
}

func (s *site) machineHeat(m siteMachine) Table {
	at := make(map[[2]string]siteFigure)
	var rows, designs []string
	for _, f := range s.figuresOf {
		if f.run.machine != m.name {
			continue
		}
		at[[2]string{f.workload, f.design}] = f
		if !slices.Contains(rows, f.workload) {
			rows = append(rows, f.workload)
		}
		if !slices.Contains(designs, f.design) {
			designs = append(designs, f.design)
		}
	}
	slices.Sort(designs)
	columns := []column[string]{{head: "workload", cell: func(name string) Cell { return Cell{Text: name, Link: link(m.path, s.workloads.paths[name])} }}}
	for _, design := range designs {
		columns = append(columns, column[string]{head: design, right: true, cell: func(name string) Cell {
			f, ok := at[[2]string{name, design}]
			if !ok {
				return Cell{}
			}
			return f.cell(m.path)
		}})
	}
	t := labelled(tabulate(rows, columns), "Ratios on "+m.name, "")
	t.Look = HeatMap
	return t
}

// cell is a figure's ratio, or its value if it has none, which leads to its run.
func (f siteFigure) cell(here string) Cell {
	c := Cell{Text: f.place.center(), Tone: Dim}
	if f.hasRatio() {
		c = heatCell(f.place)
	}
	c.Link = link(here, f.run.path) + "#" + rowID(f.row)
	return c
}

// figures is the page of a design or a workload: the latest figure on each machine.
func (s *site) figures(kind *siteNames, name string) SitePage {
	here := kind.paths[name]
	byDesign := kind == &s.designs
	t := labelled(tabulate(s.of(kind, name), []column[siteFigure]{
		{head: "workload", hide: !byDesign, cell: func(f siteFigure) Cell {
			return Cell{Text: f.workload, Link: link(here, s.workloads.paths[f.workload])}
		}},
		{head: "design", hide: byDesign, cell: func(f siteFigure) Cell { return Cell{Text: f.design, Link: link(here, s.designs.paths[f.design])} }},
		{head: "ratio", right: true, only: siteFigure.hasRatio, cell: func(f siteFigure) Cell { return f.cell(here) }},
		{head: "interval", right: true, only: siteFigure.hasRatio, text: func(f siteFigure) string { return f.place.interval() }},
		{head: "verdict", only: siteFigure.hasRatio, cell: func(f siteFigure) Cell { return verdictCell(f.place) }},
		{head: "against", only: siteFigure.hasRatio, text: func(f siteFigure) string { return f.place.base().column().Name }},
		{head: "value", right: true, text: func(f siteFigure) string { return f.place.center() }},
		{head: "unit", text: func(f siteFigure) string { return f.place.table.Unit }},
		{head: "machine", text: func(f siteFigure) string {
			if slices.ContainsFunc(f.run.Comparison.Files, compare.File.Emulated) {
				return f.run.machine + ", emulated"
			}
			return f.run.machine
		}},
		{head: "run", cell: func(f siteFigure) Cell {
			return Cell{Text: cmp.Or(when(f.run.Comparison.Files), "undated"), Link: link(here, f.run.path) + "#" + rowID(f.row)}
		}},
	}), "Figures of "+name, "")
	t.Look = Index
	return SitePage{here, Doc{Title: name + ", " + kind.noun, Home: home(here), Blocks: []Block{
		Paragraph{Text: s.spread(kind, name)}, t,
	}, Footer: siteFooter}}
}

// spread says how the figures of a name lie.
func (s *site) spread(kind *siteNames, name string) string {
	all := s.of(kind, name)
	least, most := math.Inf(1), math.Inf(-1)
	var places []place
	for _, f := range all {
		if !f.hasRatio() {
			continue
		}
		places = append(places, f.place)
		if r := f.place.cell.Vs.Ratio; !math.IsNaN(r) {
			least, most = min(least, r), max(most, r)
		}
	}
	if len(places) == 0 {
		return "The latest on each machine; none is compared with a reference."
	}
	return "The latest on each machine, against references: " + countOf(places).String() + "; ratios from " + formatRatio(least) + " to " + formatRatio(most) + "."
}
