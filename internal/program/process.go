package program

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/failure"
)

// A Process is a benchmark that is being driven. Its methods must not be called
// concurrently, but for Close.
type Process struct {
	c       Config
	proc    *child.Process
	in      *os.File // commands
	out     *os.File // answers
	answers *bufio.Reader
	hello   Hello
	err     error // of a process that is of no more use
	frozen  bool  // it is stopped, from Freeze to the next command
	sum     Slice // operations and time since the last reset

	mu       sync.Mutex
	counters Counters // nil if nothing counts

	close func() error
	stop  func() bool // watching the context
}

// Start starts a benchmark and returns when it is ready for its first slice. Its
// error is a [*Refusal], a [*Failure], or wraps [ErrUnsupported] or what has ended ctx, which
// ends the process at once.
func Start(ctx context.Context, c Config) (*Process, error) {
	if err := Supported(); err != nil {
		return nil, err
	}
	if c.Slow < 0 || strings.ContainsFunc(c.Benchmark, func(r rune) bool { return r <= ' ' }) || c.Benchmark == "" {
		panic(fmt.Sprintf("program: cannot drive %q with a slow-down of %v", c.Benchmark, c.Slow))
	}
	c.CPU = max(c.CPU, 1)
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.Attach == nil {
		c.Attach = machineCounters
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	p := &Process{c: c}
	if err := p.start(); err != nil {
		return nil, err
	}
	p.stop = context.AfterFunc(ctx, func() { p.proc.Kill(context.Cause(ctx)) })
	if err := p.greet(); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// start starts the process.
func (p *Process) start() error {
	commands, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		commands.Close()
		in.Close()
		return err
	}
	p.in, p.out, p.answers = in, out, bufio.NewReader(out)
	p.close = sync.OnceValue(func() error {
		<-p.proc.Ended()
		return errors.Join(in.Close(), out.Close(), p.StopCounting())
	})
	cmd := exec.Command(p.c.Path, p.c.Args...)
	cmd.Dir = p.c.Dir
	cmd.Env = append(append(os.Environ(), p.c.Env...), Variable+"="+p.c.drive())
	cmd.ExtraFiles = []*os.File{commands, answers}
	p.proc, err = child.Run(cmd)
	commands.Close()
	answers.Close()
	if err != nil {
		in.Close()
		out.Close()
		return &Failure{Reason: "does not start: " + err.Error()}
	}
	go func() {
		<-p.proc.Ended()
		p.endReading()
	}()
	return nil
}

// greet waits for the process to be ready.
func (p *Process) greet() error {
	a, err := p.answer(saysHello)
	if err != nil {
		return err
	}
	h := Hello{Mode: a.next(), Unit: 1, Pid: p.proc.Cmd.Process.Pid}
	if n, known := a.optional(); known {
		h.Unit = int(n)
	}
	h.Probe = a.duration()
	a.values()
	if !slices.Contains([]string{ModeSession, ModeLoop, ModeRunN}, h.Mode) {
		a.fault(fmt.Errorf("there is no mode %.40q", h.Mode))
	}
	if h.Unit < 1 || h.Unit > mostUnit {
		a.fault(fmt.Errorf("a unit of %d operations, which is not between 1 and %d", h.Unit, int(mostUnit)))
	}
	if err := p.check(a); err != nil {
		return err
	}
	p.hello = h
	return nil
}

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.proc.Ended() }

// mostUnit bounds Hello.Unit: a slice is no shorter.
const mostUnit = 1e9

// Hello returns what the process said when it was ready.
func (p *Process) Hello() Hello { return p.hello }

// Run measures one slice of n operations, n ≥ 1. After an error, which is of the
// kinds that Start returns, the process is of no more use.
func (p *Process) Run(n int) (Slice, error) { return p.slice(commandRun, n) }

// Call is Run, with a collection of garbage before the slice, as go test has one
// before each call of a benchmark function: for slices that are as long as go test's
// calls. In other modes than ModeRunN there is no such collection.
func (p *Process) Call(n int) (Slice, error) { return p.slice(commandCall, n) }

func (p *Process) slice(c command, n int) (Slice, error) {
	if n < 1 {
		panic("program: a slice of no operations")
	}
	counted := p.count()
	began := time.Now()
	a, err := p.ask(c, strconv.Itoa(n))
	if err != nil {
		return Slice{}, err
	}
	s := Slice{N: int(a.uint()), Wall: time.Since(began)}
	s.Hardware, s.NoHardware = counted()
	s.Elapsed, s.CPU = a.nanoseconds(a.uint()), a.duration()
	var allocs, bytes bool
	s.Allocs, allocs = a.optional()
	s.Bytes, bytes = a.optional()
	s.NoMemory = !allocs || !bytes
	gcs, _ := a.optional()
	s.GCs = uint32(gcs)
	v := a.values()
	s.Extra, s.Counters = v[kindExtra], v[kindCounter]
	if s.N != n {
		a.fault(fmt.Errorf("a slice of %d operations, when %d were due", s.N, n))
	}
	p.sum.N += s.N
	p.sum.Elapsed += s.Elapsed
	return s, p.check(a)
}

// Freeze stops the process until its next command: see docs/driving.md. It reports whether
// the system can do that; where it cannot, the process waits for its command and does the
// rest.
func (p *Process) Freeze() bool {
	if p.err == nil && !p.frozen {
		p.frozen = child.Freeze(p.proc.Cmd)
	}
	return p.frozen
}

// thaw lets the process go on.
func (p *Process) thaw() {
	if p.frozen {
		child.Thaw(p.proc.Cmd)
		p.frozen = false
	}
}

// Usage returns what the process has used so far.
func (p *Process) Usage() (Usage, error) {
	a, err := p.ask(commandUsage)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{CPU: a.duration(), GCCPU: a.duration()}
	u.LiveHeap, _ = a.optional()
	u.HeapGoal, _ = a.optional()
	a.values()
	return u, p.check(a)
}

// Reset has the benchmark forget the slices it has measured, which were to warm
// up: its metrics count from here.
func (p *Process) Reset() error {
	p.sum = Slice{}
	a, err := p.ask(commandReset)
	if err != nil {
		return err
	}
	a.values()
	return p.check(a)
}

// The kinds of profiles that StartProfile knows, as of runtime/pprof.
const (
	ProfileCPU    = "cpu"
	ProfileMutex  = "mutex"
	ProfileBlock  = "block"
	ProfileAllocs = "allocs"
)

// StartProfile begins to profile the process, to be called between slices that are
// not for measuring: profiles slow them down. EndProfile ends it and writes the
// file path. As kinds other than ProfileCPU count from the beginning of the
// process, what they had counted before is written to path+".before".
func (p *Process) StartProfile(kind, path string) error {
	return p.profile(commandProfile, kind, path)
}

// EndProfile ends the profile that StartProfile has begun.
func (p *Process) EndProfile() error { return p.profile(commandEndProfile) }

// profile gives a command that can fail without harm to the process.
func (p *Process) profile(c command, args ...string) error {
	if text := strings.Join(args, " "); strings.Contains(text, "\n") || len(text) > 4096 {
		return fmt.Errorf("program: a profile cannot have the name %.100q", text)
	}
	a, err := p.ask(c, args...)
	if err != nil {
		return err
	}
	if why := a.optionalText(); why != "" {
		return errors.New("program: a profile: " + why)
	}
	a.values()
	return p.check(a)
}

// Finish ends the benchmark and returns what it reports. It fails with a
// [*Failure] if the benchmark finds its results to be wrong. The process has
// ended then.
func (p *Process) Finish() (Result, error) {
	a, err := p.ask(commandFinish)
	if err != nil {
		return Result{}, err
	}
	r := Result{Line: strings.TrimSpace(a.optionalText())}
	v := a.values()
	r.Extra, r.Resources = v[kindExtra], v[kindResource]
	if r.Line == "" {
		r.Line = p.total(r.Extra)
	}
	if err := p.check(a); err != nil {
		return Result{}, err
	}
	// What comes after the benchmark, such as the end of a TestMain, may find
	// fault with it too.
	select {
	case <-p.proc.Ended():
	case <-time.After(p.c.Timeout):
		return Result{}, p.hang()
	}
	if p.proc.Killed() != nil || p.proc.Failed() {
		return Result{}, p.dead()
	}
	r.Units = slices.Concat(p.c.Units, UnitLines(p.proc.Stdout.String()))
	return r, p.Close()
}

// UnitLines returns the Unit lines in what a process has printed, without that word.
func UnitLines(printed string) (lines []string) {
	for line := range strings.Lines(printed) {
		if rest, ok := strings.CutPrefix(line, "Unit "); ok {
			lines = append(lines, strings.TrimSpace(rest))
		}
	}
	return lines
}

// total returns what package testing would print of all slices since the last Reset, and
// of the metrics that the benchmark reports; "" if there was no slice.
func (p *Process) total(extra map[string]float64) string {
	if p.sum.N == 0 {
		return ""
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	line := strconv.Itoa(p.sum.N)
	if _, own := extra[perOperation]; !own {
		line += "\t" + number(float64(p.sum.Elapsed)/float64(p.sum.N)) + " " + perOperation
	}
	for _, unit := range slices.Sorted(maps.Keys(extra)) {
		line += "\t" + number(extra[unit]) + " " + unit
	}
	return line
}

// perOperation is the unit of an operation's time.
const perOperation = "ns/op"

// Close kills what is left of the process and of those it has started. It may be
// called at any time, more than once, and by any goroutine.
func (p *Process) Close() error {
	if p.stop != nil {
		p.stop()
	}
	p.proc.Kill(errClosed)
	return p.close()
}

var errClosed = errors.New("program: the process has been closed")

// ask gives a command and returns what follows the answer's first word.
func (p *Process) ask(c command, args ...string) (*answer, error) {
	if p.err != nil {
		return nil, p.err
	}
	p.thaw()
	// A process that has gone is seen by its not answering, which says more.
	_, _ = io.WriteString(p.in, strings.Join(append([]string{c.word}, args...), " ")+"\n")
	return p.answer(c.answer)
}

// endReading ends a read of answers after the end of the process: another process that it
// has started may have its end of the pipe, too.
func (p *Process) endReading() { _ = p.out.SetReadDeadline(time.Unix(1, 0)) }

// line waits for a line of answers until a deadline, or until the process has ended and all
// that it has answered is read.
func (p *Process) line(deadline time.Time) (string, error) {
	if err := p.out.SetReadDeadline(deadline); err != nil {
		return "", err
	}
	if p.hasEnded() { // before the deadline was set
		p.endReading()
	}
	line, err := p.answers.ReadString('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) && p.hasEnded() {
		rest := io.MultiReader(strings.NewReader(line), bytes.NewReader(child.Rest(p.out)))
		p.answers = bufio.NewReader(rest)
		return p.answers.ReadString('\n')
	}
	return line, err
}

func (p *Process) hasEnded() bool {
	select {
	case <-p.proc.Ended():
		return true
	default:
		return false
	}
}

// answer waits for an answer that begins with word.
func (p *Process) answer(word string) (*answer, error) {
	deadline := time.Now().Add(p.c.Timeout)
	line, err := p.line(deadline)
	if err != nil {
		return nil, p.gone(err, deadline)
	}
	a := &answer{fields: strings.Split(strings.TrimSuffix(line, "\n"), "\t")}
	switch got := a.next(); got {
	case word:
		return a, nil
	case saysRefused:
		return nil, p.fail(&Refusal{cmp.Or(a.optionalText(), noReason)})
	case saysSkipped:
		return nil, p.fail(&Failure{Kind: failure.Skip, Reason: "skipped: " + reason(a.optionalText())})
	case saysFailed:
		return nil, p.fail(&Failure{Kind: failure.Fail, Reason: "failed: " + reason(a.optionalText()), Output: child.Excerpt(p.proc.Printed())})
	}
	return nil, p.fail(fmt.Errorf("program: the process said %.100q when %s was due", line, word))
}

// check fails if the answer a could not be read.
func (p *Process) check(a *answer) error {
	if a.err == nil && len(a.fields) > 0 {
		a.err = fmt.Errorf("%q is left", a.fields)
	}
	if a.err != nil {
		return p.fail(fmt.Errorf("program: reading an answer: %w", a.err))
	}
	return nil
}

// fail remembers why the process is of no more use.
func (p *Process) fail(err error) error {
	p.err = err
	return err
}

// gone says why there was no answer until the deadline, but err.
func (p *Process) gone(err error, deadline time.Time) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && p.proc.Killed() == nil {
		return p.hang()
	}
	// No process has the other end open any more: this one is about to end.
	select {
	case <-p.proc.Ended():
	case <-time.After(time.Until(deadline)):
		return p.hang()
	}
	return p.dead()
}

// hang ends a process that takes too long.
func (p *Process) hang() error {
	p.proc.EndHung()
	if why := p.proc.Killed(); why != nil {
		return p.fail(why)
	}
	return p.fail(Hung(fmt.Sprintf("no answer after %v", p.c.Timeout), p.proc.Printed()))
}

// Hung is the failure of a process that took too long, and has printed its stacks if it was
// a Go program. what says what it did not do in time.
func Hung(what, printed string) *Failure {
	return &Failure{
		Kind:   failure.Hang,
		Reason: what + ": hangs, or needs a longer --timeout" + child.At(child.WhereHung(printed)),
		Output: child.Excerpt(printed),
	}
}

// dead says why a process has ended that should not have.
func (p *Process) dead() error {
	if why := p.proc.Killed(); why != nil {
		return p.fail(why)
	}
	said, state := p.proc.Printed(), p.proc.Cmd.ProcessState
	f := Ended(said, state)
	if state.Success() {
		// It is in order, but for the benchmark.
		if f.Kind, f.Reason = failure.Unstarted, "ended without running a benchmark"; p.hello.Mode != "" {
			f.Kind, f.Reason = "", "the benchmark or its package ended the process"+LastLine(said)
		}
	}
	return p.fail(f)
}

// noReason stands for a reason that is not given.
const noReason = "no reason given"

// reason returns text, which is a reason or a benchmark's log, in one line: of a log the
// latest entry.
func reason(text string) string {
	entry := child.LatestEntry(text)
	if entry == "" {
		entry, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	}
	return cmp.Or(entry[len(logPosition.FindString(entry)):], noReason)
}

// logPosition is where a line of a test's log is from: "file.go:12: ".
var logPosition = regexp.MustCompile(`^[^\s:]+\.go:\d+: `)
