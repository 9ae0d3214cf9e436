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
func Run(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd, ended: make(chan struct{})}
	stdout, err := newPipe(&p.Stdout)
	if err != nil {
		return nil, err
	}
	stderr, err := newPipe(&p.Stderr)
	if err != nil {
		stdout.write.Close()
		stdout.end()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = stdout.write, stderr.write
	err = Start(cmd)
	stdout.write.Close()
	stderr.write.Close()
	if err != nil {
		stdout.end()
		stderr.end()
		return nil, err
	}
	go func() {
		p.exit = cmd.Wait()
		KillGroup(cmd) // those that are left of it, and hold the pipes open
		stdout.end()
		stderr.end()
		close(p.ended)
	}()
	return p, nil
}

// A pipe takes what a process prints to a Buffer. Package os/exec has such pipes too, and
// gives them up some time after the process has ended: either too early for a machine that
// is busy, and the process's last words are lost, or late for who waits for a grandchild,
// which only then can be killed.
type pipe struct {
	read, write *os.File
	drained     chan struct{} // closed when all has been read
}

func newPipe(to io.Writer) (*pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &pipe{r, w, make(chan struct{})}
	go func() {
		_, _ = io.Copy(to, r)
		close(p.drained)
	}()
	return p, nil
}

// end waits until all has been read: until no process has the pipe open any more for writing.
func (p *pipe) end() {
	// A process may have left the process group, or the system may have none.
	_ = p.read.SetReadDeadline(time.Now().Add(10 * time.Second))
	<-p.drained
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
