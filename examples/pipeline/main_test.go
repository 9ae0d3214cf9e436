package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dynolab/dyno/impls"
)

// want is what the pipeline should print, computed without actors.
func want() string {
	var b strings.Builder
	longest := 0
	for number := 1; number <= numbers; number++ {
		if s := steps(number); s > longest {
			longest = s
			fmt.Fprintf(&b, "%5d takes %3d steps\n", number, s)
		}
	}
	return b.String()
}

func TestPipeline(t *testing.T) {
	want := want()
	// The last line is a known one: the sequence A006877 of the OEIS.
	if last := " 6171 takes 261 steps\n"; !strings.HasSuffix(want, last) {
		t.Fatalf("the last line should be %q:\n%s", last, want)
	}
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			var out strings.Builder
			if err := run(&out, impl.NewDispatcher()); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

var errPaper = errors.New("out of paper")

// jammed is a writer that fails after some lines.
type jammed struct{ lines int }

func (j *jammed) Write(p []byte) (int, error) {
	if j.lines == 0 {
		return 0, errPaper
	}
	j.lines--
	return len(p), nil
}

// TestFailure: the sink fails while the other stages wait for room. They must
// not go on waiting, and the program must say what was the cause.
func TestFailure(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			if err := run(&jammed{lines: 10}, impl.NewDispatcher()); !errors.Is(err, errPaper) {
				t.Errorf("run returned %v, want %v", err, errPaper)
			}
		})
	}
}
