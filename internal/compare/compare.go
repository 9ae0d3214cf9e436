package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// DefaultAlpha is the chance that a report claims any difference where there is
// none, and that the interval of a single comparison misses the truth.
const DefaultAlpha = 0.05

// DefaultMargin is the relative difference below which two things count as the
// same: 2 %, since builds of one source differ by about 1 % by where the linker
// puts things.
const DefaultMargin = 0.02

// CountMargin is DefaultMargin for counts of instructions, which noise does not touch: about what
// is left of what varies from process to process.
const CountMargin = 0.003

// Counted reports whether the first table is of instructions on a simulated processor, which
// what the machine does besides does not touch.
func (c *Comparison) Counted() bool { return len(c.Tables) > 0 && simulated(c.Tables[0].Unit) }

// Options say how results are arranged and judged. The zero value is
// the default.
type Options struct {
	// Col is the benchproc projection whose values become columns, such as
	// "/impl", "commit" or "/impl@(lockbased channel)". Empty means SideKey if
	// the results are of two versions, else "/impl" if any benchmark name has
	// that key, and ".file", the input file, otherwise.
	Col string

	// Filter is a benchproc filter; results and units that do not match are
	// left out. Empty means "*", everything.
	Filter string

	// Base is the name of the column that the others are compared to. Empty
	// means, for each row, its first reference, or if the whole table has
	// none, the table's first column.
	Base string

	// Alpha is the level of the report's claims together, and 1-Alpha the
	// confidence of each interval; it lies in (0, 1). Zero means DefaultAlpha.
	Alpha float64

	// Margin is the relative difference below which two things count as the same;
	// it lies in (0, 1). Zero means DefaultMargin.
	Margin float64

	// Accept is a regular expression. A benchmark with such a name, "BenchmarkX/y", may
	// have gone from the new one of two versions, or skip itself there: that is no
	// fault. Empty matches none.
	Accept string

	// Stdin is what the path "-" reads; nil means os.Stdin.
	Stdin io.Reader

	// Unit is the only unit that is compared, as it is written in results. Empty means all.
	Unit string

	// alone: nothing is compared with anything, so there is no base.
	alone bool
}

// A Comparison is the content of a report: what was measured, in which
// circumstances, and how the columns compare. It is plain data.
type Comparison struct {
	Alpha  float64 // level of the whole report's claims, and of each interval
	Margin float64 // differences below it, relative to the base, do not matter
	Col    string  // projection that makes the columns
	Files  []File
	Tables []Table // one a unit: time first, then allocations, bytes, others

	// Failures are the benchmarks that gave no figures where they should have. Those of
	// two versions are rows of the first table, too.
	Failures []Failure

	// Findings are what is worth a look and is no verdict, such as tails. Warnings
	// concern everything; Notes are pointed to by single cells.
	Findings []string
	Warnings []string
	Notes    []string

	// Problems are malformed input lines, each "file:line: what". They were
	// left out, the rest was read.
	Problems []string

	// Comparisons is the number of tests made of what benchmarks report: the family
	// that p-values are corrected for. Of resources there are ResourceComparisons.
	Comparisons, ResourceComparisons int

	// Calibrations are what is known of the machines that the files are of.
	// Compare leaves it empty; see the function Calibrations.
	Calibrations []CalibrationQuote
}

// A File is one input and what it says about its circumstances.
type File struct {
	Label string // name in tables and filters: the label given, or the file's name
	Path  string

	// Config holds the file's configuration keys in order of appearance.
	Config []record.Setting
	// Results is the number of benchmark lines used, Blocks the number of
	// blocks they lie in; zero if the file has none.
	Results, Blocks int

	// Planned is how many blocks the run was to have, if it has not ended: Ended of them
	// are complete. Both are zero if it has, or nothing is known of a plan.
	Planned, Ended int
	Holes          []record.Hole

	// Clauses are those of the conformance suite that a board has run, in order of
	// appearance: one that was run several times is there several times.
	Clauses []record.BoardClause

	// Alone are the rows whose benchmarks should have taken turns and did not,
	// each with the reason: their values are of fresh processes, one a block.
	Alone []string

	// Told is what the run told of rows, such as that a benchmark works while it waits:
	// each with the row's name in front.
	Told []string
}

// A Table compares the columns in one unit.
type Table struct {
	Unit   string // as written in the results, such as "ns/op"
	Better int    // +1: more is better, -1: less is better, 0: unknown
	Exact  bool   // values have no distribution (the unit says assume=exact)

	// Resource says that the unit is of what processes used while they were measured,
	// such as processor time and memory: it explains times, and its comparisons are a
	// family of their own.
	Resource bool

	Cols []Column
	Rows []Row
}

// A Column is one value of the column key.
type Column struct {
	Name string
	Ref  bool // the name says that it is a reference
	Peer bool // the name says that it is other people's
	// Silent says that of a pair, this one has no result in the table's unit, and none was due.
	Silent bool
}

// A Row is one benchmark: its name without the column key.
type Row struct {
	Name string
	Pkg  string // import path, if the same name occurs in several packages

	// Package is the import path, as far as results say it.
	Package string

	// Base is the index of the column that the others are compared to, -1 if
	// there is none.
	Base  int
	Cells []Cell // one a column

	// Control is what the row's A/A control says in this unit; nil if the
	// results have none.
	Control *Control
}

// A Control is a second process of identical code that ran along with the
// others: what it shows against the first is not there.
type Control struct {
	Col    int    // the column whose code ran twice
	Vs     Versus // the second copy over the first
	Blocks []BlockValue

	// Alarm says that the two are told apart, Holm's correction over all
	// controls of the report included.
	Alarm bool
}

// A Cell is what was measured for one row and column.
type Cell struct {
	// N is the number of values: of blocks, or if the results have no blocks,
	// of benchmark lines. Zero means that there is no value.
	N int
	// Center is the median, or the commonest value if the table is exact. Lo
	// and Hi bound it; they are infinite if N is too small.
	Center, Lo, Hi float64
	// Min and Max are the least and the greatest of the values.
	Min, Max float64

	// Vs compares the cell to its row's base; nil if that is not possible, and
	// for the base itself.
	Vs      *Versus
	Verdict Verdict

	// Slices says how the times of slices are distributed, those of all blocks
	// together; nil if the values are not made of slices.
	Slices *Distribution

	// Blocks are the values themselves, one a block, in order of appearance. There
	// is one for each benchmark line if the results have no blocks, or the table
	// is exact.
	Blocks []BlockValue

	// Pools says that results of different circumstances are in it.
	Pools bool
	// Damaged says that the file has not what was measured for the row, as far as it can be
	// told: what there is is no evidence.
	Damaged bool
	// Hole says that a value was due and is missing or incomplete.
	Hole bool
	// Failure is why, of a version that failed; see Comparison.Failures.
	Failure string
	// Notes are indexes in Comparison.Notes.
	Notes []int

	// Time is the cell of the same benchmark's time, where instructions were counted and time was
	// measured beside them; else nil.
	Time *Cell
}

// A Distribution is that of the time of an operation in slices, in the table's unit. A
// slice has many operations, so it says nothing of single ones, but of what happens to
// the program now and then.
type Distribution struct {
	N                  int // slices
	P50, P90, P99, Max float64
}

// A BlockValue is what one block says of a cell.
type BlockValue struct {
	File   string // label of the file
	Block  string // number of the block in it; "" if the results have none
	Layout string // code layout of the binary, as results have it; "" if they do not say
	V      float64
	Ratio  float64 // to the base in the same block; NaN if it has none there
	// Typical is that of the typical times; NaN if they are not made of slices.
	Typical float64
}

// A Versus is one cell compared to its base.
type Versus struct {
	// Ratio is this cell over the base, NaN if it is not defined: the base is not
	// positive. Of values that were measured apart it is that of the two medians. Lo and
	// Hi bound it; they are 0 and infinite if there are too few values, and NaN if there
	// is no interval for such values (not tested, or not positive).
	Ratio, Lo, Hi float64

	// RareCosts says that what the mean has beyond the typical differs between the
	// two, proven: then Ratio is that of the plain means. Otherwise it is Typical.
	RareCosts bool

	// Typical is the ratio of the typical times, which hardly have in them what comes in
	// few slices. TypicalLo and TypicalHi bound it; all are NaN if the values are not
	// made of slices. They explain, and decide nothing.
	Typical, TypicalLo, TypicalHi float64

	// Tail is the ratio of the 99th percentiles of slices, with its bounds; NaN as
	// above. TailMoved says that it is another one than Ratio, with a chance of Alpha
	// among all rows that it is not: a finding, and no verdict.
	Tail, TailLo, TailHi float64
	TailMoved            bool

	// P is the probability of a difference at least as large if there is
	// none; NaN if there was no test, because the values are exact or all the
	// same.
	P float64

	// Adjusted is P after Holm's correction over all comparisons of the report:
	// the least level for the whole report at which this one would be called
	// a difference. NaN if P is.
	Adjusted float64

	// Detectable is the smallest ratio above 1 that these blocks would have proven nine
	// times out of ten. It is infinite if so few blocks can prove nothing, and NaN if
	// there was no test, or no blocks.
	Detectable float64

	// Need is about how many blocks would decide an inconclusive comparison,
	// and NeedTime how long measuring its row in as many blocks takes, by the clock
	// on the wall; zero if that is not known, or the comparison is decided.
	// Undecidable says that no number of blocks would that anybody measures.
	Need        int
	NeedTime    time.Duration
	Undecidable bool

	// Layouts is the number of different code layouts among the pairs; 1 if
	// the results say nothing of layouts.
	Layouts int

	// Lag1 is the correlation of each block's ratio with the next one's, and Trend
	// their rank correlation with time; NaN if there are too few blocks. Both are near
	// 0 if blocks are independent.
	Lag1, Trend float64

	// Rounds is the number of rounds in all blocks that were paired one by one;
	// zero if the blocks have one value each.
	Rounds int

	// Paired says that values of the same block were compared with one
	// another, and N is the number of such pairs. Otherwise N and BaseN are
	// the sizes of the two samples.
	Paired bool

	// Apart says that they were tested and are not of the same blocks, though when a value was
	// measured makes a difference: nothing is proven of them.
	Apart    bool
	N, BaseN int

	Shift stats.Shift
}

// A Verdict is the word for a cell. Faster and Slower are said of times and
// rates, Fewer and More of instructions that were counted, which make nothing slower by
// themselves, Better and Worse of other units that have a good direction, Lower and
// Higher of those that have none.
type Verdict string

// The verdicts.
const (
	Base         Verdict = "base"
	Faster       Verdict = "faster"
	Slower       Verdict = "slower"
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Fewer        Verdict = "fewer"
	More         Verdict = "more"
	Lower        Verdict = "lower"
	Higher       Verdict = "higher"
	Same         Verdict = "same"         // equal, or proven to lie within the margin
	Inconclusive Verdict = "inconclusive" // this data cannot say
	Unproven     Verdict = "unproven"     // would be an answer, but the data is not fit to carry it; a note says why
	NoBase       Verdict = "no base"      // nothing to compare to
	Missing      Verdict = "missing"      // due, but not there
	Skipped      Verdict = "skipped"      // not there for a reason of its own
	Absent       Verdict = ""             // not there, not due
)

// Bad reports whether v says that there is more of what less is better of, or less of what more
// is: what a gate closes on.
func (v Verdict) Bad() bool { return v == Slower || v == Worse || v == More }

// Good reports whether v says the opposite of [Verdict.Bad].
func (v Verdict) Good() bool { return v == Faster || v == Better || v == Fewer }

// compared reports whether v is the answer to a comparison, whatever that is.
func (v Verdict) compared() bool {
	return v.Proven() || v == Same || v == Inconclusive || v == Unproven
}

// Proven reports whether v says that there is a difference, and which way it goes.
func (v Verdict) Proven() bool {
	switch v {
	case Faster, Slower, Better, Worse, Fewer, More, Lower, Higher:
		return true
	}
	return false
}

// Compare reads the results at paths, as [Read] does, and compares them. A malformed line
// is recorded in Problems and skipped. The error says what to do: an unreadable file, a
// bad option, nothing to compare.
func Compare(paths []string, opts Options) (*Comparison, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	d, err := Read(paths, opts.Stdin)
	if err != nil {
		return nil, err
	}
	return d.Compare(opts)
}

// check fills in the default levels, and is Check then.
func (o *Options) check() error {
	o.Alpha, o.Margin = cmp.Or(o.Alpha, DefaultAlpha), cmp.Or(o.Margin, DefaultMargin)
	return o.Check()
}

// Check returns an error for options that make no sense, which names the flag.
func (o Options) Check() error {
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return fmt.Errorf("--alpha is %v; it must lie between 0 and 1, such as %v", o.Alpha, DefaultAlpha)
	}
	if !(o.Margin > 0 && o.Margin < 1) {
		return fmt.Errorf("--margin is %v; it must lie between 0 and 1, such as %v", o.Margin, DefaultMargin)
	}
	if _, err := regexp.Compile(o.Accept); err != nil {
		return fmt.Errorf("--accept %q: %w", o.Accept, err)
	}
	return nil
}

// Unmeasured is the comparison of two versions of which nothing could be measured.
// absent says why, as it would stand in results.
func Unmeasured(absent []record.Hole, opts Options) (*Comparison, error) {
	var b strings.Builder
	for _, h := range absent {
		if h.Case != "" {
			fmt.Fprintf(&b, "pkg: %s\n%s: %s\n", h.Pkg, record.SideKey, h.Side)
		}
		fmt.Fprintln(&b, h.Line())
	}
	opts.Stdin = strings.NewReader(b.String())
	return Compare([]string{"nothing measured=-"}, opts)
}

// Compare compares what was read, as the function Compare does; opts.Stdin is not used.
// Comparing the same once more takes no time.
func (d *Data) Compare(opts Options) (*Comparison, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.Stdin = nil
	if opts.Col == "" {
		if opts.Col = d.columns(); opts.Col == record.SideKey && d.labels() > 1 {
			return nil, errors.New("each of the files has two columns of its own, old and new, so labels cannot be columns: compare them one by one, or without labels")
		}
	}
	c := d.done[opts]
	if c == nil {
		var err error
		if c, err = d.evaluate(opts); err != nil {
			return nil, err
		}
		if d.done == nil {
			d.done = make(map[Options]*Comparison)
		}
		d.done[opts] = c
	}
	again := *c
	return &again, nil
}

func (d *Data) evaluate(opts Options) (*Comparison, error) {
	var accept *regexp.Regexp
	if opts.Accept != "" {
		accept = regexp.MustCompile(opts.Accept) // which check has looked at
	}
	c := &Comparison{Alpha: opts.Alpha, Margin: opts.Margin, Col: opts.Col}
	e, g, err := d.tables(opts, accept, c)
	if err != nil {
		return nil, err
	}
	if opts.Filter != "" {
		opts.Filter = ""
		// Without a filter it may be that results cannot be compared; then these are all.
		if whole, _, err := d.tables(opts, accept, &Comparison{Alpha: opts.Alpha, Margin: opts.Margin}); err == nil {
			e.whole = slices.Concat(whole.tested, whole.controls)
		}
	}
	c.showFailures()
	e.conclude()
	c.showTimes()
	e.warn(g)
	e.unprove()
	c.Warnings = append(g.tellDamage(), c.Warnings...)
	return c, nil
}

// showTimes puts beside counts of instructions what time says.
func (c *Comparison) showTimes() {
	i := slices.IndexFunc(c.Tables, func(t Table) bool { return Seconds(t.Unit) > 0 && strings.HasSuffix(t.Unit, "/op") && t.Resource })
	if !c.Counted() || i < 0 {
		return
	}
	times := &c.Tables[i]
	for _, r := range c.Tables[0].Rows {
		k := slices.IndexFunc(times.Rows, func(o Row) bool { return o.Name == r.Name && o.Pkg == r.Pkg })
		if k < 0 {
			continue
		}
		for col := range r.Cells {
			if at := slices.Index(times.Cols, c.Tables[0].Cols[col]); at >= 0 {
				r.Cells[col].Time = &times.Rows[k].Cells[at]
			}
		}
	}
}

// tables fills the tables of c, before the tests of it are taken together.
func (d *Data) tables(opts Options, accept *regexp.Regexp, c *Comparison) (*evaluator, *grid, error) {
	g, err := d.grid(opts, accept, c)
	if err != nil {
		return nil, nil, err
	}
	j := evaluator{c: c, looks: make(map[string]stats.Looks), notes: make(map[string]int), pooled: make(map[string]bool), differ: make(map[string][]string), times: g.times, slices: g.slices}
	for _, s := range d.sources {
		j.looks[s.file.Label] = stats.Looks{At: s.from.Looks}
	}
	units := slices.DeleteFunc(slices.Clone(g.units), func(unit string) bool { return opts.Unit != "" && g.orig[unit] != opts.Unit })
	c.Tables = make([]Table, len(units))
	for i, unit := range units {
		if err := j.table(&c.Tables[i], g, unit, opts); err != nil {
			return nil, nil, err
		}
	}
	return &j, g, nil
}

// grid returns what opts ask for, arranged, and says in c what is to be said of that. It is made
// once, whatever it is compared by.
func (d *Data) grid(opts Options, accept *regexp.Regexp, c *Comparison) (*grid, error) {
	key := Options{Col: opts.Col, Filter: opts.Filter, Accept: opts.Accept}
	made, ok := d.grids[key]
	if !ok {
		g, err := arrange(d, opts, &made.says)
		if err != nil {
			return nil, err
		}
		g.findFailures(accept)
		g.dueTime()
		g.blameNobody()
		made.grid, made.says.Failures = g, g.failures
		if d.grids == nil {
			d.grids = make(map[Options]arranged)
		}
		d.grids[key] = made
	}
	c.Files, c.Problems, c.Failures = made.says.Files, made.says.Problems, made.says.Failures
	c.Warnings = slices.Clip(made.says.Warnings)
	return made.grid, nil
}

// An arranged is a grid, and what is to be said of it.
type arranged struct {
	grid *grid
	says Comparison
}
