package form

import (
	_ "fmt"    // want `impls/form may not import fmt: it is board-safe and the package is not on the list`
	_ "unsafe" // want `impls/form may not import unsafe`

	_ "example.com/m/impls/sound" // want `impls/form may not import example.com/m/impls/sound (implementations share no mechanism)`
)

func init() {} // want `an init function`

//go:linkname f runtime.f // want `a linkname`
func f()
