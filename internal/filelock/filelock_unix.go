//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock on f, if it is free, and says what came of it. The system
// takes the lock off when f is closed, however the process ends.
func Try(f *os.File) State {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return Taken
		case errors.Is(err, syscall.EWOULDBLOCK):
			return Held
		case errors.Is(err, syscall.EINTR):
		default:
			return Unknown
		}
	}
}
