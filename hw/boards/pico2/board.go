//go:build tinygo

// Package board is the Raspberry Pi Pico 2: an RP2350, which is two Cortex-M33 at
// 150 MHz of which one is used, with 512 KiB of RAM and 4 MiB of flash. The
// console is the USB socket. The LED is lit when the firmware has started.
package board

import (
	"machine"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/boards/internal/rptimer"
	"github.com/dynolab/dyno/hw/boards/internal/usbid"
	"github.com/dynolab/dyno/hw/boards/internal/usbport"
	"github.com/dynolab/dyno/hw/firmware"
)

// Board returns what the firmware has to know of this board.
func Board() firmware.Board {
	usbid.Tell()
	machine.LED.Configure(machine.PinConfig{Mode: machine.PinOutput})
	machine.LED.High()
	return firmware.Board{
		Name:  "pico2",
		Chip:  "rp2350",
		RAM:   512 << 10,
		Flash: 4 << 20,
		Port:  new(usbport.Port),
		// The first timer begins here. The counter of cycles that this core has goes
		// round in 29 s, which is not long enough for every case.
		Clock:    rptimer.At(0x400B_0000),
		Reset:    machine.CPUReset,
		Platform: conformance.Platform{},
	}
}
