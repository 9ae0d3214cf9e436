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
// runs, and nobody would know whose it is.
//
// Linux ties this to the thread that has started the process, and ends threads
// before programs. So all processes are started by one thread that is kept.
func Start(cmd *exec.Cmd) error {
	starter.once.Do(func() {
		starter.cmds, starter.errs = make(chan *exec.Cmd), make(chan error)
		go func() {
			runtime.LockOSThread()
			for cmd := range starter.cmds {
				starter.errs <- startHere(cmd)
			}
		}()
	})
	starter.mu.Lock()
	defer starter.mu.Unlock()
	starter.cmds <- cmd
	return <-starter.errs
}

// StartPrepared starts the process as Start does, but by a thread of its own, on
// which it has called prepare just before. So the process inherits what prepare has
// given that thread, such as performance counters, and no other process does.
//
// The thread is kept until ended is closed, which must not be before the process
// has ended.
func StartPrepared(cmd *exec.Cmd, prepare func(), ended <-chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		prepare()
		err := startHere(cmd)
		started <- err
		if err == nil {
			<-ended
		}
	}()
	return <-started
}

// startHere starts the process by the calling thread, with whose end it is killed.
func startHere(cmd *exec.Cmd) error {
	OwnGroup(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd.Start()
}

// starter is the thread of Start. Its goroutine takes a command and gives its error
// back.
var starter struct {
	once sync.Once
	mu   sync.Mutex // from a command to its error
	cmds chan *exec.Cmd
	errs chan error
}
