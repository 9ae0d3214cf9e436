//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// OwnGroup gives the process a process group of its own.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup ends the process and its children. The error is of no use: either
// they are gone already, or waiting for them tells.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// AskForStacks makes a Go program print all stacks and end.
func AskForStacks(cmd *exec.Cmd) { _ = syscall.Kill(cmd.Process.Pid, syscall.SIGQUIT) }
