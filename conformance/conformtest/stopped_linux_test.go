package conformtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/dynolab/dyno/conformance"
)

// stoppedLimit is what a check may take in the process that is stopped for longer.
const stoppedLimit = time.Second

// TestStoppedProcess: a process that was stopped, as by Ctrl-Z or with the machine it runs
// on, for longer than a check may take goes on where it was.
func TestStoppedProcess(t *testing.T) {
	if os.Getenv(bugEnv) == "stopped" {
		checkStopped(t)
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStoppedProcess$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), bugEnv+"=stopped")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // on ordinary goroutines, and in a bubble
		untilStopped(t, cmd.Process.Pid)
		time.Sleep(2 * stoppedLimit)
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.Bytes())
	}
}

// checkStopped stops its own process in two checks. Each goes on for a little when the
// process does, so that a limit that is over is seen to be.
func checkStopped(t *testing.T) {
	check := func(*conformance.Env) error {
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return err
		}
		rest := syscall.NsecToTimespec(int64(stoppedLimit / 5)) // a bubble has no time of its own for it
		for syscall.Nanosleep(&rest, &rest) == syscall.EINTR {
		}
		return nil
	}
	if err := onGoroutines(newLookout(stoppedLimit, &conformance.Env{}, true), check); err != nil {
		t.Errorf("on ordinary goroutines: %v", err)
	}
	if err := inBubble(t, newLookout(stoppedLimit, &conformance.Env{}, true), check); err != nil {
		t.Errorf("in a bubble: %v", err)
	}
}

// untilStopped waits until the process is stopped.
func untilStopped(t *testing.T, pid int) {
	t.Helper()
	var stat []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var err error
		if stat, err = os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" T ")) {
			return
		}
	}
	t.Fatalf("process %d is not stopped after %v: %s", pid, patience, stat)
}
