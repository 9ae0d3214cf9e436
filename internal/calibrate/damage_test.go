package calibrate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// sound is a results file of three blocks in which two benchmarks took turns with
// a control, one that could not, and a hole.
func sound(t testing.TB) []byte {
	t.Helper()
	plan := &record.Plan{
		CPU: []int{2}, Blocks: 3, Time: "100ms", Timeout: time.Minute, Packages: []string{"./x"}, Bench: ".", Seed: 7,
		Subjects: map[string]string{"example.com/x": "ab12"},
	}
	for _, impl := range []string{"ref-a", "b", "c"} {
		plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/x", Name: "BenchmarkX/impl=" + impl})
	}
	path := filepath.Join(t.TempDir(), "sound.bench")
	absent := []record.Hole{{Pkg: "example.com/x", Case: "BenchmarkY-2", Reason: "needs \"more\""}}
	s, err := record.Create(path, plan, &record.Circumstances{Fixed: []record.Setting{{Key: "commit", Values: []string{"c0ffee"}}}}, absent, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.Write(data)
	for block := range 3 {
		fmt.Fprintf(&b, "block: %d\nload: 0.1 0.1 0.1\npkg: example.com/x\n", block+1)
		for i, impl := range []string{"ref-a", "b", "c"} {
			fmt.Fprintf(&b, "case: %d\nBenchmarkX/impl=%s-2 \t 1000 \t %d.5 ns/op \t 16 B/op\n", i+1, impl, 100+10*i+block)
			b.WriteString(record.Slices{N: 100, Warmup: 3, Steady: true, Ns: []int64{10_000, 10_100, record.Lost, 10_050}}.Line() + "\n")
		}
		fmt.Fprintf(&b, "# end of block %d\n", block+1)
	}
	return b.Bytes()
}

// soundCalibration is a calibration of one trial of eight blocks.
func soundCalibration() []byte {
	var b bytes.Buffer
	b.WriteString("machine: m\nstarted: 2026-01-02T03:04:05Z\nUnit ns/op better=lower\ntrial: 1\n")
	for block := range 8 {
		fmt.Fprintf(&b, "block: %d\nlayout: %d\npkg: example.com/x\n", block+1, block)
		for i, of := range []struct{ slow, copy string }{{"0", "1"}, {"0", "2"}, {"0.05", "1"}} {
			fmt.Fprintf(&b, "case: 1\nslow: %s\ncopy: %s\nBenchmarkX-2 1000 %d.5 ns/op\n", of.slow, of.copy, 100+5*(i/2)+block)
			b.WriteString(record.Slices{N: 100, Ns: []int64{10_000, 10_100, int64(10_000 + 500*(i/2)), 10_050}}.Line() + "\n")
		}
	}
	return b.Bytes()
}

// readAll reads a results file with all readers that there are for it. It is an
// error of the test if one of them panics.
func readAll(t testing.TB, data []byte) *compare.Comparison {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.bench")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := record.ReadInterrupted(path); err == nil {
		r.Finished()
		if len(r.Plan.Steps()) < 1e4 {
			r.Plan.Order(1)
		}
		if _, err := compare.Locate(r.Plan, "/impl"); err != nil {
			t.Errorf("what was read cannot be located: %v", err)
		}
	} else if !strings.HasPrefix(err.Error(), path+" cannot be resumed: ") {
		t.Errorf("the error does not name the file: %v", err)
	}
	if c, err := Read([]string{path}, Options{}); err == nil {
		for _, p := range c.Problems {
			if !strings.HasPrefix(p, path+":") {
				t.Errorf("a problem does not name file and line: %s", p)
			}
		}
	}
	c, err := compare.Compare([]string{path}, compare.Options{Col: "/impl"})
	if err != nil {
		return nil
	}
	c.Gate()
	lines := bytes.Count(data, []byte("\n")) + 1
	for _, p := range c.Problems {
		rest, _ := strings.CutPrefix(p, path+":")
		number, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > lines {
			t.Errorf("problem %q has no place in %d lines", p, lines)
		}
	}
	for _, tab := range c.Tables {
		for _, r := range tab.Rows {
			if len(r.Cells) != len(tab.Cols) {
				t.Errorf("row %s has %d cells for %d columns", r.Name, len(r.Cells), len(tab.Cols))
			}
		}
	}
	return c
}

// isResult reports whether a line of sound is a benchmark's.
func isResult(line []byte) bool { return bytes.HasPrefix(line, []byte("Benchmark")) }

// Whatever happens to some lines, the others are read.
func TestDamagedFiles(t *testing.T) {
	whole := bytes.SplitAfter(sound(t), []byte("\n"))
	c := readAll(t, bytes.Join(whole, nil))
	if c == nil || c.Files[0].Results != 9 || len(c.Problems) != 0 {
		t.Fatalf("the file is not sound: %+v", c)
	}
	rounds := 400
	if testing.Short() {
		rounds = 40
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		lines := make([][]byte, len(whole))
		for i, line := range whole {
			lines[i] = slices.Clone(line)
		}
		intact := make([]bool, len(lines))
		for i := range intact {
			intact[i] = true
		}
		for range 1 + r.IntN(4) {
			i := r.IntN(len(lines))
			line := lines[i]
			switch what := r.IntN(6); {
			case len(line) == 0:
				continue
			case what == 0: // a flipped bit; of a newline, it joins the line to what follows
				line[r.IntN(len(line))] ^= 1 << r.IntN(8)
			case what == 1:
				clear(line[:len(line)-1]) // as a file system may leave it
			case what == 2:
				lines[i] = nil
			case what == 3:
				lines[i] = append(line[:r.IntN(len(line))], '\n')
			case what == 4:
				lines[i] = slices.Concat(line[:len(line)-1], bytes.Repeat([]byte("9"), 1<<17), []byte("\n")) // too long for most readers
			default:
				junk := make([]byte, r.IntN(200))
				for j := range junk {
					junk[j] = byte(r.IntN(256))
				}
				lines[i] = append(bytes.ReplaceAll(junk, []byte("\n"), nil), '\n')
			}
			intact[i] = false
		}
		least, begins := 0, true
		for i, line := range lines {
			if intact[i] && begins && isResult(line) {
				least++
			}
			if len(line) > 0 {
				begins = line[len(line)-1] == '\n'
			}
		}
		damaged := bytes.Join(lines, nil)
		c := readAll(t, damaged)
		if least > 0 && (c == nil || c.Files[0].Results < least) {
			name := filepath.Join(os.TempDir(), fmt.Sprintf("damaged-%d.bench", seed))
			_ = os.WriteFile(name, damaged, 0o644)
			t.Fatalf("of %d benchmark lines that are whole not all were read: %+v\nseed %d; the file is kept in %s", least, c, seed, name)
		}
	}
}

// A plan that would be a flood of steps is refused before it is one.
func TestFloodOfSteps(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n# plan: {\"cpu\":[1%s],\"blocks\":1,\"time\":\"1x\",\"timeout\":1}\n", record.WrittenBy, strings.Repeat(",1", 99_999))
	for range 100_000 {
		b.WriteString("# case: p BenchmarkX\n")
	}
	b.WriteString("block: 1\n")
	path := filepath.Join(t.TempDir(), "f.bench")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := record.ReadInterrupted(path); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("the error is %v", err)
	}
}

func FuzzResults(f *testing.F) {
	data := sound(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(soundCalibration())
	for _, name := range []string{"interleaved.bench", "old.txt"} {
		data, err := os.ReadFile(filepath.Join("../compare/testdata/compare", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("BenchmarkX 1 0 ns/op\nBenchmarkX/impl=ref-a 1 NaN ns/op -1 B/op +Inf x\n# hole: case=X reason=\"\"\n"))
	f.Add([]byte("BenchmarkX 1 1 \x00hole:0\n# hole: case=X\r\nBenchmarkX/impl=a/impl=b-2 1 1 MB/s"))
	f.Add([]byte("# plan: {\"cpu\":[1],\"blocks\":2,\"time\":\"1x\",\"timeout\":1,\"mode\":\"turns\",\"rounds\":3}\n# case: p BenchmarkX/impl=a\nblock: 1\n# row \"X\" of block 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, data) })
}
