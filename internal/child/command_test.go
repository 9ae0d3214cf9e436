package child

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What a command says is returned, in its folder and environment; what goes wrong is told
// with what it said, or is what ended the context.
func TestSays(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs a shell")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{nil, {"X=y"}} {
		said, err := Says(t.Context(), dir, env, "/bin/sh", "-c", `echo " $PWD $X "`)
		if want := strings.TrimSpace(dir + " " + strings.TrimPrefix(strings.Join(env, ""), "X=")); said != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", env, said, err, want)
		}
	}
	if _, err := Says(t.Context(), dir, nil, "/bin/sh", "-c", "echo oh >&2; exit 3"); err == nil || !strings.HasSuffix(err.Error(), "in "+dir+": exit status 3\noh") {
		t.Errorf("the error is %v", err)
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Says(ctx, dir, nil, "/bin/sh", "-c", "sleep 60"); !errors.Is(err, why) {
		t.Errorf("after the context's end: %v", err)
	}
}

// What the go command says in a few lines, or with stacks, is told in one.
func TestGoError(t *testing.T) {
	const removed = "fatal error: removed GODEBUG \"asynctimerchan\" set to old value \"1\" in environment (https://go.dev/doc/godebug#go-127)\n\ngoroutine 1 [running, locked to thread]:\nruntime.fatal({0x1, 0x68})\n"
	for said, want := range map[string]string{
		"go: go.mod file not found in current directory or any parent directory; see 'go help modules'\n": "no Go module here",
		"go: no such thing\n": "no such thing",
		"go: error loading go.mod:\ngo.mod:5: removed GODEBUG \"x\" set to old value \"1\"\n": "error loading go.mod: go.mod:5: removed GODEBUG",
		removed: "go1.27 has removed the setting asynctimerchan=1, and a program that it builds does not start with it: take it out of GODEBUG in the environment",
	} {
		if err := GoError(said); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", said, err)
		}
	}
	if err := GoError("go: one\ngo: two\n"); err != nil {
		t.Errorf("two lines are %v", err)
	}
}

// The go command is asked once for its settings, until a go.mod that may change them is another.
func TestGoEnv(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	tool := filepath.Join(dir, "tool")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(tool, "#!/bin/sh\necho >>"+asked+"\necho \"{\\\"GOFLAGS\\\": \\\"$GOFLAGS\\\"}\"\n")
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		mod, flags string
		asked      int // in all
	}{{"", "-a", 1}, {"", "-a", 1}, {"", "-b", 2}, {"module m\n", "-b", 3}, {"", "-b", 3}, {"", "-a", 4}, {"module mm\n", "-a", 5}} {
		if c.mod != "" {
			write(filepath.Join(dir, "go.mod"), c.mod)
		}
		said, err := GoEnv(t.Context(), sub, []string{"GOFLAGS=" + c.flags}, tool)
		if err != nil || said["GOFLAGS"] != c.flags {
			t.Errorf("%d: %v, %v", i, said, err)
		}
		said["GOFLAGS"] = "changed by who asked"
		text, err := os.ReadFile(asked)
		if err != nil || len(text) != c.asked {
			t.Errorf("%d: asked %d times, want %d: %v", i, len(text), c.asked, err)
		}
	}
}

// TestSaid: of a program's error is told what it said, of another one all.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		"git rev-parse in .: exit status 128\nfatal: no\nhelp": "fatal: no\nhelp",
		"git rev-parse in .: exit status 128\n":                "git rev-parse in .: exit status 128\n",
		"fork: no memory":                                      "fork: no memory",
	} {
		if got := Said(errors.New(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
