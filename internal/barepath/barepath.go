// Package barepath makes the PATH of a machine that has Go, git and a shell, and
// little else. Tests that look for programs run with it: what they need besides they
// have to name, and what they have forgotten to name fails on every machine, not only
// on one that lacks it.
//
// It hides programs from those that look for them on PATH only.
package barepath

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// programs are those of every machine that dyno is tested on, as far as tests need
// them. Go's own come with their folder.
var programs = []string{
	"bash", "cat", "chmod", "cp", "diff", "env", "git", "grep", "ls", "rm", "sed", "sh", "tail", "touch", "wc",
}

// Make returns a PATH on which there are the go command, programs, and more. It links
// them into dir, a folder that is there and empty. Of those that this machine does not
// have there is no link. On Windows, which lets users make no links, it is PATH as it is.
func Make(dir string, more ...string) (string, error) {
	if runtime.GOOS == "windows" {
		return os.Getenv("PATH"), nil
	}
	goroot, err := goRoot()
	if err != nil {
		return "", err
	}
	for _, names := range [][]string{programs, more} {
		for _, name := range names {
			if err := link(dir, name); err != nil {
				return "", err
			}
		}
	}
	return filepath.Join(goroot, "bin") + string(os.PathListSeparator) + dir, nil
}

// goRoot is the folder of the Go whose go command is on PATH. What is on PATH may be
// something else that starts it, and have other programs beside it.
var goRoot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})

// link links a program of this machine, if it has it, into dir.
func link(dir, name string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil // as it will be for those that look for it
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	err = os.Symlink(path, filepath.Join(dir, name))
	if os.IsExist(err) {
		return nil // it was named twice
	}
	return err
}
