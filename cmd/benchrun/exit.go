package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/session"
)

// The exit statuses of all commands but board, whose outcomes have their own.
const (
	exitSlower       = 1
	exitNothing      = 1 // of bisect
	exitMistake      = 2
	exitInconclusive = 3
	exitEmpty        = 4
	exitInterrupted  = 130 // 128 + SIGINT, as shells have it
)

// statuses say what each of them means. The help of benchrun has them, and docs/benchrun.md.
var statuses = []struct {
	status  int
	meaning string
}{
	{0, "Done. With --gate: nothing is proven to be slower or worse, and nothing fails or is gone in the new version only. " +
		"With --gate=strict: everything that was compared is proven not to be worse."},
	{exitSlower, "--gate of ab and compare: something is slower or worse, or fails or is gone in the new version only. " +
		"bisect: there is nothing to look for. conform: a clause failed. targets: a required one is missed. history: a benchmark is proven to have become slower."},
	{exitMistake, "An error: a flag that makes no sense, no benchmark that matches, nothing that builds, a file that cannot be read or resumed."},
	{exitInconclusive, "--gate=strict of ab and compare: something is inconclusive, unproven or missing. " +
		"bisect: no commit is proven. targets: a required one is not measured. history: a comparison could not tell."},
	{exitEmpty, "ab, run and compare --gate: nothing at all was compared or measured, as where every benchmark skips itself or fails; or that nothing could have been proven, in too few blocks or not alternately. With --allow-empty this is 0."},
	{exitInterrupted, "Interrupted. What was measured is kept."},
}

// statusTable is statuses for a help text.
func statusTable() string {
	var b strings.Builder
	for _, s := range statuses {
		for i, line := range report.Wrap(report.SummaryColumns-7, s.meaning) {
			number := ""
			if i == 0 {
				number = strconv.Itoa(s.status)
			}
			fmt.Fprintf(&b, "%5s  %s\n", number, line)
		}
	}
	return b.String()
}

// exitError ends the command with a status of its own, after everything has
// been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// An emptyError is one of a command that has measured or compared nothing at all.
type emptyError struct{ error }

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
	case errors.As(err, new(emptyError)):
		return exitEmpty
	}
	return exitMistake
}

// said reports whether an error has been told already: what ends with a status of its own
// has said why, and who interrupts knows it.
func said(err error) bool {
	return errors.As(err, new(exitError)) || errors.Is(err, session.ErrInterrupted)
}
