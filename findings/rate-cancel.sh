#!/usr/bin/env bash
# Guess:   Cancel of a reservation that still waits gives its tokens back; Wait refused for the deadline of
#          its context is context.DeadlineExceeded.
# Version: golang.org/x/time v0.16.0.
# Seen:    what was reserved after it is taken off: of two reservations of 5, cancelling the first gives
#          nothing back, and the second waits as long as before. The error is one of its own.
. "$(dirname "$0")/lib.sh"
modules golang.org/x/time@v0.16.0
cat >main.go <<'E'
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

func main() {
	now := time.Now()
	for _, cancel := range []int{0, 1} {
		l := rate.NewLimiter(1, 10)
		l.AllowN(now, 10)
		rs := []*rate.Reservation{l.ReserveN(now, 5), l.ReserveN(now, 5)}
		before := l.TokensAt(now)
		rs[cancel].CancelAt(now)
		fmt.Println("cancelled", cancel, "tokens", before, l.TokensAt(now), "the other waits", rs[1-cancel].DelayFrom(now))
	}
	l := rate.NewLimiter(0.001, 1)
	l.Allow()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := l.Wait(ctx)
	fmt.Println(err, errors.Is(err, context.DeadlineExceeded))
}
E
go run . >got
same <<'E'
cancelled 0 tokens -10 -10 the other waits 10s
cancelled 1 tokens -10 -5 the other waits 5s
rate: Wait(n=1) would exceed context deadline false
E
