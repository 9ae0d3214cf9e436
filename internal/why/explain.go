package why

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// Options say how differences are explained.
type Options struct {
	// Time is about how long the fastest benchmark of a row runs for its profile
	// of CPU time, and about how long the CPU time of both sides is counted. Zero
	// means DefaultTime.
	Time time.Duration

	step    func(what string) // is called with what is done next
	done    func(c *Cell)     // is called with a cell that is explained
	timeout time.Duration     // how long a process may take beyond what is expected of it; zero means a minute
}

// DefaultTime is the default of [Options].Time: at 100 samples a second it has 600
// of work that keeps one processor busy.
const DefaultTime = 6 * time.Second

// Profiles that record every event, instead of sampling, make the work several times
// slower: perEvent is how much shorter they are, and slowdown how many times slower a
// benchmark may be, for its timeout.
const (
	perEvent = 30
	slowdown = 50
)

// An explainer explains the differences of one results file.
type explainer struct {
	opts   Options
	folder string // with the profiles
	taken  map[string]taken
	names  map[string]string // folders and files in use, and for what
}

// taken is a profile that was taken, or why it was not.
type taken struct {
	Sampled
	err error
}

// explain explains pairs, which are in the order of their rows, and adds them to x, which
// is written after each.
func explain(ctx context.Context, results string, x *Index, pairs []Pair, o Options) error {
	folder, err := filepath.Abs(Folder(results))
	if err != nil {
		return err
	}
	o.Time, o.timeout = cmp.Or(o.Time, DefaultTime), cmp.Or(o.timeout, time.Minute)
	e := &explainer{opts: o, folder: folder, taken: make(map[string]taken), names: make(map[string]string)}
	counts := slices.DeleteFunc(slices.Clone(x.Cells), func(c Cell) bool { return c.Unit != record.UnitCounted })
	// What is explained again is replaced, with its whole row: the rows' other
	// cells would point to profiles that are overwritten.
	x.Cells = slices.DeleteFunc(x.Cells, func(c Cell) bool {
		return slices.ContainsFunc(pairs, func(p Pair) bool { return p.Row == c.Row && p.pkg() == c.Pkg })
	})
	for _, c := range x.Cells {
		e.names[strings.ToLower(c.Folder)] = c.Pkg + " " + c.Row
	}
	for i := range pairs {
		if ctx.Err() != nil {
			return session.ErrInterrupted
		}
		c, err := e.cell(ctx, &pairs[i])
		if at := slices.IndexFunc(counts, func(c Cell) bool { return pairs[i].of(&c) }); at >= 0 {
			c = counts[at].then(c)
		}
		if err != nil {
			return err
		}
		o.done(&c)
		x.Cells = append(x.Cells, c)
		if err := x.Write(results); err != nil {
			return err
		}
		// Cells of one row share profiles of their base, so not before its end.
		if i+1 == len(pairs) || pairs[i+1].Row != pairs[i].Row {
			if err := e.tidy(x, c.Folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// then returns c, which counts explain, with what samples of time say of the same pair behind it.
func (c Cell) then(timed Cell) Cell {
	c.Sentence = strings.TrimSuffix(c.Sentence, ".") + "; by samples of time: " + timed.Sentence
	c.Profiles = append(slices.Clone(c.Profiles), timed.Profiles...)
	c.Counters, c.CPU, c.Notes = timed.Counters, timed.CPU, append(slices.Clone(c.Notes), timed.Notes...)
	return c
}

// tidy removes the profiles in a row's folder that the index does not
// name: of attempts that had too few samples, and of what was explained before.
func (e *explainer) tidy(x *Index, folder string) error {
	named := make(map[string]bool)
	for _, c := range x.Cells {
		for _, p := range c.Profiles {
			named[p.Base.Path], named[p.This.Path], named[p.Diff] = true, true, true
		}
	}
	dir := filepath.Join(e.folder, filepath.FromSlash(folder))
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".pb.gz") && !named[path.Join(folder, f.Name())] {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return err
}

// step reports what is done next with a pair.
func (e *explainer) step(p *Pair, what string) {
	e.opts.step(fmt.Sprintf("%s: %s of %s and %s", p.Row, what, p.Base.Column, p.This.Column))
}

// cell explains one pair.
func (e *explainer) cell(ctx context.Context, p *Pair) (Cell, error) {
	c := Cell{
		Pkg: p.pkg(), Row: p.Row, Base: p.Base.Column, Column: p.This.Column,
		Unit: timeUnit, Ratio: finite(p.Ratio), Verdict: string(p.Verdict),
		Folder: e.name("", p.Row, p.pkg()+" "+p.Row),
	}
	if err := os.MkdirAll(filepath.Join(e.folder, filepath.FromSlash(c.Folder)), 0o755); err != nil {
		return c, err
	}
	f := finding{
		baseName: c.Base, thisName: c.Column, diff: p.diff(), differs: p.Verdict.Proven(),
		profiles: make(map[Kind]*Profile), counted: e.opts.Time,
	}
	if err := e.count(ctx, p, &c, &f); err != nil {
		return c, err
	}
	for _, kind := range []Kind{CPU, Alloc, Mutex, Block} {
		d, err := e.profile(ctx, p, kind, c.Folder, &f)
		switch {
		case interrupted(ctx, err):
			return c, session.ErrInterrupted
		case err != nil:
			c.note("there is no %s profile: %s", kind, oneLine(err))
			continue
		case kind == CPU:
			c.noteSpeed(&p.Base, d.Base.Wall)
			c.noteSpeed(&p.This, d.This.Wall)
		}
		c.Profiles, f.profiles[kind] = append(c.Profiles, d), &d
	}
	c.Sentence, c.Explained = f.sentence()
	return c, nil
}

func (c *Cell) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// noteSpeed notes that a benchmark was much slower or faster under the profiler, where an
// operation took wall, than when it was measured.
func (c *Cell) noteSpeed(b *Bench, wall float64) {
	if r := wall / b.Ns; r > 1.5 || r < 1/1.5 {
		c.note("while its CPU time was profiled, %s took %s per operation and not %s", b.Column, nanos(wall), nanos(b.Ns))
	}
}

// count counts on both sides of a pair, for its cell and its finding. Its only error
// is [session.ErrInterrupted]: that nothing can be counted is a note.
func (e *explainer) count(ctx context.Context, p *Pair, c *Cell, f *finding) (err error) {
	e.step(p, "counters")
	c.Counters, c.CPU, err = e.counters(ctx, p)
	f.counters = c.Counters
	switch {
	case interrupted(ctx, err):
		return session.ErrInterrupted
	case err != nil:
		c.note("there are no counters: %s", oneLine(err))
	case c.CPU == nil:
		c.note("this system does not count the CPU time of a process")
	case f.differs && c.CPU.coarse(f.diff.Est):
		c.note("this system's clock of CPU time is too coarse: that of an operation may be off by %s", nanos(c.CPU.Clock))
	default:
		f.cpu = c.CPU
	}
	return nil
}

// profile takes profiles of one kind of both sides and compares them.
func (e *explainer) profile(ctx context.Context, p *Pair, kind Kind, folder string, f *finding) (Profile, error) {
	e.step(p, string(kind))
	long := e.opts.Time
	if kind != CPU {
		long /= perEvent
	}
	var base, this taken
	for n := p.Ops(long); n > 0; n = f.more(kind, &base, &this, long) {
		base, this = e.take(ctx, folder, &p.Base, kind, n), e.take(ctx, folder, &p.This, kind, n)
	}
	if err := errors.Join(base.err, this.err); err != nil {
		return Profile{}, err
	}
	if kind == CPU {
		// If it was taken again, a longer Time would have taken as many samples.
		f.sampled = time.Duration(float64(long) * float64(base.N) / float64(p.Ops(long)))
	}
	d, err := Diff(kind, base.Sampled, this.Sampled)
	if err == nil {
		err = d.keepDifference(e.folder, base.Sampled, this.Sampled)
	}
	return d, err
}

// oneLine is the text of an error without line breaks.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// more returns with how many operations profiles of CPU time are taken again
// because they have too few samples: the work is faster now than when it was
// measured, or leaves processors idle. It is 0 if they will do, if no sentence needs
// them, or if the slower side would take more than most times as long as it should.
func (f *finding) more(kind Kind, base, this *taken, time time.Duration) int {
	if kind != CPU || base.err != nil || this.err != nil || !f.differs || f.cpu != nil && f.cpu.reading(f.diff) != computes {
		return 0
	}
	a, b := base.cpuSamples(), this.cpuSamples()
	if enough(a, b) {
		return 0
	}
	lacking := max(manySamples/float64(max(a, b, 1)), fewSamples/float64(max(min(a, b), 1)))
	n := min(float64(base.N)*1.25*min(lacking, 20), most*float64(time)/max(base.Wall, this.Wall))
	if n < 1.2*float64(base.N) {
		return 0
	}
	return int(n)
}

// cpuSamples is how many samples a profile of CPU time has.
func (s *Sampled) cpuSamples() (n int64) {
	for _, sample := range s.Profile.Sample {
		n += sample.Value[0]
	}
	return n
}

// interrupted reports whether err, or the end of ctx, means that no more is
// wanted.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, session.ErrInterrupted) || errors.Is(err, program.ErrKilled)
}

// take returns a profile of one benchmark over n operations, which is taken and kept
// once only for all cells of the row.
func (e *explainer) take(ctx context.Context, folder string, b *Bench, kind Kind, n int) taken {
	key := fmt.Sprintf("%s %s %s %d", b.Binary.ID(), b.Step.FullName(), kind, n)
	if t, ok := e.taken[key]; ok {
		return t
	}
	rel := path.Join(folder, e.name(folder, b.Column+"."+string(kind), key)+".pb.gz")
	file := filepath.Join(e.folder, filepath.FromSlash(rel))
	s, err := e.run(ctx, file, b, kind, n)
	if err == nil {
		err = writeProfile(file, s.Profile)
	}
	s.Path = rel
	e.taken[key] = taken{s, err}
	return e.taken[key]
}

// run takes a profile, with the help of file.
func (e *explainer) run(ctx context.Context, file string, b *Bench, kind Kind, n int) (Sampled, error) {
	// The profile of allocations is always taken of a whole process: a memory
	// profile lags behind by a garbage collection or two, and at the end of a
	// process package testing sees to that.
	if b.Binary.Undrivable == nil && kind != Alloc {
		s, err := e.sliced(ctx, file, b, kind, n)
		if refusal := new(program.Refusal); !errors.As(err, &refusal) && !errors.Is(err, program.ErrUnsupported) {
			return s, err
		}
	}
	s, err := e.whole(ctx, file, b, kind, n)
	if err != nil || kind == CPU {
		return s, err
	}
	// Events are few enough to see those of the preparation. With twice as many
	// operations they are the same, so the difference has those of n operations
	// only. Of CPU time it would only have more noise.
	second, err := e.whole(ctx, file, b, kind, 2*n)
	if err != nil {
		return second, err
	}
	second.N = n
	second.Profile, err = minus(second.Profile, s.Profile)
	return second, err
}

// timeout is how long a process may take for n operations.
func (e *explainer) timeout(b *Bench, kind Kind, n int) time.Duration {
	expected := time.Duration(b.Ns * float64(n))
	if kind != CPU {
		expected *= slowdown
	}
	return e.opts.timeout + 2*expected
}

// drive starts a process that does slices of a benchmark.
func (e *explainer) drive(ctx context.Context, b *Bench, timeout time.Duration, counters bool) (*program.Process, error) {
	return b.Binary.Drive(ctx, program.Config{
		Benchmark: b.Step.Case.Name, CPU: b.Step.CPU,
		Counters: counters, Timeout: timeout,
	})
}

// pieces rounds n up to whole pieces of the work that a process does.
func pieces(p *program.Process, n int) int {
	unit := p.Hello().Unit
	return (n + unit - 1) / unit * unit
}

// sliced takes a profile of one long slice of a process that is driven, so that
// it has none of the preparation.
func (e *explainer) sliced(ctx context.Context, file string, b *Bench, kind Kind, n int) (s Sampled, err error) {
	p, err := e.drive(ctx, b, e.timeout(b, kind, n), false)
	if err != nil {
		return s, err
	}
	defer p.Close()
	n = pieces(p, n)
	var slice program.Slice
	for _, step := range []func() error{
		func() error { _, err := p.Run(pieces(p, max(n/20, 1))); return err }, // to warm up
		p.Reset,
		func() error { return p.StartProfile(string(kind), file) },
		func() (err error) { slice, err = p.Run(n); return err },
		p.EndProfile,
		func() error { _, err := p.Finish(); return err }, // a wrong result has no explanation either
	} {
		if err := step(); err != nil {
			return s, err
		}
	}
	s.N, s.Wall = slice.N, float64(slice.Elapsed)/float64(slice.N)
	if s.Profile, err = readProfile(file); err != nil || kind == CPU {
		return s, err
	}
	// Events count from the beginning of the process.
	before, err := readProfile(file + ".before")
	if err == nil {
		s.Profile, err = minus(s.Profile, before)
	}
	return s, errors.Join(err, os.Remove(file+".before"))
}

// whole takes a profile of a whole process.
func (e *explainer) whole(ctx context.Context, file string, b *Bench, kind Kind, n int) (s Sampled, err error) {
	flags := []string{kinds[kind].flag + file}
	if rate := kinds[kind].rate; rate != "" {
		flags = append(flags, rate)
	}
	line, err := b.Binary.RunFixed(ctx, b.Step, n, flags, e.timeout(b, kind, n))
	if err != nil {
		return s, err
	}
	s.N = n
	if s.Wall, err = nsPerOp(line); err == nil {
		s.Profile, err = readProfile(file)
	}
	return s, err
}

// nsPerOp returns the time in a benchmark line.
func nsPerOp(line string) (float64, error) {
	if r := benchfmt.NewReader(strings.NewReader(line+"\n"), ""); r.Scan() {
		if res, ok := r.Result().(*benchfmt.Result); ok {
			if sec, ok := res.Value("sec/op"); ok { // as ns/op is called then
				return 1e9 * sec, nil
			}
		}
	}
	return 0, fmt.Errorf("there is no time in %q", line)
}

// unusual is what names of files are better without.
var unusual = regexp.MustCompile(`[^a-zA-Z0-9=_\-+.,]`)

// name returns a file name for text, which stands for what, below folder: names
// that would be the same for different things get a number.
func (e *explainer) name(folder, text, what string) string {
	name := unusual.ReplaceAllString(text, "-")
	name = name[:min(len(name), 120)]
	if strings.Trim(name, ".-") == "" {
		name = "cell"
	}
	for i := 1; ; i++ {
		try := name
		if i > 1 {
			try += "~" + strconv.Itoa(i)
		}
		key := strings.ToLower(path.Join(folder, try)) // some file systems do not tell apart
		if have, ok := e.names[key]; !ok || have == what {
			e.names[key] = what
			return try
		}
	}
}

// finite is v, or 0 if that is no number to write down.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
