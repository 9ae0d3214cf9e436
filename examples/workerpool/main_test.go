package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/dynolab/dyno/impls"
)

var errPaper = errors.New("out of paper")

// jammed is a writer that fails.
type jammed struct{}

func (jammed) Write([]byte) (int, error) { return 0, errPaper }

// small is a pool that is short of workers and of room.
func small(s *service) config {
	return config{jobs: 300, workers: 3, room: 2, flaky: 5, bad: 50, service: s}
}

// TestWorkerpool: every job is done once or given up, however often workers are
// restarted and replaced.
func TestWorkerpool(t *testing.T) {
	sum := 0
	for n := 1; n <= 300; n++ {
		if n%50 != 0 {
			sum += divisors(n)
		}
	}
	want := fmt.Sprintf("294 jobs done, 6 given up: [50 100 150 200 250 300]\nthe results add up to %d\n", sum)
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			var out strings.Builder
			s := &service{}
			if err := run(context.Background(), small(s), &out, impl.NewDispatcher()); err != nil {
				t.Fatal(err)
			}
			got, last, _ := strings.Cut(out.String(), "on the way there")
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			// 54 jobs find the service busy and are done at the second call; the
			// others are decided at the first.
			if n := s.called(); n != 300+54 {
				t.Errorf("the service was called %d times, want %d", n, 300+54)
			}
			var failures, restarts, replaced, suspends int
			if _, err := fmt.Sscanf(last, " (this differs from run to run): %d failures, %d restarts, %d workers replaced, the pool suspended %d times", &failures, &restarts, &replaced, &suspends); err != nil {
				t.Fatalf("%v: %q", err, last)
			}
			// A worker that fails is restarted or replaced; when the last job is
			// given up, three may have that before them. Six are stopped for their
			// jobs, so there have been nine, of which each is restarted five times.
			// That is not enough for all.
			if failures != 60 || restarts+replaced > 60 || restarts+replaced < 57 || replaced <= 6 || suspends == 0 {
				t.Errorf("%s", last)
			}
		})
	}
}

// TestInterrupt: whenever it comes, the program says so and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			for _, at := range []int{1, 50, 250} {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				s := &service{onCall: func(calls int) {
					if calls == at {
						cancel()
					}
				}}
				cfg := small(s)
				cfg.jobs = 1 << 16
				var out strings.Builder
				err := run(ctx, cfg, &out, impl.NewDispatcher())
				if err == nil || !strings.HasPrefix(err.Error(), "interrupted after ") || out.Len() > 0 {
					t.Errorf("interrupted at call %d: run returned %v and wrote %q", at, err, &out)
				}
				if n := s.called(); n < at || n >= cfg.jobs {
					t.Errorf("interrupted at call %d: the service was called %d times", at, n)
				}
			}
		})
	}
}

// TestFailure: the program cannot write, and says so.
func TestFailure(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			if err := run(context.Background(), small(nil), jammed{}, impl.NewDispatcher()); !errors.Is(err, errPaper) {
				t.Errorf("run returned %v, want %v", err, errPaper)
			}
		})
	}
}

// TestLog: what happens to workers can be read in the log, with its dead letters.
func TestLog(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			var log bytes.Buffer // written by one goroutine, which has ended when run returns
			cfg := config{jobs: 20, workers: 1, room: 20, bad: 10, flaky: 7, log: &log, level: slog.LevelInfo}
			if err := run(context.Background(), cfg, &strings.Builder{}, impl.NewDispatcher()); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				`level=ERROR msg="actor failed" actor=/user/worker-1 pid=4 error="actor: panicked: the service is busy" message=main.job`,
				`level=WARN msg="supervisor decided" actor=/user/worker-1 pid=4 parent=/user directive=restart cause="actor: panicked: the service is busy" restarts=1 delay=`,
				`level=WARN msg="actor restarted" actor=/user/worker-1 pid=4 cause="actor: panicked: the service is busy" restarts=1`,
				`level=WARN msg="dead letter" actor=/user/worker-1 pid=4 message=main.job reason="actor: the actor failed on the message" cause="the service will never do this"`,
				`level=WARN msg="dead letter" actor=/user/worker-1 pid=4 message=main.job reason="actor: the actor has stopped"`,
				`level=INFO msg="worker-1 is replaced: the service will never do this" actor=/user`,
			} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log does not contain\n%s\nbut is\n%s", want, &log)
				}
			}
		})
	}
}

func TestAbridged(t *testing.T) {
	var jobs []job
	for n := range job(12) {
		jobs = append(jobs, n+1)
	}
	for n, want := range map[int]string{
		0: "[]", 10: "[1 2 3 4 5 6 7 8 9 10]", 11: "[1 2 3 4 5 6 7 8 9 … 11]", 12: "[1 2 3 4 5 6 7 8 9 … 12]",
	} {
		if got := fmt.Sprint(abridged(jobs[:n])); got != want {
			t.Errorf("%d jobs: got %s, want %s", n, got, want)
		}
	}
}
