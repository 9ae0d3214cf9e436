//go:build !unix

package conformtest

import (
	"io"
	"os"
	"time"
)

// blockingPipe returns a pipe.
func blockingPipe() (io.Reader, io.Writer, error) { return os.Pipe() }

const canTellBurnt = false

func processorTime() time.Duration { return 0 }
