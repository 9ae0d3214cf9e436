package subject

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// Programs are the programs that the cases of a plan are in. They implement
// session.Subject.
type Programs struct {
	plan   *record.Plan
	byCase map[record.Case]Program // without side and slow-down
	others session.Subject
	ctx    context.Context // of the processes
}

// New returns all as what plan is carried out on, and others for cases that none of them
// has. Processes are ended when ctx ends: an interrupt that lets a row finish must not end it.
func New(ctx context.Context, plan *record.Plan, all []Program, others session.Subject) *Programs {
	byCase := make(map[record.Case]Program)
	for _, p := range all {
		for _, c := range p.Cases {
			byCase[c] = p
		}
	}
	return &Programs{plan, byCase, others, ctx}
}

// Hashes returns the hash of each program by its name, for Plan.Subjects.
func Hashes(all []Program) map[string]string {
	hashes := make(map[string]string)
	for _, p := range all {
		hashes[p.Name] = p.Hash
	}
	return hashes
}

// of returns the program that has a case.
func (p *Programs) of(c record.Case) (prog Program, ok bool) {
	prog, ok = p.byCase[record.Case{Pkg: c.Pkg, Name: c.Name}]
	return prog, ok
}

// Start implements session.Subject.
func (p *Programs) Start(block int, s record.Step, env []string) (session.Driver, error) {
	prog, ok := p.of(s.Case)
	if !ok {
		return p.others.Start(block, s, env)
	}
	d, err := p.start(prog, s, env)
	if err != nil {
		return nil, err // and no driver, which a nil *Process would be
	}
	return d, nil
}

func (p *Programs) start(prog Program, s record.Step, env []string) (*program.Process, error) {
	return program.Start(p.ctx, program.Config{
		Path:      prog.Path,
		Dir:       prog.Dir,
		Benchmark: s.Case.Name,
		CPU:       s.CPU,
		Env:       env,
		Units:     prog.Units,
		Slow:      s.Case.Slow,
		Timeout:   p.plan.Timeout,
	})
}

// Measure implements session.Subject: what is compared with nothing, or takes no turns, is
// a slice of Plan.Time in a process that has been warmed up by shorter ones, as package
// testing does it. If the plan has several counts, each is a process of its own.
func (p *Programs) Measure(ctx context.Context, block int, s record.Step) (record.Record, error) {
	prog, ok := p.of(s.Case)
	if !ok {
		return p.others.Measure(ctx, block, s)
	}
	lines, units, err := p.alone(prog, s)
	return session.Single(s, block, lines, units, err)
}

// alone measures a step, and returns its benchmark lines and what is known of its units.
func (p *Programs) alone(prog Program, s record.Step) (lines string, units []string, err error) {
	all := make([]string, max(1, p.plan.Count))
	for i := range all {
		if all[i], units, err = p.once(prog, s); err != nil {
			return "", nil, err
		}
	}
	return strings.Join(all, "\n"), units, nil
}

// once is alone in a process, for one benchmark line.
func (p *Programs) once(prog Program, s record.Step) (line string, units []string, err error) {
	d, err := p.start(prog, s, nil)
	if err != nil {
		return "", nil, err
	}
	defer d.Close()
	n, err := operations(d, p.plan.Time)
	if err == nil {
		err = d.Reset()
	}
	if err != nil {
		return "", nil, err
	}
	slice, err := d.Run(n)
	if err != nil {
		return "", nil, err
	}
	r, err := d.Finish()
	if err != nil {
		return "", nil, err
	}
	line = s.FullName() + "\t" + r.Line
	if p.plan.Benchmem && !slice.NoMemory {
		line += fmt.Sprintf("\t%d B/op\t%d allocs/op", slice.Bytes/uint64(n), slice.Allocs/uint64(n))
	}
	if _, ok := record.ParseResult(line); !ok {
		return "", nil, &program.Failure{Reason: fmt.Sprintf("ended with %q, which is no result", r.Line)}
	}
	return line, r.Units, nil
}

// mostOperations bounds a slice, as package testing does.
const mostOperations = 1e9

// A runner is a *program.Process, or a test's.
type runner interface {
	Hello() program.Hello
	Run(n int) (program.Slice, error)
}

// operations returns how many operations of d take benchtime, which is a duration, or a
// number of operations such as "100x": a multiple of the unit. On the way d is warmed up.
func operations(d runner, benchtime string) (int, error) {
	unit := max(1, d.Hello().Unit)
	if text, ok := strings.CutSuffix(benchtime, "x"); ok {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, err
		}
		_, err = d.Run(unit)
		return multiple(float64(n), unit), err
	}
	want, err := time.ParseDuration(benchtime)
	if err != nil {
		return 0, err
	}
	for n := unit; ; {
		s, err := d.Run(n)
		if err != nil {
			return 0, err
		}
		factor := float64(want) / float64(max(s.Elapsed, 1))
		if s.Elapsed >= want/2 || n >= mostOperations {
			return multiple(float64(n)*factor, unit), nil
		}
		// The first operations are slower than the others.
		n = max(multiple(float64(n)*min(factor, 100), unit), n+unit)
	}
}

// multiple returns the least multiple of unit that is at least n.
func multiple(n float64, unit int) int {
	return unit * max(1, int(math.Ceil(min(n, mostOperations)/float64(unit))))
}
