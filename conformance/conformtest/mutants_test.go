package conformtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/internal/mutate"
)

// Wrong implementations, in wrong_test.go, show that the suite finds what an
// implementation does wrong. The core is the same for all implementations, so
// that no wrong one of it can be handed to the suite: these tests change a line
// of its source, or of an implementation's, and demand that the clauses and tests that are
// there for the line fail. They start a program some forty times for each clause, which
// takes long: `make mutants`.

// mutant is a package with one line changed for the worse.
type mutant struct {
	name     string
	file     string   // of package actor, or of another folder of the module
	old, new string   // old must be in the file once
	clauses  []string // that must notice it on lockbased, without "actor/"
	tests    []string // of the file's own package that must notice it; of an implementation under -race, for its windows
}

// change returns a mutant; by are the names of clauses, and of tests, that must notice it.
func change(name, file, by, old, new string) mutant {
	m := mutant{name: name, file: file, old: old, new: new}
	for _, name := range strings.Fields(by) {
		if strings.HasPrefix(name, "Test") {
			m.tests = append(m.tests, name)
		} else {
			m.clauses = append(m.clauses, name)
		}
	}
	return m
}

// path returns where the file is in the module.
func (m *mutant) path() string {
	if strings.Contains(m.file, "/") {
		return m.file
	}
	return "actor/" + m.file
}

// mutantsEnv asks for the mutants to be run, so many times for each clause and test, each time
// with a seed of its own; and wrong groups, executors and dispatchers as often.
const mutantsEnv = "DYNO_MUTANTS"

// mutantRuns returns how often that is; 0 if they are not asked for.
func mutantRuns() int {
	runs, _ := strconv.Atoi(os.Getenv(mutantsEnv))
	return runs
}

const mutantLimit = 60 * time.Second // of one run; who takes longer hangs, and is caught by that

// TestMutantsApply holds the table to the source: each change can be made, in
// one function only, the result is Go, and there are clauses of these names.
func TestMutantsApply(t *testing.T) {
	names := map[string]bool{}
	clauses := map[string]bool{}
	for _, c := range allActors() {
		clauses[strings.TrimPrefix(c.Name, "actor/")] = true
	}
	for _, c := range actorHostClauses {
		clauses[strings.TrimPrefix(c.Name, "actor/")] = true
	}
	for _, m := range mutants {
		if names[m.name] {
			t.Errorf("%q is in the table twice", m.name)
		}
		names[m.name] = true
		if len(m.clauses)+len(m.tests) == 0 {
			t.Errorf("%q: no clause or test is said to notice it", m.name)
		}
		for _, c := range m.clauses {
			if !clauses[c] {
				t.Errorf("%q: there is no clause actor/%s", m.name, c)
			}
		}
	}
	if _, err := overlayOfMutants(moduleRoot(t), t.TempDir()); err != nil {
		t.Error(err)
	}
}

// TestMutants runs the mutants, and before that the sources as they are, which must
// pass the same clauses and tests every time.
func TestMutants(t *testing.T) {
	runs := mutantRuns()
	if runs == 0 {
		t.Skipf("%d mutants are not run: that takes many minutes; make mutants does, or %s=40", len(mutants), mutantsEnv)
	}
	set, _ := testSettings(t)
	t.Logf("random choices start from DYNO_SEED=%d", set.seed)
	b := &mutantBench{root: moduleRoot(t), dir: t.TempDir(), set: set, runs: runs, built: map[mutantProgram]func() error{}}
	var err error
	if b.overlay, err = overlayOfMutants(b.root, b.dir); err != nil {
		t.Fatal(err)
	}

	t.Run("none", func(t *testing.T) {
		seen := map[mutantCheck]bool{}
		for _, m := range mutants {
			for _, c := range m.checks() {
				if seen[c] {
					continue
				}
				seen[c] = true
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					if caught := b.try(t, c, 0); caught.runs > 0 {
						t.Errorf("%s fails in %d of %d runs although nothing was changed, with seed %d:\n%s",
							c.name, caught.runs, runs, caught.seed, caught.output)
					}
				})
			}
		}
	})
	t.Run("run", func(t *testing.T) {
		for i, m := range mutants {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				for _, c := range m.checks() {
					caught := b.try(t, c, i+1)
					b.note(t, m.name, c.name, caught)
					if caught.runs < runs {
						t.Errorf("%s passed in %d of %d runs, once with seed %d", c.name, runs-caught.runs, runs, caught.passed)
					}
				}
			})
		}
	})
	fmt.Fprintf(t.Output(), "%s", b.table())
}

// source returns the file with the change made.
func (m *mutant) source(root string) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(root, m.path()))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(src, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("%s has %d places like this, want one: the mutant is out of date:\n%s", m.path(), n, m.old)
	}
	changed := bytes.Replace(src, []byte(m.old), []byte(m.new), 1)
	if _, err := format.Source(changed); err != nil {
		return nil, fmt.Errorf("%s changed is no Go: %w", m.path(), err)
	}
	return changed, nil
}

// overlayOfMutants writes the sources with all mutants into dir. A mutant's number is its place
// in the table, from 1.
func overlayOfMutants(root, dir string) (path string, err error) {
	changed := map[string]map[int][]byte{}
	for i, m := range mutants {
		text, err := m.source(root)
		if err != nil {
			return "", fmt.Errorf("%q: %w", m.name, err)
		}
		if changed[m.path()] == nil {
			changed[m.path()] = map[int][]byte{}
		}
		changed[m.path()][i+1] = text
	}
	return mutate.Overlay(root, dir, changed)
}

// mutantProgram is the tests of a package of the module.
type mutantProgram struct {
	pkg  string
	race bool
}

// mutantCheck is a clause or a test that must notice a mutant.
type mutantCheck struct {
	name    string // actor/… of a clause
	program mutantProgram
	test    string // its name in the program
}

// checks returns what must notice the mutant: clauses in its implementation's conformance
// test or, if only the core can break them, in the core's own tests.
func (m *mutant) checks() (all []mutantCheck) {
	for _, c := range m.clauses {
		name := "actor/" + c
		if slices.ContainsFunc(conformance.Core(), func(c conformance.Clause) bool { return c.Name == name }) {
			all = append(all, mutantCheck{name, mutantProgram{pkg: "actor/scenario"}, "TestCore/impl=lockbased/" + name})
		} else {
			all = append(all, mutantCheck{name, mutantProgram{pkg: "impls/lockbased"}, "TestConformance/" + name})
		}
	}
	for _, test := range m.tests {
		all = append(all, mutantCheck{test, mutantProgram{filepath.Dir(m.path()), strings.HasPrefix(m.path(), "impls/")}, test})
	}
	return all
}

// mutantBench is where mutants are built and run.
type mutantBench struct {
	root    string // of the module
	dir     string // for what is built; removed in the end
	overlay string // the file that says what is built
	set     settings
	runs    int // of each clause and test

	mu    sync.Mutex // guards what follows
	built map[mutantProgram]func() error
	lines []string
}

// of returns where the program is, which is built when it is first asked for.
func (b *mutantBench) of(t *testing.T, p mutantProgram) string {
	t.Helper()
	path := filepath.Join(b.dir, fmt.Sprintf("%s-%v.test", strings.ReplaceAll(p.pkg, "/", "-"), p.race))
	b.mu.Lock()
	build := b.built[p]
	if build == nil {
		build = sync.OnceValue(func() error {
			args := []string{"test", "-c", "-ldflags", "-s -w", "-overlay", b.overlay, "-o", path}
			if p.race {
				args = append(args, "-race")
			}
			cmd := exec.Command("go", append(args, "./"+p.pkg)...)
			cmd.Dir = b.root
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("the program with the mutants cannot be built: %w\n%s", err, out)
			}
			return nil
		})
		b.built[p] = build
	}
	b.mu.Unlock()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return path
}

// mutantCaught is how often a clause has noticed a mutant.
type mutantCaught struct {
	runs   int
	hung   int    // of these
	seed   uint64 // of the first run that failed
	output string // of that run, its beginning
	passed uint64 // seed of a run that did not
	took   time.Duration
}

// try runs a clause or test with as many seeds as there are runs.
func (b *mutantBench) try(t *testing.T, check mutantCheck, number int) (c mutantCaught) {
	t.Helper()
	program := b.of(t, check.program)
	began := time.Now()
	for i := range b.runs {
		seed := b.set.seedOf(i)
		out, failed := b.once(t, program, check, number, seed)
		switch {
		case !failed:
			c.passed = seed
			continue
		case c.runs == 0:
			c.seed, c.output = seed, out[:min(len(out), 4000)]
			t.Logf("%s: %s", check.name, seen(out))
		}
		c.runs++
		if strings.HasPrefix(out, hangs) {
			c.hung++
		}
	}
	c.took = time.Since(began)
	return c
}

// hangs begins the output of a program that was stopped.
const hangs = "it hangs: "

// once runs a clause or test in a process of its own and reports whether it failed; a
// process that dies has failed too, since no implementation may do that.
func (b *mutantBench) once(t *testing.T, program string, check mutantCheck, number int, seed uint64) (out string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), mutantLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.count=1", "-test.v", "-test.run="+exactly(check.test))
	cmd.Dir = filepath.Join(b.root, check.program.pkg)
	cmd.Env = append(os.Environ(), fmt.Sprintf("DYNO_SEED=%d", seed), fmt.Sprintf("%s=%d", mutate.NumberEnv, number))
	text, err := cmd.CombinedOutput()
	out = string(text)
	passed := strings.Contains(out, "--- PASS: "+check.test+" ")
	if strings.HasPrefix(check.name, "actor/") {
		passed = strings.Contains(out, "conform: clause="+check.name+" ") && strings.Contains(out, "result=pass")
	}
	var exit *exec.ExitError
	switch {
	case err == nil && passed:
		return out, false
	case err == nil: // skipped, or not there
		t.Fatalf("%s was not run:\n%s", check.name, out)
	case ctx.Err() != nil:
		return fmt.Sprintf("%sstopped after %v\n%s", hangs, mutantLimit, out), true
	case !errors.As(err, &exit):
		t.Fatal(err)
	}
	return out, true
}

// seen returns what a failing run says it has seen.
func seen(out string) string {
	if _, rest, ok := strings.Cut(out, "    seen:   "); ok {
		out = rest
	} else if i := strings.Index(out, "panic: "); i >= 0 {
		out = out[i:]
	}
	line, _, _ := strings.Cut(out, "\n")
	return line
}

// note adds a line to the table, and prints it: the table comes much later.
func (b *mutantBench) note(t *testing.T, name, check string, c mutantCaught) {
	t.Helper()
	line := fmt.Sprintf("%-52s %-34s caught %d of %d (%v)", name, check, c.runs, b.runs, c.took.Round(time.Millisecond))
	if c.hung > 0 {
		line += fmt.Sprintf(", %d by a hang", c.hung)
	}
	t.Log(line)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line+"\n")
}

func (b *mutantBench) table() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.Sort(b.lines)
	return fmt.Sprintf("mutant → clause → caught\n%s", strings.Join(b.lines, ""))
}

// moduleRoot returns the directory of go.mod: a test runs in its package's.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return root
}
