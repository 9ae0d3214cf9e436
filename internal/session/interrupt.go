package session

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible returns a context that ends with the first interrupt, by the cause
// [ErrInterrupted] and after first was called, and a channel that is closed by the
// second: what still runs then is to end at once. Until stop is called an interrupt
// does nothing else.
func Interruptible(parent context.Context, first func()) (ctx context.Context, second <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	kill := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		for _, act := range []func(){
			func() { first(); cancel(ErrInterrupted) },
			func() { close(kill) },
		} {
			select {
			case <-signals:
				act()
			case <-ended:
				return
			}
		}
	}()
	return ctx, kill, func() {
		signal.Stop(signals)
		close(ended)
		cancel(nil)
	}
}
