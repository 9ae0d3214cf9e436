package subject

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// compiled returns the program of testdata/hash.c.
func compiled(t *testing.T) string {
	t.Helper()
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("needs a C compiler named cc: ", err)
	}
	path := filepath.Join(t.TempDir(), "bench-c")
	if out, err := exec.CommandContext(t.Context(), cc, "-std=c99", "-O2", "-o", path, "testdata/hash.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func open(t *testing.T, path string) Program {
	t.Helper()
	p, err := Open(t.Context(), path, "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// holes is told of a run and keeps what it is told of holes.
type holes struct {
	session.Quiet
	all []string
}

func (h *holes) Done(_ int, s record.Step, hole *record.Hole, output string) {
	if hole != nil {
		h.all = append(h.all, hole.String()+" "+output)
	}
}

// A C program is listed, measured in turns, alone what is compared with nothing, and
// compared; and the variant that does half as much again is slower by that.
func TestSessionOfACProgram(t *testing.T) {
	p := open(t, compiled(t))
	if p.Pkg != "bench-c" || len(p.Cases) != 3 || p.Cases[1] != (record.Case{Pkg: "bench-c", Name: "BenchmarkHash/impl=b"}) || len(p.Hash) != 64 {
		t.Fatalf("%+v", p)
	}
	t.Setenv("HASH_TIMES_GIVEN", "1")
	path, c := measured(t, p)
	times := table(t, c, "ns/op")
	row := times.Rows[slices.IndexFunc(times.Rows, func(r compare.Row) bool { return r.Name == "Hash" })]
	cell := row.Cells[slices.IndexFunc(times.Cols, func(c compare.Column) bool { return c.Name == "b" })]
	if row.Control == nil || cell.N != blocks {
		t.Errorf("%+v", row)
	}
	if rounds := table(t, c, "rounds/op"); rounds.Better != -1 || rounds.Rows[0].Cells[0].N == 0 {
		t.Errorf("%+v", rounds)
	}
	if cell.Verdict != compare.Slower || cell.Vs.Ratio < 1.48 || cell.Vs.Ratio > 1.52 {
		t.Errorf("b, which does half as much again, is %v: %+v", cell.Verdict, cell.Vs)
	}
	text := readFile(t, path)
	for _, want := range []string{"\ndriven: session\n", "\ndriven: process\n", "\nBenchmarkAlone\t", " peak-rss-B", " cpu-ns/op"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the results have no %q:\n%s", want, text)
		}
	}
	for _, line := range strings.Split(string(text), "\n") {
		// What the program does not count is missing, though the plan asks for it.
		if strings.HasPrefix(line, "Benchmark") && (strings.Contains(line, "B/op") || strings.Contains(line, "gcs/Mop") || strings.Contains(line, "live-heap-B")) {
			t.Errorf("it cannot know %s", line)
		}
	}
}

const blocks = 8

// measured carries out a plan with all of p's benchmarks, and compares them.
func measured(t *testing.T, p Program) (path string, c *compare.Comparison) {
	t.Helper()
	plan := &record.Plan{
		Cases: p.Cases, CPU: []int{1}, Blocks: blocks, Time: "2ms", Seed: 1, Timeout: time.Minute, Benchmem: true,
		Packages: []string{"program:bench-c"}, Bench: ".", Subjects: Hashes([]Program{p}),
		Mode: record.ModeAuto, Control: true, Rounds: 4, Slice: session.FigureSlice,
	}
	path = filepath.Join(t.TempDir(), "r.bench")
	store, err := record.Create(path, plan, &record.Circumstances{Machine: "box"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var told holes
	err = errors.Join(session.Run(t.Context(), plan, New(t.Context(), plan, []Program{p}, nil), store, nil, &told, nil), store.Close())
	if err != nil || len(told.all) > 0 {
		t.Fatalf("%v, holes %q", err, told.all)
	}
	if c, err = compare.Compare([]string{path}, compare.Options{}); err != nil || len(c.Problems) > 0 {
		t.Fatalf("%v, problems %q", err, c.Problems)
	}
	return path, c
}

// table returns the table of a unit.
func table(t *testing.T, c *compare.Comparison, unit string) compare.Table {
	t.Helper()
	i := slices.IndexFunc(c.Tables, func(t compare.Table) bool { return t.Unit == unit })
	if i < 0 {
		t.Fatalf("there is no table of %s", unit)
	}
	return c.Tables[i]
}

// Measure gives a line of as many operations as take the time, or as are asked for, and as
// many lines as the plan has counts; what goes wrong is an error that says why.
func TestMeasure(t *testing.T) {
	p := open(t, compiled(t))
	t.Setenv("HASH_TIMES_GIVEN", "1")
	measure := func(ctx context.Context, benchtime string, count int, c record.Case) (string, []string, error) {
		plan := &record.Plan{Time: benchtime, Count: count, Timeout: time.Minute}
		return New(ctx, plan, []Program{p}, nil).alone(p, record.Step{Case: c, CPU: 2})
	}
	for _, count := range []int{0, 3} {
		text, units, err := measure(t.Context(), "1000x", count, p.Cases[0])
		if !slices.Equal(units, []string{"rounds/op better=lower"}) {
			t.Errorf("units %q", units)
		}
		lines := strings.Split(text, "\n")
		if err != nil || len(lines) != max(1, count) {
			t.Fatalf("%q, %v", text, err)
		}
		for _, line := range lines {
			res, ok := record.ParseResult(line)
			if rounds, _ := res.Value("rounds/op"); !ok || res.Iters != 1000 || string(res.Name) != "Hash/impl=a-2" || rounds != 400 {
				t.Errorf("%q", line)
			}
		}
	}
	line, _, err := measure(t.Context(), "5ms", 1, p.Cases[0])
	if res, ok := record.ParseResult(line); err != nil || !ok || res.Iters < 12_000 || res.Iters > 13_000 { // of 400 ns
		t.Errorf("%q, %v", line, err)
	}
	slow := p.Cases[0]
	slow.Slow = 0.5
	var refusal *program.Refusal
	if _, _, err := measure(t.Context(), "1x", 1, slow); !errors.As(err, &refusal) {
		t.Errorf("slowed down: %v", err)
	}
	ctx, kill := context.WithCancelCause(t.Context())
	kill(program.ErrKilled)
	if _, _, err := measure(ctx, "1h", 1, p.Cases[0]); !errors.Is(err, program.ErrKilled) {
		t.Errorf("killed: %v", err)
	}
}

// A fakeRunner's operations take 10 ns each, and the first 100 ten times as long.
type fakeRunner struct {
	unit int
	ran  []int
}

func (f *fakeRunner) Hello() program.Hello { return program.Hello{Unit: f.unit} }

func (f *fakeRunner) Run(n int) (program.Slice, error) {
	f.ran = append(f.ran, n)
	each := 10 * time.Nanosecond
	if n < 100 {
		each *= 10
	}
	return program.Slice{N: n, Elapsed: time.Duration(n) * each}, nil
}

func TestOperations(t *testing.T) {
	for _, c := range []struct {
		unit int
		time string
		want int
		ran  []int
	}{
		{1, "1ms", 100_000, []int{1, 100, 10_000, 100_000}},
		{7, "1ms", 100_002, []int{7, 700, 70_000}},
		{1, "50ns", 1, []int{1}},
		{1, "1000x", 1000, []int{1}},
		{7, "10x", 14, []int{7}},
		{1, "1h", mostOperations, []int{1, 100, 10_000, 1_000_000, 100_000_000, mostOperations}},
	} {
		f := &fakeRunner{unit: c.unit}
		if n, err := operations(f, c.time); n != c.want || err != nil || !slices.Equal(f.ran, c.ran) {
			t.Errorf("%s in units of %d: %d, %v after %v, want %d after %v", c.time, c.unit, n, err, f.ran, c.want, c.ran)
		}
	}
	if _, err := operations(new(fakeRunner), "soon"); err == nil {
		t.Error("soon is a time")
	}
}

// What is no such program is refused, and it is said why.
func TestOpenRefuses(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"):  "there is no file",
		dir:                         "is a folder",
		put("text", "hello", 0o644): "is not executable",
		put("says", "#!/bin/sh\necho hello\n", 0o755):       `does not speak the driving protocol: asked for its benchmarks, it printed "hello"`,
		put("silent", "#!/bin/sh\n", 0o755):                 "it named none",
		put("fails", "#!/bin/sh\nexit 3\n", 0o755):          "ended with exit status 3",
		put("bad", "#!/none/such\n", 0o755):                 "does not start",
		put("hangs", "#!/bin/sh\nexec sleep 1000\n", 0o755): "does not say within",
	} {
		limit := time.Minute
		if strings.HasSuffix(path, "hangs") {
			limit = 100 * time.Millisecond
		}
		if _, err := Open(t.Context(), path, "", limit); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", filepath.Base(path), err, want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(session.ErrInterrupted)
	if _, err := Open(ctx, put("ok", "#!/bin/sh\necho BenchmarkA\n", 0o755), "", time.Minute); !errors.Is(err, session.ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
}

// A program says which package it measures, runs in the folder that is given, and cases of
// no program are the others'.
func TestPackageAndOthers(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	must(t, os.WriteFile(path, []byte("#!/bin/sh\necho pkg: example.com/p\necho Benchmark_$(basename $(pwd))\n"), 0o755))
	where := filepath.Join(dir, "where")
	must(t, os.Mkdir(where, 0o755))
	p, err := Open(t.Context(), path, where, time.Minute)
	if err != nil || len(p.Cases) != 1 || p.Cases[0] != (record.Case{Pkg: "example.com/p", Name: "Benchmark_where"}) {
		t.Fatalf("%+v, %v", p, err)
	}
	s := New(t.Context(), new(record.Plan), []Program{p}, others{})
	step := record.Step{Case: record.Case{Pkg: "example.com/p", Name: "BenchmarkGo"}}
	if _, err := s.Measure(t.Context(), 1, step); !errors.Is(err, errOthers) {
		t.Error(err)
	}
	if _, err := s.Start(1, step, nil); !errors.Is(err, errOthers) {
		t.Error(err)
	}
}

// What a plan names beside packages is opened, and its benchmarks chosen by a pattern; two
// of one name are refused.
func TestOpenAll(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"a": "#!/bin/sh\necho BenchmarkA/impl=x\necho BenchmarkB\n", "b": "#!/bin/sh\necho pkg: a\necho BenchmarkA/impl=y\n",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o755))
	}
	all, rest, err := OpenAll(t.Context(), []string{"./...", "program:a", "binary:x.test", "program:./b"})
	if err != nil || len(all) != 2 || !slices.Equal(rest, []string{"./...", "binary:x.test"}) {
		t.Fatalf("%+v, %q, %v", all, rest, err)
	}
	if h := Hashes(all); len(h["a"]) != 64 || len(h["./b"]) != 64 || h["a"] == h["./b"] {
		t.Errorf("hashes %q", h)
	}
	ax, ay := record.Case{Pkg: "a", Name: "BenchmarkA/impl=x"}, record.Case{Pkg: "a", Name: "BenchmarkA/impl=y"}
	if cases, err := Cases(all, "A", nil); err != nil || !slices.Equal(cases, []record.Case{ax, ay}) {
		t.Errorf("%+v, %v", cases, err)
	}
	if _, err := Cases(all, "B", []record.Case{ay}); err == nil || !strings.Contains(err.Error(), "./b and the package a both have BenchmarkA/impl=y") {
		t.Error(err)
	}
	if _, _, err := OpenAll(t.Context(), []string{"program:a", "program:./a"}); err == nil || !strings.Contains(err.Error(), "a and ./a both have BenchmarkA/impl=x") {
		t.Error(err)
	}
	if _, _, err := OpenAll(t.Context(), []string{"program:none"}); err == nil || !strings.Contains(err.Error(), "there is no file none") {
		t.Error(err)
	}
}

// others are a subject that fails.
type others struct{}

var errOthers = errors.New("the others")

func (others) Measure(context.Context, int, record.Step) (record.Record, error) {
	return record.Record{}, errOthers
}
func (others) Start(int, record.Step, []string) (session.Driver, error) { return nil, errOthers }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}
