package conformtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dynolab/dyno/conformance"
)

// Wrong dispatchers, in wrong_test.go, show that the suite finds what an
// implementation does wrong. The core is the same for all implementations, so
// that no wrong one of it can be handed to the suite: these tests change a line
// of its source, build an implementation's conformance test with that, or the core's
// own, and demand that the clauses that are there for the line fail. They build a
// program for each mutant and start it some forty times for each clause, which
// takes long: `make mutants`.

// mutant is the core with one line changed for the worse.
type mutant struct {
	name    string
	file    string // of package actor
	old     string // must be in the file once
	new     string
	clauses string // that must notice it, without "actor/"
	impl    string // that runs them; "" is lockbased
}

func (m *mutant) runsOn() string {
	if m.impl == "" {
		return "lockbased"
	}
	return m.impl
}

// mutantsEnv asks for the programs to be built and run.
const mutantsEnv = "DYNO_MUTANTS"

const (
	mutantRuns  = 40               // of each clause, each with a seed of its own
	mutantLimit = 30 * time.Second // of one run; who takes longer hangs, and is caught by that
)

// TestMutantsApply holds the table to the source: each change can be made, in
// one place only, the result is Go, and there are clauses of these names.
func TestMutantsApply(t *testing.T) {
	names := map[string]bool{}
	clauses := map[string]bool{}
	for _, c := range allActors() {
		clauses[strings.TrimPrefix(c.Name, "actor/")] = true
	}
	for _, m := range mutants {
		if names[m.name] {
			t.Errorf("%q is in the table twice", m.name)
		}
		names[m.name] = true
		if _, err := m.source(moduleRoot(t)); err != nil {
			t.Errorf("%q: %v", m.name, err)
		}
		if m.clauses == "" {
			t.Errorf("%q: no clause is said to notice it", m.name)
		}
		for _, c := range strings.Fields(m.clauses) {
			if !clauses[c] {
				t.Errorf("%q: there is no clause actor/%s", m.name, c)
			}
		}
	}
}

// TestMutants runs the mutants, and before that the core as it is, which must
// pass the same clauses every time.
func TestMutants(t *testing.T) {
	if os.Getenv(mutantsEnv) == "" {
		t.Skipf("%d mutants are not built and run: that takes many minutes; make mutants does, or %s=1", len(mutants), mutantsEnv)
	}
	set, _ := testSettings(t)
	t.Logf("random choices start from DYNO_SEED=%d", set.seed)
	b := &mutantBench{root: moduleRoot(t), dir: t.TempDir(), set: set}

	t.Run("none", func(t *testing.T) {
		wanted := map[string][]string{} // clauses by implementation
		for _, m := range mutants {
			for _, c := range strings.Fields(m.clauses) {
				if impl := m.runsOn(); !slices.Contains(wanted[impl], c) {
					wanted[impl] = append(wanted[impl], c)
				}
			}
		}
		for impl, clauses := range wanted {
			t.Run(impl, func(t *testing.T) {
				t.Parallel()
				p := &mutantPrograms{b: b, m: &mutant{name: "none", impl: impl}}
				for _, c := range clauses {
					if caught := b.try(t, p, c); caught.runs > 0 {
						t.Errorf("actor/%s fails in %d of %d runs although nothing was changed, with seed %d:\n%s",
							c, caught.runs, mutantRuns, caught.seed, caught.output)
					}
				}
			})
		}
	})
	t.Run("run", func(t *testing.T) {
		for _, m := range mutants {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				p := &mutantPrograms{b: b, m: &m}
				for _, c := range strings.Fields(m.clauses) {
					caught := b.try(t, p, c)
					b.note(m.name, c, caught)
					if caught.runs < mutantRuns {
						t.Errorf("actor/%s passed in %d of %d runs, once with seed %d", c, mutantRuns-caught.runs, mutantRuns, caught.passed)
					}
				}
			})
		}
	})
	fmt.Fprintf(t.Output(), "%s", b.table())
}

// source returns the file with the change made.
func (m *mutant) source(root string) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(root, "actor", m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(src, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("actor/%s has %d places like this, want one: the mutant is out of date:\n%s", m.file, n, m.old)
	}
	changed := bytes.Replace(src, []byte(m.old), []byte(m.new), 1)
	if _, err := format.Source(changed); err != nil {
		return nil, fmt.Errorf("actor/%s changed is no Go: %w", m.file, err)
	}
	return changed, nil
}

// mutantBench is where mutants are built and run.
type mutantBench struct {
	root string // of the module
	dir  string // for what is built; removed in the end
	set  settings

	mu    sync.Mutex // guards what follows
	built int
	lines []string
}

// mutantPrograms are the programs that run clauses on a mutant: its implementation's
// conformance test, and the core's own tests with that implementation.
type mutantPrograms struct {
	b             *mutantBench
	m             *mutant
	whole, ofCore string // "" until it is built
}

// of returns the program that runs a clause, and the name of the clause's test in it.
func (p *mutantPrograms) of(t *testing.T, clause string) (program, test string) {
	t.Helper()
	core := slices.ContainsFunc(conformance.Core(), func(c conformance.Clause) bool { return c.Name == "actor/"+clause })
	if core {
		if p.ofCore == "" {
			p.ofCore = p.b.build(t, p.m, "./actor")
		}
		return p.ofCore, "TestCore/impl=" + p.m.runsOn() + "/actor/" + clause
	}
	if p.whole == "" {
		p.whole = p.b.build(t, p.m, "./impls/"+p.m.runsOn())
	}
	return p.whole, "TestConformance/actor/" + clause
}

// build builds the tests of a package with the mutant in the place of the core. The
// mutant without a file is the core.
func (b *mutantBench) build(t *testing.T, m *mutant, pkg string) (program string) {
	t.Helper()
	b.mu.Lock()
	b.built++
	program = filepath.Join(b.dir, fmt.Sprintf("%d.test", b.built))
	b.mu.Unlock()
	args := []string{"test", "-c", "-ldflags", "-s -w", "-o", program} // linked in half the time
	if m.file != "" {
		src, err := m.source(b.root)
		if err != nil {
			t.Fatal(err)
		}
		changed := program + ".go"
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(b.root, "actor", m.file): changed}})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{changed: src, program + ".json": overlay} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, "-overlay", program+".json")
	}
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the program with the mutant cannot be built: %v\n%s", err, out)
	}
	t.Cleanup(func() { os.Remove(program) }) // they are large, and many
	return program
}

// mutantCaught is how often a clause has noticed a mutant.
type mutantCaught struct {
	runs   int
	seed   uint64 // of the first run that failed
	output string // of that run, its beginning
	passed uint64 // seed of a run that did not
	took   time.Duration
}

// try runs a clause with as many seeds as there are runs.
func (b *mutantBench) try(t *testing.T, p *mutantPrograms, clause string) (c mutantCaught) {
	t.Helper()
	program, test := p.of(t, clause)
	began := time.Now()
	for i := range mutantRuns {
		seed := b.set.seedOf(i)
		out, failed := b.once(t, program, test, clause, seed)
		switch {
		case !failed:
			c.passed = seed
			continue
		case c.runs == 0:
			c.seed, c.output = seed, out[:min(len(out), 4000)]
			t.Logf("actor/%s: %s", clause, seen(out))
		}
		c.runs++
	}
	c.took = time.Since(began)
	return c
}

// once runs a clause in a process of its own and reports whether it failed; a
// process that dies has failed too, since no implementation may do that.
func (b *mutantBench) once(t *testing.T, program, test, clause string, seed uint64) (out string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), mutantLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.count=1", "-test.v", "-test.run="+exactly(test))
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("DYNO_SEED=%d", seed))
	text, err := cmd.CombinedOutput()
	out = string(text)
	var exit *exec.ExitError
	switch line := "conform: clause=actor/" + clause + " "; {
	case err == nil && strings.Contains(out, line) && strings.Contains(out, "result=pass"):
		return out, false
	case err == nil: // skipped, or not there
		t.Fatalf("actor/%s was not run:\n%s", clause, out)
	case ctx.Err() != nil:
		return fmt.Sprintf("it hangs: stopped after %v\n%s", mutantLimit, out), true
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

// note adds a line to the table.
func (b *mutantBench) note(name, clause string, c mutantCaught) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, fmt.Sprintf("%-52s %-34s caught %d of %d (%v)\n", name, clause, c.runs, mutantRuns, c.took.Round(time.Millisecond)))
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
