package calibrate

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// sources are the files that something is derived from, and what they say together.
type sources struct {
	paths           []string
	files           []string  // paths without folders
	measured        time.Time // when the latest of them was begun
	circumstances   map[string]string
	problems, holes []string
}

// read reads a file. take gets each result, and says what is wrong with it, if anything is.
func (s *sources) read(path string, take func(record.Record) (wrong string)) (*record.File, error) {
	if slices.Contains(s.paths, path) {
		return nil, fmt.Errorf("%s is given twice, which would count what it has twice", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := record.Read(path, data)
	if s.circumstances == nil {
		s.circumstances = make(map[string]string)
	}
	s.paths, s.files = append(s.paths, path), append(s.files, filepath.Base(path))
	for _, set := range f.Config {
		for _, v := range set.Values {
			if at, err := time.Parse(time.RFC3339, v); set.Key == "started" && err == nil && at.After(s.measured) {
				s.measured = at
			}
			s.note(set.Key, v)
		}
	}
	for _, rec := range f.Holes {
		if !rec.Hole.Skipped {
			s.holes = append(s.holes, rec.Hole.Name()+": "+rec.Hole.String())
		}
	}
	results, problems := f.Strict()
	for _, rec := range results {
		if wrong := take(rec); wrong != "" {
			problems = append(problems, record.Problem{Line: rec.Line(), What: wrong})
		}
	}
	s.problems = append(s.problems, f.Tell(problems)...)
	return f, nil
}

// note notes a configuration line among the circumstances, if it is one of the whole
// file's.
func (s *sources) note(key, value string) {
	if compare.Passing[key] || slices.Contains([]string{"trial", "slow", TruthKey, record.SideKey}, key) {
		return
	}
	had, ok := s.circumstances[key]
	switch {
	case !ok:
		s.circumstances[key] = value
	case !slices.Contains(strings.Split(had, "; "), value):
		s.circumstances[key] = had + "; " + value
	}
}

// nothing is the error that the files have nothing to compute with, for this reason.
func (s *sources) nothing(why string) error {
	if len(s.problems) > 0 {
		why += "; the first line that cannot be read is " + s.problems[0]
	}
	return errors.New(why)
}

// withoutTime is what is wrong with a result for which timeOf is not ok.
const withoutTime = "a benchmark result without a time"

// timeOf returns how many nanoseconds an operation took; ok is false if the result does
// not say, or not in a way to calculate with.
func timeOf(rec record.Record) (ns float64, ok bool) {
	sec, ok := rec.Result.Value("sec/op")
	return sec * 1e9, ok && sec > 0 && !math.IsInf(sec, 0)
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
