package mailboxes

import (
	"math/rand/v2"
	"runtime"

	"github.com/dynolab/dyno/internal/invariants"
)

// pause stands where an operation has done one of its steps and not the next,
// and other goroutines see the state in between. In builds that check it makes
// that state last sometimes; in all others it is nothing.
func pause() {
	if invariants.Enabled && rand.Uint32()%4 == 0 {
		runtime.Gosched()
	}
}
