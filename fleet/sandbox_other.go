//go:build !linux

package fleet

import (
	"errors"
	"os"
	"os/exec"
)

// CanConfine reports whether this process can give jobs a sandbox.
func CanConfine() bool { return false }

func (s *Sandbox) confined(string, []string, string, *os.File) (*exec.Cmd, error) {
	return nil, errors.New("there is no sandbox on this system")
}

// InsideCommand is for systems with a sandbox.
const InsideCommand = "inside"

// Inside is for systems with a sandbox.
func Inside([]string) error { return errors.New("there is no sandbox on this system") }
