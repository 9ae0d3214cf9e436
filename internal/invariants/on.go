//go:build race || dynocheck

package invariants

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// Enabled is true in builds with -race or -tags dynocheck.
const Enabled = true

// Window makes the rare common: it stands between a look and what relies on it, such as
// going to sleep because nothing was found, and now and then lets others run there for a
// while. What comes in between is lost if it is not looked for once more, and one run of the
// tests finds that instead of one in thousands. Where invariants are not checked it is nothing.
//
// The source of its choices is the runtime's, which hands nothing from one goroutine to
// another: a counter of its own would hide races from the race detector. Yields are few, for
// each may take a slice of who computes.
func Window() {
	if h := within.Load(); h != nil && h.goroutine == goroutine() {
		h.f()
		return
	}
	yields := 0
	switch n := rand.Uint32() % 64; {
	case n == 0:
		yields = 10
	case n < 6:
		yields = 1
	}
	for range yields {
		runtime.Gosched()
	}
}

// within is what a test has happen in windows. It hands over what that test did before.
var within atomic.Pointer[happening]

// happening is what happens in the windows of one goroutine.
type happening struct {
	goroutine string
	f         func()
}

// Within has f called in every window of the calling goroutine, which then yields to no other,
// until end is called. It is for tests that say what comes between a look and what relies on
// it: those are not parallel. Other goroutines, such as workers that earlier tests have left,
// may be within windows meanwhile, and have nothing to do with f.
func Within(f func()) (end func()) {
	within.Store(&happening{goroutine(), f})
	return func() { within.Store(nil) }
}

// goroutine returns what its stack calls the calling goroutine. The runtime tells its number
// nowhere else.
func goroutine() string {
	var buf [64]byte
	text := string(buf[:runtime.Stack(buf[:], false)])
	for i := range text {
		if text[i] == '[' { // its state follows
			return text[:i]
		}
	}
	return text
}
