package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

// A Runner carries out what one command measures. It is for one use.
type Runner struct {
	// AfterBlock, unless it is nil, is called with the results after each block but the last. Nothing is
	// measured until it returns.
	AfterBlock func(path string, block int)

	con      *console.Console
	command  string // that goes on with an interrupted run, such as "benchrun run"
	progress *progress

	away      *away           // where it is measured; nil is here
	processes context.Context // ended by the second interrupt
	cache     *testbin.BuildCache
	cleanUp   []func()
}

// New returns a Runner that says on con what it does. command is the command that goes on
// with what it was interrupted in.
func New(con *console.Console, command string) *Runner {
	return &Runner{con: con, command: command, progress: &progress{con: con}}
}

// run measures what prepare makes ready, and then calls then, unless that is nil or
// nothing was to be measured: until it returns everything is still there.
//
// Its error is session.ErrInterrupted if it was interrupted, which has been said.
func (r *Runner) run(ctx context.Context, idle string, prepare func(context.Context) ([]*job, error), then func(context.Context) error) error {
	return r.whole(ctx, func(ctx context.Context) error {
		jobs, err := prepare(ctx)
		if err == nil && slices.ContainsFunc(jobs, (*job).timed) { // what is wrong with the input is said first
			err = r.ready(ctx, idle)
		}
		if err != nil || ctx.Err() != nil {
			return r.unmeasured(ctx, err)
		}
		for _, j := range jobs {
			if err := r.measure(ctx, j); err != nil {
				return err
			}
		}
		if then == nil || len(jobs) == 0 {
			return nil
		}
		return then(ctx)
	})
}

// whole does all of a command, work. What it gave r.cleanUp is called in the end, the last
// first.
func (r *Runner) whole(ctx context.Context, work func(context.Context) error) error {
	ctx, processes, stop := session.Interruptible(ctx, r.progress.interrupted)
	defer stop()
	r.processes = processes
	defer r.close()
	return work(ctx)
}

// unmeasured is the error of a run that ends with err, or with ctx, before it measures: that
// it was interrupted is said.
func (r *Runner) unmeasured(ctx context.Context, err error) error {
	if errors.Is(err, session.ErrInterrupted) || ctx.Err() != nil {
		fmt.Fprintln(r.con, "interrupted before anything was measured")
		return session.ErrInterrupted
	}
	return err
}

// close cleans up.
func (r *Runner) close() {
	for len(r.cleanUp) > 0 {
		last := len(r.cleanUp) - 1
		r.cleanUp[last]()
		r.cleanUp = r.cleanUp[:last]
	}
	if r.cache != nil {
		_ = r.cache.Trim() // it is only a cache
	}
}

// ready waits until no other process measures on this machine, and looks whether it is busy
// otherwise. The machine is this run's until that ends.
func (r *Runner) ready(ctx context.Context, idle string) error {
	if r.away != nil {
		return nil // it is not this machine that measures
	}
	if err := r.lockMachine(ctx); err != nil {
		return err
	}
	return r.checkIdle(ctx, idle)
}

// lockMachine takes the machine's lock until the run ends.
func (r *Runner) lockMachine(ctx context.Context) error {
	unlock, err := LockMachine(ctx, r.con, r.command)
	if err == nil {
		r.cleanUp = append(r.cleanUp, unlock)
	}
	return err
}

// LockMachine waits until no other process measures on this machine, and keeps others from it
// until unlock is called. It says on con what it waits for. what is told to others that wait.
func LockMachine(ctx context.Context, con *console.Console, what string) (unlock func(), err error) {
	defer con.Clear()
	l, err := machinelock.Wait(ctx, what, func(held *machinelock.HeldError) {
		fmt.Fprintf(con, "waiting: %v (Ctrl-C ends)\n", held)
	})
	if err != nil {
		return nil, err
	}
	return l.Unlock, nil
}

// checkIdle warns if the machine is busy, or waits until it is not.
func (r *Runner) checkIdle(ctx context.Context, idle string) error {
	if idle == IdleOff {
		return nil
	}
	if q := session.Quota(); q > 0 {
		fmt.Fprintf(r.con, "warning: a quota allows %.4g processors, and stops processes for most of 100 ms when they have used it up: what one side uses, another may lack. Measure --slice 1s\n", q)
	}
	defer r.con.Clear()
	for first := true; ; first = false {
		if first {
			r.con.Status("looking whether the machine is busy")
		}
		busy := session.CheckIdle(ctx, time.Second)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case busy == nil:
			return nil
		case idle == IdleWarn:
			fmt.Fprintf(r.con, "warning: the machine is busy: %s. Figures will scatter; --idle=wait waits for it to calm down\n", busy)
			return nil
		case first:
			fmt.Fprintf(r.con, "waiting for the machine to calm down: %s (Ctrl-C ends, --idle=warn measures all the same)\n", busy)
		}
	}
}

// scratch makes a folder that is there until the run ends.
func (r *Runner) scratch() (path string, err error) {
	folder, err := scratch.New()
	if err != nil {
		return "", err
	}
	r.cleanUp = append(r.cleanUp, func() { _ = folder.Remove() })
	return folder.Path, nil
}

// openCache opens the cache of test binaries; nil if there is no place for it, which is
// said.
func (r *Runner) openCache() *testbin.BuildCache {
	folder, err := os.UserCacheDir()
	if err == nil && r.cache == nil {
		r.cache, err = testbin.OpenBuildCache(filepath.Join(folder, "benchrun", "builds"))
	}
	if err != nil {
		fmt.Fprintf(r.con, "building without a cache: %v\n", err)
	}
	return r.cache
}
