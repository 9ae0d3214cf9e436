package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const runtimeIsWindows = runtime.GOOS == "windows"

// An invocation is one run of a subject.
type invocation struct {
	subject Subject
	args    []string
	timeout time.Duration
	// sinceOutput lets the timeout begin anew whenever the process prints.
	sinceOutput bool
	// kill ends the process at once; nil means never.
	kill <-chan struct{}
}

// A failure says why an invocation was of no use.
type failure struct {
	reason string // one line
	output string // what the subject printed, shortened
}

func (f *failure) Error() string { return f.reason }

// maxOutput bounds what is kept of each stream of a subject, which may never end.
const maxOutput = 16 << 20

// run runs the subject and returns what it printed on standard output. A
// subject that crashes, fails or takes too long gives a *failure, and what it
// printed. Standard error is apart, so that a log does not tear result lines.
//
// The process has a process group of its own: an interrupt from the terminal is
// for the lab, which finishes the process it is at. Whatever the process has
// started and left behind ends with it, so that it cannot disturb what is
// measured next.
func (v invocation) run() (string, error) {
	cmd := exec.Command(v.subject.Binary, v.args...)
	cmd.Dir = v.subject.Dir
	stdout, stderr := &cappedBuffer{limit: maxOutput}, &cappedBuffer{limit: maxOutput}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return "", &failure{reason: "does not start: " + err.Error()}
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	ended, err := v.wait(cmd, done, stdout, stderr)
	killGroup(cmd) // those that are left of it
	text := stdout.String()
	said := text
	if said != "" && !strings.HasSuffix(said, "\n") {
		said += "\n" // the runtime's last words begin a line
	}
	said += stderr.String()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, errKilled):
		return text, err
	case !ended:
		what := "not finished"
		if v.sinceOutput {
			what = "nothing printed and not finished"
		}
		return text, &failure{
			reason: fmt.Sprintf("%s after %v: hangs, or needs a longer --timeout", what, v.timeout),
			output: excerpt(said),
		}
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return text, nil
	case errors.As(err, &exit):
		return text, &failure{reason: whyFailed(said, exit.ProcessState), output: excerpt(said)}
	}
	return text, &failure{reason: err.Error(), output: excerpt(said)}
}

// wait waits until the process ends or has to be ended. ended is false if it
// took too long.
func (v invocation) wait(cmd *exec.Cmd, done <-chan error, out ...*cappedBuffer) (ended bool, err error) {
	start := time.Now()
	limit := time.NewTimer(v.timeout)
	defer limit.Stop()
	for {
		select {
		case err := <-done:
			return true, err
		case <-v.kill:
			killGroup(cmd)
			<-done
			return true, errKilled
		case <-limit.C:
		}
		if v.sinceOutput {
			latest := start
			for _, b := range out {
				if t := b.written(); t.After(latest) {
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
		askForStacks(cmd)
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			killGroup(cmd)
			<-done
		}
		return false, nil
	}
}

// errKilled is the error of an invocation that was killed on request.
var errKilled = errors.New("killed")

// whyFailed says in one line why a subject ended as it did. The end of the
// process is the runtime's or the operating system's word, which counts for more
// than a benchmark that failed before it.
func whyFailed(output string, state *os.ProcessState) string {
	lines := strings.Split(output, "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return "crashed: " + line
		}
	}
	if !slices.Contains(lines, testingFailed) {
		return "ended with " + state.String()
	}
	for i, line := range lines {
		if !strings.Contains(line, "--- FAIL: ") {
			continue
		}
		// testing prints the reason in indented lines, after the failure line
		// or, with -v, before it.
		for _, j := range []int{i + 1, i - 1} {
			if j >= 0 && j < len(lines) && strings.HasPrefix(lines[j], "    ") {
				return "failed: " + strings.TrimSpace(lines[j])
			}
		}
		return "failed: " + strings.TrimSpace(line)
	}
	return "ended with " + state.String()
}

// testingFailed is the line with which package testing ends if it has come to
// its end and something failed.
const testingFailed = "FAIL"

// excerpt returns s, or if that is long, its first and last lines: a crash says
// first why and last where.
func excerpt(s string) string {
	const first, last = 20, 40
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if left := len(lines) - first - last; left > 1 {
		lines = slices.Concat(lines[:first], []string{fmt.Sprintf("(%d lines left out)", left)}, lines[len(lines)-last:])
	}
	return strings.Join(lines, "\n")
}

// cappedBuffer keeps the first limit bytes written to it, and swallows the rest.
type cappedBuffer struct {
	mu    sync.Mutex // os/exec writes from a goroutine that a timeout may leave behind
	buf   bytes.Buffer
	limit int
	at    time.Time // of the latest write that was kept
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := b.limit - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
		b.at = time.Now()
	}
	return len(p), nil
}

func (b *cappedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// written returns when something was last kept: who prints without end does not
// count as alive for ever.
func (b *cappedBuffer) written() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

// output runs a command of the system and returns what it prints, without the
// space around it; "" if it fails.
func output(ctx context.Context, dir, name string, args ...string) string {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// FailureOutput returns what a subject printed, shortened, before it failed with
// err, "" if err is no failure of a subject or it printed nothing.
func FailureOutput(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.output
	}
	return ""
}
