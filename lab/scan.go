package lab

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A scanned is a line of a results file that says something. One of its fields
// but at and text is set.
type scanned struct {
	at   string // where it stands, "file:line"
	text string // the line

	result     *benchfmt.Result
	slices     *Slices
	hole       *Hole
	key, value string // of a configuration line
	unit       bool   // it is a Unit line
	comment    bool   // none of those above
	err        error  // why it cannot be read
}

// scan returns the lines of a results file, one by one, as they stand. It is for
// readers that need lines in their order; Compare's reads what the whole file says.
func scan(path string, data []byte) iter.Seq[scanned] {
	return func(yield func(scanned) bool) {
		number := 0
		for text := range strings.Lines(string(data)) {
			number++
			line := strings.TrimRight(text, "\r\n")
			s := scanned{at: fmt.Sprintf("%s:%d", path, number), text: line}
			switch {
			case strings.TrimSpace(line) == "":
				continue
			case strings.HasPrefix(line, "Benchmark") && !strings.HasSuffix(text, "\n"):
				s.err = errors.New("the line is torn")
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
func (s *scanned) read() {
	switch {
	case strings.HasPrefix(s.text, "Unit "):
		s.unit = true
	case strings.HasPrefix(s.text, "Benchmark"):
		res, ok := parseResult(s.text)
		if !ok {
			s.err = fmt.Errorf("not a benchmark result: %s", shortened(s.text))
			return
		}
		s.result = res
	case strings.HasPrefix(s.text, slicesMark):
		of, _, err := ParseSlices(s.text)
		s.slices, s.err = &of, err
	case strings.HasPrefix(s.text, holeMark):
		h, ok, err := parseHoleLine(s.text)
		if s.err = err; ok {
			s.hole = &h
		}
	case strings.HasPrefix(s.text, "#"):
		s.comment = true
	default:
		key, value, ok := strings.Cut(s.text, ":")
		if !ok || key == "" || key[0] < 'a' || key[0] > 'z' {
			s.err = fmt.Errorf("neither a result nor a configuration line: %s", shortened(s.text))
			return
		}
		s.key, s.value = key, strings.TrimSpace(value)
	}
}
