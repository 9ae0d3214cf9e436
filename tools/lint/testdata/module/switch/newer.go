//go:build go1.26 && windows

package sw

import _ "os" // want `switch may not import os`

var p = new(1 + 1) // want `requires go1.26 or later`
