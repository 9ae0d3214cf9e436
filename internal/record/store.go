package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/filelock"
)

// A Store is a results file that a run appends to; docs/results-format.md describes it.
//
// What belongs together, such as a row that takes turns, is written at once, with a sum of it
// behind it, and synced. So a run that is killed loses at most the process or the row it was at,
// and who reads the file knows whether it has all that was written.
type Store struct {
	Path string
	Err  error // of the first write that failed

	f      *os.File
	part   strings.Builder // what will be written by the next Sync
	sums   sums            // of the parts that were
	units  *unitTable
	config map[string]string // what is in force of packages, sides and Record.Settings
	said   map[string]bool   // the keys of it that this part has said
}

func newStore(path string, f *os.File) *Store {
	return &Store{Path: path, f: f, config: make(map[string]string), said: make(map[string]bool), units: newUnitTable()}
}

// begun returns s if what it begins with could be written, and closes it if not.
func (s *Store) begun() (*Store, error) {
	if err := s.Sync(); err != nil {
		return nil, errors.Join(err, s.f.Close())
	}
	return s, nil
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
	if err := LockResults(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := newStore(path, f)
	s.units.learn(ownUnits...)
	s.line(WrittenBy)
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
	for _, h := range absent {
		if h.Case != "" {
			s.write(s.place(Case{Pkg: h.Pkg, Side: h.Side}))
		}
		s.line(h.Line())
	}
	return s.begun()
}

// WrittenBy begins a results file.
const WrittenBy = "# Written by benchrun run; never edited. See docs/results-format.md."

// writtenByBoardRun begins the results files of boards of before 2026-11-23, which cannot be
// resumed any more.
const writtenByBoardRun = "# Written by benchrun board run; never edited. See docs/results-format.md."

// Block begins a block of plan, or the rest of one.
func (s *Store) Block(n int, load string, plan *Plan) {
	s.line("block: " + strconv.Itoa(n))
	if plan.Trial > 0 {
		s.line("trial: " + strconv.Itoa((n-1)/plan.Trial+1))
	}
	s.load(load)
	if plan.Layouts > 1 {
		s.line("layout: " + strconv.Itoa(plan.Layout(n)))
	}
}

// Anchor notes how fast the machine is, as [AnchorKey] has it; "" is not known.
func (s *Store) Anchor(text string) {
	if text != "" {
		s.line(AnchorKey + ": " + text)
	}
}

// load notes the load of the machine, if it is known.
func (s *Store) load(load string) {
	if load != "" {
		s.line("load: " + load)
	}
}

// Single adds what a step of plan gave that was measured alone. It is on disk when
// Single returns; an error is that of all writes.
func (s *Store) Single(r Record, plan *Plan) {
	lines := s.place(r.Step.Case)
	for _, set := range r.Settings {
		if value := strings.Join(strings.Fields(strings.Join(set.Values, " ")), " "); value != "" {
			lines += s.set(set.Key, value)
		}
	}
	s.write(lines + r.text(plan, s.units))
	_ = s.Sync() // which the next one says again
}

// Clause adds what is known of a clause before anything is measured: that it is skipped.
func (s *Store) Clause(c BoardClause) { s.line(c.Line()) }

// Turns adds what the steps of g gave that took turns in block, all or nothing:
// what is torn is cut off by a resumption.
func (s *Store) Turns(block int, g Group, records []Record, plan *Plan) error {
	var b strings.Builder
	of := strconv.Quote(g.Name) + " of block " + strconv.Itoa(block) + "\n"
	b.WriteString(rowMark + of)
	for _, r := range records {
		b.WriteString(s.place(r.Step.Case) + r.text(plan, s.units))
	}
	b.WriteString(rowEnd + of)
	s.write(b.String())
	return s.Sync()
}

// Alone notes that the steps of g cannot take turns from here on, and why.
func (s *Store) Alone(g Group, reason string) {
	s.line(aloneMark + formatFields("group", strconv.Itoa(g.Index), "pkg", g.Pkg, "row", strconv.Quote(g.Name), "reason", strconv.Quote(reason)))
}

// Note notes what a reader should know of the row g.
func (s *Store) Note(g Group, text string) {
	s.line(NoteMark + formatFields("pkg", g.Pkg, "row", strconv.Quote(g.Name), "text", strconv.Quote(text)))
}

// Look notes what was decided after block.
func (s *Store) Look(block int, groups []Group) error {
	at := strconv.Itoa(block)
	var b strings.Builder
	for _, g := range groups {
		b.WriteString(decidedMark + formatFields("group", strconv.Itoa(g.Index), "pkg", g.Pkg, "row", strconv.Quote(g.Name), "block", at) + "\n")
	}
	s.write(b.String() + lookMark + formatFields("block", at) + "\n")
	return s.Sync()
}

// End ends a block: what was measured in it is safe from then on.
func (s *Store) End(n int, load string) error {
	s.load(load)
	s.line(BlockEnd + strconv.Itoa(n))
	return s.Sync()
}

// LockResults keeps a second run from appending to the results file f until that is
// closed: its error says that another process writes to it. On a file system without locks
// nothing does, which is no reason not to measure.
func LockResults(f *os.File) error {
	if filelock.Try(f) == filelock.Held {
		return fmt.Errorf("another benchrun is writing to %s: wait until it has ended", f.Name())
	}
	return nil
}

// Close syncs and closes the file, and returns the first error of all writes.
func (s *Store) Close() error {
	return errors.Join(s.Sync(), s.f.Close())
}

// LearnUnits takes in what a subject says of units, and returns what contradicts an earlier
// one, each once.
func (s *Store) LearnUnits(units []string) (contradictions []string) { return s.units.learn(units...) }

// The configuration keys that a history of runs asks for.
const (
	// AnchorKey has the times of loops that never change, in nanoseconds for a step, with
	// spaces between: what they take is the speed of the machine.
	AnchorKey = "anchor"
	// ProvesKey says which suspicion a comparison was measured for, and at which level
	// it is judged.
	ProvesKey = "proves"
)

// SideKey is the configuration key that tells the versions of a package apart, and
// the Plan.Col of a run that compares versions.
const SideKey = "side"

// place returns the lines that say of which package, and of which version of it, the next
// lines are: none if that is known.
func (s *Store) place(c Case) string { return s.set("pkg", c.Pkg) + s.set(SideKey, c.Side) }

// set returns the line that sets key, "" if it has that value, and this part says so or it is
// none: a part that is damaged takes nothing from the others.
func (s *Store) set(key, value string) string {
	if s.config[key] == value && (s.said[key] || value == "") {
		return ""
	}
	s.config[key], s.said[key] = value, true
	return key + ": " + value + "\n"
}

func (s *Store) line(text string) { s.write(text + "\n") }

// write adds text, which ends with a newline, to the part that Sync writes.
func (s *Store) write(text string) { s.part.WriteString(text) }

// Sync writes what was added since the last one, with its sum, by one system call: it is in the
// file whole or not at all if the process is killed. It returns the first error of all writes.
func (s *Store) Sync() error {
	if part := s.part.String(); s.Err == nil && part != "" {
		s.part.Reset()
		clear(s.said)
		_, s.Err = s.f.WriteString(part + s.sums.of(part) + "\n")
	}
	if s.Err == nil {
		s.Err = s.f.Sync()
	}
	if s.Err != nil {
		return fmt.Errorf("writing results: %w", s.Err)
	}
	return nil
}
