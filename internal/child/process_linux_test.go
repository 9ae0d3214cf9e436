package child

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLeft: what a process has left behind in a session of its own holds its pipes, and is
// neither waited for nor costs a word of what the process has printed.
func TestLeft(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	const prints = `head -c 60000 /dev/zero; echo last; echo bad >&2`
	for range 3 {
		p, err := Run(exec.Command("sh", "-c", "setsid sleep 1000 & echo $!; "+prints))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-p.Ended()
		took := time.Since(began)
		first, rest, _ := strings.Cut(p.Stdout.String(), "\n")
		pid, err := strconv.Atoi(first)
		if err != nil {
			t.Fatal(err)
		}
		if len(rest) != 60000+len("last\n") || !strings.HasSuffix(rest, "last\n") || p.Stderr.String() != "bad\n" || p.Failed() {
			t.Errorf("%d bytes to the end %.10q, and %q", len(rest), rest[max(0, len(rest)-10):], p.Stderr.String())
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("what was left has ended: %v", err)
		}
		if took < 10*time.Second {
			return
		}
	}
	t.Error("three times, the end took ten seconds")
}

// TestPipe: what is in a pipe when a process ends is copied, though another one has the pipe.
func TestPipe(t *testing.T) {
	var to slow
	to.begun, to.goOn = make(chan bool), make(chan bool)
	p, err := NewPipe(&to)
	if err != nil {
		t.Fatal(err)
	}
	other, err := syscall.Dup(int(p.Write.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(other)
	p.Write.WriteString("a")
	<-to.begun
	p.Write.WriteString("b")
	if err := p.read.SetReadDeadline(time.Unix(1, 0)); err != nil { // as End does
		t.Fatal(err)
	}
	close(to.goOn)
	p.End()
	if got := to.String(); got != "ab" {
		t.Errorf("%q is copied", got)
	}
}

// slow is a Buffer that waits in its first Write.
type slow struct {
	Buffer
	begun, goOn chan bool
}

func (s *slow) Write(b []byte) (int, error) {
	select {
	case s.begun <- true:
		<-s.goOn
	case <-s.goOn:
	}
	return s.Buffer.Write(b)
}

// TestKillGroup: a process that has gone to another process group is killed, too.
func TestKillGroup(t *testing.T) {
	const role = "CHILD_TEST_GROUP"
	if group, err := strconv.Atoi(os.Getenv(role)); err == nil {
		if err := syscall.Setpgid(0, group); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("gone\n")
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillGroup$", "-test.timeout=15m")
	cmd.Env = append(os.Environ(), role+"="+strconv.Itoa(syscall.Getpgrp()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(cmd); err != nil {
		t.Fatal(err)
	}
	var said [5]byte
	if _, err := out.Read(said[:]); err != nil || string(said[:]) != "gone\n" {
		t.Errorf("%q, %v", said, err)
	}
	KillGroup(cmd)
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Error(err)
	}
}

// TestRunThen: a process that cannot be prepared ends, and the error says why.
func TestRunThen(t *testing.T) {
	cmd, failed := exec.Command("sleep", "1000"), errors.New("not prepared")
	if _, err := RunThen(cmd, func(int) error { return failed }); !errors.Is(err, failed) || cmd.ProcessState == nil {
		t.Errorf("%v, %v", err, cmd.ProcessState)
	}
}
