package counter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// A Tool counts instructions.
type Tool struct {
	path    string
	version string // as it says it: "valgrind-3.19.0"
	seeded  bool   // it can be told by which chance a process goes
}

// ErrNone is the error of a system that has no tool.
var ErrNone = errors.New("nothing here counts instructions: install Valgrind (Debian and Ubuntu: apt-get install valgrind)")

// Find returns the tool of this system. Its error is [ErrNone] if there is none, or says why it
// does not run.
func Find(ctx context.Context) (*Tool, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("instructions are counted by Valgrind, which knows Go programs on Linux only, and this is %s", runtime.GOOS)
	}
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, ErrNone
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	version, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", path, err)
	}
	t := &Tool{path: path, version: strings.TrimSpace(string(version))}
	t.seeded = t.seeds()
	return t, nil
}

// String names the tool and its version, as results do.
func (t *Tool) String() string { return "cachegrind of " + t.version }

// Under returns the command, without the program and its arguments, that runs a program and writes
// what it counts into the file out.
func (t *Tool) Under(out string) []string {
	// Caches that are not simulated are laid out all the same, as large as the processor's, and a
	// program that is over soon is translated in less time without following its jumps.
	const cache = "128,1,64"
	return []string{
		t.path, "-q", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=no", "--vgdb=no",
		"--I1=" + cache, "--D1=" + cache, "--LL=" + cache, "--vex-guest-chase=no",
		"--cachegrind-out-file=" + strings.ReplaceAll(out, "%", "%%"),
	}
}

// Seed makes cmd, which begins with [Tool.Under], one of those whose chance has number n: they do the
// same, as far as that goes by chance. started is to be called by the thread that has started it; nil
// means that chance cannot be chosen here.
func (t *Tool) Seed(cmd *exec.Cmd, n int) (started func(pid int) error) {
	if !t.seeded {
		return nil
	}
	tracing(cmd)
	return func(pid int) error { return seed(pid, n) }
}

// Seeded reports whether the chance of processes can be chosen.
func (t *Tool) Seeded() bool { return t.seeded }

// settings are what the Go runtime is asked for, so that what it does depends on the program and
// not on the clock, which is fifty times as fast beside a simulated processor:
//
//   - asyncpreemptoff: no signal ends a goroutine's slice.
//   - gcstoptheworld: a collection is done at once. A concurrent one shares the processor by time
//     and costs more or less from process to process.
//   - randautoseed: package math/rand has the same numbers in each process, where the program does not
//     seed it. It locks for each, which is counted.
//   - cpu.rdtscp: Valgrind 3.19 ends a program by SIGILL at this instruction on some processors,
//     although the processor that it simulates says that it has it.
const settings = "asyncpreemptoff=1,gcstoptheworld=1,randautoseed=0,cpu.rdtscp=off"

// Env returns the environment of a process whose instructions are counted, with the user's own
// settings of GODEBUG.
func (t *Tool) Env() []string {
	godebug := settings
	if own := os.Getenv("GODEBUG"); own != "" {
		godebug = own + "," + settings
	}
	return []string{"GODEBUG=" + godebug}
}
