//go:build !linux

package benchtest

import "time"

// block is nil: on this system no call is known that blocks its thread and ends by itself.
var block func(d time.Duration)
