package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/session"
)

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		said   bool
	}{
		{nil, 0, false},
		{errors.New("no"), 2, false},
		{exitError(exitInconclusive), 3, true},
		{emptyError{errors.New("nothing")}, 4, false},
		{fmt.Errorf("building: %w", session.ErrInterrupted), 130, true},
	} {
		if status := exitStatus(c.err); status != c.status || c.err != nil && said(c.err) != c.said {
			t.Errorf("%v: status %d, said: %t", c.err, status, said(c.err))
		}
	}
}

// The help of benchrun has the table of exit statuses.
func TestStatusesAreInHelp(t *testing.T) {
	help := newRootCmd().Long
	for _, s := range statuses {
		if !strings.Contains(help, fmt.Sprintf("\n%5d  %.30s", s.status, s.meaning)) {
			t.Errorf("benchrun --help does not have %d", s.status)
		}
	}
}
