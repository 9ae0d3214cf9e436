package versions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/scratch"
)

// A Workspace is where versions are laid out. It is for one goroutine.
type Workspace struct {
	dir   string          // the working directory that paths and packages are relative to
	top   string          // the root of its git work tree, "" if there is none
	noTop error           // why there is none
	temp  *scratch.Folder // what is laid out lies in here
	trees []string
}

// Open makes a workspace for the working directory dir.
func Open(ctx context.Context, dir string) (*Workspace, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// git says where things are without symbolic links.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	temp, err := scratch.New()
	if err != nil {
		return nil, err
	}
	w := &Workspace{dir: dir, temp: temp}
	if out, err := w.git(ctx, dir, "rev-parse", "--show-toplevel"); err == nil {
		w.top = realPath(filepath.FromSlash(out))
		w.clearStale(ctx)
	} else if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), temp.Remove())
	} else {
		said := child.Said(err)
		if errors.Is(err, exec.ErrNotFound) {
			said = "it is not installed"
		}
		w.noTop = fmt.Errorf("git has no work tree at %s: %s", dir, said)
	}
	return w, nil
}

// realPath returns a path without symbolic links, as far as that is known.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Temp returns the workspace's folder; what a caller puts there is removed with it.
func (w *Workspace) Temp() string { return w.temp.Path }

// Close removes everything that was laid out. It takes its time even if
// the context that Lay was given has ended: an interrupt is when it matters.
func (w *Workspace) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var failed []error
	for _, tree := range w.trees {
		failed = append(failed, w.forget(ctx, tree))
	}
	w.trees = nil
	return errors.Join(append(failed, w.temp.Remove())...)
}

// forget removes a worktree from the disk and from the repository's list.
func (w *Workspace) forget(ctx context.Context, tree string) error {
	// Twice forced: even if it is locked. That it is not there is fine;
	// git then only takes it off its list.
	_, err := w.git(ctx, w.top, "worktree", "remove", "--force", "--force", tree)
	if err != nil && !slices.Contains(w.worktrees(ctx), tree) {
		return nil // an interrupt kept it from being made
	}
	return err
}

// worktrees returns the folders of the repository's worktrees.
func (w *Workspace) worktrees(ctx context.Context) []string {
	out, err := w.git(ctx, w.top, "worktree", "list", "--porcelain")
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

// clearStale takes worktrees off the repository's list that were in folders of
// workspaces that are not there any more: their process was killed and a later one has
// cleared them away, or a reboot has. Errors are of no consequence: then they stay
// on it.
func (w *Workspace) clearStale(ctx context.Context) {
	for _, tree := range w.worktrees(ctx) {
		folder := filepath.Dir(tree)
		if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) && scratch.Ours(folder) {
			_ = w.forget(ctx, tree)
		}
	}
}

// git runs git in dir and returns what it prints, without the space around it.
func (w *Workspace) git(ctx context.Context, dir string, args ...string) (string, error) {
	// No hooks: what they do after a checkout is meant for people's work trees.
	return child.Says(ctx, dir, gitEnv(), "git", append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)...)
}

// gitEnv is the environment without what ties git to one repository, as it does
// within a hook.
func gitEnv() []string {
	ties := []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX",
	}
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		key, _, _ := strings.Cut(v, "=")
		return slices.Contains(ties, key)
	})
}

// goCommand runs the go command in dir with additional environment.
func (w *Workspace) goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return child.Says(ctx, dir, append(os.Environ(), env...), "go", args...)
}

// goEnv returns one of the settings of the go command in dir with additional environment.
func (w *Workspace) goEnv(ctx context.Context, dir string, env []string, key string) (string, error) {
	settings, err := child.GoEnv(ctx, dir, append(os.Environ(), env...), "go")
	return settings[key], err
}
