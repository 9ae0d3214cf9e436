package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/program/command"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// What Plan.Packages has where commands are compared: each with a mark in front that no
// import path has, and shellMark alone if a shell runs them.
const (
	commandMark = "command:"
	shellMark   = "shell:"
)

// commandCase is what both commands are called.
const commandCase = "BenchmarkCommand"

// commandsOf returns what is compared, if it is commands.
func commandsOf(packages []string) (texts []string, shell bool) {
	for _, p := range packages {
		if text, ok := strings.CutPrefix(p, commandMark); ok {
			texts = append(texts, text)
		}
		shell = shell || p == shellMark
	}
	return texts, shell
}

// commands compares the commands c.Args, or goes on with it: whole processes are the
// operations. One that fails is an error before anything is measured.
func (r *Runner) commands(ctx context.Context, c *AB, from *record.Interrupted, then func(ctx context.Context, run *ABRun) error) (*ABRun, error) {
	if err := command.Supported(); err != nil {
		return nil, err
	}
	texts, shell := c.Args, c.Shell
	if from != nil {
		texts, shell = commandsOf(from.Plan.Packages)
	}
	if len(texts) != 2 {
		return nil, fmt.Errorf("--command takes two commands, the old one and the new one, each quoted as one word: benchrun ab --command './old -x' './new -x'; there are %d", len(texts))
	}
	var both [2]command.Command
	for i, text := range texts {
		var err error
		if both[i], err = command.Parse(text, shell); err != nil {
			return nil, err
		}
	}
	plan := c.plan(from)
	plan.Col, plan.Mode, plan.Benchmem, plan.Layouts = record.SideKey, record.ModeTurns, false, 1
	plan.Packages = []string{commandMark + texts[0], commandMark + texts[1]}
	if shell {
		plan.Packages = append(plan.Packages, shellMark)
	}
	plan.Subjects = map[string]string{record.SideOld: both[0].Hash, record.SideNew: both[1].Hash}
	for _, side := range sides {
		plan.Cases = append(plan.Cases, record.Case{Pkg: record.CommandPkg, Name: commandCase, Side: side})
	}
	if err := c.check(plan); err != nil {
		return nil, err
	}
	run := &ABRun{Plan: plan, Versions: &Versions{Old: texts[0], New: texts[1]}}
	j := &job{plan: plan, from: from, path: c.Out}
	err := r.run(ctx, c.Idle, func(ctx context.Context) ([]*job, error) {
		took, err := r.tryCommands(ctx, both, plan.Timeout)
		if err != nil {
			return nil, err
		}
		if from == nil {
			if less := sizeCommands(c, plan, took); less != "" {
				fmt.Fprintf(r.con, "note: %s\n", less)
			}
			warnTooFew(r.con, plan, DefaultAB().Blocks)
		}
		j.subject = command.New(r.processes, both[0], both[1], plan.Timeout)
		j.here = session.Describe(ctx, c.Dir, c.Machine, cmp.Or(c.Out, c.Resume))
		var fixed record.Settings
		for i, side := range sides {
			fixed.Add(side, texts[i])
		}
		j.here.Fixed = append(fixed.List, j.here.Fixed...)
		if j.path == "" && from == nil {
			j.path = resultsPath(ctx, c.Dir, j.here.Machine, "", "ab-commands", time.Now())
		}
		return []*job{j}, nil
	}, func(ctx context.Context) error {
		run.Path = j.path
		return then(ctx, run)
	})
	return run, err
}

// tryCommands runs both twice, and returns how long the slower one took then.
func (r *Runner) tryCommands(ctx context.Context, both [2]command.Command, timeout time.Duration) (took time.Duration, err error) {
	for i, c := range both {
		for n := range 2 {
			s, err := c.Once(ctx, nil, timeout)
			var f *program.Failure
			if errors.As(err, &f) {
				return 0, fmt.Errorf("nothing was measured: the %s command %q %s", sides[i], c.Text, describe(err))
			}
			if err != nil {
				return 0, err
			}
			if n > 0 {
				took = max(took, s.Elapsed)
			}
		}
	}
	return took, nil
}

// sizeCommands chooses how much of commands is measured that take so long. A slice is mostly
// one process. It is planned as half of what that takes, because a session warms up by
// fewer slices where they take longer than planned, and each process is a new one anyway. It
// returns what session.Size does.
func sizeCommands(c *AB, plan *record.Plan, took time.Duration) (less string) {
	const (
		inBlock     = 400 * time.Millisecond // of each side, about
		fewest, few = 4, 60
	)
	if !c.given("slice") {
		plan.Slice = max(session.FigureSlice, took*45/100)
	}
	if !c.given("rounds") {
		plan.Rounds = min(max(fewest, int(inBlock/max(took, plan.Slice))), few)
	}
	less = c.size(plan, 1)
	plan.Layouts = 1
	return less
}
