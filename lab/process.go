package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
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
	// kill ends the process at once; nil means never.
	kill <-chan struct{}
}

// A failure says why an invocation was of no use.
type failure struct {
	reason string // one line
	output string // the end of what the subject printed
}

func (f *failure) Error() string { return f.reason }

// maxOutput bounds what is kept of a subject's output, which may never end.
const maxOutput = 16 << 20

// run runs the subject and returns what it printed. A subject that crashes,
// fails or takes too long gives a *failure, and what it printed.
//
// The process has a process group of its own: an interrupt from the terminal is
// for the lab, which finishes the process it is at, and what must be killed is
// killed with its children.
func (v invocation) run() (string, error) {
	cmd := exec.Command(v.subject.Binary, v.args...)
	cmd.Dir = v.subject.Dir
	out := &cappedBuffer{limit: maxOutput}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return "", &failure{reason: "does not start: " + err.Error()}
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	limit := time.NewTimer(v.timeout)
	defer limit.Stop()
	var err error
	select {
	case err = <-done:
	case <-v.kill:
		killGroup(cmd)
		<-done
		return out.String(), errKilled
	case <-limit.C:
		// The Go runtime answers the first signal with the stacks of all
		// goroutines, which say where it hangs.
		askForStacks(cmd)
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			killGroup(cmd)
			<-done
		}
		return out.String(), &failure{
			reason: fmt.Sprintf("not finished after %v: hangs, or needs a longer --timeout", v.timeout),
			output: tail(out.String()),
		}
	}
	text := out.String()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return text, nil
	case errors.As(err, &exit):
		return text, &failure{reason: whyFailed(text, exit.ProcessState), output: tail(text)}
	}
	return text, &failure{reason: err.Error(), output: tail(text)}
}

// errKilled is the error of an invocation that was killed on request.
var errKilled = errors.New("killed")

// whyFailed says in one line why a subject ended as it did.
func whyFailed(output string, state *os.ProcessState) string {
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
			return "crashed: " + line
		case strings.Contains(line, "--- FAIL: "):
			// testing prints the reason in indented lines, after the failure
			// line or, with -v, before it.
			for _, j := range []int{i + 1, i - 1} {
				if j >= 0 && j < len(lines) && strings.HasPrefix(lines[j], "    ") {
					return "failed: " + strings.TrimSpace(lines[j])
				}
			}
			return "failed: " + strings.TrimSpace(line)
		}
	}
	return "ended with " + state.String()
}

// tail returns the last lines of s.
func tail(s string) string {
	const most = 40
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > most {
		lines = append([]string{fmt.Sprintf("(%d lines before)", len(lines)-most)}, lines[len(lines)-most:]...)
	}
	return strings.Join(lines, "\n")
}

// cappedBuffer keeps the first limit bytes written to it, and swallows the rest.
type cappedBuffer struct {
	mu    sync.Mutex // os/exec writes from a goroutine that a timeout may leave behind
	buf   bytes.Buffer
	limit int
}

func (b *cappedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := b.limit - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *cappedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
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

// FailureOutput returns the end of what a subject printed before it failed with
// err, "" if err is no failure of a subject or it printed nothing.
func FailureOutput(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.output
	}
	return ""
}
