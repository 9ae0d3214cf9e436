//go:build !linux

package child

import "os/exec"

// Start starts the process in a process group of its own, where there are such
// groups.
func Start(cmd *exec.Cmd) error { return start(cmd, nil) }

func start(cmd *exec.Cmd, started func(pid int) error) error {
	OwnGroup(cmd)
	return startThen(cmd, started)
}
