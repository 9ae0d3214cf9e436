package record

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

	"github.com/dynolab/dyno/internal/filelock"
)

// The configuration lines that a calibration has and other results do not.
const (
	trialKey = "trial: " // number of the trial, from 1
	slowKey  = "slow: "  // the injected part: 0.02 is 2 % slower on purpose
)

// A Store is a results file that a run appends to. docs/results-format.md
// describes the format: the Go benchmark format, with comment lines for what
// that has no place for.
//
// Every line is written whole and at once, a row that takes turns when it is
// complete, and the file is synced after each such row and each block. So a run
// that is killed loses at most the process or the row it was at, and a machine
// that loses power at most what single processes have measured in the running
// block.
type Store struct {
	Path string
	f    *os.File
	pkg  string // the latest pkg line
	side string // the latest side line
	Err  error  // of the first write that failed

	units  *unitTable
	config map[string]string // of Record.Config
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
	s := &Store{Path: path, f: f, config: make(map[string]string), units: newUnitTable()}
	s.units.learn(ownUnits...)
	if err := LockResults(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.line(WrittenBy)
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
	for _, h := range absent {
		s.hole(h)
	}
	if err := s.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// WrittenBy begins a results file.
const WrittenBy = "# Written by benchrun run; never edited. See docs/results-format.md."

// writtenByBoardRun begins the results files of boards of before 2026-11-23, which cannot be
// resumed any more.
const writtenByBoardRun = "# Written by benchrun board run; never edited. See docs/results-format.md."

// caseKey begins what a step gave.
const caseKey = "case: "

// planKey begins the line with the plan's ID.
const planKey = "plan: "

// Block begins a block of plan, or the rest of one.
func (s *Store) Block(n int, load string, plan *Plan) {
	s.line(blockKey + strconv.Itoa(n))
	if plan.Trial > 0 {
		s.line(trialKey + strconv.Itoa((n-1)/plan.Trial+1))
	}
	if load != "" {
		s.line("load: " + load)
	}
	if plan.Layouts > 1 {
		s.line("layout: " + strconv.Itoa(plan.Layout(n)))
	}
}

// An entry is what a step leaves in the results: a benchmark line, or a hole.
type Record struct {
	Step   Step
	Line   string
	Units  []string // the Unit lines that the subject printed, without their mark
	Hole   *Hole
	Output string // what the subject printed, if there is a hole; it is not stored

	Driven string // how: ModeProcess, or one of driven's modes
	Pad    int    // bytes of padding in the environment
	Slices *Slices

	// Config is what holds of this record and need not hold of the ones before, such as
	// the clock of a board. Each key has one value.
	Config []Setting
	// Clause is what became of a clause of the conformance suite, if the step was one;
	// then there is neither Line nor Hole.
	Clause *BoardClause
	// Notes are what the subject has to say to people.
	Notes []string
}

// NewHole returns the hole that a step leaves in block because of err.
func NewHole(s Step, block int, err error) *Hole {
	return &Hole{Case: s.FullName(), Block: strconv.Itoa(block), Reason: err.Error()}
}

// Single adds what a step of plan gave that was measured alone. It is on disk when
// Single returns; an error is that of all writes.
func (s *Store) Single(e Record, plan *Plan) {
	s.write(s.place(e.Step.Case.Pkg, e.Step.Case.Side) + s.around(e) + e.text(plan, s.units))
	_ = s.Sync() // which the next one says again
}

// around returns the lines that stand before those of e and hold of it.
func (s *Store) around(e Record) string {
	var b strings.Builder
	for _, set := range e.Config {
		value := strings.Join(strings.Fields(strings.Join(set.Values, " ")), " ")
		if value != "" && s.config[set.Key] != value {
			s.config[set.Key] = value
			b.WriteString(set.Key + ": " + value + "\n")
		}
	}
	return b.String()
}

// Clause adds what is known of a clause before anything is measured: that it is skipped.
func (s *Store) Clause(c BoardClause) { s.line(c.Line()) }

// Turns adds what the steps of g gave that took turns in block, all or nothing:
// what is torn is cut off by a resumption.
func (s *Store) Turns(block int, g Group, entries []Record, plan *Plan) error {
	var b strings.Builder
	of := " " + strconv.Quote(g.Name) + " of block " + strconv.Itoa(block) + "\n"
	b.WriteString(rowMark + of)
	for _, e := range entries {
		b.WriteString(s.place(e.Step.Case.Pkg, e.Step.Case.Side) + e.text(plan, s.units))
	}
	b.WriteString(rowEnd + of)
	s.write(b.String())
	return s.Sync()
}

// text returns the lines of e, which stand in its package, with what units lack in front
// of its result. A plan that has nothing but single processes needs to say little of each.
func (e Record) text(plan *Plan, units *unitTable) string {
	var b strings.Builder
	set := func(key, value string) { b.WriteString(key + ": " + value + "\n") }
	set("case", strconv.Itoa(e.Step.Index))
	if plan.Control {
		set("copy", strconv.Itoa(e.Step.Copy))
	}
	if slices.ContainsFunc(plan.Cases, func(c Case) bool { return c.Slow != 0 }) {
		set("slow", strconv.FormatFloat(e.Step.Case.Slow, 'g', -1, 64))
	}
	if plan.InTurns() {
		set("envpad", strconv.Itoa(e.Pad))
		set("driven", e.Driven)
	}
	for _, note := range e.Notes {
		b.WriteString(NoteMark + "case=" + e.Step.FullName() + " text=" + strconv.Quote(note) + "\n")
	}
	if e.Clause != nil {
		b.WriteString(e.Clause.Line() + "\n")
		return b.String()
	}
	if e.Hole != nil {
		b.WriteString(e.Hole.Line() + "\n")
		return b.String()
	}
	b.WriteString(units.before(e.Line) + e.Line + "\n")
	if e.Slices != nil {
		b.WriteString(e.Slices.Line() + "\n")
	}
	return b.String()
}

// Alone notes that the steps of g cannot take turns from here on, and why.
func (s *Store) Alone(g Group, reason string) {
	s.line(AloneMark + groupFields(g) + " reason=" + strconv.Quote(reason))
}

// Note notes what a reader should know of the row g.
func (s *Store) Note(g Group, text string) {
	s.line(NoteMark + "pkg=" + g.Pkg + " row=" + strconv.Quote(g.Name) + " text=" + strconv.Quote(text))
}

// Look notes what was decided after block.
func (s *Store) Look(block int, groups []Group) error {
	at := " block=" + strconv.Itoa(block) + "\n"
	var b strings.Builder
	for _, g := range groups {
		b.WriteString(decidedMark + groupFields(g) + at)
	}
	b.WriteString(lookMark + strings.TrimPrefix(at, " "))
	s.write(b.String())
	return s.Sync()
}

// groupFields names a group in a comment line.
func groupFields(g Group) string {
	return "group=" + strconv.Itoa(g.Index) + " pkg=" + g.Pkg + " row=" + strconv.Quote(g.Name)
}

// The comment lines of rows. rowMark begins what a row gave that took turns, and
// rowEnd ends it.
const (
	rowMark     = "# row"
	rowEnd      = "# end of row"
	AloneMark   = "# process: "
	NoteMark    = "# note: "
	decidedMark = "# decided: "
	lookMark    = "# look: "
)

// hole notes a hole that is no step's.
func (s *Store) hole(h Hole) {
	if h.Case != "" {
		s.inPackage(h.Pkg, h.Side)
	}
	s.line(h.Line())
}

// End ends a block: what was measured in it is safe from then on.
func (s *Store) End(n int, load string) error {
	if load != "" {
		s.line("load: " + load)
	}
	s.line(blockEnd + strconv.Itoa(n))
	return s.Sync()
}

// LockResults keeps a second run from appending to the results file f until that is
// closed: its error says that somebody else is at it. On a file system without locks
// nothing does, which is no reason not to measure.
func LockResults(f *os.File) error {
	if filelock.Try(f) == filelock.Held {
		return fmt.Errorf("another benchrun is writing to %s: wait until it has ended", f.Name())
	}
	return nil
}

// blockKey begins the first line of a block, blockEnd the line after the last one
// of a complete block.
const (
	blockKey = "block: "
	blockEnd = "# end of block "
)

// Close syncs and closes the file, and returns the first error of all writes.
func (s *Store) Close() error {
	return errors.Join(s.Sync(), s.f.Close())
}

// inPackage says of which package, and of which version of it, the next lines
// are.
func (s *Store) inPackage(pkg, side string) {
	if lines := s.place(pkg, side); lines != "" {
		s.write(lines)
	}
}

// LearnUnits takes in what a subject says of units, and returns what contradicts an earlier
// one, each once.
func (s *Store) LearnUnits(units []string) (contradictions []string) { return s.units.learn(units...) }

// place returns the lines that inPackage writes, for a caller who writes them with
// others.
func (s *Store) place(pkg, side string) (lines string) {
	if pkg != s.pkg {
		lines += PkgPrefix + pkg + "\n"
		s.pkg = pkg
	}
	if side != s.side {
		lines += SidePrefix + side + "\n"
		s.side = side
	}
	return lines
}

const (
	PkgPrefix  = "pkg: "
	SidePrefix = SideKey + ": "
)

// SideKey is the configuration key that tells the versions of a package apart, and
// the Plan.Col of a run that compares versions.
const SideKey = "side"

func (s *Store) line(text string) { s.write(text + "\n") }

// write appends text, which ends with a newline, by one system call: it is in
// the file whole or not at all if the process is killed.
func (s *Store) write(text string) {
	if s.Err == nil {
		_, s.Err = s.f.WriteString(text)
	}
}

// Sync returns the first error of all writes.
func (s *Store) Sync() error {
	if s.Err == nil {
		s.Err = s.f.Sync()
	}
	if s.Err != nil {
		return fmt.Errorf("writing results: %w", s.Err)
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
	// Done holds the steps that block Ended+1 has results or holes for.
	Done map[StepKey]bool
	// Given holds, for each step that has been tried, how many times in a row it
	// has failed.
	Given map[StepKey]int
	// Alone holds, by Group.Index, why groups cannot take turns, Stopped the
	// groups that are decided and after which block that was seen, and Looked the
	// blocks after which it was looked.
	Alone   map[int]string
	Stopped map[int]int
	Looked  []int
	// Torn is what was being written when the run was killed: a line without an
	// end, or a row without its end. Resume cuts it off.
	Torn string

	size  int64    // of the file without Torn
	pkg   string   // the latest pkg line
	side  string   // the latest side line
	units []string // the Unit lines, without their mark

	config map[string]string // all configuration lines, the latest of each key
}

// A StepKey names a step of a plan.
type StepKey struct{ Index, Copy int }

// Key returns the step's key.
func (s Step) Key() StepKey { return StepKey{s.Index, max(1, s.Copy)} }

// Finished reports whether there is nothing left to do.
func (r *Interrupted) Finished() bool {
	return r.Ended >= r.Plan.Blocks || len(r.Stopped) == len(r.Plan.Groups())
}

// ReadInterrupted reads the results file of a run that is to be resumed; it is an error
// if that was a board's.
func ReadInterrupted(path string) (*Interrupted, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := ParseInterrupted(path, data)
	if err == nil && r.Config[BoardKey] != "" {
		return nil, fmt.Errorf("%s cannot be resumed: it is of a board: go on with benchrun board run --resume", path)
	}
	return r, err
}

// ReadInterruptedBoard is ReadInterrupted for a run of a board.
func ReadInterruptedBoard(path string) (*Interrupted, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := ParseInterrupted(path, data)
	if err == nil && r.Config[BoardKey] == "" {
		return nil, fmt.Errorf("%s cannot be resumed: it is not of a board: go on with benchrun run --resume", path)
	}
	return r, err
}

// ParseInterrupted is ReadInterrupted of what the results file path holds, or held
// when it was read: a run that goes on appends to it.
func ParseInterrupted(path string, data []byte) (r *Interrupted, err error) {
	whole := complete(data)
	r = &Interrupted{
		Path: path, Config: make(map[string]string), Done: make(map[StepKey]bool), Given: make(map[StepKey]int),
		Alone: make(map[int]string), Stopped: make(map[int]int), config: make(map[string]string),
		Torn: string(data[len(whole):]), size: int64(len(whole)),
	}
	bad := func(format string, args ...any) (*Interrupted, error) {
		return nil, fmt.Errorf("%s cannot be resumed: "+format, append([]any{path}, args...)...)
	}
	lines := strings.Split(string(whole), "\n")
	measured := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, blockKey) })
	if lines[0] == WrittenBy && !measured {
		return bad("nothing was measured when its run ended; start a new one")
	}
	if lines[0] == writtenByBoardRun {
		return bad("it was written by a benchrun that kept the results of boards in another way; start a new run")
	}
	if r.Plan, err = decodePlan(lines); err != nil {
		return bad("%w", err)
	}
	if err := r.read(lines); err != nil {
		return bad("%w", err)
	}
	if id := r.Plan.ID(); r.Config["plan"] != id {
		return bad("its plan is %s by name and %s by content, so it has been changed", r.Config["plan"], id)
	}
	return r, nil
}

// complete returns the beginning of a results file that ends with something complete: a
// line, and neither a row nor a step of which the end is missing. The last line of a step
// is its result, or what stands in its place.
func complete(data []byte) []byte {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if begin := bytes.LastIndex(whole, []byte("\n"+rowMark+" ")) + 1; begin > 0 && !bytes.Contains(whole[begin:], []byte("\n"+rowEnd+" ")) {
		return whole[:begin]
	}
	begin := bytes.LastIndex(whole, []byte("\n"+caseKey)) + 1
	if begin == 0 {
		return whole
	}
	for line := range strings.Lines(string(whole[begin:])) {
		if isOfStep(line) {
			return whole
		}
	}
	return whole[:begin]
}

// read takes in what was measured.
func (r *Interrupted) read(lines []string) error {
	known := make(map[StepKey]bool)
	for _, s := range r.Plan.Steps() {
		known[s.Key()] = true
	}
	groups := r.Plan.Groups()
	inBlock, at := false, StepKey{0, 1}
	for i, line := range lines {
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			r.config[key] = value
		}
		number := func(prefix string) int { // 0 if it is none
			n, _ := strconv.Atoi(line[len(prefix):])
			return n
		}
		// about reads a line about a group.
		about := func(prefix string) (group int, fields map[string]string, err error) {
			if fields, err = ParseFields(line[len(prefix):]); err != nil {
				return 0, nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			group, _ = strconv.Atoi(fields["group"])
			if group < 1 || group > len(groups) || groups[group-1].Name != fields["row"] {
				return 0, nil, fmt.Errorf("line %d: %q is about no row of the plan", i+1, line)
			}
			return group, fields, nil
		}
		switch {
		case strings.HasPrefix(line, blockEnd):
			if number(blockEnd) != r.Ended+1 {
				return fmt.Errorf("line %d: %q after the end of block %d", i+1, line, r.Ended)
			}
			r.Ended++
			r.Done = make(map[StepKey]bool)
		case strings.HasPrefix(line, blockKey):
			if number(blockKey) != r.Ended+1 {
				return fmt.Errorf("line %d: %q after the end of block %d", i+1, line, r.Ended)
			}
			inBlock = true
		case strings.HasPrefix(line, UnitMark):
			r.units = append(r.units, strings.TrimPrefix(line, UnitMark))
		case strings.HasPrefix(line, PkgPrefix):
			r.pkg = line[len(PkgPrefix):]
		case strings.HasPrefix(line, SidePrefix):
			r.side = line[len(SidePrefix):]
		case strings.HasPrefix(line, caseKey), strings.HasPrefix(line, "copy: ") && inBlock:
			key, value, _ := strings.Cut(line, ": ")
			n, err := strconv.Atoi(value)
			if key == "copy" {
				at.Copy = n
			} else {
				at.Index = n
			}
			if err != nil || key == "case" && !known[StepKey{n, 1}] || key == "copy" && !known[at] {
				return fmt.Errorf("line %d: %q is no case of the plan", i+1, line)
			}
		case strings.HasPrefix(line, AloneMark):
			group, fields, err := about(AloneMark)
			if err != nil {
				return err
			}
			r.Alone[group] = fields["reason"]
		case strings.HasPrefix(line, decidedMark):
			group, _, err := about(decidedMark)
			if err != nil {
				return err
			}
			if _, ok := r.Stopped[group]; !ok {
				r.Stopped[group] = r.Ended
			}
		case strings.HasPrefix(line, lookMark):
			r.Looked = append(r.Looked, r.Ended)
		case inBlock && isOfStep(line):
			more := r.Plan.Count > 1 && strings.HasPrefix(line, "Benchmark") // a process has printed several
			if r.Done[at] && !more || !known[at] {
				return fmt.Errorf("line %d: block %d has case %d already", i+1, r.Ended+1, at.Index)
			}
			r.Done[at] = true
			if strings.HasPrefix(line, holeMark) {
				r.Given[at]++
			} else {
				r.Given[at] = 0
			}
		case !inBlock && !strings.HasPrefix(line, "#"):
			if key, value, ok := strings.Cut(line, ": "); ok {
				r.Config[key] = value
			}
		}
	}
	return nil
}

// isOfStep reports whether a line is what a step gave in a block.
func isOfStep(line string) bool {
	return strings.HasPrefix(line, "Benchmark") || strings.HasPrefix(line, holeMark) || strings.HasPrefix(line, skipMark) || strings.HasPrefix(line, clauseMark)
}

// Resume opens the file to append to it, after cutting off what is torn.
func (r *Interrupted) Resume(now time.Time) (*Store, error) {
	f, err := Reopen(r.Path, r.size, r.size+int64(len(r.Torn)))
	if err != nil {
		return nil, err
	}
	s := &Store{Path: r.Path, f: f, pkg: r.pkg, side: r.side, config: r.config, units: newUnitTable()}
	s.units.has(r.units...)
	s.units.learn(ownUnits...)
	s.line(ResumedLine(now))
	if err := s.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// ResumedLine is the line of a results file that says when its run went on.
func ResumedLine(now time.Time) string { return "# resumed " + now.UTC().Format(time.RFC3339) }

// Reopen opens a results file to append to it, after cutting off all but its first
// keep bytes. size is how many it had when it was read: with another number now, or
// while another run has it, there is an error, and nothing is cut off.
func Reopen(path string, keep, size int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err := takeOver(f, keep, size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// takeOver is Reopen of a file that is open.
func takeOver(f *os.File, keep, size int64) error {
	if err := LockResults(f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("%s has been written to in the meantime: is another benchrun at it?", f.Name())
	}
	if err := f.Truncate(keep); err != nil {
		return err
	}
	_, err = f.Seek(keep, io.SeekStart)
	return err
}
