//go:build tinygo

// Package board is Seeed's XIAO ESP32C3: a RISC-V core at 160 MHz with 384 KiB of
// RAM, which the code that has to be fast shares with the data, and 4 MiB of flash.
// The console is the USB socket. It has no LED that a program could light.
package board

import (
	"runtime/volatile"
	"time"
	"unsafe"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/boards/internal/usbport"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board.
func Board() firmware.Board {
	return firmware.Board{
		Name:     "xiao-esp32c3",
		Chip:     "esp32c3",
		RAM:      0x4E710, // of 384 KiB: the ROM has its variables above
		Flash:    4 << 20,
		Port:     new(usbport.Port),
		Clock:    clock{start: time.Now()},
		Reset:    reset,
		Platform: conformance.Platform{},
	}
}

// clock is TinyGo's own, which counts with 40 MHz on this chip.
type clock struct{ start time.Time }

func (c clock) Now() int64 { return int64(time.Since(c.start)) }
func (clock) Hz() float64  { return 1e9 }
func (clock) Unit() string { return "ns" }

// options is the register RTC_CNTL_OPTIONS0.
var options = (*volatile.Register32)(unsafe.Pointer(uintptr(0x6000_8000)))

const resetSystem = 1 << 31

func reset() {
	options.Set(options.Get() | resetSystem)
	for { // until the reset happens
	}
}
