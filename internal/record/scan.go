package record

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A scanned is a line of a results file that says something. One of its fields
// but at and text is set.
type Line struct {
	At   string // where it stands, "file:line"
	Text string // the line

	Result     *benchfmt.Result
	Slices     *Slices
	Hole       *Hole
	Key, Value string // of a configuration line
	Unit       bool   // it is a Unit line
	Comment    bool   // none of those above
	Err        error  // why it cannot be read
}

// Lines returns the lines of a results file, one by one, as they stand. It is for
// readers that need lines in their order; Compare's reads what the whole file says.
func Lines(path string, data []byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		number := 0
		for text := range strings.Lines(string(data)) {
			number++
			line := strings.TrimRight(text, "\r\n")
			s := Line{At: fmt.Sprintf("%s:%d", path, number), Text: line}
			switch {
			case strings.TrimSpace(line) == "":
				continue
			case strings.HasPrefix(line, "Benchmark") && !strings.HasSuffix(text, "\n"):
				s.Err = errors.New("the line is torn")
			default:
				s.read()
			}
			if !yield(s) {
				return
			}
		}
	}
}

// read finds out what the line says.
func (s *Line) read() {
	switch {
	case strings.HasPrefix(s.Text, "Unit "):
		s.Unit = true
	case strings.HasPrefix(s.Text, "Benchmark"):
		res, ok := ParseResult(s.Text)
		if !ok {
			s.Err = fmt.Errorf("not a benchmark result: %s", Shortened(s.Text))
			return
		}
		s.Result = res
	case strings.HasPrefix(s.Text, SlicesMark):
		of, _, err := ParseSlices(s.Text)
		s.Slices, s.Err = &of, err
	case strings.HasPrefix(s.Text, holeMark):
		h, ok, err := ParseHoleLine(s.Text)
		if s.Err = err; ok {
			s.Hole = &h
		}
	case strings.HasPrefix(s.Text, "#"):
		s.Comment = true
	default:
		key, value, ok := strings.Cut(s.Text, ":")
		if !ok || key == "" || key[0] < 'a' || key[0] > 'z' {
			s.Err = fmt.Errorf("neither a result nor a configuration line: %s", Shortened(s.Text))
			return
		}
		s.Key, s.Value = key, strings.TrimSpace(value)
	}
}
