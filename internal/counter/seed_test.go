package counter

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// early is drawn by the first thread, as all processes draw in the same order only there.
var early = rand.Uint64()

// TestSeed: processes of one number go by the same chance, and those of another do not.
func TestSeed(t *testing.T) {
	const role = "COUNTER_TEST_CHANCE"
	if os.Getenv(role) != "" {
		os.Stdout.WriteString(strconv.FormatUint(early, 16) + "\n")
		os.Exit(0)
	}
	if testing.Short() {
		t.Skip("starts three processes under Valgrind")
	}
	tool, err := Find(t.Context())
	if err != nil || !tool.seeded {
		t.Skip("no tool whose chance can be chosen: ", err)
	}
	runtime.LockOSThread() // as only the thread that starts a process may trace it
	defer runtime.UnlockOSThread()
	chance := func(n int) string {
		line := append(tool.Under(filepath.Join(t.TempDir(), "out")), os.Args[0], "-test.run=^TestSeed$")
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(os.Environ(), append(tool.Env(), role+"=1", "GOMAXPROCS=1")...)
		started := tool.Seed(cmd, n)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := started(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 100)
		k, _ := out.Read(said)
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		return string(said[:k])
	}
	first, other := chance(1), chance(2)
	if first == other {
		t.Errorf("two numbers give %q", first)
	}
	// On a busy machine another thread may be the first to draw.
	for try := 0; chance(1) != first; try++ {
		if first = chance(1); try == 10 {
			t.Fatal("one number gives other chances")
		}
	}
}
