//go:build tinygo

// Package board is the Raspberry Pi Pico: an RP2040, which is two Cortex-M0+ of which
// one is used, at the 200 MHz that TinyGo sets, with 256 KiB of RAM and 2 MiB of flash.
// The console is the USB socket. The LED is lit when the firmware has started.
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
		Name:  "pico",
		Chip:  "rp2040",
		RAM:   256 << 10,
		Flash: 2 << 20,
		Port:  new(usbport.Port),
		// The timer begins here; the core has no counter of cycles.
		Clock:    rptimer.At(0x4005_4000),
		Reset:    machine.CPUReset,
		Platform: conformance.Platform{},
	}
}
