//go:build unix

package conformtest

import (
	"io"
	"syscall"
	"time"
)

// fd is a file descriptor whose reads block in the operating system. An os.File
// of a pipe would park the goroutine and leave its thread free.
type fd int

func (f fd) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(f), b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f fd) Write(b []byte) (int, error) { return syscall.Write(int(f), b) }

// blockingPipe returns a pipe whose reader blocks its thread. Its descriptors are
// left to the end of the process.
func blockingPipe() (io.Reader, io.Writer, error) {
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return nil, nil, err
	}
	return fd(p[0]), fd(p[1]), nil
}

const canTellBurnt = true

// processorTime returns what the process has used of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
