package serial_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// A task that waits for one behind it is reported, by Next and by Wait, and the
// group goes on when it ends after all.
func TestStall(t *testing.T) {
	for _, c := range []struct {
		name string
		conf serial.Config
		want time.Duration
	}{
		{"default", serial.Config{}, time.Minute},
		{"set", serial.Config{StallAfter: time.Second}, time.Second},
		{"least", serial.Config{StallAfter: 1}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := serial.NewGroupWith[int](c.conf, t.Context())
				other := make(chan int)
				_ = g.Go(func(context.Context) (int, error) { return 7, nil })
				_ = g.Go(func(context.Context) (int, error) { return <-other, nil })
				_ = g.Go(func(context.Context) (int, error) { return 2, nil })
				_ = g.Go(func(context.Context) (int, error) { return 3, nil })
				g.Close()
				if r, ok, err := g.Next(t.Context()); r.Value != 7 || !ok || err != nil {
					t.Fatalf("first Next: %v, %v, %v", r, ok, err)
				}
				start := time.Now()
				var stall *serial.StallError
				if _, ok, err := g.Next(t.Context()); ok || !errors.As(err, &stall) {
					t.Fatalf("Next of the stalled task: %v, %v", ok, err)
				}
				if *stall != (serial.StallError{Task: 2, Waiting: 2, After: c.want}) {
					t.Errorf("stall: %+v", *stall)
				}
				// The clock is armed with the task before: one period, or two.
				if took := time.Since(start); took < c.want || took > 2*c.want {
					t.Errorf("reported after %v, want %v to %v", took, c.want, 2*c.want)
				}
				if err := g.Wait(); !errors.As(err, &stall) {
					t.Errorf("Wait while stalled: %v", err)
				}
				if _, _, err := g.Next(t.Context()); !errors.As(err, &stall) {
					t.Errorf("Next while stalled: %v", err)
				}
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				if _, _, err := g.Next(ended); err != context.Canceled {
					t.Errorf("Next while stalled, with a context that has ended: %v", err)
				}
				other <- 1
				for want := 1; want <= 3; want++ {
					synctest.Wait()
					if r, ok, err := g.Next(t.Context()); r.Value != want || !ok || err != nil {
						t.Errorf("after the stall: %v, %v, %v, want %d", r, ok, err, want)
					}
				}
				if err := g.Wait(); err != nil {
					t.Errorf("Wait at the end: %v", err)
				}
			})
		})
	}
}

func TestWaitReportsStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := serial.NewGroup[int](t.Context())
		other := make(chan int, 1)
		_ = g.Go(func(context.Context) (int, error) { return <-other, nil })
		_ = g.Go(func(context.Context) (int, error) { other <- 1; return 2, nil })
		var stall *serial.StallError
		if err := g.Wait(); !errors.As(err, &stall) || stall.Task != 1 || stall.Waiting != 1 {
			t.Errorf("Wait: %v", err)
		}
		want := "serial: task 1 has not finished for 1m0s while 1 more wait for their turn: tasks run one at a time here," +
			" so one that waits for another never ends; use an implementation that promises Overlap, or a longer StallAfter"
		if stall != nil && stall.Error() != want {
			t.Errorf("text: %q", stall.Error())
		}
		other <- 1
		synctest.Wait()
		if err := g.Wait(); err != nil {
			t.Errorf("Wait after the stall: %v", err)
		}
	})
}

// Long is not stalled: with nothing behind it, with another task by the time the
// watchdog fires, or with StallAfter negative.
func TestNoStall(t *testing.T) {
	sleep := func(d time.Duration) group.TaskFunc[int] {
		return func(context.Context) (int, error) { time.Sleep(d); return 0, nil }
	}
	for _, c := range []struct {
		name  string
		conf  serial.Config
		tasks []time.Duration
	}{
		{"alone", serial.Config{}, []time.Duration{time.Hour}},
		{"one after the other", serial.Config{}, []time.Duration{50 * time.Second, 50 * time.Second, 50 * time.Second, 50 * time.Second}},
		{"never", serial.Config{StallAfter: -1}, []time.Duration{time.Hour, time.Hour}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := serial.NewGroupWith[int](c.conf, t.Context())
				for _, d := range c.tasks {
					_ = g.Go(sleep(d))
				}
				if err := g.Wait(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Both measure for how long a task has kept another one waiting, and go on measuring.
func TestStallIsMeasured(t *testing.T) {
	const after = time.Minute
	for name, begin := range map[string]func() (start func(f func()) (wait func() error)){
		"group": func() func(func()) func() error {
			g := serial.NewGroup[int](context.Background())
			return func(f func()) func() error {
				_ = g.Go(func(context.Context) (int, error) { f(); return 0, nil })
				return g.Wait
			}
		},
		"executor": func() func(func()) func() error {
			x := serial.NewExecutor()
			return func(f func()) func() error {
				h := task.Start(x, func(context.Context) error { f(); return nil })
				return func() error { return h.Wait(context.Background()) }
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := begin()
				waited := make(chan error, 1)
				// One that kept another one waiting has done so before.
				first, second := start(func() {}), start(func() {})
				if err := errors.Join(first(), second()); err != nil {
					t.Errorf("Wait: %v", err)
				}
				// One that is alone for a while, and not alone for less than that.
				wait := start(func() { time.Sleep(after + after/2) })
				go func() { waited <- wait() }()
				time.Sleep(after * 3 / 4)
				second = start(func() {})
				if err := errors.Join(<-waited, second()); err != nil {
					t.Errorf("a task was waited for for less than a minute: %v", err)
				}
				// One that blocks, alone at first; those that come do not put off the report.
				gate := make(chan struct{})
				wait = start(func() { <-gate })
				go func() { waited <- wait() }()
				time.Sleep(time.Hour)
				for i := range time.Duration(4) {
					var stall *serial.StallError
					select {
					case err := <-waited:
						if !errors.As(err, &stall) || i != 3 {
							t.Errorf("Wait after %v: %v", i*after*2/5, err)
						}
					default:
						if i == 3 {
							t.Error("a task has blocked others for more than a minute, and Wait goes on")
						}
					}
					start(func() {})
					time.Sleep(after * 2 / 5)
				}
				now := time.Now()
				var stall *serial.StallError
				if err := wait(); !errors.As(err, &stall) || time.Since(now) != 0 {
					t.Errorf("Wait for what is blocked: %v after %v", err, time.Since(now))
				}
				close(gate)
				synctest.Wait()
				if err := start(func() {})(); err != nil {
					t.Errorf("Wait after the stall: %v", err)
				}
			})
		})
	}
}
