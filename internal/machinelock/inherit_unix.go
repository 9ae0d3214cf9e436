//go:build unix

package machinelock

import (
	"os"
	"syscall"
)

// keepFromChildren keeps what this process starts from having the file, and with it the lock.
func keepFromChildren(f *os.File) { syscall.CloseOnExec(int(f.Fd())) }
