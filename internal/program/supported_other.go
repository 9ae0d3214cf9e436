//go:build !unix

package program

import (
	"fmt"
	"runtime"
)

// supported returns an error if this operating system cannot do it: a process is
// to inherit two pipes, and to be ended together with those that it has started.
func supported() error {
	return fmt.Errorf("%w: %s hands no files to a process", ErrUnsupported, runtime.GOOS)
}
