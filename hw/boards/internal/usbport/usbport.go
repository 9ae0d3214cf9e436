//go:build tinygo

// Package usbport is the port of boards whose console is a serial port over USB.
package usbport

import (
	"machine"
	"time"
)

const (
	// packet is what USB moves at once, and the most that some of TinyGo's
	// drivers take.
	packet = 64

	// pause is how long to wait after a packet. Hosts fetch one every millisecond at
	// the least. What is given to the driver before is sent by the handler of the
	// interrupt that says the last one has gone, and in TinyGo 0.41 that of the chips
	// RP2040 and RP2350 may miss such an interrupt, and nothing is sent any more.
	pause = time.Millisecond
)

// Port is machine.Serial as a port of the firmware. It must be used by one
// goroutine.
type Port struct{}

// Poll returns the next byte from the host, and false if there is none yet.
func (Port) Poll() (b byte, ok bool) {
	if machine.Serial.Buffered() == 0 {
		return 0, false
	}
	b, err := machine.Serial.ReadByte()
	return b, err == nil
}

// Closed returns false: the host may open the port again.
func (Port) Closed() bool { return false }

// Write sends p. It lets other goroutines run meanwhile. What is written while
// no host has the port open is lost, on some boards, or waits for it, on others.
func (Port) Write(p []byte) {
	for len(p) > 0 {
		n, _ := machine.Serial.Write(p[:min(len(p), packet)]) // the error says that n is less
		p = p[n:]
		time.Sleep(pause)
	}
}
