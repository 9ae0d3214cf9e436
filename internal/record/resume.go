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
	Path   string
	Plan   *Plan
	Config map[string]string // the configuration lines before the first block

	Ended int              // the number of the last complete block, 0 for none
	Done  map[StepKey]bool // the steps that block Ended+1 has results or holes for
	Given map[StepKey]int  // for each step that has been tried, how many times in a row it has failed

	// Slices are those that steps had when they were measured last.
	Slices map[StepKey]SliceWork

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
	sums   sums              // of that
	units  []string          // the Unit lines, without their mark
	config map[string]string // all configuration lines, the latest of each key
}

// SliceWork is what a slice of a step did.
type SliceWork struct {
	Ops   int
	Whole bool // it was a call as go test makes it, which is known by there being one a block
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
	whole := Whole(data)
	r := &Interrupted{
		Path: path, Config: make(map[string]string), Done: make(map[StepKey]bool), Given: make(map[StepKey]int), Slices: make(map[StepKey]SliceWork),
		Alone: make(map[int]string), Stopped: make(map[int]int), config: make(map[string]string),
		Torn: string(data[len(whole):]), size: int64(len(whole)),
	}
	if err := r.parse(string(whole)); err != nil {
		return nil, fmt.Errorf("%s cannot be resumed: %w", path, err)
	}
	return r, nil
}

// parse takes in all lines of the file.
func (r *Interrupted) parse(text string) (err error) {
	switch {
	case strings.HasPrefix(text, WrittenBy) && !strings.Contains(text, "\nblock: "):
		return errors.New("nothing was measured when its run ended; start a new one")
	case strings.HasPrefix(text, writtenByBoardRun):
		return errors.New("it was written by a benchrun that kept the results of boards in another way; start a new run")
	}
	p := position{Interrupted: r, at: StepKey{0, 1}}
	for l := range Lines(text) {
		if l.Mark == sumMark {
			if !r.sums.check(l.Text) {
				return fmt.Errorf("line %d: what stands above has another sum: the file was damaged, or changed; start a new run", l.Number)
			}
			continue
		}
		r.sums.add(l.Text)
		if l.Key == "block" && p.steps == nil {
			if err := p.begin(); err != nil {
				return err
			}
		}
		if err := p.take(l); err != nil {
			return fmt.Errorf("line %d: %w", l.Number, err)
		}
	}
	if p.steps == nil {
		if err := p.begin(); err != nil {
			return err
		}
	}
	if id := r.Plan.ID(); r.Config["plan"] != id {
		return fmt.Errorf("its plan is %s by name and %s by content, so it has been changed", r.Config["plan"], id)
	}
	return nil
}

// Whole returns the beginning of a results file that ends with something complete: a part
// that has its sum; of a file without sums a line, and neither a row nor a step of which the end
// is missing.
func Whole(data []byte) []byte {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if sum := bytes.LastIndex(whole, []byte("\n"+sumMark)) + 1; sum > 0 {
		return whole[:sum+bytes.IndexByte(whole[sum:], '\n')+1]
	}
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

// A position is how far reading what was measured has got.
type position struct {
	*Interrupted
	steps   map[StepKey]bool // of the plan
	groups  []Group
	inBlock bool
	at      StepKey
}

// begin ends the plan, which comes before what was measured.
func (p *position) begin() error {
	if p.Plan == nil {
		return errors.New("there is no plan in it: it was not written by benchrun run")
	}
	if err := p.Plan.Check(); err != nil {
		return err
	}
	p.groups, p.steps = p.Plan.Groups(), make(map[StepKey]bool)
	for _, s := range p.Plan.Steps() {
		p.steps[s.Key()] = true
	}
	return nil
}

// take takes in a line.
func (p *position) take(l Line) (err error) {
	if l.Key != "" {
		p.config[l.Key] = l.Value
	}
	switch {
	case l.Mark == PlanMark, l.Mark == caseMark:
		p.Plan, err = p.Plan.decode(l)
		return err
	case l.Mark == unitMark:
		p.units = append(p.units, l.Rest)
	case l.Mark == BlockEnd:
		return p.block(l, l.Rest)
	case l.Key == "block":
		p.inBlock = true
		return p.block(l, l.Value)
	case l.Key == "case", l.Key == "copy" && p.inBlock:
		return p.move(l)
	case l.Mark == aloneMark, l.Mark == decidedMark:
		return p.group(l)
	case l.Mark == lookMark:
		p.Looked = append(p.Looked, p.Ended)
	case p.inBlock && l.ofStep():
		return p.step(l)
	case p.inBlock && l.Mark == SlicesMark:
		s, err := parseSlices(l.Rest)
		if err != nil {
			return err
		}
		p.Slices[p.at] = SliceWork{s.N, len(s.Ns) == 1 && p.Plan.Rounds > 1}
	case !p.inBlock && l.Key != "":
		p.Config[l.Key] = l.Value
	}
	return nil
}

// block takes in the first line of a block, or the line behind its last one.
func (p *position) block(l Line, number string) error {
	if n, _ := strconv.Atoi(number); n != p.Ended+1 {
		return fmt.Errorf("%q after the end of block %d", l.Text, p.Ended)
	}
	if l.Mark == BlockEnd {
		p.Ended++
		p.Done = make(map[StepKey]bool)
	}
	return nil
}

// move takes in a line that says which step, or which copy of it, comes next.
func (p *position) move(l Line) error {
	n, err := strconv.Atoi(l.Value)
	next := StepKey{n, 1}
	if l.Key == "case" {
		p.at.Index = n
	} else {
		p.at.Copy, next = n, StepKey{p.at.Index, n}
	}
	if err != nil || !p.steps[next] {
		return fmt.Errorf("%q is no case of the plan", l.Text)
	}
	return nil
}

// group takes in a line about a row.
func (p *position) group(l Line) error {
	fields, err := ParseFields(l.Rest)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(fields["group"])
	if n < 1 || n > len(p.groups) || p.groups[n-1].Name != fields["row"] {
		return fmt.Errorf("%q is about no row of the plan", l.Text)
	}
	if l.Mark == aloneMark {
		p.Alone[n] = fields["reason"]
	} else if _, ok := p.Stopped[n]; !ok {
		p.Stopped[n] = p.Ended
	}
	return nil
}

// step takes in what a step gave.
func (p *position) step(l Line) error {
	more := p.Plan.Count > 1 && l.Mark == ResultMark // a process has printed several
	if p.Done[p.at] && !more || !p.steps[p.at] {
		return fmt.Errorf("block %d has case %d already", p.Ended+1, p.at.Index)
	}
	p.Done[p.at] = true
	p.Given[p.at]++
	if l.Mark != HoleMark {
		p.Given[p.at] = 0
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
	s.config, s.sums = r.config, r.sums
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

// Complete reads a results file of a run that is finished: it has all that its plan asks for,
// or all is decided, and nothing in it is torn. Its error says what is missing.
func Complete(path string, data []byte) (*Interrupted, error) {
	r, err := ParseInterrupted(path, data)
	switch {
	case err != nil:
		return nil, err
	case r.Torn != "":
		return nil, fmt.Errorf("%s ends in the middle of %q", path, Shortened(r.Torn))
	case !r.Finished():
		return nil, fmt.Errorf("%s has %d of %d blocks", path, r.Ended, r.Plan.Blocks)
	}
	return r, nil
}
