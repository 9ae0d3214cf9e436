package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// A Case is one benchmark of a subject: a leaf, with all its sub-benchmark
// names, such as "BenchmarkGroup/workload=short/impl=channel".
type Case struct {
	Pkg  string
	Name string // without the "-8" that tells GOMAXPROCS

	// Side says which of two versions of the package is meant, "old" or "new",
	// in a run that compares versions; it is "" in any other. It also tells copies
	// of one version apart that are compared with one another.
	Side string

	// Slow makes the case slower on purpose, to test the method: by so many times
	// its own time. 0 for real measurements.
	Slow float64
}

// Pattern returns a -test.bench pattern that matches the case. It also matches
// what has the whole name and a slash in front, which Beneath is for: b.Run("a") and
// b.Run("a/b") may both be leaves.
func (c Case) Pattern() string {
	elems := strings.Split(c.Name, "/")
	for i, e := range elems {
		elems[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elems, "/")
}

// Beneath is the pattern of what has more names than the case.
func (c Case) Beneath() string { return c.Pattern() + "/" }

// formatSlow writes a Case.Slow.
func formatSlow(slow float64) string { return strconv.FormatFloat(slow, 'g', -1, 64) }

// implKey is the key whose values are compared if a plan says nothing else.
const implKey = "/impl"

// RefPrefix begins the name of a column that is a reference: code written by
// hand for a workload, against which implementations are measured.
const RefPrefix = "ref-"

// A Plan says what is measured, how often, and in which order. It is written
// into the results, so that a run can be repeated, and resumed. From Mode on, its fields are
// zero in plans of files that know nothing of them.
type Plan struct {
	Cases    []Case        `json:"cases,omitempty"`
	CPU      []int         `json:"cpu"`      // values of GOMAXPROCS
	Blocks   int           `json:"blocks"`   // each case runs once in each
	Time     string        `json:"time"`     // -test.benchtime: a duration, or a number of iterations such as "100x"
	Seed     uint64        `json:"seed"`     // of the orders
	Benchmem bool          `json:"benchmem"` // testing counts bytes and allocations per operation
	Timeout  time.Duration `json:"timeout"`  // of one process, in nanoseconds

	// Packages and Bench are what the cases were chosen by, and Subjects the
	// hash of each test binary, by what Subject.Hashes calls it.
	Packages []string          `json:"packages"`
	Bench    string            `json:"bench"`
	Subjects map[string]string `json:"subjects"`

	Mode string `json:"mode,omitempty"` // one of the Mode constants; "" means ModeProcess

	// Col is the key whose values are compared with one another: "/impl" for a
	// part of benchmark names, or "side" for Case.Side. "" means "/impl".
	Col string `json:"col,omitempty"`

	// Control adds a second copy of its base to each row that compares anything:
	// what the two differ by is what the method gets wrong.
	Control bool `json:"control,omitempty"`

	// Rounds is in how many rounds those that take turns do a slice each, and
	// Slice how long a slice is to take. Slices that must be longer are fewer; see
	// internal/session/turns.go. Both are 0 in ModeProcess.
	Rounds int           `json:"rounds,omitempty"`
	Slice  time.Duration `json:"slice,omitempty"`

	Layouts int `json:"layouts,omitempty"` // in how many orders of its functions each test binary is linked; 0 means 1
	Trial   int `json:"trial,omitempty"`   // how many blocks make a trial of a calibration; 0 means that it is none

	// Looks are the blocks, ascending, after which it is looked which rows are
	// decided and need no more blocks; the last one is Blocks. A fixed plan has none.
	Looks []int `json:"looks,omitempty"`

	// Count is how many values each process prints, one after the other, as by go
	// test -count. More than 1 is for processes that take no turns, and then all of
	// one side come before all of the next. 0 means 1.
	Count int `json:"count,omitempty"`

	// InOrder has each block in the order of the cases, every second one backwards, for
	// subjects to which it is dear to change from some of the cases to others, as a board
	// is that is flashed for that.
	InOrder bool `json:"inorder,omitempty"`

	Own json.RawMessage `json:"own,omitempty"` // what the subject wants to have on record of how it runs the cases

	// Alpha and Margin are those of the decisions that are taken at Looks.
	Alpha  float64 `json:"alpha,omitempty"`
	Margin float64 `json:"margin,omitempty"`
}

// The modes of a plan.
const (
	ModeProcess = "process" // each benchmark in a fresh process in each block: one value
	ModeTurns   = "turns"   // the benchmarks of a row take turns, slice by slice; one that cannot be driven so is a hole
	ModeAuto    = "auto"    // ModeTurns for rows that compare anything and can be driven so, ModeProcess for the others
)

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

// mostSteps bounds how many benchmarks a block has: a file that is damaged, or made
// to harm, could ask for the product of two long lists.
const mostSteps = 100_000

// Check returns an error if the plan cannot be carried out.
func (p *Plan) Check() error {
	if len(p.Cases) == 0 {
		return errors.New("the plan has no benchmarks")
	}
	if steps := len(p.Cases) * max(1, len(p.CPU)); steps > mostSteps {
		return fmt.Errorf("the plan has %d benchmarks in a block, more than %d", steps, mostSteps)
	}
	return p.CheckSettings()
}

// CheckSettings is Check for a plan whose cases are not known yet.
func (p *Plan) CheckSettings() error {
	turns := p.InTurns()
	switch {
	case p.Blocks < 1:
		return fmt.Errorf("--blocks is %d; it must be at least 1 (6 is the least that can prove a difference)", p.Blocks)
	case len(p.CPU) == 0:
		return errors.New("--cpu is empty")
	case p.Timeout <= 0:
		return fmt.Errorf("--timeout is %v; it must be positive", p.Timeout)
	case p.Layouts < 0 || p.Layouts > MaxLayouts:
		return fmt.Errorf("--layouts is %d; it must be between 1 and %d", p.Layouts, MaxLayouts)
	case !turns && p.Mode != "" && p.Mode != ModeProcess:
		return fmt.Errorf("--mode is %q; it must be one of %s, %s, %s", p.Mode, ModeAuto, ModeTurns, ModeProcess)
	case turns && (p.Rounds < 1 || p.Rounds > MostRounds):
		return fmt.Errorf("--rounds is %d; it must be between 1 and %d", p.Rounds, MostRounds)
	case turns && p.Slice <= 0:
		return fmt.Errorf("--slice is %v; it must be positive", p.Slice)
	}
	if err := p.checkLooks(); err != nil {
		return err
	}
	for _, n := range p.CPU {
		if n < 1 {
			return fmt.Errorf("--cpu %d: GOMAXPROCS is at least 1", n)
		}
	}
	if err := checkTime(p.Time); err != nil {
		return err
	}
	return CheckPattern(p.Bench)
}

// checkTime returns an error if s is no -test.benchtime.
func checkTime(s string) error {
	if n, ok := strings.CutSuffix(s, "x"); ok {
		if v, err := strconv.Atoi(n); err == nil && v > 0 {
			return nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return nil
	}
	return fmt.Errorf(`--time is %q; it must be a duration such as "100ms" or a number of iterations such as "1000x"`, s)
}

// MostRounds bounds the line that has a process's slices: readers of the format
// take none of more than 64 KiB.
const MostRounds = 4000

// MaxLayouts bounds the test binaries that are linked of one package.
const MaxLayouts = 100

// checkLooks returns an error if Looks are no blocks in ascending order that end
// with the last one.
func (p *Plan) checkLooks() error {
	before := 0
	for _, block := range p.Looks {
		if block <= before {
			return fmt.Errorf("the looks %v are no ascending numbers of blocks", p.Looks)
		}
		before = block
	}
	switch {
	case len(p.Looks) == 0:
		return nil
	case before != p.Blocks:
		return fmt.Errorf("the last of the looks %v is not after the last of %d blocks", p.Looks, p.Blocks)
	case !(p.Alpha > 0 && p.Alpha < 1) || !(p.Margin >= 0):
		return fmt.Errorf("the level %v and margin %v of the looks make no sense", p.Alpha, p.Margin)
	}
	return nil
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
	references := slices.ContainsFunc(columns, isReference)
	isBase := func(s Step) bool {
		_, col := p.splitName(s)
		return references && isReference(col) || !references && col == columns[0]
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

func isReference(col string) bool { return strings.HasPrefix(col, RefPrefix) }

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

// ID identifies the plan: 12 hexadecimal digits that depend on all of it.
func (p *Plan) ID() string {
	sum := sha256.Sum256([]byte(strings.Join(p.encode(), "\n")))
	return hex.EncodeToString(sum[:6])
}

// encode returns the plan as the lines that a results file keeps it in: the
// settings as JSON, then a line a case. Many short lines, because readers of the
// format take no line of more than 64 KiB.
func (p *Plan) encode() []string {
	settings := *p
	settings.Cases = nil
	b, err := json.Marshal(settings)
	if err != nil {
		panic("record: a plan cannot be encoded: " + err.Error()) // it holds nothing that could not
	}
	lines := []string{PlanMark + string(b)}
	for _, c := range p.Cases {
		slow := ""
		if c.Slow != 0 {
			slow = formatSlow(c.Slow)
		}
		lines = append(lines, strings.TrimSuffix(caseMark+c.Pkg+" "+c.Name+" "+formatFields(SideKey, c.Side, "slow", slow), " "))
	}
	return lines
}

// decode takes in a line, if it is one of those that encode wrote; nil is a plan of which
// there is no line yet.
func (p *Plan) decode(l Line) (*Plan, error) {
	switch {
	case l.Mark == PlanMark && p == nil:
		p = new(Plan)
		if err := json.Unmarshal([]byte(l.Rest), p); err != nil {
			return nil, fmt.Errorf("the plan cannot be read: %w", err)
		}
	case l.Mark == caseMark && p != nil:
		c, err := decodeCase(l.Rest)
		if err != nil {
			return nil, err
		}
		p.Cases = append(p.Cases, c)
	}
	return p, nil
}

// decodeCase reads what follows caseMark.
func decodeCase(text string) (Case, error) {
	pkg, rest, ok := strings.Cut(text, " ")
	if !ok {
		return Case{}, fmt.Errorf("%q is not a package and a benchmark", text)
	}
	name, rest, _ := strings.Cut(rest, " ")
	fields, err := ParseFields(rest)
	if err != nil {
		return Case{}, err
	}
	c := Case{Pkg: pkg, Name: name, Side: fields[SideKey]}
	if slow := fields["slow"]; slow != "" {
		if c.Slow, err = strconv.ParseFloat(slow, 64); err != nil || !(c.Slow >= 0) {
			return Case{}, fmt.Errorf("slow=%s is no number of times", slow)
		}
	}
	return c, nil
}

// Differences says in which respects the subjects and settings of now differ
// from those of p, one line each, as "what: then → now".
func (p *Plan) Differences(now *Plan) []string {
	var diffs []string
	say := func(what, then, now string) {
		if then != now {
			diffs = append(diffs, what+": "+then+" → "+now)
		}
	}
	was, is := p.settings(), now.settings()
	for i, s := range was {
		say(s.name, fmt.Sprint(s.value), fmt.Sprint(is[i].value))
	}
	missing := func(from, in []Case, then, now string) {
		for _, c := range from {
			if !slices.Contains(in, c) {
				say("benchmark "+c.Name+" of "+SubjectID(c.Pkg, c.Side), then, now)
			}
		}
	}
	missing(p.Cases, now.Cases, "there", "gone")
	missing(now.Cases, p.Cases, "absent", "there")
	short := func(hash string) string { return cmp.Or(hash[:min(12, len(hash))], "none") }
	for _, id := range slices.Sorted(maps.Keys(p.Subjects)) {
		say("test binary of "+id, short(p.Subjects[id]), short(now.Subjects[id]))
	}
	return diffs
}

// A setting of a plan, as people are told of it.
type setting struct {
	name  string
	value any
}

// settings returns what has to be the same when a run is resumed, but for cases and
// subjects.
func (p *Plan) settings() []setting {
	return []setting{
		{"packages", strings.Join(p.Packages, " ")},
		{"bench", p.Bench},
		{"blocks", p.Blocks},
		{"time", p.Time},
		{"cpu", p.CPU},
		{"seed", p.Seed},
		{"benchmem", p.Benchmem},
		{"timeout", p.Timeout},
		{"count", max(1, p.Count)},
		{"mode", cmp.Or(p.Mode, ModeProcess)},
		{"col", cmp.Or(p.Col, implKey)},
		{"control", p.Control},
		{"rounds", p.Rounds},
		{"slice", p.Slice},
		{"layouts", max(1, p.Layouts)},
		{"looks", p.Looks},
		{"alpha", p.Alpha},
		{"margin", p.Margin},
	}
}

// Shuffled returns the steps of g in the order in which they are measured in
// block if they cannot take turns.
func (p *Plan) Shuffled(block int, g Group) []Step {
	steps := slices.Clone(g.Steps)
	p.Chance(block, g).Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}

// LayoutsFor returns how many layouts test binaries have in a plan of so many blocks if
// given are asked for: a block has one, and 0 asks for one of its own for each.
func LayoutsFor(given, blocks int) int {
	if given == 0 {
		given = blocks
	}
	return min(given, blocks, MaxLayouts)
}

// LeastBlocks is how few blocks a comparison of versions has at least: fewer hardly say
// how much blocks vary, and see only large differences.
const LeastBlocks = 6

func SubjectID(pkg, side string) string {
	if side == "" {
		return pkg
	}
	return pkg + " " + side // no import path has a space
}
