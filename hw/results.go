package hw

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/record"
)

// A Results is a results file of a board: the Go benchmark format, with comment lines
// for what that has no place for, as docs/results-format.md describes it. It is
// appended to: what is said of a case is written by one system call and synced, so who
// kills a run, or pulls the plug, loses the case that was running. One goroutine uses
// it.
type Results struct {
	Path string

	f      *os.File
	buf    []byte            // what was said since the last Sync
	config map[string]string // what is in force
	units  []string          // those whose direction is told
	err    error             // the first of all writes
}

// writtenBy begins a board's results file.
const writtenBy = "# Written by benchrun board run; never edited. See docs/results-format.md."

// CreateResults starts a results file, which must not be there yet. Missing folders
// are made.
func CreateResults(path string) (*Results, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s is there already: choose another --out, or go on with it by --resume", path)
	}
	if err != nil {
		return nil, err
	}
	if err := record.LockResults(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r := &Results{Path: path, f: f, config: make(map[string]string)}
	r.write(writtenBy + "\n")
	return r, r.Sync()
}

// Set sets a configuration key for the lines after it. An empty value is left out.
func (r *Results) Set(key, value string) {
	value = strings.Join(strings.Fields(value), " ")
	if value == "" || r.config[key] == value {
		return
	}
	r.config[key] = value
	r.write(key + ": " + value + "\n")
}

// Line adds a line of the Go benchmark format. units say of units in it which way they are
// better, as Unit lines of that format without the first word; what the file says of a
// unit already stays. exact says that the unit of time is counted and not measured, so
// that two runs have to give the same.
func (r *Results) Line(text string, units []string, exact bool) error {
	res, err := parseResult(text)
	if err != nil {
		return err
	}
	for _, v := range res.Values {
		unit := v.Unit
		if v.OrigUnit != "" {
			unit = v.OrigUnit
		}
		line := unit
		for _, u := range units {
			if strings.HasPrefix(u, unit+" ") {
				line = u
			}
		}
		if exact {
			line += " assume=exact"
		}
		if slices.Contains(r.units, unit) || line == unit {
			continue
		}
		r.units = append(r.units, unit)
		r.write("Unit " + line + "\n")
	}
	r.write(text + "\n")
	return nil
}

// parseResult reads a benchmark line.
func parseResult(text string) (*benchfmt.Result, error) {
	r := benchfmt.NewReader(strings.NewReader(text), "board")
	if !r.Scan() {
		return nil, fmt.Errorf("%q is no benchmark line", text)
	}
	switch rec := r.Result().(type) {
	case *benchfmt.Result:
		if len(rec.Values) > 0 {
			return rec, nil
		}
	case *benchfmt.SyntaxError:
		return nil, fmt.Errorf("%q is no benchmark line: %s", text, rec.Msg)
	}
	return nil, fmt.Errorf("%q is no benchmark line", text)
}

// Hole notes that a figure was due and is not there, or with skipped that none was
// due. benchmark is a full name, with "Benchmark"; block is "" for all.
func (r *Results) Hole(benchmark, block, reason string, skipped bool) {
	r.write("# " + holeOrSkip(skipped) + ": case=" + benchmark + blockField(block) + " reason=" + strconv.Quote(oneLine(reason)) + "\n")
}

// Absent notes that a whole implementation has no figures, and why.
func (r *Results) Absent(impl, reason string, skipped bool) {
	r.write("# " + holeOrSkip(skipped) + ": pkg=" + module + "/impls/" + impl + " reason=" + strconv.Quote(oneLine(reason)) + "\n")
}

func holeOrSkip(skipped bool) string {
	if skipped {
		return "skip"
	}
	return "hole"
}

func blockField(block string) string {
	if block == "" {
		return ""
	}
	return " block=" + block
}

// Clause notes what became of a conformance clause.
func (r *Results) Clause(c record.BoardClause) {
	c.Why = oneLine(c.Why)
	r.write(c.Line() + "\n")
}

// Note notes what a board has to say of a case to people.
func (r *Results) Note(name, text string) {
	r.write("# note: case=" + name + " text=" + strconv.Quote(oneLine(text)) + "\n")
}

// oneLine returns s on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// write appends text, whole lines. Sync brings them into the file.
func (r *Results) write(text string) { r.buf = append(r.buf, text...) }

// Sync returns the first error of all writes, when what was said is on disk. It writes
// that by one system call: a process that is killed has written all of it or nothing.
func (r *Results) Sync() error {
	if r.err == nil {
		_, r.err = r.f.Write(r.buf)
		r.buf = r.buf[:0]
	}
	if r.err == nil {
		r.err = r.f.Sync()
	}
	if r.err != nil {
		return fmt.Errorf("writing results: %w", r.err)
	}
	return nil
}

// Close syncs and closes the file.
func (r *Results) Close() error { return errors.Join(r.Sync(), r.f.Close()) }
