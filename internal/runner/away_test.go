package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// Tests do not wait for who measures on this machine.
func TestMain(m *testing.M) {
	if err := os.Setenv(machinelock.Env, machinelock.Off); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// travelling is a benchmark that fails without its test data, and without the sender's
// environment.
const travelling = `import "os"

func BenchmarkX(b *testing.B) {
	text, err := os.ReadFile("testdata/input.txt")
	if err != nil || string(text) != "input" {
		b.Fatal(string(text), err)
	}
	if os.Getenv("WANT_GOGC") != os.Getenv("GOGC") {
		b.Fatalf("GOGC is %q", os.Getenv("GOGC"))
	}
	for range b.N {
	}
}

func BenchmarkSkipped(b *testing.B) { b.Skip("not here") }
`

// carrier is a Send that carries jobs out in this process, and keeps what was sent in folders.
func carrier(t *testing.T, folders map[string]string) Send {
	var mu sync.Mutex
	return func(ctx context.Context, folder string, to Machine, path string) error {
		kept := filepath.Join(t.TempDir(), "job")
		if err := os.CopyFS(kept, os.DirFS(folder)); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		folders[to.Name] = kept
		r, _ := newRunner()
		return r.Carry(ctx, Carriage{Job: kept, Work: t.TempDir(), Out: path, Machine: to.Name, Idle: IdleOff})
	}
}

// sendTravelling sends the benchmark to machines, and returns the results and the folders.
func sendTravelling(t *testing.T, c Config, machines ...Machine) (files []string, folders map[string]string) {
	t.Helper()
	inModule(t, travelling)
	if err := errors.Join(os.Mkdir("testdata", 0o755), os.WriteFile("testdata/input.txt", []byte("input"), 0o644)); err != nil {
		t.Fatal(err)
	}
	folders = make(map[string]string)
	r, said := newRunner()
	r.SendTo(machines, carrier(t, folders))
	c.Packages, c.Time, c.Idle, c.Mode = []string{"."}, "1x", IdleOff, record.ModeProcess
	if _, err := r.Packages(t.Context(), c, nil); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return r.Results(""), folders
}

// What machines send back is what a run here would have written: the same plan, with their
// circumstances and what is known here of the code.
func TestSendAndCarry(t *testing.T) {
	t.Setenv("GOGC", "50")
	t.Setenv("WANT_GOGC", "50")
	machines := []Machine{{Name: "one", Platform: platform(), Cores: 2}, {Name: "other", Platform: platform(), Cores: 2}}
	files, _ := sendTravelling(t, Config{Blocks: 2, CPU: []int{1}, Bench: "."}, machines...)
	if len(files) != 2 {
		t.Fatalf("the results are %q", files)
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		run, err := record.Complete(file, data)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"machine": machines[i].Name, "gogc": "50", "emulated": "false"} {
			if got := run.Config[key]; got != want {
				t.Errorf("%s: %s is %q, want %q", file, key, got, want)
			}
		}
		for _, key := range []string{JobKey, session.IdentityKey, "toolchain", "cores"} {
			if run.Config[key] == "" {
				t.Errorf("%s: there is no %s", file, key)
			}
		}
		all := record.Read(file, data)
		if len(all.Results) != 2 || len(all.Holes) != 1 || all.Holes[0].Hole.Reason != "not here" {
			t.Errorf("%s has %d results and %d holes:\n%s", file, len(all.Results), len(all.Holes), data)
		}
	}
}

// A job that was carried out in part is gone on with, whatever was torn: every block is there
// once. What cannot be gone on with is begun anew, and nothing is lost of it.
func TestCarryGoesOn(t *testing.T) {
	files, folders := sendTravelling(t, Config{Blocks: 4, CPU: []int{1}, Bench: "X"}, Machine{Name: "one", Platform: platform()})
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, cut := range map[string]struct {
		size   int
		before int // files that were moved out of the way
	}{
		"nothing":          {0, 1},
		"within the plan":  {strings.Index(string(whole), "# plan") + 20, 1},
		"within a block":   {strings.Index(string(whole), "# end of block 2") - 5, 0},
		"between blocks":   {strings.Index(string(whole), "block: 3"), 0},
		"in the last line": {len(whole) - 3, 0},
		"complete":         {len(whole), 0},
	} {
		dir := t.TempDir()
		out := filepath.Join(dir, "r.bench")
		if err := os.WriteFile(out, whole[:cut.size], 0o644); err != nil {
			t.Fatal(err)
		}
		r, said := newRunner()
		var reports strings.Builder
		if err := r.Carry(t.Context(), Carriage{Job: folders["one"], Work: dir, Out: out, Machine: "one", Idle: IdleOff, Reports: &reports}); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, said)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := record.Complete(out, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(string(data), "\nBenchmarkX"); n != 4 {
			t.Errorf("%s: %d results, want 4", name, n)
		}
		moved, err := filepath.Glob(out + ".*.before")
		if err != nil || len(moved) != cut.before {
			t.Errorf("%s: %q were moved out of the way", name, moved)
		}
		if cut.size < len(whole) && !strings.HasSuffix(strings.TrimSpace(reports.String()), `{"block":4,"of":4,"left":0}`) {
			t.Errorf("%s: it reports %s", name, &reports)
		}
	}
}

// On another kernel, or with another name, a run is not gone on with: its halves could not be
// compared.
func TestCarryOnAChangedMachine(t *testing.T) {
	files, folders := sendTravelling(t, Config{Blocks: 2, CPU: []int{1}, Bench: "X"}, Machine{Name: "one", Platform: platform()})
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "r.bench")
	half := strings.Replace(string(whole[:strings.Index(string(whole), "block: 2")]), "kernel: ", "kernel: another ", 1)
	half = regexp.MustCompile("(?m)^# sum: .*\n").ReplaceAllString(half, "") // of the other kernel
	if err := os.WriteFile(out, []byte(half), 0o644); err != nil {
		t.Fatal(err)
	}
	r, said := newRunner()
	if err := r.Carry(t.Context(), Carriage{Job: folders["one"], Work: dir, Out: out, Machine: "one", Idle: IdleOff}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "begun anew: ") || !strings.Contains(said.String(), "kernel: another ") {
		t.Errorf("it says %s", said)
	}
	data, err := os.ReadFile(out)
	if err != nil || strings.Contains(string(data), "kernel: another") {
		t.Errorf("halves of two machines are in one file, %v", err)
	}
}

// A job for another platform, and one whose parts were changed, is not begun.
func TestCarryRefuses(t *testing.T) {
	_, folders := sendTravelling(t, Config{Blocks: 1, CPU: []int{1}, Bench: "X"}, Machine{Name: "one", Platform: platform()})
	carry := func(folder string) error {
		r, _ := newRunner()
		return r.Carry(t.Context(), Carriage{Job: folder, Work: t.TempDir(), Out: filepath.Join(t.TempDir(), "r"), Machine: "one", Idle: IdleOff})
	}
	document, j, err := jobs.Read(folders["one"])
	if err != nil {
		t.Fatal(err)
	}
	foreign := strings.Replace(string(document), `"`+platform()+`"`, `"plan9/mips"`, 1)
	if err := os.WriteFile(jobs.DocumentPath(folders["one"]), []byte(foreign), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := carry(folders["one"]); err == nil || !strings.Contains(err.Error(), "is for plan9/mips, and this machine is "+platform()) {
		t.Error(err)
	}
	if err := errors.Join(os.WriteFile(jobs.DocumentPath(folders["one"]), document, 0o644), os.WriteFile(jobs.PartPath(folders["one"], j.Parts[0].SHA256), []byte("rm"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := carry(folders["one"]); err == nil || !strings.Contains(err.Error(), "not what its digest says") {
		t.Error(err)
	}
}

// What is listed runs here; what is sent is built for the machine.
func TestSendToAnotherPlatform(t *testing.T) {
	inModule(t, "func BenchmarkX(b *testing.B) {\n\tfor _, impl := range []string{\"a\", \"b\"} {\n\t\tb.Run(\"impl=\"+impl, func(b *testing.B) {})\n\t}\n}\n")
	if os.Getenv("DYNO_NIGHTLY") == "" {
		t.Skip("builds the standard library for another processor: make nightly runs it")
	}
	other := "linux/riscv64"
	if platform() == other {
		other = "linux/arm64"
	}
	r, said := newRunner()
	var job *jobs.Job
	var image []byte
	r.SendTo([]Machine{{Name: "far", Platform: other}}, func(_ context.Context, folder string, _ Machine, path string) (err error) {
		if _, job, err = jobs.Read(folder); err == nil {
			image, err = os.ReadFile(jobs.PartPath(folder, job.Binaries[0].Layouts[1]))
		}
		return errors.Join(err, os.WriteFile(path, nil, 0o644))
	})
	c := Config{Packages: []string{"."}, Blocks: 2, CPU: []int{1}, Bench: ".", Time: "1x", Idle: IdleOff, Mode: record.ModeTurns, Rounds: 1, Slice: time.Millisecond, Layouts: 2}
	if _, err := r.Packages(t.Context(), c, nil); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	const machine = 18 // of an ELF file's head
	if job.Platform != other || len(image) < 20 || slices.Equal(image[machine:machine+2], selfHead(t)) {
		t.Errorf("the job is for %s, and its layout is a program for this machine", job.Platform)
	}
}

// selfHead says for which processor this program is.
func selfHead(t *testing.T) []byte {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b[18:20]
}

// Who measures here has to wait while the machine is another's, and is told whose.
func TestRunWaitsForTheMachine(t *testing.T) {
	t.Setenv(machinelock.Env, filepath.Join(t.TempDir(), "lock"))
	l, err := machinelock.Try("an agent")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	r := New(console.New(writer(func(b []byte) { lines <- string(b) }), 0), "benchrun run")
	j, subject := newJob(t, 1)
	var steps atomic.Int32 // the test looks while the runner may count
	subject.before = func(int) error { steps.Add(1); return nil }
	ended := make(chan error)
	go func() { ended <- r.run(t.Context(), IdleOff, prepared(j), nil) }()
	if said := <-lines; !strings.HasPrefix(said, "waiting: another process measures on this machine: an agent (process ") {
		t.Errorf("it says %q", said)
	}
	if steps.Load() != 0 {
		t.Error("it measures while the machine is another's")
	}
	l.Unlock()
	if err := <-ended; err != nil || steps.Load() == 0 {
		t.Errorf("it measured %d steps when the machine was free, %v", steps.Load(), err)
	}
	if l, err = machinelock.Try("next"); err != nil { // it was given back
		t.Fatal(err)
	}
	l.Unlock()
}

type writer func(b []byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }
