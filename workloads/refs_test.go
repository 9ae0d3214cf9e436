package workloads

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dynolab/dyno/group"
)

// The references are checked as the implementations are. They cannot be
// wrapped, so it is their tasks that are changed.

var errTampered = errors.New("tampered with")

// tampered are tasks that are not number 5 any more.
var tampered = []struct {
	name string
	task group.TaskFunc[int]
	says string
}{
	{"another's value", func(context.Context) (int, error) { return 6, nil }, "task 6"},
	{"no task's value", func(context.Context) (int, error) { return 1 << 20, nil }, "no task returned: value 1048576"},
	{"an error", func(context.Context) (int, error) { return 5, errTampered }, "tampered with"},
}

func TestBatchRefsAreChecked(t *testing.T) {
	for name, newBatch := range map[string]func() *batch{
		"short":    func() *batch { return shortBatch(false) },
		"failfast": func() *batch { return shortBatch(true) },
		"mixed":    mixedBatch,
		"uneven":   unevenBatch,
		"cancel":   cancelBatch,
	} {
		for ref, on := range map[string]func(b *batch) Run{
			refErrgroup:   (*batch).onErrgroup,
			refGoroutines: (*batch).onGoroutines,
			refFloor:      func(b *batch) Run { return b.onFloor(0) },
		} {
			for _, c := range tampered {
				b := newBatch()
				b.tasks[5] = c.task
				run := on(b)
				err := run.Do(300)
				if err == nil {
					err = run.Check()
				}
				// Uneven's values are more than numbers, and fail-fast's others give up.
				says := c.says
				if name == "uneven" && c.name != "an error" {
					says = "no task returned"
				}
				if c.name == "an error" && name == "uneven" {
					says = "value 5"
				}
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s, %s: task 5 with %s: error %v, want one with %q", name, ref, c.name, err, says)
				}
			}
		}
	}
}

func TestFlowRefsAreChecked(t *testing.T) {
	for ref, on := range map[string]func(f *flow) Run{
		refErrgroup: func(f *flow) Run { return f.onErrgroup(1) },
		refWorkers:  func(f *flow) Run { return f.onWorkers(1) },
		refFloor:    func(f *flow) Run { return f.onFloor() },
	} {
		for _, c := range tampered {
			f := newFlow(3000)
			f.tasks[5] = c.task
			run := on(f)
			// More than find room in the channels, if no consumer took them any more.
			err := run.Do(2500)
			if err == nil {
				err = run.Check()
			}
			says := c.says
			if c.name == "another's value" {
				says = "the result of task 5 was seen 0 times instead of 3"
			}
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: task 5 with %s: error %v, want one with %q", ref, c.name, err, says)
			}
		}
	}
}

// What stands for Wait is checked, and a tree that adds up to something else.
func TestRefsCheckTheEnd(t *testing.T) {
	for ref, on := range map[string]func(b *batch) Run{
		refErrgroup:   (*batch).onErrgroup,
		refGoroutines: (*batch).onGoroutines,
		refFloor:      func(b *batch) Run { return b.onFloor(0) },
	} {
		b := shortBatch(true)
		b.waitErr = errTampered
		if err := on(b).Do(10); err == nil || !strings.Contains(err.Error(), "Wait returned") {
			t.Errorf("%s: another error was expected of Wait: error %v", ref, err)
		}
	}
	for ref, prepare := range map[string]func() Run{
		refErrgroup:   nestedOnErrgroup,
		refGoroutines: nestedOnGoroutines,
		refFloor:      nestedOnFloor,
	} {
		run := prepare().(*nestedRun)
		run.upTo[70]++
		if err := run.Do(69); err != nil {
			t.Errorf("%s: 69 leaves: %v", ref, err)
		}
		if err := run.Do(70); err == nil || !strings.Contains(err.Error(), "the leaves add up to") {
			t.Errorf("%s: 70 leaves, of which one weighs more than expected: error %v", ref, err)
		}
	}
}
