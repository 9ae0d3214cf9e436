package conformtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// crashEnv is set in a process that notes what another one runs.
const crashEnv = "DYNO_CONFORM_CRASH"

// crashNotes say which clause ran, and with which seed, if this process ends before its
// time: a panic on a goroutine of the implementation ends it, and so does a time-out of
// package testing, and neither tells. A process of its own reads what is running from a
// pipe, which ends with this one. A nil *crashNotes says nothing.
type crashNotes struct{ pipe io.WriteCloser }

// startCrashNotes starts that process, which is this test binary with the one test t. If
// it cannot be started there are no notes.
func startCrashNotes(t *testing.T) *crashNotes {
	if os.Getenv(childEnv) != "" {
		return nil // its end is what is tested
	}
	cmd := exec.Command(os.Args[0], "-test.run="+exactly(t.Name()), "-test.count=1")
	cmd.Env = append(os.Environ(), crashEnv+"=1")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	t.Cleanup(func() {
		_ = pipe.Close()
		_ = cmd.Wait()
	})
	return &crashNotes{pipe}
}

// running notes what runs from now on; "" is nothing.
func (n *crashNotes) running(what string) {
	if n != nil {
		_, _ = fmt.Fprintln(n.pipe, what) // a reader that is gone says nothing
	}
}

// beCrashNotes is what that process does; it does not return.
func beCrashNotes() {
	what := ""
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		what = lines.Text()
	}
	if what != "" {
		fmt.Fprintln(os.Stderr, what)
	}
	os.Exit(0)
}
