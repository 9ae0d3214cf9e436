package firmware

import (
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/internal/measure"
)

// Board is what a board's package gives: its port, its clock and its limits, and
// nothing of what is run on it.
type Board struct {
	Name string // of its folder: "cortex-m3-qemu"
	Chip string // "lm3s6965"

	// RAM and Flash are the chip's, in bytes, as the linker sees them; 0 where
	// there is no such limit.
	RAM, Flash int

	// Emulated says that the board is a program on another machine. Its figures
	// are labelled so, and not compared with those of real ones.
	Emulated bool

	// Port is the way to the host.
	Port Port

	// Clock is what is measured with. If Emulated it should count instructions, if
	// the emulator can.
	Clock measure.Clock

	// Wait lets that many ticks of Clock pass, or a few more or less, when there is
	// nothing to do; other goroutines may run meanwhile. Nil: the firmware looks at
	// the port and the clock again and again, and yields in between.
	Wait func(ticks int64)

	// Align waits until Clock is at a multiple of some period, which is the board's own,
	// and is called before each case. A command comes at any time; with Align a case begins
	// at the same time as in each other run. What is counted is then the same: the
	// interrupts of a timer, and the steps of a division, which are as many as a time has
	// bits. Nil where Clock counts no instructions.
	Align func()

	// Reset starts the board again and does not return. Nil where the host does
	// that: an emulator is started as a new process.
	Reset func()

	// Exit ends the program and does not return: of emulators and processes. Nil
	// where a program has no end.
	Exit func(code int)

	// Settle returns when every goroutine but the caller's waits, as far as that can be
	// told. Only one goroutine calls it at a time. Nil: others are let run some
	// times, which does where they run one at a time and each until it waits, and not
	// where there are several processors.
	Settle func()

	// Platform is what the runtime can do. Clauses that need more are skipped.
	Platform conformance.Platform
}

// Port is a way to the host and back for bytes. One goroutine uses it.
type Port interface {
	// Poll returns the next byte from the host. It does not wait: if none has
	// come, ok is false.
	Poll() (b byte, ok bool)

	// Closed reports that the host has gone: no byte is left and none will come. A
	// serial line, whose end cannot be seen, returns false.
	Closed() bool

	// Write sends all of p to the host, and waits as long as that takes. p is the
	// caller's again when it returns.
	Write(p []byte)
}

// Build is what is known of an image when it is built.
type Build struct {
	Commit    string // of the source, with "+dirty" behind it if that was changed
	Toolchain string // "tinygo 0.41.0", "go1.26.8"
}
