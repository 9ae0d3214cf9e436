package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/dynolab/dyno/impls"
)

const want = `ann joins
bob joins
bob cannot join: actor: the parent has a child of this name already
bob says ["hello"], members: 2
ann says ["have you seen the Kraken?"], members: 2
bob has left; the last it heard is ["bob: hello" "ann: have you seen the Kraken?"]
ann says ["bob?"], members: 1
sam joins
ann says ["1" "…" "100"], members: 2
eve joins
eve has left; the last it heard is []
eve is not here
ann has left; the last it heard is ["ann: 98" "ann: 99" "ann: 100"]
sam has left; the last it heard is ["ann: 98" "ann: 99" "ann: 100"]
of 205 lines each was heard or dropped
`

func TestChatroom(t *testing.T) {
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

// jammed is a writer that fails.
type jammed struct{}

func (jammed) Write([]byte) (int, error) { return 0, errPaper }

// TestFailure: the host cannot write, and the program says so instead of
// waiting for ever for the rest of the script.
func TestFailure(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			if err := run(jammed{}, impl.NewDispatcher()); !errors.Is(err, errPaper) {
				t.Errorf("run returned %v, want %v", err, errPaper)
			}
		})
	}
}
