package hw

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// A Plan is what a run on a device was to do. Its results file has it, so that the run
// can be resumed.
type Plan struct {
	Impls []string `json:"impls"`
	// All: none of Impls was asked for by name, they are all that there are. Then one
	// whose image is too big for the board is skipped, and that, or a case that ran out
	// of memory, is no failure of the run as long as something has passed.
	All   bool     `json:"all,omitempty"`
	Parts []string `json:"parts"` // of the firmware, as SelectParts returns them
	// Case is the regular expression that the names of the cases match; "" for all.
	Case  string `json:"case,omitempty"`
	Count int    `json:"count"` // how many times each case is run
	// Silence and Timeout are the limits of a case, in nanoseconds.
	Silence time.Duration `json:"silence"`
	Timeout time.Duration `json:"timeout"`
	// Images are what was built, in the order of the implementations.
	Images []PlannedImage `json:"images"`
}

// A PlannedImage is an image of a plan, or that there is none.
type PlannedImage struct {
	Impl  string   `json:"impl"`
	Parts []string `json:"parts"`
	Hash  string   `json:"image,omitempty"` // Image.Hash; "" if there is none
	// Outcome is the name of what came instead of an image, and Why what happened; ""
	// if there is one.
	Outcome string `json:"outcome,omitempty"`
	Why     string `json:"why,omitempty"`
}

// differences says in which respects the settings of now differ from those of p, one
// line each, as "what: then → now".
func (p *Plan) differences(now *Plan) []string {
	var diffs differences
	diffs.say("impl", p.impls(), now.impls())
	diffs.say("parts", strings.Join(p.Parts, ","), strings.Join(now.Parts, ","))
	diffs.say("case", p.Case, now.Case)
	diffs.say("count", strconv.Itoa(p.Count), strconv.Itoa(now.Count))
	diffs.say("silence", p.Silence.String(), now.Silence.String())
	diffs.say("timeout", p.Timeout.String(), now.Timeout.String())
	return diffs
}

// impls names the implementations, and whether they were asked for.
func (p *Plan) impls() string {
	names := strings.Join(p.Impls, ",")
	if p.All {
		return "all (" + names + ")"
	}
	return names
}

// skip says why an image is skipped of which that came instead; "" if it is not skipped.
func (p *Plan) skip(came Outcome, why string) string {
	if !p.All || came != TooBig {
		return ""
	}
	return "does not fit: " + why
}

// differences are what is not as it was, a line each.
type differences []string

// say adds what if it is different.
func (d *differences) say(what, then, now string) {
	if then != now {
		*d = append(*d, what+": "+cmp.Or(then, "none")+" → "+cmp.Or(now, "none"))
	}
}

// refuse returns the error of a file that cannot be gone on with because of
// differences; nil if there are none.
func refuse(path string, diffs []string) error {
	if len(diffs) == 0 {
		return nil
	}
	return fmt.Errorf("%s cannot be resumed, because this is not the same run any more:\n  %s\nstart a new one, or restore what is different",
		path, strings.Join(diffs, "\n  "))
}

// What is complete in a results file: its header, which ends with the plan; a case; the
// cases of an image in a block, or an image of which nothing more comes. What comes
// after the last of them is of a case that did not come to its end.
const (
	planMark = "# board-plan: "
	caseEnd  = "# end of case: "
	imageEnd = "# end of image: "
)

// skippedCase is what the end of a case says in place of an outcome if the case was not
// run.
const skippedCase = "skipped"

// imageCase begins the name of the benchmark that has the sizes of an image.
const imageCase = "BenchmarkBoard/case=image/parts="

// Plan notes what is to be done: the header is complete with it.
func (r *Results) Plan(p *Plan) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	r.write(planMark + string(text) + "\n")
	return nil
}

// EndCase notes that all of a case is there, and what came of it.
func (r *Results) EndCase(c CaseResult) {
	came := c.Outcome.String()
	if c.Skip != "" {
		came = skippedCase
	}
	r.write(caseEnd + "impl=" + c.Impl + " case=" + c.Case + " block=" + strconv.Itoa(c.Block) + " outcome=" + strconv.Quote(came) + "\n")
}

// EndImage notes that all cases of an image in a block are there.
func (r *Results) EndImage(impl string, parts []string, block int) {
	r.write(imageEnd + "impl=" + impl + " parts=" + strings.Join(parts, "+") + " block=" + strconv.Itoa(block) + "\n")
}

// GiveUp notes that nothing more comes of an image.
func (r *Results) GiveUp(impl string, parts []string, o Outcome) {
	r.write(imageEnd + "impl=" + impl + " parts=" + strings.Join(parts, "+") + " outcome=" + strconv.Quote(o.String()) + "\n")
}

// An Interrupted is the results file of a run that has not come to its end.
type Interrupted struct {
	Path string
	Plan *Plan
	// Config holds the configuration lines of the header.
	Config map[string]string
	// Results are what came of the cases that are complete, in their order. Their
	// devices are not set, and they have no answers.
	Results []CaseResult
	// Torn is what was written, or being written, of the case that ran when the run
	// was ended. It is cut off when the run is resumed.
	Torn string

	size   int64             // of the file without Torn
	config map[string]string // in force at the end, without Torn
	units  []string          // those whose direction is told
	sized  map[string]bool   // implementations and parts of images whose sizes are there
	cases  map[caseKey]bool
	images []imageState // as in Plan
}

// A caseKey names a case in a block.
type caseKey struct {
	impl, name string
	block      int
}

// An imageState is how far an image has come.
type imageState struct {
	ended   int // the last block of which all cases are there
	givenUp bool
}

// Finished reports whether there is nothing left to do.
func (r *Interrupted) Finished() bool {
	for i := range r.images {
		if !r.over(i) {
			return false
		}
	}
	return true
}

// over reports whether nothing more comes of the image i of the plan.
func (r *Interrupted) over(i int) bool {
	return r.Plan.Images[i].Outcome != "" || r.images[i].givenUp || r.images[i].ended >= r.Plan.Count
}

// image returns the index in the plan of the image of impl with these parts, joined by
// "+"; -1 if there is none.
func (r *Interrupted) image(impl, parts string) int {
	return slices.IndexFunc(r.Plan.Images, func(p PlannedImage) bool {
		return p.Impl == impl && strings.Join(p.Parts, "+") == parts
	})
}

// differences says what is different now, on the board b, that would make the two halves
// of the run two runs, one line each.
func (r *Interrupted) differences(b Board, now []setting, plan *Plan) []string {
	var diffs differences
	for _, s := range now {
		if s.key != hostKey || b.Emulated { // to a real board it makes no difference
			diffs.say(s.key, r.Config[s.key], s.value)
		}
	}
	return append(diffs, r.Plan.differences(plan)...)
}

// ReadInterrupted reads the results file of a run that is to be resumed.
func ReadInterrupted(path string) (*Interrupted, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := parseInterrupted(data)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be resumed: %w", path, err)
	}
	r.Path = path
	return r, nil
}

// parseInterrupted reads what is in a results file.
func parseInterrupted(data []byte) (*Interrupted, error) {
	whole := completeIn(data)
	r := &Interrupted{
		Torn: string(data[len(whole):]), size: int64(len(whole)),
		config: make(map[string]string), sized: make(map[string]bool), cases: make(map[caseKey]bool),
	}
	if !bytes.HasPrefix(data, []byte(writtenBy+"\n")) {
		return nil, errors.New("it was not written by benchrun board run")
	}
	why := "" // there is no figure, as the line before says
	for i, line := range strings.Split(string(whole), "\n") {
		if err := r.read(line, &why); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	switch {
	case r.Plan != nil:
		return r, nil
	case bytes.Contains(data, []byte("\nBenchmark")) || bytes.Contains(data, []byte("\nblock: ")):
		return nil, errors.New("there is no plan in it: it was written by a benchrun that could not resume the run of a board")
	}
	return nil, errors.New("nothing was measured when its run ended; start a new one")
}

// completeIn returns the beginning of a results file that ends with something complete.
func completeIn(data []byte) []byte {
	end := 0
	for at := 0; at < len(data); {
		n := bytes.IndexByte(data[at:], '\n') + 1
		if n == 0 {
			break
		}
		line := data[at : at+n]
		at += n
		for _, mark := range []string{planMark, caseEnd, imageEnd, imageCase} {
			if bytes.HasPrefix(line, []byte(mark)) {
				end = at
			}
		}
	}
	return data[:end]
}

// read takes in a line. why keeps the reason that a line gives for a case that has no
// figure until the case's end.
func (r *Interrupted) read(line string, why *string) error {
	mark, rest := "", ""
	for _, m := range []string{planMark, caseEnd, imageEnd, "# hole: ", "# skip: ", "# conform: ", "Unit ", imageCase} {
		if text, ok := strings.CutPrefix(line, m); ok {
			mark, rest = m, text
		}
	}
	if key, value, ok := strings.Cut(line, ": "); mark == "" && ok && isKey(key) {
		r.config[key] = value
	}
	switch mark {
	case "":
		return nil
	case planMark:
		return r.readPlan(rest)
	case "Unit ":
		unit, _, _ := strings.Cut(rest, " ")
		r.units = append(r.units, unit)
		return nil
	}
	if r.Plan == nil {
		return nil // of images that are not there; the plan knows them too
	}
	if mark == imageCase {
		name, _, _ := strings.Cut(rest, " ")
		parts, impl, _ := strings.Cut(name, "/impl=")
		r.sized[impl+" "+parts] = true
		return nil
	}
	fields, err := record.ParseFields(rest)
	if err != nil {
		return err
	}
	block, _ := strconv.Atoi(fields["block"])
	switch mark {
	case caseEnd:
		err = r.readCase(fields, block, *why)
		*why = ""
	case imageEnd:
		err = r.readImage(fields, block, *why)
		*why = ""
	default:
		*why = cmp.Or(fields["reason"], fields["why"])
	}
	if err != nil {
		return fmt.Errorf("%q %w", line, err)
	}
	return nil
}

// isKey reports whether text is the key of a configuration line.
func isKey(text string) bool {
	return text != "" && 'a' <= text[0] && text[0] <= 'z' && !strings.ContainsAny(text, " \t")
}

// readPlan takes in the end of the header.
func (r *Interrupted) readPlan(text string) error {
	if r.Plan != nil {
		return errors.New("there is a plan already")
	}
	p := new(Plan)
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return fmt.Errorf("the plan cannot be read: %w", err)
	}
	if p.Count < 1 {
		return fmt.Errorf("the plan runs each case %d times", p.Count)
	}
	r.Plan, r.images = p, make([]imageState, len(p.Images))
	r.Config = maps.Clone(r.config)
	for _, im := range p.Images {
		if im.Outcome == "" {
			continue
		}
		o, err := outcomeNamed(im.Outcome)
		if err != nil {
			return err
		}
		why := strings.TrimPrefix(im.Why, o.String()+": ")
		r.add(CaseResult{Impl: im.Impl, Skip: p.skip(o, why)}, o, why)
	}
	return nil
}

// readCase takes in the end of a case.
func (r *Interrupted) readCase(fields map[string]string, block int, why string) error {
	c := CaseResult{Impl: fields["impl"], Case: fields["case"], Block: block}
	key := caseKey{c.Impl, c.Case, c.Block}
	switch {
	case c.Case == "" || block < 1 || block > r.Plan.Count || !slices.ContainsFunc(r.Plan.Images, func(p PlannedImage) bool { return p.Impl == c.Impl }):
		return errors.New("is of no case of the plan")
	case r.cases[key]:
		return errors.New("comes a second time")
	}
	r.cases[key] = true
	if fields["outcome"] == skippedCase {
		c.Skip = cmp.Or(why, skippedCase)
		r.Results = append(r.Results, c)
		return nil
	}
	o, err := outcomeNamed(fields["outcome"])
	if err != nil {
		return err
	}
	r.add(c, o, why)
	return nil
}

// readImage takes in the end of an image.
func (r *Interrupted) readImage(fields map[string]string, block int, why string) error {
	i := r.image(fields["impl"], fields["parts"])
	if i < 0 {
		return errors.New("is of no image of the plan")
	}
	state := &r.images[i]
	if name := fields["outcome"]; name != "" {
		o, err := outcomeNamed(name)
		if err != nil {
			return err
		}
		state.givenUp = true
		r.add(CaseResult{Impl: fields["impl"]}, o, why)
		return nil
	}
	if block != state.ended+1 || block > r.Plan.Count {
		return fmt.Errorf("comes after the end of block %d", state.ended)
	}
	state.ended = block
	return nil
}

// add adds what came of a case, or of an image.
func (r *Interrupted) add(c CaseResult, o Outcome, why string) {
	if c.Outcome = o; o != OK {
		c.Err = failed(o, strings.TrimPrefix(why, o.String()+": "), nil)
	}
	r.Results = append(r.Results, c)
}

// outcomeNamed returns the outcome of that name.
func outcomeNamed(name string) (Outcome, error) {
	for _, o := range Outcomes() {
		if o.String() == name {
			return o, nil
		}
	}
	return OK, fmt.Errorf("has no outcome that there is: %q", name)
}

// resume opens the file to append to it, after cutting off what is torn.
func (r *Interrupted) resume(now time.Time) (*Results, error) {
	f, err := record.Reopen(r.Path, r.size, r.size+int64(len(r.Torn)))
	if err != nil {
		return nil, err
	}
	out := &Results{Path: r.Path, f: f, config: maps.Clone(r.config), units: slices.Clone(r.units)}
	out.write(record.ResumedLine(now) + "\n")
	if err := out.Sync(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return out, nil
}
