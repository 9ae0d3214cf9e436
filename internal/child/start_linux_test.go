package child

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
)

// TestEndsWithItsStarter: a process is gone when the program has been killed that
// started it. Three processes take part, all of them this test: the second starts
// the third, which answers what the first asks, and is killed.
func TestEndsWithItsStarter(t *testing.T) {
	const role = "CHILD_TEST_ROLE"
	again := func(as string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEndsWithItsStarter$", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), role+"="+as)
		return cmd
	}
	switch os.Getenv(role) {
	case "second":
		cmd := again("third")
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		if err := Start(cmd); err != nil {
			t.Fatal(err)
		}
		select {}
	case "third":
		for line := range lines(os.Stdin) {
			os.Stdout.WriteString("heard " + line + "\n")
		}
		return
	}
	cmd := again("second")
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
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := cmd.Process.Wait(); err != nil {
		t.Error(err)
	}
	_, _ = io.WriteString(ask, "b\n") // nobody is there to read it
	ask.Close()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("the third process has outlived the second, and says %q, %v", rest, err)
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
