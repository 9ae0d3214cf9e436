//go:build !unix

package lab

import "os/exec"

// Elsewhere a process is ended alone, and without its stacks.

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func askForStacks(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
