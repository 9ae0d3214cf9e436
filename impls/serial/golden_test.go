package serial_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// playTasks runs a program of tasks in which every kind of scheduling point occurs,
// and returns what it did.
func playTasks(s serial.Schedule) string {
	x := serial.NewExecutorWith(serial.ExecutorConfig{Schedule: s})
	var out strings.Builder
	var fs []*task.Future[int]
	for i := range 4 {
		fs = append(fs, task.Go(x, func(ctx context.Context) (int, error) {
			fmt.Fprintf(&out, "%d", i)
			_ = task.Yield(ctx)
			sum := i
			for k := range 2 {
				f := task.Fork(ctx, func(ctx context.Context) (int, error) {
					fmt.Fprintf(&out, "%c", 'a'+2*i+k)
					err := task.Yield(ctx)
					fmt.Fprintf(&out, "%c", 'A'+2*i+k)
					return 10, err
				})
				if k == 1 && i == 2 {
					f.Cancel()
				}
				v, _ := f.Value(ctx)
				sum += v
			}
			if i > 0 {
				v, err := fs[i-1].Value(ctx)
				return sum + v, err
			}
			return sum, nil
		}))
	}
	steps := x.Flush(0)
	v, err := fs[3].Value(context.Background())
	fmt.Fprintf(&out, " %d %v, %d steps", v, err, steps)
	return out.String()
}

// playGroup runs the tasks of a group.
func playGroup(s serial.Schedule) string {
	var out strings.Builder
	g := serial.NewGroupWith[int](serial.Config{Schedule: s}, context.Background())
	for i := range 4 {
		_ = g.Go(func(context.Context) (int, error) {
			fmt.Fprintf(&out, "%d", i)
			if i%2 == 0 {
				_ = g.Go(func(context.Context) (int, error) { fmt.Fprintf(&out, "%c", 'a'+i); return 10 * i, nil })
			}
			return i, nil
		})
	}
	sum := 0
	for range 6 {
		r, _, _ := g.Next(context.Background())
		sum += r.Value
	}
	g.Close()
	return fmt.Sprint(out.String(), " ", sum, " ", g.Wait())
}

// playActors runs a guardian that spawns three actors, who tell each other.
func playActors(t *testing.T, s serial.Schedule) string {
	var out strings.Builder
	d := serial.NewDispatcherWith(serial.DispatcherConfig{Schedule: s})
	system := newSystem(t, d, func(ctx *actor.Context, _ any) error {
		var refs [3]actor.Ref
		for i := range refs {
			r, err := ctx.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
				n := msg.(int)
				fmt.Fprintf(&out, "%c%d", 'a'+i, n)
				if n > 0 {
					return ctx.Tell(refs[(i+n)%3], n-1)
				}
				return nil
			}))
			if err != nil {
				return err
			}
			refs[i] = r
		}
		for i, r := range refs {
			if err := ctx.Tell(r, i); err != nil {
				return err
			}
		}
		return nil
	})
	system.Send(system.UserGuardian(), "go")
	system.RunUntilIdle()
	return out.String()
}

// One seed is one interleaving, of tasks, of groups and of actors: every time, on
// every machine, and in every later version. The traces are in testdata;
// DYNO_REWRITE=1 writes them anew, which is a change that users notice.
func TestGoldenTraces(t *testing.T) {
	programs := []struct {
		name string
		play func(serial.Schedule) string
	}{{"tasks", playTasks}, {"group", playGroup}, {"actors", func(s serial.Schedule) string { return playActors(t, s) }}}
	record := func(b *strings.Builder, play func(serial.Schedule) string, s serial.Schedule) (choices []int) {
		s.Record = func(c serial.Choice) { choices = append(choices, c.Index); fmt.Fprintln(b, c) }
		text := play(s)
		fmt.Fprintf(b, "= %s\n\n", text)
		return choices
	}
	all := func() string {
		var b strings.Builder
		for _, p := range programs {
			for order, name := range []string{"FIFO", "Seeded", "PCT"} {
				for seed := range uint64(2) {
					fmt.Fprintf(&b, "# %s, %s, seed %d\n", p.name, name, seed)
					record(&b, p.play, serial.Schedule{Order: serial.Order(order), Seed: seed, Steps: 30})
				}
			}
		}
		return b.String()
	}
	const file = "testdata/traces.txt"
	if os.Getenv("DYNO_REWRITE") != "" {
		if err := os.WriteFile(file, []byte(all()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(golden), "\r\n", "\n")
	for i := range 100 {
		if got := all(); got != want {
			t.Fatalf("run %d: the traces differ from %s; now they are:\n%s", i, file, got)
		}
	}
	// What was recorded can be replayed, and no choices are first in, first out.
	for _, p := range programs {
		for seed := range uint64(200) {
			for _, order := range []serial.Order{serial.Seeded, serial.PCT} {
				var first, second strings.Builder
				choices := record(&first, p.play, serial.Schedule{Order: order, Seed: seed, Steps: 30})
				record(&second, p.play, serial.Schedule{Order: serial.Replay, Choices: choices})
				if first.String() != second.String() {
					t.Fatalf("%s, order %d, seed %d: recorded\n%s\nreplayed\n%s", p.name, order, seed, first.String(), second.String())
				}
			}
		}
		// (An actor may handle several messages in one turn with the one, and not with
		// the other.)
		if fifo, none := p.play(serial.Schedule{}), p.play(serial.Schedule{Order: serial.Replay}); none != fifo && p.name != "actors" {
			t.Errorf("%s: replay of nothing %q, first in, first out %q", p.name, none, fifo)
		}
	}
}
