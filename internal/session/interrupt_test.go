//go:build unix

package session

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/dynolab/dyno/internal/program"
)

// The first interrupt ends the context, the second that of processes.
func TestInterruptible(t *testing.T) {
	told := 0
	parent, cancel := context.WithCancel(t.Context())
	ctx, second, stop := Interruptible(parent, func() { told++ })
	defer stop()
	interrupt := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	interrupt()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, ErrInterrupted) || told != 1 {
		t.Errorf("after the first: %v, told %d times", err, told)
	}
	// Nor does the end of what is around it end what still runs.
	if cancel(); second.Err() != nil {
		t.Errorf("processes have ended: %v", context.Cause(second))
	}
	interrupt()
	<-second.Done()
	if err := context.Cause(second); !errors.Is(err, program.ErrKilled) {
		t.Errorf("after the second: %v", err)
	}
}
