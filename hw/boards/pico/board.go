//go:build tinygo

// Package board is the Raspberry Pi Pico: an RP2040, which is two Cortex-M0+ at
// 125 MHz of which one is used, with 256 KiB of RAM and 2 MiB of flash. The
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
		Name:     "pico",
		Chip:     "rp2040",
		RAM:      256 << 10,
		Flash:    2<<20 - 256, // the second stage of the bootloader has 256 bytes
		Port:     usbport.Port{},
		Clock:    clock{},
		Reset:    machine.CPUReset,
		Platform: conformance.Platform{},
	}
}

// The timer of the chip counts microseconds. These registers are the plain
// halves of the counter; the others, without RAW, latch each other.
var (
	timeHigh = (*volatile.Register32)(unsafe.Pointer(uintptr(0x4005_4024)))
	timeLow  = (*volatile.Register32)(unsafe.Pointer(uintptr(0x4005_4028)))
)

// clock counts microseconds since power-on. The core has no counter of cycles.
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
