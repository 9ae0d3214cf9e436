package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/lab/internal/child"
)

// giveUpAfter is how many times in a row a case may fail before a run stops
// trying it: one failure may be an accident.
const giveUpAfter = 2

// Progress is told what a run does. All calls come from one goroutine.
type Progress interface {
	// Start is called once. total is the number of processes of the whole plan,
	// done how many of them an earlier run has measured.
	Start(total, done int)
	// Step is called before each process.
	Step(block int, s Step)
	// Done is called after each process; hole is nil if it gave a result, and
	// output is then empty.
	Done(block int, s Step, hole *Hole, output string)
	// Block is called at the end of each block.
	Block(n, of int)
}

// ErrInterrupted is the error of a run that was asked to stop. What it measured
// is in the results, and the run can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Run carries out what is left of plan: block by block, each step in a process of
// its own. from is what an earlier run has done of it, nil for a new run. The
// caller closes the store.
//
// When ctx ends, the process that runs is finished, or killed as soon as kill is
// closed, and Run returns ErrInterrupted. A subject that fails is a hole in the
// results and no error.
func Run(ctx context.Context, plan *Plan, subjects []Subject, s *Store, from *Interrupted, p Progress, kill <-chan struct{}) error {
	byID := make(map[string]Subject)
	for _, sub := range subjects {
		byID[sub.ID()] = sub
	}
	return carryOut(ctx, plan, s, from, p, func(step Step) (string, error) {
		return measure(plan, byID[subjectID(step.Case.Pkg, step.Case.Side)], step, kill)
	})
}

// carryOut is Run with a function that measures a step: it returns the step's
// benchmark line, or errKilled, or why there is none.
func carryOut(ctx context.Context, plan *Plan, s *Store, from *Interrupted, p Progress, measure func(Step) (string, error)) error {
	ended, failed := 0, make(map[int]int)
	var done map[int]bool
	if from != nil {
		ended, done, failed = from.Ended, from.Done, from.Given
	}
	steps := len(plan.Steps())
	p.Start(plan.Blocks*steps, ended*steps+len(done))
	for block := ended + 1; block <= plan.Blocks; block++ {
		s.Block(block, Load(ctx))
		for _, step := range plan.Order(block) {
			if done[step.Index] {
				continue
			}
			if ctx.Err() != nil {
				return errors.Join(ErrInterrupted, s.sync())
			}
			p.Step(block, step)
			var line string
			var err error = &failure{reason: fmt.Sprintf("not tried any more after it failed %d times in a row", giveUpAfter)}
			if failed[step.Index] < giveUpAfter {
				line, err = measure(step)
			}
			if errors.Is(err, errKilled) {
				return errors.Join(ErrInterrupted, s.sync())
			}
			if err == nil {
				failed[step.Index] = 0
				s.Result(step, line)
				p.Done(block, step, nil, "")
			} else {
				failed[step.Index]++
				h := Hole{Case: step.FullName(), Block: strconv.Itoa(block), Reason: err.Error()}
				s.Missing(step, h)
				p.Done(block, step, &h, FailureOutput(err))
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

// measure runs one step and returns its benchmark line.
func measure(plan *Plan, s Subject, step Step, kill <-chan struct{}) (string, error) {
	text, err := invocation{
		subject: s,
		args: []string{
			"-test.run=^$",
			"-test.bench=" + step.Case.pattern(),
			"-test.skip=" + step.Case.beneath(),
			"-test.benchtime=" + plan.Time,
			"-test.cpu=" + strconv.Itoa(step.CPU),
			"-test.count=1",
			"-test.benchmem=" + strconv.FormatBool(plan.Benchmem),
			// Our limit is outside, and kills. This one ends what hangs after
			// the lab itself was killed.
			"-test.timeout=" + (plan.Timeout + time.Minute).String(),
		},
		timeout: plan.Timeout,
		kill:    kill,
	}.run()
	if err != nil {
		return "", err
	}
	return resultLine(text, step.FullName())
}

// resultLine finds the benchmark line of name in what a subject printed.
func resultLine(text, name string) (string, error) {
	why := "printed no result: it skipped itself, or ended the process"
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if res, ok := parseResult(line); ok && "Benchmark"+string(res.Name) == name {
			return line, nil
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

// Estimate returns about how long the processes of a plan take that are not done.
// Beside the time that is asked for, testing needs some to find the number of
// iterations: it runs a benchmark with growing numbers, which together take once
// or twice that time. A plan that gives a number of iterations says nothing of
// how long they take.
func Estimate(plan *Plan, done int) time.Duration {
	one := 60 * time.Millisecond // to start a process and to prepare the work
	if d, err := time.ParseDuration(plan.Time); err == nil {
		one += d * 7 / 4
	}
	return one * time.Duration(plan.Blocks*len(plan.Cases)*len(plan.CPU)-done)
}
