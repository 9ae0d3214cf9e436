//go:build unix

package lab

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the process and its children. The error is of no use: either
// they are gone already, or waiting for them tells.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// askForStacks makes a Go program print all stacks and end.
func askForStacks(cmd *exec.Cmd) { _ = syscall.Kill(cmd.Process.Pid, syscall.SIGQUIT) }
