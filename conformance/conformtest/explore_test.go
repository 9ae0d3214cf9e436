package conformtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/serial"
)

// scenario returns the planted program as a scenario.
func (b *planted) scenario(wrong bool) func(*Schedule) error {
	return func(s *Schedule) error {
		m := new(computer)
		b.build(m, wrong)
		return m.run(serial.NewExecutorWith(serial.ExecutorConfig{Schedule: follow(s)}), s.Note)
	}
}

func noEnv(string) string { return "" }

// Every planted bug is found, and what it is shrunk to fails, in the same way
// every time, and no longer with any one of its choices put right.
func TestExploreFindsPlantedBugs(t *testing.T) {
	for i := range plantedBugs {
		b := &plantedBugs[i]
		t.Run(b.name, func(t *testing.T) {
			x := &explorer{run: b.scenario(true)}
			f, err := x.explore(1000, noEnv)
			if f == nil {
				t.Fatalf("not found in 1,000 schedules (%v)", err)
			}
			choices := f.schedule.choices()
			if n := deviations(choices); n > f.before {
				t.Errorf("%d choices were made %d", f.before, n)
			}
			again := &Schedule{Choices: choices}
			if err := x.try(again); err == nil || err.Error() != f.err.Error() || again.String() != f.schedule.String() {
				t.Errorf("replayed: %v, want %v\n%s", err, f.err, again)
			}
			for k := range deviations(choices) {
				if less := (&Schedule{Choices: without(choices, k, 1)}); x.try(less) != nil && weight(less.choices()).less(weight(choices)) {
					t.Errorf("%s fails, too, and is shorter than %s", formatChoices(less.choices()), formatChoices(choices))
				}
			}
			for _, given := range []string{"DYNO_SCHEDULE=" + formatChoices(choices), fmt.Sprint("DYNO_SEED=", f.seed)} {
				key, value, _ := strings.Cut(given, "=")
				g, err := x.explore(1000, func(k string) string {
					if k == key {
						return value
					}
					return ""
				})
				if err != nil || g == nil || g.schedule.String() != f.schedule.String() {
					t.Errorf("%s does not repeat it", given)
				}
			}
		})
	}
}

// Without the bug no strategy finds anything.
func TestExploreFindsNothingElse(t *testing.T) {
	n := uint64(200)
	switch {
	case nightly:
		n = 500
	case raceEnabled || testing.Short():
		n = 50
	}
	for i := range plantedBugs {
		b := &plantedBugs[i]
		for k := range strategies {
			if s := b.fails(strategies[k], n); s != nil {
				t.Errorf("%s, without the bug: seed %d of %s: \n%s", b.name, s.Seed, strategies[k].name, s)
			}
		}
	}
}

// strategy is one of those that must find nothing.
type strategy struct {
	name string
	Schedule
}

var strategies = []strategy{
	{"FIFO", Schedule{}},
	{"random walk", Schedule{Strategy: Walk}},
	{"PCT 1", Schedule{Strategy: PCT, Depth: 1}},
	{"PCT 2", Schedule{Strategy: PCT, Depth: 2}},
	{"PCT 3", Schedule{Strategy: PCT, Depth: 3}},
}

// fails returns the first schedule, of the seeds 1 to n, with which the program without its bug fails.
func (b *planted) fails(y strategy, n uint64) *Schedule {
	x := &explorer{run: b.scenario(false)}
	fifo := &Schedule{}
	if x.try(fifo) != nil {
		return fifo
	}
	for seed := uint64(1); seed <= n && y.Strategy != Replay; seed++ {
		s := y.Schedule
		s.Seed, s.Steps = seed, len(fifo.trace)
		if x.try(&s) != nil {
			return &s
		}
	}
	return nil
}

func TestChoicesAsText(t *testing.T) {
	for text, want := range map[string][]int{"fifo": nil, "0:2": {2}, "1:1,4:3": {0, 1, 0, 0, 3}} {
		got, err := parseChoices(text)
		if err != nil || !slices.Equal(got, want) || formatChoices(got) != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "1", "1:", "1:0", "1:1,1:1", "2:1,1:1", "-1:1", "99999999999:1", "1:1,"} {
		if got, err := parseChoices(text); err == nil || !strings.Contains(err.Error(), "want fifo or step:index") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// A scenario that depends on more than the order is said to, and not shrunk.
func TestExploreUnsteadyScenario(t *testing.T) {
	runs := 0
	x := &explorer{run: func(s *Schedule) error {
		s.Record(2, 1, "a")
		if runs++; runs == 2 {
			return errors.New("once")
		}
		return nil
	}}
	f, err := x.explore(10, noEnv)
	if f == nil || err != nil || !strings.Contains(f.err.Error(), "once\nbut its choices, replayed, do not fail") || f.tried != 2 {
		t.Errorf("%+v, %v", f, err)
	}
}

// exploreEnv chooses the scenario that TestExploreChild fails with.
const exploreEnv = "DYNO_CONFORM_TEST_EXPLORE"

// Actors, groups and executors are explored in the same way: here each has a
// bug that first in, first out does not show.
func TestExploreChild(t *testing.T) {
	switch os.Getenv(exploreEnv) {
	case "executor":
		i := slices.IndexFunc(plantedBugs, func(b planted) bool { return b.name == "lost wake-up" })
		Explore(t, 1000, plantedBugs[i].scenario(true))
	case "group":
		Explore(t, 1000, func(s *Schedule) error {
			g := serial.NewGroupWith[int](serial.Config{Schedule: follow(s)}, context.Background())
			opened := false
			for i := range 4 {
				if err := g.Go(func(context.Context) (int, error) {
					s.Note(fmt.Sprint("task ", i))
					if i == 1 {
						opened = true
					}
					if i == 2 && !opened {
						return 0, errors.New("used before it was opened")
					}
					return i, nil
				}); err != nil {
					return err
				}
			}
			return g.Wait()
		})
	case "actor":
		Explore(t, 1000, actorScenario)
	case "hang":
		Explore(t, 10, func(*Schedule) error { <-make(chan int); return nil })
	case "panic":
		Explore(t, 10, func(*Schedule) error { panic("oh") })
	case "right":
		Explore(t, 100, plantedBugs[0].scenario(false))
	default:
		t.Skip("is run by TestExploreOutput")
	}
}

// actorScenario has two senders whose messages are taken to come in the order in
// which the senders were spawned.
func actorScenario(s *Schedule) error {
	var got []int
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: serial.NewDispatcherWith(serial.DispatcherConfig{Schedule: follow(s)}),
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				if n, ok := msg.(int); ok && n > 0 {
					s.Note(fmt.Sprint("gets ", n))
					got = append(got, n)
					return nil
				}
				for n := 1; n <= 2; n++ {
					r, err := ctx.Spawn(actor.Props{New: func() actor.Actor {
						return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error { return ctx.Tell(ctx.Parent(), n) })
					}})
					if err != nil {
						return err
					}
					if err := ctx.Tell(r, 0); err != nil {
						return err
					}
				}
				return nil
			})
		}},
	})
	if err != nil {
		return err
	}
	if err := sys.UserGuardian().Tell(0); err != nil {
		return err
	}
	sys.RunUntilIdle()
	if !slices.Equal(got, []int{1, 2}) {
		return fmt.Errorf("got %v", got)
	}
	return sys.Shutdown(context.Background())
}

// TestExploreOutput holds a failure to its form, and repeats it with the
// commands that it prints.
func TestExploreOutput(t *testing.T) {
	child := func(scenario, run string, env ...string) (string, bool) {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.run="+run)
		cmd.Env = append(append(os.Environ(), exploreEnv+"="+scenario), env...)
		text, err := cmd.CombinedOutput()
		return string(text), err != nil
	}
	repeat := regexp.MustCompile(`(?m)^ +repeat(?: the whole)?: +(DYNO_\w+=\S+) go test -count=1 (?:-cpu=\d+ )?(?:-race )?-run '([^']*)' github.com/dynolab/dyno/conformance/conformtest$`)
	for scenario, parts := range map[string][]string{
		"executor": {"consumer is blocked on cond", "task 1: consumer loads ready: 0"},
		"group":    {"used before it was opened", "task 3: task 2"},
		"actor":    {"got [2 1]", "gets 2"},
		"hang":     {"hangs: every goroutine waits", "schedule: fifo (0 choices"},
		"panic":    {"panicked: oh"},
	} {
		out, failed := child(scenario, "^TestExploreChild$")
		if !failed {
			t.Errorf("%s: the test has not failed:\n%s", scenario, out)
			continue
		}
		for _, part := range append(parts, "a schedule fails", "seed:  ", "shrunk from", "trace: ") {
			if !strings.Contains(out, part) {
				t.Errorf("%s: no %q in:\n%s", scenario, part, out)
			}
		}
		commands := repeat.FindAllStringSubmatch(out, -1)
		if len(commands) != 2 {
			t.Errorf("%s: the commands are %q:\n%s", scenario, commands, out)
		}
		for _, c := range commands {
			if out, failed := child(scenario, c[2], c[1]); !failed || !strings.Contains(out, parts[0]) {
				t.Errorf("%s: %s does not repeat it:\n%s", scenario, c[0], out)
			}
		}
	}
	if out, failed := child("right", "^TestExploreChild$"); failed || strings.Contains(out, "SKIP") {
		t.Errorf("the right scenario:\n%s", out)
	}
	for _, env := range []string{"DYNO_SCHEDULE=x", "DYNO_SEED=x"} {
		if out, failed := child("right", "^TestExploreChild$", env); !failed || !strings.Contains(out, `="x": want`) {
			t.Errorf("%s was not refused:\n%s", env, out)
		}
	}
}
