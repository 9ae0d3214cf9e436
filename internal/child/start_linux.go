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
func Start(cmd *exec.Cmd) error {
	starter.once.Do(func() {
		starter.cmds, starter.errs = make(chan *exec.Cmd), make(chan error)
		go func() {
			runtime.LockOSThread()
			for cmd := range starter.cmds {
				starter.errs <- cmd.Start()
			}
		}()
	})
	OwnGroup(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	starter.mu.Lock()
	defer starter.mu.Unlock()
	starter.cmds <- cmd
	return <-starter.errs
}

// starter is the thread. Its goroutine takes a command and gives its error back.
var starter struct {
	once sync.Once
	mu   sync.Mutex // from a command to its error
	cmds chan *exec.Cmd
	errs chan error
}
