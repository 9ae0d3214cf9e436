package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// Options say how a calibration judges. The zero value is the default,
// which is that of reports.
type Options struct {
	Alpha float64 // level of each test, in (0, 1); 0 means DefaultAlpha

	// Rounds is how many rounds of each block are used, the first ones: what a
	// shorter calibration would have shown. 0 means all.
	Rounds int

	// evaluate evaluates the results of a trial as a report would; nil means
	// evaluateTrial. Tests put a wrong one here.
	evaluate func(t *trial, o Options) error
}

// A trial is the results of one trial, as a file has them.
type trial struct {
	from    *record.File
	number  string
	records []trialRecord
	pairs   []*trialPair // what evaluate evaluates

	// versions says that the trial is a report of benchrun ab of two versions that do
	// the same: the whole file is one, and the new version is A/A.
	versions bool
}

// A trialRecord is one result of a trial.
type trialRecord struct {
	measured
	trial    string // its number
	versions bool   // as trial has it
	slow     float64
	copy     string // "2" for the control, the second identical process
	trialProcess
}

// Read computes what results of benchrun calibrate show. Several files
// are pooled: each trial of each counts as one. A file of benchrun ab counts as a
// trial of A/A, so its versions must do the same: that they do is the caller's word.
// Lines that cannot be read are among its Problems. It is an error if a file cannot be read at all, or nothing
// is in them that could be compared.
func Read(paths []string, o Options) (*compare.Calibration, error) {
	o.Alpha = cmp.Or(o.Alpha, compare.DefaultAlpha)
	if o.evaluate == nil {
		o.evaluate = evaluateTrial
	}
	var pairs []*trialPair
	var from sources
	for _, path := range paths {
		trials, err := readTrials(&from, path)
		if err != nil {
			return nil, err
		}
		for _, t := range trials {
			if o.Rounds > 0 {
				if t.versions {
					return nil, fmt.Errorf("%s is of benchrun ab, whose verdicts are those of all its rounds", path)
				}
				t.shorten(o.Rounds)
			}
			t.pair()
			if err := o.evaluate(t, o); err != nil {
				return nil, fmt.Errorf("%s, trial %s: %w", path, t.number, err)
			}
			pairs = append(pairs, t.pairs...)
		}
	}
	c := &compare.Calibration{Findings: from.findings(CalibrationSchema, o.Alpha), Faults: from.faults}
	count(c, pairs)
	if c.Trials == 0 {
		return nil, from.nothing("nothing to compute a calibration from: no trial has a benchmark measured twice in a block; benchrun calibrate makes such results")
	}
	return c, nil
}

// readTrials splits a file into trials.
func readTrials(from *sources, path string) (trials []*trial, err error) {
	f, err := from.read(path, func(m measured) (wrong string) {
		r, wrong := trialRecordOf(m)
		if wrong != "" {
			return wrong
		}
		if len(trials) == 0 || trials[len(trials)-1].number != r.trial {
			trials = append(trials, &trial{number: r.trial, versions: r.versions})
		}
		t := trials[len(trials)-1]
		t.records = append(t.records, r)
		return ""
	})
	for _, t := range trials {
		t.from = f
	}
	return trials, err
}

// trialRecordOf returns a result with what a trial makes of it, or what is wrong with it.
func trialRecordOf(m measured) (r trialRecord, wrong string) {
	at := m.record.Result.GetConfig
	r = trialRecord{measured: m, trial: at("trial"), copy: cmp.Or(at("copy"), "1"), trialProcess: trialProcess{block: m.block, layout: m.layout, nsPerOp: m.ns}}
	slowed := at("slow")
	if r.versions = r.trial == "" && m.side != ""; r.versions {
		r.trial, slowed = "1", "0"
		switch {
		case r.copy != "1":
			r.copy = "control" // of the old version: the report has it in the base
		case m.side == record.SideNew:
			r.copy = "2"
		}
	}
	var err error
	if r.slow, err = strconv.ParseFloat(slowed, 64); err != nil || !(r.slow >= 0) || math.IsInf(r.slow, 0) || r.trial == "" || m.block == "" {
		return r, "a benchmark result without trial, block and slow lines before it is no calibration's"
	}
	if s := m.record.Slices; s != nil {
		r.n, r.slices = s.N, s.Ns
	}
	return r, ""
}

// shorten leaves the first rounds of each block only, and makes the values theirs.
func (t *trial) shorten(rounds int) {
	for i := range t.records {
		r := &t.records[i]
		if r.slices = r.slices[:min(rounds, len(r.slices))]; len(r.slices) == 0 {
			continue
		}
		r.nsPerOp = mean(r.perOp())
		r.record.Result = &benchfmt.Result{
			Name: benchfmt.Name(r.name), Iters: r.n * len(r.slices), Values: []benchfmt.Value{record.Tidied(benchfmt.Value{Value: r.nsPerOp, Unit: "ns/op"})},
		}
		r.record.Slices = &record.Slices{N: r.n, Steady: true, Ns: r.slices}
	}
}

// pair finds the trial's comparisons: in each row, the base with its control, and
// with each slowed copy.
func (t *trial) pair() {
	type row struct{ pkg, name string }
	type side struct {
		slow float64
		copy string
	}
	base := side{0, "1"}
	for _, r := range groupBy(t.records, func(r trialRecord) row { return row{r.pkg, r.name} }) {
		place := math.MaxInt
		of := make(map[side]map[string]trialProcess) // by block
		for _, rec := range r.members {
			at := side{rec.slow, rec.copy}
			if of[at] == nil {
				of[at] = make(map[string]trialProcess)
			}
			of[at][rec.trialProcess.block] = rec.trialProcess
			place = min(place, rec.place())
		}
		others := slices.SortedFunc(maps.Keys(of), func(a, b side) int { return cmp.Compare(a.slow, b.slow) })
		blocks := groupBy(where(r.members, func(rec trialRecord) bool { return side{rec.slow, rec.copy} == base }), func(rec trialRecord) string { return rec.trialProcess.block })
		for _, other := range others {
			if other != (side{0, "2"}) && (other.slow == 0 || other.copy != "1") {
				continue
			}
			p := &trialPair{file: t.from.Path, trial: t.number, pkg: r.key.pkg, name: r.key.name, place: place, driven: r.members[0].driven, slow: other.slow}
			for _, block := range blocks {
				if b, ok := of[other][block.key]; ok {
					p.a, p.b = append(p.a, of[base][block.key]), append(p.b, b)
				}
			}
			if len(p.a) > 0 {
				t.pairs = append(t.pairs, p)
			}
		}
	}
}

// identical is the column of the control where it is judged as a program of its
// own.
const identical = "identical"

// evaluateTrial judges the pairs of a trial as reports are judged, by Compare. It
// looks at the trial twice. Once as it stands, when the control is a control: that
// gives the slowed programs' verdicts. And once with the control as a column of
// its own, which nothing marks as the same program: that gives the verdicts of
// A/A, and asks more of each, since there is no control to call it into question.
func evaluateTrial(t *trial, o Options) error {
	if t.versions {
		c, err := compare.Of(t.from).Compare(compare.Options{Col: record.SideKey, Alpha: o.Alpha})
		if err != nil {
			return err
		}
		t.judged(c, func(*trialPair) string { return record.SideNew })
		return nil
	}
	for _, asColumn := range []bool{false, true} {
		c, err := compare.Of(t.file(asColumn)).Compare(compare.Options{Col: "slow", Base: "0", Filter: ".unit:ns/op", Alpha: o.Alpha})
		if err != nil {
			return err
		}
		t.judged(c, func(p *trialPair) string {
			if (p.slow == 0) != asColumn {
				return ""
			}
			if asColumn {
				return identical
			}
			return columnOf(p.slow)
		})
	}
	return nil
}

// judged takes over what c says of the pairs' time, each in the column that column
// names for it; "" means that c says nothing of it.
func (t *trial) judged(c *compare.Comparison, column func(*trialPair) string) {
	for _, table := range c.Tables {
		if table.Unit != "ns/op" {
			continue
		}
		for _, p := range t.pairs {
			cell := cellOf(table, p.pkg, p.name, column(p))
			if cell == nil {
				continue
			}
			p.vs, p.verdict = cell.Vs, cell.Verdict
			for _, b := range cell.Blocks {
				if b.Ratio > 0 {
					p.logs = append(p.logs, math.Log(b.Ratio))
				}
			}
		}
	}
}

// columnOf names the column of a program by how much it was slowed.
func columnOf(slow float64) string { return strconv.FormatFloat(slow, 'g', -1, 64) }

// file returns the trial as a file, which has the slow-down as a column, and the control
// as one if asColumn is true.
func (t *trial) file(asColumn bool) *record.File {
	f := &record.File{Path: t.from.Path, Units: t.from.Units}
	for _, r := range t.records {
		res := &benchfmt.Result{Name: r.record.Result.Name, Iters: r.record.Result.Iters, Values: r.record.Result.Values}
		if r.copy != "1" && r.slow == 0 && asColumn {
			res.SetConfig("slow", identical)
		} else {
			res.SetConfig("slow", columnOf(r.slow))
		}
		if !asColumn {
			res.SetConfig("copy", r.copy)
		}
		for _, set := range [][2]string{{"pkg", r.pkg}, {"case", r.kase}, {"block", r.measured.block}, {"layout", r.measured.layout}, {"driven", r.driven}} {
			res.SetConfig(set[0], set[1])
		}
		f.Results = append(f.Results, record.Record{Result: res, Slices: r.record.Slices})
	}
	return f
}
