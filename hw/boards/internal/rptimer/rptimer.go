//go:build tinygo

// Package rptimer is the clock of boards with a chip of Raspberry Pi's: a timer that
// counts microseconds since power-on, in 64 bits.
package rptimer

import (
	"runtime/volatile"
	"unsafe"
)

// Clock is such a timer as a clock of the firmware.
type Clock struct{ high, low *volatile.Register32 }

// At returns the timer whose registers begin at base. Those that it reads are the
// plain halves of the counter; the others, without RAW, latch each other.
func At(base uintptr) Clock {
	register := func(offset uintptr) *volatile.Register32 {
		return (*volatile.Register32)(unsafe.Pointer(base + offset))
	}
	return Clock{high: register(0x24), low: register(0x28)}
}

// Now returns the microseconds since power-on.
func (c Clock) Now() int64 {
	for {
		high := c.high.Get()
		low := c.low.Get()
		if high == c.high.Get() {
			return int64(uint64(high)<<32 | uint64(low))
		}
	}
}

// Hz returns a million.
func (Clock) Hz() float64 { return 1e6 }

// Unit returns the unit of real time.
func (Clock) Unit() string { return "ns" }
