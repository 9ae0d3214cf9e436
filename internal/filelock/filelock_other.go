//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import "os"

// Try takes the lock on f, if it is free, and says what came of it: here there
// are no such locks.
func Try(*os.File) State { return Unknown }
