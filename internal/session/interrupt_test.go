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
	ctx, second, stop := Interruptible(t.Context(), func() { told++ })
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
	select {
	case <-second.Done():
		t.Error("the first interrupt counts as the second")
	default:
	}
	interrupt()
	<-second.Done()
	if err := context.Cause(second); !errors.Is(err, program.ErrKilled) {
		t.Errorf("after the second: %v", err)
	}
}
