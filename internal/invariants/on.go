//go:build race || dynocheck

package invariants

import (
	"math/rand/v2"
	"runtime"
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
