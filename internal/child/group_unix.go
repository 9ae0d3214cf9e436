//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// OwnGroup gives the process a process group of its own, beside what else it has of
// SysProcAttr.
func OwnGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
}

// KillGroup ends the process and its children. The error is of no use: either
// they are gone already, or waiting for them tells.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Freeze stops the process and its children until Thaw: nothing of them runs
// meanwhile. It reports whether the system can do that.
func Freeze(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP) == nil }

// Thaw lets a process that Freeze has stopped go on.
func Thaw(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT) }

// AskForStacks makes a Go program print all stacks and end.
func AskForStacks(cmd *exec.Cmd) { _ = syscall.Kill(cmd.Process.Pid, syscall.SIGQUIT) }
