package conformtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/group"
)

const (
	childEnv    = "DYNO_CONFORM_CHILD" // set in a process whose end is the test
	childPanic  = "conformance: this panic must end the process"
	childAlive  = "conformance: the process survived the panic"
	childLimit  = 5 * time.Minute  // for all it does
	childGrace  = 30 * time.Second // for the panic to end it, once everything else has
	childFailed = 2                // exit status of a Go program that panics
)

// checkPanicEndsProcess runs this very sub-test in a child process, whose group
// lets a panic through. It must end the process as any panic does: with the
// panic's text and exit status 2.
func checkPanicEndsProcess(t *testing.T, s *suite) outcome {
	if os.Getenv(childEnv) != "" {
		letPanicThrough(s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), childLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+exactly(t.Name()), "-test.count=1", "-test.v=false")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	fail := func(what string) outcome {
		return outcome{err: fmt.Errorf("%s; the child process said:\n%s", what, out), seed: s.set.seed}
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fail("the process hangs after the panic")
	case bytes.Contains(out, []byte(childAlive)):
		return fail("the process survived the panic")
	case !errors.As(err, &exit):
		return fail(fmt.Sprintf("the process ended with %v, want exit status %d", err, childFailed))
	case exit.ExitCode() != childFailed || !strings.Contains(string(out), "panic: "+childPanic):
		return fail(fmt.Sprintf("the process ended with status %d, want %d and the panic's text", exit.ExitCode(), childFailed))
	}
	return outcome{}
}

// letPanicThrough is what the child process does: it does not return.
//
// A panic runs deferred functions before it ends the process, and meanwhile the
// other goroutines run on. So a group that counts its tasks in a deferred
// function may well answer Wait: this goroutine then waits for the end.
func letPanicThrough(s *suite) {
	g := s.impl.NewGroup(context.Background(), group.WithPanicToError(false))
	err := g.Go(func(context.Context) (int, error) { panic(childPanic) })
	if err == nil {
		g.Close()
		_ = g.Wait()
		_, _, err = g.Next(context.Background())
	}
	time.Sleep(childGrace) // cut short by the end of the process
	fmt.Println(childAlive, err)
	os.Exit(0)
}
