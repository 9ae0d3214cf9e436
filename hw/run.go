package hw

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// of it is run, and added to the file; Out must be empty. The other options have to
	// be those of that run, or Run refuses. Nil means a new run.
	Resume *record.Interrupted

	// Prebuilt are images that were built elsewhere for the one device. Then Checkout and
	// Impls are not looked at. Nil has Run build them.
	Prebuilt *Prebuilt
	// Settings are added to those that the results begin with.
	Settings []record.Setting

	Limits   Limits
	Progress Progress
	Ports    Ports // nil: this machine's
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
	// each block, or have been if a run is resumed. Done is called for those that it skips.
	Cases(d Device, im *Image, hello line.Hello, n int)
	// Case is called before a case, and Done after it. block counts the repetitions
	// from 1.
	Case(d Device, im *Image, name string, block int)
	Done(r CaseResult)
	// Had is called instead of both if a run is resumed and the case was complete before.
	Had(im *Image, block int)
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
	// that were not reached, if the run was interrupted.
	Unfinished string
	NotBegun   []Device
}

// Run builds, flashes and runs: on each device, for each implementation, each case
// after a reset. What fails is a hole in the results and does not stop the others. If
// ctx ends, Run ends the case that runs, and returns what there is with
// session.ErrInterrupted; other errors are of the file system or of the options, or say why
// a run cannot be resumed.
func Run(ctx context.Context, o RunOptions) (*Summary, error) {
	h := systemDeps
	if o.Prebuilt != nil {
		h = o.Prebuilt.deps(h)
	}
	return run(ctx, o, h)
}

// deps are the side effects of a run; tests replace them.
type deps struct {
	compiler func(context.Context, Board) (*Compiler, error)
	target   func(Device, Ports) (Target, error)
	build    func(context.Context, Board, *Compiler, BuildOptions) (*Image, error)
	// commit returns what session.Commit does, and host the name of this machine.
	commit func(ctx context.Context, dir, results string) (commit, differs string)
	host   func(ctx context.Context, dir string) string
	anchor func() string // as of session.MadeUp
}

// Anchor implements [session.MadeUp]: boards that tests make up need no measure of this machine.
func (d deps) Anchor() string { return d.anchor() }

var systemDeps = deps{
	compiler: FindCompiler,
	target:   NewTarget,
	build:    Build,
	commit:   session.Commit,
	host:     func(ctx context.Context, dir string) string { return session.Describe(ctx, dir, "", "").Machine },
	anchor:   session.Anchor,
}

// run is Run with other deps.
func run(ctx context.Context, o RunOptions, h deps) (*Summary, error) {
	o.Count = max(1, o.Count)
	o.Limits = o.Limits.withDefaults()
	s := new(Summary)
	for i, d := range o.Devices {
		r := &deviceRun{deps: h, o: o, d: d, s: s}
		before := len(s.Results)
		err := r.run(ctx)
		s.Worst = max(s.Worst, worst(s.Results[before:], r.plan.All))
		if ctx.Err() != nil {
			s.NotBegun = o.Devices[i:]
			switch {
			case o.Resume != nil:
				s.Unfinished, s.NotBegun = o.Resume.Path, nil
			case r.store != nil:
				s.Unfinished, s.NotBegun = r.store.Path, s.NotBegun[1:]
			}
			return s, session.ErrInterrupted
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// A deviceRun is the run on one device, which is the subject of a session.
type deviceRun struct {
	deps
	o RunOptions
	d Device
	s *Summary

	plan     Plan
	compiler *Compiler
	source   string // the commit of the sources; "" if that is not known
	differs  string // what session.Commit says of whether they differ from it
	here     *record.Circumstances
	folder   string // for the folders of images
	target   Target
	images   []*boardImage // as in plan.Images; nil for one that is not there, or of which nothing is left
	folders  int           // of images
	on       *boardImage   // what the device has; nil if that is not known

	// absent and clauses are the results that there are before anything runs.
	absent  []record.Hole
	clauses []record.BoardClause
	store   *record.Store
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

func (r *deviceRun) run(ctx context.Context) (err error) {
	asked, err := r.asked()
	if err != nil {
		return err
	}
	r.plan = asked
	from := r.o.Resume
	if from != nil {
		if r.plan, err = PlanOf(from.Plan); err != nil {
			return fmt.Errorf("%s cannot be resumed: %w", from.Path, err)
		}
		if from.Finished() {
			return r.restore(from)
		}
	}
	lacking := r.look(ctx)
	if from != nil {
		// A run that is refused needs nothing that is missing.
		if err := from.Refuse(r.differences(from, asked)); err != nil {
			return err
		}
	}
	// What is missing is missing for all implementations.
	if lacking == nil {
		r.target, lacking = r.deps.target(r.d, r.o.Ports)
	}
	if lacking != nil {
		return r.fails(ctx, lacking)
	}
	folder, err := scratch.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	defer func() { err = errors.Join(err, r.target.Close()) }()
	r.folder = folder.Path
	plan, err := r.prepare(ctx)
	if r.store == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.store.Close()) }()
	if err := session.Run(ctx, plan, r, r.store, from, session.Quiet{}, nil); err != nil {
		return r.fails(ctx, err)
	}
	return nil
}

// look finds out what images are made of and where. It returns why there is no compiler.
func (r *deviceRun) look(ctx context.Context) (lacking error) {
	r.compiler, lacking = r.deps.compiler(ctx, r.d.Board)
	results := r.o.Out
	if r.o.Resume != nil {
		results = r.o.Resume.Path
	}
	r.source, r.differs = r.commit(ctx, r.o.Checkout.Dir, results)
	r.here = r.circumstances(ctx)
	return lacking
}

// fails notes an error that is a result, of the device as a whole, and passes on any other.
func (r *deviceRun) fails(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // a compiler that was not let answer is not missing
	}
	e, err := outcome(err)
	if e != nil {
		r.done(CaseResult{Err: e})
	}
	return err
}

// prepare builds what is to be run, asks it what it can run, and opens the results file.
// There is no file, and no error, if there is nothing that can be run.
func (r *deviceRun) prepare(ctx context.Context) (*record.Plan, error) {
	if from := r.o.Resume; from != nil {
		if err := r.rebuild(ctx, from); err != nil {
			return nil, err
		}
		if err := r.restore(from); err != nil {
			return nil, err
		}
		var err error
		r.store, err = from.Resume(time.Now())
		return from.Plan, err
	}
	for _, impl := range r.plan.Impls {
		if err := r.build(ctx, impl, r.plan.Parts); err != nil {
			return nil, err
		}
	}
	plan, err := r.ask(ctx)
	if err != nil || len(plan.Cases) == 0 {
		return plan, err
	}
	return plan, r.create(plan)
}

// build builds the images of an implementation, and adds them to the plan: one with all
// parts, or if the board has no room for that, one for each part.
func (r *deviceRun) build(ctx context.Context, impl string, parts []string) error {
	r.o.Progress.Build(r.d, impl, parts)
	im, err := r.image(ctx, impl, parts, len(parts) > 1)
	e, other := outcome(err)
	if other != nil || ctx.Err() != nil {
		return cmp.Or(context.Cause(ctx), other)
	}
	if e != nil && e.Outcome == TooBig && len(parts) > 1 {
		r.o.Progress.Split(r.d, impl, parts, err)
		for i := range parts {
			if err := r.build(ctx, impl, parts[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	r.o.Progress.Built(r.d, impl, im, err)
	planned, built := PlannedImage{Impl: impl, Parts: parts}, (*boardImage)(nil)
	if e == nil {
		planned.Hash, built = im.Hash, &boardImage{Image: im}
	} else {
		r.lost(impl, e)
	}
	r.plan.Images, r.images = append(r.plan.Images, planned), append(r.images, built)
	return nil
}

// lost notes that nothing comes of an image because of e.
func (r *deviceRun) lost(impl string, e *Error) {
	c := CaseResult{Impl: impl, Err: e}
	h := record.Hole{Pkg: module + "/impls/" + impl, Kind: e.FailureKind(), Reason: oneLine(e.Error())}
	if r.plan.All && e.Outcome == TooBig {
		c.Skip = doesNotFit + e.reason()
		h.Skipped, h.Reason = true, oneLine(c.Skip)
	}
	r.done(c)
	r.absent = append(r.absent, h)
}

// doesNotFit begins why an image is skipped that is too big and was not asked for.
const doesNotFit = "does not fit: "

// rebuild builds the images again of which an interrupted run has not had all. It
// refuses if one of them is another than it was.
func (r *deviceRun) rebuild(ctx context.Context, from *record.Interrupted) error {
	var diffs differences
	r.images = make([]*boardImage, len(r.plan.Images))
	for i, p := range r.plan.Images {
		if !r.left(from, i) {
			continue
		}
		r.o.Progress.Build(r.d, p.Impl, p.Parts)
		im, err := r.image(ctx, p.Impl, p.Parts, false)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("building what is left: %w", err)
		}
		r.o.Progress.Built(r.d, p.Impl, im, nil)
		if p.Hash != im.Hash {
			diffs = append(diffs, "image of "+im.String()+": "+short(p.Hash)+" → "+short(im.Hash))
		}
		r.images[i] = &boardImage{Image: im}
	}
	return from.Refuse(diffs)
}

// left reports whether an interrupted run has something left of image i.
func (r *deviceRun) left(from *record.Interrupted, i int) bool {
	return slices.ContainsFunc(from.Plan.Steps(), func(s record.Step) bool {
		return r.imageAt(s) == i && (from.Ended+1 < from.Plan.Blocks || !from.Done[s.Key()])
	})
}

// short is the beginning of a hash, for people.
func short(hash string) string { return hash[:min(12, len(hash))] }

// image builds an image in a folder of its own.
func (r *deviceRun) image(ctx context.Context, impl string, parts []string, noTable bool) (*Image, error) {
	dir := filepath.Join(r.folder, strconv.Itoa(r.folders))
	r.folders++
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return r.deps.build(ctx, r.d.Board, r.compiler, BuildOptions{
		Checkout: r.o.Checkout, Impl: impl, Parts: parts, Commit: FirmwareCommit(r.source, r.differs), Dir: dir, NoTable: noTable,
	})
}

// FirmwareCommit is what the firmware says of the sources it was made of, from what
// session.Commit says.
func FirmwareCommit(commit, dirty string) string {
	if commit != "" && dirty != "false" {
		commit += "+dirty"
	}
	return commit
}

// circumstances are what the header says of a run. Without a compiler nothing is said of
// it.
func (r *deviceRun) circumstances(ctx context.Context) *record.Circumstances {
	b, device := r.d.Board, r.d.Entry.ID
	if device == b.Name {
		device = ""
	}
	var now record.Settings
	now.Add("commit", r.source)
	now.Add("dirty", r.differs)
	now.Add("board", b.Name)
	now.Add("device", device)
	now.Add("title", b.Title)
	now.Add("chip", b.Chip)
	now.Add("emulated", map[bool]string{true: "yes", false: "no"}[b.Emulated])
	now.Add("emulator", strings.Join(b.Emulator, " "))
	if r.compiler != nil {
		now.Add("toolchain", r.compiler.String())
	}
	now.Add("host", r.host(ctx, r.o.Checkout.Dir)) // that the board is connected to
	return &record.Circumstances{Machine: r.d.Entry.ID, Fixed: append(now.List, r.o.Settings...)}
}

// create starts the results file.
func (r *deviceRun) create(plan *record.Plan) (err error) {
	begun := time.Now().UTC()
	path := r.o.Out
	if path == "" {
		name := begun.Format("20060102-150405") + "-" + cmp.Or(r.source, "nocommit")[:8] + ".bench"
		path = filepath.Join(r.o.Checkout.Dir, "results", r.d.Entry.ID, name)
	}
	if r.store, err = record.Create(path, plan, r.here, r.absent, begun); err != nil {
		return err
	}
	r.s.Files = append(r.s.Files, path)
	for _, c := range r.clauses {
		r.store.Clause(c)
	}
	return nil
}
