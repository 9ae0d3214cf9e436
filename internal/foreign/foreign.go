// Package foreign reads the results files of other tools, as what dyno's reader makes lines of
// the Go benchmark format of:
//
//  1. [Read] finds which tool has written a file, by what only that one writes.
//  2. The tool's own file here takes each value for what it is: docs/formats.md says of which
//     clock, of how many threads, and what the tool has left out.
//
// Nothing is computed that the file does not say: a run is a value, and where a file has only
// what sums runs up there is one value, and a note that says so. Nothing in such a file tells
// which runs were of one moment, so that no verdict rests on them.
package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A Run is what a file says.
type Run struct {
	Tool    string      // that has written it
	Config  [][2]string // keys and values, in order: what else it says of the whole
	Results []Result    // in the order of the file
	Missing []Missing   // benchmarks that failed
	Notes   []Note

	Text string // in place of Config and Results: what is in the Go benchmark format already
}

// A Result is a benchmark's values of one run, or of several that the file has only together.
type Result struct {
	Name   string // as the benchmark format has it, without "Benchmark"
	N      int    // operations, at least 1
	Values []Value
}

// A Value is a figure. Times are in nanoseconds.
type Value struct {
	V    float64
	Unit string
}

// A Missing is a benchmark without a figure, and why.
type Missing struct {
	Pkg, Name, Reason string
	Skipped           bool // by itself
}

// A Note is what a reader has to know of a benchmark's figures.
type Note struct{ Name, Text string }

// A format is how a tool writes results.
type format struct {
	tool string
	list bool // its document is a list of objects
	// is reports whether the keys of a document, or of the first one of a list, are the tool's.
	is func(has func(key string) bool) bool
	// read takes in the document.
	read func(document []byte, run *Run) error
}

// formats are all that are known.
var formats = []format{goTest, hyperfine, mitata, googleBenchmark, pytestBenchmark, tinybench, vitest, criterion}

// Read reads a file of another tool; nil if it is none that is known. Its error says what is
// wrong with one that is.
func Read(data []byte) (*Run, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, nil
	}
	var top map[string]json.RawMessage // the document, or the first of several
	dec := json.NewDecoder(bytes.NewReader(data))
	list := data[0] == '['
	if list {
		_, _ = dec.Token()
	}
	if dec.Decode(&top) != nil {
		return nil, nil
	}
	for _, f := range formats {
		if f.list != list || !f.is(func(key string) bool { return top[key] != nil }) {
			continue
		}
		run := &Run{Tool: f.tool}
		if err := f.read(data, run); err != nil {
			return nil, fmt.Errorf("it looks like a file of %s, and is none: %w", f.tool, err)
		}
		return run, nil
	}
	return nil, nil
}

// note notes something of a benchmark, once.
func (r *Run) note(name, format string, args ...any) {
	n := Note{name, fmt.Sprintf(format, args...)}
	for _, o := range r.Notes {
		if o == n {
			return
		}
	}
	r.Notes = append(r.Notes, n)
}

// config adds what the file says of the whole, if it says it.
func (r *Run) config(key, value string) {
	if value = strings.Join(strings.Fields(value), " "); value != "" {
		r.Config = append(r.Config, [2]string{key, value})
	}
}

// name makes a benchmark's name of text, which may have spaces. What ends like a number of
// processors is followed by one, so that it is not taken for that.
func name(text string) string {
	text = strings.Join(strings.Fields(text), "_")
	if endsInNumber.MatchString(text) {
		text += "-1"
	}
	return text
}

var endsInNumber = regexp.MustCompile(`-\d+$`)
