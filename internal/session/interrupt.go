package session

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/dynolab/dyno/internal/program"
)

// Interruptible returns a context that ends with the first interrupt, by the cause
// [ErrInterrupted] and after first was called, and one of processes that ends with the
// second, by the cause [program.ErrKilled]: what still runs then is to end at once. Until
// stop is called an interrupt does nothing else.
func Interruptible(parent context.Context, first func()) (ctx, processes context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	processes, kill := context.WithCancelCause(context.WithoutCancel(parent))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		for _, act := range []func(){
			func() { first(); cancel(ErrInterrupted) },
			func() { kill(program.ErrKilled) },
		} {
			select {
			case <-signals:
				act()
			case <-ended:
				return
			}
		}
	}()
	return ctx, processes, func() {
		signal.Stop(signals)
		close(ended)
		cancel(nil)
		kill(nil)
	}
}
