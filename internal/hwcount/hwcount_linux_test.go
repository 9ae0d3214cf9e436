package hwcount

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dynolab/dyno/internal/child"
)

// role is the variable that makes a process of this test binary one that is counted:
// it says for how long each of its threads uses a processor after it was told to.
const role = "HWCOUNT_TEST_SPIN"

// threads is how many threads a counted process has use a processor.
const threads = 4

func TestMain(m *testing.M) {
	if text := os.Getenv(role); text != "" {
		each, err := time.ParseDuration(text)
		if err != nil {
			panic(err)
		}
		counted(each)
		return
	}
	os.Exit(m.Run())
}

// counted is the process that is counted. Half of its threads are there from the
// beginning, the others come when it gets a line; then all do their work. It says when
// they have done it, and ends, with its threads, when its input does.
func counted(each time.Duration) {
	var ready, worked, ended sync.WaitGroup
	begin, end := make(chan struct{}), make(chan struct{})
	worked.Add(threads)
	thread := func() {
		runtime.LockOSThread()
		if began := begun(begin); !began {
			ready.Done()
			<-begin
		}
		for from := spent(); spent()-from < each; {
		}
		worked.Done()
		<-end
	}
	ready.Add(threads / 2)
	for range threads / 2 {
		ended.Go(thread)
	}
	ready.Wait()
	os.Stdout.WriteString("ready\n")
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n') // without one its end comes, and what waits for it says so
	close(begin)
	for range threads / 2 {
		ended.Go(thread)
	}
	worked.Wait()
	os.Stdout.WriteString("done\n")
	io.Copy(io.Discard, in)
	close(end)
	ended.Wait()
}

func begun(begin chan struct{}) bool {
	select {
	case <-begin:
		return true
	default:
		return false
	}
}

// spent returns for how long the calling thread has used a processor.
func spent() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A process is one that is counted.
type process struct {
	*Counters
	cmd *exec.Cmd
	in  io.Closer
}

// start starts a process, attaches counters and returns when its threads have done
// their work. The test is skipped where there are no such counters.
func start(t *testing.T, attach func(pid int) (*Counters, error), each time.Duration) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), role+"="+each.String())
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in = in
	if err := child.Start(p.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end() })
	said := bufio.NewReader(out)
	says := func(want string) {
		if line, err := said.ReadString('\n'); err != nil || line != want {
			t.Fatalf("the process says %q, %v; want %q", line, err, want)
		}
	}
	says("ready\n")
	if !child.Freeze(p.cmd) {
		t.Fatal("it cannot be stopped")
	}
	if p.Counters, err = attach(p.cmd.Process.Pid); err != nil {
		t.Skipf("needs hardware counters: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	child.Thaw(p.cmd)
	if _, err := io.WriteString(in, "begin\n"); err != nil {
		t.Fatal(err)
	}
	says("done\n")
	return p
}

// end ends the process and returns for how long its threads have used processors, as
// the kernel has it.
func (p *process) end() time.Duration {
	if p.cmd.ProcessState == nil {
		child.Thaw(p.cmd)
		p.in.Close()
		_ = p.cmd.Wait() // that it has not failed is seen by what it says
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

func (p *process) read(t *testing.T) Reading {
	t.Helper()
	r, err := p.Read()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestThreads: all threads of a process count, those that were there when counting began
// and those that came later, those that live and those that have ended, and what was
// before does not. What counts is the time for
// which they use a processor, which the kernel knows from elsewhere too.
func TestThreads(t *testing.T) {
	const each = 50 * time.Millisecond
	p := start(t, AttachClock, each)
	living := p.read(t)
	spent := p.end()
	ended := p.read(t)
	if spent < threads*each {
		t.Fatalf("the process has used %v of processors, when each of %d threads should have used %v", spent, threads, each)
	}
	for name, r := range map[string]Reading{"living": living, "ended": ended} {
		counts, err := r.Since(Reading{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, n := range []uint64{counts.Instructions, counts.Cycles} {
			if ratio := float64(n) / float64(spent); ratio < 0.5 || ratio > 1.5 {
				t.Errorf("%s: counted %v of %v", name, time.Duration(n), spent)
			}
		}
	}
}

// TestApart: a process is not counted for another that is started while it lives.
func TestApart(t *testing.T) {
	idle := start(t, AttachClock, 0)
	before := idle.read(t)
	busy := start(t, AttachClock, 50*time.Millisecond)
	spent := busy.end()
	counts := idle.read(t).Instructions.N - before.Instructions.N
	if time.Duration(counts) > spent/4 {
		t.Errorf("the idle process was counted %v, when the other has used %v", time.Duration(counts), spent)
	}
}

// TestWhich: the two counters are not mixed up. Here one counts nanoseconds, and the
// other page faults, which are few.
func TestWhich(t *testing.T) {
	const each = 50 * time.Millisecond
	p := start(t, func(pid int) (*Counters, error) {
		return attach(pid, event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}, event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS})
	}, each)
	counts, err := p.read(t).Since(Reading{})
	if err != nil {
		t.Fatal(err)
	}
	if counts.Instructions < uint64(threads*each/2) || counts.Cycles > 100_000 {
		t.Errorf("%d nanoseconds and %d page faults", counts.Instructions, counts.Cycles)
	}
}

// TestHardware: the counters of the machine count something like what processors do.
func TestHardware(t *testing.T) {
	p := start(t, Attach, 50*time.Millisecond)
	counts, err := p.read(t).Since(Reading{})
	if err != nil {
		t.Skipf("needs hardware counters: %v", err)
	}
	t.Logf("%+v", counts)
	if counts.Instructions < 1e6 || counts.Cycles < 1e6 {
		t.Errorf("counted %+v in %d times 50 ms", counts, threads)
	}
}

// TestWhy: what is missing is said, and what helps.
func TestWhy(t *testing.T) {
	for _, c := range []struct {
		err      error
		paranoid int
		want     []string
	}{
		{unix.ENOENT, 2, []string{"virtual machine without a PMU"}},
		{unix.EOPNOTSUPP, 4, []string{"virtual machine without a PMU"}},
		{unix.ENODEV, 2, []string{"virtual machine without a PMU"}},
		{unix.ENOSYS, 2, []string{"the kernel has no perf_event_open"}},
		{unix.EACCES, 4, []string{"perf_event_paranoid is 4", "sysctl kernel.perf_event_paranoid=2"}},
		{unix.EPERM, 3, []string{"perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2"}},
		{unix.EPERM, 2, []string{"operation not permitted", "seccomp", "CAP_PERFMON"}},
		{unix.EACCES, 2, []string{"permission denied", "seccomp", "CAP_PERFMON"}},
		{unix.EMFILE, 4, []string{"perf_event_open: too many open files"}},
	} {
		got := why(c.err, c.paranoid).Error()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v with paranoid %d: %q, without %q", c.err, c.paranoid, got, want)
			}
		}
	}
}

// TestAttachTells: where counters cannot be opened, that is an error with a reason, and
// no file is left open.
func TestAttachTells(t *testing.T) {
	_, err := attach(os.Getpid(), event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}, event{unix.PERF_TYPE_SOFTWARE, 1 << 20})
	if err == nil || err.Error() != "the kernel has none here, as in a virtual machine without a PMU" {
		t.Errorf("an event that there is not: %v", err)
	}
	if _, err := Attach(1 << 30); err == nil || !strings.Contains(err.Error(), "its threads are not known") {
		t.Errorf("a process that there is not: %v", err)
	}
	links, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink("/proc/self/fd/" + l.Name()); err == nil && strings.Contains(to, "perf_event") {
			t.Errorf("file %s is open: %s", l.Name(), to)
		}
	}
}
