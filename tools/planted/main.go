// Command planted holds the tests to bugs that people have planted, in bugs.txt, in the actor core and in the
// implementations, one in a function each: the clauses and tests that are there for the line
// must fail, each time, with a seed of its own. Run it in the folder tools:
//
//	go run ./planted                     each once
//	go run ./planted -n 40 -jobs 2       40 times, as before a release
//	go run ./planted -only 'restart'     those whose name or function matches
//
// Before that it runs the clauses and tests on the sources as they are, which they must pass. It
// prints a table, and exits with 1 if a bug was missed. A bug whose place is not there any more
// is reported, and fails nothing: who rewrites a function plants its bugs anew, or drops them.
//
// Wrong implementations, in conformance/conformtest, show the same of the suite. The core is the
// same for all implementations, so that no wrong one of it can be handed to the suite.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/tools/mutate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

// hangLimit is how long one run may take; what takes longer hangs, and is caught by that.
const hangLimit = time.Minute

func run(ctx context.Context, w io.Writer, args []string) error {
	flags := flag.NewFlagSet("planted", flag.ContinueOnError)
	root := flags.String("root", "..", "the module's `folder`")
	runs := flags.Int("n", 1, "run each clause and test so many `times`")
	jobs := flags.Int("jobs", 1, "try so many bugs at a `time`")
	seed := flags.Uint64("seed", rand.Uint64(), "random choices of the tests start from this `number`")
	only := flags.String("only", "", "only bugs whose name or function matches this regular `expression`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *root, err = filepath.Abs(*root); err != nil {
		return err
	}
	folder, err := scratch.New()
	if err != nil {
		return err
	}
	defer folder.Remove()

	b := &bench{root: *root, dir: folder.Path, runs: *runs, seed: *seed, w: w, built: map[program]func() error{}}
	changed := map[string]map[int][]byte{}
	for i := range bugs {
		if !wanted.MatchString(bugs[i].name) && !wanted.MatchString(bugs[i].function) {
			continue
		}
		path, text, err := bugs[i].source(*root)
		if err != nil {
			b.outdated = append(b.outdated, fmt.Sprintf("%s: %v", bugs[i].name, err))
			continue
		}
		if changed[path] == nil {
			changed[path] = map[int][]byte{}
		}
		changed[path][i+1] = text
		b.numbers = append(b.numbers, i+1)
	}
	if len(b.numbers) == 0 {
		return errors.New("no bug can be planted: " + strings.Join(append(b.outdated, "-only matches none"), "; "))
	}
	if b.overlay, err = mutate.Overlay(*root, b.dir, changed); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d bugs, %d times each; random choices start from -seed %d\n", len(b.numbers), *runs, *seed)
	if err := b.sound(ctx, *jobs); err != nil {
		return err
	}
	return b.all(ctx, *jobs)
}

// A program is the tests of a package of the module.
type program struct {
	pkg  string
	race bool
}

// A check is a clause or a test that must notice a bug.
type check struct {
	name    string // actor/… of a clause
	program program
	test    string // its name in the program
}

// checks returns what must notice the bug: clauses in its implementation's conformance test or,
// if only the core can break them, in the core's own tests.
func (b *bug) checks() (all []check) {
	for _, c := range b.clauses {
		name := "actor/" + c
		if slices.ContainsFunc(conformance.Core(), func(c conformance.Clause) bool { return c.Name == name }) {
			all = append(all, check{name, program{pkg: "actor/scenario"}, "TestCore/impl=lockbased/" + name})
		} else {
			all = append(all, check{name, program{pkg: "impls/lockbased"}, "TestConformance/" + name})
		}
	}
	for _, test := range b.tests {
		all = append(all, check{test, program{b.folder(), strings.HasPrefix(b.folder(), "impls/")}, test})
	}
	return all
}

// A bench is where bugs are built and run.
type bench struct {
	root, dir string // of the module; and for what is built
	overlay   string // the file that says what is built
	runs      int
	seed      uint64
	numbers   []int // of the bugs that could be planted: their place in the list, from 1
	outdated  []string

	mu            sync.Mutex // guards what follows
	w             io.Writer
	built         map[program]func() error
	pairs, missed int
}

// sound runs every clause and test on the sources as they are.
func (b *bench) sound(ctx context.Context, jobs int) error {
	seen := map[check]bool{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for _, n := range b.numbers {
		for _, c := range bugs[n-1].checks() {
			if seen[c] {
				continue
			}
			seen[c] = true
			g.Go(func() error {
				caught, err := b.try(ctx, c, 0)
				if err == nil && caught.runs > 0 {
					err = fmt.Errorf("%s fails in %d of %d runs although nothing was changed, with seed %d:\n%s",
						c.name, caught.runs, b.runs, caught.seed, caught.output)
				}
				return err
			})
		}
	}
	return g.Wait()
}

// all tries the bugs, and prints what came of each.
func (b *bench) all(ctx context.Context, jobs int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for _, n := range b.numbers {
		g.Go(func() error {
			for _, c := range bugs[n-1].checks() {
				caught, err := b.try(ctx, c, n)
				if err != nil {
					return err
				}
				b.note(bugs[n-1].name, c.name, caught)
			}
			return nil
		})
	}
	err := g.Wait()
	for _, line := range b.outdated {
		fmt.Fprintln(b.w, "out of date:", line)
	}
	fmt.Fprintf(b.w, "%d of %d pairs of a bug and a check caught in each of %d runs; %d bugs out of date\n",
		b.pairs-b.missed, b.pairs, b.runs, len(b.outdated))
	if err == nil && b.missed > 0 {
		err = fmt.Errorf("%d pairs passed where they have to fail", b.missed)
	}
	return err
}

// of returns where the program is, which is built when it is first asked for.
func (b *bench) of(p program) (path string, err error) {
	path = filepath.Join(b.dir, fmt.Sprintf("%s-%v.test", strings.ReplaceAll(p.pkg, "/", "-"), p.race))
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
				return fmt.Errorf("the program with the bugs cannot be built: %w\n%s", err, out)
			}
			return nil
		})
		b.built[p] = build
	}
	b.mu.Unlock()
	return path, build()
}

// caught is how often a check has noticed a bug.
type caught struct {
	runs   int
	hung   int    // of these
	seed   uint64 // of the first run that failed
	output string // of that run, its beginning
	passed uint64 // seed of a run that did not
	took   time.Duration
}

// try runs a check with as many seeds as there are runs.
func (b *bench) try(ctx context.Context, c check, number int) (k caught, err error) {
	path, err := b.of(c.program)
	if err != nil {
		return k, err
	}
	began := time.Now()
	for i := range b.runs {
		seed := rand.NewPCG(b.seed, uint64(i)).Uint64()
		out, failed, err := b.once(ctx, path, c, number, seed)
		switch {
		case err != nil:
			return k, err
		case !failed:
			k.passed = seed
			continue
		case k.runs == 0:
			k.seed, k.output = seed, out[:min(len(out), 4000)]
		}
		k.runs++
		if strings.HasPrefix(out, hangs) {
			k.hung++
		}
	}
	k.took = time.Since(began)
	return k, nil
}

// hangs begins the output of a program that was stopped.
const hangs = "it hangs: "

// once runs a check in a process of its own and reports whether it failed; a process that dies
// has failed too, since no implementation may do that.
func (b *bench) once(ctx context.Context, path string, c check, number int, seed uint64) (out string, failed bool, err error) {
	limited, cancel := context.WithTimeout(ctx, hangLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, path, "-test.count=1", "-test.v", "-test.run="+exactly(c.test))
	cmd.Dir = filepath.Join(b.root, c.program.pkg)
	cmd.Env = append(os.Environ(), fmt.Sprintf("DYNO_SEED=%d", seed), fmt.Sprintf("%s=%d", mutate.NumberEnv, number))
	text, err := cmd.CombinedOutput()
	out = string(text)
	passed := strings.Contains(out, "--- PASS: "+c.test+" ")
	if strings.HasPrefix(c.name, "actor/") {
		passed = strings.Contains(out, "conform: clause="+c.name+" ") && strings.Contains(out, "result=pass")
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, false, ctx.Err()
	case err == nil && passed:
		return out, false, nil
	case err == nil: // skipped, or not there
		return out, false, fmt.Errorf("%s was not run:\n%s", c.name, out)
	case limited.Err() != nil:
		return fmt.Sprintf("%sstopped after %v\n%s", hangs, hangLimit, out), true, nil
	case !errors.As(err, &exit):
		return out, false, err
	}
	return out, true, nil
}

// exactly returns the pattern of go test -run for one test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// note prints what came of a bug and a check.
func (b *bench) note(name, check string, k caught) {
	line := fmt.Sprintf("%-52s %-34s caught %d of %d (%v)", name, check, k.runs, b.runs, k.took.Round(time.Millisecond))
	if k.hung > 0 {
		line += fmt.Sprintf(", %d by a hang", k.hung)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pairs++
	if k.runs < b.runs {
		b.missed++
		line += fmt.Sprintf("; MISSED, once with seed %d", k.passed)
	}
	fmt.Fprintln(b.w, line)
}
