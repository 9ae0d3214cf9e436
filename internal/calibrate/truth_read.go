package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// A truthKey names a row.
type truthKey struct{ pkg, name string }

// A truthFile is what a file of a truth suite has.
type truthFile struct {
	path, part string
	from       *record.File
	started    time.Time
	values     []truthValue
	driven     map[truthKey]string
	took       map[truthKey]time.Duration            // as older files say it
	rows       map[truthKey]map[string]time.Duration // how long the row took, by block
	place      map[truthKey]int                      // by the number of the case
}

// A truthValue is a benchmark line.
type truthValue struct {
	truthKey
	side, block string
	ns          float64 // of an operation
}

// ReadTruth computes what the results of truth suites show. Of several files with
// pairs the pairs are pooled, of all other files each is a verdict of its own. A file
// of benchrun ab that is part of no suite counts as its part of one.
//
// It is an error if a file cannot be read at all, if they are of several machines, or
// if there are no pairs.
func ReadTruth(paths []string) (*Truth, error) {
	t := &Truth{Schema: TruthSchema, Alpha: compare.DefaultAlpha, Margin: compare.DefaultMargin, Circumstances: make(map[string]string)}
	var files []*truthFile
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, fmt.Errorf("%s is given twice, which would count what it has twice", path)
		}
		f, err := t.readFile(path)
		if err != nil {
			return nil, err
		}
		if first := paths[0]; i > 0 && f.from.Value("machine") != files[0].from.Value("machine") {
			return nil, fmt.Errorf("%s is of another machine (%s) than %s (%s): what is true on one need not be on the other",
				path, compare.OrNone(f.from.Value("machine")), first, compare.OrNone(files[0].from.Value("machine")))
		}
		files = append(files, f)
		t.Files = append(t.Files, filepath.Base(path))
		if f.started.After(t.Measured) {
			t.Measured = f.started
		}
	}
	if err := sameTimes(files); err != nil {
		return nil, err
	}
	t.pool(files)
	for i, f := range files {
		switch f.part {
		case TruthAB:
			if err := t.compared(f, t.Files[i]); err != nil {
				return nil, err
			}
		case TruthBenchstat:
			t.oneByOne(f, t.Files[i])
		}
	}
	// What benchstat says of a row that nobody has looked at otherwise tells nothing.
	t.Rows = slices.DeleteFunc(t.Rows, func(r TruthRow) bool { return r.Truth.Pairs == 0 && len(r.Dyno) == 0 })
	t.count()
	if !slices.ContainsFunc(t.Rows, func(r TruthRow) bool { return r.Truth.Pairs > 0 }) {
		msg := "nothing to compute the truth from: no file has pairs of processes; benchrun calibrate --truth makes them"
		if len(t.Problems) > 0 {
			msg += "; the first line that cannot be read is " + t.Problems[0]
		}
		return nil, errors.New(msg)
	}
	return t, nil
}

// sameTimes returns an error if files have pairs that measured for different times:
// what is true of a short call need not be of a long one.
func sameTimes(files []*truthFile) error {
	var first *truthFile
	for _, f := range files {
		switch {
		case f.part != TruthPairs:
		case first == nil:
			first = f
		case f.from.Value("benchtime") != first.from.Value("benchtime"):
			return fmt.Errorf("the processes of %s measured for %s each and those of %s for %s: that is not one truth",
				first.path, compare.OrNone(first.from.Value("benchtime")), f.path, compare.OrNone(f.from.Value("benchtime")))
		}
	}
	return nil
}

// readFile reads a file, and notes its circumstances, problems and holes.
func (t *Truth) readFile(path string) (*truthFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	from := record.Read(path, data)
	f := &truthFile{
		path: path, part: cmp.Or(from.Value(TruthKey), TruthAB), from: from,
		driven: make(map[truthKey]string), took: make(map[truthKey]time.Duration),
		rows: make(map[truthKey]map[string]time.Duration), place: make(map[truthKey]int),
	}
	f.started, _ = time.Parse(time.RFC3339, from.Value("started"))
	for _, s := range from.Config {
		for _, v := range s.Values {
			noteCircumstance(t.Circumstances, s.Key, v)
		}
	}
	for _, row := range from.Took {
		f.took[truthKey{row.Pkg, row.Row}] += row.Took
	}
	t.Holes = append(t.Holes, holesOf(from)...)
	results, problems := from.Strict()
	for _, rec := range results {
		ns, ok := timeOf(rec)
		if !ok {
			problems = append(problems, record.Problem{Line: rec.Line(), What: withoutTime})
			continue
		}
		at := rec.Result.GetConfig
		key := truthKey{at("pkg"), string(rec.Result.Name)}
		if n, err := strconv.Atoi(at("case")); err == nil && f.place[key] == 0 {
			f.place[key] = n
		}
		if d := at("driven"); d != "" && f.driven[key] == "" {
			f.driven[key] = d
		}
		f.values = append(f.values, truthValue{key, at(record.SideKey), at("block"), ns})
		if rec.Slices != nil && rec.Slices.Took > 0 {
			if f.rows[key] == nil {
				f.rows[key] = make(map[string]time.Duration)
			}
			f.rows[key][at("block")] = rec.Slices.Took
		}
	}
	t.Problems = append(t.Problems, from.Tell(problems)...)
	return f, nil
}

// time returns how long measuring a row took, all of it; 0 if that is not known.
func (f *truthFile) time(row truthKey) time.Duration {
	if took := f.took[row]; took > 0 {
		return took
	}
	all := time.Duration(0)
	for _, took := range f.rows[row] {
		all += took
	}
	return all
}

// pool makes the rows, of all that any file has, and their truth.
func (t *Truth) pool(files []*truthFile) {
	place := make(map[truthKey]int)
	before, after := make(map[truthKey][]float64), make(map[truthKey][]float64)
	for _, f := range files {
		for _, v := range f.values {
			if _, ok := place[v.truthKey]; !ok {
				place[v.truthKey] = f.place[v.truthKey]
				t.Rows = append(t.Rows, TruthRow{Pkg: v.pkg, Name: v.name, Dyno: []TruthVerdict{}, Benchstat: []TruthVerdict{}})
			}
		}
		if f.part != TruthPairs {
			continue
		}
		type end struct {
			truthKey
			block string
		}
		pairs := make(map[end]map[string]float64) // by side
		for _, v := range f.values {
			at := end{v.truthKey, v.block}
			if pairs[at] == nil {
				pairs[at] = make(map[string]float64)
			}
			if pairs[at][v.side] != 0 {
				continue // the block has it already
			}
			pairs[at][v.side] = v.ns
			if pair := pairs[at]; pair[record.SideOld] != 0 && pair[record.SideNew] != 0 {
				before[v.truthKey], after[v.truthKey] = append(before[v.truthKey], pair[record.SideOld]), append(after[v.truthKey], pair[record.SideNew])
			}
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b TruthRow) int { return place[truthKey{a.Pkg, a.Name}] - place[truthKey{b.Pkg, b.Name}] })
	for i := range t.Rows {
		r := &t.Rows[i]
		key := truthKey{r.Pkg, r.Name}
		r.Truth = ratioOfMeans(before[key], after[key], t.Alpha, t.Margin)
		for _, f := range files {
			if f.part == TruthAB && r.Driven == "" {
				r.Driven = f.driven[key]
			}
		}
	}
}

// compared adds what benchrun ab says.
func (t *Truth) compared(f *truthFile, name string) error {
	c, err := compare.Of(f.from).Compare(compare.Options{Col: record.SideKey, Alpha: t.Alpha, Margin: t.Margin})
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		v := TruthVerdict{File: name, Verdict: compare.Absent, P: 1, Seconds: f.time(truthKey{r.Pkg, r.Name}).Seconds()}
		for _, table := range c.Tables {
			cell := truthCell(table, r)
			switch {
			case cell == nil:
			case table.Unit == "ns/op":
				v.Verdict = cell.Verdict
				for _, n := range cell.Notes {
					v.Notes = append(v.Notes, c.Notes[n])
				}
				if cell.Vs != nil {
					if sees := finite(cell.Vs.Detectable); v.Verdict == compare.Inconclusive && sees > 1 {
						v.Sees = sees - 1
					}
					v.Ratio, v.Lo, v.Hi = finite(cell.Vs.Ratio), finite(cell.Vs.Lo), finite(cell.Vs.Hi)
					if v.Hi == 0 { // there is no interval
						v.Lo = 0
					}
					if !math.IsNaN(cell.Vs.Adjusted) {
						v.P = cell.Vs.Adjusted
					}
				}
			case cell.Verdict.Proven():
				v.Others = append(v.Others, table.Unit+" "+string(cell.Verdict))
			}
		}
		if v.Verdict != compare.Absent {
			r.Dyno = append(r.Dyno, v)
		}
	}
	return nil
}

// truthCell returns the new version's cell of a row, nil if the table has none.
func truthCell(table compare.Table, r *TruthRow) *compare.Cell {
	col := slices.IndexFunc(table.Cols, func(c compare.Column) bool { return c.Name == record.SideNew })
	row := slices.IndexFunc(table.Rows, func(o compare.Row) bool { return o.Name == r.Name && (o.Pkg == r.Pkg || o.Pkg == "") })
	if col < 0 || row < 0 {
		return nil
	}
	return &table.Rows[row].Cells[col]
}

// oneByOne adds what benchstat says of what people give to it.
func (t *Truth) oneByOne(f *truthFile, name string) {
	for i := range t.Rows {
		r := &t.Rows[i]
		var before, after []float64
		for _, v := range f.values {
			switch {
			case v.truthKey != truthKey{r.Pkg, r.Name}:
			case v.side == record.SideOld:
				before = append(before, v.ns)
			case v.side == record.SideNew:
				after = append(after, v.ns)
			}
		}
		if len(before) == 0 || len(after) == 0 {
			continue
		}
		p, up := mannWhitney(before, after, t.Alpha)
		v := TruthVerdict{File: name, Verdict: compare.Inconclusive, P: p, Ratio: medianOf(after) / medianOf(before)}
		switch {
		case p > t.Alpha:
		case up:
			v.Verdict = compare.Slower
		default:
			v.Verdict = compare.Faster
		}
		r.Benchstat = append(r.Benchstat, v)
	}
}

// finite returns v, or 0 if it is no number to write down.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
