package machinelock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary is the other process, too.
func TestMain(m *testing.M) {
	switch os.Getenv("ROLE") {
	case "hold": // takes the lock, and has it until its input ends
		l, err := Try("held by a test")
		fmt.Println("held", l != nil, err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	case "grandchild": // starts one that must not have the lock, and ends
		if _, err := Try("x"); err != nil {
			panic(err)
		}
		c := exec.Command("sleep", "60")
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Println(c.Process.Pid)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A child is a process that does role; it is alive until its input is closed.
type child struct {
	*exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

func start(t *testing.T, role, lock string, files ...*os.File) *child {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "ROLE="+role, Env+"="+lock)
	c.ExtraFiles = files
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return &child{c, in, bufio.NewReader(out)}
}

func (c *child) says(t *testing.T) string {
	t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func lockFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "lock")
	t.Setenv(Env, path)
	return path
}

// Two processes do not have the machine at a time; the second is told who has it, and gets it
// when that is killed.
func TestExclusive(t *testing.T) {
	c := start(t, "hold", lockFile(t))
	if got := c.says(t); got != "held true <nil>" {
		t.Fatal(got)
	}
	_, err := Try("second")
	var held *HeldError
	if !errors.As(err, &held) || !strings.Contains(held.Holder, fmt.Sprintf("held by a test (process %d, since ", c.Process.Pid)) {
		t.Fatalf("the second is told %v", err)
	}
	told := make(chan string, 1)
	got := make(chan error)
	go func() {
		l, err := Wait(context.Background(), "second", func(h *HeldError) { told <- h.Holder })
		if err == nil {
			l.Unlock()
		}
		got <- err
	}()
	if h := <-told; h != held.Holder {
		t.Errorf("who waits is told %q", h)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// Waiting ends with its context.
func TestWaitEnds(t *testing.T) {
	lockFile(t)
	l, err := Try("first")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := Wait(ctx, "second", func(*HeldError) { cancel(why) }); !errors.Is(err, why) {
		t.Error(err)
	}
}

// What was handed over is locked as long as one of both lives, and no longer: what the child
// starts does not have it.
func TestInherited(t *testing.T) {
	lockFile(t)
	l, err := Try("agent")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, "hold", Inherited, l.File())
	if got := c.says(t); got != "held true <nil>" {
		t.Fatal(got)
	}
	_ = l.File().Close() // as the kernel does it for an agent that is killed
	var held *HeldError
	if _, err := Try("next"); !errors.As(err, &held) {
		t.Fatalf("the child still measures, and the next got %v", err)
	}
	c.in.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if l, err = Wait(ctx, "next", func(*HeldError) {}); err != nil {
		t.Fatal(err)
	}
	g := start(t, "grandchild", Inherited, l.File())
	pid := g.says(t)
	defer func() { _ = exec.Command("kill", pid).Run() }()
	_ = l.File().Close()
	if l, err = Wait(ctx, "last", func(*HeldError) {}); err != nil {
		t.Fatalf("a grandchild has the lock: %v", err)
	}
	l.Unlock()
}

// Another file in its place is an error, not a free lock.
func TestNotAFile(t *testing.T) {
	t.Setenv(Env, t.TempDir())
	if _, err := Try("x"); err == nil {
		t.Error("a folder was locked")
	}
	t.Setenv(Env, filepath.Join(t.TempDir(), "no", "folder"))
	if _, err := Try("x"); err == nil {
		t.Error("a file in no folder was locked")
	}
}

// Off locks nothing.
func TestOff(t *testing.T) {
	t.Setenv(Env, Off)
	for range 2 {
		l, err := Try("x")
		if err != nil || l.File() != nil {
			t.Fatal(l, err)
		}
		defer l.Unlock()
	}
}

// The file is for all users, whichever of them measures first.
func TestForAllUsers(t *testing.T) {
	path := lockFile(t)
	l, err := Try("x")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("the lock has the mode %v, %v", info.Mode(), err)
	}
}
