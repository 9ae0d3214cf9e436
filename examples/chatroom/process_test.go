package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asProgram is set where the test binary is the program.
const asProgram = "DYNO_CHATROOM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main() // it ends the process
	}
	os.Exit(m.Run())
}

// program is the program as a process of its own.
type program struct {
	*testing.T
	cmd   *exec.Cmd
	types io.WriteCloser // what is typed into it
	says  *bufio.Reader  // what it writes, errors as well
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{T: t, cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	var err error
	if p.types, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	p.says = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *program) line() string {
	p.Helper()
	line, err := p.says.ReadString('\n')
	if err != nil {
		p.Fatalf("%v says %q, and then %v", p.cmd.Args[1:], line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// end returns what else the process says, and its exit status.
func (p *program) end() (rest string, status int) {
	p.Helper()
	b, err := io.ReadAll(p.says)
	if err != nil {
		p.Error(err)
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		p.Error(err)
	}
	return string(b), p.cmd.ProcessState.ExitCode()
}

// all has each of them say that next.
func all(t *testing.T, want string, programs ...*program) {
	t.Helper()
	for _, p := range programs {
		if got := p.line(); got != want {
			t.Errorf("%v says %q, want %q", p.cmd.Args[1:], got, want)
		}
	}
}

// TestProcesses: the room and its members are processes. One leaves, one is killed, and
// the room ends.
func TestProcesses(t *testing.T) {
	room := start(t, "-listen", "127.0.0.1:0")
	open := room.line()
	at := strings.Fields(strings.TrimPrefix(open, "the room is open: go run ./examples/chatroom "))
	if len(at) != 4 || at[0] != "-join" {
		t.Fatalf("the room says %q", open)
	}
	join := func(name string) *program { return start(t, "-join", at[1], "-name", name) }

	ann := join("ann")
	all(t, "ann: comes in", room, ann)
	bob := join("bob")
	all(t, "bob: comes in", room, ann, bob)
	eve := join("eve")
	all(t, "eve: comes in", room, ann, bob, eve)
	if _, err := io.WriteString(ann.types, "hello\n"); err != nil {
		t.Error(err)
	}
	all(t, "ann: hello", room, ann, bob, eve)

	if err := bob.types.Close(); err != nil {
		t.Error(err)
	}
	all(t, "bob: cannot be reached any more", room, ann, eve)
	if rest, status := bob.end(); rest != "" || status != 0 {
		t.Errorf("bob ends with %d and says %q", status, rest)
	}
	if err := eve.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	all(t, "eve: cannot be reached any more", room, ann)
	eve.end()

	if err := room.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if rest, status := room.end(); rest != "ann: cannot be reached any more\n" || status != 0 {
		t.Errorf("the room ends with %d and says %q", status, rest)
	}
	if rest, status := ann.end(); !strings.Contains(rest, "the room is gone: actor: ") || status != 1 {
		t.Errorf("ann ends with %d and says %q", status, rest)
	}
}
