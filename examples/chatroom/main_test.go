package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
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

// lines is a writer whose lines can be waited for.
type lines struct{ c chan string }

func (l lines) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		l.c <- strings.TrimSuffix(line, "\n")
	}
	return len(b), nil
}

func (l lines) want(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := <-l.c; got != w {
			t.Errorf("got %q, want %q", got, w)
		}
	}
}

// TestRemote: three systems, of which one has the room.
func TestRemote(t *testing.T) {
	for _, impl := range impls.All() {
		if impl.NewDispatcher == nil || impl.Name == "serial" {
			continue // it runs actors only when it is told to
		}
		t.Run(impl.Name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			room, ann, bob := lines{make(chan string, 100)}, lines{make(chan string, 100)}, lines{make(chan string, 100)}
			open, annDone, bobDone := make(chan error, 1), make(chan error, 1), make(chan error, 1)
			go func() { open <- listen(ctx, room, impl.NewDispatcher(), "127.0.0.1:0") }()
			address := strings.Fields(<-room.c)[8]
			annSays, annTypes := io.Pipe()
			bobSays, bobTypes := io.Pipe()
			go func() { annDone <- joinRoom(ctx, annSays, ann, impl.NewDispatcher(), address, "ann") }()
			room.want(t, "ann: comes in")
			ann.want(t, "ann: comes in")
			go func() { bobDone <- joinRoom(ctx, bobSays, bob, impl.NewDispatcher(), address, "bob") }()
			bob.want(t, "bob: comes in")
			ann.want(t, "bob: comes in")
			fmt.Fprintln(annTypes, "hello")
			ann.want(t, "ann: hello")
			bob.want(t, "ann: hello")
			if err := bobTypes.Close(); err != nil {
				t.Error(err)
			}
			if err := <-bobDone; err != nil {
				t.Error(err)
			}
			ann.want(t, "bob: cannot be reached any more")
			end()
			if err := <-open; err != nil {
				t.Error(err)
			}
			if err := <-annDone; !errors.Is(err, actor.ErrUnreachable) {
				t.Errorf("ann is told %v", err)
			}
			_ = annTypes.Close()
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
