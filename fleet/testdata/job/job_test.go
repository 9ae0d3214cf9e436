// Package job has what the tests of a fleet measure.
package job

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
	select {}
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

// BenchmarkSandbox fails with what it can do that it should not.
func BenchmarkSandbox(b *testing.B) {
	var can []string
	add := func(what string, err error) {
		if err == nil {
			can = append(can, what)
		}
	}
	if os.Getuid() == 0 || os.Geteuid() == 0 {
		can = append(can, "be root")
	}
	addresses, err := net.InterfaceAddrs()
	for _, a := range addresses {
		can = append(can, "use the address "+a.String())
	}
	_ = err
	_, err = net.DialTimeout("tcp", os.Getenv("SERVER"), time.Second)
	add("reach the network", err)
	add("write into the home folder", os.WriteFile("/root/x", nil, 0o644))
	add("write into /etc", os.WriteFile("/etc/x", nil, 0o644))
	add("write over its job", os.WriteFile("/tmp/job/job.json", nil, 0o644))
	add("write over benchrun", os.WriteFile("/tmp/benchrun", nil, 0o644))
	_, err = os.ReadFile("/etc/shadow")
	add("read /etc/shadow", err)
	processes, _ := filepath.Glob("/proc/[0-9]*")
	if len(processes) > 4 {
		can = append(can, fmt.Sprintf("see %d processes", len(processes)))
	}
	entries, _ := os.ReadDir("/tmp")
	for _, e := range entries {
		if e.Name() != "job" && e.Name() != "benchrun" && !strings.HasPrefix(e.Name(), "benchrun-tmp-") {
			can = append(can, "see "+e.Name()+" in /tmp")
		}
	}
	if os.Getenv("SECRET") != "" {
		can = append(can, "read the agent's environment")
	}
	if len(can) > 0 {
		b.Fatalf("it can %s", strings.Join(can, ", "))
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
