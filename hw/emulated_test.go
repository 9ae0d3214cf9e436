//go:build boards

package hw

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dynolab/dyno/lab"
)

// missed are tests that could not be run here, with the reasons.
var missed struct {
	mu    sync.Mutex
	tests []string
}

// needs skips a test for which a program is missing, and notes it.
func needs(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	missed.mu.Lock()
	missed.tests = append(missed.tests, fmt.Sprintf("%s (%s)", t.Name(), strings.ReplaceAll(err.Error(), "\n", "; ")))
	missed.mu.Unlock()
	t.Skip(err)
}

// tellMissed says how many tests were not run, which and why: a skip among hundreds of
// passes is not seen.
func tellMissed() {
	if n := len(missed.tests); n > 0 {
		slices.Sort(missed.tests)
		fmt.Fprintf(os.Stderr, "hw: %d tests need what is not installed here:\n\t%s\n", n, strings.Join(missed.tests, "\n\t"))
	}
}

// TestEmulated builds the firmware of each emulated board with the serial
// implementation, and runs some of it: everything between a source and a figure is
// real, but for the chip. Two runs of a board that counts instructions give the same,
// but for the ticks of a clock that has not as many of them as instructions: that of
// rv32-qemu ticks every 100 ns, and an instruction takes 64.
func TestEmulated(t *testing.T) {
	t.Cleanup(tellMissed)
	boards, err := Boards()
	if err != nil {
		t.Error(err)
	}
	checkout, err := FindCheckout(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range boards {
		if b.Kit() != "emulator" || !slices.Contains(b.Fits, "serial") {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			needs(t, Missing(t.Context(), b))
			d, err := boards.Device(b.Name, new(Map))
			if err != nil {
				t.Fatal(err)
			}
			const pingpong = "bench/Actor/workload=pingpong/impl=serial"
			out := filepath.Join(t.TempDir(), "results.bench")
			s, err := Run(t.Context(), RunOptions{
				Checkout: checkout, Devices: []Device{d}, Impls: []string{"serial"}, Parts: []string{"bench"}, Out: out, Count: 2, Limits: patient,
				Case: regexp.MustCompile("^" + pingpong + "$"),
			})
			if err != nil {
				t.Fatal(err)
			}
			ran := 0
			for _, r := range s.Results {
				if r.Err != nil {
					t.Errorf("%s: %v\n%s", r.Case, r.Err, r.Err.Output)
				}
				if r.Answer != nil {
					ran += len(r.Answer.Results)
				}
			}
			if ran != 2 {
				t.Fatalf("%d figures, want 2", ran)
			}
			c, err := lab.Compare([]string{out}, lab.CompareOptions{Col: "/impl"})
			if err != nil || len(c.Problems) > 0 {
				t.Fatalf("%v, %q", err, c.Problems)
			}
			for _, table := range c.Tables {
				for _, row := range table.Rows {
					for _, cell := range row.Cells {
						ticks := 0.0
						if table.Unit == "insns/op" {
							ticks = 4. / 1000 // at the begin and end, and of two looks subtracted; of 1,000 operations
						}
						if table.Exact && cell.N > 0 && cell.Max-cell.Min > ticks {
							t.Errorf("%s %s: from %v to %v in two runs of what is counted", row.Name, table.Unit, cell.Min, cell.Max)
						}
					}
				}
			}
			if t.Failed() {
				text, _ := os.ReadFile(out)
				t.Logf("%s", text)
			}
		})
	}
}

// TestEmulatedRegisters: the collector of what TinyGo makes finds an object of which
// only a register knows. Without package gcroots it does not: objects are lost now and
// then, and what they were breaks long afterwards, somewhere else.
func TestEmulatedRegisters(t *testing.T) {
	t.Cleanup(tellMissed)
	boards, err := Boards()
	if err != nil {
		t.Error(err)
	}
	checkout, err := FindCheckout(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range boards {
		if b.Kit() != "emulator" || b.Kind != KindTinyGo {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			needs(t, Missing(t.Context(), b))
			c, err := FindCompiler(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			// The module of an image, with another main package.
			dir := t.TempDir()
			if err := checkout.write(t.Context(), dir, b, "serial", []string{"bench"}, languageFor(checkout, c)); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(dir, "registers"), os.DirFS("testdata/gcroots")); err != nil {
				t.Fatal(err)
			}
			im := &Image{Board: b, Path: filepath.Join(dir, "firmware.elf"), Source: dir, Compiler: c}
			said, err := im.run(t.Context(), append(append([]string{"build", "-o", im.Path}, buildFlags(b, "", "")...), "./registers"))
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			e := &emulator{board: b, image: im}
			out, err := e.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				switch line := strings.TrimSpace(lines.Text()); {
				case line == "end":
					return
				case strings.HasPrefix(line, "register"):
					t.Error(line)
				case strings.HasPrefix(line, "panic"), strings.HasPrefix(line, "fatal"):
					t.Fatal(line)
				}
			}
			t.Errorf("it ended before it said so: %v", lines.Err())
		})
	}
}
