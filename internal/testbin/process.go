package testbin

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
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
//
// The process has a process group of its own: an interrupt from the terminal is
// for the lab, which finishes the process it is at. Whatever the process has
// started and left behind ends with it, so that it cannot disturb what is
// measured next.
func (v invocation) run() (string, error) {
	cmd := exec.Command(v.subject.Path, v.args...)
	cmd.Dir = v.subject.Dir
	stdout, stderr := new(child.Buffer), new(child.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
	if err := child.Start(cmd); err != nil {
		return "", &program.Failure{Reason: "does not start: " + err.Error()}
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	ended, err := v.wait(cmd, done, stdout, stderr)
	child.KillGroup(cmd) // those that are left of it
	text := stdout.String()
	said := text
	if said != "" && !strings.HasSuffix(said, "\n") {
		said += "\n" // the runtime's last words begin a line
	}
	said += stderr.String()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, program.ErrKilled):
		return text, err
	case !ended:
		what := "not finished"
		if v.sinceOutput {
			what = "nothing printed and not finished"
		}
		return text, &program.Failure{
			Reason: fmt.Sprintf("%s after %v: hangs, or needs a longer --timeout", what, v.timeout) + child.At(child.WhereHung(said)),
			Output: child.Excerpt(said),
		}
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return text, nil
	case errors.As(err, &exit):
		return text, &program.Failure{Reason: child.WhyFailed(said, exit.ProcessState), Output: child.Excerpt(said)}
	}
	return text, &program.Failure{Reason: err.Error(), Output: child.Excerpt(said)}
}

// wait waits until the process ends or has to be ended. ended is false if it
// took too long.
func (v invocation) wait(cmd *exec.Cmd, done <-chan error, out ...*child.Buffer) (ended bool, err error) {
	start := time.Now()
	limit := time.NewTimer(v.timeout)
	defer limit.Stop()
	for {
		select {
		case err := <-done:
			return true, err
		case <-v.kill:
			child.KillGroup(cmd)
			<-done
			return true, program.ErrKilled
		case <-limit.C:
		}
		if v.sinceOutput {
			latest := start
			for _, b := range out {
				if t := b.Written(); t.After(latest) {
					latest = t
				}
			}
			if rest := v.timeout - time.Since(latest); rest > 0 {
				limit.Reset(rest)
				continue
			}
		}
		// The Go runtime answers the first signal with the stacks of all
		// goroutines, which say where it hangs.
		child.AskForStacks(cmd)
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			child.KillGroup(cmd)
			<-done
		}
		return false, nil
	}
}
