package fleet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/record"
)

// A job sees nothing of the machine that it could harm: the benchmark fails with all that it
// can do. And it ends at its limits.
func TestSandbox(t *testing.T) {
	if !fleet.CanConfine() {
		t.Skip("needs root")
	}
	t.Setenv("SECRET", "x")
	l := newLab(t)
	t.Setenv("SERVER", strings.TrimPrefix(l.server.URL, "nats://"))
	l.join(confined("one", 64))
	l.join(confined("wide", 4096))
	results := func(machine, bench string) *record.File {
		s := l.wait(machine, l.submit(newJob(t, 1, 1, bench), machine))
		if s.Outcome != fleet.Done {
			t.Fatalf("%s: %+v", bench, s)
		}
		path := filepath.Join(l.results, s.File)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return record.Read(path, data)
	}
	if f := results("one", "Sandbox"); len(f.Holes) > 0 || len(f.Results) != 1 {
		t.Errorf("a job in a sandbox: %v", f.Holes[0].Hole)
	}
	if f := results("one", "Memory"); len(f.Holes) != 1 {
		t.Error("a job takes eight gigabytes, where one is the limit")
	}
	if f := results("one", "File"); len(f.Holes) != 1 {
		t.Error("a job makes a file of two gigabytes, where one is the limit")
	}
	if f := results("one", "Processes"); len(f.Holes) != 1 {
		t.Error("a job starts a hundred processes, where 64 are the limit")
	}
	if f := results("wide", "Processes"); len(f.Results) != 1 {
		t.Errorf("a job starts a hundred processes, where 4096 are the limit: %v", f.Holes[0].Hole)
	}
	// Without one, the same benchmark finds what it can do: it is not the benchmark that is blind.
	l.join(bare("two"))
	s := l.wait("two", l.submit(newJob(t, 1, 1, "Sandbox"), "two"))
	data, err := os.ReadFile(filepath.Join(l.results, s.File))
	if err != nil || !strings.Contains(string(data), "it can be root") {
		t.Errorf("without a sandbox: %s, %v", data, err)
	}
}

// What a job leaves behind ends with it, also if it has left its process group.
func TestNothingIsLeft(t *testing.T) {
	if !fleet.CanConfine() {
		t.Skip("needs root")
	}
	l := newLab(t)
	_, kill := l.join(confined("one", 4096))
	l.submit(newJob(t, 1, 1, "Hangs"), "one")
	l.until("measuring", func(s *fleet.Status) bool {
		return len(s.Machines) > 0 && s.Machines[0].Live != nil && s.Machines[0].Live.State == fleet.StateMeasuring
	})
	deadline := time.Now().Add(time.Minute)
	for running(t, "sleep") == 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	kill()
	for running(t, "") > 0 {
		if time.Now().After(deadline) {
			t.Fatal("processes of the job are left")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// confined is a machine with a sandbox, of a gigabyte and so many processes.
func confined(name string, processes int) fleet.AgentOptions {
	return fleet.AgentOptions{Machine: name, Sandbox: fleet.Sandbox{UID: 64751, Memory: 1 << 30, Procs: processes}}
}

// running counts the processes of the user that jobs are, those of a name or all.
func running(t *testing.T, name string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err == nil && strings.HasPrefix(string(text), "Name:\t"+name) && strings.Contains(string(text), "\nUid:\t64751\t") {
			n++
		}
	}
	return n
}
