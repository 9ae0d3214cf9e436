package runner

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
)

// turns is a Config whose benchmarks take turns.
func turns() Config {
	return Config{
		Bench: ".", Blocks: 4, Time: "100ms", Idle: IdleOff,
		Mode: record.ModeAuto, Control: true, Rounds: 20, Slice: time.Millisecond, Schedule: ScheduleFixed,
	}
}

// given returns a Config.Given for flags.
func given(flags ...string) func(string) bool {
	return func(flag string) bool {
		for _, f := range flags {
			if f == flag {
				return true
			}
		}
		return false
	}
}

func TestPlan(t *testing.T) {
	c := turns()
	c.CPU, c.Seed, c.Given = []int{4, 1, 4}, 7, given("seed")
	p := c.plan(nil)
	want := &record.Plan{
		CPU: []int{1, 4}, Blocks: 4, Time: "100ms", Seed: 7, Bench: ".", Timeout: time.Minute + time.Second,
		Mode: record.ModeAuto, Control: true, Rounds: 20, Slice: time.Millisecond, Layouts: 4,
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got\n%+v\nwant\n%+v", p, want)
	}
	c.CPU, c.Mode, c.Timeout = nil, record.ModeProcess, time.Second
	p = c.plan(nil)
	want = &record.Plan{CPU: []int{runtime.GOMAXPROCS(0)}, Blocks: 4, Time: "100ms", Seed: 7, Bench: ".", Timeout: time.Second}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("of processes: got\n%+v\nwant\n%+v", p, want)
	}
	c.Given = nil
	if one, two := c.plan(nil).Seed, c.plan(nil).Seed; one == two {
		t.Errorf("two random seeds are %d", one)
	}
	c.Schedule = ScheduleSequential
	if p := c.plan(nil); len(p.Looks) == 0 || p.Alpha == 0 || p.Margin == 0 {
		t.Errorf("a sequential plan has looks %v, alpha %v and margin %v", p.Looks, p.Alpha, p.Margin)
	}
}

// Of a run that is resumed, what is not given is what it was.
func TestPlanOfAResumedRun(t *testing.T) {
	was := &record.Plan{
		CPU: []int{3}, Blocks: 9, Time: "9x", Seed: 9, Benchmem: true, Bench: "Nine", Timeout: 9 * time.Second,
		Mode: record.ModeTurns, Col: "side", Rounds: 9, Slice: 9 * time.Millisecond, Layouts: 3, Trial: 3,
		Looks: []int{5, 9}, Alpha: 0.01, Margin: 0.09,
	}
	c := turns()
	from := &record.Interrupted{Plan: was}
	if p := c.plan(from); !reflect.DeepEqual(p, was) {
		t.Errorf("nothing given: got\n%+v\nwant\n%+v", p, was)
	}
	c.Seed, c.CPU = 5, []int{5}
	c.Given = given("cpu", "blocks", "time", "seed", "benchmem", "bench", "timeout", "mode", "control", "rounds", "slice", "layouts", "plan")
	want := c.plan(nil)
	want.Col, want.Trial = was.Col, was.Trial // for which there are no flags
	if p := c.plan(from); !reflect.DeepEqual(p, want) {
		t.Errorf("all given: got\n%+v\nwant\n%+v", p, want)
	}
}

func TestResume(t *testing.T) {
	r, _ := newRunner()
	j, _ := newJob(t, 1)
	j.plan.Packages = []string{"./a"}
	j.here = &record.Circumstances{Machine: "box", Fixed: []record.Setting{{Key: "machine", Values: []string{"box"}}}}
	if err := r.run(t.Context(), IdleOff, prepared(j), nil); err != nil {
		t.Fatal(err)
	}
	c := Config{Resume: j.path}
	if from, err := c.resume(false, ""); err != nil || from == nil || c.Machine != "box" || c.Packages[0] != "./a" {
		t.Errorf("%v; %+v", err, c)
	}
	c = Config{Resume: j.path, Machine: "other", Given: given("machine")}
	if _, err := c.resume(false, ""); err != nil || c.Machine != "other" {
		t.Errorf("%v; the machine that was given is %q", err, c.Machine)
	}
	if from, err := new(Config).resume(true, ""); from != nil || err != nil {
		t.Errorf("of no run: %v, %v", from, err)
	}
	for _, c := range []Config{{Resume: j.path, Packages: []string{"."}}, {Resume: j.path, Out: "x"}} {
		if _, err := c.resume(len(c.Packages) > 0, "all alone"); err == nil || err.Error() != "--resume goes on in its own file all alone" {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// What is complete stays as it is.
	var said strings.Builder
	path, err := New(console.New(&said, 0), "").Packages(t.Context(), Config{Resume: j.path, Idle: IdleOff}, nil)
	if err != nil || path != j.path || said.String() != j.path+" is complete: all 1 blocks are there\n" {
		t.Errorf("%q, %v, said %q", path, err, said.String())
	}
}

func TestCheck(t *testing.T) {
	there := filepath.Join(t.TempDir(), "r.bench")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	good := turns()
	if err := good.check(good.plan(nil)); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(c *Config){
		`--idle is "soon"; it must be one of warn, wait, off`:           func(c *Config) { c.Idle = "soon" },
		`--plan is "good"; it must be one of fixed, sequential`:         func(c *Config) { c.Schedule = "good" },
		`--machine is "a/b"; it becomes the name of a folder`:           func(c *Config) { c.Machine = "a/b" },
		there + ` is there already: choose another --out`:               func(c *Config) { c.Out = there },
		`--out none/r: there is no folder none; make it first`:          func(c *Config) { c.Out = "none/r" },
		`--blocks is 0; it must be at least 1`:                          func(c *Config) { c.Blocks = 0 },
		`--out ` + there + `/r: there is no folder ` + there + `; make`: func(c *Config) { c.Out = there + "/r" },
	} {
		c := turns()
		change(&c)
		if err := c.check(c.plan(nil)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestResultsPath(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	dir := t.TempDir() // in no module
	if got, want := resultsPath(t.Context(), dir, "box", "truth-", short(""), at), filepath.Join(dir, "results/box/truth-20261122-010203-nocommit.bench"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	taken := filepath.Join(dir, "results/box/truth-20261122-010203-nocommit.bench")
	if err := os.MkdirAll(filepath.Dir(taken), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"truth-20261122-010203-nocommit.2.bench", "truth-20261122-010203-nocommit.3.bench"} {
		if err := os.WriteFile(taken, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if taken = resultsPath(t.Context(), dir, "box", "truth-", short(""), at); filepath.Base(taken) != want {
			t.Errorf("a second run in the same second: %s, want %s", taken, want)
		}
	}
	if got, want := resultsPath(t.Context(), ".", "box", "", short("0123456789ab"), at), filepath.FromSlash("../../results/box/20261122-010203-01234567.bench"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
