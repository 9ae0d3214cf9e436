// Command mutants changes the source of the actor core, the contracts, the implementations and
// the measuring engine in small ways, one at a time, and looks whether the tests notice: see package mutate. It is a
// tool for who works on dyno:
//
//	go run ./mutants -for 1h          a sample, as large as an hour allows
//	go run ./mutants -only 'impls/channel .*: cas'
//	go run ./mutants -root ../fleet -packages .    a module of its own
//	go run ./mutants -names some.txt -run '^TestNew$' -jobs 2    what a new test notices, in seconds
//	go run ./mutants -score results/<machine>/<file>.mutants
//
// Results are added to a file, and a run goes on with the file of the same commit and seed.
// An interrupt ends it at once, and nothing that is in the file is lost. With -run nothing is kept
// but in a file that -out names.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/tools/mutate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	root   string
	of     []string // patterns of packages
	budget time.Duration
	most   int
	seed   uint64
	jobs   int
	only   *regexp.Regexp
	names  string
	tests  string
	out    string
	again  string
	score  string
	list   bool
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", "..", "the module's `folder`")
	of := flags.String("packages", strings.Join(mutate.Patterns, " "), "change these packages: `patterns` of the go command")
	flags.DurationVar(&o.budget, "for", 0, "begin no mutant after this `time`; 0 means that all are tried")
	flags.IntVar(&o.most, "n", 0, "try so many `mutants` at most, those of earlier runs included; 0 means all")
	flags.Uint64Var(&o.seed, "seed", 1, "which sample, and the tests' random choices: a `number`")
	flags.IntVar(&o.jobs, "jobs", 1, "try so many mutants at a `time`")
	only := flags.String("only", "", "try only mutants whose name matches this regular `expression`")
	flags.StringVar(&o.names, "names", "", "try only mutants that this `file` names, a line each")
	flags.StringVar(&o.tests, "run", "", "run only tests that match this regular `expression`, of the mutant's package, plain")
	flags.StringVar(&o.out, "out", "", "add results to this `file`; by default results/<machine>/<commit>-<seed>.mutants")
	flags.StringVar(&o.again, "again", "", "try only those that have survived in this `file`, and are not known to be equivalent")
	flags.StringVar(&o.score, "score", "", "print the score of this `file`, and try nothing")
	flags.BoolVar(&o.list, "list", false, "print the mutants' names in their order, and try nothing")
	if err = flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.jobs < 1 {
		return o, fmt.Errorf("want flags only, and at least one job: %q", args)
	}
	o.of = strings.Fields(*of)
	o.only, err = regexp.Compile(*only)
	return o, err
}

func run(ctx context.Context, w io.Writer, args []string) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	equivalent, err := mutate.Equivalent()
	if err != nil {
		return err
	}
	if o.score != "" {
		f, err := mutate.ReadFile(o.score)
		if err != nil {
			return err
		}
		mutate.WriteScore(w, f.Latest(), equivalent)
		return nil
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	packages, err := mutate.Load(root, o.of...)
	if err != nil {
		return err
	}
	order, err := choose(packages, o, equivalent)
	if err != nil {
		return err
	}
	if o.list {
		for _, m := range order {
			fmt.Fprintln(w, m.ID)
		}
		return nil
	}
	scratchFolder, err := scratch.New()
	if err != nil {
		return err
	}
	defer scratchFolder.Remove()
	if o.tests != "" && o.out == "" {
		o.out = filepath.Join(scratchFolder.Path, "few-tests.mutants")
	}
	file, err := openFile(ctx, root, o, len(order))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := try(ctx, w, root, scratchFolder.Path, packages, order, file, o); err != nil {
		return err
	}
	mutate.WriteScore(w, file.Latest(), equivalent)
	return nil
}

// choose returns the mutants that are to be tried, in their order.
func choose(packages []*mutate.Package, o options, equivalent map[string]mutate.Equivalence) ([]mutate.Mutant, error) {
	var all []mutate.Mutant
	for _, p := range packages {
		if len(mutate.Plan(p.Path)) > 0 {
			all = append(all, p.Mutants()...)
		}
	}
	order := slices.DeleteFunc(mutate.Order(all, o.seed), func(m mutate.Mutant) bool { return !o.only.MatchString(m.ID) })
	if o.names != "" {
		text, err := os.ReadFile(o.names)
		if err != nil {
			return nil, err
		}
		named := strings.Split(string(text), "\n")
		order = slices.DeleteFunc(order, func(m mutate.Mutant) bool { return !slices.Contains(named, m.ID) })
	}
	if o.again == "" {
		return order, nil
	}
	f, err := mutate.ReadFile(o.again)
	if err != nil {
		return nil, err
	}
	_, _, open := mutate.Evaluate(f.Latest(), equivalent)
	return slices.DeleteFunc(order, func(m mutate.Mutant) bool { return !slices.Contains(open, m.ID) }), nil
}

// openFile opens the results of this commit and seed, or begins them.
func openFile(ctx context.Context, root string, o options, total int) (*mutate.File, error) {
	about := session.Describe(ctx, root, "", o.out)
	commit, seed := about.Value("commit"), strconv.FormatUint(o.seed, 10)
	if o.out == "" {
		o.out = filepath.Join(root, "results", about.Machine, fmt.Sprintf("%.8s-%s.mutants", commit, seed))
	}
	if _, err := os.Stat(o.out); err == nil {
		f, err := mutate.Resume(o.out)
		if err != nil {
			return nil, err
		}
		if f.Setting("commit") != commit || f.Setting("dirty") != about.Value("dirty") || f.Setting("seed") != seed || f.Setting("tests") != o.tests {
			return nil, errors.Join(fmt.Errorf("%s is of another commit, tree, seed or -run: give another file with -out", o.out), f.Close())
		}
		return f, nil
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return nil, err
	}
	var settings []mutate.Setting
	for _, s := range about.Fixed {
		settings = append(settings, mutate.Setting{Key: s.Key, Value: strings.Join(s.Values, " ")})
	}
	if o.tests != "" { // a survivor of a few tests is none of all, and a few have less time
		settings = append(settings, mutate.Setting{Key: "tests", Value: o.tests})
	}
	return mutate.Create(o.out, append(settings,
		mutate.Setting{Key: "started", Value: time.Now().UTC().Format(time.RFC3339)},
		mutate.Setting{Key: "seed", Value: seed},
		mutate.Setting{Key: "changes", Value: strconv.Itoa(total)}, // of which some do not compile
	))
}

// memoryLimit is what a program may take: a mutant that fills a queue without end would else
// take the machine with it.
const memoryLimit = 4 << 30

// try tries the mutants that have no result yet.
func try(ctx context.Context, w io.Writer, root, dir string, packages []*mutate.Package, order []mutate.Mutant, file *mutate.File, o options) error {
	plan := mutate.Plan
	if o.tests != "" {
		plan = func(pkg string) []mutate.Program { return []mutate.Program{{Package: pkg, Tests: o.tests}} }
	}
	cache, err := ownCache()
	if err != nil {
		return err
	}
	bench := &mutate.Bench{
		Root: root, Dir: dir, Memory: memoryLimit, Seed: o.seed, Plan: plan,
		Env: append(os.Environ(), "GOCACHE="+cache),
		NoteLimit: func(p mutate.Program, d time.Duration) error {
			return file.Note(mutate.Setting{Key: limitKey + p.String(), Value: d.String()})
		},
	}
	for _, s := range file.Settings {
		if name, ok := strings.CutPrefix(s.Key, limitKey); ok {
			limit, err := time.ParseDuration(s.Value)
			if err != nil {
				return err
			}
			pkg, race := strings.CutSuffix(name, " -race")
			bench.SetLimit(mutate.Program{Package: pkg, Race: race}, limit)
		}
	}
	return bench.TryAll(ctx, w, packages, order, file, mutate.Bounds{Time: o.budget, Mutants: o.most, Jobs: o.jobs})
}

// limitKey begins the settings that say how long a program may run.
const limitKey = "limit "

// mostCache is how large the cache of builds may be at the beginning.
const mostCache = 4 << 30

// ownCache returns a folder for what the go command builds of mutants, which nothing will ever
// use again: in the cache of the go command it would lie for days. One that has grown large is
// emptied.
func ownCache() (path string, err error) {
	all, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path = filepath.Join(all, "dyno-mutants")
	var size int64
	_ = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	if size > mostCache {
		return path, os.RemoveAll(path)
	}
	return path, nil
}
