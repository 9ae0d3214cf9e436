//go:build tinygo

// Package board is the Raspberry Pi Pico 2: an RP2350, which is two Cortex-M33 at
// 150 MHz of which one is used, with 512 KiB of RAM and 4 MiB of flash. The
// console is the USB socket. The LED is lit when the firmware has started.
package board

import (
	"machine"
	"runtime/volatile"
	"unsafe"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/boards/internal/usbport"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board.
func Board() firmware.Board {
	machine.LED.Configure(machine.PinConfig{Mode: machine.PinOutput})
	machine.LED.High()
	return firmware.Board{
		Name:     "pico2",
		Chip:     "rp2350",
		RAM:      512 << 10,
		Flash:    4 << 20,
		Port:     usbport.Port{},
		Clock:    clock{},
		Reset:    machine.CPUReset,
		Platform: conformance.Platform{},
	}
}

// The first timer of the chip counts microseconds. These registers are the plain
// halves of the counter; the others, without RAW, latch each other.
var (
	timeHigh = (*volatile.Register32)(unsafe.Pointer(uintptr(0x400B_0024)))
	timeLow  = (*volatile.Register32)(unsafe.Pointer(uintptr(0x400B_0028)))
)

// clock counts microseconds since power-on. The counter of cycles that this core
// has goes round in 29 s, which is not long enough for every case.
type clock struct{}

func (clock) Now() int64 {
	for {
		high := timeHigh.Get()
		low := timeLow.Get()
		if high == timeHigh.Get() {
			return int64(uint64(high)<<32 | uint64(low))
		}
	}
}

func (clock) Hz() float64  { return 1e6 }
func (clock) Unit() string { return "ns" }
