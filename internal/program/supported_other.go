//go:build !unix

package program

import (
	"fmt"
	"os"
	"runtime"
)

// Supported returns an error, which wraps [ErrUnsupported], if this operating system cannot do it: a process is
// to inherit two pipes, and to be ended together with those that it has started.
func Supported() error {
	return fmt.Errorf("%w: %s hands no files to a process", ErrUnsupported, runtime.GOOS)
}

// mayExecute reports whether the file may be a program: that is not known here.
func mayExecute(os.FileInfo) bool { return true }
