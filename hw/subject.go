package hw

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A boardImage is an image, and what the board says of it when it runs it.
type boardImage struct {
	*Image
	hello  line.Hello
	listed map[string]line.Listed // cases, by name
	broken *Error                 // why it cannot be run any more; nil if it can
}

// ask brings each image to the device and asks it who it is and what it can run: that
// are the cases of the plan. What goes wrong with an image is a result.
func (r *deviceRun) ask(ctx context.Context) (*record.Plan, error) {
	plan := &record.Plan{
		CPU: []int{1}, Blocks: r.o.Count, Time: "1x", Timeout: r.o.Limits.Case, Bench: ".", InOrder: true,
		Packages: r.plan.Impls, Subjects: make(map[string]string),
	}
	for i, im := range r.images {
		if im == nil {
			continue
		}
		listed, err := r.listen(ctx, im)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, err := outcome(err)
		if err != nil {
			return nil, err
		}
		if e != nil {
			r.images[i] = nil
			r.lost(im.Impl, e)
			continue
		}
		plan.Subjects[im.name()] = im.Hash
		if len(listed) > 0 {
			cases := append([]record.Case{{Pkg: casePackage, Name: im.sizesName()}}, r.runnable(im, listed)...)
			plan.Cases = append(plan.Cases, cases...)
			r.plan.Images[i].Cases = len(cases)
		}
	}
	var err error
	plan.Own, err = json.Marshal(r.plan)
	return plan, err
}

// runnable are those of an image's cases that the board does not skip. Those that it skips
// are results.
func (r *deviceRun) runnable(im *boardImage, listed []line.Listed) (cases []record.Case) {
	for _, c := range listed {
		rec := record.Record{Step: record.Step{Case: record.Case{Pkg: casePackage, Name: caseName(c.Name, im.Impl)}, CPU: 1}}
		if c.Skip == "" {
			cases = append(cases, rec.Step.Case)
			continue
		}
		res := CaseResult{Impl: im.Impl, Case: c.Name, Block: 1, Skip: c.Skip}
		if im.fill(&rec, 1, res); rec.Clause != nil {
			r.clauses = append(r.clauses, *rec.Clause)
		} else {
			rec.Hole.Pkg = casePackage
			r.absent = append(r.absent, *rec.Hole)
		}
		r.done(res)
	}
	return cases
}

// casePackage is the package of all cases: the one whose benchmarks a host has of the
// same names.
const casePackage = module + "/impls"

// listen brings an image to the device and returns what it can run.
func (r *deviceRun) listen(ctx context.Context, im *boardImage) (cases []line.Listed, err error) {
	if err := r.bring(ctx, im); err != nil {
		return nil, err
	}
	var all []line.Listed
	im.hello, _, err = r.converse(ctx, im.Image, func(s *Session) (err error) {
		all, err = s.List(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	im.listed = make(map[string]line.Listed)
	n := 0 // to be run
	for _, c := range all {
		if r.o.Case != nil && !r.o.Case.MatchString(c.Name) {
			continue
		}
		cases = append(cases, c)
		im.listed[c.Name] = c
		if c.Skip == "" {
			n++
		}
	}
	r.o.Progress.Cases(r.d, im.Image, im.hello, n)
	return cases, nil
}

// bring brings an image to the device, if that does not have it.
func (r *deviceRun) bring(ctx context.Context, im *boardImage) error {
	if r.on == im {
		return nil
	}
	if !r.target.Cheap() {
		r.o.Progress.Flash(r.d, im.Image)
	}
	r.on = nil
	if err := r.target.Flash(ctx, im.Image); err != nil {
		return err
	}
	r.on = im
	return nil
}

// name tells the images of a run apart.
func (im *boardImage) name() string { return im.Impl + " " + strings.Join(im.Parts, "+") }

// imageCase begins the name of the benchmark that has the sizes of an image.
const imageCase = "BenchmarkBoard/case=image/parts="

// sizesName is the name of the benchmark that has the sizes of the image.
func (im *boardImage) sizesName() string {
	// A slash begins another key of the name.
	return imageCase + strings.ReplaceAll(strings.Join(shortParts(im.Parts), "+"), "/", "-") + "/impl=" + im.Impl
}

// sizes is the result of that benchmark.
func (im *boardImage) sizes() string {
	return fmt.Sprintf("%s 1 %d flash-B %d ram-B %d ram-free-B", im.sizesName(), im.Sizes.Flash(), im.Sizes.RAM(), im.hello.RAMFree)
}

// sizeUnits say which way those are better.
var sizeUnits = []string{"flash-B better=lower", "ram-B better=lower", "ram-free-B better=higher"}

// caseName is the name in the plan of a case of the firmware, whose clauses do not name
// the implementation.
func caseName(name, impl string) string {
	if strings.HasPrefix(name, conformPrefix) {
		return name + "/impl=" + impl
	}
	return benchmarkName(name)
}

// firmwareName undoes caseName.
func firmwareName(name, impl string) string {
	if strings.HasPrefix(name, conformPrefix) {
		return strings.TrimSuffix(name, "/impl="+impl)
	}
	return benchPrefix + strings.TrimPrefix(name, "Benchmark")
}

// Start implements session.Subject: a board's cases take no turns.
func (r *deviceRun) Start(int, record.Step, []string) (session.Driver, error) {
	return nil, errors.New("a board runs one case after the other")
}

// Measure implements session.Subject: it resets the board and has it run a case. If ctx
// ends, it ends the case.
func (r *deviceRun) Measure(ctx context.Context, block int, s record.Step) (record.Record, error) {
	rec := record.Record{Step: s}
	im := r.images[r.imageAt(s)]
	res, err := r.one(ctx, im, s, block)
	if ctx.Err() != nil {
		return rec, session.ErrInterrupted
	}
	if err != nil {
		return rec, err
	}
	if im.listed != nil { // else nothing is known of it
		rec.Settings = im.describe()
	}
	if res.Err != nil && res.Err.Outcome == NoConsole && im.broken == nil {
		if err := r.gone(ctx, im, res.Err); err != nil {
			return rec, err
		}
	}
	im.fill(&rec, block, res)
	if res.Case != "" && im.broken == nil {
		r.done(res)
	}
	return rec, nil
}

// one runs a case, if its image can be run.
func (r *deviceRun) one(ctx context.Context, im *boardImage, s record.Step, block int) (CaseResult, error) {
	if im.listed == nil && im.broken == nil { // the run was resumed
		if _, err := r.listen(ctx, im); err != nil {
			return r.lose(im, err)
		}
		r.tellHad(im)
	}
	name := firmwareName(s.Case.Name, im.Impl)
	res := CaseResult{Impl: im.Impl, Case: name, Block: block}
	if im.broken != nil {
		res.Err = im.broken
		return res, nil
	}
	if strings.HasPrefix(s.Case.Name, imageCase) {
		return CaseResult{}, nil
	}
	if err := r.bring(ctx, im); err != nil {
		return r.lose(im, err)
	}
	r.o.Progress.Case(r.d, im.Image, name, block)
	var err error
	if res.Answer, err = r.answer(ctx, im.Image, name); err == nil && res.Answer.Verdict == line.Skipped {
		res.Skip = cmp.Or(res.Answer.Why, "the board skips it")
	}
	if err == nil && res.Skip == "" {
		err = figures(im.listed[name], im.hello, res.Answer)
	}
	if res.Err, err = outcome(err); res.Err != nil {
		res.Outcome = res.Err.Outcome
	}
	return res, err
}

// lose notes that an image cannot be run any more because of err, and passes on what is
// no result: a board that is not there may be there again when the run is resumed.
func (r *deviceRun) lose(im *boardImage, err error) (CaseResult, error) {
	e, other := outcome(err)
	if other != nil {
		return CaseResult{}, other
	}
	if e.Outcome == NoConsole {
		return CaseResult{}, r.unplugged("the board is not there", e)
	}
	im.broken = e
	r.done(CaseResult{Impl: im.Impl, Err: e})
	return CaseResult{Err: e}, nil
}

// gone returns an error if the board does not answer any more, whatever it is asked: then
// it was not the case that found none, and nothing is to be recorded of it.
func (r *deviceRun) gone(ctx context.Context, im *boardImage, e *Error) error {
	for range hellos {
		s, _, err := r.start(ctx, im.Image)
		switch {
		case err == nil:
			return s.Close()
		case ctx.Err() != nil:
			return session.ErrInterrupted
		case !outcomeIs(err, NoConsole):
			return nil
		}
	}
	return r.unplugged(fmt.Sprintf("the board is gone: it was asked %d times after a case, and did not say hello", hellos), e)
}

// unplugged is the error that ends a run whose board does not answer, because of e.
func (r *deviceRun) unplugged(what string, e *Error) error {
	return &Error{Outcome: NoConsole, What: what, Do: "see to the board, and go on with --resume " + r.store.Path, Output: e.Output, Err: e}
}

// hellos is how many times a board is asked for its hello before it is given up.
const hellos = 2

// fill puts what came of a case into its record.
func (im *boardImage) fill(rec *record.Record, block int, res CaseResult) {
	name := firmwareName(rec.Step.Case.Name, im.Impl)
	clause, isClause := strings.CutPrefix(name, conformPrefix)
	switch {
	case isClause && res.Skip != "":
		rec.Clause = &record.BoardClause{Impl: im.Impl, Name: clause, Result: record.ClauseSkipped, Why: oneLine(res.Skip)}
	case isClause && res.Err != nil:
		rec.Clause = &record.BoardClause{Impl: im.Impl, Name: clause, Result: record.ClauseFailed, Outcome: res.Err.Outcome.String(), Why: oneLine(res.Err.reason())}
	case isClause:
		rec.Clause = &record.BoardClause{Impl: im.Impl, Name: clause, Result: record.ClausePassed}
	case res.Skip != "":
		rec.Hole = &record.Hole{Case: rec.Step.FullName(), Kind: failure.Skip, Reason: oneLine(res.Skip), Skipped: true}
	case res.Err != nil:
		rec.Hole = record.NewHole(rec.Step, block, res.Err)
		rec.Hole.Reason = oneLine(rec.Hole.Reason)
		rec.Output = res.Err.Output
	case res.Answer == nil:
		rec.Printed = im.sizes()
		rec.Units = unitLines(rec.Printed, sizeUnits, im.hello)
	default:
		rec.Printed = strings.Join(res.Answer.Results, "\n")
		rec.Units = unitLines(rec.Printed, res.Answer.Units, im.hello)
	}
	if res.Answer != nil {
		for _, text := range res.Answer.Notes {
			rec.Notes = append(rec.Notes, oneLine(text))
		}
	}
}

// unitLines are the Unit lines of what text has: which way its units are better, as far as
// units say it, and that all is counted and not measured if the board counts.
func unitLines(text string, units []string, h line.Hello) (all []string) {
	res, ok := record.ParseResult(text)
	if !ok {
		return nil
	}
	for _, v := range res.Values {
		unit := cmp.Or(v.OrigUnit, v.Unit)
		said := unit
		if i := slices.IndexFunc(units, func(u string) bool { return strings.HasPrefix(u, unit+" ") }); i >= 0 {
			said = units[i]
		}
		if h.Unit != realTime {
			said += " assume=exact"
		}
		if said != unit {
			all = append(all, said)
		}
	}
	return all
}

// describe are the configuration keys that an image decides.
func (im *boardImage) describe() []record.Setting {
	var all record.Settings
	all.Add("parts", strings.Join(shortParts(im.Parts), "+"))
	all.Add(record.ClockUnitKey, im.hello.Unit)
	all.Add(record.ClockHzKey, strconv.FormatFloat(im.hello.Clock, 'f', -1, 64))
	all.Add("ram", strconv.Itoa(im.hello.RAM))
	all.Add("flash", strconv.Itoa(im.hello.Flash))
	all.Add("image", im.Hash)
	return all.List
}

// start starts the image that was flashed, and makes sure that it is this one.
func (r *deviceRun) start(ctx context.Context, im *Image) (*Session, line.Hello, error) {
	console, err := r.target.Start(ctx)
	if err != nil {
		return nil, line.Hello{}, err
	}
	s := newSession(console, r.o.Limits)
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
// its board.json says: figures would be in another unit than readers take them for.
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
func figures(c line.Listed, h line.Hello, a *Answer) error {
	bench := strings.HasPrefix(c.Name, benchPrefix)
	if bench && len(a.Results) == 0 {
		return failed(WrongResult, "it passed, and there is no figure", nil)
	}
	for _, text := range a.Results {
		res, ok := record.ParseResult(text)
		if !ok || len(res.Values) == 0 {
			return failed(WrongResult, fmt.Sprintf("%q is no benchmark line", text), nil)
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
			if !record.InRange(v.Value) {
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

// realTime is the unit of clocks that tell real time.
const realTime = "ns"

// oneLine returns s on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
