package boardrun

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

// RunOptions are what the flags of a run say.
type RunOptions struct {
	Case             string // a pattern of the names of cases
	Count            int
	Timeout, Silence time.Duration
	Out              string // path of a new results file; "" is one below results/
	Resume           string // path of the results of a run to go on with; "" is none

	// Given reports whether a flag was given: those that were not are in a run that is
	// resumed what they were.
	Given func(flag string) bool
}

// Run measures on boards, and prints what came of it and where the results are.
func (c *Command) Run(ctx context.Context, o RunOptions) error {
	r, err := c.plan(&o)
	if err != nil {
		return err
	}
	ctx, _, stop := session.Interruptible(ctx, func() { fmt.Fprintln(c.Con, "interrupted: the case that runs is given up") })
	defer stop()
	if r.Devices, err = c.devices(); err != nil {
		return err
	}
	if err := c.sources(ctx, &r); err != nil {
		return err
	}
	unlock, err := runner.LockMachine(ctx, c.Con, "benchrun board run "+strings.Join(c.Boards, " "))
	if err != nil {
		return err
	}
	defer unlock()
	p := &progress{con: c.Con}
	r.Progress = p
	if r.Resume != nil {
		c.tellResumed(r.Resume)
	}
	s, err := hw.Run(ctx, r)
	p.flush()
	if s != nil {
		if err := c.present(s); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, session.ErrInterrupted):
		c.tellInterrupted(s)
		return err
	case err != nil:
		return err
	case r.Resume == nil && p.none(s.Worst):
		return fmt.Errorf("no case of the firmware matches %q; to see them: echo list | benchrun board monitor %s", o.Case, c.Boards[0])
	}
	return ended(s.Worst)
}

// sources finds what images of r are built from.
func (c *Command) sources(ctx context.Context, r *hw.RunOptions) (err error) {
	if r.Checkout, err = hw.FindCheckout(ctx, ""); err == nil && len(c.Impls) > 0 {
		r.Impls, err = c.implementations(r.Checkout)
	}
	return err
}

// plan checks what was asked for, before anything takes time. Of a run that is resumed,
// what was not given is what it was.
func (c *Command) plan(o *RunOptions) (r hw.RunOptions, err error) {
	if o.Resume != "" {
		if r, err = c.resume(o); err != nil {
			return r, err
		}
	}
	r.Case, err = regexp.Compile(o.Case)
	switch {
	case err != nil:
		return r, fmt.Errorf("--case: %w", err)
	case o.Count < 1:
		return r, fmt.Errorf("--count is %d; each case is run at least once", o.Count)
	case o.Timeout <= 0 || o.Silence <= 0:
		return r, errors.New("--timeout and --silence are longer than nothing")
	case o.Out != "" && len(c.Boards) > 1:
		return r, errors.New("--out is one file, and each board has its own: leave it out, or run the boards one by one")
	}
	if err := runner.CheckOut(o.Out); err != nil {
		return r, err
	}
	r.Parts, r.Count, r.Out = c.Parts, o.Count, o.Out
	r.Limits = hw.Limits{Silence: o.Silence, Case: o.Timeout}
	return r, c.check()
}

// resume reads the run that is to be gone on with, and takes from it what was not given.
func (c *Command) resume(o *RunOptions) (r hw.RunOptions, err error) {
	if o.Out != "" || len(c.Boards) > 1 {
		return r, errors.New("--resume goes on in its own file, which is of one board: leave out --out and other boards")
	}
	if r.Resume, err = record.ReadInterruptedBoard(o.Resume); err != nil {
		return r, err
	}
	was := r.Resume.Plan
	then, err := hw.PlanOf(was)
	if err != nil {
		return r, fmt.Errorf("%s cannot be resumed: %w", o.Resume, err)
	}
	for flag, keep := range map[string]func(){
		"parts":   func() { c.Parts = then.Parts },
		"case":    func() { o.Case = then.Case },
		"count":   func() { o.Count = was.Blocks },
		"timeout": func() { o.Timeout = was.Timeout },
		"silence": func() { o.Silence = then.Silence },
	} {
		if !o.Given(flag) {
			keep()
		}
	}
	if !then.All {
		r.Impls = then.Impls
	}
	return r, nil
}

// tellResumed says what is left of a run.
func (c *Command) tellResumed(from *record.Interrupted) {
	if from.Finished() {
		fmt.Fprintf(c.Con, "%s is complete: all of its cases are there\n", from.Path)
		return
	}
	kept, err := hw.ReadKept(from.Path)
	if err != nil {
		return // which is said when it is to be gone on with
	}
	fmt.Fprintf(c.Con, "%s has %s already\n", from.Path, console.Count(kept.Cases(), "case"))
	if from.Torn != "" {
		fmt.Fprintf(c.Con, "%s ends in the middle of a case; that one is run again\n", from.Path)
	}
}

// tellInterrupted says how to go on with a run that was interrupted.
func (c *Command) tellInterrupted(s *hw.Summary) {
	begun := len(c.Boards) - len(s.NotBegun)
	if s.Unfinished != "" {
		again := "benchrun board run " + console.ShellWord(c.Boards[begun-1])
		if c.Map != "" {
			again += " --map " + console.ShellWord(c.Map)
		}
		fmt.Fprintf(c.Con, "interrupted; what was measured is kept. To go on:\n  %s --resume %s\n", again, console.ShellWord(near(s.Unfinished)))
	}
	switch left := c.Boards[begun:]; {
	case begun == 0:
		fmt.Fprintln(c.Con, "interrupted before anything was measured")
	case len(left) > 0:
		fmt.Fprintf(c.Con, "not begun: %s\n", strings.Join(left, ", "))
	}
}
