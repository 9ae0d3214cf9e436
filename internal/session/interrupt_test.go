//go:build unix

package session

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

// The first interrupt ends the context, the second closes the channel.
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
	case <-second:
		t.Error("the first interrupt counts as the second")
	default:
	}
	interrupt()
	<-second
}
