package fleet_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/record"
)

// claims are what a job in a sandbox cannot do: BenchmarkSandbox of testdata/job.
var claims = []string{
	"root", "group", "address", "network", "signal", "processes", "environment", "keys", "outside", "mount", "tmp", "var-tmp", "shm", "ipc",
	"setuid", "privileges", "nosuid", "files", "core", "hostname", "job", "program",
}

// outside makes what jobs of the lab could harm, and returns a folder with what is known of it.
func outside(t *testing.T, l *lab) (data string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("/opt", "fleet-test-") // neither below /tmp nor of a mount of its own
	must(err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	id, err := os.ReadFile("/usr/bin/id")
	must(err)
	must(errors.Join(
		os.WriteFile(dir+"/own.key", []byte("key"), 0o600), os.WriteFile(dir+"/id", id, 0o755), os.Chmod(dir+"/id", 0o755|os.ModeSetuid),
		os.Chmod(dir, 0o777), os.Mkdir(dir+"/mount", 0o777), unix.Mount("tmpfs", dir+"/mount", "tmpfs", 0, "size=1m,mode=1777"),
	))
	t.Cleanup(func() { _ = unix.Unmount(dir+"/mount", unix.MNT_DETACH) })
	marker := filepath.Base(dir)
	for _, in := range []string{"/tmp/", "/var/tmp/", "/dev/shm/"} {
		must(os.WriteFile(in+marker, nil, 0o644))
		t.Cleanup(func() { _ = os.Remove(in + marker) })
	}
	segment, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4093, 0o600) // a size that no other has
	must(err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil) })
	uts, err := os.Readlink("/proc/self/ns/uts")
	must(err)
	data = t.TempDir()
	must(os.Mkdir(data+"/testdata", 0o755))
	must(os.WriteFile(data+"/testdata/facts", fmt.Appendf(nil, "server=%s\nagent=%d\noutside=%s\nmarker=%s\nshm= 4093 \nuts=%s\njob=/tmp/job/job.json\nprogram=/tmp/benchrun\n",
		strings.TrimPrefix(l.server.URL, "nats://"), os.Getpid(), dir, marker, uts), 0o644))
	return data
}

// A job can do nothing of what it must not, and ends at its limits. Without a sandbox it can all of
// that: it is not the job that is blind.
func TestSandbox(t *testing.T) {
	if !fleet.CanConfine() {
		t.Skip("needs root")
	}
	t.Setenv("SECRET", "x")
	groups, err := syscall.Getgroups()
	if err == nil {
		err = syscall.Setgroups([]int{0}) // that of root, for a job to lose
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setgroups(groups) }) // as root that is allowed
	l := newLab(t)
	l.join(confined("one", 64))
	l.join(confined("wide", 4096))
	l.join(bare("two"))
	data := outside(t, l)
	results := func(machine string, seed uint64, data string, benchs ...string) *record.File {
		s := l.wait(machine, l.submit(packJob(t, 1, seed, benchs, data), machine))
		if s.Outcome != fleet.Done {
			t.Fatalf("%s: %+v", benchs, s)
		}
		path := filepath.Join(l.results, s.File)
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 1<<20 {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		return record.Read(path, text)
	}
	var benchs []string
	for _, c := range claims {
		benchs = append(benchs, "Sandbox/it="+c)
	}
	for _, h := range results("one", 1, data, benchs...).Holes {
		t.Errorf("a job in a sandbox: %s: %s", h.Hole.Case, h.Hole.Reason)
	}
	// A machine without a sandbox has no /tmp/job, and may have these limits anyway.
	for _, r := range results("two", 1, data, benchs...).Results {
		if name := r.Result.Name.String(); !slices.Contains([]string{"Sandbox/it=job", "Sandbox/it=program", "Sandbox/it=privileges", "Sandbox/it=nosuid", "Sandbox/it=files", "Sandbox/it=core"}, name) {
			t.Errorf("a job without a sandbox cannot do %s", name)
		}
	}
	for bench, what := range map[string]string{
		"Memory": "takes eight gigabytes, where one is the limit", "File": "makes a file of two gigabytes, where one is the limit",
		"Processes": "starts a hundred processes, where 64 are the limit",
	} {
		if f := results("one", 2, "", bench); len(f.Holes) != 1 {
			t.Errorf("a job %s", what)
		}
	}
	if f := results("wide", 2, "", "Processes"); len(f.Results) != 1 {
		t.Errorf("a job starts a hundred processes, where 4096 are the limit: %v", f.Holes[0].Hole)
	}
	results("one", 3, "", "Output") // of which little is kept
	if s := l.wait("one", l.submit(newJob(t, 1, 4, "Links"), "one")); s.Outcome != fleet.Failed || strings.Contains(s.Said, "root:") {
		t.Errorf("results that are a link to another file: %+v", s)
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
	l.until("measuring", isMeasuring)
	l.until("with a process of its own", func(*fleet.Status) bool { return running(t, "sleep") > 0 })
	kill()
	l.until("over", func(*fleet.Status) bool { return running(t, "") == 0 })
}

// A job ends with an agent that is killed.
func TestNothingOutlivesTheAgent(t *testing.T) {
	if !fleet.CanConfine() {
		t.Skip("needs root")
	}
	l := newLab(t)
	cmd := exec.Command(filepath.Join(programs(t), "benchfleet"), "join", "--name", "one", "--uid", strconv.Itoa(jobsUser), "--server", l.server.URL)
	cmd.Env, cmd.Stderr = append(os.Environ(), fleet.HomeEnv+"="+l.home), l.said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.submit(newJob(t, 1, 1, "Hangs"), "one")
	l.until("with a process of its own", func(*fleet.Status) bool { return running(t, "sleep") > 0 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	l.until("over", func(*fleet.Status) bool { return running(t, "") == 0 })
}

// jobsUser is the user that jobs are.
const jobsUser = 64751

// confined is a machine with a sandbox, of a gigabyte and so many processes.
func confined(name string, processes int) fleet.AgentOptions {
	return fleet.AgentOptions{Machine: name, Sandbox: fleet.Sandbox{UID: jobsUser, Memory: 1 << 30, Procs: processes}}
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
		if err == nil && strings.HasPrefix(string(text), "Name:\t"+name) && strings.Contains(string(text), "\nUid:\t"+strconv.Itoa(jobsUser)+"\t") {
			n++
		}
	}
	return n
}
