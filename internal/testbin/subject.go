package testbin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// Binaries are the compiled tests that the cases of a plan are in. They implement
// session.Subject.
type Binaries struct {
	plan *record.Plan
	byID map[string]Binary
	ctx  context.Context // of the processes

	Linking func(linked, of int) // as of Link
}

// NewBinaries returns all as what plan is carried out on. Processes are ended when ctx
// ends: an interrupt that lets a row finish must not end it.
func NewBinaries(ctx context.Context, plan *record.Plan, all []Binary) *Binaries {
	byID := make(map[string]Binary)
	for _, b := range all {
		byID[b.ID()] = b
	}
	return &Binaries{plan: plan, byID: byID, ctx: ctx}
}

// LinkedFirst is how many layouts there are to be before plan begins: those of its blocks up to the
// first look, after which many rows need no more.
func LinkedFirst(plan *record.Plan) int {
	if len(plan.Looks) == 0 {
		return plan.Layouts
	}
	return min(plan.Layouts, plan.Looks[0])
}

// Prepare implements [session.Preparer]: it links the layouts up to the next look of what is still
// measured.
func (b *Binaries) Prepare(ctx context.Context, block int, units []record.Unit) error {
	upTo := b.plan.Layout(block) + 1
	for _, look := range b.plan.Looks {
		if look >= block {
			upTo = max(upTo, min(b.plan.Layouts, look))
			break
		}
	}
	lacking := make(map[int][]Binary) // by how many they have
	seen := make(map[string]bool)
	for _, u := range units {
		steps := []record.Step{u.Step}
		if u.Turns != nil {
			steps = u.Turns.Steps
		}
		for _, s := range steps {
			id := b.id(s)
			if one := b.byID[id]; len(one.Layouts) > 0 && len(one.Layouts) < upTo && !one.Prebuilt() && !seen[id] {
				seen[id] = true
				lacking[len(one.Layouts)] = append(lacking[len(one.Layouts)], one)
			}
		}
	}
	for had, all := range lacking {
		if err := Link(ctx, all, had, upTo-had, b.Linking); err != nil {
			return err
		}
		for _, one := range all {
			one.Layouts = slices.Concat(b.byID[one.ID()].Layouts, one.Layouts)
			b.byID[one.ID()] = one
		}
	}
	return nil
}

// id is that of the binary that a step runs.
func (b *Binaries) id(s record.Step) string {
	id := record.SubjectID(s.Case.Pkg, s.Case.Side)
	if _, ok := b.byID[id]; !ok {
		return s.Case.Pkg // several sides are one build
	}
	return id
}

// of returns the binary that a step of block runs.
func (b *Binaries) of(block int, s record.Step) Binary {
	return b.byID[b.id(s)].in(b.plan.Layout(block))
}

// Measure implements session.Subject.
func (b *Binaries) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	lines, units, err := measure(b.ctx, b.plan, b.of(block, s), s)
	return session.Single(s, block, lines, units, err)
}

// Start implements session.Subject.
func (b *Binaries) Start(block int, s record.Step, env []string) (session.Driver, error) {
	binary := b.of(block, s)
	if binary.Undrivable != nil {
		return nil, binary.Undrivable
	}
	p, err := binary.Drive(b.ctx, program.Config{
		Benchmark: s.Case.Name,
		CPU:       s.CPU,
		Env:       env,
		Slow:      s.Case.Slow,
		Timeout:   b.plan.Timeout,
	})
	if err != nil {
		return nil, err // and no driver, which a nil *Process would be
	}
	return p, nil
}

// Drive is the function of this name for the subject: c has neither Path nor Dir.
func (s Binary) Drive(ctx context.Context, c program.Config) (*program.Process, error) {
	c.Path, c.Dir, c.Env = s.Path, s.Dir, slices.Concat(s.Env, c.Env)
	return Drive(ctx, c)
}

// Drive is [program.Start] for a test binary that was built with the [Overlay]: it has
// it run c.Benchmark and nothing else. c.Args are further flags, such as -test.benchmem.
func Drive(ctx context.Context, c program.Config) (*program.Process, error) {
	c.CPU = max(c.CPU, 1)
	c.Args = append(flags(record.Case{Name: c.Benchmark}, "1x", c.CPU, 1), c.Args...)
	// A benchmark that is measured in package testing's first call of it has not
	// been given the -test.cpu yet.
	c.Env = append(slices.Clone(c.Env), "GOMAXPROCS="+strconv.Itoa(c.CPU))
	p, err := program.Start(ctx, c)
	var f *program.Failure
	if errors.As(err, &f) && f.Kind == failure.Unstarted && slices.Contains(strings.Split(f.Output, "\n"), "PASS") {
		f.Reason = "there is no benchmark of that name"
	}
	return p, err
}

// measure runs one step and returns its benchmark line, or as many lines as the plan
// has counts, and what it printed of units.
func measure(ctx context.Context, plan *record.Plan, s Binary, step record.Step) (lines string, units []string, err error) {
	if step.Case.Slow != 0 {
		return "", nil, &program.Failure{Reason: "only a benchmark that is driven can be made slower"}
	}
	count := max(1, plan.Count)
	out, err := invocation{
		subject: s,
		args:    append(flags(step.Case, plan.Time, step.CPU, count), "-test.benchmem="+strconv.FormatBool(plan.Benchmem)),
		timeout: plan.Timeout,
		report:  s.Undrivable == nil,
	}.bench(ctx)
	if err != nil {
		return "", nil, err
	}
	lines, err = out.resultsOf(step, count)
	return lines, program.UnitLines(out.text), err
}

// RunFixed runs one step's benchmark for n operations in a process of its own and
// returns its benchmark line. more are further flags of the test binary, such as
// those that write profiles. A process that fails, or takes longer than timeout,
// gives an error that says why, with the output that [program.Output] returns, or it is what
// has ended ctx.
func (s Binary) RunFixed(ctx context.Context, step record.Step, n int, more []string, timeout time.Duration) (string, error) {
	out, err := invocation{
		subject: s,
		args:    append(flags(step.Case, strconv.Itoa(n)+"x", step.CPU, 1), more...),
		timeout: timeout,
		report:  s.Undrivable == nil,
	}.run(ctx)
	if err != nil {
		return "", err
	}
	return out.resultsOf(step, 1)
}

// bench is run for benchmarks. If one panics, its deferred calls run before the
// panic is told, and one of package testing's lets that go on: now and then, once in
// thirty times where there are two processors, it prints a result of no operations
// and ends the process with success. Then the process is run again: it is to say
// why it panics.
func (v invocation) bench(ctx context.Context) (out output, err error) {
	for range 5 {
		out, err = v.run(ctx)
		if err != nil || !out.hasNoOperations() {
			break
		}
	}
	return out, err
}

// hasNoOperations reports whether there is a result of no operations.
func (o *output) hasNoOperations() bool {
	if o.spoke {
		return slices.ContainsFunc(o.results, func(r result) bool { return r.n == 0 })
	}
	for line := range strings.Lines(o.text) {
		if res, ok := record.ParseResult(strings.TrimRight(line, "\r\n")); ok && res.Iters == 0 {
			return true
		}
	}
	return false
}

// resultsOf returns the count benchmark lines of a step.
func (o *output) resultsOf(step record.Step, count int) (string, error) {
	if !o.spoke {
		return resultLines(o.text, step.FullName(), count)
	}
	lines := o.lines(step.Case.Name, step.FullName())
	kind, why := failure.Kind(""), "gave no result: it ended the process, or did not run"
	switch {
	case o.hasNoOperations():
		kind, why = failure.Crash, record.NoOperations
	case len(lines) == count:
		return strings.Join(lines, "\n"), nil
	case len(o.absent) > 0 && o.absent[0].Skipped:
		kind, why = failure.Skip, "skipped: "+o.absent[0].Reason
	case len(lines) > 0:
		why = fmt.Sprintf("gave %d of %d results: it ended the process", len(lines), count)
	}
	return "", &program.Failure{Kind: kind, Reason: why, Output: child.Excerpt(o.text)}
}

// resultLines finds the count benchmark lines of name in what a subject printed.
func resultLines(text, name string, count int) (string, error) {
	kind, why := failure.Kind(""), "printed no result: it skipped itself, or ended the process"
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if res, ok := record.ParseResult(line); ok && "Benchmark"+string(res.Name) == name {
			if res.Iters == 0 {
				kind, why = failure.Crash, record.NoOperations
				break
			}
			if found = append(found, line); len(found) == count {
				return strings.Join(found, "\n"), nil
			}
			continue
		}
		// testing prints the name first and the figures when it has them, and
		// begins no line for it.
		before, after, ok := strings.Cut(line, name)
		said := before
		if before == "" {
			said = strings.TrimSpace(after)
		}
		if ok && said != "" && strings.IndexAny(after, " \t") == 0 {
			kind, why = "", fmt.Sprintf("printed %s in its result line, which cannot be read any more; let it print on standard error", record.Shortened(said))
		}
	}
	if len(found) > 0 {
		kind, why = "", fmt.Sprintf("printed %d of %d results: it ended the process", len(found), count)
	}
	return "", &program.Failure{Kind: kind, Reason: why, Output: child.Excerpt(text)}
}
