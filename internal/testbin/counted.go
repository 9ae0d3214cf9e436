package testbin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// Counted are compiled tests whose instructions are counted, where [Binaries] are timed. They
// implement session.Subject. What an operation costs is the difference of two processes, of
// which one does ten times as many: their start, the harness and most of what is only paid once
// cancel out.
type Counted struct {
	*Binaries
	tool *counter.Tool

	mu   sync.Mutex // guards rows
	rows map[rowOfCounts]*countedRow
}

// A rowOfCounts is a benchmark, whichever its side.
type rowOfCounts struct {
	pkg, name string
	cpu       int
}

// A countedRow is what is known of a row. One step at a time uses it.
type countedRow struct {
	few   int             // operations of the shorter processes
	ops   int             // of the longer ones, in a block in which they are longest
	start counter.Profile // the shorter process of all sides and blocks; nil if they differ
	notes []string        // that are not on record yet
	sides map[string]*countedSide
}

// A countedSide is what was counted of one side of a row.
type countedSide struct {
	start  counter.Profile   // the shorter process of the block
	blocks []counter.Profile // of an operation
	first  float64           // instructions of the program itself in the longest process, 0 if that is not known

	// What was counted of a block together with another side, and not asked for yet: its benchmark line.
	block int
	line  string
	err   error
}

// NewCounted returns all as what plan is carried out on by counting. Processes are ended when ctx
// ends.
func NewCounted(ctx context.Context, plan *record.Plan, all []Binary, tool *counter.Tool) *Counted {
	return &Counted{Binaries: NewBinaries(ctx, plan, all), tool: tool, rows: make(map[rowOfCounts]*countedRow)}
}

// The units of counts.
const (
	unitLine = record.UnitCounted + " better=lower"
	ownLine  = record.UnitCountedOwn + " better=lower"
	timeLine = "ns/op better=lower"
)

const (
	// worth is how many instructions the longer process runs beyond its start, which varies by some
	// ten thousand to some hundred thousand: about two thirds of the time that starting takes.
	worth = 150e6
	// beside is how many times as many its start may run: what varies of that grows with it.
	beside = 3
	// steady is the part of worth by which the starts of sides may differ to count as the same.
	steady = 0.0005
	// timed is how long a benchmark runs outside of the tool in each block: for the time that stands
	// beside the count, and in the first one to find how many operations are worth counting, about
	// as many as take asLong as long.
	timed  = 10 * time.Millisecond
	asLong = 4
	// fewest is how many operations the shorter process has at least: with one, package testing
	// calls the benchmark once, and with more once with one and once with all.
	fewest = 2
	// least is how many the longer process is planned with at least.
	least = 2 * fewest
	// times is how many times as many operations the longer process has.
	times = 10
	// unsampled is how many bytes lie between allocations whose stacks are kept: which these are
	// is chance, and a program that does not read the profile keeps none.
	unsampled = "1000000000"
	// straight is how much more or less an operation may cost at the end of the longest process
	// before that is reported: its cost depends on how many there are.
	straight = 0.05
)

// phases are the lengths of the longer processes, block by block, of the longest one: whether one
// more collection of garbage just falls into them is chance then, which the blocks show, and no bias.
var phases = [...]float64{1, 0.75, 0.95, 0.8, 0.9, 0.85}

// Start implements session.Subject. No process under the tool can be driven.
func (c *Counted) Start(int, record.Step, []string) (session.Driver, error) {
	return nil, program.ErrUnsupported
}

// Measure implements session.Subject. All sides of a row are counted when the first is asked for,
// beside one another: what one counts does not depend on what else the machine does.
func (c *Counted) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	row := c.row(s)
	side := row.sides[s.Case.Side]
	if side.block != block {
		c.count(row, block, s)
	}
	r, err := session.Single(s, block, side.line, []string{unitLine, ownLine, timeLine}, side.err)
	if err == nil && side.err == nil {
		r.Notes, row.notes = append(r.Notes, row.notes...), nil
	}
	return r, err
}

func (c *Counted) row(s record.Step) *countedRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := rowOfCounts{s.Case.Pkg, s.Case.Name, s.CPU}
	if c.rows[key] == nil {
		row := &countedRow{sides: make(map[string]*countedSide)}
		for _, one := range c.plan.Cases {
			if one.Pkg == s.Case.Pkg && one.Name == s.Case.Name {
				row.sides[one.Side] = new(countedSide)
			}
		}
		c.rows[key] = row
	}
	return c.rows[key]
}

// count counts a block of the row of a step: of that side, and of all others that have not failed
// before.
func (c *Counted) count(row *countedRow, block int, s record.Step) {
	steps := []record.Step{s} // which finds how long processes are
	for _, name := range slices.Sorted(maps.Keys(row.sides)) {
		one := s
		if one.Case.Side = name; name != s.Case.Side && row.sides[name].err == nil && row.sides[name].block < block {
			steps = append(steps, one)
		}
	}
	ns := make(map[string]float64)
	sized := row.ops > 0
	for _, one := range steps {
		side := row.sides[one.Case.Side]
		res, err := c.time(c.of(block, one), one)
		if side.block, side.err = block, err; err != nil {
			continue
		}
		ns[one.Case.Side], _ = res.Value("sec/op")
		if row.ops == 0 {
			row.ops = max(least, asLong*res.Iters)
			row.few = max(fewest, row.ops/times)
		}
	}
	steps = slices.DeleteFunc(steps, func(one record.Step) bool { return row.sides[one.Case.Side].err != nil })
	if len(steps) == 0 {
		return
	}
	long := c.processes(row, block, steps, row.start == nil)
	if side := row.sides[steps[0].Case.Side]; !sized && side.err == nil {
		// How much was worth it depends on the machine and what else it does: it is looked at. The
		// shorter processes are good for other longer ones, too.
		got := long[0].Count().All - side.start.Count().All
		if want := max(worth, side.start.Count().All/beside); got < want/3 || got > 4*want {
			row.ops = max(2*row.few, int(float64(row.ops)*min(100, want/max(1, got))))
			long = c.processes(row, block, steps, false)
		}
		row.start = alike(row, steps)
	}
	many := row.many(block)
	for i, one := range steps {
		side := row.sides[one.Case.Side]
		if side.err != nil {
			continue
		}
		each := long[i].Minus(side.start, float64(many-row.few))
		if what := each.Unseen(); i == 0 && len(side.blocks) == 0 && len(what) > 0 {
			row.notes = append(row.notes, "it "+strings.Join(what, ", ")+": what that takes is no instruction of its own, and only time shows it")
		}
		if block == 1 {
			side.first = long[i].Count().Own
		} else if i == 0 && block == 2 && side.first > 0 {
			row.notes = append(row.notes, row.bends(side, long[i])...)
		}
		side.blocks = append(side.blocks, each)
		n := each.Count()
		side.line = fmt.Sprintf("%s \t%8d\t %s %s\t %s %s\t %.4g ns/op", one.FullName(), many,
			figure(n.All), record.UnitCounted, figure(n.Own), record.UnitCountedOwn, 1e9*ns[one.Case.Side])
	}
}

// processes runs the longer process of each step of a block, and the shorter one if starts is set.
// What fails is the error of its side.
func (c *Counted) processes(row *countedRow, block int, steps []record.Step, starts bool) (long []counter.Profile) {
	many := row.many(block)
	long = make([]counter.Profile, len(steps))
	errs := make([][2]error, len(steps))
	var work errgroup.Group
	work.SetLimit(runtime.NumCPU())
	for i, one := range steps {
		binary := c.of(block, one)
		work.Go(func() error {
			long[i], errs[i][0] = c.profile(binary, one, many, block)
			return nil
		})
		if side := row.sides[one.Case.Side]; starts {
			work.Go(func() error {
				side.start, errs[i][1] = c.profile(binary, one, row.few, block)
				return nil
			})
		} else if row.start != nil {
			side.start = row.start
		}
	}
	_ = work.Wait()
	for i, one := range steps {
		side := row.sides[one.Case.Side]
		side.err = cmp.Or(side.err, errs[i][0], errs[i][1]) // a shorter process may have failed before
	}
	return long
}

// alike returns the mean of what starting costs all sides of a row of which each has been counted
// once, if it is the same for all: what it varies by is in no difference of two sides then, and need
// not be counted in each block. It is nil if it is not the same.
func alike(row *countedRow, steps []record.Step) counter.Profile {
	var all []counter.Profile
	least, most, by := math.Inf(1), math.Inf(-1), 0.0
	for _, one := range steps {
		side := row.sides[one.Case.Side]
		if side.err != nil {
			return nil
		}
		n := side.start.Count().All
		least, most, by = min(least, n), max(most, n), max(worth, n/beside)
		all = append(all, side.start)
	}
	if len(all) < 2 || most-least > steady*by {
		return nil
	}
	return counter.Mean(all)
}

// figure writes a count with seven digits: what varies is the sixth at best.
func figure(v float64) string { return strconv.FormatFloat(max(0, v), 'f', max(0, 6-magnitude(v)), 64) }

// magnitude is the power of ten of v's first digit.
func magnitude(v float64) int {
	if v = math.Abs(v); v < 1 {
		return 0
	}
	return int(math.Log10(v))
}

// many is how many operations the longer processes of a block have.
func (r *countedRow) many(block int) int {
	return max(int(phases[(block-1)%len(phases)]*float64(r.ops)), r.few+1)
}

// time runs a step outside of the tool.
func (c *Counted) time(b Binary, s record.Step) (*benchfmt.Result, error) {
	out, err := invocation{subject: b, args: flags(s.Case, timed.String(), s.CPU, 1), timeout: c.plan.Timeout, report: b.Undrivable == nil}.bench(c.ctx)
	if err != nil {
		return nil, err
	}
	lines, err := out.resultsOf(s, 1)
	if err != nil {
		return nil, err
	}
	res, ok := record.ParseResult(lines)
	if !ok {
		return nil, &program.Failure{Reason: "printed no result"}
	}
	return res, nil
}

// profile counts a process of n operations, by the chance of a block: all sides have the same.
func (c *Counted) profile(b Binary, s record.Step, n, block int) (counter.Profile, error) {
	folder, err := os.MkdirTemp("", "dyno-count-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "out")
	said, err := invocation{
		subject: b, under: c.tool.Under(out), env: append(c.tool.Env(), "GOMAXPROCS="+strconv.Itoa(s.CPU)),
		prepare: func(cmd *exec.Cmd) func(int) error { return c.tool.Seed(cmd, block) },
		args:    append(flags(s.Case, strconv.Itoa(n)+"x", s.CPU, 1), "-test.memprofilerate="+unsampled), timeout: c.plan.Timeout,
		report: b.Undrivable == nil,
	}.bench(c.ctx)
	if err != nil {
		return nil, err
	}
	if _, err := said.resultsOf(s, 1); err != nil {
		return nil, err
	}
	file, err := os.Open(out)
	if err != nil {
		return nil, &program.Failure{Reason: c.tool.String() + " counted nothing: " + err.Error()}
	}
	defer file.Close()
	p, err := counter.Read(file)
	if err != nil {
		return nil, &program.Failure{Reason: "what " + c.tool.String() + " counted cannot be read: " + err.Error()}
	}
	return p, nil
}

// bends returns a note if an operation costs something else at the end of the longest process of a
// side, in the first block, than before, as far as the one of the second block goes. It is none if
// the cost is the same.
func (r *countedRow) bends(side *countedSide, second counter.Profile) []string {
	most, many := r.many(1), r.many(2)
	own := second.Count().Own
	before := (own - side.start.Count().Own) / float64(many-r.few)
	after := (side.first - own) / float64(most-many)
	if by := after/before - 1; !math.IsNaN(by) && math.Abs(by) > straight {
		return []string{fmt.Sprintf("the last of %d operations cost %+.0f %% of the others: what is counted depends on how many there are", most, 100*by)}
	}
	return nil
}

// ErrNotCounted is the error of [Counted.Sides] for what was not counted.
var ErrNotCounted = errors.New("not counted")

// Sides returns what an operation of a row costs on each of two sides, a profile a block.
func (c *Counted) Sides(pkg, name string, cpu int, base, this string) (b, t []counter.Profile, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	row := c.rows[rowOfCounts{pkg, name, cpu}]
	if row == nil || row.sides[base] == nil || row.sides[this] == nil {
		return nil, nil, ErrNotCounted
	}
	return row.sides[base].blocks, row.sides[this].blocks, nil
}
