package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
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
	byPkg := make(map[string]Subject)
	for _, sub := range subjects {
		byPkg[sub.Pkg] = sub
	}
	ended, failed := 0, make(map[int]int)
	var done map[int]bool
	steps := plan.Steps()
	if from != nil {
		ended, done, failed = from.Ended, from.Done, from.Given
	}
	p.Start(plan.Blocks*len(steps), ended*len(steps)+len(done))
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
			line, err := measure(plan, byPkg[step.Case.Pkg], step, failed[step.Index], kill)
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
				s.Hole(h, step.Case.Pkg)
				var f *failure
				text := ""
				if errors.As(err, &f) {
					text = f.output
				}
				p.Done(block, step, &h, text)
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
func measure(plan *Plan, s Subject, step Step, failed int, kill <-chan struct{}) (string, error) {
	if failed >= giveUpAfter {
		return "", &failure{reason: fmt.Sprintf("not tried any more after it failed %d times in a row", giveUpAfter)}
	}
	text, err := invocation{
		subject: s,
		args: []string{
			"-test.run=^$",
			"-test.bench=" + step.Case.pattern(),
			"-test.benchtime=" + plan.Time,
			"-test.cpu=" + strconv.Itoa(step.CPU),
			"-test.count=1",
			"-test.benchmem=" + strconv.FormatBool(plan.Benchmem),
			"-test.timeout=0", // ours is outside, and kills
		},
		timeout: plan.Timeout,
		kill:    kill,
	}.run()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if res, ok := parseResult(line); ok && "Benchmark"+string(res.Name) == step.FullName() {
			return line, nil
		}
	}
	return "", &failure{reason: "printed no result", output: tail(text)}
}

// Estimate returns how long the processes of a plan take together, from how long
// the listing took and what testing does to find the number of iterations: it
// runs a benchmark with growing numbers, which together take once or twice the
// time that is asked for.
func Estimate(plan *Plan) time.Duration {
	one := 60 * time.Millisecond // to start a process and to prepare the work
	if d, err := time.ParseDuration(plan.Time); err == nil {
		one += d * 7 / 4
	}
	return one * time.Duration(plan.Blocks*len(plan.Cases)*len(plan.CPU))
}
