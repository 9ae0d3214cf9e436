package versions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/dynolab/dyno/internal/child"
)

// A Desk is where versions are laid out. It is for one goroutine.
type Desk struct {
	dir   string // the working directory that paths and packages are relative to
	top   string // the root of its git work tree, "" if there is none
	temp  string // what is laid out lies in here
	trees []string
}

const (
	// tempPrefix begins the name of a desk's folder, by which one that was left
	// behind is known.
	tempPrefix = "benchrun-ab-"
	// ownerFile says in that folder which process it belongs to.
	ownerFile = "owner"
)

// Open makes a desk for the working directory dir.
func Open(ctx context.Context, dir string) (*Desk, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// git says where things are without symbolic links.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	d := &Desk{dir: dir}
	if out, err := d.git(ctx, dir, "rev-parse", "--show-toplevel"); err == nil {
		d.top = filepath.FromSlash(out)
		if top, err := filepath.EvalSymlinks(d.top); err == nil {
			d.top = top
		}
		d.clearStale(ctx)
	} else if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if d.temp, err = os.MkdirTemp("", tempPrefix); err != nil {
		return nil, err
	}
	if d.temp, err = filepath.EvalSymlinks(d.temp); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(d.temp, ownerFile), []byte(owner(os.Getpid())), 0o644); err != nil {
		return nil, errors.Join(err, os.RemoveAll(d.temp))
	}
	return d, nil
}

// Temp returns the desk's folder; what a caller puts there is removed with it.
func (d *Desk) Temp() string { return d.temp }

// Close removes everything that the desk has laid out. It takes its time even if
// the context that Lay was given has ended: an interrupt is when it matters.
func (d *Desk) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var failed []error
	for _, tree := range d.trees {
		failed = append(failed, d.forget(ctx, tree))
	}
	d.trees = nil
	return errors.Join(append(failed, removeAll(d.temp))...)
}

// forget removes a worktree from the disk and from the repository's list.
func (d *Desk) forget(ctx context.Context, tree string) error {
	// Twice forced: even if somebody has locked it. That it is not there is fine;
	// git then only takes it off its list.
	_, err := d.git(ctx, d.top, "worktree", "remove", "--force", "--force", tree)
	if err != nil && !slices.Contains(d.worktrees(ctx), tree) {
		return nil // an interrupt kept it from being made
	}
	return err
}

// worktrees returns the folders of the repository's worktrees.
func (d *Desk) worktrees(ctx context.Context) []string {
	out, err := d.git(ctx, d.top, "worktree", "list", "--porcelain")
	if err != nil {
		return nil
	}
	var trees []string
	for line := range strings.Lines(out) {
		if path, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "worktree "); ok {
			trees = append(trees, filepath.FromSlash(path))
		}
	}
	return trees
}

// clearStale removes worktrees of desks whose process is gone: it was killed, or
// the machine lost power. Errors are of no consequence: they stay where they were.
func (d *Desk) clearStale(ctx context.Context) {
	for _, tree := range d.worktrees(ctx) {
		temp := filepath.Dir(tree)
		if !strings.HasPrefix(filepath.Base(temp), tempPrefix) || !abandoned(temp) {
			continue
		}
		if d.forget(ctx, tree) == nil {
			_ = removeAll(temp)
		}
	}
}

// owner is what the owner file of a process says. The machine's name is part of
// it: containers may share a repository and see different processes.
func owner(pid int) string {
	host, _ := os.Hostname()
	return strconv.Itoa(pid) + " " + host + "\n"
}

// abandoned reports whether a desk's folder has no process any more.
func abandoned(temp string) bool {
	text, err := os.ReadFile(filepath.Join(temp, ownerFile))
	if errors.Is(err, os.ErrNotExist) {
		return true // cleared away with a reboot
	}
	number, _, _ := strings.Cut(string(text), " ")
	pid, bad := strconv.Atoi(number)
	if err != nil || bad != nil || string(text) != owner(pid) {
		return false // another machine's, or not for us to judge
	}
	lives, err := process.PidExists(int32(pid))
	return err == nil && !lives
}

// removeAll is os.RemoveAll for folders that may not be writable, such as copies
// of the module cache.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// git runs git in dir and returns what it prints, without the space around it.
func (d *Desk) git(ctx context.Context, dir string, args ...string) (string, error) {
	// No hooks: what they do after a checkout is meant for people's work trees.
	return d.command(ctx, dir, gitEnv(), "git", append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)...)
}

// gitEnv is the environment without what ties git to one repository, as it does
// within a hook.
func gitEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		key, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{
			"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX",
		}, key)
	})
}

// goCommand runs the go command in dir with additional environment.
func (d *Desk) goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return d.command(ctx, dir, append(os.Environ(), env...), "go", args...)
}

// command runs a command in a process group of its own, so that an interrupt
// from the terminal does not end it in the middle: ctx does, in its time. The
// error has what it said.
func (d *Desk) command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(env, "PWD="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	child.OwnGroup(cmd)
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
		return "", fmt.Errorf("%s %s in %s: %w\n%s", name, strings.Join(args, " "), dir, err, said)
	}
	return strings.TrimSpace(stdout.String()), nil
}
