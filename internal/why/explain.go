package why

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

// Options say how differences are explained. The zero value is the default.
type Options struct {
	// Time is about how long the fastest benchmark of a row runs for its profile
	// of CPU time, and about how long the CPU time of both sides is counted. Zero
	// means DefaultTime. The other profiles take a thirtieth of it, because they
	// count events instead of sampling them, and make the work several times
	// slower.
	Time time.Duration

	// Timeout is how long one process may take beyond what is expected of it;
	// zero means a minute.
	Timeout time.Duration

	// Kill ends everything at once when it is closed; nil means never.
	Kill <-chan struct{}

	// Done is called with each cell before it is written, to add to it; nil means
	// that nothing is added.
	Done func(*Cell) error

	// Step is told what is done next; nil means that nobody wants to know.
	Step func(what string)
}

// DefaultTime is the default of [Options].Time: at 100 samples a second it has 600
// of work that keeps one processor busy.
const DefaultTime = 6 * time.Second

// perEvent is how much shorter the profiles are that record every event.
const perEvent = 30

// slowdown is how many times slower a benchmark may be while every event is
// recorded: for its timeout.
const slowdown = 50

// An explainer explains the differences of one results file.
type explainer struct {
	opts   Options
	folder string // Folder of the results
	taken  map[string]taken
	names  map[string]string // folders and files in use, and for what
}

// taken is a profile that was taken.
type taken struct {
	path    string // relative, with slashes
	profile *profile.Profile
	n       int
	wall    float64 // ns/op
	err     error
}

// Explain explains pairs, one after another, and writes profiles and index beside
// the results file. It returns the index after each pair is written, so that
// what was done is kept if it is interrupted: the error is then
// [session.ErrInterrupted]. An index that is there keeps the cells of other rows. A
// profile that cannot be taken is a note in its cell.
func Explain(ctx context.Context, results string, x *Index, pairs []Pair, o Options) error {
	if o.Time == 0 {
		o.Time = DefaultTime
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
	e := &explainer{opts: o, folder: Folder(results), taken: make(map[string]taken), names: make(map[string]string)}
	// What is explained again is replaced, with its whole row: the rows' other
	// cells would point to profiles that are overwritten.
	x.Cells = slices.DeleteFunc(x.Cells, func(c Cell) bool {
		return slices.ContainsFunc(pairs, func(p Pair) bool { return p.Row == c.Row && p.This.Step.Case.Pkg == c.Pkg })
	})
	for _, c := range x.Cells {
		e.names[strings.ToLower(c.Folder)] = c.Pkg + " " + c.Row
	}
	for i := range pairs {
		if ctx.Err() != nil {
			return session.ErrInterrupted
		}
		c, err := e.cell(ctx, &pairs[i])
		if err != nil {
			return err
		}
		if o.Done != nil {
			if err := o.Done(&c); err != nil {
				return err
			}
		}
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

// tidy removes the profiles and graphs in a row's folder that the index does not
// name: of attempts that had too few samples, and of what was explained before.
func (e *explainer) tidy(x *Index, folder string) error {
	named := make(map[string]bool)
	for _, c := range x.Cells {
		for _, p := range c.Profiles {
			named[p.Base.Path], named[p.This.Path], named[p.Flame] = true, true, true
		}
	}
	dir := filepath.Join(e.folder, filepath.FromSlash(folder))
	files, err := os.ReadDir(dir)
	for _, f := range files {
		ours := strings.HasSuffix(f.Name(), ".pb.gz") || strings.HasSuffix(f.Name(), ".svg")
		if ours && !named[path.Join(folder, f.Name())] {
			err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return err
}

// cell explains one pair.
func (e *explainer) cell(ctx context.Context, p *Pair) (Cell, error) {
	c := Cell{
		Pkg: p.This.Step.Case.Pkg, Row: p.Row, Base: p.BaseCol, Column: p.Col,
		Unit: timeUnit, Ratio: finite(p.Ratio), Verdict: string(p.Verdict),
		Folder: e.name("", p.Row, p.This.Step.Case.Pkg+" "+p.Row),
	}
	if err := os.MkdirAll(filepath.Join(e.folder, filepath.FromSlash(c.Folder)), 0o755); err != nil {
		return c, err
	}
	f := finding{
		baseName: p.BaseCol, thisName: p.Col, diff: p.diff(), differs: p.Verdict.Proven(),
		profiles: make(map[Kind]*Profile), counted: e.opts.Time,
	}
	note := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	if err := e.count(ctx, p, &c, &f); err != nil {
		return c, err
	}
	for _, kind := range []Kind{CPU, Alloc, Mutex, Block} {
		long := e.opts.Time
		if kind != CPU {
			long /= perEvent
		}
		e.opts.Step(fmt.Sprintf("%s: %s of %s and %s", p.Row, kind, p.BaseCol, p.Col))
		var base, this taken
		for n := p.Ops(long); n > 0; n = f.more(kind, &base, &this, long) {
			base, this = e.take(ctx, c.Folder, p.BaseCol, &p.Base, kind, n), e.take(ctx, c.Folder, p.Col, &p.This, kind, n)
		}
		err := errors.Join(base.err, this.err)
		if interrupted(ctx, err) {
			return c, session.ErrInterrupted
		}
		if err != nil {
			note("there is no %s profile: %s", kind, oneLine(err))
			continue
		}
		d, err := Diff(kind, base.of(), this.of())
		if err != nil {
			note("there is no %s profile: %v", kind, err)
			continue
		}
		d.Base.Path, d.Base.Wall = base.path, base.wall
		d.This.Path, d.This.Wall = this.path, this.wall
		if kind == CPU {
			// If it was taken again, a longer Time would have taken as many samples.
			f.sampled = time.Duration(float64(long) * float64(base.n) / float64(p.Ops(long)))
			for _, s := range []struct {
				name string
				b    *Bench
				wall float64
			}{{p.BaseCol, &p.Base, base.wall}, {p.Col, &p.This, this.wall}} {
				if r := s.wall / s.b.Ns; r > 1.5 || r < 1/1.5 {
					note("while its CPU time was profiled, %s took %s per operation and not %s", s.name, nanos(s.wall), nanos(s.b.Ns))
				}
			}
		}
		c.Profiles = append(c.Profiles, d)
		f.profiles[kind] = &c.Profiles[len(c.Profiles)-1]
	}
	for i := range c.Profiles { // the slice may have moved while it grew
		f.profiles[c.Profiles[i].Kind] = &c.Profiles[i]
	}
	c.Sentence, c.Explained = f.sentence()
	return c, nil
}

// count counts on both sides of a pair, for its cell and its finding. Its only error
// is [session.ErrInterrupted]: that nothing can be counted is a note.
func (e *explainer) count(ctx context.Context, p *Pair, c *Cell, f *finding) error {
	note := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	e.opts.Step(fmt.Sprintf("%s: counters of %s and %s", p.Row, p.BaseCol, p.Col))
	var err error
	switch c.Counters, c.CPU, err = e.counters(ctx, p); {
	case interrupted(ctx, err):
		return session.ErrInterrupted
	case err != nil:
		note("there are no counters: %s", oneLine(err))
	case c.CPU == nil:
		note("this system does not count the CPU time of a process")
	case f.differs && c.CPU.coarse(f.diff.Est):
		note("this system's clock of CPU time is too coarse: that of an operation may be off by %s", nanos(c.CPU.Clock))
	default:
		f.cpu = c.CPU
	}
	f.counters = c.Counters
	return nil
}

// oneLine is the text of an error without line breaks.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// more returns with how many operations profiles of CPU time are taken again
// because they have too few samples: the work is faster now than when it was
// measured, or leaves processors idle. It is 0 if they will do, if no sentence needs
// them, or if the slower side would take more than most times as long as it should.
func (f *finding) more(kind Kind, base, this *taken, time time.Duration) int {
	if kind != CPU || base.err != nil || this.err != nil {
		return 0
	}
	if !f.differs || f.cpu != nil && f.cpu.reading(f.diff) != computes {
		return 0
	}
	a, b := cpuSamples(base.profile), cpuSamples(this.profile)
	if enough(a, b) {
		return 0
	}
	lacking := max(manySamples/float64(max(a, b, 1)), fewSamples/float64(max(min(a, b), 1)))
	n := float64(base.n) * 1.25 * min(lacking, 20)
	if n*max(base.wall, this.wall) > most*float64(time) {
		n = most * float64(time) / max(base.wall, this.wall)
	}
	if n < 1.2*float64(base.n) {
		return 0
	}
	return int(n)
}

// cpuSamples is how many samples a profile of CPU time has.
func cpuSamples(p *profile.Profile) (n int64) {
	for _, s := range p.Sample {
		if len(s.Value) > 0 {
			n += s.Value[0]
		}
	}
	return n
}

func (t *taken) of() Sampled { return Sampled{Profile: t.profile, N: t.n} }

// interrupted reports whether err, or the end of ctx, means that no more is
// wanted.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, session.ErrInterrupted) || errors.Is(err, program.ErrKilled)
}

// take returns a profile of one benchmark over n operations, which is taken once
// only for all cells of the row.
func (e *explainer) take(ctx context.Context, folder, column string, b *Bench, kind Kind, n int) taken {
	key := fmt.Sprintf("%s %s %s %d", b.Binary.ID(), b.Step.FullName(), kind, n)
	t, ok := e.taken[key]
	if !ok {
		t = e.run(ctx, path.Join(folder, e.name(folder, column+"."+string(kind), key)+".pb.gz"), b, kind, n)
		e.taken[key] = t
	}
	return t
}

// run takes a profile and keeps it.
func (e *explainer) run(ctx context.Context, rel string, b *Bench, kind Kind, n int) taken {
	file, err := filepath.Abs(filepath.Join(e.folder, filepath.FromSlash(rel)))
	if err != nil {
		return taken{err: err}
	}
	t := taken{path: rel, n: n}
	// The profile of allocations is always taken of a whole process: a memory
	// profile lags behind by a garbage collection or two, and at the end of a
	// process package testing sees to that.
	if b.Binary.Undrivable == nil && kind != Alloc {
		t.profile, t.n, t.wall, t.err = e.sliced(ctx, file, b, kind, n)
		if refusal := new(program.Refusal); !errors.As(t.err, &refusal) && !errors.Is(t.err, program.ErrUnsupported) {
			if t.err == nil {
				t.err = writeProfile(file, t.profile)
			}
			return t
		}
		t.n = n
	}
	t.profile, t.wall, t.err = e.whole(file, b, kind, n)
	if t.err != nil || kind == CPU {
		return t
	}
	// Events are few enough to see those of the preparation. With twice as many
	// operations they are the same, so the difference has those of n operations
	// only. Of CPU time it would only have more noise.
	var second *profile.Profile
	if second, t.wall, t.err = e.whole(file, b, kind, 2*n); t.err != nil {
		return t
	}
	if t.profile, t.err = minus(second, t.profile); t.err != nil {
		return t
	}
	t.err = writeProfile(file, t.profile)
	return t
}

// timeout is how long a process may take for n operations.
func (e *explainer) timeout(b *Bench, kind Kind, n int) time.Duration {
	expected := time.Duration(b.Ns * float64(n))
	if kind != CPU {
		expected *= slowdown
	}
	return e.opts.Timeout + 2*expected
}

// sliced takes a profile of one long slice of a process that is driven, so that
// it has none of the preparation. It returns how many operations that had: whole
// pieces of the work.
func (e *explainer) sliced(ctx context.Context, file string, b *Bench, kind Kind, n int) (prof *profile.Profile, ops int, wall float64, err error) {
	p, err := testbin.Drive(ctx, b.config(e.opts, e.timeout(b, kind, n), false))
	if err != nil {
		return nil, 0, 0, err
	}
	defer p.Close()
	unit := p.Hello().Unit
	n = (n + unit - 1) / unit * unit
	if _, err := p.Run(max(n/20/unit, 1) * unit); err != nil { // to warm up
		return nil, 0, 0, err
	}
	if err := p.Reset(); err != nil {
		return nil, 0, 0, err
	}
	if err := p.StartProfile(string(kind), file); err != nil {
		return nil, 0, 0, err
	}
	s, err := p.Run(n)
	if err != nil {
		return nil, 0, 0, err
	}
	if err := p.EndProfile(); err != nil {
		return nil, 0, 0, err
	}
	if _, err := p.Finish(); err != nil { // a wrong result has no explanation either
		return nil, 0, 0, err
	}
	if prof, err = readProfile(file); err == nil && kind != CPU {
		// Events count from the beginning of the process.
		before, berr := readProfile(file + ".before")
		if berr == nil {
			prof, berr = minus(prof, before)
		}
		err = errors.Join(berr, os.Remove(file+".before"))
	}
	return prof, s.N, float64(s.Elapsed) / float64(s.N), err
}

// config is how the benchmark is driven.
func (b *Bench) config(o Options, timeout time.Duration, counters bool) program.Config {
	return program.Config{
		Path: b.Binary.Path, Dir: b.Binary.Dir, Benchmark: b.Step.Case.Name, CPU: b.Step.CPU,
		Counters: counters, Timeout: timeout, Kill: o.Kill,
	}
}

// whole takes a profile of a whole process.
func (e *explainer) whole(file string, b *Bench, kind Kind, n int) (*profile.Profile, float64, error) {
	var flags []string
	switch kind {
	case CPU:
		flags = []string{"-test.cpuprofile=" + file}
	case Alloc:
		// Every allocation: what one operation allocates is then exact, where
		// the default, one sample for half a megabyte, sees some hundred.
		flags = []string{"-test.memprofile=" + file, "-test.memprofilerate=1"}
	case Mutex:
		flags = []string{"-test.mutexprofile=" + file, "-test.mutexprofilefraction=1"}
	case Block:
		flags = []string{"-test.blockprofile=" + file, "-test.blockprofilerate=1"}
	}
	line, err := b.Binary.RunFixed(b.Step, n, flags, e.timeout(b, kind, n), e.opts.Kill)
	if err != nil {
		return nil, 0, err
	}
	wall, err := nsPerOp(line)
	if err != nil {
		return nil, 0, err
	}
	p, err := readProfile(file)
	return p, wall, err
}

// minus returns the events of p that q does not have.
func minus(p, q *profile.Profile) (*profile.Profile, error) {
	if len(q.SampleType) == 0 || len(q.Sample) == 0 {
		return p, nil
	}
	q.Scale(-1)
	return profile.Merge([]*profile.Profile{p, q})
}

func writeProfile(file string, p *profile.Profile) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(p.Write(f), f.Close())
}

// nsPerOp returns the time in a benchmark line.
func nsPerOp(line string) (float64, error) {
	r := benchfmt.NewReader(strings.NewReader(line+"\n"), "")
	if r.Scan() {
		if res, ok := r.Result().(*benchfmt.Result); ok {
			for _, v := range res.Values {
				if v.Unit == timeUnit || v.OrigUnit == timeUnit {
					if v.OrigUnit == timeUnit {
						return v.OrigValue, nil
					}
					return v.Value, nil
				}
			}
		}
	}
	return 0, fmt.Errorf("there is no time in %q", line)
}

// name returns a file name for text, which stands for what, below folder: names
// that would be the same for different things get a number.
func (e *explainer) name(folder, text, what string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("=_-+.,", r) {
			return r
		}
		return '-'
	}, text)
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
