package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

var someCircumstances = &record.Circumstances{Machine: "box", Fixed: []record.Setting{
	{Key: "commit", Values: []string{"0123456789abcdef"}}, {Key: "toolchain", Values: []string{"go version go1.26.8 linux/amd64"}},
}}

// watched collects what a run tells.
type watched struct {
	total, done int
	holes       []record.Hole
	blocks      []int
	after       func(block int, s record.Step) // called before each process
	notes       []string
	uncounted   int // notes that nothing counts
	turns       []string
	looks       []string
}

func (w *watched) Start(total int, f *Forecast) { w.total, w.done = total, total-f.Steps() }
func (w *watched) Turns(block int, g record.Group) {
	w.turns = append(w.turns, fmt.Sprint(block, " ", g.Name))
}

// Note keeps what is told, but for the one thing that is told of all machines of tests.
func (w *watched) Note(text string) {
	if text == "no hardware counters: "+errNoCounters.Error() {
		w.uncounted++
		return
	}
	w.notes = append(w.notes, text)
}

func (w *watched) Look(block int, g []record.Group, n int) {
	w.looks = append(w.looks, fmt.Sprint(block, " ", len(g), " ", n))
	w.done += n
}

func (w *watched) Step(block int, s record.Step) {
	if w.after != nil {
		w.after(block, s)
	}
}

func (w *watched) Done(block int, s record.Step, hole *record.Hole, output string) {
	w.done++
	if hole != nil {
		w.holes = append(w.holes, *hole)
	}
}

func (w *watched) Block(n, of int) { w.blocks = append(w.blocks, n) }

// fake measures nothing: the step with the index bad fails.
func fake(bad int) func(record.Step) (string, error) {
	return func(s record.Step) (string, error) {
		if s.Index == bad {
			return "", &program.Failure{Kind: failure.Crash, Reason: `crashed: panic: "oh"`, Output: "oh"}
		}
		return fmt.Sprintf("%s \t 1 \t %d ns/op", s.FullName(), 100+s.Index), nil
	}
}

// An alone is a subject of which each step has a process of its own, and its benchmark
// lines are what the function returns.
type alone func(record.Step) (string, error)

func (f alone) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	text, err := f(s)
	var units []string
	for {
		unit, isUnit := strings.CutPrefix(text, record.UnitMark)
		if !isUnit {
			return Single(s, block, text, units, err)
		}
		unit, text, _ = strings.Cut(unit, "\n")
		units = append(units, unit)
	}
}

func (alone) Start(int, record.Step, []string) (Driver, error) {
	return nil, errors.New("takes no turns")
}

// inProcesses are the deps of a run in which each step has a process of its own.
func inProcesses(measure alone) deps { return deps{Subject: measure, now: time.Now} }

// fakeRun carries out plan and returns the path of the results.
func fakeRun(t testing.TB, plan *record.Plan, bad int) string {
	t.Helper()
	path := filepath.Join(recordtest.Dir(t), "folder", "run.bench")
	s, err := record.Create(path, plan, someCircumstances, []record.Hole{
		{Pkg: "example.com/b", Case: "BenchmarkAbsent-2", Reason: "needs a board", Skipped: true},
		{Pkg: "example.com/c", Reason: "does not build"},
	}, time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	must(t, carryOut(context.Background(), plan, s, nil, new(watched), inProcesses(fake(bad))))
	must(t, s.Close())
	return path
}

// entries reads a results file as benchstat does, and returns what each block
// has for each case: the name of a result, or "hole".
func entries(t testing.TB, path string) map[string][]string {
	t.Helper()
	data := readFile(t, path)
	r := benchfmt.NewReader(bytes.NewReader(data), path)
	results := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("not in the Go benchmark format: %v", rec)
		case *benchfmt.Result:
			results++
		}
	}
	f := record.Read(path, data)
	for _, p := range slices.Concat(f.Problems, f.Strays) {
		t.Errorf("%s:%d: %s", path, p.Line, p.What)
	}
	for _, d := range f.Damage {
		t.Errorf("%s:%d: damaged: %s", path, d.Line, d.What)
	}
	got := make(map[string][]string)
	for _, rec := range slices.Concat(f.Results, f.Holes) {
		key := rec.Result.GetConfig("block") + "/" + rec.Result.GetConfig("case")
		switch {
		case rec.Hole == nil:
			got[key] = append(got[key], rec.Result.GetConfig("pkg")+" Benchmark"+string(rec.Result.Name))
		case !rec.Hole.Skipped && rec.Hole.Block != "":
			got[key] = append(got[key], "hole")
		}
	}
	if r.Err() != nil || results != len(f.Results) {
		t.Errorf("error %v, %d of %d results", r.Err(), len(f.Results), results)
	}
	return got
}

// checkComplete returns an error unless the results at path have every step of
// every block exactly once, holes for the step bad.
func checkComplete(t testing.TB, path string, plan *record.Plan, bad int) {
	t.Helper()
	got := entries(t, path)
	if len(got) != plan.Blocks*len(plan.Steps()) {
		t.Errorf("%d entries, want %d", len(got), plan.Blocks*len(plan.Steps()))
	}
	for block := 1; block <= plan.Blocks; block++ {
		for _, s := range plan.Steps() {
			want := []string{s.Case.Pkg + " " + s.FullName()}
			if s.Index == bad {
				want[0] = "hole"
			}
			if have := got[strconv.Itoa(block)+"/"+strconv.Itoa(s.Index)]; !slices.Equal(have, want) {
				t.Errorf("block %d, case %d: %q, want %q", block, s.Index, have, want)
			}
		}
	}
}

func TestStore(t *testing.T) {
	plan := recordtest.Plan(3, 4)
	path := fakeRun(t, plan, 3)
	checkComplete(t, path, plan, 3)
	data := readFile(t, path)
	header, _, _ := strings.Cut(string(unsummed(data)), "block: 1\n")
	want := `# Written by benchrun run; never edited. See docs/results-format.md.
commit: 0123456789abcdef
toolchain: go version go1.26.8 linux/amd64
started: 2001-09-09T01:46:40Z
plan: ` + plan.ID() + `
seed: 7
benchtime: 1x
# plan: {"cpu":[1,2],"blocks":4,"time":"1x","seed":7,"benchmem":false,"timeout":60000000000,"packages":["./..."],"bench":".","subjects":{"example.com/a":"00","example.com/b":"11"}}
# case: example.com/a BenchmarkB
# case: example.com/a BenchmarkB-2
# case: example.com/a BenchmarkB/x=1
pkg: example.com/b
# skip: case=BenchmarkAbsent-2 reason="needs a board"
# hole: pkg=example.com/c reason="does not build"
`
	if header != want {
		t.Errorf("header\n%s\nwant\n%s", header, want)
	}
	// The third step is BenchmarkB-2 on one processor: it is tried twice, and
	// the hole stands at its case.
	if n := strings.Count(string(data), "case: 3\n# hole: case=BenchmarkB-2 block="); n != 4 {
		t.Errorf("%d holes, want 4 in\n%s", n, data)
	}
	if n := strings.Count(string(data), `reason="crashed: panic: \"oh\""`); n != giveUpAfter {
		t.Errorf("tried %d times, want %d", n, giveUpAfter)
	}
	if n := strings.Count(string(data), `reason="not tried any more after it failed 2 times in a row"`); n != 2 {
		t.Errorf("not tried %d times, want 2", n)
	}

	// The comparison shows all of it.
	c, err := compare.Compare([]string{path}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(c.Warnings, "\n")
	for _, want := range []string{"missing results in run.bench, measurements that were due and failed: 5", "no results of example.com/c in run.bench, missing: does not build"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("warnings %q lack %q", warnings, want)
		}
	}
	if h := c.Files[0].Holes; len(h) != 6 || h[0] != (record.Hole{Pkg: "example.com/b", Case: "BenchmarkAbsent-2", Kind: failure.Skip, Reason: "needs a board", Skipped: true}) || h[2].Kind != failure.Crash || h[1].Name() != "example.com/c" {
		t.Errorf("holes %+v", h)
	}
	for _, bad := range []string{"pooled", "differ", "unpaired"} {
		if strings.Contains(warnings, bad) {
			t.Errorf("%q in the warnings of a run: %q", bad, warnings)
		}
	}

	if _, err := record.Create(path, plan, someCircumstances, nil, time.Now()); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("an existing file: %v", err)
	}
}

// internal/record/FORMAT.md has everything that stands in a file.
func TestDocumentHasEveryKey(t *testing.T) {
	doc := readFile(t, "../record/FORMAT.md")
	plan := recordtest.Plan(3, 4)
	data := readFile(t, fakeRun(t, plan, 3))
	turns := recordtest.Sequential()
	turns.Col = "/impl"
	turnsPath, _ := turnsRun(t, turns, new(fakeWorld))
	more := readFile(t, turnsPath)
	text := string(data) + string(more) + "# resumed \n# process: \n# decided: \nslow: x\n"
	// The keys of Describe, also those that this machine has nothing for.
	c := Describe(context.Background(), ".", "", "")
	for _, s := range c.Fixed {
		text += s.Key + ": x\n"
	}
	for _, name := range append([]string{"virtual", "governor", "commit", "dirty"}, record.Environment...) {
		text += strings.ToLower(name) + ": x\n"
	}
	units := regexp.MustCompile(`^Unit (\S+) `)
	config := regexp.MustCompile(`^([a-z][a-z-]*): `)
	comment := regexp.MustCompile(`^# [a-z]+( of block|:)?`)
	seen := 0
	for line := range strings.Lines(text) {
		want := ""
		if m := config.FindStringSubmatch(line); m != nil {
			want = "`" + m[1] + "`"
		} else if m := units.FindStringSubmatch(line); m != nil {
			want = "`" + m[1] + "`"
		} else if m := comment.FindString(line); m != "" {
			want = "- `" + m + " "
		} else {
			continue
		}
		seen++
		if !strings.Contains(string(doc), want) {
			t.Errorf("FORMAT.md lacks %s, of %q", want, line)
		}
	}
	if seen < 60 {
		t.Errorf("only %d lines were looked at", seen)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(asJSON(t, turns)), &fields); err != nil {
		t.Fatal(err)
	}
	for f := range fields {
		if f != "cases" && !strings.Contains(string(doc), "`"+f+"`") {
			t.Errorf("FORMAT.md lacks the plan's field %s", f)
		}
	}
}

// A hole's place in tables is its own, not that of the result before it.
func TestHolesKeepTheOrderOfThePlan(t *testing.T) {
	plan := recordtest.Plan(0, 6)
	plan.CPU = []int{1}
	for _, name := range []string{"impl=ref-a", "impl=b", "impl=c", "impl=d", "impl=e"} {
		plan.Cases = append(plan.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkG/" + name})
	}
	for bad := 1; bad <= 5; bad++ {
		c, err := compare.Compare([]string{fakeRun(t, plan, bad)}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, col := range c.Tables[0].Cols {
			names = append(names, col.Name)
		}
		if got := strings.Join(names, " "); got != "ref-a b c d e" {
			t.Errorf("case %d fails: columns %s", bad, got)
		}
	}
}

// A benchmark that never gives a result is in no table, and told all the same.
func TestNothingButHoles(t *testing.T) {
	plan := recordtest.Plan(0, 2)
	plan.CPU = []int{1}
	plan.Cases = []record.Case{{Pkg: "example.com/a", Name: "BenchmarkG/impl=ref-a"}, {Pkg: "example.com/a", Name: "BenchmarkCrash"}}
	c, err := compare.Compare([]string{fakeRun(t, plan, 2)}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `no results of Crash, so it is in no table: missing in block 1, 2: crashed: panic: "oh"`; !slices.Contains(c.Warnings, want) {
		t.Errorf("warnings %q lack %q", c.Warnings, want)
	}
	if cols := c.Tables[0].Cols; len(cols) != 1 {
		t.Errorf("columns %+v, want one", cols)
	}
}

func TestRunTellsItsProgress(t *testing.T) {
	plan := recordtest.Plan(2, 3)
	s := create(t, filepath.Join(recordtest.Dir(t), "x"), plan)
	defer s.Close()
	var order []record.Step
	w := &watched{after: func(_ int, s record.Step) { order = append(order, s) }}
	must(t, carryOut(context.Background(), plan, s, nil, w, inProcesses(fake(2))))
	if w.total != 12 || w.done != 12 || !slices.Equal(w.blocks, []int{1, 2, 3}) {
		t.Errorf("total %d, done %d, blocks %v", w.total, w.done, w.blocks)
	}
	if want := slices.Concat(plan.Order(1), plan.Order(2), plan.Order(3)); !slices.EqualFunc(order, want, func(s record.Step, u record.Unit) bool { return s == u.Step }) {
		t.Errorf("order %v, want %v", order, want)
	}
	if len(w.holes) != 3 || w.holes[0].Case != "BenchmarkB-2" || w.holes[0].Block != "1" {
		t.Errorf("holes %+v", w.holes)
	}
}

// One failure is an accident; only two in a row end the trying.
func TestRunGivesUpAfterFailuresInARow(t *testing.T) {
	plan := recordtest.Plan(1, 6)
	plan.CPU = []int{1}
	s := create(t, filepath.Join(recordtest.Dir(t), "x"), plan)
	defer s.Close()
	tries := 0
	err := carryOut(context.Background(), plan, s, nil, new(watched), inProcesses(func(s record.Step) (string, error) {
		tries++
		if tries == 2 {
			return fake(0)(s)
		}
		return fake(1)(s)
	}))
	if err != nil || tries != 4 { // fail, good, fail, fail, and no more
		t.Errorf("tried %d times, want 4; %v", tries, err)
	}
}

func TestRunIsInterrupted(t *testing.T) {
	plan := recordtest.Plan(3, 2)
	path := filepath.Join(recordtest.Dir(t), "x")
	s := create(t, path, plan)
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	// The process that runs when the interrupt comes is finished, and kept.
	err := carryOut(ctx, plan, s, nil, new(watched), inProcesses(func(s record.Step) (string, error) {
		if n++; n == 8 {
			cancel()
		}
		return fake(0)(s)
	}))
	if !errors.Is(err, ErrInterrupted) || n != 8 {
		t.Errorf("%d processes, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := entries(t, path); len(got) != 8 {
		t.Errorf("%d entries, want 8", len(got))
	}
	r := interrupted(t, path)
	if r.Ended != 1 || len(r.Done) != 2 || r.Finished() || r.Config["commit"] != "0123456789abcdef" {
		t.Errorf("%+v", r)
	}

	// What is killed is no hole: it is measured when the run goes on.
	s = resume(t, r)
	w := new(watched)
	err = carryOut(context.Background(), plan, s, r, w, inProcesses(func(record.Step) (string, error) { return "", program.ErrKilled }))
	if !errors.Is(err, ErrInterrupted) || w.done != 8 || w.total != 12 {
		t.Errorf("done %d of %d, %v", w.done, w.total, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := entries(t, path); len(got) != 8 {
		t.Errorf("%d entries, want 8", len(got))
	}
	resumeFake(t, path, 0)
	checkComplete(t, path, plan, 0)
}

// What failed too often before an interruption is not tried after it.
func TestResumeRemembersFailures(t *testing.T) {
	plan := recordtest.Plan(2, 4)
	data := readFile(t, fakeRun(t, plan, 2))
	for blocks, want := range map[int]int{1: 1, 2: 0, 3: 0} {
		at := bytes.Index(data, []byte("block: "+strconv.Itoa(blocks+1)))
		path := filepath.Join(recordtest.Dir(t), "x")
		must(t, os.WriteFile(path, append(slices.Clone(data[:at]), "block: "+strconv.Itoa(blocks+1)+"\n"...), 0o644))
		r := interrupted(t, path)
		s := resume(t, r)
		tried := 0
		err := carryOut(context.Background(), r.Plan, s, r, new(watched), inProcesses(func(s record.Step) (string, error) {
			if s.Index == 2 {
				tried++
			}
			return fake(2)(s)
		}))
		if err := errors.Join(err, s.Close()); err != nil || tried != want {
			t.Errorf("after %d blocks it was tried %d times, want %d; %v", blocks, tried, want, err)
		}
	}
}

// A success between failures counts after an interruption as it does without one.
func TestResumeCountsFailuresInARow(t *testing.T) {
	plan := recordtest.Plan(1, 4)
	plan.CPU = []int{1}
	path := filepath.Join(recordtest.Dir(t), "x")
	s := create(t, path, plan)
	ctx, cancel := context.WithCancel(context.Background())
	tries := 0
	measure := func(st record.Step) (string, error) {
		switch tries++; tries {
		case 3:
			cancel()
			fallthrough
		case 1:
			return fake(1)(st)
		}
		return fake(0)(st)
	}
	if err := carryOut(ctx, plan, s, nil, new(watched), inProcesses(measure)); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	must(t, s.Close())
	r := resumeFake(t, path, 0)
	if r.Given[record.StepKey{Index: 1, Copy: 1}] != 0 || !strings.HasPrefix(entries(t, path)["4/1"][0], "example.com/a ") {
		t.Errorf("the benchmark was given up: %v", entries(t, path))
	}
}

// The torn end is gone even if the run ends again at once.
func TestResumeCutsTheTornEndOff(t *testing.T) {
	path := fakeRun(t, recordtest.Plan(2, 2), 0)
	whole := readFile(t, path)
	must(t, os.WriteFile(path, append(slices.Clone(whole), "case: 1\nBenchmark"+strings.Repeat("x", 200)...), 0o644))
	r := interrupted(t, path)
	s := resume(t, r)
	must(t, s.Close())
	now, err := os.ReadFile(path)
	if want := string(unsummed(whole)) + "# resumed 2001-09-09T01:46:40Z\n"; err != nil || !bytes.HasPrefix(now, whole) || string(unsummed(now)) != want {
		t.Errorf("got %q, %v, want %q", now, err, want)
	}
}

// resumeFake goes on with the run at path to its end.
func resumeFake(t testing.TB, path string, bad int) *record.Interrupted {
	t.Helper()
	r := interrupted(t, path)
	s := resume(t, r)
	w := new(watched)
	must(t, carryOut(context.Background(), r.Plan, s, r, w, inProcesses(fake(bad))))
	if w.done != w.total {
		t.Errorf("done %d of %d", w.done, w.total)
	}
	must(t, s.Close())
	return r
}

// Wherever a kill cuts the file off, the run can be resumed from there: complete
// blocks stay as they are, and every step is in every block once.
func TestResumeFromEveryByte(t *testing.T) {
	plan := recordtest.Plan(2, 3)
	const bad = 2
	data := readFile(t, fakeRun(t, plan, bad))
	t.Run("with sums", func(t *testing.T) {
		resumeFromEveryByte(t, plan, bad, data, firstPart(data), func(kept []byte) []byte { return kept[:endOfSum(kept)] })
	})
	data = unsummed(data)
	t.Run("older", func(t *testing.T) {
		resumeFromEveryByte(t, plan, bad, data, bytes.Index(data, []byte("block: 1\n"))+len("block: 1\n"), func(kept []byte) []byte {
			whole := kept[:bytes.LastIndexByte(kept, '\n')+1]
			if i := bytes.LastIndex(whole, []byte("\ncase: ")) + 1; i > 0 && !bytes.Contains(whole[i:], []byte("\nBenchmark")) && !bytes.Contains(whole[i:], []byte("\n# hole: ")) {
				whole = whole[:i] // of a step there is its beginning only
			}
			return whole
		})
	})
}

// unsummed is a results file as it was before there were sums.
func unsummed(data []byte) []byte {
	return regexp.MustCompile("(?m)^# sum: .*\n").ReplaceAll(data, nil)
}

// endOfSum is where the last sum of data ends.
func endOfSum(data []byte) int {
	all := regexp.MustCompile("(?m)^# sum: .*\n").FindAllIndex(data, -1)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1][1]
}

// firstPart is where the first part of a results file ends that has what was measured.
func firstPart(data []byte) int {
	begin := bytes.Index(data, []byte("block: 1\n"))
	sum := begin + bytes.Index(data[begin:], []byte("\n# sum: ")) + 1
	return sum + bytes.IndexByte(data[sum:], '\n') + 1
}

// resumeFromEveryByte cuts data off at each; first is where there is something to resume, and
// kept what of that stays.
func resumeFromEveryByte(t *testing.T, plan *record.Plan, bad int, data []byte, first int, kept func([]byte) []byte) {
	dir := recordtest.Dir(t)
	path := filepath.Join(dir, "run.bench")
	for cut := 0; cut <= len(data); cut++ {
		if testing.Short() && cut%7 != 0 {
			continue
		}
		must(t, os.WriteFile(path, data[:cut], 0o644))
		if cut < first {
			// Nothing has been measured. It must be said, and not go on with
			// half of a header.
			_, err := record.ReadInterrupted(path)
			if err == nil || !strings.Contains(err.Error(), "cannot be resumed: ") {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			continue
		}
		r := resumeFake(t, path, bad)
		whole := kept(data[:cut])
		if ends := bytes.Count(whole, []byte("\n# end of block ")); r.Ended != ends {
			t.Errorf("cut at %d: %d blocks complete, want %d", cut, r.Ended, ends)
		}
		if r.Torn != string(data[len(whole):cut]) {
			t.Errorf("cut at %d: torn %q", cut, r.Torn)
		}
		now := readFile(t, path)
		if !bytes.HasPrefix(now, append(slices.Clip(whole), "# resumed 2001-09-09T01:46:40Z\n"...)) {
			t.Errorf("cut at %d: what was whole has changed", cut)
		}
		checkComplete(t, path, plan, bad)
		if t.Failed() {
			t.Fatalf("cut at %d:\n%s", cut, now)
		}
	}
}

func TestReadInterruptedRefuses(t *testing.T) {
	plan := recordtest.Plan(2, 2)
	data := readFile(t, fakeRun(t, plan, 0))
	good := string(unsummed(data))
	header, _, _ := strings.Cut(good, "block: 1\n")
	line := func(name string) string { return name + " 1 1 ns/op\n" }
	secondBlock := fmt.Sprintf("line %d: \"block: 2\" after the end of block 0", strings.Count(header, "\n")+1)
	for want, text := range map[string]string{
		"there is no plan in it":                                   line("BenchmarkX"),
		"nothing was measured when its run ended; start a new one": header,
		secondBlock:                header + "block: 2\n",
		"after the end of block 0": header + "block: 1\n# end of block 2\n",
		"\"# end of block 1\" after the end of block 1": good[:strings.Index(good, "block: 2\n")] + "# end of block 1\n",
		"\"case: 5\" is no case of the plan":            header + "block: 1\ncase: 5\n" + line("BenchmarkB-2"),
		"\"case: 0\" is no case of the plan":            header + "block: 1\ncase: 0\n" + line("BenchmarkB-2"),
		"\"case: x\" is no case of the plan":            header + "block: 1\ncase: x\n" + line("BenchmarkB-2"),
		"block 1 has case 4 already":                    header + "block: 1\ncase: 4\n" + line("BenchmarkB-2-2") + line("BenchmarkB-2-2"),
		"block 1 has case 3 already":                    header + "block: 1\ncase: 3\n" + line("BenchmarkB-2") + "# hole: case=BenchmarkB-2 block=1 reason=\"\"\n",
		"so it has been changed":                        strings.Replace(good, "# case: example.com/a BenchmarkB\n", "# case: example.com/a BenchmarkC\n", 1),
	} {
		path := filepath.Join(recordtest.Dir(t), "x.bench")
		must(t, os.WriteFile(path, []byte(text), 0o644))
		if _, err := record.ReadInterrupted(path); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+" cannot be resumed: ") {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := record.ReadInterrupted(filepath.Join(recordtest.Dir(t), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Two runs must not append to one file.
func TestResumeWhileAnotherWrites(t *testing.T) {
	plan := recordtest.Plan(2, 2)
	path := filepath.Join(recordtest.Dir(t), "x.bench")
	s := create(t, path, plan)
	s.Block(1, "", plan)
	must(t, s.Sync())
	r := interrupted(t, path)
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("no locks here")
	}
	if _, err := r.Resume(time.Now()); err == nil || !strings.Contains(err.Error(), "another benchrun is writing to") {
		t.Errorf("while it is written: %v", err)
	}
	s.Single(record.Record{Step: plan.Steps()[0], Printed: "BenchmarkB 1 1 ns/op"}, plan)
	must(t, s.Close())
	if _, err := r.Resume(time.Now()); err == nil || !strings.Contains(err.Error(), "has been written to in the meantime") {
		t.Errorf("after it was written: %v", err)
	}
}

// The first error of a write ends the run, and is told.
func TestRunEndsWhenItCannotWrite(t *testing.T) {
	plan := recordtest.Plan(2, 2)
	s := create(t, filepath.Join(recordtest.Dir(t), "x"), plan)
	n := 0
	err := carryOut(context.Background(), plan, s, nil, new(watched), inProcesses(func(st record.Step) (string, error) {
		if n++; n == 2 {
			s.Close()
		}
		return fake(0)(st)
	}))
	if !errors.Is(err, os.ErrClosed) || n != 2 {
		t.Errorf("%d processes, %v", n, err)
	}
	if err := s.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close: %v", err)
	}
}

// Whatever is in a file, reading it to resume does not panic; what can be resumed
// can be finished.
func FuzzReadInterrupted(f *testing.F) {
	for _, bad := range []int{0, 1} {
		data, err := os.ReadFile(fakeRun(f, recordtest.Plan(2, 2), bad))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)*3/4])
		f.Add(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(recordtest.Dir(t), "x")
		must(t, os.WriteFile(path, data, 0o644))
		r, err := record.ReadInterrupted(path)
		if err != nil || r.Plan.Blocks*len(r.Plan.Steps()) > 100 {
			return
		}
		before := r.Ended
		if r.Finished() {
			return
		}
		resumeFake(t, path, 0)
		r, err = record.ReadInterrupted(path)
		if err != nil || !r.Finished() || r.Ended < before {
			t.Fatalf("after resuming: %v", err)
		}
	})
}
