package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// giveUpAfter is how many times in a row a case may fail before a run stops
// trying it: one failure may be an accident.
const giveUpAfter = 2

// grace is how long a row that takes turns may go on after an interrupt, so that
// it is complete; after that it is given up, and measured again when the run is
// resumed.
const grace = 5 * time.Second

// Progress is told what a run does, by one goroutine.
type Progress interface {
	// Start is called once. total is the number of steps of the whole plan; f follows
	// the run.
	Start(total int, f *Forecast)
	// Step is called before a step that has a process of its own.
	Step(block int, s record.Step)
	// Turns is called before the steps of g take turns.
	Turns(block int, g record.Group)
	// Done is called after each step, or at the end of those that take turns. hole is nil,
	// and output empty, if it gave a result.
	Done(block int, s record.Step, hole *record.Hole, output string)
	// Note is called with what a person may want to know, in one line.
	Note(text string)
	// Block is called at the end of each block.
	Block(n, of int)
	// Look is called after each interim look but the last: stopped are the groups that
	// need no more blocks, which saves so many steps.
	Look(block int, stopped []record.Group, saved int)
}

// Quiet is a [Progress] that says nothing.
type Quiet struct{}

func (Quiet) Start(int, *Forecast)                        {}
func (Quiet) Step(int, record.Step)                       {}
func (Quiet) Turns(int, record.Group)                     {}
func (Quiet) Done(int, record.Step, *record.Hole, string) {}
func (Quiet) Note(string)                                 {}
func (Quiet) Block(int, int)                              {}
func (Quiet) Look(int, []record.Group, int)               {}

// ErrInterrupted is the error of a run that was asked to stop. What it measured
// is in the results, and the run can be resumed.
var ErrInterrupted = errors.New("interrupted")

// A Subject is what the cases of a plan are run on: test binaries, a program in
// another language, a board.
type Subject interface {
	// Measure measures a step alone, in a fresh process or after a reset. A step that
	// fails is a record with a hole. Its error ends the run: program.ErrKilled or
	// ErrInterrupted if it was given up on request, any other if nothing more can be
	// measured; nothing is recorded of the step then.
	Measure(ctx context.Context, block int, s record.Step) (record.Record, error)
	// Start starts a step that is to take turns, with env added to its environment.
	// Its errors are those of program.Start.
	Start(block int, s record.Step, env []string) (Driver, error)
}

// A Preparer is a subject with work to do before a block, such as linking what units need. Nothing is
// measured meanwhile.
type Preparer interface {
	Prepare(ctx context.Context, block int, units []record.Unit) error
}

// A MadeUp subject runs on no machine, and says itself how fast that is: "" is not known.
// Else that is measured before each block.
type MadeUp interface {
	Subject
	Anchor() string
}

// Single returns the record of a step that was measured alone: lines are its benchmark
// lines, units what its process said of units, and err is why there are none. It is for
// Subject.Measure, whose error is the second result.
func Single(s record.Step, block int, lines string, units []string, err error) (record.Record, error) {
	switch {
	case errors.Is(err, program.ErrKilled):
		return record.Record{}, err
	case err != nil:
		return record.Record{Step: s, Hole: record.NewHole(s, block, err), Output: program.Output(err)}, nil
	}
	return record.Record{Step: s, Printed: lines, Units: units}, nil
}

// Run carries out what is left of plan, block by block. from is what an earlier
// run has done of it, nil for a new run. The caller closes the store. look returns
// the groups that need no blocks after those in the store; it is called after the
// blocks in Plan.Looks.
//
// When ctx ends, the process that runs is finished, or the row that takes turns
// if that is soon; or killed as soon as the subject's context ends. Then Run returns
// ErrInterrupted. A step that fails is a hole in the results and no error.
func Run(ctx context.Context, plan *record.Plan, subject Subject, s *record.Store, from *record.Interrupted, p Progress, look func() ([]record.Group, error)) error {
	anchor := Anchor
	if m, ok := subject.(MadeUp); ok {
		anchor = m.Anchor
	}
	return carryOut(ctx, plan, s, from, p, deps{
		Subject: subject,
		look:    look,
		now:     time.Now, sleep: time.Sleep, anchor: anchor,
		rss: residentSize, room: memoryForTurns(ctx, os.DirFS("/")),
	})
}

// deps are the run's side effects; tests replace them.
type deps struct {
	Subject
	// look returns the groups that need no blocks after those in the results.
	look func() ([]record.Group, error)
	now  func() time.Time
	// sleep waits while a process is watched.
	sleep func(d time.Duration)
	// anchor returns how fast the machine is; nil asks for nothing.
	anchor func() string
	// rss returns how many bytes a process holds in memory, 0 if the system does
	// not tell; all that live at a time may hold room, 0 meaning any amount.
	rss  func(pid int) uint64
	room uint64
}

// A runner carries out a plan.
type runner struct {
	plan  *record.Plan
	store *record.Store
	p     Progress
	deps
	forecast *Forecast

	failed  map[record.StepKey]int // how many times in a row
	watched map[record.StepKey]bool

	// By Group.Index: why a group cannot take turns, how long its slices have to be, and
	// after which block it needed no more.
	alone   map[int]string
	calls   map[int]calls
	stopped map[int]int

	ownFigures map[int]bool       // benchmarks of the group report metrics of a slice as a whole
	firstUses  map[int][]firstUse // of each block of this run so far

	toldHardware bool // that there are no hardware counters
}

// carryOut is Run with the side effects d.
func carryOut(ctx context.Context, plan *record.Plan, s *record.Store, from *record.Interrupted, p Progress, d deps) error {
	if from == nil {
		from = &record.Interrupted{Given: make(map[record.StepKey]int), Alone: make(map[int]string), Stopped: make(map[int]int)}
	}
	r := &runner{
		plan: plan, store: s, p: p, deps: d,
		failed: from.Given, watched: make(map[record.StepKey]bool),
		alone: from.Alone, calls: knownCalls(plan, from), stopped: from.Stopped,
		ownFigures: make(map[int]bool), firstUses: make(map[int][]firstUse),
	}
	done := from.Done
	r.forecast = NewForecast(plan, from)
	p.Start(plan.Blocks*len(plan.Steps()), r.forecast)
	for block := from.Ended + 1; block <= plan.Blocks; block++ {
		if last := block - 1; slices.Contains(plan.Looks, last) && !slices.Contains(from.Looked, last) {
			if err := r.take(last); err != nil {
				return err
			}
		}
		if len(r.stopped) == len(plan.Groups()) {
			return nil // all is decided
		}
		units := r.order(block, done)
		if before, ok := r.Subject.(Preparer); ok {
			if err := before.Prepare(ctx, block, units); ctx.Err() != nil {
				return errors.Join(ErrInterrupted, s.Sync())
			} else if err != nil {
				return err
			}
		}
		s.Block(block, Load(ctx), plan)
		if r.anchor != nil {
			s.Anchor(r.anchor())
		}
		if err := s.Sync(); err != nil {
			return err
		}
		for _, u := range units {
			if ctx.Err() != nil {
				return errors.Join(ErrInterrupted, s.Sync())
			}
			if err := r.unit(ctx, block, u); endsRow(err) {
				return errors.Join(ErrInterrupted, s.Sync())
			} else if err != nil {
				return err
			}
			if s.Err != nil {
				return s.Sync()
			}
		}
		done = nil
		if err := s.End(block, Load(ctx)); err != nil {
			return err
		}
		p.Block(block, plan.Blocks)
	}
	return nil
}

// endsRow reports whether err is of a run that was asked to stop, and no benchmark's.
func endsRow(err error) bool {
	return errors.Is(err, program.ErrKilled) || errors.Is(err, ErrInterrupted)
}

// order returns the units of block that are left: not done, and not of a group
// that is decided. A group that cannot take turns is a unit a step, in random
// order, but all of its steps directly after one another.
func (r *runner) order(block int, done map[record.StepKey]bool) []record.Unit {
	groupOf := make(map[record.StepKey]int)
	for _, g := range r.plan.Groups() {
		for _, s := range g.Steps {
			groupOf[s.Key()] = g.Index
		}
	}
	var left []record.Unit
	add := func(s record.Step) {
		if !done[s.Key()] && !r.isStopped(groupOf[s.Key()]) {
			left = append(left, record.Unit{Step: s})
		}
	}
	for _, u := range r.plan.Order(block) {
		switch {
		case u.Turns == nil:
			add(u.Step)
		case r.alone[u.Turns.Index] != "":
			for _, s := range r.plan.Shuffled(block, *u.Turns) {
				add(s)
			}
		case !done[u.Turns.Steps[0].Key()] && !r.isStopped(u.Turns.Index):
			// A group is done whole or not at all, but for one that could take
			// turns no more in the middle of a run: that is alone now.
			left = append(left, u)
		}
	}
	return left
}

// isStopped reports whether a group needs no more blocks.
func (r *runner) isStopped(group int) bool {
	_, ok := r.stopped[group]
	return ok
}

// unit measures a unit. Its error is program.ErrKilled, ErrInterrupted, or one of the
// store.
func (r *runner) unit(ctx context.Context, block int, u record.Unit) error {
	if u.Turns == nil {
		return r.single(ctx, block, u.Step)
	}
	g := *u.Turns
	r.p.Turns(block, g)
	began := r.now()
	entries, err := r.takeTurns(ctx, block, g)
	var unfit *unfitError
	switch {
	case errors.As(err, &unfit):
		r.alone[g.Index] = unfit.reason
		r.store.Alone(g, unfit.reason)
		r.p.Note(fmt.Sprintf("%s: %s; each value is from a process of its own", g.Name, unfit.reason))
		for _, s := range r.plan.Shuffled(block, g) {
			if ctx.Err() != nil {
				return ErrInterrupted
			}
			if err := r.single(ctx, block, s); err != nil {
				return err
			}
		}
		return nil
	case err != nil:
		return err
	}
	for _, e := range entries {
		r.learnUnits(e)
	}
	if err := r.store.Turns(block, g, entries, r.plan); err != nil {
		return err
	}
	r.forecast.Took(r.now().Sub(began), g.Steps...)
	for _, e := range entries {
		r.count(e.Step, e.Hole)
		r.p.Done(block, e.Step, e.Hole, e.Output)
	}
	return nil
}

// single measures a step alone. Its error ends the run.
func (r *runner) single(ctx context.Context, block int, step record.Step) error {
	r.p.Step(block, step)
	began := r.now()
	e := record.Record{Step: step}
	if err := r.tried(step); err != nil {
		e.Hole = record.NewHole(step, block, err)
	} else if e, err = r.Measure(ctx, block, step); err != nil {
		return err
	}
	e.Driven = record.ModeProcess
	r.learnUnits(e)
	r.forecast.Took(r.now().Sub(began), step)
	r.count(step, e.Hole)
	r.store.Single(e, r.plan)
	r.p.Done(block, step, e.Hole, e.Output)
	return nil
}

// learnUnits takes in what a step's process said of units, and says of a contradiction which
// holds.
func (r *runner) learnUnits(e record.Record) {
	for _, text := range r.store.LearnUnits(e.Units) {
		r.say(rowOf(e.Step), text)
	}
}

// tried returns an error if a step has failed too often to be tried again.
func (r *runner) tried(s record.Step) error {
	if r.failed[s.Key()] < giveUpAfter {
		return nil
	}
	return &program.Failure{Reason: fmt.Sprintf("not tried any more after it failed %d times in a row", giveUpAfter)}
}

// count counts the failures of a step in a row.
func (r *runner) count(s record.Step, h *record.Hole) {
	if h == nil || h.Skipped {
		r.failed[s.Key()] = 0
	} else {
		r.failed[s.Key()]++
	}
}

// take takes a look after block and stops the groups that need no more.
func (r *runner) take(block int) error {
	groups, err := r.look()
	if err != nil {
		return err
	}
	groups = slices.DeleteFunc(groups, func(g record.Group) bool { return r.isStopped(g.Index) })
	saved := 0
	for _, g := range groups {
		r.stopped[g.Index] = block
		r.forecast.decided(g)
		saved += len(g.Steps) * (r.plan.Blocks - block)
	}
	if err := r.store.Look(block, groups); err != nil {
		return err
	}
	r.p.Look(block, groups, saved)
	return nil
}
