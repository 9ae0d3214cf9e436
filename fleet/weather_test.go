package fleet_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// A change of a source file, which has what is old once. A path that is not absolute is one
// below this folder.
type change struct{ path, old, new string }

// Programs of the storm have a clock that jumps up to an hour each few seconds, forwards and
// backwards, as one does that is set: time that is measured goes on. And they tell which of the
// results they have synced, so that a test can take away the rest.
const (
	jumpSource = `package time

import "syscall"

var stormClock = func() (of uint64) {
	v, ok := syscall.Getenv("STORM_CLOCK")
	if ok {
		of = uint64(v[0])
	}
	return of
}()

// stormJump is how many seconds the clock is wrong by at a moment.
func stormJump(mono int64) int64 {
	if stormClock == 0 {
		return 0
	}
	h := (uint64(mono)/4e9 + stormClock*1e6) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return int64(h>>32%7200) - 3600
}
`
	syncedSource = `package os

import "syscall"

var stormResults, _ = syscall.Getenv("STORM_RESULTS")

// stormSynced notes that what f is now lasts: a file by its number and when it was written, a
// folder with the names that it has.
func stormSynced(f *File) {
	if stormResults == "" || len(f.name) < len(stormResults) || f.name[:len(stormResults)] != stormResults {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	line := "file " + stormNumber(info.Sys().(*syscall.Stat_t).Ino) + " " + stormNumber(uint64(info.ModTime().UnixNano())) + "\n"
	if info.IsDir() {
		line = "folder " + f.name
		entries, _ := ReadDir(f.name)
		for _, e := range entries {
			line += " " + e.Name()
		}
		line += "\n"
	}
	fd, err := syscall.Open(stormResults+".synced", syscall.O_WRONLY|syscall.O_CREAT|syscall.O_APPEND|syscall.O_CLOEXEC, 0o644)
	if err == nil {
		syscall.Write(fd, []byte(line))
		syscall.Close(fd)
	}
}

func stormNumber(n uint64) string {
	digits := ""
	for ; n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits
}
`
)

// stormPrograms builds benchrun and benchfleet for a storm, with changes, and returns their
// folder.
func stormPrograms(t *testing.T, changes ...change) (dir string) {
	t.Helper()
	dir = t.TempDir()
	std := strings.TrimSpace(output(t, "go", "env", "GOROOT"))
	replace := make(map[string]string)
	put := func(path, source string) {
		to := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(to, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[path] = to
	}
	put(std+"/src/time/stormjump.go", jumpSource)
	put(std+"/src/os/stormsynced.go", syncedSource)
	for _, c := range append(changes,
		change{std + "/src/time/time.go", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += stormJump(mono)\n"},
		change{std + "/src/os/file_posix.go", "\t\treturn f.wrapErr(\"sync\", e)\n\t}\n", "\t\treturn f.wrapErr(\"sync\", e)\n\t}\n\tstormSynced(f)\n"},
	) {
		path, err := filepath.Abs(c.path)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), c.old); n != 1 {
			t.Fatalf("%s has %q %d times: the change is of another version of it", c.path, c.old, n)
		}
		put(path, strings.Replace(string(source), c.old, c.new, 1))
	}
	overlay := filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	output(t, "go", "-C", "..", "build", "-overlay", overlay, "-o", dir+"/", "./cmd/benchrun")
	output(t, "go", "build", "-overlay", overlay, "-o", dir+"/", "./cmd/benchfleet")
	return dir
}

// output returns what a command prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("%s %v: %v\n%s", name, args, err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// lostFiles counts what losePower has taken away.
var lostFiles atomic.Int64

// losePower leaves of the results what lasts when a machine loses its power: files that were
// synced, under names that were synced. What has been written otherwise is gone, or is empty.
func losePower(results string) error {
	files, names, err := synced(results + ".synced")
	if err != nil {
		return err
	}
	return filepath.WalkDir(results, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == results || entry.Name() == "filler":
			return nil
		case !names[path]:
			lostFiles.Add(1)
			if err := os.RemoveAll(path); err != nil || !entry.IsDir() {
				return err
			}
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !files[identity(info)] {
			lostFiles.Add(1)
			return os.Truncate(path, 0)
		}
		return nil
	})
}

// identity is a file with what was written to it.
func identity(info os.FileInfo) string {
	return fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino, " ", info.ModTime().UnixNano())
}

// synced reads what stormSynced has noted.
func synced(path string) (files, names map[string]bool, err error) {
	files, names = make(map[string]bool), make(map[string]bool)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return files, names, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if words[0] == "file" {
			files[strings.Join(words[1:], " ")] = true
			continue
		}
		for _, name := range words[2:] {
			names[filepath.Join(words[1], name)] = true
		}
	}
	return files, names, lines.Err()
}

// canMount reports whether disks of a test can be small.
func canMount() bool { return os.Geteuid() == 0 }

// mountSmall makes a folder a disk of so many megabytes, until the test ends; without root a
// folder like others.
func mountSmall(t *testing.T, dir string, megabytes int) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if !canMount() {
		t.Log("disks are not full in this test: that needs root")
		return
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", megabytes), "storm", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// fill leaves no room on the disk with a file.
func fill(path string) {
	f, err := os.Create(path)
	if err != nil {
		return // there is none already
	}
	defer f.Close()
	for piece := slices.Repeat([]byte("full"), 1<<18); len(piece) > 0; {
		if _, err := f.Write(piece); err != nil {
			piece = piece[:len(piece)/2]
		}
	}
}
