//go:build tinygo

// Package board is Adafruit's Feather nRF52840 Express: a Cortex-M4 at 64 MHz with
// 256 KiB of RAM and 1 MiB of flash, less what the bootloader and the radio's
// software keep of both. The console is the USB socket. The LED is lit when the
// firmware has started.
package board

import (
	"machine"
	"runtime/volatile"
	"unsafe"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/boards/internal/usbid"
	"github.com/dynolab/dyno/hw/boards/internal/usbport"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board. It starts the clock
// and may be called once.
func Board() firmware.Board {
	usbid.Tell()
	machine.LED.Configure(machine.PinConfig{Mode: machine.PinOutput})
	machine.LED.High()
	c := new(clock)
	c.start()
	return firmware.Board{
		Name:     "feather-nrf52840",
		Chip:     "nrf52840",
		RAM:      0x2004_0000 - 0x2000_4180,
		Flash:    0xED000 - 0x26000,
		Port:     new(usbport.Port),
		Clock:    c,
		Reset:    machine.CPUReset,
		Platform: conformance.Platform{},
	}
}

// TIMER4, which neither TinyGo nor the radio's software uses. The real-time
// counter that TinyGo tells the time by takes 30 µs a tick, and the core's counter
// of cycles stands still while the core sleeps.
//
// The timers count with the crystal if it oscillates, and else with a resistor and a
// capacitor, which may be wrong by some per cent. TinyGo does not start it.
var (
	crystalStart = (*volatile.Register32)(unsafe.Pointer(uintptr(0x4000_0000))) // TASKS_HFCLKSTART

	timerStart     = timer(0x000)
	timerCapture   = timer(0x040)
	timerMode      = timer(0x504)
	timerBits      = timer(0x508)
	timerPrescaler = timer(0x510)
	timerCaptured  = timer(0x540)
)

func timer(register uintptr) *volatile.Register32 {
	return (*volatile.Register32)(unsafe.Pointer(0x4001_B000 + register))
}

// clock counts with 16 MHz. The counter has 32 bits and goes round in 268 s;
// turns are counted by those who read it, so the time between two readings must
// not be longer than that. No case takes as long, and the firmware reads the clock
// at the beginning and the end of each.
type clock struct {
	last uint32
	high int64
}

func (c *clock) start() {
	crystalStart.Set(1)
	timerMode.Set(0)      // a timer, not a counter of events
	timerBits.Set(3)      // 32
	timerPrescaler.Set(0) // 16 MHz
	timerStart.Set(1)
}

func (c *clock) Now() int64 {
	timerCapture.Set(1)
	now := timerCaptured.Get()
	if now < c.last {
		c.high += 1 << 32
	}
	c.last = now
	return c.high + int64(now)
}

func (*clock) Hz() float64  { return 16e6 }
func (*clock) Unit() string { return "ns" }
