package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestEndsWithItsStarter: a process is gone when the program has been killed that
// started it, and not before, even if it stands still then. Three processes take part,
// all of them this test: the second starts the third, which answers what the first asks,
// freezes it if it gets a signal, and is killed.
func TestEndsWithItsStarter(t *testing.T) {
	const role = "CHILD_TEST_ROLE"
	again := func(as string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEndsWithItsStarter$", "-test.timeout=15m")
		cmd.Env = append(os.Environ(), role+"="+as)
		return cmd
	}
	switch os.Getenv(role) {
	case "second":
		cmd := again("third")
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		freeze := make(chan os.Signal, 1)
		signal.Notify(freeze, syscall.SIGUSR1)
		if err := Start(cmd); err != nil {
			t.Fatal(err)
		}
		<-freeze
		if !Freeze(cmd) {
			t.Fatal("it cannot be stopped")
		}
		os.Stdout.WriteString("frozen " + strconv.Itoa(cmd.Process.Pid) + "\n")
		select {}
	case "third":
		for line := range lines(os.Stdin) {
			os.Stdout.WriteString("heard " + line + "\n")
		}
		return
	}
	t.Run("lively", func(t *testing.T) { endsWithItsStarter(t, again("second"), false) })
	t.Run("frozen", func(t *testing.T) { endsWithItsStarter(t, again("second"), true) })
}

// endsWithItsStarter has cmd be the second process.
func endsWithItsStarter(t *testing.T, cmd *exec.Cmd, frozen bool) {
	ask, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if _, err := io.WriteString(ask, "a\n"); err != nil {
		t.Error(err)
	}
	if line, err := r.ReadString('\n'); err != nil || line != "heard a\n" {
		t.Errorf("the third process says %q, %v", line, err)
	}
	if frozen {
		if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Error(err)
		}
		var pid int
		if _, err := fmt.Fscanf(r, "frozen %d\n", &pid); err != nil {
			t.Error(err)
		}
		stopped(t, pid)
		// What is stopped for ever never closes its end.
		if err := out.(*os.File).SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
			t.Error(err)
		}
		defer syscall.Kill(-pid, syscall.SIGKILL)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := cmd.Process.Wait(); err != nil {
		t.Error(err)
	}
	_, _ = io.WriteString(ask, "b\n") // there is no reader
	ask.Close()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("the third process has outlived the second, and says %q, %v", rest, err)
	}
}

// stopped waits until a process stands still, which takes it a moment.
func stopped(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); state(t, pid) != "T"; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the process does not stop")
		}
	}
}

// state returns the state of a process, as Linux names it.
func state(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // behind the name
	return rest[:1]
}

// TestFreeze: a process and those it has started stand still from Freeze to Thaw, and
// are killed all the same.
func TestFreeze(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo $!; cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	var child int
	if _, err := fmt.Fscanln(r, &child); err != nil {
		t.Fatal(err)
	}
	echoes := func() {
		if line, err := r.ReadString('\n'); err != nil || line != "a\n" {
			t.Errorf("%q, %v", line, err)
		}
	}
	// While a shell starts a program it cannot be stopped: the last one runs when it answers.
	if _, err := io.WriteString(in, "a\n"); err != nil {
		t.Error(err)
	}
	echoes()
	for range 3 {
		for range 2 { // once more is no harm
			if !Freeze(cmd) {
				t.Fatal("it cannot be stopped")
			}
		}
		stopped(t, cmd.Process.Pid)
		stopped(t, child)
		if _, err := io.WriteString(in, "a\n"); err != nil {
			t.Error(err)
		}
		Thaw(cmd)
		echoes()
		if s := state(t, child); s == "T" {
			t.Error("what it has started stands still for ever")
		}
	}
	if !Freeze(cmd) {
		t.Error("it cannot be stopped")
	}
	KillGroup(cmd)
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Error(err)
	}
}

// lines yields the lines that come from r.
func lines(r io.Reader) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(r); s.Scan(); {
			if !yield(s.Text()) {
				return
			}
		}
	}
}
