//go:build !linux

package child

import "os/exec"

// Start starts the process in a process group of its own, where there are such
// groups.
func Start(cmd *exec.Cmd) error {
	OwnGroup(cmd)
	return cmd.Start()
}

// StartPrepared calls prepare and starts the process: elsewhere than on Linux a
// process inherits nothing of a thread.
func StartPrepared(cmd *exec.Cmd, prepare func(), _ <-chan struct{}) error {
	prepare()
	return Start(cmd)
}
