package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
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

	size   int64             // of the file without Torn
	units  []string          // the Unit lines, without their mark
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
	return readInterrupted(path, false, "it is of a board: go on with benchrun board run --resume")
}

// ReadInterruptedBoard is ReadInterrupted for a run of a board.
func ReadInterruptedBoard(path string) (*Interrupted, error) {
	return readInterrupted(path, true, "it is not of a board: go on with benchrun run --resume")
}

func readInterrupted(path string, board bool, otherwise string) (*Interrupted, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := ParseInterrupted(path, data)
	if err == nil && (r.Config[BoardKey] != "") != board {
		return nil, fmt.Errorf("%s cannot be resumed: %s", path, otherwise)
	}
	return r, err
}

// ParseInterrupted is ReadInterrupted of what the results file path holds, or held
// when it was read: a run that goes on appends to it.
func ParseInterrupted(path string, data []byte) (*Interrupted, error) {
	whole := complete(data)
	r := &Interrupted{
		Path: path, Config: make(map[string]string), Done: make(map[StepKey]bool), Given: make(map[StepKey]int),
		Alone: make(map[int]string), Stopped: make(map[int]int), config: make(map[string]string),
		Torn: string(data[len(whole):]), size: int64(len(whole)),
	}
	if err := r.parse(slices.Collect(Lines(string(whole)))); err != nil {
		return nil, fmt.Errorf("%s cannot be resumed: %w", path, err)
	}
	return r, nil
}

// parse takes in all lines of the file.
func (r *Interrupted) parse(lines []Line) (err error) {
	begun := slices.ContainsFunc(lines, func(l Line) bool { return l.Key == "block" })
	switch {
	case len(lines) > 0 && lines[0].Text == WrittenBy && !begun:
		return errors.New("nothing was measured when its run ended; start a new one")
	case len(lines) > 0 && lines[0].Text == writtenByBoardRun:
		return errors.New("it was written by a benchrun that kept the results of boards in another way; start a new run")
	}
	if r.Plan, err = decodePlan(lines); err != nil {
		return err
	}
	if err := r.read(lines); err != nil {
		return err
	}
	if id := r.Plan.ID(); r.Config["plan"] != id {
		return fmt.Errorf("its plan is %s by name and %s by content, so it has been changed", r.Config["plan"], id)
	}
	return nil
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
	return slices.Contains([]string{ResultMark, HoleMark, SkipMark, ClauseMark}, l.Mark)
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

// Resume opens the file to append to it, after cutting off what is torn. If it has another
// size than when it was read, or another run has it, there is an error, and nothing is cut
// off.
func (r *Interrupted) Resume(now time.Time) (*Store, error) {
	f, err := os.OpenFile(r.Path, os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	s := newStore(r.Path, f)
	s.config = r.config
	s.units.has(r.units...)
	s.units.learn(ownUnits...)
	if err := r.takeOver(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.line(ResumedMark + now.UTC().Format(time.RFC3339))
	return s.begun()
}

// takeOver makes f, which is open, end where what is whole does.
func (r *Interrupted) takeOver(f *os.File) error {
	if err := LockResults(f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != r.size+int64(len(r.Torn)) {
		return fmt.Errorf("%s has been written to in the meantime: is another benchrun at it?", f.Name())
	}
	if err := f.Truncate(r.size); err != nil {
		return err
	}
	_, err = f.Seek(r.size, io.SeekStart)
	return err
}
