package mutate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/patience"
	"github.com/dynolab/dyno/internal/quotetest"
)

// TestOperators holds what the operators make of a package with something for each of
// them, and which of that compiles.
func TestOperators(t *testing.T) {
	pkgs, err := Load("testdata/operators", ".")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	operators := map[string]bool{}
	for _, m := range pkgs[0].Mutants() {
		_, src, err := pkgs[0].Source(m)
		fmt.Fprintln(&got, m.ID)
		if err != nil {
			fmt.Fprintln(&got, "\tdoes not compile:", err)
			continue
		}
		operators[m.Operator] = true
		if bytes.Contains(src, []byte("a <= b")) || !bytes.Contains(src, []byte("[64]byte")) {
			t.Errorf("%s changes what no mutant may", m.ID)
		}
	}
	for _, name := range []string{"arithmetic", "atomic", "boundary", "cas", "constant", "defer", "negate", "operand", "remove", "return", "swap", "wake-up"} {
		if !operators[name] {
			t.Errorf("operator %s has no mutant that compiles", name)
		}
	}
	golden := "testdata/operators.golden"
	if *quotetest.Update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the mutants differ from %s (-update writes it); got:\n%s", golden, got.String())
	}
}

// verdicts is what becomes of the mutants of testdata/planted.
var verdicts = map[string]Verdict{
	". Clamp: boundary: n > most → n >= most":     Survived, // no test has n == most, and there it is equivalent
	". Clamp: negate: n > most → !(n > most)":     Killed,
	". Clamp: remove: n = most → (nothing)":       Killed,
	". Clamp: return: n → 0":                      Killed,
	". Clamp: remove: return n → (nothing)":       Invalid,
	". Rounds: negate: rounds != n → rounds == n": Killed,
	". Rounds: remove: rounds++ → (nothing)":      Timeout,
	". Rounds: arithmetic: rounds++ → rounds--":   Timeout,
	". Rounds: return: rounds → 0":                Killed,
	". Rounds: remove: return rounds → (nothing)": Invalid,
	". const Most: constant: 42 → 43":             Killed, // alone: it is in no function
}

// plantedBench returns what tries the mutants of testdata/planted, and these.
func plantedBench(t *testing.T, limit time.Duration) (*Bench, []*Package, []Mutant) {
	t.Helper()
	root, err := filepath.Abs("testdata/planted")
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := Load(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	pkgs[0].Path = "."
	b := &Bench{
		Root: root, Dir: t.TempDir(), Env: os.Environ(), Memory: 1 << 40,
		Plan: func(string) []Program { return []Program{{Package: "."}} },
	}
	b.SetLimit(Program{Package: "."}, limit)
	order := Order(pkgs[0].Mutants(), 7)
	if err := b.Weave(t.Context(), map[string]*Package{".": pkgs[0]}, order); err != nil {
		t.Fatal(err)
	}
	return b, pkgs, order
}

// TestPlanted tries the mutants of a package of which it is known what becomes of each. It
// is interrupted once, and goes on with the same file.
func TestPlanted(t *testing.T) {
	patience.Try(t, 2*time.Second, func(limit time.Duration) error {
		b, pkgs, order := plantedBench(t, limit)
		path := filepath.Join(t.TempDir(), "planted.mutants")
		file, err := Create(path, []Setting{{"seed", "7"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, interrupt := context.WithCancel(t.Context())
		said := &saying{after: 4, call: interrupt}
		if err := b.TryAll(ctx, said, pkgs, order, file, Bounds{Batch: 3}); err != nil {
			t.Fatal(err)
		}
		if n := len(file.Results); n < 4 || n == len(verdicts) {
			t.Fatalf("%d results, want those before the interrupt", n)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if file, err = Resume(path); err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := b.TryAll(t.Context(), said, pkgs, order, file, Bounds{Jobs: 2}); err != nil {
			t.Fatal(err)
		}
		if len(file.Results) != len(verdicts) || !strings.Contains(said.text.String(), "11 of 11, ") {
			t.Fatalf("%d results, want one of each mutant; said:\n%s", len(file.Results), said.text.String())
		}
		got := map[string]Verdict{}
		for _, r := range file.Results {
			got[r.ID] = r.Verdict
			if verdicts[r.ID] != r.Verdict {
				err = errors.Join(err, fmt.Errorf("%s: %s by %q, want %s", r.ID, r.Verdict, r.By, verdicts[r.ID]))
			}
		}
		all, _, open := Evaluate(file.Latest(), nil)
		if want := (Score{Killed: 8, Timeout: 2, Survived: 1}); err == nil && (all != want || len(open) != 1) {
			t.Errorf("%+v and %q, want %+v", all, open, want)
		}
		return err
	})
}

// saying keeps what is said, and calls a function when it was said something so often.
type saying struct {
	text  strings.Builder
	after int
	call  func()
}

func (s *saying) Write(p []byte) (int, error) {
	if s.after--; s.after == 0 {
		s.call()
	}
	return s.text.Write(p)
}

// TestCompilerRefuses: what the compiler does not take is told from the others, which are tried.
func TestCompilerRefuses(t *testing.T) {
	b, pkgs, order := plantedBench(t, time.Hour)
	var changes []change
	for i, m := range order[:5] {
		if _, src, err := pkgs[0].Source(m); err == nil && m.body {
			changes = append(changes, change{m.ID, i + 1, "planted.go", src})
		}
	}
	refused := change{"refused", 99, "planted.go", bytes.Replace(pkgs[0].files[0].src, []byte("return rounds"), []byte("return undeclared"), 1)}
	got, err := b.compiling(t.Context(), ".", append(slices.Clone(changes), refused))
	if err != nil || len(got) != len(changes) || len(got) == 0 || !b.woven.invalid["refused"] {
		t.Errorf("%d of %d changes that compile are left, %v; those refused are %v", len(got), len(changes), err, b.woven.invalid)
	}
}

// TestMemoryLimit: a process that takes more than it may is ended, and that kills.
func TestMemoryLimit(t *testing.T) {
	b, pkgs, order := plantedBench(t, time.Hour)
	b.Memory = 1
	i := slices.IndexFunc(order, func(m Mutant) bool { return verdicts[m.ID] == Timeout })
	r, err := b.Try(t.Context(), pkgs[0], order[i])
	if err != nil || r.Verdict != Memory {
		t.Errorf("%+v, %v, want it killed by %s", r, err, Memory)
	}
}

// TestRedTests: tests that fail although nothing was changed would kill every mutant, and
// are an error.
func TestRedTests(t *testing.T) {
	b, pkgs, order := plantedBench(t, 0)
	b.NoteLimit = func(Program, time.Duration) error { return nil }
	b.Env = append(b.Env, "PLANTED_RED=1")
	_, err := b.Try(t.Context(), pkgs[0], order[slices.IndexFunc(order, func(m Mutant) bool { return verdicts[m.ID] == Killed })])
	if err == nil || !strings.Contains(err.Error(), "although nothing was changed") {
		t.Errorf("%v, want an error that says that nothing was changed", err)
	}
}

// TestOrder: the order is that of the seed, and its beginning has of each package its share.
func TestOrder(t *testing.T) {
	var all []Mutant
	for i := range 900 {
		pkg := "large"
		if i%3 == 0 {
			pkg = "small"
		}
		all = append(all, Mutant{ID: fmt.Sprintf("%s f: %d", pkg, i), Package: pkg})
	}
	order := Order(all, 1)
	shuffled := slices.Clone(all)
	slices.Reverse(shuffled)
	if !slices.Equal(order, Order(shuffled, 1)) {
		t.Error("the order depends on that of the mutants")
	}
	if slices.Equal(order, Order(all, 2)) {
		t.Error("the order does not depend on the seed")
	}
	for n := range order {
		small := 0
		for _, m := range order[:n] {
			if m.Package == "small" {
				small++
			}
		}
		if math.Abs(float64(small)-float64(n)/3) > 1 {
			t.Fatalf("%d of the first %d are of the package that has a third of all", small, n)
		}
	}
	sum := 0
	for _, m := range order[:300] {
		n, err := strconv.Atoi(m.ID[strings.LastIndex(m.ID, " ")+1:])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if mean := float64(sum) / 300; math.Abs(mean-449.5) > 60 { // four standard errors
		t.Errorf("the first third of the order has numbers of %.0f in the mean: it is no random sample of 0 to 899", mean)
	}
}

// TestWilson compares with the intervals in Newcombe, "Two-sided confidence intervals for
// the single proportion: comparison of seven methods" (1998), table I.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		killed, of int
		low, high  float64
	}{{81, 263, 25.53, 36.62}, {15, 148, 6.24, 16.05}, {0, 20, 0, 16.11}, {1, 29, 0.61, 17.18}} {
		_, low, high := Score{Killed: c.killed, Survived: c.of - c.killed}.Percent()
		if math.Abs(low-c.low) > 0.006 || math.Abs(high-c.high) > 0.006 {
			t.Errorf("%d of %d: %.2f to %.2f, want %.2f to %.2f", c.killed, c.of, low, high, c.low, c.high)
		}
	}
	if _, low, high := (Score{}).Percent(); low != 0 || high != 100 {
		t.Errorf("of nothing: %v to %v", low, high)
	}
}

// TestFile: what a kill has cut off is left out and written over, and a mutant that is tried
// again has its newest result.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mutants")
	f, err := Create(path, []Setting{{"commit", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	first := Result{ID: "p f: negate: a → b", Verdict: Survived, Took: 1500 * time.Millisecond}
	second := Result{ID: "p f: negate: a → b", Verdict: Killed, By: "p TestX", Took: 2 * time.Second}
	if err := errors.Join(f.Add(first), f.f.Sync()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.f.WriteString("killed\t1.0s\tp Test"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Resume(path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Add(second), f.Note(Setting{"limit p", "1m0s"}), f.Close()); err != nil {
		t.Fatal(err)
	}
	if f, err = ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if f.Setting("commit") != "c" || f.Setting("limit p") != "1m0s" || !slices.Equal(f.Results, []Result{first, second}) || f.Latest()[first.ID] != second {
		t.Errorf("%+v", f)
	}
	if _, err := Create(path, nil); err == nil {
		t.Error("a file is written over")
	}
	if _, err := Read(strings.NewReader("neither\tnor\n")); err == nil {
		t.Error("a line that is neither a setting nor a result is taken")
	}
}

// TestEquivalent reports keys of which there are fewer changes than are said to be equivalent. It
// fails for none: who rewrites a function need not know of them.
func TestEquivalent(t *testing.T) {
	known, err := Equivalent()
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := Load("../..", Patterns...)
	if err != nil {
		t.Fatal(err)
	}
	names, keys := map[string]bool{}, map[string]int{}
	for _, p := range pkgs {
		for _, m := range p.Mutants() {
			if names[m.ID] {
				t.Errorf("two mutants have one name: %s", m.ID)
			}
			names[m.ID] = true
			keys[m.Key()]++
		}
	}
	for key, e := range known {
		if keys[key] < e.Count {
			t.Logf("out of date: %d changes are said to be equivalent, and there are %d: %s", e.Count, keys[key], key)
		}
	}
}

func TestParseEquivalent(t *testing.T) {
	got, err := parseEquivalent("# comment\na f: cas ×1\na f: swap ×2\n\tone\n\treason\n\nb (*g).h: cas ×1\n\tanother\n")
	want := map[string]Equivalence{"a f: cas": {1, "one reason"}, "a f: swap": {2, "one reason"}, "b (*g).h: cas": {1, "another"}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"a f: cas ×1\n", "\treason\n", "a f: cas\n\tr\n", "a f: cas ×0\n\tr\n", "a f: cas ×1\n\tr\na f: cas ×1\n\tr\n"} {
		if _, err := parseEquivalent(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestEvaluate: so many survivors of a key as are known to be equivalent are no part of the score,
// and of a key with more all are to be judged.
func TestEvaluate(t *testing.T) {
	results := map[string]Result{}
	for id, v := range map[string]Verdict{
		"a f: cas: x → y": Survived, "a f: cas: y → z": Survived, "a f: swap: x → y": Survived, "a g: cas: x → y": Killed,
		"a g: cas: y → z": Timeout, "b f: cas: x → y": Survived, "b f: cas: y → z": Invalid,
	} {
		results[id] = Result{ID: id, Verdict: v}
	}
	all, byPackage, open := Evaluate(results, map[string]Equivalence{"a f: cas": {1, "r"}, "a f: swap": {1, "r"}})
	if want := (Score{Killed: 2, Timeout: 1, Survived: 2, Equivalent: 2}); all != want {
		t.Errorf("%+v, want %+v", all, want)
	}
	if want := (Score{Survived: 1}); *byPackage["b"] != want {
		t.Errorf("b: %+v, want %+v", *byPackage["b"], want)
	}
	if want := []string{"a f: cas: x → y", "a f: cas: y → z", "b f: cas: x → y"}; !slices.Equal(open, want) {
		t.Errorf("%q, want %q", open, want)
	}
}

// TestFewTests: a program is run with those tests that are asked for, and with all otherwise.
func TestFewTests(t *testing.T) {
	const few = "-test.run=^TestNew$"
	if args := (Program{Package: ".", Tests: "^TestNew$"}).Args(); !slices.Contains(args, few) {
		t.Errorf("%q, want %s", args, few)
	}
	if args := (Program{Package: "."}).Args(); slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-test.run") }) {
		t.Errorf("%q, want all tests", args)
	}
}
