package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/boardrun"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/runner"
)

// exitFull is the status of carry if the disk is full: sysexits' EX_TEMPFAIL, by which an
// agent knows that it is no fault of the job.
const exitFull = 75

// newCarryCmd carries out what was packed elsewhere. It is for agents, so it is hidden.
func newCarryCmd() *cobra.Command {
	c := runner.Carriage{Idle: runner.IdleWarn}
	board, hwmap := "", ""
	cmd := newCommand("carry", func(cmd *cobra.Command, args []string) error {
		if c.Out == "" {
			return errors.New("carry needs --out, the file for the results")
		}
		c.Job, c.Reports = args[0], console.Raw(cmd.OutOrStdout()) // which a program reads
		if c.Work == "" {
			c.Work = filepath.Join(c.Job, "work")
		}
		err := carry(cmd, c, board, hwmap)
		if errors.Is(err, syscall.ENOSPC) {
			fmt.Fprintln(cmd.ErrOrStderr(), "benchrun:", err)
			return exitError(exitFull)
		}
		return err
	}, fields{"out": &c.Out, "work": &c.Work, "machine": &c.Machine, "idle": &c.Idle, "board": &board, "map": &hwmap})
	cmd.Args = cobra.ExactArgs(1)
	cmd.Hidden = true
	return cmd
}

// carry carries a job out: on this machine, or on a board of it.
func carry(cmd *cobra.Command, c runner.Carriage, board, hwmap string) error {
	con := consoleOf(cmd)
	if board == "" {
		return runner.New(con, "benchrun carry").Carry(cmd.Context(), c)
	}
	b := boardrun.Command{Boards: []string{board}, Map: hwmap, Con: con, Out: cmd.ErrOrStderr()}
	o, err := boardrun.Tell(con, b.Carry(cmd.Context(), c))
	if o != hw.OK {
		return exitError(o.ExitCode())
	}
	return err
}
