package newer

import (
	"errors"
	rt "runtime"
	"sync"

	"example.com/m/contract"
	"other.org/allowed/sub"
)

var (
	_ = rt.AddCleanup[int, int] // want `runtime.AddCleanup requires go1.24 or later`
	_ = errors.AsType[error]    // want `errors.AsType requires go1.26 or later`
	_ = new(1 + 1)              // want `requires go1.26 or later`
	_ = rt.NumCPU() < 1<<40     // want `overflows int`
)

func embedded() {
	var s struct{ sync.WaitGroup }
	s.Go(nil) // want `sync.(*WaitGroup).Go requires go1.25 or later`
}

// What is unknown hides nothing else.
func unknown(e *sub.T, _ contract.T) {
	var w sync.WaitGroup
	e.Do()
	w.Go(nil) // want `sync.(*WaitGroup).Go requires go1.25 or later`
}

type (
	list[T any]  []T
	alias[T any] = []T // want `a generic type alias requires go1.24 or later`
	plain        = list[int]
)
