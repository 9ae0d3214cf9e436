package testbin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/patience"
	"github.com/dynolab/dyno/internal/program"
)

// states returns the states of all threads of a process group, as Linux names them:
// "T" for one that is stopped. What has ended is left out, though its parent is yet to take note of
// its end may not have done so yet, or never.
func states(t testing.TB, group int) (all []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The second field is a name in parentheses, then come state, parent and group.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		if fields := strings.Fields(rest); len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" && fields[0] != "X" {
			all = append(all, fields[0])
		}
	}
	return all
}

// stopped waits until all threads of the process group stand still, of which there are
// at least so many. A signal takes a moment to get there.
func stopped(t testing.TB, p *program.Process, least int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; runtime.Gosched() {
		all := states(t, p.Hello().Pid)
		running := 0
		for _, s := range all {
			if s != "T" {
				running++
			}
		}
		if running == 0 && len(all) >= least {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the threads of the process are %q", all)
		}
	}
}

// freeze stops p and waits until it is.
func freeze(t testing.TB, p *program.Process) {
	t.Helper()
	for range 2 { // once more is no harm
		if !p.Freeze() {
			t.Fatal("it cannot be stopped")
		}
	}
	stopped(t, p, 1)
}

// A process that waits stands still: what it does beside the benchmark goes on in its
// own slices, and only there.
func TestStandsStill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	p := started(t, "BenchmarkBackground", func(c *program.Config) { c.Env = []string{"SUBJECT_COUNT=" + path} })
	count := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	other, _ := drive(t, "BenchmarkLoop", 1)
	for range 3 {
		// In a slice it goes on, sooner or later.
		before := count()
		for tries := 0; count() == before; tries++ {
			if run(t, p, 1000); tries == 10_000 {
				t.Fatal("it does nothing in its slices")
			}
		}
		freeze(t, p)
		before = count()
		run(t, other, 20_000) // takes some 20 ms
		if after := count(); after != before {
			t.Fatalf("it did %d things while another one was measured", after-before)
		}
	}
	// Who is not stopped goes on, so this is no property of waiting.
	run(t, p, 1)
	before := count()
	for tries := 0; count() == before; tries++ {
		if run(t, other, 20_000); tries == 1000 {
			t.Fatal("it stands still by itself")
		}
	}
	finish(t, p)
	finish(t, other)
}

// Processes that a benchmark has started stand still with it.
func TestChildrenStandStill(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	t.Setenv("SUBJECT_LOCK", lock)
	p, _ := drive(t, "BenchmarkForks", 1)
	freeze(t, p)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.Hello().Pid))
	must(t, err)
	own := len(threads)
	if all := states(t, p.Hello().Pid); len(all) <= own {
		t.Errorf("the process has %d threads, and so has its group with what it has started: %q", own, all)
	}
	run(t, p, 10)
	finish(t, p)
}

// Whatever a process is asked for lets it go on.
func TestThaws(t *testing.T) {
	dir, kinds, turn := t.TempDir(), []string{"BenchmarkSession", "BenchmarkLoop", "BenchmarkN"}, 0
	for name, ask := range map[string]func(p *program.Process) error{
		"a slice":      func(p *program.Process) error { _, err := p.Run(10); return err },
		"a whole call": func(p *program.Process) error { _, err := p.Call(10); return err },
		"its usage":    func(p *program.Process) error { _, err := p.Usage(); return err },
		"a reset":      (*program.Process).Reset,
		"a profile": func(p *program.Process) error {
			err := p.StartProfile(program.ProfileCPU, filepath.Join(dir, "cpu"))
			freeze(t, p)
			return errors.Join(err, p.EndProfile())
		},
		"the end": func(p *program.Process) error { _, err := p.Finish(); return err },
		"closing": (*program.Process).Close,
	} {
		asked := kinds
		if os.Getenv("DYNO_NIGHTLY") == "" { // each question to one kind, each kind some questions
			turn++
			asked = kinds[turn%3 : turn%3+1]
		}
		for _, bench := range asked {
			p, _ := drive(t, bench, 10)
			freeze(t, p)
			if err := ask(p); err != nil {
				t.Errorf("%s, %s: %v", bench, name, err)
			}
			if name == "the end" || name == "closing" {
				if all := states(t, p.Hello().Pid); len(all) > 0 {
					t.Errorf("%s, %s: it is still there: %q", bench, name, all)
				}
				continue
			}
			freeze(t, p) // and it can be stopped again
			if r := finish(t, p); !strings.Contains(r.Line, "ns/op") && name != "a reset" {
				t.Errorf("%s, %s: the line is %q", bench, name, r.Line)
			}
		}
	}
}

// However a process ends that has stood still, it is said why, and nothing is left.
func TestEndsAfterStandingStill(t *testing.T) {
	gone := func(t *testing.T, p *program.Process) {
		t.Helper()
		<-p.Done()
		if all := states(t, p.Hello().Pid); len(all) > 0 {
			t.Errorf("it is still there: %q", all)
		}
		if p.Freeze() {
			t.Error("what has ended is stopped")
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		patience.Try(t, 2*time.Second, func(limit time.Duration) error {
			p, err := start(t, "BenchmarkBad/hang/loop", func(c *program.Config) { c.Timeout = limit })
			if err != nil {
				return err
			}
			if _, err := p.Run(50); err != nil {
				return err
			}
			freeze(t, p)
			_, err = p.Run(50)
			if err == nil || !strings.HasPrefix(err.Error(), "no answer after ") || !strings.Contains(program.Output(err), "goroutine") && !raceEnabled {
				return fmt.Errorf("%w\n%s", err, program.Output(err))
			}
			gone(t, p)
			return nil
		})
	})
	t.Run("crashes", func(t *testing.T) {
		t.Parallel()
		p, _ := drive(t, "BenchmarkBad/panic/loop", 50)
		freeze(t, p)
		if _, err := p.Run(50); err == nil || !strings.HasPrefix(err.Error(), "crashed: panic: no more") {
			t.Error(err)
		}
		gone(t, p)
	})
	t.Run("is killed from outside", func(t *testing.T) {
		t.Parallel()
		p, _ := drive(t, "BenchmarkLoop", 50)
		freeze(t, p)
		must(t, syscall.Kill(p.Hello().Pid, syscall.SIGKILL))
		<-p.Done()
		if _, err := p.Run(50); err == nil || !strings.Contains(err.Error(), "killed") || errors.Is(err, program.ErrKilled) {
			t.Error(err)
		}
		gone(t, p)
	})
	t.Run("is continued from outside", func(t *testing.T) {
		t.Parallel()
		p, _ := drive(t, "BenchmarkLoop", 50)
		freeze(t, p)
		must(t, syscall.Kill(p.Hello().Pid, syscall.SIGCONT))
		run(t, p, 50)
		finish(t, p)
		gone(t, p)
	})
	t.Run("its context ends", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		p, err := Drive(ctx, program.Config{Path: drivable(t), Dir: drivableDir, Benchmark: "BenchmarkLoop"})
		if err != nil {
			t.Fatal(err)
		}
		run(t, p, 50)
		freeze(t, p)
		cancel()
		<-p.Done()
		if _, err := p.Run(50); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		gone(t, p)
	})
}

// Who drives processes that stand still and is killed leaves none behind. This test is
// a second process then, which drives, and says the number of what it drives.
func TestOrphanStandsStill(t *testing.T) {
	const role = "DRIVEN_TEST_BINARY"
	if binary := os.Getenv(role); binary != "" {
		p, err := Drive(context.Background(), program.Config{Path: binary, Dir: drivableDir, Benchmark: "BenchmarkLoop"})
		if err != nil {
			t.Fatal(err)
		}
		run(t, p, 10)
		freeze(t, p)
		fmt.Printf("frozen %d\n", p.Hello().Pid)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOrphanStandsStill$", "-test.timeout=15m")
	cmd.Env = append(os.Environ(), role+"="+drivable(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	must(t, cmd.Start())
	pid := 0
	for pid == 0 {
		var line string
		if _, err := fmt.Fscanln(out, &line, &pid); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if all := states(t, pid); len(all) == 0 || all[0] != "T" {
		t.Errorf("the process is %q", all)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(5 * time.Minute); ; runtime.Gosched() {
		all := states(t, pid)
		if len(all) == 0 {
			break
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			t.Fatalf("the process has outlived who drove it: %q", all)
		}
	}
}
