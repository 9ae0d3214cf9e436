//go:build amd64 || arm64

package counter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// The kernel gives each process sixteen random bytes. They are all that Go's runtime makes its
// chance of: seeds of maps, which case a select takes, where the heap begins. Valgrind hands them
// on. So a process that is traced until it is Valgrind's tool, and given others then, does the same
// as any other of the same bytes.

// atRandom is the type of the auxiliary value that points to the bytes.
const atRandom = 25

// tracing makes cmd one that waits to be traced.
func tracing(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true} }

// seed lets a process go on that waits to be traced, and gives it the bytes of number n when it has
// become the tool. Only the thread that started the process may call it.
func seed(pid, n int) error {
	for {
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
			return err
		}
		if !ws.Stopped() {
			return errors.New("the launcher of Valgrind ended before its tool began")
		}
		sig := ws.StopSignal()
		if sig == syscall.SIGTRAP {
			sig = 0 // it has become another program
			if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && strings.HasPrefix(filepath.Base(exe), "cachegrind-") {
				return errors.Join(poke(pid, n), syscall.PtraceDetach(pid))
			}
		}
		if err := syscall.PtraceCont(pid, int(sig)); err != nil {
			return err
		}
	}
}

// poke writes the bytes of number n.
func poke(pid, n int) error {
	aux, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return err
	}
	for ; len(aux) >= 16; aux = aux[16:] {
		if binary.NativeEndian.Uint64(aux) == atRandom {
			bytes := []byte("dyno's chance ..")
			binary.LittleEndian.PutUint16(bytes[len(bytes)-2:], uint16(n))
			_, err := syscall.PtracePokeData(pid, uintptr(binary.NativeEndian.Uint64(aux[8:])), bytes)
			return err
		}
	}
	return fmt.Errorf("process %d has no random bytes", pid)
}

// seeds reports whether processes can be given their bytes here: not where tracing is forbidden.
func (t *Tool) seeds() bool {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		cmd := exec.Command(t.path, "--tool=cachegrind", "--version")
		tracing(cmd)
		if cmd.Start() != nil {
			done <- false
			return
		}
		can := seed(cmd.Process.Pid, 0) == nil
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it may have ended while it was traced
		done <- can
	}()
	return <-done
}
