//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lab

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps a second run from appending to the same file. The system takes the
// lock off when the file is closed, however the process ends.
func lock(f *os.File) error {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return fmt.Errorf("another benchrun is writing to %s: wait until it has ended", f.Name())
	default:
		return nil // or a file system without locks, which is no reason not to measure
	}
}
