package child

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A Process is a child with a process group of its own: an interrupt from the terminal is
// not for it, and whatever it has started and left behind ends with it. Its output is kept.
type Process struct {
	Cmd            *exec.Cmd
	Stdout, Stderr Buffer

	ended chan struct{}
	exit  error // to be read when ended is closed

	mu     sync.Mutex
	killed error // why we have killed it, nil if we have not
}

// Run starts cmd as [Start] does.
func Run(cmd *exec.Cmd) (*Process, error) { return RunThen(cmd, nil) }

// RunThen is [Run]. started is called by the thread that has started the process, as only that one
// may trace it, and its error ends it; nil is nothing.
func RunThen(cmd *exec.Cmd, started func(pid int) error) (*Process, error) {
	p := &Process{Cmd: cmd, ended: make(chan struct{})}
	stdout, err := NewPipe(&p.Stdout)
	if err != nil {
		return nil, err
	}
	stderr, err := NewPipe(&p.Stderr)
	if err != nil {
		stdout.End()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = stdout.Write, stderr.Write
	if err := start(cmd, started); err != nil {
		stdout.End()
		stderr.End()
		return nil, err
	}
	stdout.Write.Close()
	stderr.Write.Close()
	go func() {
		p.exit = cmd.Wait()
		KillGroup(cmd) // those that are left of it
		stdout.End()
		stderr.End()
		close(p.ended)
	}()
	return p, nil
}

// startThen starts cmd and calls started.
func startThen(cmd *exec.Cmd, started func(pid int) error) error {
	err := cmd.Start()
	if err != nil || started == nil {
		return err
	}
	if err = started(cmd.Process.Pid); err != nil {
		KillGroup(cmd)
		_ = cmd.Wait()
	}
	return err
}

// A Pipe copies what a process writes. Package os/exec has such pipes, too, but waits for
// their end, which a grandchild that has left the process group can put off for ever, or
// gives them up after a time, which on a busy machine is too early for the last words.
type Pipe struct {
	Write *os.File // for the process; to be closed when that has started

	read    *os.File
	to      io.Writer
	drained chan struct{} // closed when copying has ended
}

// NewPipe returns a pipe that copies to an io.Writer, until [Pipe.End].
func NewPipe(to io.Writer) (*Pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &Pipe{Write: w, read: r, to: to, drained: make(chan struct{})}
	go func() {
		_, _ = io.Copy(to, r)
		close(p.drained)
	}()
	return p, nil
}

// End closes the pipe of a process that has ended. All that the process has written is
// copied by then. Other processes that still have the pipe are not waited for.
func (p *Pipe) End() {
	p.Write.Close()
	if p.read.SetReadDeadline(time.Now()) != nil {
		// The system has no deadlines for pipes.
		select {
		case <-p.drained:
			p.read.Close()
		case <-time.After(10 * time.Second): // to be closed would have to wait, too
		}
		return
	}
	<-p.drained
	_, _ = p.to.Write(Rest(p.read))
	p.read.Close()
}

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Failed reports whether the process, which has ended, ended with anything but success.
func (p *Process) Failed() bool { return p.exit != nil }

// Kill ends the process and its children at once. why is what Killed returns, but for an
// earlier reason.
func (p *Process) Kill(why error) {
	p.mu.Lock()
	if p.killed == nil {
		p.killed = why
	}
	p.mu.Unlock()
	select {
	case <-p.ended: // another process may have its number by now
	default:
		KillGroup(p.Cmd)
	}
}

// Killed returns why the process was killed; nil if it was not.
func (p *Process) Killed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// EndHung ends a process that takes too long. The Go runtime answers the first signal with
// the stacks of all goroutines, which say where it hangs: see [WhereHung].
func (p *Process) EndHung() {
	AskForStacks(p.Cmd)
	select {
	case <-p.ended:
	case <-time.After(2 * time.Second):
		KillGroup(p.Cmd)
		<-p.ended
	}
}

// Printed returns what the process has printed on both streams.
func (p *Process) Printed() string {
	s := p.Stdout.String()
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n" // the runtime's last words begin a line
	}
	return s + p.Stderr.String()
}
