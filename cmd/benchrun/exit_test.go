package main

import (
	"errors"
	"fmt"
	"regexp"
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

// docs/benchrun.md has the table of exit statuses, as the help of benchrun has it.
func TestStatusesAreDocumented(t *testing.T) {
	page, help := readPage(t, "../../docs/benchrun.md"), newRootCmd().Long
	for _, s := range statuses {
		row := fmt.Sprintf("\n| %d | %s |\n", s.status, flagsAndCommands.ReplaceAllString(s.meaning, "`$0`"))
		if !strings.Contains(page, row) {
			t.Errorf("docs/benchrun.md does not have %s", row)
		}
		if !strings.Contains(help, fmt.Sprintf("\n%5d  %.30s", s.status, s.meaning)) {
			t.Errorf("benchrun --help does not have %d", s.status)
		}
	}
	if rows := regexp.MustCompile(`(?m)^\| \d+ \|`).FindAllString(page, -1); len(rows) != len(statuses) {
		t.Errorf("docs/benchrun.md has %d exit statuses, and there are %d", len(rows), len(statuses))
	}
}

// flagsAndCommands are what a page sets as code in the meaning of a status.
var flagsAndCommands = regexp.MustCompile(`--[a-z][a-z-]*(=[a-z]+)?|\b(compare|ab|run|bisect|conform|targets|history)\b`)
