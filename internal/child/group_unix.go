//go:build unix

package child

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// OwnGroup gives the process a process group of its own, beside what else it has of
// SysProcAttr.
func OwnGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
}

// KillGroup ends the process, also one that has gone to another group, and its children.
// The errors are of no use: either they are gone already, or waiting for them tells.
func KillGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Process.Kill()
}

// Freeze stops the process and its children until Thaw: nothing of them runs
// meanwhile. It reports whether the system can do that.
func Freeze(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP) == nil }

// Thaw lets a process that Freeze has stopped go on.
func Thaw(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT) }

// AskForStacks makes a Go program print all stacks and end.
func AskForStacks(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGQUIT) }

// mostRest bounds what [Rest] reads, of a pipe that another process never stops to fill. It
// is no less than what a pipe has room for.
const mostRest = 1 << 20

// Rest returns what is in a pipe, the reader's end of which is r. It does not wait for more.
// r has no read deadline after it.
func Rest(r *os.File) (rest []byte) {
	raw, err := r.SyscallConn()
	if err != nil || r.SetReadDeadline(time.Time{}) != nil {
		return nil
	}
	buf := make([]byte, 64<<10)
	_ = raw.Read(func(fd uintptr) bool {
		for len(rest) < mostRest {
			n, err := syscall.Read(int(fd), buf)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if n <= 0 {
				break
			}
			rest = append(rest, buf[:n]...)
		}
		return true
	})
	return rest
}
