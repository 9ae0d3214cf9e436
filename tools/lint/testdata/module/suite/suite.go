package suite

import (
	_ "fmt"

	_ "example.com/m"
	_ "example.com/m/impls/sound"
	_ "other.org/check"
	_ "other.org/heavy" // want `suite may not import other.org/heavy`
)
