package testbin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

const runtimeIsWindows = runtime.GOOS == "windows"

// An invocation is one run of a subject.
type invocation struct {
	subject Binary
	args    []string // see flags
	under   []string // the program that runs it, with arguments; none is the system
	// prepare is called with the command that runs it, and returns what the thread is to call that
	// has started that; nil is nothing.
	prepare func(*exec.Cmd) (started func(pid int) error)
	env     []string // added to the environment
	timeout time.Duration
	// report asks the subject to report, which one without our package testing does not.
	report bool
	// sinceOutput lets the timeout begin anew whenever the process prints or reports.
	sinceOutput bool
}

// An output is what one run of a subject has printed on standard output, and reported.
type output struct {
	text string
	report
}

// run runs the subject and returns what it printed on standard output and reported. A
// subject that crashes, fails or takes too long gives a *program.Failure, and what it
// printed; one that ctx has ended gives its cause. Standard error is apart, so that a log does not tear result lines.
func (v invocation) run(ctx context.Context) (out output, err error) {
	// Package testing's own limit does not hold for benchmarks; ours kills.
	line := slices.Concat(v.under, []string{v.subject.Path, "-test.timeout=0"}, v.args)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = v.subject.Dir
	cmd.Env = slices.Concat(os.Environ(), v.subject.Env, v.env)
	events := new(child.Buffer)
	if v.report {
		pipe, err := child.NewPipe(events)
		if err != nil {
			return out, err
		}
		cmd.ExtraFiles = []*os.File{pipe.Write}
		cmd.Env = append(cmd.Env, program.Variable+"="+reportWord)
		defer func() {
			pipe.End()
			out.report = readReport(events.String())
		}()
	}
	var started func(pid int) error
	if v.prepare != nil {
		started = v.prepare(cmd)
	}
	p, err := child.RunThen(cmd, started)
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	if err != nil {
		return out, &program.Failure{Reason: "does not start: " + err.Error()}
	}
	inTime := v.wait(ctx, p, events)
	said := p.Printed()
	out.text = p.Stdout.String()
	switch {
	case p.Killed() != nil:
		return out, p.Killed()
	case !inTime:
		what := "not finished"
		if v.sinceOutput {
			what = "nothing printed and not finished"
		}
		return out, program.Hung(fmt.Sprintf("%s after %v", what, v.timeout), said)
	case p.Failed():
		return out, program.Ended(said, cmd.ProcessState)
	}
	return out, nil
}

// wait waits until the process has ended, or ends it: inTime is false if it took too long.
func (v invocation) wait(ctx context.Context, p *child.Process, events *child.Buffer) (inTime bool) {
	start := time.Now()
	limit := time.NewTimer(v.timeout)
	defer limit.Stop()
	for {
		select {
		case <-p.Ended():
			return true
		case <-ctx.Done():
			p.Kill(context.Cause(ctx))
			<-p.Ended()
			return true
		case <-limit.C:
		}
		if v.sinceOutput {
			latest := start
			for _, b := range []*child.Buffer{&p.Stdout, &p.Stderr, events} {
				if t := b.Written(); t.After(latest) {
					latest = t
				}
			}
			if rest := v.timeout - time.Since(latest); rest > 0 {
				limit.Reset(rest)
				continue
			}
		}
		p.EndHung()
		return false
	}
}

// flags are those by which a test binary runs c and nothing else.
func flags(c record.Case, benchtime string, cpu, count int) []string {
	return []string{
		"-test.run=^$",
		"-test.bench=" + c.Pattern(),
		"-test.skip=" + c.Beneath(),
		"-test.benchtime=" + benchtime,
		"-test.cpu=" + strconv.Itoa(cpu),
		"-test.count=" + strconv.Itoa(count),
	}
}
