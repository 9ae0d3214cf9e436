package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Store is a results file that a run appends to. docs/results-format.md
// describes the format: the Go benchmark format, with comment lines for what
// that has no place for.
//
// Every line is written whole and at once, and the file is synced at the end of
// each block, so a run that is killed loses at most the process it was at, and a
// machine that loses power at most the running block.
type Store struct {
	Path string
	f    *os.File
	pkg  string // the latest pkg line
	err  error  // of the first write that failed
}

// Create starts a results file for plan in the circumstances c. The file must
// not be there yet; missing folders are made.
func Create(path string, plan *Plan, c *Circumstances, started time.Time) (*Store, error) {
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
	s := &Store{Path: path, f: f}
	s.line("# Written by benchrun run; never edited. See docs/results-format.md.")
	for _, set := range c.Fixed {
		s.line(set.Key + ": " + strings.Join(set.Values, " "))
	}
	s.line("started: " + started.UTC().Format(time.RFC3339))
	s.line("plan: " + plan.ID())
	s.line("seed: " + strconv.FormatUint(plan.Seed, 10))
	s.line("benchtime: " + plan.Time)
	for _, l := range plan.encode() {
		s.line(l)
	}
	// Which direction is good, which readers of the format know of few units.
	for _, u := range []string{
		"ns/op better=lower", "B/op better=lower", "allocs/op better=lower",
		"B/task better=lower", "allocs/task better=lower",
	} {
		s.line("Unit " + u)
	}
	return s, s.sync()
}

// Block begins a block, or the rest of one.
func (s *Store) Block(n int, load string) {
	s.line("block: " + strconv.Itoa(n))
	if load != "" {
		s.line("load: " + load)
	}
}

// Result adds the benchmark line of a step.
func (s *Store) Result(step Step, line string) {
	s.inPackage(step.Case.Pkg)
	s.write("case: " + strconv.Itoa(step.Index) + "\n" + line + "\n")
}

// Hole notes that a step has no result.
func (s *Store) Hole(h Hole, pkg string) {
	s.inPackage(pkg)
	mark := "# hole: "
	if h.Skipped {
		mark = "# skip: "
	}
	line := mark + "case=" + h.Case
	if h.Block != "" {
		line += " block=" + h.Block
	}
	s.line(line + " reason=" + strconv.Quote(h.Reason))
}

// End ends a block: what was measured in it is safe from then on.
func (s *Store) End(n int, load string) error {
	if load != "" {
		s.line("load: " + load)
	}
	s.line(blockEnd + strconv.Itoa(n))
	return s.sync()
}

// blockEnd begins the line after the last one of a complete block.
const blockEnd = "# end of block "

// Close syncs and closes the file, and returns the first error of all writes.
func (s *Store) Close() error {
	return errors.Join(s.sync(), s.f.Close())
}

func (s *Store) inPackage(pkg string) {
	if pkg != s.pkg {
		s.line("pkg: " + pkg)
		s.pkg = pkg
	}
}

func (s *Store) line(text string) { s.write(text + "\n") }

// write appends text, which ends with a newline, by one system call: it is in
// the file whole or not at all if the process is killed.
func (s *Store) write(text string) {
	if s.err == nil {
		_, s.err = s.f.WriteString(text)
	}
}

// sync returns the first error of all writes.
func (s *Store) sync() error {
	if s.err == nil {
		s.err = s.f.Sync()
	}
	if s.err != nil {
		return fmt.Errorf("writing results: %w", s.err)
	}
	return nil
}

// Interrupted is a results file whose run has not been finished.
type Interrupted struct {
	Path string
	Plan *Plan
	// Config holds the configuration lines before the first block.
	Config map[string]string
	// Ended is the number of the last complete block, 0 for none.
	Ended int
	// Done holds the indices of the steps that block Ended+1 has results or
	// holes for.
	Done map[int]bool
	// Given holds, for each step, how many holes in a row its last ones were.
	Given map[int]int
	// Torn is what stands behind the last newline: a line that was being written
	// when the run was killed. Resume cuts it off.
	Torn string

	size int64  // of the file without Torn
	pkg  string // the latest pkg line
}

// Finished reports whether there is nothing left to do.
func (r *Interrupted) Finished() bool { return r.Ended >= r.Plan.Blocks }

// ReadInterrupted reads the results file of a run that is to be resumed.
func ReadInterrupted(path string) (*Interrupted, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	r := &Interrupted{
		Path: path, Config: make(map[string]string), Done: make(map[int]bool), Given: make(map[int]int),
		Torn: string(data[len(whole):]), size: int64(len(whole)),
	}
	lines := strings.Split(string(whole), "\n")
	if r.Plan, err = decodePlan(lines); err != nil {
		return nil, fmt.Errorf("%s cannot be resumed: %w", path, err)
	}
	steps := make(map[string]Step) // by package and full name
	for _, s := range r.Plan.Steps() {
		steps[s.Case.Pkg+" "+s.FullName()] = s
	}
	inBlock, index := false, 0
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, blockEnd):
			n, err := strconv.Atoi(line[len(blockEnd):])
			if err != nil || n != r.Ended+1 {
				return nil, fmt.Errorf("%s cannot be resumed: %q after the end of block %d", path, line, r.Ended)
			}
			r.Ended, r.Done = n, make(map[int]bool)
		case strings.HasPrefix(line, "block: "):
			inBlock = true
		case strings.HasPrefix(line, "pkg: "):
			r.pkg = line[len("pkg: "):]
		case strings.HasPrefix(line, "case: "):
			if index, err = strconv.Atoi(line[len("case: "):]); err != nil {
				return nil, fmt.Errorf("%s cannot be resumed: %q is no case", path, line)
			}
		case strings.HasPrefix(line, "Benchmark"):
			r.Done[index], r.Given[index] = true, 0
		case strings.HasPrefix(line, "# hole: "):
			h, ok, err := parseHoleLine(line)
			if !ok || err != nil || !inBlock || h.Block == "" {
				continue
			}
			if s, ok := steps[r.pkg+" "+h.Case]; ok {
				r.Done[s.Index] = true
				r.Given[s.Index]++
			}
		case !inBlock && !strings.HasPrefix(line, "#"):
			if key, value, ok := strings.Cut(line, ": "); ok {
				r.Config[key] = value
			}
		}
	}
	return r, nil
}

// Resume opens the file to append to it, after cutting off what is torn.
func (r *Interrupted) Resume(now time.Time) (*Store, error) {
	f, err := os.OpenFile(r.Path, os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(r.size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(r.size, 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := &Store{Path: r.Path, f: f, pkg: r.pkg}
	s.line("# resumed " + now.UTC().Format(time.RFC3339))
	return s, s.sync()
}
