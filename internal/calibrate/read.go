package calibrate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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

	// judge judges the results of a trial as a report would; nil means
	// judgeTrial. Tests put a wrong one here.
	judge func(t *trial, o Options) error
}

// A trial is the results of one trial, as a file has them.
type trial struct {
	file, number string
	unit         []string // the file's Unit lines
	records      []trialRecord
	pairs        []trialPair // what judge judges

	// versions says that the trial is a report of benchrun ab of two versions that do
	// the same: the whole file is one, and the new version is A/A.
	versions bool
}

// A trialRecord is one benchmark line, and what holds for it.
type trialRecord struct {
	pkg, kase, name string // name with the suffix that tells GOMAXPROCS
	driven          string // how: one of driven's modes
	slow            float64
	copy            string // "2" for the control, the second identical process
	line, more      string // as they stand in the file: the result, and the line of its slices, "" without one
	trialProcess
}

// Read computes what results of benchrun calibrate show. Several files
// are pooled: each trial of each counts as one. A file of benchrun ab counts as a
// trial of A/A, so its versions must do the same: that they do is the caller's word.
// Lines that cannot be read are among its Problems. It is an error if a file cannot be read at all, or nothing
// is in them that could be compared.
func Read(paths []string, o Options) (*compare.Calibration, error) {
	if o.Alpha == 0 {
		o.Alpha = compare.DefaultAlpha
	}
	if o.judge == nil {
		o.judge = judgeTrial
	}
	c := &compare.Calibration{Schema: CalibrationSchema, Alpha: o.Alpha, Margin: compare.DefaultMargin, Circumstances: make(map[string]string)}
	var pairs []trialPair
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, fmt.Errorf("%s is given twice, which would count its trials twice", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		c.Files = append(c.Files, filepath.Base(path))
		for _, t := range readTrials(c, path, data) {
			if o.Rounds > 0 {
				if t.versions {
					return nil, fmt.Errorf("%s is of benchrun ab, whose verdicts are those of all its rounds", path)
				}
				t.shorten(o.Rounds)
			}
			t.pair()
			if err := o.judge(t, o); err != nil {
				return nil, fmt.Errorf("%s, trial %s: %w", path, t.number, err)
			}
			pairs = append(pairs, t.pairs...)
		}
	}
	count(c, pairs)
	if c.Trials == 0 {
		msg := "nothing to compute a calibration from: no trial has a benchmark measured twice in a block; benchrun calibrate makes such results"
		if len(c.Problems) > 0 {
			msg += "; the first line that cannot be read is " + c.Problems[0]
		}
		return nil, errors.New(msg)
	}
	return c, nil
}

// read splits a file into trials, and notes its circumstances, problems and holes.
func readTrials(c *compare.Calibration, path string, data []byte) []*trial {
	var trials []*trial
	var units []string
	var last *trialRecord // the latest benchmark line
	state := make(map[string]string)
	problem := func(at, what string) { c.Problems = append(c.Problems, at+": "+what) }
	for line := range record.Lines(path, data) {
		if strings.HasPrefix(line.Text, "Benchmark") {
			last = nil
		}
		switch {
		case line.Err != nil:
			problem(line.At, line.Err.Error())
		case line.Unit:
			units = append(units, line.Text)
		case line.Result != nil:
			number, copies, slowed := state["trial"], cmp.Or(state["copy"], "1"), state["slow"]
			versions := number == "" && state[record.SideKey] != ""
			if versions {
				number, slowed = "1", "0"
				switch {
				case copies != "1":
					copies = "control" // of the old version: the report has it in the base
				case state[record.SideKey] == record.SideNew:
					copies = "2"
				}
			}
			slow, err := strconv.ParseFloat(slowed, 64)
			if err != nil || !(slow >= 0) || math.IsInf(slow, 0) || number == "" || state["block"] == "" {
				problem(line.At, "a benchmark result without trial, block and slow lines before it is no calibration's")
				continue
			}
			ns, ok := line.Result.Value("sec/op")
			if !ok || !(ns > 0) || math.IsInf(ns, 0) {
				problem(line.At, "a benchmark result without a time")
				continue
			}
			if len(trials) == 0 || trials[len(trials)-1].number != number || trials[len(trials)-1].file != path {
				trials = append(trials, &trial{file: path, number: number, versions: versions})
			}
			t := trials[len(trials)-1]
			t.records = append(t.records, trialRecord{
				pkg: state["pkg"], kase: state["case"], name: string(line.Result.Name), driven: state["driven"],
				slow: slow, copy: copies, line: line.Text,
				trialProcess: trialProcess{block: state["block"], layout: state["layout"], nsPerOp: ns * 1e9},
			})
			last = &t.records[len(t.records)-1]
		case line.Slices != nil:
			if last == nil {
				problem(line.At, "slices of no benchmark result")
				continue
			}
			last.n, last.slices, last.more = line.Slices.N, line.Slices.Ns, line.Text
			last = nil
		case line.Hole != nil:
			c.Holes = append(c.Holes, line.Hole.Name()+": "+line.Hole.String())
		case line.Key != "":
			state[line.Key] = line.Value
			if at, err := time.Parse(time.RFC3339, line.Value); line.Key == "started" && err == nil && at.After(c.Measured) {
				c.Measured = at
			}
			noteCircumstance(c.Circumstances, line.Key, line.Value)
		}
	}
	for _, t := range trials {
		t.unit = units // what is said of a unit stands before its first figure
	}
	return trials
}

// noteCircumstance notes a configuration line among circumstances, if it is one of
// the whole file's.
func noteCircumstance(of map[string]string, key, value string) {
	switch {
	case compare.Passing[key], key == "trial", key == "slow", key == TruthKey, key == record.SideKey:
		return
	}
	had, ok := of[key]
	switch {
	case !ok:
		of[key] = value
	case !slices.Contains(strings.Split(had, "; "), value):
		of[key] = had + "; " + value
	}
}

// shorten leaves the first rounds of each block only, and makes the values theirs.
func (t *trial) shorten(rounds int) {
	for i := range t.records {
		r := &t.records[i]
		if r.slices = r.slices[:min(rounds, len(r.slices))]; len(r.slices) == 0 {
			continue
		}
		r.nsPerOp = mean(r.perOp())
		r.line = fmt.Sprintf("Benchmark%s %d %v ns/op", r.name, r.n*len(r.slices), r.nsPerOp)
		r.more = record.Slices{N: r.n, Steady: true, Ns: r.slices}.Line()
	}
}

// pair finds the trial's comparisons: in each row, the base with its control, and
// with each slowed copy.
func (t *trial) pair() {
	type row struct{ pkg, name string }
	type side struct {
		row
		slow float64
		copy string
	}
	var rows []row
	of := make(map[side]map[string]trialProcess) // by block
	slows := make(map[row][]float64)
	place := make(map[row]int)
	driven := make(map[row]string)
	blocks := make(map[row][]string) // of the base
	for _, r := range t.records {
		at := side{row{r.pkg, r.name}, r.slow, r.copy}
		if of[at] == nil {
			of[at] = make(map[string]trialProcess)
			if !slices.Contains(rows, at.row) {
				rows = append(rows, at.row)
				place[at.row], driven[at.row] = math.MaxInt, r.driven
			}
			if r.slow > 0 && !slices.Contains(slows[at.row], r.slow) {
				slows[at.row] = append(slows[at.row], r.slow)
			}
		}
		if _, twice := of[at][r.block]; !twice && r.slow == 0 && r.copy == "1" {
			blocks[at.row] = append(blocks[at.row], r.block)
		}
		of[at][r.block] = r.trialProcess
		if n, err := strconv.Atoi(r.kase); err == nil {
			place[at.row] = min(place[at.row], n)
		}
	}
	for _, row := range rows {
		slices.Sort(slows[row])
		for _, other := range append([]side{{row, 0, "2"}}, sidesOf(slows[row], func(slow float64) side { return side{row, slow, "1"} })...) {
			p := trialPair{file: t.file, trial: t.number, pkg: row.pkg, name: row.name, place: place[row], driven: driven[row], slow: other.slow}
			for _, block := range blocks[row] {
				if b, ok := of[other][block]; ok {
					p.a, p.b = append(p.a, of[side{row, 0, "1"}][block]), append(p.b, b)
				}
			}
			if len(p.a) > 0 {
				t.pairs = append(t.pairs, p)
			}
		}
	}
}

func sidesOf[S any](slows []float64, side func(float64) S) []S {
	out := make([]S, len(slows))
	for i, slow := range slows {
		out[i] = side(slow)
	}
	return out
}

// identical is the column of the control where it is judged as a program of its
// own.
const identical = "identical"

// judgeTrial judges the pairs of a trial as reports are judged, by Compare. It
// looks at the trial twice. Once as it stands, when the control is a control: that
// gives the slowed programs' verdicts. And once with the control as a column of
// its own, which nothing marks as the same program: that gives the verdicts of
// A/A, and asks more of each, since there is no control to call it into question.
func judgeTrial(t *trial, o Options) error {
	if t.versions {
		c, err := compare.Compare([]string{t.file}, compare.Options{Col: record.SideKey, Alpha: o.Alpha})
		if err != nil {
			return err
		}
		t.judged(c, func(trialPair) string { return record.SideNew })
		return nil
	}
	for _, asColumn := range []bool{false, true} {
		c, err := compare.Compare([]string{"-"}, compare.Options{
			Col: "slow", Base: "0", Filter: ".unit:ns/op", Alpha: o.Alpha, Stdin: bytes.NewReader(t.text(asColumn)),
		})
		if err != nil {
			return err
		}
		t.judged(c, func(p trialPair) string {
			if (p.slow == 0) != asColumn {
				return ""
			}
			return columnOf(p.slow, p.slow == 0)
		})
	}
	return nil
}

// judged takes over what c says of the pairs' time, each in the column that column
// names for it; "" means that c says nothing of it.
func (t *trial) judged(c *compare.Comparison, column func(trialPair) string) {
	for _, table := range c.Tables {
		if table.Unit != "ns/op" {
			continue
		}
		for _, r := range table.Rows {
			for i, cell := range r.Cells {
				j := slices.IndexFunc(t.pairs, func(p trialPair) bool {
					return p.name == r.Name && (r.Pkg == "" || r.Pkg == p.pkg) && column(p) == table.Cols[i].Name
				})
				if j < 0 {
					continue
				}
				p := &t.pairs[j]
				p.vs, p.verdict = cell.Vs, cell.Verdict
				for _, b := range cell.Blocks {
					if b.Ratio > 0 {
						p.logs = append(p.logs, math.Log(b.Ratio))
					}
				}
			}
		}
	}
}

// columnOf names the column of a program, by how much it was slowed.
func columnOf(slow float64, control bool) string {
	if control {
		return identical
	}
	return strconv.FormatFloat(slow, 'g', -1, 64)
}

// text writes the trial as results, which have the slow-down as a column, and the
// control as one if asColumn is true.
func (t *trial) text(asColumn bool) []byte {
	var b bytes.Buffer
	for _, u := range t.unit {
		fmt.Fprintln(&b, u)
	}
	for _, r := range t.records {
		control := r.copy != "1" && r.slow == 0
		for _, set := range []struct{ key, value string }{
			{"pkg", r.pkg},
			{"case", r.kase},
			{"block", r.block},
			{"layout", r.layout},
			{"driven", r.driven},
			{"slow", columnOf(r.slow, control && asColumn)},
			{"copy", r.copy},
		} {
			if set.key == "copy" && asColumn {
				set.value = "1"
			}
			if set.value != "" {
				fmt.Fprintf(&b, "%s: %s\n", set.key, set.value)
			}
		}
		fmt.Fprintln(&b, r.line)
		if r.more != "" {
			fmt.Fprintln(&b, r.more)
		}
	}
	return b.Bytes()
}
