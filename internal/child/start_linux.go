package child

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Start starts the process in a process group of its own. If the calling program
// is killed, even by a signal that it cannot handle, the process is killed too: one
// that hangs would otherwise disturb what is measured for as long as the machine
// runs, and it would not be known whose it is.
//
// Linux ties this to the thread that has started the process, and ends threads
// before programs. So all processes are started by one thread that is kept.
func Start(cmd *exec.Cmd) error { return start(cmd, nil) }

// start is Start. The thread that has started the process calls started, unless that is nil.
func start(cmd *exec.Cmd, started func(pid int) error) error {
	starter.once.Do(func() {
		starter.work, starter.errs = make(chan func() error), make(chan error)
		go func() {
			runtime.LockOSThread()
			for work := range starter.work {
				starter.errs <- work()
			}
		}()
	})
	OwnGroup(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	starter.mu.Lock()
	defer starter.mu.Unlock()
	starter.work <- func() error { return startThen(cmd, started) }
	return <-starter.errs
}

// starter is the thread. Its goroutine takes what it is to do and gives the error back.
var starter struct {
	once sync.Once
	mu   sync.Mutex // from work to its error
	work chan func() error
	errs chan error
}
