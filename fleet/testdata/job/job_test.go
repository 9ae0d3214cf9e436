// Package job has what the tests of a fleet measure.
package job

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkX notes in the file HISTORY, if that is set, when it ran: from when on, and until
// when, and whether another one ran beside it.
func BenchmarkX(b *testing.B) {
	path := os.Getenv("HISTORY")
	if path == "" {
		return
	}
	busy, err := os.Create(path + ".busy")
	if err != nil {
		b.Fatal(err)
	}
	defer busy.Close()
	if syscall.Flock(int(busy.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		note(b, path, "beside")
	}
	note(b, path, "begin")
	for range b.N {
		time.Sleep(10 * time.Millisecond)
	}
	note(b, path, "end")
}

func note(b *testing.B, path, what string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s %d %d\n", what, os.Getpid(), time.Now().UnixNano()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkHangs does not end by itself, and has a process that has left its group and session.
func BenchmarkHangs(b *testing.B) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for {
		time.Sleep(time.Hour) // a bare select is called a deadlock in programs without cgo, and ends
	}
}

// BenchmarkProcesses starts a hundred processes.
func BenchmarkProcesses(b *testing.B) {
	for range 100 {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	}
}

// BenchmarkFile makes a file of two gigabytes.
func BenchmarkFile(b *testing.B) {
	f, err := os.Create("/tmp/job/work/large")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(2 << 30); err != nil {
		b.Fatal(err)
	}
}

// facts are what the sender knows of the machine, by name.
func facts(b *testing.B) map[string]string {
	text, err := os.ReadFile("testdata/facts")
	if err != nil {
		b.Fatal(err)
	}
	all := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		all[name] = value
	}
	return all
}

// BenchmarkSandbox has a benchmark for each thing that a job must not be able to do. It fails if
// the job can.
func BenchmarkSandbox(b *testing.B) {
	is := facts(b)
	reads := func(path string) error { _, err := os.ReadFile(path); return err }
	writes := func(path string) error { return os.WriteFile(path, nil, 0o644) }
	unless := func(bad bool) error {
		if bad {
			return nil
		}
		return os.ErrPermission
	}
	for _, c := range []struct {
		name string
		try  func() error // nil if it can
	}{
		{"root", func() error { return unless(os.Getuid() == 0 || os.Geteuid() == 0) }},
		{"group", func() error {
			all, err := os.Getgroups()
			return unless(err == nil && (os.Getegid() == 0 || slices.Contains(all, 0)))
		}},
		{"address", func() error { all, err := net.InterfaceAddrs(); return unless(err == nil && len(all) > 0) }},
		{"network", func() error { _, err := net.DialTimeout("tcp", is["server"], time.Second); return err }},
		{"signal", func() error { pid, _ := strconv.Atoi(is["agent"]); return syscall.Kill(pid, 0) }},
		{"processes", func() error { all, err := filepath.Glob("/proc/[0-9]*"); return unless(err == nil && len(all) > 4) }},
		{"environment", func() error { return unless(os.Getenv("SECRET") != "") }},
		{"keys", func() error { return reads(is["outside"] + "/own.key") }},
		{"outside", func() error { return writes(is["outside"] + "/written") }},
		{"mount", func() error { return writes(is["outside"] + "/mount/written") }},
		{"tmp", func() error { return reads("/tmp/" + is["marker"]) }},
		{"var-tmp", func() error { return reads("/var/tmp/" + is["marker"]) }},
		{"shm", func() error { return reads("/dev/shm/" + is["marker"]) }},
		{"ipc", func() error {
			text, err := os.ReadFile("/proc/sysvipc/shm")
			return unless(err == nil && strings.Contains(string(text), is["shm"]))
		}},
		{"setuid", func() error {
			out, err := exec.Command(is["outside"]+"/id", "-u").Output()
			return unless(err == nil && strings.TrimSpace(string(out)) == "0")
		}},
		{"privileges", func() error {
			text, err := os.ReadFile("/proc/self/status")
			return unless(err == nil && strings.Contains(string(text), "NoNewPrivs:\t0"))
		}},
		{"nosuid", func() error {
			var fs syscall.Statfs_t
			return unless(syscall.Statfs("/", &fs) == nil && fs.Flags&2 == 0) // ST_NOSUID
		}},
		{"files", func() error {
			var l syscall.Rlimit
			return unless(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) == nil && l.Max > 4096)
		}},
		{"core", func() error {
			var l syscall.Rlimit
			return unless(syscall.Getrlimit(syscall.RLIMIT_CORE, &l) == nil && l.Max > 0)
		}},
		{"hostname", func() error {
			own, err := os.Readlink("/proc/self/ns/uts")
			return unless(err == nil && own == is["uts"])
		}},
		{"job", func() error { return writes(is["job"]) }},
		{"program", func() error { return writes(is["program"]) }},
	} {
		b.Run("it="+c.name, func(b *testing.B) {
			if c.try() == nil {
				b.Fatal("it can")
			}
		})
	}
}

// BenchmarkOutput prints 64 megabytes, at last in a line that does not end.
func BenchmarkOutput(b *testing.B) {
	text := strings.Repeat("x", 1<<20)
	for i := range 64 {
		fmt.Print(text)
		if i < 32 {
			fmt.Println()
		}
	}
}

// BenchmarkLinks has a link to a file of the machine where its results are to be.
func BenchmarkLinks(b *testing.B) {
	const path = "/tmp/job/out/results.bench"
	if err := errors.Join(os.Remove(path), os.Symlink("/etc/shadow", path)); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkMemory takes eight gigabytes.
func BenchmarkMemory(b *testing.B) {
	var all [][]byte
	for range 8 << 10 {
		block := make([]byte, 1<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		all = append(all, block)
	}
	b.Log(len(all))
}
