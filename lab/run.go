package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/lab/driven"
)

// giveUpAfter is how many times in a row a case may fail before a run stops
// trying it: one failure may be an accident.
const giveUpAfter = 2

// grace is how long a row that takes turns may go on after an interrupt, so that
// it is complete; after that it is given up, and measured again when the run is
// resumed.
const grace = 5 * time.Second

// Progress is told what a run does. All calls come from one goroutine.
type Progress interface {
	// Start is called once. total is the number of steps of the whole plan, and f
	// knows how many of them are left; it follows the run.
	Start(total int, f *Forecast)
	// Step is called before a step that has a process of its own.
	Step(block int, s Step)
	// Turns is called before the steps of g take turns.
	Turns(block int, g Group)
	// Done is called after each step; hole is nil if it gave a result, and
	// output is then empty. Of steps that take turns it is called at their end.
	Done(block int, s Step, hole *Hole, output string)
	// Note is called with what a person may want to know, in one line.
	Note(text string)
	// Block is called at the end of each block.
	Block(n, of int)
	// Look is called after each look of a sequential plan but the last: stopped
	// are the groups that need no more blocks, and saved is how many steps of the
	// plan that saves.
	Look(block int, stopped []Group, saved int)
}

// ErrInterrupted is the error of a run that was asked to stop. What it measured
// is in the results, and the run can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Run carries out what is left of plan, block by block. from is what an earlier
// run has done of it, nil for a new run. The caller closes the store.
//
// When ctx ends, the process that runs is finished, or the row that takes turns
// if that is soon; or killed as soon as kill is closed. Then Run returns
// ErrInterrupted. A subject that fails is a hole in the results and no error.
func Run(ctx context.Context, plan *Plan, subjects []Subject, s *Store, from *Interrupted, p Progress, kill <-chan struct{}) error {
	byID := make(map[string]Subject)
	for _, sub := range subjects {
		byID[sub.ID()] = sub
	}
	of := func(step Step) Subject {
		if sub, ok := byID[subjectID(step.Case.Pkg, step.Case.Side)]; ok {
			return sub
		}
		return byID[step.Case.Pkg] // several sides are one build
	}
	return carryOut(ctx, plan, s, from, p, hands{
		process: func(block int, step Step) (string, error) {
			return measure(plan, of(step).in(plan.Layout(block)), step, kill)
		},
		start: func(block int, step Step, env []string) (driver, error) {
			return startDriven(context.WithoutCancel(ctx), plan, of(step).in(plan.Layout(block)), step, env, kill)
		},
		look: func() ([]Group, error) { return decided(plan, s.Path) },
		now:  time.Now, sleep: time.Sleep,
		rss:  residentSize,
		room: memoryForTurns(ctx),
	})
}

// hands are what a run does its work with; tests have others.
type hands struct {
	// process measures a step in a process of its own: it returns the step's
	// benchmark line, or errKilled, or why there is none.
	process func(block int, s Step) (string, error)
	// start starts a step that is to take turns. Its errors are those of
	// driven.Start.
	start func(block int, s Step, env []string) (driver, error)
	// look returns the groups that need no blocks after those in the results.
	look func() ([]Group, error)
	now  func() time.Time
	// sleep waits while a process is watched.
	sleep func(d time.Duration)
	// rss returns how many bytes a process holds in memory, 0 if the system does
	// not tell; all that live at a time may hold room, 0 meaning any amount.
	rss  func(pid int) uint64
	room uint64
}

// A run is the carrying out of a plan.
type run struct {
	plan  *Plan
	store *Store
	p     Progress
	hands

	forecast *Forecast

	failed map[StepKey]int // how many times in a row
	// alone has, for the groups that cannot take turns, why.
	alone map[int]string // by Group.Index
	// calls has what is known of calls of benchmark functions, and watched which
	// steps were watched while they wait.
	calls   map[int]calls // by Group.Index
	watched map[StepKey]bool
	// toldHardware is set when it has been said that there are no hardware counters.
	toldHardware bool
	// stopped are the groups that need no more blocks.
	stopped map[int]int // by Group.Index, after which block
}

// carryOut is Run with other hands.
func carryOut(ctx context.Context, plan *Plan, s *Store, from *Interrupted, p Progress, h hands) error {
	r := &run{
		plan: plan, store: s, p: p, hands: h,
		failed: make(map[StepKey]int), alone: make(map[int]string), stopped: make(map[int]int),
		calls: make(map[int]calls), watched: make(map[StepKey]bool),
	}
	ended := 0
	var done map[StepKey]bool
	var looked []int
	if from != nil {
		ended, done, looked = from.Ended, from.Done, from.Looked
		r.failed, r.alone, r.stopped = from.Given, from.Alone, from.Stopped
	}
	r.forecast = NewForecast(plan, from)
	p.Start(plan.Blocks*len(plan.Steps()), r.forecast)
	for block := ended + 1; block <= plan.Blocks; block++ {
		if last := block - 1; slices.Contains(plan.Looks, last) && !slices.Contains(looked, last) {
			if err := r.take(last); err != nil {
				return err
			}
		}
		if len(r.stopped) == len(plan.Groups()) {
			return nil // all is decided
		}
		s.Block(block, Load(ctx), plan)
		for _, u := range r.order(block, done) {
			if ctx.Err() != nil {
				return errors.Join(ErrInterrupted, s.sync())
			}
			err := r.unit(ctx, block, u)
			if errors.Is(err, errKilled) || errors.Is(err, ErrInterrupted) {
				return errors.Join(ErrInterrupted, s.sync())
			}
			if err != nil {
				return err
			}
			if s.err != nil {
				return s.sync()
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

// order returns the units of block that are left: not done, and not of a group
// that is decided. A group that cannot take turns is a unit a step, in random
// order, but all of its steps directly after one another.
func (r *run) order(block int, done map[StepKey]bool) []Unit {
	groupOf := make(map[StepKey]int)
	for _, g := range r.plan.Groups() {
		for _, s := range g.Steps {
			groupOf[s.Key()] = g.Index
		}
	}
	var left []Unit
	add := func(s Step) {
		if !done[s.Key()] && !r.isStopped(groupOf[s.Key()]) {
			left = append(left, Unit{Step: s})
		}
	}
	for _, u := range r.plan.Order(block) {
		switch {
		case u.Turns == nil:
			add(u.Step)
		case r.alone[u.Turns.Index] != "":
			for _, s := range r.plan.shuffled(block, *u.Turns) {
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
func (r *run) isStopped(group int) bool {
	_, ok := r.stopped[group]
	return ok
}

// unit measures a unit. Its error is errKilled, ErrInterrupted, or one of the
// store.
func (r *run) unit(ctx context.Context, block int, u Unit) error {
	if u.Turns == nil {
		return r.single(block, u.Step)
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
		for _, s := range r.plan.shuffled(block, g) {
			if ctx.Err() != nil {
				return ErrInterrupted
			}
			if err := r.single(block, s); err != nil {
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
		r.count(e.step, e.hole)
		r.p.Done(block, e.step, e.hole, e.output)
	}
	return nil
}

// single measures a step in a process of its own.
func (r *run) single(block int, step Step) error {
	r.p.Step(block, step)
	began := r.now()
	text := ""
	err := r.tried(step)
	if err == nil {
		text, err = r.process(block, step)
	}
	if errors.Is(err, errKilled) {
		return err
	}
	e := entry{step: step, driven: ModeProcess}
	e.units, e.line = splitUnits(text)
	r.learnUnits(e)
	if err != nil {
		e.hole, e.output = r.hole(block, step, err), FailureOutput(err)
	}
	r.forecast.Took(r.now().Sub(began), step)
	r.count(step, e.hole)
	r.store.Single(e, r.plan)
	r.p.Done(block, step, e.hole, e.output)
	return nil
}

// learnUnits takes in what a step's process said of units, and says of a contradiction which
// holds.
func (r *run) learnUnits(e entry) {
	for _, text := range r.store.units.learn(e.units...) {
		r.say(rowOf(e.step), text)
	}
}

// tried returns an error if a step has failed too often to be tried again.
func (r *run) tried(s Step) error {
	if r.failed[s.Key()] < giveUpAfter {
		return nil
	}
	return &failure{reason: fmt.Sprintf("not tried any more after it failed %d times in a row", giveUpAfter)}
}

// hole returns the hole that a step leaves in block because of err.
func (r *run) hole(block int, s Step, err error) *Hole {
	return &Hole{Case: s.FullName(), Block: strconv.Itoa(block), Reason: err.Error()}
}

// count counts the failures of a step in a row.
func (r *run) count(s Step, h *Hole) {
	if h == nil {
		r.failed[s.Key()] = 0
	} else {
		r.failed[s.Key()]++
	}
}

// take takes a look after block and stops the groups that need no more.
func (r *run) take(block int) error {
	groups, err := r.look()
	if err != nil {
		return err
	}
	groups = slices.DeleteFunc(groups, func(g Group) bool { return r.isStopped(g.Index) })
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

// measure runs one step and returns the Unit lines that it printed, and its benchmark
// line, or as many lines as the plan has counts.
func measure(plan *Plan, s Subject, step Step, kill <-chan struct{}) (string, error) {
	if step.Case.Slow != 0 {
		return "", &failure{reason: "only a benchmark that is driven can be made slower"}
	}
	text, err := invocation{
		subject: s,
		args: []string{
			"-test.run=^$",
			"-test.bench=" + step.Case.pattern(),
			"-test.skip=" + step.Case.beneath(),
			"-test.benchtime=" + plan.Time,
			"-test.cpu=" + strconv.Itoa(step.CPU),
			"-test.count=" + strconv.Itoa(max(1, plan.Count)),
			"-test.benchmem=" + strconv.FormatBool(plan.Benchmem),
			"-test.timeout=0", // our limit is outside, and kills; package testing's does not hold for benchmarks
		},
		timeout: plan.Timeout,
		kill:    kill,
	}.bench()
	if err != nil {
		return "", err
	}
	lines, err := resultLines(text, step.FullName(), max(1, plan.Count))
	if err != nil {
		return "", err
	}
	for _, unit := range slices.Backward(driven.UnitLines(text)) {
		lines = unitMark + unit + "\n" + lines
	}
	return lines, nil
}

// noOperations is why a result of no operations is none.
const noOperations = "panicked, and package testing ended the process before that was said"

// bench is run for benchmarks. If one panics, its deferred calls run before the
// panic is told, and one of package testing's lets that go on: now and then, once in
// thirty times where there are two processors, it prints a result of no operations
// and ends the process with success. Then the process is run again: it is to say
// why it panics.
func (v invocation) bench() (text string, err error) {
	for range 5 {
		text, err = v.run()
		if err != nil || !hasNoOperations(text) {
			break
		}
	}
	return text, err
}

// hasNoOperations reports whether there is a result of no operations in what a
// subject printed.
func hasNoOperations(text string) bool {
	for line := range strings.Lines(text) {
		if res, ok := parseResult(strings.TrimRight(line, "\r\n")); ok && res.Iters == 0 {
			return true
		}
	}
	return false
}

// resultLines finds the count benchmark lines of name in what a subject printed.
func resultLines(text, name string, count int) (string, error) {
	why := "printed no result: it skipped itself, or ended the process"
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if res, ok := parseResult(line); ok && "Benchmark"+string(res.Name) == name {
			if res.Iters == 0 {
				why = noOperations
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
			why = fmt.Sprintf("printed %s in its result line, which cannot be read any more; let it print on standard error", shortened(said))
		}
	}
	if len(found) > 0 {
		why = fmt.Sprintf("printed %d of %d results: it ended the process", len(found), count)
	}
	return "", &failure{reason: why, output: child.Excerpt(text)}
}

// shortened quotes s, or the beginning of it.
func shortened(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return strconv.Quote(string(r[:most]) + "…")
	}
	return strconv.Quote(s)
}
