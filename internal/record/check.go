package record

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Damage is what shows that a file has not what its run wrote: lines are lost, doubled, moved,
// or say something else. Of files with sums all damage shows, of older ones what contradicts the
// plan, or other lines.
type Damage struct {
	Problem

	// Of are benchmarks whose rows it touches, with the configuration that says where they
	// stand. Nil is all of the file; it is empty if there are none in those lines.
	Of []*benchfmt.Result
}

// A damageFinder looks at what a file says of itself, while that is read.
type damageFinder struct {
	sums  sums
	begin int // the line with which the part begins
	part  struct {
		units bool // it has Unit lines, which hold for other parts as well
		early bool // it may have what others rest on: it begins before the second block
	}
	suspects []suspect

	written bool // by a benchrun, as lines say that nothing else writes
	plans   int  // lines of plans
	ends    map[int]bool
	block   int // the latest that has begun
	row     struct {
		line int // on which the open one begins; 0 if none is open
		of   string
	}
	clauses []*benchfmt.Result // where clauses of a board stand
}

// A suspect is a range of lines that may not be what was written.
type suspect struct {
	first, last int
	all         bool // it may have touched other lines
	what        string
}

// look takes in the next line, at which config is in force.
func (d *damageFinder) look(l Line, at *config) {
	if l.Number == 1 || l.Text == WrittenBy {
		if d.written = d.written || l.Text == WrittenBy; l.Number > 1 {
			d.suspects = append(d.suspects, suspect{l.Number, l.Number, true, "another results file begins in this one"})
		}
	}
	if strings.Contains(l.Text, "\x00") {
		d.suspects = append(d.suspects, suspect{l.Number, l.Number, true, "it has bytes that no text has, as a loss of power leaves them"})
	}
	if slices.Contains([]string{rowMark, rowEnd, BlockEnd, caseMark, sumMark}, l.Mark) {
		d.written = true
	}
	if l.Mark == sumMark {
		d.sum(l)
		return
	}
	if d.begin == 0 {
		d.begin, d.part.units, d.part.early = l.Number, false, d.block < 2
	}
	d.sums.add(l.Text)
	switch {
	case l.Mark == unitMark:
		d.part.units = true
	case l.Mark == PlanMark:
		d.plans++
	case l.Mark == ClauseMark:
		d.clauses = append(d.clauses, &benchfmt.Result{Config: at.now()})
	case l.Mark == BlockEnd:
		n, _ := strconv.Atoi(l.Rest)
		d.ends[n] = true
	case l.Key == "block":
		d.block, _ = strconv.Atoi(l.Value)
	case l.Mark == rowMark:
		d.beginRow(l)
	case l.Mark == rowEnd:
		d.endRow(l)
	}
}

// beginRow takes in the line before what a row gave.
func (d *damageFinder) beginRow(l Line) {
	if d.row.line > 0 {
		d.suspects = append(d.suspects, suspect{d.row.line, l.Number - 1, false, "a row that does not end"})
	}
	d.row.line, d.row.of = l.Number, l.Rest
}

// endRow takes in the line behind it.
func (d *damageFinder) endRow(l Line) {
	first, what := d.row.line, ""
	switch block := " of block " + strconv.Itoa(d.block); {
	case first == 0:
		first, what = l.Number, "a row that does not begin"
	case d.row.of != l.Rest:
		what = "a row that ends as another one"
	case !strings.HasSuffix(l.Rest, block):
		what = "a row that says another block than the" + block[len(" of"):] + " in which it stands"
	}
	if what != "" {
		d.suspects = append(d.suspects, suspect{first, l.Number, false, what})
	}
	d.row.line = 0
}

// sum takes in the line that ends a part.
func (d *damageFinder) sum(l Line) {
	first := d.begin
	if first == 0 {
		first = l.Number
	}
	if !d.sums.check(l.Text) {
		d.suspects = append(d.suspects, suspect{first, l.Number, d.part.early || d.part.units, "the lines " + strconv.Itoa(first) + " to " + strconv.Itoa(l.Number) + " are not those that were written"})
	}
	d.begin = 0
}

// damage is what shows when all of the file was read.
func (r *fileReader) damage() (all []Damage) {
	d := &r.damageFinder
	if !d.written {
		return nil
	}
	if d.sums.n > 0 && d.begin > 0 {
		d.suspects = append(d.suspects, suspect{d.begin, math.MaxInt, d.part.early, "the end of the file is not what was written"})
	}
	for _, s := range d.suspects {
		found := Damage{Problem: Problem{s.first, s.what}}
		if !s.all {
			found.Of = r.between(s.first, s.last)
		}
		all = append(all, found)
	}
	whole := func(what string) []Damage { return append(all, Damage{Problem: Problem{1, what}}) }
	switch p := r.planned; {
	case d.plans == 0 || p == nil:
		return whole("its plan is missing, or cannot be read")
	case p.Check() != nil:
		return whole("its plan makes no sense: " + p.Check().Error())
	case p.ID() != r.f.Value("plan"):
		return whole("its plan is " + Shortened(r.f.Value("plan")) + " by name and " + p.ID() + " by content")
	}
	return append(all, r.contradictions()...)
}

// between are the results and holes of a range of lines; not nil.
func (r *fileReader) between(first, last int) []*benchfmt.Result {
	of := []*benchfmt.Result{}
	for _, rec := range slices.Concat(r.f.Results, r.f.Holes) {
		if line := rec.Line(); first <= line && line <= last {
			of = append(of, rec.Result)
		}
	}
	return of
}

// A stepIn is a step in a block.
type stepIn struct {
	StepKey
	block int
}

// contradictions hold what was measured against the plan: each step has its own place, and each
// complete block one record of it.
func (r *fileReader) contradictions() (all []Damage) {
	steps := make(map[StepKey]Step)
	for _, s := range r.planned.Steps() {
		steps[s.Key()] = s
	}
	given := make(map[stepIn]int)
	sliced := make(map[StepKey]bool)
	for _, rec := range r.f.Results {
		if at, ok := stepOf(rec.Result); ok && rec.Slices != nil {
			sliced[at.StepKey] = true
		}
	}
	say := func(res *benchfmt.Result, line int, format string, args ...any) {
		all = append(all, Damage{Problem{line, fmt.Sprintf(format, args...)}, []*benchfmt.Result{res}})
	}
	last := 0
	for _, rec := range slices.Concat(r.f.Results, r.f.Holes) {
		if rec.Hole != nil && rec.Hole.Block == "" {
			continue // which is of no block
		}
		at, ok := stepOf(rec.Result)
		s, planned := steps[at.StepKey]
		last = max(last, at.block)
		switch name := ResultMark + string(rec.Result.Name); {
		case !ok || !planned:
			say(rec.Result, rec.Line(), "a result of no benchmark of the plan")
			continue
		case name != s.FullName(), ConfigOf(rec.Result, "pkg") != s.Case.Pkg, ConfigOf(rec.Result, SideKey) != s.Case.Side:
			say(rec.Result, rec.Line(), "a result of %s where the plan has one of %s", place(rec.Result), SubjectID(s.Case.Pkg, s.Case.Side))
			say(s.Place(), rec.Line(), "a result of %s where the plan has one of %s", place(rec.Result), SubjectID(s.Case.Pkg, s.Case.Side))
			continue
		case r.planned.Layouts > 1 && rec.Hole == nil && ConfigOf(rec.Result, "layout") != strconv.Itoa(r.planned.Layout(at.block)):
			say(rec.Result, rec.Line(), "the plan has another layout than %q in block %d", ConfigOf(rec.Result, "layout"), at.block)
		case rec.Hole == nil && rec.Slices == nil && sliced[at.StepKey] && ConfigOf(rec.Result, "driven") != ModeProcess:
			say(rec.Result, rec.Line(), "a result without its slices")
		}
		if rec.Slices != nil && !rec.Slices.agree(rec.Result) {
			say(rec.Result, rec.Line(), "a result that is not that of its slices")
		}
		if given[at]++; given[at] == max(1, r.planned.Count)+1 || given[at] == 2 && rec.Hole != nil {
			say(rec.Result, rec.Line(), "a second value in block %d", at.block)
		}
	}
	for _, res := range r.clauses {
		if at, ok := stepOf(res); ok {
			given[at]++
		}
	}
	return append(all, r.gaps(given, last)...)
}

// gaps are the steps of which a complete block has nothing. last is the latest block that has
// anything, before which all are complete.
func (r *fileReader) gaps(given map[stepIn]int, last int) (all []Damage) {
	for _, g := range r.planned.Groups() {
		for _, s := range g.Steps {
			var lacks []string
			for block := 1; block <= r.planned.Blocks; block++ {
				complete := r.ends[block] || block < last
				stopped, ok := r.stopped[g.Index]
				if due := !ok || block <= stopped; complete && due && given[stepIn{s.Key(), block}] == 0 {
					lacks = append(lacks, strconv.Itoa(block))
				}
			}
			if len(lacks) > 0 {
				all = append(all, Damage{Problem{1, "the value of block " + strings.Join(lacks, ", ") + " is missing, and no reason given"}, []*benchfmt.Result{s.Place()}})
			}
		}
	}
	return all
}

// Place is a result without values that stands where those of s do.
func (s Step) Place() *benchfmt.Result {
	r := &benchfmt.Result{Name: benchfmt.Name(strings.TrimPrefix(s.FullName(), ResultMark))}
	r.SetConfig("pkg", s.Case.Pkg)
	r.SetConfig(SideKey, s.Case.Side)
	return r
}

// place says of which version of which package a result is.
func place(r *benchfmt.Result) string { return SubjectID(ConfigOf(r, "pkg"), ConfigOf(r, SideKey)) }

// stepOf returns the step and the block of a result, as its configuration has them.
func stepOf(r *benchfmt.Result) (at stepIn, ok bool) {
	number := func(key string) int {
		n, err := strconv.Atoi(ConfigOf(r, key))
		if ok = ok && err == nil && n > 0; err != nil {
			n = 0
		}
		return n
	}
	ok = true
	at.Index, at.block = number("case"), number("block")
	at.Copy = 1
	if ConfigOf(r, "copy") != "" {
		at.Copy = number("copy")
	}
	return at, ok
}

// agree reports whether s may be the slices of a result: they have as many operations together,
// and its time is their mean; before 2026-11-22 it was their median.
func (s *Slices) agree(r *benchfmt.Result) bool {
	var each []float64
	sum := 0.0
	for _, ns := range s.Ns {
		if ns != Lost {
			each = append(each, float64(ns)/float64(s.N))
			sum += float64(ns) / float64(s.N)
		}
	}
	sec, ok := r.Value("sec/op")
	if len(each) == 0 || !ok {
		return true
	}
	slices.Sort(each)
	middle := (each[(len(each)-1)/2] + each[len(each)/2]) / 2
	is := func(ns float64) bool { return math.Abs(1e9*sec-ns) <= 1e-4*ns }
	return r.Iters == s.N*len(each) && (is(sum/float64(len(each))) || is(middle))
}
