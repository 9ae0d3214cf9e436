// Package panics says once what the contracts' errors tell of a panic.
package panics

import (
	"runtime"
	"strconv"

	"github.com/dynolab/dyno/internal/decimal"
)

// Stack returns the stack of the calling goroutine in the form of runtime.Stack,
// at most 64 KiB of it. In the deferred function that recovered, the frames that
// panicked are still on it. It is empty where the platform cannot tell (TinyGo).
func Stack() []byte {
	buf := make([]byte, 4<<10)
	for {
		n := runtime.Stack(buf, false)
		if n < len(buf) || len(buf) >= 64<<10 {
			return buf[:n:n]
		}
		buf = make([]byte, 2*len(buf))
	}
}

// Text renders what was panicked with, without fmt, which costs a board 47 KB of
// flash: errors, fmt.Stringers, strings and the commonest basic types, float64 to seven
// places. Of others it says only that they are none of those.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case error:
		return v.Error()
	case interface{ String() string }:
		return v.String()
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return string(decimal.AppendShort(nil, v, decimal.MostPlaces))
	}
	return "(a value that is neither error, string nor number)"
}
