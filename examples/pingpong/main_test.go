package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/dynolab/dyno/impls"
)

// TestPingpong: the ball is received as often as the figure says, with each implementation.
func TestPingpong(t *testing.T) {
	for _, impl := range impls.All() {
		if impl.NewDispatcher == nil {
			continue
		}
		t.Run(impl.Name, func(t *testing.T) {
			if took, err := play(impl.NewDispatcher()); err != nil || took <= 0 {
				t.Errorf("it took %v: %v", took, err)
			}
		})
	}
}

// TestPlayer: what a player does with each message, and the last one.
func TestPlayer(t *testing.T) {
	over := make(chan struct{}, 1)
	p := &player{over}
	if err := p.Receive(nil, "no ball"); err == nil {
		t.Error("a player took what is no ball")
	}
	if err := p.Receive(nil, &ball{hops: messages - 1}); err != nil || len(over) != 1 {
		t.Errorf("the last message did not end the game: %v", err)
	}
}

// TestFigure: a figure beyond the limit says so.
func TestFigure(t *testing.T) {
	for took, want := range map[time.Duration]string{
		312 * time.Microsecond:      "1000 messages back and forth took 312µs: within 1s",
		limit:                       "1000 messages back and forth took 1s: within 1s",
		limit + 500*time.Nanosecond: "1000 messages back and forth took 1.0000005s: longer than 1s",
	} {
		if got := figure(took); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestProgram builds the program and reads its figure.
func TestProgram(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "pingpong.exe")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(exe).CombinedOutput()
	if err != nil || !regexp.MustCompile(`^1000 messages back and forth took [0-9.]+(ns|µs|ms|s): (within|longer than) 1s\n$`).Match(out) {
		t.Errorf("%v: it printed %q", err, out)
	}
}
