//go:build boards

package hw

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/hw/firmware/conform"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/internal/barepath"
	"github.com/dynolab/dyno/internal/compare"
)

func init() { realPrograms = true }

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
// passes is not seen. Each is told once.
func tellMissed() {
	if n := len(missed.tests); n > 0 {
		slices.Sort(missed.tests)
		fmt.Fprintf(os.Stderr, "hw: %d tests need what is not installed here:\n\t%s\n", n, strings.Join(missed.tests, "\n\t"))
	}
	missed.tests = nil // told
}

// boardsHere returns the boards, and the sources that firmware is built from.
func boardsHere(t *testing.T) (Registry, Checkout) {
	t.Helper()
	boards, err := Boards()
	if err != nil {
		t.Error(err)
	}
	checkout, err := FindCheckout(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return boards, checkout
}

// heaps is into how many the clauses are divided: each takes a process of its own, and
// the start of an emulated Go program is a tenth of a second of a processor.
const heaps = 12

// share returns those clauses that the i-th implementation runs. They are the same in
// each run, and other ones with each implementation.
func share(impl dyno.Impl, i int) (names []string) {
	n := 0
	for c := range conform.Cases(impl) {
		if n++; n%heaps == i%heaps {
			names = append(names, c.Part+"/"+c.Name)
		}
	}
	return names
}

// TestEmulated builds firmware for each emulated board, and runs some of it: everything
// between a source and a figure is real, but for the chip.
//
// Boards that TinyGo compiles for have the serial implementation, twice: two runs of a
// board that counts instructions give the same, to the last of them, whether they wait
// for the clock or not.
//
// Linux boards have clauses as well, and are dealt the implementations: together they
// run each.
func TestEmulated(t *testing.T) {
	boards, checkout := boardsHere(t)
	var linux []string
	for _, b := range boards {
		if b.Kit() == "emulator" && b.Kind == kindGo {
			linux = append(linux, b.Name)
		}
	}
	t.Run("boards", func(t *testing.T) {
		for _, b := range boards {
			if b.Kit() != "emulator" {
				continue
			}
			if b.Kind == kindTinyGo {
				t.Run(b.Name, func(t *testing.T) { testTinyGo(t, boards, b, checkout) })
				continue
			}
			t.Run(b.Name, func(t *testing.T) {
				for i, impl := range impls.All() {
					if linux[i%len(linux)] == b.Name {
						t.Run(impl.Name, func(t *testing.T) { testLinux(t, boards, b, checkout, impl, i) })
					}
				}
			})
		}
	})
	tellMissed()
}

const pingpong = "bench/Actor/workload=pingpong/impl="

// emulated runs some cases of an emulated board, each of which must pass or be skipped,
// and returns how many passed and the results file.
func emulated(t *testing.T, boards Registry, b Board, o RunOptions) (passed int, out string) {
	t.Helper()
	needs(t, errors.Join(Missing(t.Context(), b)...))
	d, err := boards.Device(b.Name, new(Map))
	if err != nil {
		t.Fatal(err)
	}
	o.Devices, o.Limits = []Device{d}, patient
	o.Limits.Answer = 30 * time.Second // then an emulator that hangs is started again
	o.Out = filepath.Join(t.TempDir(), "results.bench")
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Results {
		switch {
		case r.Err != nil:
			t.Errorf("%s: %v\n%s", r.Case, r.Err, r.Err.Output)
		case r.Skip == "":
			passed++
		}
	}
	return passed, o.Out
}

// testLinux runs the workload ping-pong and a share of the clauses on a Linux board.
func testLinux(t *testing.T, boards Registry, b Board, checkout Checkout, impl dyno.Impl, i int) {
	t.Parallel()
	clauses := share(impl, i)
	passed, out := emulated(t, boards, b, RunOptions{
		Progress: noProgress{},
		Checkout: checkout, Impls: []string{impl.Name}, Case: exactly(append(clauses, pingpong+impl.Name)...),
	})
	data := readFile(t, out)
	text := string(data)
	figures := strings.Count(text, "\nBenchmarkActor/workload=pingpong/impl="+impl.Name)
	pass, skip := strings.Count(text, " result=pass\n"), strings.Count(text, " result=skip ")
	if figures != 1 || pass+skip != len(clauses) || pass < len(clauses)/2 || passed != figures+pass {
		t.Errorf("of %d clauses %d passed and %d were skipped; there are %d figures of ping-pong", len(clauses), pass, skip, figures)
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}

// exactly matches these names of cases and no others.
func exactly(names ...string) *regexp.Regexp {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return regexp.MustCompile("^(" + strings.Join(quoted, "|") + ")$")
}

// testTinyGo runs some workloads twice, and demands that what is counted is the same.
func testTinyGo(t *testing.T, boards Registry, b Board, checkout Checkout) {
	t.Parallel()
	// Not restart: it has collections in it, which look at what is left on stacks too.
	cases := []string{pingpong + "serial", "bench/Actor/workload=latency1k/impl=serial"}
	passed, out := emulated(t, boards, b, RunOptions{
		Progress: noProgress{},
		Checkout: checkout, Impls: []string{"serial"}, Parts: []string{"bench"}, Count: 2, Case: exactly(cases...),
	})
	if passed != 2*len(cases) {
		t.Fatalf("%d figures, want %d", passed, 2*len(cases))
	}
	c, err := compare.Compare([]string{out}, compare.Options{Col: "/impl"})
	if err != nil || len(c.Problems) > 0 {
		t.Fatalf("%v, %q", err, c.Problems)
	}
	for _, table := range c.Tables {
		for _, row := range table.Rows {
			for _, cell := range row.Cells {
				if table.Exact && cell.N > 0 && cell.Max != cell.Min {
					t.Errorf("%s %s: from %v to %v in two runs of what is counted", row.Name, table.Unit, cell.Min, cell.Max)
				}
			}
		}
	}
	if t.Failed() {
		text, _ := os.ReadFile(out)
		t.Logf("%s", text)
	}
}

// TestEmulatedNowhere: on a machine without emulators the tests above and below are skipped,
// and it is said which and why.
func TestEmulatedNowhere(t *testing.T) {
	needsSymlinks(t)
	path, err := barepath.Make(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestEmulated(Registers)?$")
	cmd.Env = append(os.Environ(), "PATH="+path, tinygoVariable+"=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"TestEmulated/boards/linux-arm-qemu/", "qemu-arm is not on PATH",
		"TestEmulated/boards/rv32-qemu ", "TestEmulatedRegisters/rv32-qemu ", "tinygo is not on PATH",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// TestEmulatedRegisters: the collector of what TinyGo makes finds an object of which
// only a register knows. Without package gcroots it does not: objects are lost now and
// then, and what they were breaks long afterwards, somewhere else.
func TestEmulatedRegisters(t *testing.T) {
	t.Cleanup(tellMissed)
	boards, checkout := boardsHere(t)
	for _, b := range boards {
		if b.Kit() != "emulator" || b.Kind != kindTinyGo {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			needs(t, errors.Join(Missing(t.Context(), b)...))
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
