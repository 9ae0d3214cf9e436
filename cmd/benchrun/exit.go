package main

import (
	"errors"
	"fmt"

	"github.com/dynolab/dyno/internal/session"
)

// The exit statuses of compare --gate, conform and targets. Every other error is 2, but for
// boards, whose outcomes have their own.
const (
	exitSlower       = 1   // something is slower or broken; a clause failed; a target is missed
	exitInconclusive = 3   // not that, but of something it cannot be told
	exitNothing      = 1   // bisect: there is nothing to look for
	exitInterrupted  = 130 // 128 + SIGINT, as shells have it
)

// exitError ends the command with a status of its own, after everything has
// been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// exitStatus is the status for the error of a command: 0 without one, its own
// if it is an exitError, that of an interrupt, 2 for every other.
func exitStatus(err error) int {
	var e exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e)
	case errors.Is(err, session.ErrInterrupted):
		return exitInterrupted
	}
	return 2
}

// said reports whether an error has been told already: what ends with a status of its own
// has said why, and who interrupts knows it.
func said(err error) bool {
	return errors.As(err, new(exitError)) || errors.Is(err, session.ErrInterrupted)
}
