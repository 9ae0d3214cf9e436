//go:build !unix

package program

import (
	"fmt"
	"runtime"
)

// Supported returns an error, which wraps [ErrUnsupported], if this operating system cannot do it: a process is
// to inherit two pipes, and to be ended together with those that it has started.
func Supported() error {
	return fmt.Errorf("%w: %s hands no files to a process", ErrUnsupported, runtime.GOOS)
}
