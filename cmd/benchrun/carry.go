package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/runner"
)

// exitFull is the status of carry if the disk is full: sysexits' EX_TEMPFAIL, by which an
// agent knows that it is no fault of the job.
const exitFull = 75

// newCarryCmd carries out what was packed elsewhere. It is for agents, so it is hidden.
func newCarryCmd() *cobra.Command {
	c := runner.Carriage{Idle: runner.IdleWarn}
	cmd := newCommand("carry", func(cmd *cobra.Command, args []string) error {
		if c.Out == "" {
			return errors.New("carry needs --out, the file for the results")
		}
		c.Job, c.Reports = args[0], cmd.OutOrStdout()
		if c.Work == "" {
			c.Work = filepath.Join(c.Job, "work")
		}
		err := runner.New(consoleOf(cmd), "benchrun carry").Carry(cmd.Context(), c)
		if errors.Is(err, syscall.ENOSPC) {
			fmt.Fprintln(cmd.ErrOrStderr(), "benchrun:", err)
			return exitError(exitFull)
		}
		return err
	}, fields{"out": &c.Out, "work": &c.Work, "machine": &c.Machine, "idle": &c.Idle})
	cmd.Args = cobra.ExactArgs(1)
	cmd.Hidden = true
	return cmd
}
