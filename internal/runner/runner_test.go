package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A fakeSubject measures at once. before is called before each step, with how many there
// were.
type fakeSubject struct {
	steps  int
	before func(n int) error
}

func (f *fakeSubject) Measure(_ context.Context, block int, s record.Step) (record.Record, error) {
	if f.before != nil {
		if err := f.before(f.steps); err != nil {
			return session.Single(s, block, "", nil, err)
		}
	}
	f.steps++
	return session.Single(s, block, s.FullName()+" 1 5 ns/op", nil, nil)
}

func (*fakeSubject) Start(int, record.Step, []string) (session.Driver, error) {
	return nil, errors.New("takes no turns")
}

// newRunner returns a Runner, and what it says.
func newRunner() (*Runner, *strings.Builder) {
	said := new(strings.Builder)
	return New(console.New(said, 0), "benchrun run"), said
}

// newJob returns a job of so many blocks of two cases.
func newJob(t *testing.T, blocks int) (*job, *fakeSubject) {
	subject := new(fakeSubject)
	return &job{
		plan: &record.Plan{
			Blocks: blocks, CPU: []int{1}, Time: "1x", Timeout: time.Second, Seed: 5, Bench: ".",
			Cases: []record.Case{{Pkg: "m", Name: "BenchmarkX"}, {Pkg: "m", Name: "BenchmarkY"}},
		},
		subject: subject,
		here:    new(record.Circumstances),
		path:    filepath.Join(t.TempDir(), "r.bench"),
		absent:  []record.Hole{{Pkg: "m", Case: "BenchmarkZ", Reason: "why not", Skipped: true}},
	}, subject
}

// resumed returns j anew, to go on with what there is of it.
func resumed(t *testing.T, j *job) *job {
	t.Helper()
	from, err := record.ReadInterrupted(j.path)
	if err != nil {
		t.Fatal(err)
	}
	plan := *j.plan
	return &job{plan: &plan, subject: new(fakeSubject), here: j.here, from: from}
}

// prepared is what run is given for jobs that are there.
func prepared(jobs ...*job) func(context.Context) ([]*job, error) {
	return func(context.Context) ([]*job, error) { return jobs, nil }
}

// Jobs are measured one after another, then what follows is called, and then it is
// cleaned up, the last first.
func TestRun(t *testing.T) {
	r, said := newRunner()
	one, first := newJob(t, 2)
	two, second := newJob(t, 1)
	two.title = "the second"
	var did []string
	r.AfterBlock = func(path string, block int) {
		if data, err := os.ReadFile(path); err != nil || path != one.path || strings.Count(string(data), "# end of block ") != block {
			t.Errorf("after block %d there is %s: %v", block, data, err)
		}
		did = append(did, fmt.Sprint(block))
	}
	do := func(what string) func() { return func() { did = append(did, what) } }
	err := r.run(t.Context(), IdleOff, func(context.Context) ([]*job, error) {
		r.cleanUp = append(r.cleanUp, do("a"), do("b"))
		return []*job{one, two}, nil
	}, func(context.Context) error { do("then")(); return nil })
	if err != nil || first.steps != 4 || second.steps != 2 || !one.begun || !two.begun {
		t.Errorf("%v; %d and %d steps", err, first.steps, second.steps)
	}
	if want := []string{"1", "then", "b", "a"}; !slices.Equal(did, want) {
		t.Errorf("did %q, want %q", did, want)
	}
	want := fmt.Sprintf(`measuring 2 benchmarks in 2 blocks, 4 processes, about 200ms; order by seed 5
results: %s
block 1 of 2 done, some time left
block 2 of 2 done
the second:
measuring 2 benchmarks in 1 block, 2 processes, about 100ms; order by seed 5
results: %s
block 1 of 1 done
`, one.path, two.path)
	if got := regexp.MustCompile(`\S+ left`).ReplaceAllString(said.String(), "some time left"); got != want {
		t.Errorf("said\n%s\nwant\n%s", got, want)
	}
	data, err := os.ReadFile(one.path)
	if err != nil || !strings.Contains(string(data), `# skip: case=BenchmarkZ reason="why not"`) {
		t.Errorf("%v: what is absent is not in\n%s", err, data)
	}
}

// Nothing to measure is no error, and nothing follows.
func TestRunOfNothing(t *testing.T) {
	r, said := newRunner()
	err := r.run(t.Context(), IdleOff, prepared(), func(context.Context) error { return errors.New("called") })
	if err != nil || said.Len() > 0 {
		t.Errorf("%v, said %q", err, said)
	}
}

// An interrupt before anything is measured ends it all, whatever it broke.
func TestInterruptedEarly(t *testing.T) {
	for name, broke := range map[string]error{"preparing": errors.New("does not build"), "prepared": nil} {
		t.Run(name, func(t *testing.T) {
			r, said := newRunner()
			j, _ := newJob(t, 1)
			ctx, cancel := context.WithCancel(t.Context())
			cleaned := false
			err := r.run(ctx, IdleOff, func(context.Context) ([]*job, error) {
				r.cleanUp = append(r.cleanUp, func() { cleaned = true })
				cancel()
				return []*job{j}, broke
			}, nil)
			if !errors.Is(err, session.ErrInterrupted) || j.begun || !cleaned {
				t.Errorf("%v; begun: %t, cleaned up: %t", err, j.begun, cleaned)
			}
			if got := said.String(); got != "interrupted before anything was measured\n" {
				t.Errorf("said %q", got)
			}
		})
	}
}

// An interrupted run says how to go on, and that is how it goes on: what was measured is
// not measured again. What comes after it is not begun.
func TestInterruptedAndResumed(t *testing.T) {
	r, said := newRunner()
	j, subject := newJob(t, 2)
	next, _ := newJob(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	subject.before = func(n int) error {
		if n == 3 {
			cancel()
			return program.ErrKilled
		}
		return nil
	}
	err := r.run(ctx, IdleOff, prepared(j, next), func(context.Context) error { return errors.New("called") })
	if err != session.ErrInterrupted || next.begun {
		t.Errorf("%v; the next begun: %t", err, next.begun)
	}
	if want := "interrupted; what was measured is kept. To go on:\n  benchrun run --resume " + console.ShellWord(j.path) + "\n"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("said\n%s\nwithout\n%s", said, want)
	}
	r, said = newRunner()
	rest := resumed(t, j)
	if err := r.run(t.Context(), IdleOff, prepared(rest), nil); err != nil || rest.subject.(*fakeSubject).steps != 1 {
		t.Errorf("%v after %d steps", err, rest.subject.(*fakeSubject).steps)
	}
	for _, want := range []string{"in 2 blocks, 1 process,", "\n3 of 4 processes are done already\n", "results: " + j.path} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if from, err := record.ReadInterrupted(j.path); err != nil || !from.Finished() {
		t.Errorf("%v; finished: %t", err, from.Finished())
	}
}

// What was being written when a run was killed is told, and measured again.
func TestResumedTorn(t *testing.T) {
	for torn, what := range map[string]string{"case: 2\nBenchmarkY 1": "line", "# row \"X\" of block 1\ncase: 1\n": "row"} {
		j, _ := newJob(t, 1)
		store, err := j.open(console.New(new(strings.Builder), 0))
		if err != nil {
			t.Fatal(err)
		}
		store.Block(1, "", j.plan)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(j.path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(torn); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		r, said := newRunner()
		if err := r.run(t.Context(), IdleOff, prepared(resumed(t, j)), nil); err != nil {
			t.Error(err)
		}
		if want := j.path + " ends in the middle of a " + what + "; that one is measured again\n"; !strings.HasPrefix(said.String(), want) {
			t.Errorf("said\n%s\nwithout\n%s", said, want)
		}
	}
}

// A run that is not the same any more is refused, with all that is different, and its file
// stays as it is.
func TestResumedOtherwise(t *testing.T) {
	r, _ := newRunner()
	j, _ := newJob(t, 2)
	if err := r.run(t.Context(), IdleOff, prepared(j), nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(j.path)
	if err != nil {
		t.Fatal(err)
	}
	other := resumed(t, j)
	other.plan.Time = "2x"
	other.here = &record.Circumstances{Fixed: []record.Setting{{Key: "gogc", Values: []string{"50"}}}}
	r, _ = newRunner()
	err = r.run(t.Context(), IdleOff, prepared(other), nil)
	want := j.path + " cannot be resumed, because this is not the same run any more:\n  gogc: none → 50\n  time: 1x → 2x\nstart a new one, or restore what is different"
	if err == nil || err.Error() != want || other.begun {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if after, err := os.ReadFile(j.path); err != nil || string(after) != string(before) {
		t.Errorf("%v: the file has changed", err)
	}
}

// A run that ends because its file cannot be written says how to go on.
func TestUnwritableResultsSayHowToGoOn(t *testing.T) {
	r, _ := newRunner()
	j, _ := newJob(t, 1)
	store, err := j.open(r.con)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil { // now nothing can be written any more
		t.Fatal(err)
	}
	err = r.carryOut(t.Context(), j, store)
	if err == nil || !strings.Contains(err.Error(), "what was measured is kept. To go on:\n  benchrun run --resume "+store.Path) {
		t.Errorf("%v", err)
	}
}

// What is wrong with the input is said before the machine is looked at.
func TestInputBeforeMachine(t *testing.T) {
	var said bytes.Buffer
	r := New(console.New(&said, 80), "benchrun run")
	broken := errors.New("no module")
	err := r.run(t.Context(), IdleWait, func(context.Context) ([]*job, error) { return nil, broken }, nil)
	if !errors.Is(err, broken) || said.Len() > 0 {
		t.Errorf("%v, after %q", err, said.String())
	}
}

// That a folder of results is new is said where git would neither keep nor ignore it.
func TestNewFolder(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	for name, c := range map[string]struct {
		inGit, ignored, there bool
	}{"new": {inGit: true}, "ignored": {inGit: true, ignored: true}, "there": {inGit: true, there: true}, "not in git": {}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
			if c.inGit {
				if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			if c.ignored {
				if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("results/\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			j, _ := newJob(t, 1)
			results := filepath.Join(dir, "results")
			if j.path = filepath.Join(results, "box", "r.bench"); c.there {
				if err := os.Mkdir(results, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			r, said := newRunner()
			if err := r.run(t.Context(), IdleOff, prepared(j), nil); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(said.String(), results+" is new: commit it"); got != (name == "new") {
				t.Errorf("said\n%s", said)
			}
		})
	}
}

// TestLooksOfCounts: looks are at the blocks that a plan has in the end, and one that is resumed keeps
// its own.
func TestLooksOfCounts(t *testing.T) {
	c := &Config{Schedule: ScheduleSequential, Blocks: 12, Time: "1x", tool: new(counter.Tool)}
	plan := c.plan(nil)
	if want := session.ThreeLooks(countBlocks); plan.Blocks != countBlocks || !slices.Equal(plan.Looks, want) {
		t.Errorf("%d blocks with looks %v, want %v", plan.Blocks, plan.Looks, want)
	}
	was := *plan
	was.Blocks, was.Looks = 9, []int{7, 9}
	if plan = c.plan(&record.Interrupted{Plan: &was}); plan.Blocks != 9 || !slices.Equal(plan.Looks, was.Looks) {
		t.Errorf("resumed: %d blocks with looks %v", plan.Blocks, plan.Looks)
	}
}

// TestCountsBesideOthers: another process that measures holds up what times, and not what counts.
func TestCountsBesideOthers(t *testing.T) {
	t.Setenv(machinelock.Env, filepath.Join(t.TempDir(), "lock"))
	lock, err := machinelock.Try("another")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	for _, counts := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		r := New(console.New(writerFunc(func(said []byte) {
			if bytes.Contains(said, []byte("waiting: another process measures")) {
				cancel()
			}
		}), 0), "benchrun run")
		j, subject := newJob(t, 1)
		if counts {
			j.tool = new(counter.Tool)
		}
		err := r.run(ctx, IdleOff, prepared(j), nil)
		cancel()
		if waited := errors.Is(err, session.ErrInterrupted); waited == counts || counts && (err != nil || subject.steps != 2) {
			t.Errorf("counts %v: %d steps, %v", counts, subject.steps, err)
		}
	}
}

// A writerFunc is called with what is written.
type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
