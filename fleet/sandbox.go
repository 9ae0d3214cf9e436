package fleet

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/machinelock"
)

// A Sandbox says how jobs are kept from the machine that carries them out. They are programs
// of other users.
type Sandbox struct {
	Off bool // run them as the agent's own: Unsafe, or a fleet of one's own
	// Unsafe allows Off where others can send jobs.
	Unsafe bool
	UID    int // of jobs: a user of their own, who owns nothing
	Memory int64
	Procs  int
}

// check returns an error for a machine that would carry out what others send without a
// sandbox. On loopback, with no key but the user's own, jobs are what this user could run as
// well.
func (s *Sandbox) check(server, own string, allow []string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	others := slices.ContainsFunc(allow, func(key string) bool { return key != own })
	switch {
	case !isLoopback(u.Hostname()) && u.Scheme != "tls" && !s.Unsafe:
		return fmt.Errorf("%s is not of this machine and not encrypted: use tls://, or --unsafe", server)
	case isLoopback(u.Hostname()) && !others:
		return nil
	case s.Off && !s.Unsafe:
		return errors.New("jobs of others would run without a sandbox: join as root on Linux, where they get a user of their own, no network and limits; or say --unsafe")
	}
	return nil
}

// command returns the command that carries out the job in folder. The lock, if it is not nil,
// is handed to it.
func (s *Sandbox) command(name string, args []string, folder string, lock *os.File) (*exec.Cmd, error) {
	if !s.Off {
		return s.confined(name, args, folder, lock)
	}
	cmd := exec.Command(name, append(args, "--work", filepath.Join(folder, "work"), "--out", filepath.Join(folder, "out", "results.bench"), folder)...)
	cmd.Env = withLock(os.Environ(), lock)
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
	return cmd, nil
}

// withLock is an environment in which a process has the machine's lock.
func withLock(env []string, lock *os.File) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, machinelock.Env+"=") })
	if lock == nil {
		return append(env, machinelock.Env+"="+machinelock.Off)
	}
	return append(env, machinelock.Env+"="+machinelock.Inherited)
}
