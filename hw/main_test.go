package hw

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/internal/barepath"
	"github.com/dynolab/dyno/internal/measure"
)

// TestMain is also the programs that boards need: under their names this test does as
// they would.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "tinygo":
		os.Exit(fakeTinyGo(os.Args[1:]))
	case "toy-emulator":
		os.Exit(fakeBoard(os.Args[1]))
	case "ssh":
		os.Exit(fakeSSH(os.Args[1:]))
	}
	os.Exit(runBare(m))
}

// realPrograms is whether tests look for this machine's compilers and emulators. Then PATH
// is as it is; else it is bare, so that what tests need of boards they have to fake.
var realPrograms bool

// runBare runs the tests.
func runBare(m *testing.M) int {
	if realPrograms {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "hw-path-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path, err := barepath.Make(dir)
	if err != nil {
		panic(err)
	}
	os.Setenv("PATH", path)
	os.Unsetenv(tinygoVariable) // which names a program wherever it is
	return m.Run()
}

// TestPath: tests see no program of this machine that they have not made or named. There is
// no machine without mkdir.
func TestPath(t *testing.T) {
	needsSymlinks(t)
	if path, err := exec.LookPath("mkdir"); (err == nil) != realPrograms {
		t.Errorf("mkdir: %q, %v", path, err)
	}
}

// program puts this test on PATH under a program's name, in front of all others.
func program(t *testing.T, name string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// The variables by which a test tells the fake TinyGo what to do.
const (
	tinygoSaysVersion = "FAKE_TINYGO_VERSION" // what it says to version
	tinygoGoroot      = "FAKE_TINYGO_GOROOT"  // the only GOROOT that it takes; "" for any
	tinygoELF         = "FAKE_TINYGO_ELF"     // what build copies
	tinygoFails       = "FAKE_TINYGO_FAILS"   // what build or flash says when it fails
	tinygoFailsAt     = "FAKE_TINYGO_FAILS_AT"
	tinygoRoot        = "FAKE_TINYGO_ROOT"
	tinygoRoom        = "FAKE_TINYGO_ROOM" // how many parts a board has room for; "" for any number
	tinygoLog         = "FAKE_TINYGO_LOG"  // a file to which its arguments are added
)

const currentTinyGo = "tinygo version 0.41.0 linux/amd64 (using go version go1.26.8 and LLVM version 20.1.1)"

// fakeTinyGo is TinyGo as far as hw uses it. What it builds is a copy of some ELF file,
// and beside it what the fake board says of itself.
func fakeTinyGo(args []string) int {
	if path := os.Getenv(tinygoLog); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, strings.Join(args, " "))
		f.Close()
	}
	if want := os.Getenv(tinygoGoroot); want != "" && os.Getenv("GOROOT") != want {
		fmt.Println("error: requires go version 1.19 through 1.23, got go1.26")
		return 1
	}
	flag := func(name string) string {
		for i, a := range args {
			if v, ok := strings.CutPrefix(a, name+"="); ok {
				return v
			}
			if a == name {
				return args[i+1]
			}
		}
		return ""
	}
	if args[0] == "env" {
		fmt.Println(os.Getenv(tinygoRoot))
		return 0
	}
	// What is too large for the board's memories fits into those of a roomy target.
	roomy, _ := os.ReadFile("roomy.ld")
	if os.Getenv(tinygoFailsAt) == args[0] && !(flag("-target") == "roomy.json" && strings.Contains(string(roomy), "LENGTH = 64M")) {
		fmt.Println(os.Getenv(tinygoFails))
		return 1
	}
	switch args[0] {
	case "info":
		fmt.Println("LLVM triple: toy")
	case "version":
		version := os.Getenv(tinygoSaysVersion)
		if version == "" {
			version = currentTinyGo
		}
		fmt.Println(version)
	case "build":
		data, err := os.ReadFile(os.Getenv(tinygoELF))
		if err != nil {
			panic(err)
		}
		out := flag("-o")
		if err := os.WriteFile(out, data, 0o755); err != nil {
			panic(err)
		}
		main, err := os.ReadFile("main.go")
		if err != nil {
			panic(err)
		}
		id := fakeIdentity{Board: importedBy(string(main), "board"), Impl: importedBy(string(main), "impl")}
		for _, p := range Parts() {
			if strings.Contains(string(main), "/hw/firmware/"+p+"\"") {
				id.Parts = append(id.Parts, p)
			}
		}
		if room, err := strconv.Atoi(os.Getenv(tinygoRoom)); err == nil && len(id.Parts) > room {
			fmt.Println("ld.lld: error: section '.text' will not fit in region 'FLASH': overflowed by 4416 bytes")
			return 1
		}
		for _, f := range strings.Fields(flag("-ldflags")) {
			if v, ok := strings.CutPrefix(f, "main.commit="); ok {
				id.Commit = v
			}
			if v, ok := strings.CutPrefix(f, "main.toolchain="); ok {
				id.Toolchain = v
			}
		}
		text, err := json.Marshal(id)
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(out+".json", text, 0o644); err != nil {
			panic(err)
		}
	case "flash":
	default:
		panic(args)
	}
	return 0
}

// importedBy returns the last element of the path that a program imports under a name.
func importedBy(main, name string) string {
	_, rest, _ := strings.Cut(main, "\t"+name+" \"")
	path, _, _ := strings.Cut(rest, "\"")
	return path[strings.LastIndex(path, "/")+1:]
}

// A fakeIdentity is what an image of the fake TinyGo says of itself.
type fakeIdentity struct {
	Board, Impl, Commit, Toolchain string
	Parts                          []string
}

// fakeBoard runs the real firmware, with cases each of which goes wrong in its way.
func fakeBoard(image string) int {
	var id fakeIdentity
	data, err := os.ReadFile(image + ".json")
	if err == nil {
		err = json.Unmarshal(data, &id)
	}
	if err != nil {
		fmt.Println("toy-emulator:", err)
		return 1
	}
	if v := os.Getenv(boardSaysCommit); v != "" {
		id.Commit = v
	}
	b := firmware.Board{
		Name: id.Board, Chip: "t1", RAM: 65536, Flash: 1 << 20, Emulated: true,
		Port: newStdio(), Clock: &countingClock{}, Exit: os.Exit,
	}
	if log := os.Getenv(boardStarts); log != "" {
		starts, _ := os.ReadFile(log)
		if err := os.WriteFile(log, append(starts, '.'), 0o644); err != nil {
			panic(err)
		}
		if slices.Contains(strings.Fields(os.Getenv(boardStalls)), strconv.Itoa(len(starts)+1)) {
			b.Port = deafPort{b.Port}
		}
	}
	firmware.Main(b, dyno.Impl{Name: id.Impl}, firmware.Build{Commit: id.Commit, Toolchain: id.Toolchain}, func(yield func(firmware.Case) bool) {
		for c := range fakeCases(id.Impl) {
			// Those of any part of that name, as there are no others.
			if slices.ContainsFunc(id.Parts, func(p string) bool { return p == c.Part || strings.HasPrefix(p, c.Part+"/") }) && !yield(c) {
				return
			}
		}
	})
	return 0
}

// boardSaysCommit is the variable that makes the fake board an older image.
const boardSaysCommit = "FAKE_BOARD_COMMIT"

// The variables by which a test has some starts of the fake board hang when it has said
// hello: a file that has a byte for each start, and which of them, from 1.
const (
	boardStarts = "FAKE_BOARD_STARTS"
	boardStalls = "FAKE_BOARD_STALLS"
)

// deafPort is a port on which nothing comes.
type deafPort struct{ firmware.Port }

func (deafPort) Poll() (byte, bool) {
	time.Sleep(time.Millisecond) // as stdio does
	return 0, false
}

func (deafPort) Closed() bool { return false }

// fakeCases are the cases of the fake board.
func fakeCases(impl string) firmware.Cases {
	return slices.Values([]firmware.Case{
		{Part: "bench", Name: "Toy/workload=good/impl=" + impl, Ops: 10, Run: func(r *firmware.Report) error {
			r.Note("all is well")
			f, err := measure.Measure(toyRun{}, 10, r.Board.Clock)
			if err == nil {
				r.Result("Toy/workload=good/impl="+impl, f)
			}
			return err
		}},
		{Part: "bench", Name: "Toy/workload=wrong/impl=" + impl, Ops: 10, Run: func(*firmware.Report) error {
			return errors.New("9 of 10 messages arrived")
		}},
		{Part: "bench", Name: "Toy/workload=silent/impl=" + impl, Ops: 10, Run: func(*firmware.Report) error { return nil }},
		{Part: "bench", Name: "Toy/workload=hangs/impl=" + impl, Ops: 10, Run: func(*firmware.Report) error { select {} }},
		{Part: "bench", Name: "Toy/workload=crashes/impl=" + impl, Ops: 10, Run: func(*firmware.Report) error {
			fmt.Println("panic: runtime error: nil pointer dereference")
			os.Exit(2)
			return nil
		}},
		{Part: "bench", Name: "Toy/workload=greedy/impl=" + impl, Ops: 10, Run: func(*firmware.Report) error {
			fmt.Println("panic: runtime error at 0x00001234: out of memory")
			os.Exit(2)
			return nil
		}},
		{Part: "bench", Name: "Toy/workload=noisy/impl=" + impl, Ops: 10, Run: func(*firmware.Report) error {
			fmt.Print("@5 0000 1 result Benchm")
			return nil
		}},
		{Part: "bench", Name: "Toy/workload=skipped/impl=" + impl, Ops: 10, Skip: func(*firmware.Board) string { return "needs 1 MiB" }},
		{Part: "conform", Name: "toy/kept", Run: func(*firmware.Report) error { return nil }},
		{Part: "conform", Name: "toy/broken", Run: func(*firmware.Report) error { return errors.New("two of them") }},
		{Part: "conform", Name: "toy/skipped", Skip: func(*firmware.Board) string { return "needs Goexit" }},
	})
}

// A toyRun is a workload of nothing.
type toyRun struct{}

func (toyRun) Do(int) error { return nil }
func (toyRun) Check() error { return nil }

// stdio is a port that is a process's standard input and output.
type stdio struct {
	bytes  chan byte
	closed bool
}

func newStdio() *stdio {
	s := &stdio{bytes: make(chan byte, 4096)}
	go func() {
		defer close(s.bytes)
		buf := make([]byte, 4096)
		for {
			n, err := os.Stdin.Read(buf)
			for _, b := range buf[:n] {
				s.bytes <- b
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *stdio) Poll() (byte, bool) {
	select {
	case b, ok := <-s.bytes:
		s.closed = !ok
		return b, ok
	case <-time.After(time.Millisecond): // so that looking again and again is no busy loop
		return 0, false
	}
}

func (s *stdio) Closed() bool   { return s.closed }
func (s *stdio) Write(p []byte) { _, _ = os.Stdout.Write(p) }

// A countingClock is an emulator's: each look is 100 instructions.
type countingClock struct{ now int64 }

func (c *countingClock) Now() int64 {
	c.now += 100
	return c.now
}
func (*countingClock) Hz() float64  { return 15625000 }
func (*countingClock) Unit() string { return "insns" }

// fakeSSH runs the command for the board on this machine.
func fakeSSH(args []string) int {
	for len(args) > 2 && args[0] == "-o" {
		args = args[2:]
	}
	if len(args) != 2 || args[0] != "pi@attic" {
		fmt.Fprintln(os.Stderr, "ssh: Could not resolve hostname", args)
		return 255
	}
	cmd := exec.Command("sh", "-c", args[1])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return 1
	}
	if os.Getenv(sshFull) != "" && strings.HasPrefix(args[1], "cat > ") {
		fmt.Fprintln(os.Stderr, "cat: write error: No space left on device")
		return 1
	}
	return 0
}

// sshFull is the variable that fills the disk of the board behind the fake ssh.
const sshFull = "FAKE_SSH_FULL"

// elfFile returns the path of a small Go program for Linux, with its symbols.
func elfFile(t *testing.T) string {
	t.Helper()
	path, err := builtELF()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var builtELF = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hw-test-")
	if err != nil {
		return "", err
	}
	source := `package main

import "strconv"

var table = [1000]int32{1: 1}

var zeros [5000]byte

func main() {
	n := len(zeros)
	for _, v := range table {
		n += int(v)
	}
	zeros[n%5000] = 1
	println(strconv.Quote(strconv.Itoa(n)), zeros[0])
}
`
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path+".go", []byte(source), 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, path+".go")
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// needsSymlinks skips a test where a program cannot be had under another name.
func needsSymlinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets users make no links")
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func newTarget(t *testing.T, d Device, ports Ports) Target {
	t.Helper()
	target, err := NewTarget(d, ports)
	if err != nil {
		t.Fatal(err)
	}
	return target
}
