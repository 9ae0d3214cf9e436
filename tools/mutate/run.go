package mutate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/dynolab/dyno/internal/child"
)

// A Verdict is what became of a mutant.
type Verdict string

const (
	Killed   Verdict = "killed"   // a test failed, or its process crashed
	Timeout  Verdict = "timeout"  // killed: a program did not end in its time
	Memory   Verdict = "memory"   // killed: a program took more memory than it may
	Survived Verdict = "survived" // all programs passed
	Invalid  Verdict = "invalid"  // it is no mutant: the compiler refuses what the type checker takes
)

// A Result is what became of one mutant.
type Result struct {
	ID      string
	Verdict Verdict
	By      string        // the program and the test that killed it; "" if none did
	Took    time.Duration // to build and run it
}

// A Bench builds and runs mutants.
type Bench struct {
	Root   string   // of the module
	Dir    string   // for what is built
	Env    []string // of the go command and of the programs
	Memory uint64   // a program that takes more bytes is killed
	Seed   uint64   // of the tests' random choices

	// Plan says which programs the mutants of a package are run with.
	Plan func(pkg string) []Program

	mu     sync.Mutex // guards limits, and is held while one is found out
	limits map[Program]time.Duration
	woven  *woven // set by Weave

	// NoteLimit is called with what a program may take, when that has been found out.
	NoteLimit func(Program, time.Duration) error
}

// errMemory is why a process that takes too much memory is killed.
var errMemory = errors.New("too much memory")

// A program may run ten times as long as it takes with nothing changed, since the machine may
// be busier then; a minute at least, and three at most.
const (
	longer     = 10
	leastLimit = time.Minute
	fewLimit   = 10 * time.Second // at the least, of a few tests
	mostLimit  = 3 * time.Minute
)

// SetLimit says how long a program may run, as an earlier run has found out.
func (b *Bench) SetLimit(p Program, limit time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limits == nil {
		b.limits = map[Program]time.Duration{}
	}
	b.limits[p] = limit
}

// limit returns how long a program may run. If that is not known, it is run with nothing
// changed. The error says how it failed: then it would kill every mutant.
func (b *Bench) limit(ctx context.Context, p Program) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if limit := b.limits[p]; limit > 0 {
		return limit, nil
	}
	binary, err := b.woven.program(ctx, b, p)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	verdict, by := b.run(ctx, binary, p, 0, 0)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if verdict != Survived {
		return 0, fmt.Errorf("mutate: the tests of %s fail although nothing was changed: %s by %s", p, verdict, by)
	}
	least := leastLimit
	if p.Tests != "" {
		least = fewLimit
	}
	limit := min(mostLimit, max(least, (longer*time.Since(began)).Round(time.Second)))
	if b.limits == nil {
		b.limits = map[Program]time.Duration{}
	}
	b.limits[p] = limit
	return limit, b.NoteLimit(p, limit)
}

// Try runs a mutant until something fails; it builds what [Bench.Weave] has not. An error is
// one of the machine or of ctx, and says nothing of the mutant. One whose change does not
// compile is [Invalid].
func (b *Bench) Try(ctx context.Context, pkg *Package, m Mutant) (r Result, err error) {
	began := time.Now()
	r = Result{ID: m.ID, Verdict: Survived}
	defer func() { r.Took = time.Since(began) }()
	if b.woven.invalid[m.ID] {
		r.Verdict = Invalid
		return r, nil
	}
	program, done, err := b.programs(pkg, m)
	if err != nil {
		return r, err
	}
	defer done()
	for _, p := range b.Plan(m.Package) {
		limit, err := b.limit(ctx, p)
		if err != nil {
			return r, err
		}
		binary, err := program(ctx, p)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
			r.Verdict = Invalid
			return r, nil
		}
		if err != nil {
			return r, err
		}
		verdict, by := b.run(ctx, binary, p, limit, b.woven.numbers[m.ID])
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if verdict != Survived {
			r.Verdict, r.By = verdict, strings.TrimSpace(p.String()+" "+by)
			return r, nil
		}
	}
	return r, nil
}

// programs returns a function that returns the binary of a program with a mutant in it, and one to
// call when it is needed no more.
func (b *Bench) programs(pkg *Package, m Mutant) (program func(context.Context, Program) (string, error), done func(), err error) {
	if b.woven.numbers[m.ID] > 0 {
		return func(ctx context.Context, p Program) (string, error) { return b.woven.program(ctx, b, p) }, func() {}, nil
	}
	folder, err := os.MkdirTemp(b.Dir, "mutant-")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = os.RemoveAll(folder) }
	name, src, err := pkg.Source(m)
	if err == nil {
		changed := filepath.Join(folder, "changed.go")
		err = os.WriteFile(changed, src, 0o600)
		if err == nil {
			_, err = writeOverlay(folder, map[string]string{name: changed})
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return func(ctx context.Context, p Program) (string, error) {
		return b.build(ctx, folder, p, filepath.Join(folder, "overlay.json"))
	}, done, nil
}

// woven is mutants that are built into the same programs.
type woven struct {
	folder   string
	overlay  string
	numbers  map[string]int  // of mutants, by name
	invalid  map[string]bool // those that do not compile
	mu       sync.Mutex      // guards binaries, and is held while one is built
	binaries map[Program]string
}

// program returns the binary of a program with all of them in it.
func (w *woven) program(ctx context.Context, b *Bench, p Program) (binary string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if binary = w.binaries[p]; binary != "" {
		return binary, nil
	}
	folder, err := os.MkdirTemp(w.folder, "program-")
	if err != nil {
		return "", err
	}
	if binary, err = b.build(ctx, folder, p, w.overlay); err != nil {
		return "", fmt.Errorf("mutate: the program with all mutants: %v", err) // not an error of one of them
	}
	w.binaries[p] = binary
	return binary, nil
}

// Weave has mutants built into the same programs, as far as they are in functions, and each for
// itself passes the type check and the compiler. It takes the place of what was woven before.
func (b *Bench) Weave(ctx context.Context, packages map[string]*Package, ms []Mutant) error {
	b.Unweave()
	folder, err := os.MkdirTemp(b.Dir, "woven-")
	if err != nil {
		return err
	}
	b.woven = &woven{folder: folder, numbers: map[string]int{}, invalid: map[string]bool{}, binaries: map[Program]string{}}
	changes := map[string][]change{} // by package
	for i, m := range ms {
		name, src, err := packages[m.Package].Source(m)
		if err != nil {
			b.woven.invalid[m.ID] = true
			continue
		}
		if !m.body {
			continue
		}
		if name, err = filepath.Rel(b.Root, name); err != nil {
			return err
		}
		changes[m.Package] = append(changes[m.Package], change{m.ID, i + 1, name, src})
	}
	var all []change
	for pkg, of := range changes {
		compile, err := b.compiling(ctx, pkg, of)
		if err != nil {
			return err
		}
		all = append(all, compile...)
	}
	for _, c := range all {
		b.woven.numbers[c.id] = c.number
	}
	b.woven.overlay, err = b.overlay(folder, all)
	return err
}

// change is a file of the module as a mutant has it.
type change struct {
	id     string
	number int
	file   string // relative to the module
	src    []byte
}

// overlay writes the sources with all of some changes to a folder.
func (b *Bench) overlay(folder string, changes []change) (path string, err error) {
	texts := map[string]map[int][]byte{}
	for _, c := range changes {
		if texts[c.file] == nil {
			texts[c.file] = map[int][]byte{}
		}
		texts[c.file][c.number] = c.src
	}
	return Overlay(b.Root, folder, texts)
}

// compiling returns those of a package's changes that the compiler takes, and notes the others as
// invalid: a very few pass the type check and are more than the compiler can do.
func (b *Bench) compiling(ctx context.Context, pkg string, changes []change) ([]change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	folder, err := os.MkdirTemp(b.woven.folder, "compiled-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	overlay, err := b.overlay(folder, changes)
	if err != nil {
		return nil, err
	}
	args := []string{"build", "-overlay", overlay}
	for _, p := range b.Plan(pkg) { // those that import it as well: it may have generic code
		args = append(args, "./"+p.Package)
	}
	_, err = child.Says(ctx, b.Root, b.Env, "go", args...)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		return changes, err
	}
	if len(changes) == 1 {
		b.woven.invalid[changes[0].id] = true
		return nil, nil
	}
	half := len(changes) / 2
	first, err := b.compiling(ctx, pkg, changes[:half])
	if err != nil {
		return nil, err
	}
	second, err := b.compiling(ctx, pkg, changes[half:])
	return append(first, second...), err
}

// Unweave removes what Weave has built.
func (b *Bench) Unweave() {
	if b.woven != nil {
		_ = os.RemoveAll(b.woven.folder)
	}
	b.woven = nil
}

// build builds the tests of a program, with the files of an overlay unless it is "".
func (b *Bench) build(ctx context.Context, folder string, p Program, overlay string) (binary string, err error) {
	binary = filepath.Join(folder, "program.test")
	args := []string{"test", "-c", "-ldflags=-s -w", "-o", binary} // linked in half the time
	if p.Race {
		args = append(args, "-race")
	}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	_, err = child.Says(ctx, b.Root, b.Env, "go", append(args, "./"+p.Package)...)
	return binary, err
}

// run runs a program to its end, or to that of its time, its memory or ctx. It may take as
// long as it likes if limit is 0.
// The mutant of that number is on; none is if it is 0, or the only one in the binary is built in.
func (b *Bench) run(ctx context.Context, binary string, p Program, limit time.Duration, number int) (verdict Verdict, by string) {
	cmd := exec.Command(binary, p.Args()...)
	cmd.Dir = filepath.Join(b.Root, p.Package)
	cmd.Env = append(append([]string(nil), b.Env...), "PWD="+cmd.Dir, fmt.Sprintf("DYNO_SEED=%d", b.Seed), fmt.Sprintf("%s=%d", NumberEnv, number))
	child.OwnGroup(cmd)
	proc, err := child.Run(cmd)
	if err != nil {
		return Killed, err.Error()
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	ran, looked := time.Duration(0), time.Now()
	for {
		select {
		case <-proc.Ended():
			if errors.Is(proc.Killed(), errMemory) {
				return Memory, running(proc.Stdout.String())
			}
			if proc.Failed() {
				return Killed, failed(proc.Stdout.String())
			}
			return Survived, ""
		case <-ctx.Done():
			proc.Kill(ctx.Err())
			<-proc.Ended()
			return Survived, "" // of no consequence: the caller looks at ctx
		case <-look.C:
			// A machine that was suspended, or had no time for this process, had none for the
			// program either: that is not the mutant's time.
			now := time.Now()
			ran += min(now.Sub(looked), time.Second)
			looked = now
			if limit > 0 && ran > limit {
				proc.Kill(context.DeadlineExceeded)
				<-proc.Ended()
				return Timeout, running(proc.Stdout.String())
			}
			if resident(proc.Cmd.Process.Pid) > b.Memory {
				proc.Kill(errMemory)
			}
		}
	}
}

// resident returns how many bytes of memory a process has; 0 if that is not known.
func resident(pid int) uint64 {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return 0
	}
	m, err := p.MemoryInfo()
	if err != nil {
		return 0
	}
	return m.RSS
}

var (
	failLine = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	runLine  = regexp.MustCompile(`(?m)^=== (?:RUN|CONT) +(\S+)`)
)

// failed returns the test that failed, the innermost one of them, or that which was running
// when the process crashed.
func failed(out string) (test string) {
	for _, m := range failLine.FindAllStringSubmatch(out, -1) {
		if len(m[1]) > len(test) {
			test = m[1]
		}
	}
	if test == "" {
		return "crashed in " + running(out)
	}
	return test
}

// running returns the test that was started last.
func running(out string) string {
	all := runLine.FindAllStringSubmatch(out, -1)
	if len(all) == 0 {
		return "(no test)"
	}
	return all[len(all)-1][1]
}
