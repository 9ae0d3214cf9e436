package banned

import (
	"sync"
	"sync/atomic"
	. "time"
)

type s struct{ c *sync.Cond } // want `impls/banned may not use sync.Cond (on TinyGo`

func f(x *atomic.Int64, y *atomic.Int32, p *atomic.Pointer[int]) {
	y.And(1)
	x.Or(1)
	x.And(1)    // want `may not use (*sync/atomic.Int64).And`
	p.Swap(nil) // want `may not use (*sync/atomic.Pointer[T]).Swap`
	println()   // want `may not use println`
	println()   // want `may not use println`
	Now()       // want `may not use time.Now (no clock)`
}
