package hw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/lab"
)

// RunOptions say what to run where.
type RunOptions struct {
	Checkout Checkout
	Devices  []Device
	// Impls are the implementations; empty means for each board those that fit it.
	Impls []string
	// Parts are those of the firmware, as SelectParts takes them; empty means all. If
	// a board has no room for all of them together, each is an image of its own.
	Parts []string
	// Match says which cases are run, by their names; nil means all.
	Match func(name string) bool
	// Count is how many times each case is run; less than one means once.
	Count int
	// Out is the path of the results file; empty means
	// results/<board>/<time>-<commit>.bench in the checkout. With several devices it
	// must be empty: each has a file.
	Out string

	Limits   Limits
	Progress Progress // nil: nobody wants to know
	Ports    Ports    // nil: this machine's
}

// Progress is told what a run does. All calls come from one goroutine.
type Progress interface {
	// Build is called before an image is built, and Built after that; err is why
	// there is none. The image of one that is too big has sizes.
	Build(d Device, impl string, parts []string)
	Built(d Device, impl string, im *Image, err error)
	// Split is called instead of Built if the parts are too big for the board together,
	// and each is going to be an image of its own.
	Split(d Device, impl string, parts []string, err error)
	// Flash is called before an image is brought to a device that keeps it.
	Flash(d Device, im *Image)
	// Cases is called when a board has said what it can run: n cases are to be run.
	Cases(d Device, im *Image, hello line.Hello, n int)
	// Case is called before a case, and Done after it. block counts the repetitions
	// from 1.
	Case(d Device, im *Image, name string, block int)
	Done(r CaseResult)
}

// A CaseResult is what came of a case; or of an image that gave no cases, with an
// empty Case.
type CaseResult struct {
	Device Device
	Impl   string
	Case   string
	Block  int // repetition, from 1

	Outcome Outcome
	Err     *Error  // nil if the outcome is OK
	Skip    string  // why it was not run; "" if it was
	Answer  *Answer // nil if there is none
}

// A Summary is what came of a run.
type Summary struct {
	Files   []string     // results files, in the order of the devices
	Results []CaseResult // in the order in which they came
	// Worst is the greatest outcome of all.
	Worst Outcome
}

// Run builds, flashes and runs: on each device, for each implementation, each case
// after a reset. What fails is a hole in the results and does not stop the others. If
// ctx ends, Run ends the case that runs, and returns what there is with
// lab.ErrInterrupted; other errors are of the file system or of the options.
func Run(ctx context.Context, o RunOptions) (*Summary, error) {
	if o.Out != "" && len(o.Devices) > 1 {
		return nil, errors.New("each board has a results file of its own: leave --out away, or run them one by one")
	}
	if o.Match == nil {
		o.Match = func(string) bool { return true }
	}
	if o.Progress == nil {
		o.Progress = noProgress{}
	}
	o.Count = max(1, o.Count)
	s := new(Summary)
	for _, d := range o.Devices {
		r := &deviceRun{o: o, d: d, s: s}
		err := r.run(ctx)
		if ctx.Err() != nil {
			return s, lab.ErrInterrupted
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// A deviceRun is the run on one device.
type deviceRun struct {
	o RunOptions
	d Device
	s *Summary

	target  Target
	results *Results
	asked   map[*Image]asked
}

// asked is what the board has said of an image.
type asked struct {
	hello line.Hello
	cases []line.Listed
}

// done notes a result.
func (r *deviceRun) done(c CaseResult) {
	c.Device = r.d
	if c.Err != nil {
		c.Outcome = c.Err.Outcome
	}
	r.s.Worst = max(r.s.Worst, c.Outcome)
	r.s.Results = append(r.s.Results, c)
	r.o.Progress.Done(c)
}

// outcome takes an error that is a result, and passes on any other.
func outcome(err error) (*Error, error) {
	var e *Error
	if errors.As(err, &e) {
		return e, nil
	}
	return nil, err
}

func (r *deviceRun) run(ctx context.Context) (err error) {
	b := r.d.Board
	// What is missing is missing for all implementations.
	compiler, err := FindCompiler(ctx, b)
	if err == nil {
		r.target, err = NewTarget(r.d, r.o.Ports)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // a compiler that was not let answer is not missing
	}
	if err != nil {
		e, err := outcome(err)
		if e != nil {
			r.done(CaseResult{Err: e})
		}
		return err
	}
	folder, err := scratch.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	defer func() { err = errors.Join(err, r.target.Close()) }()
	defer func() {
		if r.results != nil {
			err = errors.Join(err, r.results.Close())
		}
	}()
	commit, differs := lab.Commit(ctx, r.o.Checkout.Dir, r.o.Out)
	impls := r.o.Impls
	if len(impls) == 0 {
		impls = b.Fits
	}
	parts, err := SelectParts(r.o.Parts)
	if err != nil {
		return err
	}
	builder := &imageBuilder{r: r, compiler: compiler, folder: folder.Path, commit: FirmwareCommit(commit, differs)}
	var images []*Image
	var none []CaseResult
	for _, impl := range impls {
		good, bad, err := builder.build(ctx, impl, parts)
		if err != nil {
			return err
		}
		images, none = append(images, good...), append(none, bad...)
	}
	if len(images) > 0 {
		if err := r.begin(ctx, commit, differs, compiler); err != nil {
			return err
		}
		if len(r.o.Impls) == 0 {
			for _, impl := range slices.Sorted(maps.Keys(b.Unfit)) {
				r.results.Absent(impl, "does not fit: "+b.Unfit[impl], true)
			}
		}
	}
	for _, c := range none {
		if r.results != nil {
			r.results.Absent(c.Impl, c.Err.Error(), false)
		}
		r.done(c)
	}
	if r.target.Cheap() {
		// Implementations that are compared are measured close to one another.
		images, err = r.each(ctx, images, func(im *Image) error { return r.ask(ctx, im) })
		for block := 1; err == nil && block <= r.o.Count; block++ {
			images, err = r.each(ctx, images, func(im *Image) error { return r.cases(ctx, im, block) })
		}
		return err
	}
	_, err = r.each(ctx, images, func(im *Image) error {
		r.o.Progress.Flash(r.d, im)
		err := r.ask(ctx, im)
		for block := 1; err == nil && block <= r.o.Count; block++ {
			err = r.cases(ctx, im, block)
		}
		return err
	})
	return err
}

// An imageBuilder builds the images of a run.
type imageBuilder struct {
	r        *deviceRun
	compiler *Compiler
	folder   string // for the folders of images
	commit   string // as the firmware says it
	n        int    // of folders
}

// build builds the images of an implementation: one with all parts, or if the board has
// no room for that, one for each part. bad are those that are not to be had; err is an
// error that is no result.
func (b *imageBuilder) build(ctx context.Context, impl string, parts []string) (images []*Image, bad []CaseResult, err error) {
	r := b.r
	r.o.Progress.Build(r.d, impl, parts)
	im, err := b.image(ctx, impl, parts, len(parts) > 1)
	switch e, other := outcome(err); {
	case other != nil || ctx.Err() != nil:
		return nil, nil, cmp.Or(context.Cause(ctx), other)
	case e != nil && e.Outcome == TooBig && len(parts) > 1:
		r.o.Progress.Split(r.d, impl, parts, err)
		for i := range parts {
			good, none, err := b.build(ctx, impl, parts[i:i+1])
			if err != nil {
				return nil, nil, err
			}
			images, bad = append(images, good...), append(bad, none...)
		}
		return images, bad, nil
	case e != nil:
		r.o.Progress.Built(r.d, impl, im, err)
		return nil, []CaseResult{{Impl: impl, Err: e}}, nil
	}
	r.o.Progress.Built(r.d, impl, im, nil)
	return []*Image{im}, nil, nil
}

// image builds an image in a folder of its own.
func (b *imageBuilder) image(ctx context.Context, impl string, parts []string, noTable bool) (*Image, error) {
	dir := filepath.Join(b.folder, strconv.Itoa(b.n))
	b.n++
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return Build(ctx, b.r.d.Board, b.compiler, BuildOptions{
		Checkout: b.r.o.Checkout, Impl: impl, Parts: parts, Commit: b.commit, Dir: dir, NoTable: noTable,
	})
}

// each does something with each image, and returns those of which it could be done.
// What went wrong with another one is a result.
func (r *deviceRun) each(ctx context.Context, images []*Image, do func(*Image) error) (good []*Image, err error) {
	for _, im := range images {
		err := do(im)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, err := outcome(err)
		if err != nil {
			return nil, err
		}
		if e == nil {
			good = append(good, im)
			continue
		}
		r.results.Absent(im.Impl, e.Error(), false)
		if err := r.results.Sync(); err != nil {
			return nil, err
		}
		r.done(CaseResult{Impl: im.Impl, Err: e})
	}
	return good, nil
}

// FirmwareCommit is what the firmware says of the sources it was made of, from what
// lab.Commit says.
func FirmwareCommit(commit, dirty string) string {
	if commit != "" && dirty != "false" {
		commit += "+dirty"
	}
	return commit
}

// begin starts the results file.
func (r *deviceRun) begin(ctx context.Context, commit, dirty string, c *Compiler) (err error) {
	now := time.Now().UTC()
	path := r.o.Out
	if path == "" {
		name := now.Format("20060102-150405") + "-" + cmp.Or(commit, "nocommit")[:8] + ".bench"
		path = filepath.Join(r.o.Checkout.Dir, "results", r.d.Entry.ID, name)
	}
	if r.results, err = CreateResults(path); err != nil {
		return err
	}
	r.s.Files = append(r.s.Files, path)
	b, set := r.d.Board, r.results.Set
	set("commit", commit)
	if commit != "" {
		set("dirty", dirty)
	}
	set("board", b.Name)
	if r.d.Entry.ID != b.Name {
		set("device", r.d.Entry.ID)
	}
	set("title", b.Title)
	set("chip", b.Chip)
	set("emulated", map[bool]string{true: "yes", false: "no"}[b.Emulated])
	if len(b.Emulator) > 0 {
		set("emulator", strings.Join(b.Emulator, " "))
	}
	set("toolchain", c.String())
	set("host", lab.Describe(ctx, r.o.Checkout.Dir, "", path).Machine)
	set("started", now.Format(time.RFC3339))
	return r.results.Sync()
}

// ask brings the image to the device, and asks it who it is and what it can run.
func (r *deviceRun) ask(ctx context.Context, im *Image) error {
	if err := r.target.Flash(ctx, im); err != nil {
		return err
	}
	s, hello, err := r.start(ctx, im)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	a := asked{hello: hello}
	for _, c := range all {
		if r.o.Match(c.Name) {
			a.cases = append(a.cases, c)
		}
	}
	if r.asked == nil {
		r.asked = make(map[*Image]asked)
	}
	r.asked[im] = a
	r.o.Progress.Cases(r.d, im, hello, len(a.cases))
	r.describe(im, hello)
	// A slash begins another key of the name.
	parts := strings.ReplaceAll(strings.Join(shortParts(im.Parts), "+"), "/", "-")
	name := "BenchmarkBoard/case=image/parts=" + parts + "/impl=" + im.Impl
	err = r.results.Line(fmt.Sprintf("%s 1 %d flash-B %d ram-B %d ram-free-B", name, im.Sizes.Flash(), im.Sizes.RAM(), hello.RAMFree), exact(hello))
	return errors.Join(err, r.results.Sync())
}

// start starts the image that was flashed, and makes sure that it is this one.
func (r *deviceRun) start(ctx context.Context, im *Image) (*Session, line.Hello, error) {
	console, err := r.target.Start(ctx)
	if err != nil {
		return nil, line.Hello{}, err
	}
	s := NewSession(console, r.o.Limits)
	hello, err := s.Hello(ctx)
	if err == nil {
		if runs, want := identity(hello.Board, hello.Impl, hello.Commit, hello.Toolchain), identity(im.Board.Name, im.Impl, cmp.Or(im.Commit, "unknown"), im.Toolchain); runs != want {
			err = s.fail(FlashFailed, "the board runs "+runs+", and was to run "+want, nil)
		} else {
			err = s.believe(im.Board, hello)
		}
	}
	if err != nil {
		_ = s.Close() // what matters was said before
		return nil, hello, err
	}
	return s, hello, nil
}

// believe returns an error if what a board says of its clock cannot be, or is not what
// its board.json says: figures would be in another unit than everybody takes them for.
func (s *Session) believe(b Board, h line.Hello) error {
	contradicts := ""
	switch {
	case h.Unit != realTime && h.Unit != lab.InstructionClock:
		contradicts = fmt.Sprintf("its clock counts %q, which is neither %s nor %s", h.Unit, realTime, lab.InstructionClock)
	case !(h.Clock >= 1 && h.Clock <= 9e9 && h.Clock == math.Trunc(h.Clock)):
		contradicts = fmt.Sprintf("its clock has %v ticks a second, and that is a whole number from 1 to 9·10⁹", h.Clock)
	case h.Emulated != b.Emulated:
		contradicts = fmt.Sprintf("emulated=%t, and its board.json says %t", h.Emulated, b.Emulated)
	case h.Unit == lab.InstructionClock && !b.Emulated:
		contradicts = "its clock counts instructions, and it is no emulator"
	default:
		return nil
	}
	return s.fail(WrongResult, "what "+b.Name+" says of itself cannot be: "+contradicts, nil)
}

// identity says in words what an image is.
func identity(board, impl, commit, toolchain string) string {
	return "the firmware of " + board + " with " + impl + ", commit " + commit + ", by " + toolchain
}

// describe sets the configuration keys that an image decides.
func (r *deviceRun) describe(im *Image, h line.Hello) {
	set := r.results.Set
	set("parts", strings.Join(shortParts(im.Parts), "+"))
	set("clock-unit", h.Unit)
	set("clock-hz", strconv.FormatFloat(h.Clock, 'f', -1, 64))
	set("ram", strconv.Itoa(h.RAM))
	set("flash", strconv.Itoa(h.Flash))
	set("image", im.Hash)
}

// cases runs the cases of an image once.
func (r *deviceRun) cases(ctx context.Context, im *Image, block int) error {
	a := r.asked[im]
	if r.target.Cheap() {
		if err := r.target.Flash(ctx, im); err != nil {
			return err
		}
	}
	gone := 0
	for i, c := range a.cases {
		if c.Skip != "" && block > 1 {
			continue // it is told once
		}
		r.o.Progress.Case(r.d, im, c.Name, block)
		result, err := r.one(ctx, im, a.hello, c, block)
		if err != nil {
			return err
		}
		if err := r.results.Sync(); err != nil {
			return err
		}
		r.done(result)
		if gone++; result.Err == nil || result.Err.Outcome != NoConsole {
			gone = 0
		}
		if left := len(a.cases) - i - 1; gone == mostGone && left > 0 {
			return &Error{
				Outcome: NoConsole, What: fmt.Sprintf("the last %d cases found no board, so the other %d are not run", gone, left),
				Do: result.Err.Do, Output: result.Err.Output,
			}
		}
	}
	return nil
}

// mostGone is how many cases in a row may find no board before it is given up: each
// waits for the board to come back, and of a board that was unplugged there may be
// hundreds left.
const mostGone = 3

// one runs a case, and writes what came of it.
func (r *deviceRun) one(ctx context.Context, im *Image, h line.Hello, c line.Listed, block int) (CaseResult, error) {
	r.describe(im, h)
	r.results.Set("block", strconv.Itoa(block))
	res := CaseResult{Impl: im.Impl, Case: c.Name, Block: block, Skip: c.Skip}
	if c.Skip == "" {
		var err error
		if res.Answer, err = r.answer(ctx, im, c.Name); ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		if err == nil && res.Answer.Verdict == line.Skipped {
			res.Skip = cmp.Or(res.Answer.Why, "the board skips it")
		}
		if err == nil && res.Skip == "" {
			err = r.figures(c, h, res.Answer)
		}
		if res.Err, err = outcome(err); err != nil {
			return res, err
		}
	}
	r.write(im, res, block)
	return res, nil
}

// answer resets the board and has it run a case.
func (r *deviceRun) answer(ctx context.Context, im *Image, name string) (*Answer, error) {
	s, _, err := r.start(ctx, im)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Run(ctx, name)
}

// The beginnings of the names of cases: what each part calls its own.
const (
	benchPrefix   = "bench/"
	conformPrefix = "conform/"
)

// figures checks the results of a case that has passed: they are those of this case,
// and figures.
func (r *deviceRun) figures(c line.Listed, h line.Hello, a *Answer) error {
	bench := strings.HasPrefix(c.Name, benchPrefix)
	if bench && len(a.Results) == 0 {
		return failed(WrongResult, "it passed, and there is no figure", nil)
	}
	for _, text := range a.Results {
		res, err := parseResult(text)
		if err != nil {
			return failed(WrongResult, err.Error(), nil)
		}
		// Else it would be taken for a figure of what was not asked for.
		if name, _, _ := strings.Cut(text, " "); name != benchmarkName(c.Name) {
			return failed(WrongResult, fmt.Sprintf("a figure of %s, which is another case", name), nil)
		}
		if c.Ops > 0 && res.Iters != c.Ops {
			return failed(WrongResult, fmt.Sprintf("a figure of %d operations, and the list has %d", res.Iters, c.Ops), nil)
		}
		for _, v := range res.Values {
			unit := cmp.Or(v.OrigUnit, v.Unit)
			if (unit == realTime+"/op" || unit == lab.InstructionClock+"/op") && unit != h.Unit+"/op" {
				return failed(WrongResult, fmt.Sprintf("a figure in %s of a board whose clock counts %s", unit, h.Unit), nil)
			}
			if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
				return failed(WrongResult, fmt.Sprintf("a figure of %v %s", v.Value, unit), nil)
			}
		}
	}
	if n := len(a.Results); n > 1 {
		return failed(WrongResult, fmt.Sprintf("%d figures of a case that was run once", n), nil)
	}
	return nil
}

// benchmarkName is the name that the figure of a case has.
func benchmarkName(name string) string { return "Benchmark" + strings.TrimPrefix(name, benchPrefix) }

// exact reports whether a board counts what others measure: two runs give the same.
func exact(h line.Hello) bool { return h.Unit != realTime }

// realTime is the unit of clocks that tell real time.
const realTime = "ns"

// write writes the result of a case into the file.
func (r *deviceRun) write(im *Image, res CaseResult, block int) {
	clause, isClause := strings.CutPrefix(res.Case, conformPrefix)
	benchmark := benchmarkName(res.Case)
	switch {
	case isClause && res.Skip != "":
		r.results.Clause(lab.BoardClause{Impl: res.Impl, Name: clause, Result: lab.ClauseSkipped, Why: res.Skip})
	case isClause && res.Err != nil:
		r.results.Clause(lab.BoardClause{Impl: res.Impl, Name: clause, Result: lab.ClauseFailed, Outcome: res.Err.Outcome.String(), Why: res.Err.reason()})
	case isClause:
		r.results.Clause(lab.BoardClause{Impl: res.Impl, Name: clause, Result: lab.ClausePassed})
	case res.Skip != "":
		r.results.Hole(benchmark, "", res.Skip, true)
	case res.Err != nil:
		r.results.Hole(benchmark, strconv.Itoa(block), res.Err.Error(), false)
	}
	if res.Answer == nil {
		return
	}
	if res.Err == nil {
		for _, text := range res.Answer.Results {
			_ = r.results.Line(text, exact(r.asked[im].hello)) // figures has read it
		}
	}
	for _, text := range res.Answer.Notes {
		r.results.Note(res.Case, text)
	}
}

// noProgress is for who does not want to know.
type noProgress struct{}

func (noProgress) Build(Device, string, []string)        {}
func (noProgress) Built(Device, string, *Image, error)   {}
func (noProgress) Split(Device, string, []string, error) {}
func (noProgress) Flash(Device, *Image)                  {}
func (noProgress) Cases(Device, *Image, line.Hello, int) {}
func (noProgress) Case(Device, *Image, string, int)      {}
func (noProgress) Done(CaseResult)                       {}
