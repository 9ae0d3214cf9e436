package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// A truthKey names a row.
type truthKey struct{ pkg, name string }

// A truthFile is a file of a truth suite.
type truthFile struct {
	*record.File
	part   string
	values []truthValue
}

// A truthValue is a benchmark line.
type truthValue struct {
	measured
	file *truthFile
	took time.Duration // how long the row took in this block; 0 if that is not known
}

func (v truthValue) key() truthKey { return truthKey{v.pkg, v.name} }

// sideOf returns the times of one version.
func sideOf(values []truthValue, side string) []float64 {
	return each(where(values, func(v truthValue) bool { return v.side == side }), func(v truthValue) float64 { return v.ns })
}

// ReadTruth computes what the results of truth suites show. Of several files with
// pairs the pairs are pooled, of all other files each is a verdict of its own. A file
// of benchrun ab that is part of no suite counts as its part of one.
//
// It is an error if a file cannot be read at all, if they are of several machines, or
// if there are no pairs.
func ReadTruth(paths []string) (*Truth, error) {
	var from sources
	var files []*truthFile
	for _, path := range paths {
		f, err := readTruthFile(&from, path)
		if err != nil {
			return nil, err
		}
		if files = append(files, f); f.Value("machine") != files[0].Value("machine") {
			return nil, fmt.Errorf("%s is of another machine (%s) than %s (%s): what is true on one need not be on the other",
				path, compare.OrNone(f.Value("machine")), paths[0], compare.OrNone(files[0].Value("machine")))
		}
	}
	if err := sameTimes(files); err != nil {
		return nil, err
	}
	t := &Truth{Findings: from.findings(TruthSchema, compare.DefaultAlpha), Faults: from.faults}
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
	// What benchstat says of a row that has no other measurement tells nothing.
	t.Rows = slices.DeleteFunc(t.Rows, func(r TruthRow) bool { return r.Truth.Pairs == 0 && len(r.Dyno) == 0 })
	t.count()
	if !slices.ContainsFunc(t.Rows, func(r TruthRow) bool { return r.Truth.Pairs > 0 }) {
		return nil, from.nothing("nothing to compute the truth from: no file has pairs of processes; benchrun calibrate --truth makes them")
	}
	return t, nil
}

// sameTimes returns an error if files have pairs that measured for different times:
// what is true of a short call need not be of a long one.
func sameTimes(files []*truthFile) error {
	pairs := where(files, func(f *truthFile) bool { return f.part == TruthPairs })
	for _, f := range pairs {
		if first := pairs[0]; f.Value("benchtime") != first.Value("benchtime") {
			return fmt.Errorf("the processes of %s measured for %s each and those of %s for %s: that is not one truth",
				first.Path, compare.OrNone(first.Value("benchtime")), f.Path, compare.OrNone(f.Value("benchtime")))
		}
	}
	return nil
}

func readTruthFile(from *sources, path string) (_ *truthFile, err error) {
	f := new(truthFile)
	f.File, err = from.read(path, func(m measured) (wrong string) {
		v := truthValue{measured: m, file: f}
		if m.record.Slices != nil {
			v.took = m.record.Slices.Took
		}
		f.values = append(f.values, v)
		return ""
	})
	if err != nil {
		return nil, err
	}
	f.part = cmp.Or(f.Value(TruthKey), TruthAB)
	return f, nil
}

// row returns the values of a row.
func (f *truthFile) row(row truthKey) []truthValue {
	return where(f.values, func(v truthValue) bool { return v.key() == row })
}

// time returns how long measuring a row took, all of it; 0 if that is not known.
func (f *truthFile) time(row truthKey) (all time.Duration) {
	for _, line := range f.Took { // of older files
		if (row == truthKey{line.Pkg, line.Row}) {
			all += line.Took
		}
	}
	if all > 0 {
		return all
	}
	timed := where(f.row(row), func(v truthValue) bool { return v.took > 0 })
	for _, block := range groupBy(timed, func(v truthValue) string { return v.block }) {
		all += block.members[len(block.members)-1].took
	}
	return all
}

// pool makes the rows, of all that any file has, and their truth.
func (t *Truth) pool(files []*truthFile) {
	var values []truthValue
	for _, f := range files {
		values = append(values, f.values...)
	}
	rows := groupBy(values, truthValue.key)
	slices.SortStableFunc(rows, func(a, b group[truthKey, truthValue]) int {
		return cmp.Compare(a.members[0].place(), b.members[0].place())
	})
	type process struct {
		file  *truthFile
		block string
	}
	for _, row := range rows {
		r := TruthRow{Pkg: row.key.pkg, Name: row.key.name, Dyno: []TruthVerdict{}, Benchstat: []TruthVerdict{}}
		var before, after []float64
		paired := where(row.members, func(v truthValue) bool { return v.file.part == TruthPairs })
		for _, pair := range groupBy(paired, func(v truthValue) process { return process{v.file, v.block} }) {
			a, b := sideOf(pair.members, record.SideOld), sideOf(pair.members, record.SideNew)
			if len(a) > 0 && len(b) > 0 {
				before, after = append(before, a[0]), append(after, b[0])
			}
		}
		r.Truth = ratioOfMeans(before, after, t.Alpha, t.Margin)
		for _, v := range row.members {
			if v.file.part == TruthAB {
				r.Driven = cmp.Or(r.Driven, v.driven)
			}
		}
		t.Rows = append(t.Rows, r)
	}
}

// compared adds what benchrun ab says.
func (t *Truth) compared(f *truthFile, name string) error {
	c, err := compare.Of(f.File).Compare(compare.Options{Col: record.SideKey, Alpha: t.Alpha, Margin: t.Margin})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		v := TruthVerdict{File: name, Verdict: compare.Absent, P: 1, Seconds: f.time(truthKey{r.Pkg, r.Name}).Seconds()}
		for _, table := range c.Tables {
			cell := cellOf(table, r.Pkg, r.Name, record.SideNew)
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

// oneByOne adds what benchstat says of what people give to it.
func (t *Truth) oneByOne(f *truthFile, name string) {
	for i := range t.Rows {
		r := &t.Rows[i]
		row := f.row(truthKey{r.Pkg, r.Name})
		before, after := sideOf(row, record.SideOld), sideOf(row, record.SideNew)
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
