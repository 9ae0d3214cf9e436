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
)

// A run that is killed again and again, at any moment, and resumed each time, has
// in the end every benchmark in every block exactly once. It measures a binary that is
// there: that packages are built again, which takes most of the time, is no part of this.
func TestKilledAndResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a test binary that can be driven")
	}
	binary := threeBenchmarks(t)
	t.Run("process", func(t *testing.T) { killAndResume(t, binary, 60, 6, "--mode", "process") })
	// Each block has two rows of four processes. Slices of 5 ms are long enough for what uses
	// b.Loop: it takes no time to find that out.
	t.Run("turns", func(t *testing.T) {
		killAndResume(t, binary, 16, 4, "--mode", "turns", "--rounds", "2", "--slice", "5ms")
	})
}

// threeBenchmarks returns the path of a test binary that can be driven.
func threeBenchmarks(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		"x_test.go": `package m

import "testing"

var sink int

func BenchmarkX(b *testing.B) {
	for _, name := range []string{"a", "b", "c"} {
		b.Run("impl="+name, func(b *testing.B) {
			for b.Loop() {
				sink++
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
	binary, overlay := filepath.Join(dir, "x.test"), t.TempDir()
	for _, args := range [][]string{{"benchrun", "overlay", overlay}, {"go", "test", "-c", "-o", binary, "-overlay", filepath.Join(overlay, "overlay.json")}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOCACHE="+goCache(t))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	return binary
}

// killAndResume begins a run of the binary with the flags mode, and kills and resumes it.
func killAndResume(t *testing.T, binary string, blocks, kills int, mode ...string) {
	copies := []int{1}
	if mode[1] != "process" {
		copies = []int{1, 2} // the base has a control
	}
	path, temp := filepath.Join(t.TempDir(), "r.bench"), t.TempDir()
	// start begins or resumes the run, and returns when it measures.
	start := func(args ...string) (*exec.Cmd, *lockedBuffer) {
		cmd := exec.Command("benchrun", append([]string{"run", "--idle", "off"}, args...)...)
		cmd.Dir, cmd.Env = filepath.Dir(binary), append(os.Environ(), "TMPDIR="+temp)
		said := new(lockedBuffer)
		cmd.Stderr = said
		cmd.WaitDelay = 10 * time.Second // a killed run may leave its process behind
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
	cmd, said := start(append(mode, "--binary", binary, "--time", "1x", "--blocks", fmt.Sprint(blocks), "--cpu", "1,2", "--out", path)...)
	for k := range kills {
		// The moment is to be any after the beginning of a block, but not always
		// the first.
		enough := done + r.IntN(blocks/kills/2)
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
