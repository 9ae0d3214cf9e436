package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	side string // the latest side line
	err  error  // of the first write that failed
}

// Create starts a results file for plan in the circumstances c. absent is what
// the plan has to leave out. The file must not be there yet; missing folders are
// made.
func Create(path string, plan *Plan, c *Circumstances, absent []Hole, started time.Time) (*Store, error) {
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
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.line(writtenBy)
	for _, set := range c.Fixed {
		s.line(set.Key + ": " + strings.Join(set.Values, " "))
	}
	s.line("started: " + started.UTC().Format(time.RFC3339))
	s.line(planKey + plan.ID())
	s.line("seed: " + strconv.FormatUint(plan.Seed, 10))
	s.line("benchtime: " + plan.Time)
	for _, l := range plan.encode() {
		s.line(l)
	}
	// Which direction is good, which readers of the format know of few units.
	for _, u := range []string{
		"ns/op better=lower", "B/op better=lower", "allocs/op better=lower",
		"B/task better=lower", "allocs/task better=lower",
		"B/msg better=lower", "allocs/msg better=lower",
		"B/actor better=lower", "actors better=higher", "stop-ns/actor better=lower",
		"mean-ns better=lower", "p50-ns better=lower", "p99-ns better=lower", "p99.9-ns better=lower", "max-ns better=lower",
		"cycle-p50-ns better=lower", "cycle-p99-ns better=lower", "cycle-max-ns better=lower",
		"resume-p50-ns better=lower", "resume-p99-ns better=lower", "resume-max-ns better=lower",
		"recovered-% better=higher", "undelivered-found-% better=higher",
		"backlog better=lower", "backlog-mean better=lower", "backlog-end better=lower",
	} {
		s.line("Unit " + u)
	}
	for _, h := range absent {
		s.hole(h)
	}
	if err := s.sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// writtenBy begins a results file.
const writtenBy = "# Written by benchrun run; never edited. See docs/results-format.md."

// planKey begins the line with the plan's ID.
const planKey = "plan: "

// Block begins a block, or the rest of one.
func (s *Store) Block(n int, load string) {
	s.line(blockKey + strconv.Itoa(n))
	if load != "" {
		s.line("load: " + load)
	}
}

// Result adds the benchmark line of a step.
func (s *Store) Result(step Step, line string) {
	s.inPackage(step.Case.Pkg, step.Case.Side)
	s.write("case: " + strconv.Itoa(step.Index) + "\n" + line + "\n")
}

// Missing notes that a step has no result.
func (s *Store) Missing(step Step, h Hole) {
	s.inPackage(step.Case.Pkg, step.Case.Side)
	s.write("case: " + strconv.Itoa(step.Index) + "\n" + h.line() + "\n")
}

// hole notes a hole that is no step's.
func (s *Store) hole(h Hole) {
	if h.Case != "" {
		s.inPackage(h.Pkg, h.Side)
	}
	s.line(h.line())
}

// End ends a block: what was measured in it is safe from then on.
func (s *Store) End(n int, load string) error {
	if load != "" {
		s.line("load: " + load)
	}
	s.line(blockEnd + strconv.Itoa(n))
	return s.sync()
}

// blockKey begins the first line of a block, blockEnd the line after the last one
// of a complete block.
const (
	blockKey = "block: "
	blockEnd = "# end of block "
)

// Close syncs and closes the file, and returns the first error of all writes.
func (s *Store) Close() error {
	return errors.Join(s.sync(), s.f.Close())
}

// inPackage says of which package, and of which version of it, the next lines
// are.
func (s *Store) inPackage(pkg, side string) {
	if pkg != s.pkg {
		s.line(pkgKey + pkg)
		s.pkg = pkg
	}
	if side != s.side {
		s.line(sideKey + side)
		s.side = side
	}
}

const (
	pkgKey  = "pkg: "
	sideKey = SideKey + ": "
)

// SideKey is the configuration key that tells the two versions of a package
// apart: the column key of a file that compares versions.
const SideKey = "side"

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
	// Given holds, for each step that has been tried, how many times in a row it
	// has failed.
	Given map[int]int
	// Torn is what stands behind the last newline: a line that was being written
	// when the run was killed. Resume cuts it off.
	Torn string

	size int64  // of the file without Torn
	pkg  string // the latest pkg line
	side string // the latest side line
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
	bad := func(format string, args ...any) (*Interrupted, error) {
		return nil, fmt.Errorf("%s cannot be resumed: "+format, append([]any{path}, args...)...)
	}
	lines := strings.Split(string(whole), "\n")
	measured := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, blockKey) })
	if lines[0] == writtenBy && !measured {
		return bad("nothing was measured when its run ended; start a new one")
	}
	if r.Plan, err = decodePlan(lines); err != nil {
		return bad("%w", err)
	}
	steps := len(r.Plan.Steps())
	inBlock, index := false, 0
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, blockEnd):
			n, err := strconv.Atoi(line[len(blockEnd):])
			if err != nil || n != r.Ended+1 {
				return bad("line %d: %q after the end of block %d", i+1, line, r.Ended)
			}
			r.Ended, r.Done = n, make(map[int]bool)
		case strings.HasPrefix(line, blockKey):
			n, err := strconv.Atoi(line[len(blockKey):])
			if err != nil || n != r.Ended+1 {
				return bad("line %d: %q after the end of block %d", i+1, line, r.Ended)
			}
			inBlock = true
		case strings.HasPrefix(line, pkgKey):
			r.pkg = line[len(pkgKey):]
		case strings.HasPrefix(line, sideKey):
			r.side = line[len(sideKey):]
		case strings.HasPrefix(line, "case: "):
			index, err = strconv.Atoi(line[len("case: "):])
			if err != nil || index < 1 || index > steps {
				return bad("line %d: %q is no case of the plan", i+1, line)
			}
		case inBlock && (strings.HasPrefix(line, "Benchmark") || strings.HasPrefix(line, holeMark)):
			if r.Done[index] || index == 0 {
				return bad("line %d: block %d has case %d already", i+1, r.Ended+1, index)
			}
			r.Done[index] = true
			if strings.HasPrefix(line, "Benchmark") {
				r.Given[index] = 0
			} else {
				r.Given[index]++
			}
		case !inBlock && !strings.HasPrefix(line, "#"):
			if key, value, ok := strings.Cut(line, ": "); ok {
				r.Config[key] = value
			}
		}
	}
	if id := r.Plan.ID(); r.Config["plan"] != id {
		return bad("its plan is %s by name and %s by content, so it has been changed", r.Config["plan"], id)
	}
	return r, nil
}

// Resume opens the file to append to it, after cutting off what is torn.
func (r *Interrupted) Resume(now time.Time) (*Store, error) {
	f, err := os.OpenFile(r.Path, os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err := r.takeOver(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := &Store{Path: r.Path, f: f, pkg: r.pkg, side: r.side}
	s.line("# resumed " + now.UTC().Format(time.RFC3339))
	if err := s.sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// takeOver makes f, the file that r was read from, ready to be appended to.
func (r *Interrupted) takeOver(f *os.File) error {
	if err := lock(f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != r.size+int64(len(r.Torn)) {
		return fmt.Errorf("%s has been written to in the meantime: is another benchrun at it?", r.Path)
	}
	if err := f.Truncate(r.size); err != nil {
		return err
	}
	_, err = f.Seek(r.size, io.SeekStart)
	return err
}
