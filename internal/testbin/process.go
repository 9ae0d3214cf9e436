package testbin

import (
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/program"
)

const runtimeIsWindows = runtime.GOOS == "windows"

// An invocation is one run of a subject.
type invocation struct {
	subject Binary
	args    []string
	timeout time.Duration
	// sinceOutput lets the timeout begin anew whenever the process prints.
	sinceOutput bool
	// kill ends the process at once; nil means never.
	kill <-chan struct{}
}

// run runs the subject and returns what it printed on standard output. A
// subject that crashes, fails or takes too long gives a *program.Failure, and what it
// printed. Standard error is apart, so that a log does not tear result lines.
func (v invocation) run() (string, error) {
	cmd := exec.Command(v.subject.Path, v.args...)
	cmd.Dir = v.subject.Dir
	p, err := child.Run(cmd)
	if err != nil {
		return "", &program.Failure{Reason: "does not start: " + err.Error()}
	}
	inTime := v.wait(p)
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
func (v invocation) wait(p *child.Process) (inTime bool) {
	start := time.Now()
	limit := time.NewTimer(v.timeout)
	defer limit.Stop()
	for {
		select {
		case <-p.Ended():
			return true
		case <-v.kill:
			p.Kill(program.ErrKilled)
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
