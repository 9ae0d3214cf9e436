package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/child"
)

// A run that is killed again and again, at any moment, and resumed each time, has
// in the end every benchmark in every block exactly once. By day TestResumedTorn of internal/runner
// goes on with what a kill leaves.
func TestKilledAndResumed(t *testing.T) {
	if os.Getenv("DYNO_NIGHTLY") == "" {
		t.Skip("with DYNO_NIGHTLY only: compiles a test binary for each resumption")
	}
	const kills = 6
	t.Run("process", func(t *testing.T) { killAndResume(t, kills, 9*kills, "--mode", "process") })
	// Each block has two rows of four processes, in one of two layouts.
	t.Run("turns", func(t *testing.T) {
		killAndResume(t, kills, 4*kills, "--mode", "turns", "--rounds", "3", "--slice", "5ms", "--layouts", "2")
	})
}

// killAndResume begins a run with the flags mode, and kills and resumes it so many times.
func killAndResume(t *testing.T, kills, blocks int, mode ...string) {
	copies := []int{1}
	if mode[1] != "process" {
		copies = []int{1, 2} // the base has a control
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.23\n",
		"x_test.go": `package m

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

// No process measures while as many blocks are complete as may be.
func TestMain(m *testing.M) {
	for {
		var may int
		text, _ := os.ReadFile("may")
		fmt.Sscan(string(text), &may)
		results, _ := os.ReadFile("r.bench")
		if bytes.Count(results, []byte("\n# end of block ")) < may {
			break
		}
		time.Sleep(time.Millisecond)
	}
	os.Exit(m.Run())
}

func BenchmarkX(b *testing.B) {
	for _, name := range []string{"a", "b", "c"} {
		b.Run("impl="+name, func(b *testing.B) {
			for b.Loop() {
				time.Sleep(100 * time.Microsecond) // takes little of a processor
			}
		})
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path, temp := filepath.Join(dir, "r.bench"), t.TempDir()
	// may lets the run complete so many blocks in all, after which it waits for its end: how
	// fast it is must not matter.
	may := func(blocks int) {
		t.Helper()
		next := filepath.Join(temp, "may")
		if err := errors.Join(os.WriteFile(next, []byte(fmt.Sprint(blocks)), 0o644), os.Rename(next, filepath.Join(dir, "may"))); err != nil {
			t.Fatal(err)
		}
	}
	// start begins or resumes the run, and returns when it measures.
	start := func(args ...string) (*exec.Cmd, *child.Buffer) {
		cmd := exec.Command("benchrun", append([]string{"run", "--idle", "off", "--timeout", "10m"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS="+goFlags, "GOCACHE="+goCache(t), "TMPDIR="+temp)
		said := new(child.Buffer)
		cmd.Stderr = said
		cmd.WaitDelay = time.Minute // a killed run may leave its process behind
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := until(func() bool { return strings.Contains(said.String(), "results: ") }); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return cmd, said
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("kills by seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var before []byte
	done := 0
	may(blocks / (kills + 1))
	cmd, said := start(append(mode, "--time", "1x", "--blocks", fmt.Sprint(blocks), "--cpu", "1,2", "--out", path)...)
	for k := range kills {
		// The moment is to be any after the beginning of a block, but not always
		// the first, and in the end some block is complete.
		most := (k + 1) * blocks / (kills + 1)
		enough := done + r.IntN(most-done)
		if k == kills-1 {
			enough = max(enough, 1)
		}
		if err := until(func() bool {
			data, _ := os.ReadFile(path)
			return bytes.Contains(data, []byte("\nblock: ")) && bytes.Count(data, []byte(endOfBlock)) >= enough
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// All that was complete is still there.
		if whole := before[:bytes.LastIndexByte(before, '\n')+1]; !bytes.HasPrefix(data, whole) {
			t.Fatalf("kill %d: what was there has changed\n%s", k, data)
		}
		before, done = data, bytes.Count(data, []byte(endOfBlock))
		if may((k + 2) * blocks / (kills + 1)); k == kills-1 {
			may(blocks + 1)
		}
		cmd, said = start("--resume", path)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the last resumption: %v\n%s", err, said)
	}
	// What the killed ones left has been cleared away by the next.
	if left, err := filepath.Glob(filepath.Join(temp, "benchrun-*")); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %q, %v", left, err)
	}
	if done == 0 || done == blocks {
		t.Errorf("%d of %d blocks were complete at the last kill: nothing is shown by that", done, blocks)
	}

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	reader := benchfmt.NewReader(bytes.NewReader(data), path)
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.Result:
			count[rec.GetConfig("block")+" "+rec.GetConfig("case")+" "+string(rec.Name)+" "+cmp.Or(rec.GetConfig("copy"), "1")]++
		}
	}
	for block := 1; block <= blocks; block++ {
		for i, name := range []string{"a", "a-2", "b", "b-2", "c", "c-2"} {
			for _, n := range copies {
				if n == 2 && name[0] != 'a' {
					continue
				}
				key := fmt.Sprintf("%d %d X/impl=%s %d", block, i+1, name, n)
				if count[key] != 1 {
					t.Errorf("%s: %d results", key, count[key])
				}
				delete(count, key)
			}
		}
	}
	if len(count) > 0 || regexp.MustCompile(`(?m)^# hole`).Match(data) {
		t.Errorf("besides: %v", count)
	}
	// A row that takes turns is there whole.
	if begun, ended := bytes.Count(data, []byte("\n# row ")), bytes.Count(data, []byte("\n# end of row ")); begun != ended || begun != (len(copies)-1)*2*blocks {
		t.Errorf("%d rows begin and %d end", begun, ended)
	}
	if n := bytes.Count(data, []byte("\n# resumed ")); n != kills {
		t.Errorf("resumed %d times, want %d", n, kills)
	}
	var exit *exec.ExitError
	if _, err := exec.Command("benchrun", "compare", path).Output(); errors.As(err, &exit) {
		t.Errorf("compare: %v\n%s", err, exit.Stderr)
	}
}

// endOfBlock is how the line after a complete block begins.
const endOfBlock = "\n# end of block "
