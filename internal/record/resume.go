package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

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

// Refuse returns the error of a run that cannot be gone on with because of diffs, a line
// each, whose halves could not be compared; nil if there are none.
func (r *Interrupted) Refuse(diffs []string) error {
	if len(diffs) == 0 {
		return nil
	}
	return fmt.Errorf("%s cannot be resumed, because this is not the same run any more:\n  %s\nstart a new one, or restore what is different",
		r.Path, strings.Join(diffs, "\n  "))
}

// Finished reports whether there is nothing left to do.
func (r *Interrupted) Finished() bool {
	return r.Ended >= r.Plan.Blocks || len(r.Stopped) == len(r.Plan.Groups())
}

// ReadInterrupted reads the results file of a run that is to be resumed; it is an error
// if that was a board's.
func ReadInterrupted(path string) (*Interrupted, error) {
	return readInterrupted(path, false)
}

// ReadInterruptedBoard is ReadInterrupted for a run of a board.
func ReadInterruptedBoard(path string) (*Interrupted, error) {
	return readInterrupted(path, true)
}

func readInterrupted(path string, board bool) (*Interrupted, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := ParseInterrupted(path, data)
	switch {
	case err != nil:
		return nil, err
	case board && r.Config[BoardKey] == "":
		return nil, fmt.Errorf("%s cannot be resumed: it is not of a board: go on with benchrun run --resume", path)
	case !board && r.Config[BoardKey] != "":
		return nil, fmt.Errorf("%s cannot be resumed: it is of a board: go on with benchrun board run --resume", path)
	}
	return r, nil
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
	lines := slices.Collect(Lines(string(whole)))
	has := func(key string) bool {
		return slices.ContainsFunc(lines, func(l Line) bool { return l.Key == key })
	}
	switch {
	case len(lines) > 0 && lines[0].Text == WrittenBy && !has("block"):
		return bad("nothing was measured when its run ended; start a new one")
	case len(lines) > 0 && lines[0].Text == writtenByBoardRun:
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
// line, and neither a row nor a step of which the end is missing.
func complete(data []byte) []byte {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if begin := bytes.LastIndex(whole, []byte("\n"+rowMark)) + 1; begin > 0 && !bytes.Contains(whole[begin:], []byte("\n"+rowEnd)) {
		return whole[:begin]
	}
	begin := bytes.LastIndex(whole, []byte("\ncase: ")) + 1
	if begin == 0 {
		return whole
	}
	for l := range Lines(string(whole[begin:])) {
		if l.ofStep() {
			return whole
		}
	}
	return whole[:begin]
}

// ofStep reports whether a line is what a step gave in a block: its result, or what stands
// in the place of that.
func (l Line) ofStep() bool {
	switch l.Mark {
	case ResultMark, HoleMark, SkipMark, ClauseMark:
		return true
	}
	return false
}

// read takes in what was measured.
func (r *Interrupted) read(lines []Line) error {
	known := make(map[StepKey]bool)
	for _, s := range r.Plan.Steps() {
		known[s.Key()] = true
	}
	groups := r.Plan.Groups()
	inBlock, at := false, StepKey{0, 1}
	for _, l := range lines {
		if l.Key != "" {
			r.config[l.Key] = l.Value
		}
		switch {
		case l.Mark == unitMark:
			r.units = append(r.units, l.Rest)
		case l.Mark == BlockEnd, l.Key == "block":
			if err := r.block(l); err != nil {
				return err
			}
			inBlock = inBlock || l.Key == "block"
		case l.Key == "pkg":
			r.pkg = l.Value
		case l.Key == SideKey:
			r.side = l.Value
		case l.Key == "case", l.Key == "copy" && inBlock:
			n, err := strconv.Atoi(l.Value)
			key := StepKey{n, 1}
			if l.Key == "copy" {
				at.Copy, key = n, StepKey{at.Index, n}
			} else {
				at.Index = n
			}
			if err != nil || !known[key] {
				return fmt.Errorf("line %d: %q is no case of the plan", l.Number, l.Text)
			}
		case l.Mark == AloneMark, l.Mark == decidedMark:
			if err := r.group(l, groups); err != nil {
				return err
			}
		case l.Mark == lookMark:
			r.Looked = append(r.Looked, r.Ended)
		case inBlock && l.ofStep():
			if err := r.step(l, at, known[at]); err != nil {
				return err
			}
		case !inBlock && l.Key != "":
			r.Config[l.Key] = l.Value
		}
	}
	return nil
}

// block takes in the first line of a block, or the line behind its last one.
func (r *Interrupted) block(l Line) error {
	number := l.Value
	if l.Mark == BlockEnd {
		number = l.Rest
	}
	if n, _ := strconv.Atoi(number); n != r.Ended+1 {
		return fmt.Errorf("line %d: %q after the end of block %d", l.Number, l.Text, r.Ended)
	}
	if l.Mark == BlockEnd {
		r.Ended++
		r.Done = make(map[StepKey]bool)
	}
	return nil
}

// group takes in a line about a row.
func (r *Interrupted) group(l Line, groups []Group) error {
	fields, err := ParseFields(l.Rest)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.Number, err)
	}
	n, _ := strconv.Atoi(fields["group"])
	if n < 1 || n > len(groups) || groups[n-1].Name != fields["row"] {
		return fmt.Errorf("line %d: %q is about no row of the plan", l.Number, l.Text)
	}
	if l.Mark == AloneMark {
		r.Alone[n] = fields["reason"]
	} else if _, ok := r.Stopped[n]; !ok {
		r.Stopped[n] = r.Ended
	}
	return nil
}

// step takes in what the step at gave.
func (r *Interrupted) step(l Line, at StepKey, known bool) error {
	more := r.Plan.Count > 1 && l.Mark == ResultMark // a process has printed several
	if r.Done[at] && !more || !known {
		return fmt.Errorf("line %d: block %d has case %d already", l.Number, r.Ended+1, at.Index)
	}
	r.Done[at] = true
	if l.Mark == HoleMark {
		r.Given[at]++
	} else {
		r.Given[at] = 0
	}
	return nil
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
func ResumedLine(now time.Time) string { return ResumedMark + now.UTC().Format(time.RFC3339) }

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
