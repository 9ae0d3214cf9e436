//go:build tinygo

// Package usbid gives a board that makes its USB port itself a serial number of its
// own. TinyGo gives such boards none, so the host could not tell two equal ones apart.
package usbid

import (
	"machine"
	"machine/usb"
	"runtime/interrupt"
)

// Tell makes the number of the chip, or of its flash memory, the USB serial number: 16
// hexadecimal digits. It is to be called when the firmware starts: a host asks for the
// number some tenths of a second after the board was connected or reset.
func Tell() {
	// The boards that have the number in their flash memory cannot execute anything
	// from there meanwhile, and the handlers of interrupts are there.
	state := interrupt.Disable()
	id := machine.DeviceID()
	interrupt.Restore(state)
	usb.Serial = text(id)
}
