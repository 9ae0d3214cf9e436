package child

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Command returns a command of the system, such as go or git, that is to run in the folder
// dir. env is its environment; nil is that of the calling process. It has a process group of
// its own, so that an interrupt from the terminal does not end it in the middle: ctx does,
// and lets it clean up.
func Command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if env != nil {
		cmd.Env = env
		if pwd, err := filepath.Abs(dir); err == nil { // which os/exec adds to the inherited one only
			cmd.Env = append(slices.Clip(env), "PWD="+pwd)
		}
	}
	OwnGroup(cmd)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second // compilers may outlive a go command that is killed
	return cmd
}

// Says runs a [Command], and returns what it prints, without the space around it. The error
// has what it said, or is what has ended ctx.
func Says(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := Command(ctx, dir, env, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() < 0 {
			// A signal, which may have come before the group was its own, and then is
			// ours too.
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		said := strings.TrimSpace(cmp.Or(stderr.String(), stdout.String()))
		if filepath.Base(name) == "go" {
			if plain := GoError(said); plain != nil {
				return "", plain
			}
		}
		return "", fmt.Errorf("%s %s in %s: %w\n%s", name, strings.Join(args, " "), cmp.Or(dir, "."), err, said)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// Said is what a program said of which [Says] has returned an error, without how it was called; it is
// all of the error if the program said nothing.
func Said(err error) string {
	_, said, _ := strings.Cut(err.Error(), "\n")
	return cmp.Or(said, err.Error())
}

// removedSetting is what a program of a new Go ends with before it begins, the go command too.
var removedSetting = regexp.MustCompile(`fatal error: removed GODEBUG "([^"]*)" set to old value "([^"]*)" in (\w+) \((\S*#go-(\d+))\)`)

// GoError is what the go command could not begin with, such as that there is no module, in one
// line; nil if it said anything else. It needs no command line beside it.
func GoError(said string) error {
	said = strings.TrimSpace(said)
	if m := removedSetting.FindStringSubmatch(said); m != nil {
		return fmt.Errorf("go%s has removed the setting %s=%s, and a program that it builds does not start with it: take it out of GODEBUG in the %s, or have GOTOOLCHAIN name an older Go (%s)",
			m[5][:1]+"."+m[5][1:], m[1], m[2], m[3], m[4])
	}
	said = strings.Replace(said, ":\ngo.mod:", ": go.mod:", 1) // which says where in it
	what, isGo := strings.CutPrefix(said, "go: ")
	switch {
	case !isGo || strings.Contains(said, "\n"):
		return nil
	case strings.HasPrefix(what, "go.mod file not found"):
		return errors.New("no Go module here or in a folder above: run it in one (go mod init example.com/name makes one)")
	}
	return errors.New(what)
}
