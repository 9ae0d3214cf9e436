// Package job has what the tests of a fleet measure.
package job

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkX notes in the file HISTORY, if that is set, when it ran: from when on, and until
// when, by the machine's monotonic clock.
func BenchmarkX(b *testing.B) {
	path := os.Getenv("HISTORY")
	if path == "" {
		return
	}
	note(b, path, "begin")
	for range b.N {
		time.Sleep(2 * time.Millisecond)
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

// BenchmarkHangs does not end by itself.
func BenchmarkHangs(*testing.B) { select {} }

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
