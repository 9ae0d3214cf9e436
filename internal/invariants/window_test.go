package invariants

import (
	"runtime"
	"testing"
)

// TestWindow: with one processor another goroutine runs within some windows where invariants
// are checked, and not within a few microseconds elsewhere.
func TestWindow(t *testing.T) {
	if !Enabled {
		t.Skip("a window is nothing in this build: -race or -tags dynocheck")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ran := make(chan struct{})
	go close(ran)
	for range 2000 {
		Window()
	}
	select {
	case <-ran:
	default:
		t.Error("nothing else ran in 2000 windows")
	}
}

// TestWithin: a test may say what happens in its windows, until it takes that back.
func TestWithin(t *testing.T) {
	n := 0
	end := Within(func() { n++ })
	Window()
	elsewhere := make(chan struct{})
	go func() { // as a worker that an earlier test has left
		Window()
		close(elsewhere)
	}()
	<-elsewhere
	Window()
	end()
	Window()
	if want := map[bool]int{true: 2}[Enabled]; n != want {
		t.Errorf("in two windows it was called %d times, want %d", n, want)
	}
}
