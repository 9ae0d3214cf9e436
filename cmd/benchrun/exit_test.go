package main

import (
	"errors"
	"fmt"
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
		{fmt.Errorf("building: %w", session.ErrInterrupted), 130, true},
	} {
		if status := exitStatus(c.err); status != c.status || c.err != nil && said(c.err) != c.said {
			t.Errorf("%v: status %d, said: %t", c.err, status, said(c.err))
		}
	}
}
