//go:build !linux

package child

import "os/exec"

// Start starts the process in a process group of its own, where there are such
// groups.
func Start(cmd *exec.Cmd) error {
	OwnGroup(cmd)
	return cmd.Start()
}
