package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// A File is what a results file says, ours or that of go test -bench.
type File struct {
	Path string

	// Config are the configuration lines, each key with all its values.
	Config []Setting

	// The Result of each record has the configuration in force where it stands. That of
	// a hole has no values; and of a whole package, which stands in no place that has a
	// configuration, nothing but the package and the side. Values are numbers in tidy
	// units: one that is infinite or none is left out.
	Results, Holes []Record

	Units   benchfmt.UnitMetadataMap
	Clauses []BoardClause // of a board: one that was run several times is there several times
	Alone   []RowLine     // rows that took no turns, with the reason
	Notes   []RowLine     // what a reader should know of rows, or of a board's cases
	Took    []RowLine     // how long measuring rows took
	Looks   []int         // of the plan; empty if that is fixed, or cannot be read

	// Planned is how many blocks the plan asks for, Ended the number of the last complete
	// one, and Finished whether nothing is left to do: all are complete, or all is decided.
	// Without a plan that can be read they are zero.
	Planned, Ended int
	Finished       bool

	// Sources and Slice are those of the plan; none if it has none, or cannot be read.
	Sources map[string]string
	Slice   time.Duration

	// Problems are what cannot be read, in the order of lines; the rest was. Strays are
	// lines that benchrun never writes whole, such as those of go test around its
	// results, or a benchmark line without an end, whose last figure may lack digits.
	Problems, Strays []Problem

	// Damage is what shows that something else was written, in the order in which it is found.
	Damage []Damage

	size   int  // bytes
	binary bool // it has a byte that no text has
}

// A RowLine is a line about a row, or about a case of a board, whose Row is the case.
type RowLine struct {
	Pkg, Row string
	Text     string        // the reason or the note
	Took     time.Duration // of Took alone
}

// A Problem is what is wrong with a line.
type Problem struct {
	Line int
	What string
}

// Value returns the latest new value of a configuration key, "" if there is none.
func (f *File) Value(key string) string {
	for _, s := range f.Config {
		if s.Key == key {
			return s.Values[len(s.Values)-1]
		}
	}
	return ""
}

// Strict returns the results and problems of a file that has nothing but what benchrun
// writes, and all of it: damage and strays are problems there, and strays no results.
func (f *File) Strict() (results []Record, problems []Problem) {
	stray := make(map[int]bool)
	for _, p := range f.Strays {
		stray[p.Line] = true
	}
	results = slices.DeleteFunc(slices.Clone(f.Results), func(r Record) bool { return stray[r.Line()] })
	problems = slices.DeleteFunc(slices.Clone(f.Problems), func(p Problem) bool { return stray[p.Line] })
	for _, d := range f.Damage {
		problems = append(problems, d.Problem)
	}
	return results, append(slices.Clone(f.Strays), problems...)
}

// Tell returns problems of f as messages, in the order of their lines.
func (f *File) Tell(problems []Problem) (told []string) {
	for _, p := range slices.SortedStableFunc(slices.Values(problems), byLine) {
		told = append(told, fmt.Sprintf("%s:%d: %s", f.Path, p.Line, p.What))
	}
	return told
}

func byLine(a, b Problem) int { return cmp.Compare(a.Line, b.Line) }

// Line returns the line that a result or a hole was read from.
func (r Record) Line() int { return r.number }

// maxLine is the length from which a line is left out, newline included: benchfmt
// ends reading at a line of 64 KiB. Lines that benchfmt takes for comments may be longer.
const maxLine = 64<<10 - 1

// Read reads a results file. It is the only reader of results; to go on with a run there
// is ReadInterrupted. Whatever data holds, what can be read of it is read. path is for
// messages.
func Read(path string, data []byte) *File {
	text, err := translated(decode(data))
	r := fileReader{
		f: &File{Path: path, size: len(data), binary: strings.Contains(text, "\x00")}, stopped: make(map[int]int),
		damageFinder: damageFinder{ends: make(map[int]bool)},
	}
	if err != nil {
		r.problem(1, err.Error())
		return r.f
	}
	r.f.Results = slices.Grow(r.f.Results, strings.Count(text, "\n"+ResultMark))
	for line := range Lines(text) {
		r.look(line, &r.config)
		r.take(line)
	}
	r.f.Config = r.settings.List
	if p := r.planned; p != nil && p.Check() == nil {
		r.f.Planned = p.Blocks
		r.f.Finished = r.f.Ended >= p.Blocks || len(r.stopped) == len(p.Groups())
	}
	r.results()
	r.f.Damage = r.damage()
	slices.SortStableFunc(r.f.Problems, byLine)
	return r.f
}

// ReadFile is Read of the file at path.
func ReadFile(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Read(path, data), nil
}

// A fileReader is the state of Read.
type fileReader struct {
	f        *File
	settings Settings
	config   config // in force

	planned *Plan       // as far as it can be read
	stopped map[int]int // rows that a sequential plan has decided, and after which block, by Group.Index

	damageFinder

	// figures has the benchmark and Unit lines of the file, each on the line on which it
	// stands there, and lines is how many it has: benchfmt reads them all at once.
	figures bytes.Buffer
	lines   int
}

// lineReaders take in lines by their mark.
var lineReaders = map[string]func(r *fileReader, l Line) error{
	PlanMark: (*fileReader).plan,
	aloneMark: func(r *fileReader, l Line) error {
		return l.row(&r.f.Alone, "reason", "malformed line of a row")
	},
	NoteMark: func(r *fileReader, l Line) error {
		return l.row(&r.f.Notes, "text", "malformed note")
	},
	tookMark: (*fileReader).took,
	caseMark: (*fileReader).planCase,
	BlockEnd: (*fileReader).blockEnd,
	decidedMark: func(r *fileReader, l Line) error {
		fields, _ := ParseFields(l.Rest)
		group, _ := strconv.Atoi(fields["group"])
		block, err := strconv.Atoi(fields["block"])
		if err == nil {
			r.stopped[group] = block
		}
		return nil
	},
	SlicesMark: (*fileReader).slices,
	ClauseMark: (*fileReader).clause,
	HoleMark:   (*fileReader).hole,
	SkipMark:   (*fileReader).hole,
	ResultMark: (*fileReader).result,
	unitMark:   (*fileReader).figure,
	"":         (*fileReader).unmarked,
}

// mayBeLong has the marks of lines that may be longer than maxLine.
var mayBeLong = []string{PlanMark, aloneMark, NoteMark, SlicesMark}

// take takes in a line.
func (r *fileReader) take(l Line) {
	read, ok := lineReaders[l.Mark]
	switch {
	case l.Size > maxLine && !slices.Contains(mayBeLong, l.Mark):
		r.problem(l.Number, fmt.Sprintf("a line of %d bytes is longer than any that can be read", l.Size))
	case ok:
		if err := read(r, l); err != nil {
			r.problem(l.Number, err.Error())
		}
	}
}

// planCase takes in a benchmark of the plan.
func (r *fileReader) planCase(l Line) error {
	if r.planned != nil {
		r.planned, _ = r.planned.decode(l)
	}
	return nil
}

// blockEnd takes in that a block is complete.
func (r *fileReader) blockEnd(l Line) error {
	if n, err := strconv.Atoi(l.Rest); err == nil && n == r.f.Ended+1 {
		r.f.Ended = n
	}
	return nil
}

// plan takes in a plan. Of one that cannot be read one only loses what a reader wants to
// know of it, which resuming would complain of.
func (r *fileReader) plan(l Line) error {
	r.planned, _ = r.planned.decode(l)
	var p struct {
		Looks   []int
		Sources map[string]string
		Slice   time.Duration
	}
	if json.Unmarshal([]byte(l.Rest), &p) == nil && slices.IsSorted(p.Looks) {
		r.f.Looks, r.f.Sources, r.f.Slice = p.Looks, p.Sources, p.Slice
	}
	return nil
}

// clause takes in what became of a clause.
func (r *fileReader) clause(l Line) error {
	c, err := parseClause(l.Rest)
	if err == nil {
		r.f.Clauses = append(r.f.Clauses, c)
	}
	return err
}

// result takes in a benchmark line, which has the configuration in force.
func (r *fileReader) result(l Line) error {
	r.f.Results = append(r.f.Results, Record{line: l, number: l.Number, Result: &benchfmt.Result{Config: r.config.now()}})
	return r.figure(l)
}

// unmarked takes in a line of the configuration, or one that is none of ours.
func (r *fileReader) unmarked(l Line) error {
	if l.Key != "" {
		r.config.set(l.Key, l.Value)
		r.settings.Add(l.Key, l.Value)
	} else if l.Text[0] != '#' {
		r.stray(l, "neither a result nor a configuration line: "+Shortened(l.Text))
	}
	return nil
}

func (r *fileReader) problem(line int, what string) {
	r.f.Problems = append(r.f.Problems, Problem{line, what})
}

func (r *fileReader) stray(l Line, what string) {
	r.f.Strays = append(r.f.Strays, Problem{l.Number, what})
}

// row takes in a line about a row, of which the field key is the text.
func (l Line) row(to *[]RowLine, key, malformed string) error {
	fields, err := ParseFields(l.Rest)
	if err != nil {
		return fmt.Errorf("%s: %w", malformed, err)
	}
	row := cmp.Or(fields["row"], strings.TrimPrefix(fields["case"], "Benchmark"))
	*to = append(*to, RowLine{Pkg: fields["pkg"], Row: row, Text: fields[key]})
	return nil
}

// took takes in how long measuring a row took.
func (r *fileReader) took(l Line) error {
	fields, err := ParseFields(l.Rest)
	ms, bad := strconv.Atoi(fields["ms"])
	if err != nil || bad != nil {
		return errors.New("malformed line of a row's time")
	}
	r.f.Took = append(r.f.Took, RowLine{Pkg: fields["pkg"], Row: fields["row"], Took: time.Duration(ms) * time.Millisecond})
	return nil
}

// errOrphaned is what is wrong with slices that stand below no result.
var errOrphaned = errors.New("slices of no benchmark result")

// slices takes in a line of slices, which belongs to the result in the line above.
func (r *fileReader) slices(l Line) error {
	s, err := parseSlices(l.Rest)
	if err != nil {
		return err
	}
	last := len(r.f.Results) - 1
	if last < 0 || r.f.Results[last].line.Number != l.Number-1 {
		return errOrphaned
	}
	r.f.Results[last].Slices = &s
	return nil
}

// hole takes in a hole, which has the configuration in force, but for that of a package.
func (r *fileReader) hole(l Line) error {
	h, err := parseHole(l.Rest, l.Mark == SkipMark)
	if err != nil {
		return err
	}
	res := new(benchfmt.Result)
	at := config{list: r.config.now(), shared: true}
	if h.Case == "" {
		at = config{}
		at.set("pkg", h.Pkg)
		at.set(SideKey, h.Side)
	} else if h.Block != "" {
		at.set("block", h.Block)
	}
	res.Config = at.now()
	if h.Case != "" {
		res.Name = benchfmt.Name(h.Case[len(ResultMark):])
		h.Pkg, h.Side = ConfigOf(res, "pkg"), ConfigOf(res, SideKey)
	}
	r.f.Holes = append(r.f.Holes, Record{Result: res, Hole: &h, number: l.Number})
	return nil
}

// figure keeps a line for benchfmt.
func (r *fileReader) figure(l Line) error {
	for ; r.lines < l.Number-1; r.lines++ {
		r.figures.WriteByte('\n')
	}
	r.figures.WriteString(l.Text + "\n")
	r.lines++
	return nil
}

// results has benchfmt read the benchmark and Unit lines, and completes the results.
func (r *fileReader) results() {
	var b benchfmt.Reader
	b.Reset(&r.figures, r.f.Path)
	read := make(map[int]*benchfmt.Result, len(r.f.Results)) // by line
	for b.Scan() {                                           // there is no error: no line is too long
		_, line := b.Result().Pos()
		switch rec := b.Result().(type) {
		case *benchfmt.SyntaxError:
			r.problem(line, rec.Msg)
		case *benchfmt.Result:
			read[line] = &benchfmt.Result{Name: slices.Clone(rec.Name), Iters: rec.Iters, Values: slices.Clone(rec.Values)}
		}
	}
	r.f.Units = b.Units()
	r.f.Results = slices.DeleteFunc(r.f.Results, func(rec Record) bool { return !r.complete(rec, read[rec.line.Number]) })
	for i := range r.f.Results {
		r.f.Results[i].line = Line{} // which would keep all of the file
	}
}

// complete gives rec what its line says; ok is false if that is no result. A lone name,
// as go test -v prints it when a benchmark begins, is no problem.
func (r *fileReader) complete(rec Record, res *benchfmt.Result) (ok bool) {
	l := rec.line
	switch {
	case l.Torn:
		r.stray(l, "the line is torn")
	case res == nil:
		r.stray(l, "not a benchmark result: "+Shortened(l.Text))
	}
	if res == nil {
		if rec.Slices != nil {
			r.problem(l.Number+1, errOrphaned.Error())
		}
		return false
	}
	res.Config = rec.Result.Config
	res.Values = slices.DeleteFunc(res.Values, func(v benchfmt.Value) bool {
		if InRange(Tidied(v).Value) {
			return false
		}
		r.problem(l.Number, fmt.Sprintf("the value in %s is %v; what is not 0 has to be between %g and %g in size", Written(v), InUnit(v, Written(v)), 1/farthest, farthest))
		return true
	})
	for i, v := range res.Values {
		res.Values[i] = Tidied(v)
	}
	*rec.Result = *res
	return true
}

// farthest is how large a value may be, and its inverse how small if it is not zero. Of these
// squares and ratios are finite, and so are the sums of as many as a file can have.
const farthest = 1e100

// InRange reports whether a value, in its tidy unit, can be a figure: zero, or between 1e-100 and 1e100 in size.
// Others are left out of what is read. (benchmath's rank test does not end on NaN, and a variance
// that is infinite makes NaN of all that is divided by it.)
func InRange(v float64) bool {
	size := math.Abs(v)
	return size == 0 || 1/farthest <= size && size <= farthest
}

// A config is the configuration in force, in the order that benchfmt has: that of
// appearance, but the last key takes the place of one that is taken away.
type config struct {
	list   []benchfmt.Config
	shared bool // with results
}

// now returns the configuration, which stays as it is when c changes.
func (c *config) now() []benchfmt.Config {
	c.shared = true
	return slices.Clip(c.list)
}

// set sets a key, or takes it away if value is "".
func (c *config) set(key, value string) {
	if c.shared {
		c.list, c.shared = slices.Clone(c.list), false
	}
	i := slices.IndexFunc(c.list, func(o benchfmt.Config) bool { return o.Key == key })
	if i < 0 {
		key = strings.Clone(key) // which would keep all of the file
	} else {
		key = c.list[i].Key
	}
	switch last := len(c.list) - 1; {
	case i < 0 && value == "":
	case i < 0:
		c.list = append(c.list, benchfmt.Config{Key: key, Value: []byte(value), File: true})
	case value == "":
		c.list[i] = c.list[last]
		c.list = c.list[:last]
	default:
		c.list[i] = benchfmt.Config{Key: key, Value: []byte(value), File: true}
	}
}
