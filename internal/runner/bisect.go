package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
	"github.com/dynolab/dyno/internal/versions"
)

// A Bisect says between which commits is searched for the one that made a benchmark slower,
// and how. Of its AB, Args are the good and the bad commit, Compare.Alpha is the level of all
// that is claimed, and Out and Resume are folders.
type Bisect struct {
	AB
	Unit   string // whose step is looked for; "" is the time of an operation
	Memory bool   // allocations, or if those are the same, bytes
}

// The units that a search knows. The first two are counts, which hardly vary, and so are
// instructions.
const (
	unitAllocs = "allocs/op"
	unitBytes  = "B/op"
	unitTime   = "ns/op"
)

// DefaultBisect returns how commits are searched, if nothing is said of it.
func DefaultBisect() Bisect {
	c := Bisect{AB: DefaultAB(), Unit: unitTime}
	c.Dir, c.Schedule = ".", ScheduleFixed // what a visit needs follows from all blocks of the ends
	return c
}

// A bisectRun is the search of a Bisect.
type bisectRun struct {
	*Runner
	c       *Bisect
	log     *bisectLog
	line    *versions.Line
	v       *Versions    // the ends
	plan    *record.Plan // of the ends
	row     bisectRow
	slices  record.SliceWork        // what a slice of the row does at the ends, and so everywhere
	at      []versions.Commit       // by position; the good end has a Hash only
	sources *closure                // what the row is built of
	made    map[string]*madeVersion // by commit
	used    []string                // commits whose trees are there, the latest used last

	times bisectTimes
	built map[string]bool // commits of which it is known what comes of building them
	files map[int]string  // of comparisons, by both positions

	notes   []string
	visited int  // measurements of this search, ends apart
	saidHow bool // a measurement that was interrupted has said how to go on
}

// A madeVersion is a version that is built, or why it is not.
type madeVersion struct {
	bisect.Build
	tree   *versions.Tree
	folder string
	binary testbin.Binary
}

// Bisect finds which commits changed a benchmark, or goes on with that. Its error is
// session.ErrInterrupted if it was interrupted, which has been said.
func (r *Runner) Bisect(ctx context.Context, c *Bisect) (result *bisect.Result, err error) {
	b := &bisectRun{Runner: r, c: c, made: make(map[string]*madeVersion), built: make(map[string]bool), files: make(map[int]string)}
	if err := b.begin(ctx); err != nil {
		return nil, err
	}
	err = r.whole(ctx, func(ctx context.Context) (err error) {
		result, err = b.find(ctx)
		if ctx.Err() != nil && err != nil && !b.saidHow {
			b.interrupted()
			return session.ErrInterrupted
		}
		return err
	})
	return result, err
}

// take measures a job, which says how to go on if it is interrupted.
func (b *bisectRun) take(ctx context.Context, j *job) error {
	err := b.measure(ctx, j)
	b.saidHow = errors.Is(err, session.ErrInterrupted)
	return err
}

// interrupted says how to go on.
func (b *bisectRun) interrupted() {
	b.con.Clear()
	if b.log == nil {
		fmt.Fprintln(b.con, "interrupted before anything was measured")
		return
	}
	fmt.Fprintf(b.con, "interrupted; what was measured is kept. To go on:\n  %s --resume %s\n", b.command, b.goOn())
}

// goOn is what --resume takes to go on, with the time that is left.
func (b *bisectRun) goOn() string {
	text := console.ShellWord(b.log.folder)
	if left := b.log.time(); left >= 1 && !math.IsInf(left, 1) {
		text += fmt.Sprintf(" --within %.0fs", left)
	}
	return text
}

// begin checks what was asked for, and reads the log of a bisection that goes on.
func (b *bisectRun) begin(ctx context.Context) error {
	c := b.c
	if c.Resume != "" {
		if c.Out != "" || len(c.Args)+len(c.Packages) > 0 {
			return errors.New("--resume goes on in its own folder with its own commits and package: leave out --out, commits and package")
		}
		log, err := openBisectLog(strings.TrimSuffix(c.Resume, "/"+bisectLogName))
		if err != nil {
			return err
		}
		b.log = log
		b.cleanUp = append(b.cleanUp, log.close)
		log.started.restore(c)
		if err := log.goOn(c.Within); err != nil {
			return err
		}
		c.Resume = ""
		c.Count = c.Unit == record.UnitCounted
	}
	if c.Count {
		if b.log == nil && (c.given("unit") || c.Memory) {
			return errors.New("--count is --unit " + record.UnitCounted + ": leave out --unit and --memory")
		}
		if c.Unit = record.UnitCounted; b.log == nil && !c.given("margin") {
			c.Compare.Margin = compare.CountMargin
		}
		if err := c.findCounter(ctx, nil); err != nil {
			return err
		}
	}
	if c.Memory {
		if c.given("unit") {
			return errors.New("--memory is --unit allocs/op, or if allocations do not differ B/op: give one of them")
		}
		c.Unit = unitAllocs
	}
	if isCount(c.Unit) {
		c.Rounds, c.Slice = min(c.Rounds, countRounds), max(c.Slice, session.FigureSlice)
		if !c.given("blocks") {
			c.Blocks = record.LeastBlocks
		}
	}
	if c.Blocks < record.LeastBlocks {
		return fmt.Errorf("--blocks is %d; it must be at least %d, which is what proves a difference", c.Blocks, record.LeastBlocks)
	}
	if len(c.Args) < 2 {
		return errors.New("bisect needs two commits: a good one, and a later bad one")
	}
	c.Packages = append(slices.Clone(c.Args[2:]), c.Packages...)
	c.Args = c.Args[:2]
	if len(c.Packages) == 0 {
		c.Packages = []string{"."}
	}
	plan := c.plan(nil)
	plan.Col = record.SideKey
	if c.Out != "" {
		if _, err := os.Lstat(c.Out); err == nil {
			return fmt.Errorf("%s is there already: choose another --out, or go on with it by --resume", c.Out)
		}
	}
	out := c.Out
	c.Out = ""
	err := c.check(plan)
	c.Out = out
	return err
}

// countRounds are those of benchmarks whose allocations are counted: they need no more.
const countRounds = 20

// isCount reports whether the values of a unit are counts.
func isCount(unit string) bool {
	return unit == unitAllocs || unit == unitBytes || unit == record.UnitCounted
}

// find compares the ends and searches between them.
func (b *bisectRun) find(ctx context.Context) (*bisect.Result, error) {
	c := b.c
	var err error
	workspace, err := versions.Open(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	b.line, err = workspace.Line(ctx, c.Args[0], c.Args[1])
	if err := errors.Join(err, workspace.Close()); err != nil {
		return nil, err
	}
	names := [2]string{c.Args[0], c.Args[1]}
	if b.log != nil {
		names = [2]string{b.log.started.GoodName, b.log.started.BadName}
	}
	bad := b.line.Commits[len(b.line.Commits)-1]
	if b.line.Asked != b.line.Good {
		b.note("%s is not among the first parents of %s: the search begins at %s, where its branch left them", names[0], names[1], short(b.line.Good))
	}
	ends := c.AB
	ends.Args, ends.Compare = []string{b.line.Good, bad.Hash}, c.Compare
	ends.Within = c.Within / 4
	if b.v, err = b.newVersions(ctx, &ends); err != nil {
		return nil, err
	}
	began := time.Now()
	from, err := b.endsOf()
	if err != nil {
		return nil, err
	}
	b.plan = ends.plan(from)
	b.plan.Col = record.SideKey
	if err := b.v.prepare(ctx, &ends, b.plan, from); err != nil {
		return nil, err
	}
	if b.log == nil {
		here := b.v.circumstances(ctx, c.Machine, "")
		folder := cmp.Or(c.Out, strings.TrimSuffix(resultsPath(ctx, c.Dir, here.Machine, "", "bisect-"+short(b.line.Good)+"-"+short(bad.Hash), began), ".bench"))
		b.log, err = createBisectLog(folder, startOf(c, b.line.Asked, bad.Hash, names))
		if err != nil {
			return nil, err
		}
		b.cleanUp = append(b.cleanUp, b.log.close)
	}
	result := &bisect.Result{
		Good: bisect.End{Name: names[0], Commit: b.line.Good}, Bad: bisect.End{Name: names[1], Commit: bad.Hash},
		Unit: c.Unit, Commits: len(b.line.Commits), Alpha: c.Compare.Alpha, Margin: c.Compare.Margin, Folder: b.log.folder, Notes: b.notes,
	}
	if len(b.v.cases) == 0 {
		if len(b.v.all()) > 0 || len(b.v.Identical) == 0 {
			return nil, b.absent(ctx, &ends)
		}
		result.Outcome, result.Package = bisect.NoStep, strings.Join(b.v.Identical, " ")
		result.Notes = append(b.notes, "both ends are the same program: the test binaries are identical")
		return result, nil
	}
	took := time.Since(began).Seconds()
	if b.c.tool == nil { // counts are the same beside any load
		if err := b.ready(ctx, c.Idle); err != nil {
			return nil, err
		}
	}
	b.times = bisectTimes{Build: took / 4, Link: took / 4 / float64(b.plan.Blocks)} // of two versions
	if err := b.measureEnds(ctx, &ends, from, took); err != nil {
		return nil, err
	}
	return result, b.search(ctx, result)
}

// endsFile is the name of the results of the ends.
const endsFile = "ends.bench"

// endsOf reads what there is of the comparison of the ends, nil if there is nothing.
func (b *bisectRun) endsOf() (*record.Interrupted, error) {
	if b.log == nil {
		return nil, nil
	}
	path := filepath.Join(b.log.folder, endsFile)
	from, err := record.ReadInterrupted(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		if _, done := b.log.answers[endsFile]; !done {
			return nil, os.Remove(path) // nothing was measured in it
		}
	}
	return from, err
}

// absent says why no benchmark of both ends can be compared.
func (b *bisectRun) absent(ctx context.Context, ends *AB) error {
	unmeasured, err := b.v.nothing(ctx, ends, b.plan)
	if err != nil {
		return err
	}
	if unmeasured != nil && len(unmeasured.Failures) > 0 {
		f := unmeasured.Failures[0]
		return fmt.Errorf("%w: %s; a good end that has the benchmark, and in which it runs, is needed", ErrNothing, f)
	}
	return ErrNothing
}

// measureEnds compares the ends, or what is left of that, and chooses the row. To build them
// took so many seconds.
func (b *bisectRun) measureEnds(ctx context.Context, ends *AB, from *record.Interrupted, built float64) error {
	path := filepath.Join(b.log.folder, endsFile)
	done, ok := b.log.answer(endsFile)
	if !ok {
		j := &job{
			plan: b.plan, from: from, path: path, absent: b.v.absent, resume: b.goOn(),
			here: b.v.circumstances(ctx, ends.Machine, path), tool: b.c.tool,
		}
		j.noteCounter()
		j.take(b.processes, parts{binaries: b.v.all()})
		began := time.Now()
		if err := b.take(ctx, j); err != nil {
			return err
		}
		done = bisectEntry{Do: doDone, Key: endsFile, File: endsFile, Seconds: built + time.Since(began).Seconds()}
		b.times.learn(b.progress, time.Since(began), len(b.plan.Steps()))
		times := b.times
		done.Times = &times
		if err := b.log.add(done); err != nil {
			return err
		}
	}
	b.times.measured(done)
	if err := b.choose(path); err != nil {
		return err
	}
	return b.learnSlices(path)
}

// learnSlices learns what a slice of the row does at the ends: in a visit it does the same,
// so that it is as noisy as they are, and takes no time to find.
func (b *bisectRun) learnSlices(path string) error {
	ends, err := record.ReadInterrupted(path)
	if err != nil {
		return err
	}
	for _, s := range b.plan.Steps() {
		w := ends.Slices[s.Key()]
		if s.Case.Pkg != b.row.Pkg || s.Case.Name != b.row.Name || s.CPU != b.row.cpu || w.Ops == 0 {
			continue
		}
		if b.slices.Ops == 0 || w.Ops < b.slices.Ops {
			b.slices = w
		}
	}
	return nil
}

// note notes what a reader of the answer should know.
func (b *bisectRun) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(b.con, "note: %s\n", text)
	b.notes = append(b.notes, text)
}

// search searches between the ends, and completes the result.
func (b *bisectRun) search(ctx context.Context, result *bisect.Result) error {
	result.Package, result.Benchmark, result.Unit = b.row.Pkg, b.row.name, b.row.unit
	if err := b.candidates(ctx); err != nil {
		return err
	}
	result.Candidates = len(b.at) - 1
	last := len(b.at) - 1
	o := bisect.DefaultOptions()
	o.Alpha, o.Blocks, o.Exact, o.Report = b.c.Compare.Alpha, b.plan.Blocks, b.row.exact, b.tell
	if o.Exact {
		o.Offered = []int{1}
	} else {
		o.Margin = math.Log1p(b.c.Compare.Margin)
	}
	if last == 0 {
		ends, err := b.read(endsFile, map[string]int{record.SideOld: 0, record.SideNew: 1}, 0)
		if err != nil {
			return err
		}
		j, err := ends.Compare(0, 1, o.Alpha)
		if err != nil {
			return err
		}
		result.Ends, result.Outcome, result.Notes = b.change(j, endsFile), bisect.NoStep, b.notes
		if j.Proven {
			result.Outcome = bisect.Unsure
			result.Notes = append(result.Notes, "no commit between both changes what the benchmark is built of: what differs comes from elsewhere")
		}
		return nil
	}
	var err error
	if o.Ends, err = b.read(endsFile, map[string]int{record.SideOld: 0, record.SideNew: last}, 0); err != nil {
		return err
	}
	if b.log.left > 0 {
		fmt.Fprintf(b.con, "%s there already\n", areThere(b.log.left))
	}
	a, err := bisect.Find(ctx, b, last, o)
	var end *bisect.EndError
	if errors.As(err, &end) {
		return fmt.Errorf("%s of %s: %s", b.row.name, b.called(end.Position), end.Reason)
	}
	if err != nil {
		return err
	}
	b.complete(result, a)
	return nil
}

func areThere(n int) string {
	if n == 1 {
		return "1 answer is"
	}
	return fmt.Sprintf("%d answers are", n)
}

// candidates finds the commits that may be the culprit.
func (b *bisectRun) candidates(ctx context.Context) error {
	b.sources = newClosure()
	for i, t := range b.v.trees {
		if t.Root == "" {
			return fmt.Errorf("%s is no commit: bisect searches commits", t.Name)
		}
		if err := b.sources.add(ctx, t, b.row.dir); err != nil {
			return fmt.Errorf("%s: %w", b.v.trees[i].Name, err)
		}
	}
	b.at = []versions.Commit{{Hash: b.line.Good}}
	for _, c := range b.line.Commits {
		if slices.ContainsFunc(c.Files, b.sources.touches) {
			b.at = append(b.at, c)
		}
	}
	fmt.Fprintf(b.con, "%s between both, of which %d may change %s\n", console.Count(len(b.line.Commits), "commit"), len(b.at)-1, b.row.name)
	return nil
}

// called names the version at a position for people.
func (b *bisectRun) called(position int) string {
	c := b.at[position]
	if position == 0 {
		return short(c.Hash) + " (good)"
	}
	return short(c.Hash) + " " + record.Shortened(c.Subject)
}
