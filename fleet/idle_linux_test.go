package fleet_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/fleet"
)

// BenchmarkIdleAgent says what an agent takes of a processor that has no job, which is what it
// does between rounds, too. make idle keeps its results; a call takes a minute.
func BenchmarkIdleAgent(b *testing.B) {
	l := newLab(b)
	cmd := exec.Command(filepath.Join(programs(b), "benchfleet"), "join", "--name", "idle", "--server", l.server.URL)
	cmd.Env = append(os.Environ(), "BENCHFLEET_HOME="+l.home)
	cmd.Stderr = l.said
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	l.until("free", func(s *fleet.Status) bool { return !isAway(s) })
	time.Sleep(5 * time.Second) // what it does when it begins is over
	const window = time.Minute  // it asks for orders twice, and beats six times
	began, before := time.Now(), ranFor(b, cmd.Process.Pid)
	b.ResetTimer()
	for range b.N {
		time.Sleep(window)
	}
	b.StopTimer()
	used := ranFor(b, cmd.Process.Pid) - before
	b.ReportMetric(100*used.Seconds()/time.Since(began).Seconds(), "cpu-%")
}

// ranFor is how long the threads of a process have run.
func ranFor(b *testing.B, pid int) (ran time.Duration) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		b.Fatalf("no threads of the agent: %v", err)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ran += time.Duration(ns)
	}
	return ran
}
