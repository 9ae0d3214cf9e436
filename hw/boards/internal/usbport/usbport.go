//go:build tinygo

// Package usbport is the port of boards whose console is a serial port over USB.
package usbport

import (
	"machine"
	"time"
)

// pause is how long to wait after a packet. Hosts fetch one every millisecond at the
// least, so that it has gone when the next is given to the driver; see chunk for why.
const pause = time.Millisecond

// Port is machine.Serial as a port of the firmware. It must be used by one
// goroutine, and there must be one only.
type Port struct {
	sent int // bytes that went through the driver's queue since it went round
}

// Poll returns the next byte from the host, and false if there is none yet.
func (*Port) Poll() (b byte, ok bool) {
	if machine.Serial.Buffered() == 0 {
		return 0, false
	}
	b, err := machine.Serial.ReadByte()
	return b, err == nil
}

// Closed returns false: the host may open the port again.
func (*Port) Closed() bool { return false }

// Write sends p. It lets other goroutines run meanwhile. What is written while
// no host has the port open is lost, on some boards, or waits for it, on others.
func (port *Port) Write(p []byte) {
	for len(p) > 0 {
		heard := machine.Serial.DTR() || machine.Serial.RTS()      // else the driver queues nothing
		n, _ := machine.Serial.Write(p[:chunk(port.sent, len(p))]) // the error says that n is less
		if heard {
			port.sent = (port.sent + n) % queue
		}
		p = p[n:]
		time.Sleep(pause)
	}
}
