package group_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/group"
)

func TestResolve(t *testing.T) {
	defaults := group.Config{FailFast: true, PanicToError: true}
	with := func(change func(*group.Config)) group.Config {
		c := defaults
		change(&c)
		return c
	}
	for _, test := range []struct {
		name string
		opts []group.Option
		want group.Config
	}{
		{"none", nil, defaults},
		{"nil options", []group.Option{nil, group.WithFailFast(false), nil}, with(func(c *group.Config) { c.FailFast = false })},
		{"fail-fast on", []group.Option{group.WithFailFast(true)}, defaults},
		{"panic-to-error off", []group.Option{group.WithPanicToError(false)}, with(func(c *group.Config) { c.PanicToError = false })},
		{"limit", []group.Option{group.WithMaxConcurrency(3)}, with(func(c *group.Config) { c.MaxConcurrency = 3 })},
		{"limit zero", []group.Option{group.WithMaxConcurrency(3), group.WithMaxConcurrency(0)}, defaults},
		{"no buffer", []group.Option{group.WithResultBuffer(7), group.WithResultBuffer(0)}, defaults},
		{"buffer", []group.Option{group.WithResultBuffer(7)}, with(func(c *group.Config) { c.ResultBuffer = 7 })},
		{
			"the last one wins",
			[]group.Option{group.WithFailFast(false), group.WithMaxConcurrency(1), group.WithFailFast(true), group.WithMaxConcurrency(2)},
			with(func(c *group.Config) { c.MaxConcurrency = 2 }),
		},
	} {
		if got := group.Resolve(test.opts...); got != test.want {
			t.Errorf("%s: Resolve returned %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A negative number panics where the option is made, on the line that is wrong.
func TestNegativeOptionsPanic(t *testing.T) {
	for _, test := range []struct {
		make func()
		want string
	}{
		{func() { group.WithMaxConcurrency(-1) }, "group: negative concurrency limit"},
		{func() { group.WithResultBuffer(-1) }, "group: negative result buffer"},
	} {
		func() {
			defer func() {
				if v := recover(); v != test.want {
					t.Errorf("panicked with %v, want %q", v, test.want)
				}
			}()
			test.make()
		}()
	}
}

func TestErrorTexts(t *testing.T) {
	for _, err := range []error{group.ErrGroupClosed, group.ErrNilTask, group.ErrGoexit} {
		if !strings.HasPrefix(err.Error(), "group: ") {
			t.Errorf("%q does not say where it comes from", err)
		}
	}
	if errors.Is(group.ErrGroupClosed, group.ErrNilTask) || errors.Is(group.ErrNilTask, group.ErrGoexit) {
		t.Error("two sentinels are the same")
	}
}

type stringer struct{}

func (stringer) String() string { return "as a Stringer" }

func TestPanicErrorText(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "nil"},
		{errors.New("an error"), "an error"},
		{stringer{}, "as a Stringer"},
		{"text", "text"},
		{true, "true"},
		{-3, "-3"},
		{int64(-1 << 40), "-1099511627776"},
		{uint64(1 << 63), "9223372036854775808"},
		{0.25, "0.25"},
		{struct{ x int }{1}, "(a value that is neither error, string nor number)"},
	} {
		e := group.NewPanicError(test.value)
		if want := "group: task panicked: " + test.want; e.Error() != want {
			t.Errorf("a panic with %#v reads %q, want %q", test.value, e.Error(), want)
		}
		if e.Value != test.value {
			t.Errorf("Value is %#v, want %#v", e.Value, test.value)
		}
	}
}

func TestPanicErrorUnwraps(t *testing.T) {
	cause := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	err := fmt.Errorf("outer: %w", group.NewPanicError(cause))
	var pe *fs.PathError
	if !errors.As(err, &pe) || pe != cause || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("errors.As and errors.Is do not see through %v", err)
	}
	var panicked *group.PanicError
	if !errors.As(err, &panicked) || panicked.Value != cause {
		t.Errorf("errors.As does not find the PanicError in %v", err)
	}
	for _, value := range []any{"text", nil, 7} {
		if got := group.NewPanicError(value).Unwrap(); got != nil {
			t.Errorf("a panic with %v unwraps to %v, want nil", value, got)
		}
	}
}

// TestPanicErrorStack recovers panics at several depths: the stack shows the
// function that panicked, and those that led to it. (The runtime shows the 50
// topmost and the 50 lowest calls of a deep one.)
func TestPanicErrorStack(t *testing.T) {
	for _, depth := range []int{0, 50, 2000} {
		e := recoverAt(depth)
		if !strings.Contains(string(e.Stack), "group_test.dive(") || !strings.HasPrefix(string(e.Stack), "goroutine ") {
			t.Errorf("depth %d: the stack does not show the panicking function:\n%.500s", depth, e.Stack)
		}
		if !strings.Contains(string(e.Stack), "group_test.recoverAt(") {
			t.Errorf("depth %d: the bottom of the stack is missing:\n%.500s", depth, e.Stack)
		}
		if cap(e.Stack) != len(e.Stack) {
			t.Errorf("depth %d: an append would write behind the stack", depth)
		}
	}
	// Deep enough to be shown in full, and too long for the first buffer.
	if e := recoverAt(50); strings.Count(string(e.Stack), "group_test.dive(") != 51 {
		t.Errorf("%d of 51 calls are on the stack", strings.Count(string(e.Stack), "group_test.dive("))
	}
}

func recoverAt(depth int) (e *group.PanicError) {
	defer func() { e = group.NewPanicError(recover()) }()
	dive(depth)
	return nil
}

// TestPanicErrorStackIsBounded panics below a hundred calls of a function whose
// name alone makes the stack longer than what is kept of it.
func TestPanicErrorStackIsBounded(t *testing.T) {
	var e *group.PanicError
	func() {
		defer func() { e = group.NewPanicError(recover()) }()
		diveAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHere(100)
	}()
	if len(e.Stack) != 64<<10 || !strings.HasPrefix(string(e.Stack), "goroutine ") {
		t.Errorf("the stack has %d bytes, want the first 64 KiB of it", len(e.Stack))
	}
}

//go:noinline
func diveAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHere(depth int) int {
	if depth == 0 {
		panic("the bottom")
	}
	return diveAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHereAsDeepAsItTakesToMakeAStackLongerThanAnybodyWantsToReadAndLongerThanTheErrorKeepsWhichIsTestedHere(depth-1) + 1
}

//go:noinline
func dive(depth int) int {
	if depth == 0 {
		panic("the bottom")
	}
	return dive(depth-1) + 1
}

// queue is a group of results that are there already. It is drained when they
// are taken, and its Next fails with the error that is set.
type queue struct {
	group.Group[int] // nil: nothing else is called
	results          []group.Result[int]
	err              error
	asked            int
	ctx              context.Context // of the last call
}

func (q *queue) Next(ctx context.Context) (group.Result[int], bool, error) {
	q.asked++
	q.ctx = ctx
	if len(q.results) == 0 {
		return group.Result[int]{}, false, q.err
	}
	r := q.results[0]
	q.results = q.results[1:]
	return r, true, nil
}

var errTask = errors.New("a task failed")

func results() []group.Result[int] {
	return []group.Result[int]{{Value: 1}, {Value: 2, Err: errTask}, {Value: 3}}
}

func TestResultsUntilDrained(t *testing.T) {
	q := &queue{results: results()}
	ctx := t.Context()
	var got []group.Result[int]
	for r := range group.Results(ctx, q) {
		got = append(got, r)
	}
	if !slices.Equal(got, results()) {
		t.Errorf("the loop saw %v, want %v", got, results())
	}
	if q.asked != 4 || q.ctx != ctx {
		t.Errorf("Next was called %d times, want 4, with the caller's context: %v", q.asked, q.ctx == ctx)
	}
}

// A loop that is left early has taken what it saw and nothing else.
func TestResultsLeftEarly(t *testing.T) {
	q := &queue{results: results()}
	seen := 0
	for range group.Results(t.Context(), q) {
		if seen++; seen == 2 {
			break
		}
	}
	if q.asked != 2 || len(q.results) != 1 {
		t.Errorf("after two results Next was called %d times and %d results are left, want 2 and 1", q.asked, len(q.results))
	}
	for r := range group.Results(t.Context(), q) {
		if r.Value != 3 {
			t.Errorf("the second loop saw %v, want the third result", r)
		}
		seen++
	}
	if seen != 3 {
		t.Errorf("two loops saw %d results, want 3", seen)
	}
}

func TestResultsEndWithContext(t *testing.T) {
	q := &queue{err: context.Canceled}
	for r := range group.Results(t.Context(), q) {
		t.Fatalf("the loop saw %v, want none", r)
	}
	if q.asked != 1 {
		t.Errorf("Next was called %d times, want once", q.asked)
	}
}

// The sequence can be ranged over again: it goes on where the first left off.
func TestResultsTwice(t *testing.T) {
	q := &queue{results: results()}
	seq := group.Results(t.Context(), q)
	for range seq {
		break
	}
	n := 0
	for range seq {
		n++
	}
	if n != 2 {
		t.Errorf("the second loop over the sequence saw %d results, want 2", n)
	}
}
