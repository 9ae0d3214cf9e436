// Package scratch makes folders for what a process needs while it lives, and
// removes those of processes that were killed. It is not for what should outlive
// its process: that is a cache's.
//
// Such a folder has a file that its process holds a lock on. The system takes the
// lock off when the process ends, however it does, so a folder whose lock is free
// has no owner any more. A process's number would not say that: another process may
// have it by now, and in a container every process has a low one. Nothing else is ever
// removed: no folder without such a file, nor any where there are no locks.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/dynolab/dyno/internal/filelock"
)

const (
	// prefix begins the names of the folders, and lockName is the file in them.
	prefix   = "benchrun-tmp-"
	lockName = "lock"
)

// A Folder is a folder of this process.
type Folder struct {
	Path string // absolute, without symbolic links
	lock *os.File
}

// New makes a folder where temporary files belong, and clears away what was left
// there by processes that are gone.
func New() (*Folder, error) {
	clearStale(os.TempDir())
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path}
	if f.Path, err = filepath.EvalSymlinks(path); err == nil {
		err = f.take()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return f, nil
}

// take takes the folder's lock. The file gets its name when it is locked: in
// between, a process that clears away would find it free.
func (f *Folder) take() (err error) {
	unlocked := filepath.Join(f.Path, lockName+".new")
	if f.lock, err = os.Create(unlocked); err != nil {
		return err
	}
	if filelock.Try(f.lock) != filelock.Taken {
		// Other processes cannot tell whether we are at work, so they must not find it.
		return errors.Join(f.lock.Close(), os.Remove(unlocked))
	}
	if err = os.Rename(unlocked, filepath.Join(f.Path, lockName)); err != nil {
		return errors.Join(err, f.lock.Close())
	}
	return nil
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() error {
	err := removeAll(f.Path)
	_ = f.lock.Close() // last: until then no other process clears it away. It may be closed already.
	return err
}

// Ours reports whether a folder's name is that of one that New makes.
func Ours(path string) bool { return strings.HasPrefix(filepath.Base(path), prefix) }

// clearStale removes the folders below dir that have no process any more. Errors are of
// no consequence: then they stay where they were.
func clearStale(dir string) {
	paths, _ := filepath.Glob(filepath.Join(dir, prefix+"*")) // its error is for bad patterns
	for _, path := range paths {
		lock, err := os.Open(filepath.Join(path, lockName))
		if err != nil {
			continue // it is just being made, or another process's
		}
		if filelock.Try(lock) == filelock.Taken {
			_ = removeAll(path)
		}
		_ = lock.Close()
	}
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
