package testbin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
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
	ops   int      // of the longer processes, in a block in which they are longest
	notes []string // that are not on record yet
	sides map[string]*countedSide
}

// A countedSide is what was counted of one side of a row.
type countedSide struct {
	blocks []counter.Profile // of an operation
	starts []counter.Profile // the shorter processes
}

// start returns the mean of the shorter processes, if they need not be run again: several did the
// same within a small part of what the longer one does more. It is nil if they do.
func (s *countedSide) start(worth float64) counter.Profile {
	if len(s.starts) < enoughStarts {
		return nil
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range s.starts {
		n := p.Count().All
		least, most = min(least, n), max(most, n)
	}
	if most-least > steady*worth {
		return nil
	}
	return counter.Mean(s.starts)
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
	// worth is how many instructions the longer process runs beyond its start: what varies of
	// the start, some 15,000, is 0.03 % of it.
	worth = 50e6
	// timed is how long a benchmark runs outside of the tool in each block: for the time that stands
	// beside the count, and in the first one to find how many operations are worth counting, at
	// about an instruction a third of a nanosecond.
	timed = 10 * time.Millisecond
	// fewest is how many operations the shorter process has at least: with one, package testing
	// calls the benchmark once, and with more once with one and once with all.
	fewest = 2
	// times is how many times as many operations the longer process has.
	times = 10
	// phases is how many lengths the longer processes have, block by block, shorter by a
	// fortieth each: whether one more collection of garbage just falls into them is chance then,
	// which the blocks show, and no bias.
	phases = 6
	// enoughStarts shorter processes that differ by steady of what the longer one does more, at most,
	// are enough: what starting costs is the same in all blocks.
	enoughStarts = 3
	steady       = 0.001
	// unsampled is how many bytes lie between allocations whose stacks are kept: which these are
	// is chance, and a program that does not read the profile keeps none.
	unsampled = "1000000000"
	// straight is how much more or less an operation may cost in the second half of the longer
	// process before that is reported: its cost depends on how many there are.
	straight = 0.03
)

// Start implements session.Subject. No process under the tool can be driven.
func (c *Counted) Start(int, record.Step, []string) (session.Driver, error) {
	return nil, program.ErrUnsupported
}

// Measure implements session.Subject.
func (c *Counted) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	b := c.of(block, s)
	row := c.row(s)
	line, err := c.count(b, row, block, s)
	r, err := session.Single(s, block, line, []string{unitLine, ownLine, timeLine}, err)
	if err == nil {
		r.Notes, row.notes = append(r.Notes, row.notes...), nil
	}
	return r, err
}

func (c *Counted) row(s record.Step) *countedRow {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := rowOfCounts{s.Case.Pkg, s.Case.Name, s.CPU}
	if c.rows[key] == nil {
		c.rows[key] = &countedRow{sides: make(map[string]*countedSide)}
	}
	return c.rows[key]
}

// count counts a step, and returns its benchmark line.
func (c *Counted) count(b Binary, row *countedRow, block int, s record.Step) (line string, err error) {
	res, err := c.time(b, s)
	if err != nil {
		return "", err
	}
	ns, _ := res.Value("sec/op")
	first := row.ops == 0
	if first {
		if row.ops, err = c.size(b, s, res.Iters); err != nil {
			return "", err
		}
	}
	side := row.sides[s.Case.Side]
	if side == nil {
		side = new(countedSide)
		row.sides[s.Case.Side] = side
	}
	few, many := lengths(row.ops, block)
	ops := []int{many}
	start := side.start(worth)
	if start == nil {
		ops = append(ops, few)
	}
	if first {
		ops = append(ops, (few+many)/2)
	}
	profiles, err := c.profiles(b, s, ops...)
	if err != nil {
		return "", err
	}
	if start == nil {
		start = profiles[1]
		side.starts = append(side.starts, start)
	}
	each := profiles[0].Minus(start, float64(many-few))
	if first {
		row.notes = bends(profiles, ops)
		if what := each.Unseen(); len(what) > 0 {
			row.notes = append(row.notes, "it "+strings.Join(what, ", ")+": what that takes is no instruction of its own, and only time shows it")
		}
	}
	side.blocks = append(side.blocks, each)
	n := each.Count()
	return fmt.Sprintf("%s \t%8d\t %s %s\t %s %s\t %.4g ns/op", s.FullName(), many,
		figure(n.All), record.UnitCounted, figure(n.Own), record.UnitCountedOwn, 1e9*ns), nil
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

// lengths returns how many operations the two processes of a block have.
func lengths(ops, block int) (few, many int) {
	many = max(ops-(block-1)%phases*ops/40, fewest+1)
	return max(fewest, ops/times), many
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

// size returns how many operations are worth counting, if so many take the time timed.
func (c *Counted) size(b Binary, s record.Step, iters int) (ops int, err error) {
	ops = max(times*fewest, iters)
	// How much that is depends on the machine and what else it does: it is looked at.
	few, many := lengths(ops, 1)
	profiles, err := c.profiles(b, s, few, many)
	if err != nil {
		return 0, err
	}
	got := profiles[1].Count().All - profiles[0].Count().All
	switch most := 100 * float64(ops); {
	case got <= 0:
		return ops, nil
	case got < worth || got > 4*worth:
		ops = max(times*fewest, int(min(most, float64(ops)*worth/got)))
	}
	return ops, nil
}

// profiles counts processes of so many operations each, beside one another: what one counts does
// not depend on the others.
func (c *Counted) profiles(b Binary, s record.Step, ops ...int) ([]counter.Profile, error) {
	folder, err := os.MkdirTemp("", "dyno-count-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	all := make([]counter.Profile, len(ops))
	work, ctx := errgroup.WithContext(c.ctx)
	for i, n := range ops {
		work.Go(func() (err error) {
			all[i], err = c.profile(ctx, b, s, n, filepath.Join(folder, strconv.Itoa(i)))
			return err
		})
	}
	return all, work.Wait()
}

// profile counts a process of n operations.
func (c *Counted) profile(ctx context.Context, b Binary, s record.Step, n int, out string) (counter.Profile, error) {
	said, err := invocation{
		subject: b, under: c.tool.Under(out), env: append(c.tool.Env(), "GOMAXPROCS="+strconv.Itoa(s.CPU)),
		args: append(flags(s.Case, strconv.Itoa(n)+"x", s.CPU, 1), "-test.memprofilerate="+unsampled), timeout: c.plan.Timeout,
		report: b.Undrivable == nil,
	}.bench(ctx)
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

// bends returns a note if an operation costs something else in the second half of a process of
// ops[0] operations than in its first, from ops[1] on: the third profile is that of the middle. It is none if
// the cost is the same.
func bends(p []counter.Profile, ops []int) []string {
	first := p[2].Minus(p[1], float64(ops[2]-ops[1])).Count().Own
	second := p[0].Minus(p[2], float64(ops[0]-ops[2])).Count().Own
	if by := second/first - 1; !math.IsNaN(by) && math.Abs(by) > straight {
		return []string{fmt.Sprintf("an operation costs %+.0f %% in the second half of %d: what is counted depends on how many there are", 100*by, ops[0])}
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
