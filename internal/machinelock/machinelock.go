// Package machinelock keeps two plans from being measured on a machine at a time: the
// process that measures holds a lock on one file, which is the same for all, whether they
// were started by hand or by a fleet's agent. The kernel releases the lock when the last
// process that has the file open is gone, however it ends.
//
// A process may hand the lock that it holds to one that it starts ([Lock.File],
// [Inherited]): then it lasts until both are gone. An agent that is killed leaves the machine
// locked as long as what it has started still runs.
package machinelock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/filelock"
)

// Env is the environment variable that names another file: for tests, and for machines that
// are several, such as containers with processors of their own. [Off] there means that nothing
// is locked; [Inherited] that the process has been given the lock.
const (
	Env       = "BENCHRUN_LOCK"
	Off       = "off"
	Inherited = "fd:3" // the first of os/exec's ExtraFiles
)

// inheritedFile is the number of the file of Inherited.
const inheritedFile = 3

// Path returns the file that is locked.
func Path() string {
	if path := os.Getenv(Env); path != "" {
		return path
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(os.TempDir(), "benchrun-machine.lock")
	}
	return "/tmp/benchrun-machine.lock" // not TMPDIR, which differs between those who measure
}

// A Lock is the machine, held by this process.
type Lock struct {
	f         *os.File
	inherited bool // who handed it over goes on with it
}

// File returns the file to be handed to a child as the first of its ExtraFiles, with
// [Env]=[Inherited]; nil if nothing is locked.
func (l *Lock) File() *os.File { return l.f }

// Unlock gives the machine back, unless a child that was handed the lock still lives.
func (l *Lock) Unlock() {
	if l.f == nil {
		return
	}
	if !l.inherited {
		_ = l.f.Truncate(0) // what it said of its holder
	}
	_ = l.f.Close()
}

// A HeldError says who measures on this machine.
type HeldError struct{ Holder string }

func (e *HeldError) Error() string {
	return "another process measures on this machine: " + e.Holder
}

// Try takes the lock for what, such as "benchrun ab main". Its error is a [*HeldError] if
// another process has it. Where there are no such locks it returns a Lock that locks nothing.
func Try(what string) (*Lock, error) {
	switch path := Path(); path {
	case Off:
		return &Lock{}, nil
	case Inherited:
		f := os.NewFile(inheritedFile, "the machine's lock")
		if f == nil {
			return nil, fmt.Errorf("%s says that the lock was handed over, and it was not", Env)
		}
		keepFromChildren(f)
		return &Lock{f, true}, nil
	default:
		return try(path, what)
	}
}

func try(path, what string) (*Lock, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("the machine's lock: %w", err)
	}
	switch filelock.Try(f) {
	case filelock.Held:
		holder := read(f)
		return nil, errors.Join(&HeldError{holder}, f.Close())
	case filelock.Unknown:
		return &Lock{}, f.Close()
	}
	write(f, what)
	return &Lock{f: f}, nil
}

// open opens the file, and makes it for all users if it is not there. Who may not write to
// it can lock it all the same.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
			_ = f.Chmod(0o666) // whatever the umask is
		} else if errors.Is(err, fs.ErrExist) { // by now
			f, err = os.OpenFile(path, os.O_RDWR, 0)
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.OpenFile(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is not a file", path), err, f.Close())
	}
	return f, nil
}

// A holder is what the file says of the process that has the lock. It may be that of an
// earlier one, which could not remove it.
type holder struct {
	Process int       `json:"process"`
	What    string    `json:"what"`
	Since   time.Time `json:"since"`
}

func write(f *os.File, what string) {
	text, _ := json.Marshal(holder{os.Getpid(), what, time.Now().Truncate(time.Second)}) // holds nothing that could not be written
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(append(text, '\n'), 0) // only a word to others
	}
}

// read returns what the file says, in words.
func read(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	var h holder
	if err != nil || json.Unmarshal(text, &h) != nil || h.Process == 0 {
		return "it does not say what it is"
	}
	// Any user may have written it.
	what := strings.Trim(strconv.Quote(h.What), `"`)
	return fmt.Sprintf("%s (process %d, since %s)", what, h.Process, h.Since.Local().Format("15:04:05"))
}

// poll is how often it is looked whether the machine is free: a system call each time.
const poll = 250 * time.Millisecond

// Wait takes the lock as [Try] does, and waits until it is free. waiting is called once with
// who has it, if it is not. Its error is what has ended ctx, or one that waiting does not help.
func Wait(ctx context.Context, what string, waiting func(held *HeldError)) (*Lock, error) {
	for first := true; ; first = false {
		l, err := Try(what)
		var held *HeldError
		if !errors.As(err, &held) {
			return l, err
		}
		if first {
			waiting(held)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}
