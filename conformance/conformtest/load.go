package conformtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
)

// loadEnv is set in a process that loads the machine.
const loadEnv = "DYNO_CONFORM_LOAD"

// startLoad loads every core by a process of its own, so that the operating
// system takes processors away from this one at moments that Go's scheduler
// would not choose. The process is this test binary, with the one test called
// name, which must be one that calls Run.
func startLoad(name string) (stop func(), err error) {
	cmd := exec.Command(os.Args[0], "-test.run="+exactly(name), "-test.count=1")
	cmd.Env = append(os.Environ(), loadEnv+"=1")
	// The pipe ends the process, too, should this one be killed.
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot load the cores: %w", err)
	}
	return func() {
		_ = stdin.Close()
		_ = cmd.Wait() // its exit status says nothing
	}, nil
}

// beLoad keeps every core busy until standard input ends, and does not return.
func beLoad() {
	for range runtime.NumCPU() {
		go func() {
			var turns atomic.Int64
			for {
				turns.Add(1)
			}
		}()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
