package calibrate

import (
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

// sources are the files that something is derived from, and what they say together.
type sources struct {
	paths  []string
	found  compare.Findings
	faults compare.Faults
}

// findings begin what the files show, judged at level alpha.
func (s *sources) findings(schema string, alpha float64) compare.Findings {
	s.found.Schema, s.found.Alpha, s.found.Margin = schema, alpha, compare.DefaultMargin
	return s.found
}

// A measured is a result, and what holds for it.
type measured struct {
	pkg, name, kase     string // name with the suffix that tells GOMAXPROCS
	side, block, layout string
	driven              string  // how: one of driven's modes
	ns                  float64 // of an operation
	record              record.Record
}

// place is where its benchmark stands in the plan, by the number of its case; later than
// all if that is none.
func (m measured) place() int {
	if n, err := strconv.Atoi(m.kase); err == nil {
		return n
	}
	return math.MaxInt
}

// read reads a file. take gets each result that has a time, and says what is wrong with it,
// if anything is.
func (s *sources) read(path string, take func(m measured) (wrong string)) (*record.File, error) {
	if slices.Contains(s.paths, path) {
		return nil, fmt.Errorf("%s is given twice, which would count what it has twice", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := record.Read(path, data)
	if s.found.Circumstances == nil {
		s.found.Circumstances = make(map[string]string)
	}
	s.paths, s.found.Files = append(s.paths, path), append(s.found.Files, filepath.Base(path))
	for _, set := range f.Config {
		for _, v := range set.Values {
			if at, err := time.Parse(time.RFC3339, v); set.Key == "started" && err == nil && at.After(s.found.Measured) {
				s.found.Measured = at
			}
			s.note(set.Key, v)
		}
	}
	for _, rec := range f.Holes {
		if !rec.Hole.Skipped {
			s.faults.Holes = append(s.faults.Holes, rec.Hole.Name()+": "+rec.Hole.String())
		}
	}
	results, problems := f.Strict()
	for _, rec := range results {
		at := rec.Result.GetConfig
		sec, ok := rec.Result.Value("sec/op")
		wrong := "a benchmark result without a time"
		if ok && sec > 0 && !math.IsInf(sec, 0) {
			wrong = take(measured{at("pkg"), string(rec.Result.Name), at("case"), at(record.SideKey), at("block"), at("layout"), at("driven"), sec * 1e9, rec})
		}
		if wrong != "" {
			problems = append(problems, record.Problem{Line: rec.Line(), What: wrong})
		}
	}
	s.faults.Problems = append(s.faults.Problems, f.Tell(problems)...)
	return f, nil
}

// note notes a configuration line among the circumstances, if it is one of the whole
// file's.
func (s *sources) note(key, value string) {
	if compare.Passing[key] || slices.Contains([]string{"trial", "slow", TruthKey, record.SideKey}, key) {
		return
	}
	had, ok := s.found.Circumstances[key]
	switch {
	case !ok:
		s.found.Circumstances[key] = value
	case !slices.Contains(strings.Split(had, "; "), value):
		s.found.Circumstances[key] = had + "; " + value
	}
}

// nothing is the error that the files have nothing to compute with, for this reason.
func (s *sources) nothing(why string) error {
	if len(s.faults.Problems) > 0 {
		why += "; the first line that cannot be read is " + s.faults.Problems[0]
	}
	return errors.New(why)
}

// cellOf returns the cell of a benchmark in a column, nil if the table has none.
func cellOf(table compare.Table, pkg, name, column string) *compare.Cell {
	col := slices.IndexFunc(table.Cols, func(c compare.Column) bool { return c.Name == column })
	row := slices.IndexFunc(table.Rows, func(r compare.Row) bool { return r.Name == name && (r.Pkg == pkg || r.Pkg == "") })
	if col < 0 || row < 0 {
		return nil
	}
	return &table.Rows[row].Cells[col]
}
