package benchtest

import (
	"syscall"
	"time"
)

// block sits in a system call for so long.
var block = func(d time.Duration) {
	rest := syscall.NsecToTimespec(int64(d))
	for syscall.Nanosleep(&rest, &rest) == syscall.EINTR {
		continue // a signal, such as a profile's
	}
}
