package sound

import _ "example.com/m/impls/banned" // want `impls/sound may not import example.com/m/impls/banned`

func init() { type local int }

var _ = min(f(1), f(2))
