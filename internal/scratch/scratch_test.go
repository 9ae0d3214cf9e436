package scratch

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// holdVariable makes this test binary a process that makes a folder, says where,
// and waits to be killed.
const holdVariable = "DYNO_SCRATCH_HOLD"

func TestMain(m *testing.M) {
	if os.Getenv(holdVariable) != "" {
		f, err := New()
		if err != nil {
			panic(err)
		}
		if err := os.MkdirAll(filepath.Join(f.Path, "copy", "of"), 0o755); err != nil {
			panic(err)
		}
		if err := os.Chmod(filepath.Join(f.Path, "copy"), 0o500); err != nil {
			panic(err)
		}
		os.Stdout.WriteString(f.Path + "\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		runtime.KeepAlive(f)
		return
	}
	os.Exit(m.Run())
}

// hold starts such a process, and returns where its folder is.
func hold(t *testing.T) (path string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	kill = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = in.Close()
		}
	}
	t.Cleanup(kill)
	return strings.TrimSpace(line), kill
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestRemove(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if !Ours(f.Path) || !filepath.IsAbs(f.Path) || !exists(f.Path) {
		t.Errorf("%q", f.Path)
	}
	if err := os.WriteFile(filepath.Join(f.Path, "x"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil || exists(f.Path) {
		t.Errorf("%s is left: %v", f.Path, err)
	}
}

// What a killed process has left is removed by the next, and nothing else: not the
// folder of a process that lives, of this one, or one that is not locked.
func TestClear(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no locks that end with their process")
	}
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	mine, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Remove()
	living, _ := hold(t)
	killed, kill := hold(t)
	kill()
	foreign := filepath.Join(tmp, prefix+"foreign") // which has no lock
	other := filepath.Join(tmp, "benchrun-other")
	for _, path := range []string{foreign, other} {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, lockName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if !exists(killed) {
		t.Fatal("the killed process has cleared away itself: nothing is shown by that")
	}

	next, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer next.Remove()
	if exists(killed) {
		t.Errorf("%s is left, and its process is gone", killed)
	}
	for _, path := range []string{mine.Path, living, foreign, other, next.Path} {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
}
