package record

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// implKey is the key whose values are compared if a plan says nothing else.
const implKey = "/impl"

// RefPrefix begins the name of a column that is a reference: code written by
// hand for a workload, against which implementations are measured.
const RefPrefix = "ref-"

// PeerPrefix begins the name of a column that is a framework of other people: a contender,
// but none of the designs that promises are made of.
const PeerPrefix = "peer-"

// A Step is one process of a block: a case with a GOMAXPROCS, or a copy of it.
type Step struct {
	Index int // place in the plan's list of cases × CPU, counted from 1
	Case  Case
	CPU   int
	Copy  int // 1, or 2 for the control: a second, identical process
}

// A Group is the steps of a plan that are compared with one another: what becomes
// one row of a table, with GOMAXPROCS, for the first of its units.
type Group struct {
	Index int    // place in Plan.Groups, counted from 1
	Pkg   string // import path
	Name  string // of the row, such as "Group/workload=short-2"
	Steps []Step // in the plan's order; the control is the last one
}

// FullName returns the name under which the step's result is printed: with the
// suffix that tells GOMAXPROCS, which package testing leaves out for 1.
func (s Step) FullName() string {
	if s.CPU == 1 {
		return s.Case.Name
	}
	return s.Case.Name + "-" + strconv.Itoa(s.CPU)
}

// Steps returns the processes of a block in plan order: every case with every
// GOMAXPROCS, then the controls.
func (p *Plan) Steps() []Step {
	steps := make([]Step, 0, len(p.Cases)*len(p.CPU))
	for _, c := range p.Cases {
		for _, n := range p.CPU {
			steps = append(steps, Step{Index: len(steps) + 1, Case: c, CPU: n, Copy: 1})
		}
	}
	if p.Control {
		for _, g := range p.Groups() {
			if last := g.Steps[len(g.Steps)-1]; last.Copy > 1 {
				steps = append(steps, last)
			}
		}
	}
	return steps
}

// Groups returns the steps by the rows that they become, in the order of each
// one's first.
func (p *Plan) Groups() []Group {
	plain := *p
	plain.Control = false
	var groups []Group
	// A name may end as if with GOMAXPROCS, so that is asked apart.
	type row struct {
		pkg, name, side string
		cpu             int
	}
	at := make(map[row]int)
	for _, s := range plain.Steps() {
		name, _ := p.splitName(s)
		key := row{pkg: s.Case.Pkg, name: name, cpu: s.CPU}
		if p.Col != SideKey {
			key.side = s.Case.Side
		}
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, Group{Index: i + 1, Pkg: s.Case.Pkg, Name: name})
		}
		groups[i].Steps = append(groups[i].Steps, s)
	}
	if !p.Control || len(groups) == 0 {
		return groups
	}
	columns := make([]string, len(p.Cases))
	for i, c := range p.Cases {
		_, columns[i] = p.splitName(Step{Case: c, CPU: 1})
	}
	references := slices.ContainsFunc(columns, IsReference)
	isBase := func(s Step) bool {
		_, col := p.splitName(s)
		return references && IsReference(col) || !references && col == columns[0]
	}
	for i, g := range groups {
		if len(g.Steps) > 1 || p.Mode == ModeTurns { // else nothing is claimed of it
			control := g.Steps[max(0, slices.IndexFunc(g.Steps, isBase))]
			control.Copy = 2
			groups[i].Steps = append(g.Steps, control)
		}
	}
	return groups
}

// IsReference reports whether a column is a reference, by its name.
func IsReference(col string) bool { return strings.HasPrefix(col, RefPrefix) }

// IsPeer reports whether a column is a framework of other people, by its name.
func IsPeer(col string) bool { return strings.HasPrefix(col, PeerPrefix) }

// splitName returns the name of the row that a step belongs to, and what it is
// called within that: the value of the column key.
func (p *Plan) splitName(s Step) (row, col string) {
	name := strings.TrimPrefix(s.FullName(), "Benchmark")
	if p.Col == SideKey {
		return name, s.Case.Side
	}
	key := cmp.Or(p.Col, implKey)
	base, parts := benchfmt.Name(name).Parts()
	var b strings.Builder
	b.Write(base)
	for _, part := range parts {
		if value, ok := strings.CutPrefix(string(part), key+"="); ok && col == "" {
			col = value
			continue
		}
		b.Write(part)
	}
	return b.String(), col
}

// InTurns reports whether benchmarks are to take turns, if they can.
func (p *Plan) InTurns() bool { return p.Mode == ModeTurns || p.Mode == ModeAuto }

// TakesTurns reports whether the steps of g are to take turns, if they can.
func (p *Plan) TakesTurns(g Group) bool {
	return p.Mode == ModeTurns || p.Mode == ModeAuto && len(g.Steps) > 1
}

// A Unit is what a block does at a time: a group whose steps take turns, or a
// step in a process of its own.
type Unit struct {
	Turns *Group // nil for a single step
	Step  Step
}

// Order returns the units of a block, counted from 1, in the order in which they
// are measured: shuffled, the same for the same seed and block. Sides of a benchmark
// that are measured in processes of their own come directly after one another, in
// random order.
func (p *Plan) Order(block int) []Unit {
	if p.Count > 1 {
		return p.oneSideFirst()
	}
	if p.InOrder {
		units := single(p.Steps())
		if block%2 == 0 {
			slices.Reverse(units)
		}
		return units
	}
	var together [][]Unit
	if p.InTurns() || p.Col == SideKey {
		for _, g := range p.Groups() {
			switch {
			case p.TakesTurns(g):
				together = append(together, []Unit{{Turns: &g}})
			case p.InTurns():
				together = append(together, single(g.Steps)) // of one step
			default:
				together = append(together, single(p.Shuffled(block, g)))
			}
		}
	} else {
		for _, u := range single(p.Steps()) {
			together = append(together, []Unit{u})
		}
	}
	r := rand.New(rand.NewPCG(p.Seed, uint64(block)))
	r.Shuffle(len(together), func(i, j int) { together[i], together[j] = together[j], together[i] })
	return slices.Concat(together...)
}

// oneSideFirst returns the steps in plan order, those of the first side before all
// others.
func (p *Plan) oneSideFirst() []Unit {
	steps := p.Steps()
	var first, others []Step
	for _, s := range steps {
		if s.Case.Side == steps[0].Case.Side {
			first = append(first, s)
		} else {
			others = append(others, s)
		}
	}
	return single(append(first, others...))
}

// single returns steps as units that have a process of their own.
func single(steps []Step) []Unit {
	units := make([]Unit, len(steps))
	for i, s := range steps {
		units[i] = Unit{Step: s}
	}
	return units
}

// Chance returns the source of what is random about a group in a block.
func (p *Plan) Chance(block int, g Group) *rand.Rand {
	// Blocks are far fewer than 1<<32, so this is no block's source.
	return rand.New(rand.NewPCG(p.Seed, uint64(g.Index)<<32|uint64(block)))
}

// Layout returns the number of the layout that block measures.
func (p *Plan) Layout(block int) int { return (block - 1) % max(1, p.Layouts) }

// Shuffled returns the steps of g in the order in which they are measured in
// block if they cannot take turns.
func (p *Plan) Shuffled(block int, g Group) []Step {
	steps := slices.Clone(g.Steps)
	p.Chance(block, g).Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}
