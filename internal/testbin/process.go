package testbin

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
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
	timeout time.Duration
	// sinceOutput lets the timeout begin anew whenever the process prints.
	sinceOutput bool
}

// run runs the subject and returns what it printed on standard output. A
// subject that crashes, fails or takes too long gives a *program.Failure, and what it
// printed; one that ctx has ended gives its cause. Standard error is apart, so that a log does not tear result lines.
func (v invocation) run(ctx context.Context) (string, error) {
	// Package testing's own limit does not hold for benchmarks; ours kills.
	cmd := exec.Command(v.subject.Path, append([]string{"-test.timeout=0"}, v.args...)...)
	cmd.Dir = v.subject.Dir
	p, err := child.Run(cmd)
	if err != nil {
		return "", &program.Failure{Reason: "does not start: " + err.Error()}
	}
	inTime := v.wait(ctx, p)
	text, said := p.Stdout.String(), p.Printed()
	switch {
	case p.Killed() != nil:
		return text, p.Killed()
	case !inTime:
		what := "not finished"
		if v.sinceOutput {
			what = "nothing printed and not finished"
		}
		return text, program.Hung(fmt.Sprintf("%s after %v", what, v.timeout), said)
	case p.Failed():
		return text, &program.Failure{Reason: child.WhyFailed(said, cmd.ProcessState), Output: child.Excerpt(said)}
	}
	return text, nil
}

// wait waits until the process has ended, or ends it: inTime is false if it took too long.
func (v invocation) wait(ctx context.Context, p *child.Process) (inTime bool) {
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
			for _, b := range []*child.Buffer{&p.Stdout, &p.Stderr} {
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
