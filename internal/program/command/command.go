// Package command makes any two programs what a session compares: a whole process, from its
// start to its end, is an operation. The programs know nothing of it.
//
//  1. [Parse] takes a command line apart.
//  2. [Command.Once] runs it and says how long it took, or why it failed.
//  3. [Commands] are a session's subject: the sides of one benchmark, which take turns.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A Command is a command line.
type Command struct {
	Text string // as it was given
	Args []string
	Path string // of the program
	Hash string // see program.HashFile
}

// Parse takes a command line apart, as a shell does with quotes and backslashes; with shell
// it is left to one. What only a shell understands is an error then.
func Parse(text string, shell bool) (Command, error) {
	c := Command{Text: text}
	if shell {
		c.Args = []string{"/bin/sh", "-c", text}
	} else {
		var err error
		if c.Args, err = words(text); err != nil {
			return c, fmt.Errorf("the command %q: %w", text, err)
		}
	}
	if len(c.Args) == 0 {
		return c, errors.New("a command is empty")
	}
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return c, fmt.Errorf("the command %q: %w", text, err)
	}
	c.Path = path
	c.Hash, err = program.HashFile(path)
	return c, err
}

// words splits a command line into words.
func words(text string) (all []string, err error) {
	var word strings.Builder
	in, quote := false, rune(0)
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			if r == '$' && quote == '"' || r == '`' && quote == '"' {
				return nil, needsShell(r)
			}
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				all = append(all, word.String())
				word.Reset()
			}
			in = false
		case strings.ContainsRune("|&;<>$`*?()~", r):
			return nil, needsShell(r)
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		all = append(all, word.String())
	}
	return all, nil
}

func needsShell(r rune) error { return fmt.Errorf("%c is for a shell: --shell has one", r) }

// Once runs the command in the working directory, with env added to its environment. Its
// error is a [*program.Failure], with what the command printed, or what has ended ctx.
func (c Command) Once(ctx context.Context, env []string, timeout time.Duration) (program.Slice, error) {
	cmd := exec.Command(c.Path, c.Args[1:]...)
	cmd.Args[0] = c.Args[0]
	cmd.Env = append(os.Environ(), env...)
	began := time.Now()
	p, err := child.Run(cmd)
	if err != nil {
		return program.Slice{}, &program.Failure{Reason: "does not start: " + err.Error()}
	}
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	select {
	case <-p.Ended():
	case <-ctx.Done():
		p.Kill(context.Cause(ctx))
		<-p.Ended()
		return program.Slice{}, context.Cause(ctx)
	case <-limit.C:
		p.EndHung()
		return program.Slice{}, program.Hung(fmt.Sprintf("not finished after %v", timeout), p.Printed())
	}
	took := time.Since(began)
	state := cmd.ProcessState
	if p.Failed() {
		return program.Slice{}, program.Ended(p.Printed(), state)
	}
	return program.Slice{N: 1, Elapsed: took, CPU: state.UserTime() + state.SystemTime(), NoMemory: true}, nil
}

// Commands are the two sides of one benchmark. They implement session.Subject.
type Commands struct {
	ctx     context.Context // of the processes
	timeout time.Duration   // of one
	sides   map[string]Command
}

// New returns the commands of the sides old and new. Processes are ended when ctx ends.
func New(ctx context.Context, before, after Command, timeout time.Duration) *Commands {
	return &Commands{ctx, timeout, map[string]Command{record.SideOld: before, record.SideNew: after}}
}

// Start implements session.Subject.
func (c *Commands) Start(_ int, s record.Step, env []string) (session.Driver, error) {
	return &driver{c: c, command: c.sides[s.Case.Side], env: env}, nil
}

// Measure implements session.Subject. Sides take turns, always.
func (c *Commands) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	return session.Single(s, block, "", nil, &program.Failure{Reason: "commands are only measured alternately"})
}

// A driver runs the command of a step again and again. Between slices no process is there.
type driver struct {
	c       *Commands
	command Command
	env     []string

	used time.Duration // processor time since it began
	sum  program.Slice // since the last reset
}

func (d *driver) Hello() program.Hello {
	return program.Hello{Mode: program.ModeSession, Unit: 1, Pid: os.Getpid()}
}

func (d *driver) Run(n int) (program.Slice, error) {
	all := program.Slice{N: n, NoMemory: true}
	for range n {
		one, err := d.command.Once(d.c.ctx, d.env, d.c.timeout)
		if err != nil {
			return program.Slice{}, err
		}
		all.Elapsed += one.Elapsed
		all.CPU += one.CPU
	}
	d.used += all.CPU
	d.sum.N += n
	d.sum.Elapsed += all.Elapsed
	return all, nil
}

func (d *driver) Call(n int) (program.Slice, error) { return d.Run(n) }

func (d *driver) Usage() (program.Usage, error) { return program.Usage{CPU: d.used}, nil }

func (d *driver) Freeze() bool { return true }

func (d *driver) CountHardware() error {
	return errors.New("they count what one process does, and each operation is another one")
}

func (d *driver) StopCounting() error { return nil }

func (d *driver) Reset() error {
	d.sum = program.Slice{}
	return nil
}

func (d *driver) Finish() (program.Result, error) {
	if d.sum.N == 0 {
		return program.Result{}, nil
	}
	return program.Result{Line: fmt.Sprintf("%d\t%v ns/op", d.sum.N, float64(d.sum.Elapsed)/float64(d.sum.N))}, nil
}

func (d *driver) Close() error { return nil }

// Supported returns an error where processes cannot be measured so.
func Supported() error {
	if runtime.GOOS == "windows" {
		return fmt.Errorf("%w: commands are compared on Linux, macOS and other Unix systems", program.ErrUnsupported)
	}
	return nil
}
