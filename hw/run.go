package hw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
)

// RunOptions say what to run where.
type RunOptions struct {
	Checkout Checkout
	Devices  []Device
	// Impls are the implementations; empty means all of the checkout. Then one that has
	// no room on a board is a finding and not a failure; see [Plan.All].
	Impls []string
	// Parts are those of the firmware, as SelectParts takes them; empty means all. If
	// a board has no room for all of them together, each is an image of its own.
	Parts []string
	// Case says which cases are run: those whose names it matches. Nil means all.
	Case *regexp.Regexp
	// Count is how many times each case is run; less than one means once.
	Count int
	// Out is the path of the results file; empty means
	// results/<board>/<time>-<commit>.bench in the checkout. With several devices it
	// must be empty: each has a file.
	Out string
	// Resume is the results file of an interrupted run of the one device: what is left
	// of it is run, and added to the file. The other options have to be those of that
	// run, or Run refuses. Nil means a new run.
	Resume *Interrupted

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
	// Cases is called when a board has said what it can run: n cases are to be run, in
	// each block, or have been if a run is resumed.
	Cases(d Device, im *Image, hello line.Hello, n int)
	// Case is called before a case, and Done after it. block counts the repetitions
	// from 1.
	Case(d Device, im *Image, name string, block int)
	Done(r CaseResult)
	// Had is called instead of both if a run is resumed and the case was complete before,
	// or skipped.
	Had(im *Image, block int, skipped bool)
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
	Skip    string  // why it was not run; "" if it was. Of an image that does not fit the outcome is TooBig all the same
	Answer  *Answer // nil if there is none
}

// A Summary is what came of a run.
type Summary struct {
	Files   []string     // results files, in the order of the devices
	Results []CaseResult // in the order in which they came; those of a run that is resumed come first
	// Worst is the greatest outcome of all that count: see [Plan.All].
	Worst Outcome
	// Unfinished is the one of Files that can be resumed, and NotBegun are the devices
	// that were not come to, if the run was interrupted.
	Unfinished string
	NotBegun   []Device
}

// Run builds, flashes and runs: on each device, for each implementation, each case
// after a reset. What fails is a hole in the results and does not stop the others. If
// ctx ends, Run ends the case that runs, and returns what there is with
// session.ErrInterrupted; other errors are of the file system or of the options, or say why
// a run cannot be resumed.
func Run(ctx context.Context, o RunOptions) (*Summary, error) {
	return run(ctx, o, hands{
		compiler: FindCompiler,
		target:   NewTarget,
		build:    Build,
		commit:   session.Commit,
		host:     func(ctx context.Context, dir string) string { return session.Describe(ctx, dir, "", "").Machine },
	})
}

// hands are what a run does its work with; tests have others.
type hands struct {
	compiler func(context.Context, Board) (*Compiler, error)
	target   func(Device, Ports) (Target, error)
	build    func(context.Context, Board, *Compiler, BuildOptions) (*Image, error)
	// commit returns what session.Commit does, and host the name of this machine.
	commit func(ctx context.Context, dir, results string) (commit, differs string)
	host   func(ctx context.Context, dir string) string
}

// run is Run with other hands.
func run(ctx context.Context, o RunOptions, h hands) (*Summary, error) {
	switch {
	case o.Out != "" && len(o.Devices) > 1:
		return nil, errors.New("each board has a results file of its own: leave --out away, or run them one by one")
	case o.Resume != nil && (o.Out != "" || len(o.Devices) != 1):
		return nil, errors.New("--resume goes on in its own file, which is of one board: leave --out and other boards away")
	}
	if o.Progress == nil {
		o.Progress = noProgress{}
	}
	o.Count = max(1, o.Count)
	o.Limits = o.Limits.withDefaults()
	s := new(Summary)
	for i, d := range o.Devices {
		r := &deviceRun{hands: h, o: o, d: d, s: s}
		before := len(s.Results)
		err := r.run(ctx)
		s.Worst = max(s.Worst, worst(s.Results[before:], r.all()))
		if ctx.Err() != nil {
			s.NotBegun = o.Devices[i:]
			switch {
			case o.Resume != nil:
				s.Unfinished, s.NotBegun = o.Resume.Path, nil
			case r.results != nil:
				s.Unfinished, s.NotBegun = r.results.Path, s.NotBegun[1:]
			}
			return s, session.ErrInterrupted
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// A deviceRun is the run on one device.
type deviceRun struct {
	hands
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

// done notes a result, and tells of it.
func (r *deviceRun) done(c CaseResult) {
	if c.Err != nil {
		c.Outcome = c.Err.Outcome
	}
	r.o.Progress.Done(r.add(c))
}

// add adds a result to the summary.
func (r *deviceRun) add(c CaseResult) CaseResult {
	c.Device = r.d
	r.s.Results = append(r.s.Results, c)
	return c
}

// all reports whether the run is of all implementations; see [Plan.All].
func (r *deviceRun) all() bool {
	if r.o.Resume != nil {
		return r.o.Resume.Plan.All
	}
	return len(r.o.Impls) == 0
}

// worst returns the greatest outcome of the results of a device that count. If all
// implementations were run, what lacked room does not count, as long as something has
// passed.
func worst(results []CaseResult, all bool) Outcome {
	passed := slices.ContainsFunc(results, func(c CaseResult) bool { return c.Case != "" && c.Skip == "" && c.Outcome == OK })
	o := OK
	for _, c := range results {
		if lacksRoom := c.Outcome == TooBig || c.Outcome == OutOfMemory; !(lacksRoom && all && passed) {
			o = max(o, c.Outcome)
		}
	}
	return o
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
	from := r.o.Resume
	if from != nil && from.Finished() {
		r.restore(from)
		return nil
	}
	b := r.d.Board
	compiler, lacking := r.compiler(ctx, b)
	plan, err := r.plan()
	if err != nil {
		return err
	}
	results := r.o.Out
	if from != nil {
		results = from.Path
	}
	commit, differs := r.commit(ctx, r.o.Checkout.Dir, results)
	now := r.circumstances(ctx, commit, differs, compiler)
	if from != nil {
		// A run that is refused needs nothing that is missing.
		if err := refuse(from.Path, from.differences(b, now, plan)); err != nil {
			return err
		}
	}
	// What is missing is missing for all implementations.
	if lacking == nil {
		r.target, lacking = r.hands.target(r.d, r.o.Ports)
	}
	if lacking != nil && ctx.Err() != nil {
		return context.Cause(ctx) // a compiler that was not let answer is not missing
	}
	if lacking != nil {
		e, err := outcome(lacking)
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
	builder := &imageBuilder{r: r, compiler: compiler, folder: folder.Path, commit: FirmwareCommit(commit, differs)}
	var images []*Image
	if from == nil {
		images, err = r.begin(ctx, builder, plan, commit, now)
	} else {
		images, err = r.goOn(ctx, builder, from)
	}
	if err != nil {
		return err
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

// plan returns what is to be done, without the images.
func (r *deviceRun) plan() (*Plan, error) {
	parts, err := SelectParts(r.o.Parts)
	if err != nil {
		return nil, err
	}
	p := &Plan{Impls: r.o.Impls, Parts: parts, Count: r.o.Count, Silence: r.o.Limits.Silence, Timeout: r.o.Limits.Case}
	if len(p.Impls) == 0 {
		p.All = true
		if p.Impls, err = r.o.Checkout.Implementations(); err != nil {
			return nil, err
		}
	}
	if r.o.Case != nil {
		p.Case = r.o.Case.String()
	}
	return p, nil
}

// begin builds the images of a plan, which are added to it, and starts the results file
// if there are any. What is missing is a result.
func (r *deviceRun) begin(ctx context.Context, builder *imageBuilder, plan *Plan, commit string, now []setting) (images []*Image, err error) {
	var all []built
	for _, impl := range plan.Impls {
		some, err := builder.build(ctx, impl, plan.Parts)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	for _, one := range all {
		p := PlannedImage{Impl: one.impl, Parts: one.parts}
		if one.err == nil {
			images, p.Hash = append(images, one.image), one.image.Hash
		} else {
			p.Outcome, p.Why = one.err.Outcome.String(), oneLine(one.err.Error())
		}
		plan.Images = append(plan.Images, p)
	}
	if len(images) > 0 {
		if err := r.create(plan, commit, now, all); err != nil {
			return nil, err
		}
	}
	for _, one := range all {
		if one.err != nil {
			r.done(CaseResult{Impl: one.impl, Skip: plan.skip(one.err.Outcome, one.err.reason()), Err: one.err})
		}
	}
	return images, nil
}

// goOn builds the images of which an interrupted run has not had all, and opens its
// results file. It refuses if one of them is another than it was.
func (r *deviceRun) goOn(ctx context.Context, builder *imageBuilder, from *Interrupted) (images []*Image, err error) {
	var diffs differences
	for i, p := range from.Plan.Images {
		if from.over(i) {
			continue
		}
		r.o.Progress.Build(r.d, p.Impl, p.Parts)
		im, err := builder.image(ctx, p.Impl, p.Parts, false)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("building what is left: %w", err)
		}
		r.o.Progress.Built(r.d, p.Impl, im, nil)
		if p.Hash != im.Hash {
			diffs = append(diffs, "image of "+im.String()+": "+short(p.Hash)+" → "+short(im.Hash))
		}
		images = append(images, im)
	}
	if err := refuse(from.Path, diffs); err != nil {
		return nil, err
	}
	if r.results, err = from.resume(time.Now()); err != nil {
		return nil, err
	}
	r.restore(from)
	return images, nil
}

// short is the beginning of a hash, for people.
func short(hash string) string { return hash[:min(12, len(hash))] }

// restore takes what came of the cases before the run was interrupted into the summary.
func (r *deviceRun) restore(from *Interrupted) {
	r.s.Files = append(r.s.Files, from.Path)
	for _, c := range from.Results {
		r.add(c)
	}
}

// An imageBuilder builds the images of a run.
type imageBuilder struct {
	r        *deviceRun
	compiler *Compiler
	folder   string // for the folders of images
	commit   string // as the firmware says it
	n        int    // of folders
}

// built is an image, or why it is not to be had.
type built struct {
	impl  string
	parts []string
	image *Image
	err   *Error // nil if there is an image
}

// build builds the images of an implementation: one with all parts, or if the board has
// no room for that, one for each part. err is an error that is no result.
func (b *imageBuilder) build(ctx context.Context, impl string, parts []string) (all []built, err error) {
	r := b.r
	r.o.Progress.Build(r.d, impl, parts)
	im, err := b.image(ctx, impl, parts, len(parts) > 1)
	e, other := outcome(err)
	if other != nil || ctx.Err() != nil {
		return nil, cmp.Or(context.Cause(ctx), other)
	}
	if e != nil && e.Outcome == TooBig && len(parts) > 1 {
		r.o.Progress.Split(r.d, impl, parts, err)
		for i := range parts {
			some, err := b.build(ctx, impl, parts[i:i+1])
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	}
	r.o.Progress.Built(r.d, impl, im, err)
	return []built{{impl, parts, im, e}}, nil
}

// image builds an image in a folder of its own.
func (b *imageBuilder) image(ctx context.Context, impl string, parts []string, noTable bool) (*Image, error) {
	dir := filepath.Join(b.folder, strconv.Itoa(b.n))
	b.n++
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return b.r.hands.build(ctx, b.r.d.Board, b.compiler, BuildOptions{
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
		if e.Outcome != NoConsole { // a board that comes back may go on with it
			r.results.GiveUp(im.Impl, im.Parts, e.Outcome)
		}
		if err := r.results.Sync(); err != nil {
			return nil, err
		}
		r.done(CaseResult{Impl: im.Impl, Err: e})
	}
	return good, nil
}

// FirmwareCommit is what the firmware says of the sources it was made of, from what
// session.Commit says.
func FirmwareCommit(commit, dirty string) string {
	if commit != "" && dirty != "false" {
		commit += "+dirty"
	}
	return commit
}

// A setting is a configuration line of a results file.
type setting struct{ key, value string }

// circumstances are what the header says of a run. Without a compiler nothing is said of
// it.
func (r *deviceRun) circumstances(ctx context.Context, commit, differs string, c *Compiler) []setting {
	b, device := r.d.Board, r.d.Entry.ID
	if device == b.Name {
		device = ""
	}
	now := []setting{
		{"commit", commit},
		{"dirty", differs},
		{"board", b.Name},
		{"device", device},
		{"title", b.Title},
		{"chip", b.Chip},
		{"emulated", map[bool]string{true: "yes", false: "no"}[b.Emulated]},
		{"emulator", strings.Join(b.Emulator, " ")},
	}
	if c != nil {
		now = append(now, setting{"toolchain", c.String()})
	}
	return append(now, setting{hostKey, r.host(ctx, r.o.Checkout.Dir)})
}

// hostKey is the key of the machine that a board is connected to.
const hostKey = "host"

// create starts the results file: its header, with all that was built and was not.
func (r *deviceRun) create(plan *Plan, commit string, now []setting, all []built) (err error) {
	begun := time.Now().UTC()
	path := r.o.Out
	if path == "" {
		name := begun.Format("20060102-150405") + "-" + cmp.Or(commit, "nocommit")[:8] + ".bench"
		path = filepath.Join(r.o.Checkout.Dir, "results", r.d.Entry.ID, name)
	}
	if r.results, err = CreateResults(path); err != nil {
		return err
	}
	r.s.Files = append(r.s.Files, path)
	for _, s := range now {
		r.results.Set(s.key, s.value)
	}
	r.results.Set("started", begun.Format(time.RFC3339))
	for _, one := range all {
		if one.err == nil {
			continue
		}
		if why := plan.skip(one.err.Outcome, one.err.reason()); why != "" {
			r.results.Absent(one.impl, why, true)
		} else {
			r.results.Absent(one.impl, one.err.Error(), false)
		}
	}
	if err := r.results.Plan(plan); err != nil {
		return err
	}
	return r.results.Sync()
}

// ask brings the image to the device, and asks it who it is and what it can run.
func (r *deviceRun) ask(ctx context.Context, im *Image) error {
	if err := r.target.Flash(ctx, im); err != nil {
		return err
	}
	var all []line.Listed
	hello, _, err := r.converse(ctx, im, func(s *Session) (err error) {
		all, err = s.List(ctx)
		return err
	})
	if err != nil {
		return err
	}
	a := asked{hello: hello}
	for _, c := range all {
		if r.o.Case == nil || r.o.Case.MatchString(c.Name) {
			a.cases = append(a.cases, c)
		}
	}
	if r.asked == nil {
		r.asked = make(map[*Image]asked)
	}
	r.asked[im] = a
	r.o.Progress.Cases(r.d, im, hello, len(a.cases))
	// A slash begins another key of the name.
	parts := strings.ReplaceAll(strings.Join(shortParts(im.Parts), "+"), "/", "-")
	if from := r.o.Resume; from != nil && from.sized[im.Impl+" "+parts] {
		return nil
	}
	r.describe(im, hello)
	name := imageCase + parts + "/impl=" + im.Impl
	err = r.results.Line(fmt.Sprintf("%s 1 %d flash-B %d ram-B %d ram-free-B", name, im.Sizes.Flash(), im.Sizes.RAM(), hello.RAMFree),
		[]string{"flash-B better=lower", "ram-B better=lower", "ram-free-B better=higher"}, exact(hello))
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
	case h.Unit != realTime && h.Unit != record.InstructionClock:
		contradicts = fmt.Sprintf("its clock counts %q, which is neither %s nor %s", h.Unit, realTime, record.InstructionClock)
	case !(h.Clock >= 1 && h.Clock <= 9e9 && h.Clock == math.Trunc(h.Clock)):
		contradicts = fmt.Sprintf("its clock has %v ticks a second, and that is a whole number from 1 to 9·10⁹", h.Clock)
	case h.Emulated != b.Emulated:
		contradicts = fmt.Sprintf("emulated=%t, and its board.json says %t", h.Emulated, b.Emulated)
	case h.Unit == record.InstructionClock && !b.Emulated:
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

// cases runs the cases of an image once: those that were not run before.
func (r *deviceRun) cases(ctx context.Context, im *Image, block int) error {
	from, ended := r.o.Resume, false
	if from != nil {
		ended = from.images[from.image(im.Impl, strings.Join(im.Parts, "+"))].ended >= block
	}
	a := r.asked[im]
	if !ended && r.target.Cheap() {
		if err := r.target.Flash(ctx, im); err != nil {
			return err
		}
	}
	var gone []CaseResult // of the last cases, which have found no board; not written yet
	written := func(all ...CaseResult) error {
		for _, result := range all {
			r.write(im, a.hello, result)
		}
		return r.results.Sync()
	}
	for i, c := range a.cases {
		if c.Skip != "" && block > 1 {
			continue // it is told once
		}
		if from != nil && from.cases[caseKey{im.Impl, c.Name, block}] {
			r.o.Progress.Had(im, block, c.Skip != "")
			continue
		}
		r.o.Progress.Case(r.d, im, c.Name, block)
		result, err := r.one(ctx, im, a.hello, c, block)
		if err != nil {
			return err
		}
		gone = append(gone, result)
		if result.Err == nil || result.Err.Outcome != NoConsole {
			if err := written(gone...); err != nil {
				return err
			}
			gone = nil
		}
		r.done(result)
		if left := len(a.cases) - i - 1; len(gone) == mostGone && left > 0 {
			// These were not run either: who resumes the run has them before him.
			return &Error{
				Outcome: NoConsole, What: fmt.Sprintf("the last %d cases found no board, so the other %d are not run", mostGone, left),
				Do: "see to the board, and go on with --resume " + r.results.Path, Output: result.Err.Output, Err: result.Err,
			}
		}
	}
	if err := written(gone...); err != nil {
		return err
	}
	if ended {
		return nil
	}
	r.results.EndImage(im.Impl, im.Parts, block)
	return r.results.Sync()
}

// mostGone is how many cases in a row may find no board before it is given up: each
// waits for the board to come back, and of a board that was unplugged there may be
// hundreds left.
const mostGone = 3

// one runs a case.
func (r *deviceRun) one(ctx context.Context, im *Image, h line.Hello, c line.Listed, block int) (CaseResult, error) {
	res := CaseResult{Impl: im.Impl, Case: c.Name, Block: block, Skip: c.Skip}
	if c.Skip != "" {
		return res, nil
	}
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
	if res.Err, err = outcome(err); res.Err != nil {
		res.Outcome = res.Err.Outcome
	}
	return res, err
}

// answer resets the board and has it run a case.
func (r *deviceRun) answer(ctx context.Context, im *Image, name string) (a *Answer, err error) {
	_, again, err := r.converse(ctx, im, func(s *Session) error {
		a, err = s.Run(ctx, name)
		return err
	})
	if a != nil && again != "" {
		a.Notes = append(a.Notes, again)
	}
	return a, err
}

// starts is how often an emulator is started until it begins what it is to do.
const starts = 3

// converse starts the board and talks with it. An emulator that hangs before it begins
// what it was told is started anew, which again says: nothing was measured, and one that
// emulates threads hangs at times where they would not (QEMU 7.2 with Go 1.26, a few of
// ten thousand times, when the world is to stop).
func (r *deviceRun) converse(ctx context.Context, im *Image, talk func(*Session) error) (hello line.Hello, again string, err error) {
	for n := 1; ; n++ {
		var s *Session
		if s, hello, err = r.start(ctx, im); err != nil {
			return hello, again, err
		}
		err = talk(s)
		_ = s.Close() // what matters was said before
		var e *Error
		if n == starts || !errors.As(err, &e) || !e.unbegun || !r.target.Cheap() || ctx.Err() != nil {
			return hello, again, err
		}
		again = fmt.Sprintf("it was started %d times: %s", n+1, oneLine(e.What))
	}
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
			if (unit == realTime+"/op" || unit == record.InstructionClock+"/op") && unit != h.Unit+"/op" {
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
func (r *deviceRun) write(im *Image, h line.Hello, res CaseResult) {
	r.describe(im, h)
	block := strconv.Itoa(res.Block)
	r.results.Set("block", block)
	clause, isClause := strings.CutPrefix(res.Case, conformPrefix)
	benchmark := benchmarkName(res.Case)
	switch {
	case isClause && res.Skip != "":
		r.results.Clause(record.BoardClause{Impl: res.Impl, Name: clause, Result: record.ClauseSkipped, Why: res.Skip})
	case isClause && res.Err != nil:
		r.results.Clause(record.BoardClause{Impl: res.Impl, Name: clause, Result: record.ClauseFailed, Outcome: res.Err.Outcome.String(), Why: res.Err.reason()})
	case isClause:
		r.results.Clause(record.BoardClause{Impl: res.Impl, Name: clause, Result: record.ClausePassed})
	case res.Skip != "":
		r.results.Hole(benchmark, "", res.Skip, true)
	case res.Err != nil:
		r.results.Hole(benchmark, block, res.Err.Error(), false)
	}
	if res.Answer != nil {
		if res.Err == nil {
			for _, text := range res.Answer.Results {
				_ = r.results.Line(text, res.Answer.Units, exact(h)) // figures has read it
			}
		}
		for _, text := range res.Answer.Notes {
			r.results.Note(res.Case, text)
		}
	}
	r.results.EndCase(res)
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
func (noProgress) Had(*Image, int, bool)                 {}
