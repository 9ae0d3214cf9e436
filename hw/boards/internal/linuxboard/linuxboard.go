// Package linuxboard is what all Linux boards have in common: the console is
// standard input and output, the clock is the system's monotonic one. What is
// measured there is the board's package, compiled by Go itself.
//
// It is not board-safe: it runs where there is an operating system, and no
// microcontroller's image contains it.
package linuxboard

import (
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/internal/idle"
)

// New returns the board called name. If it is emulated, its time is that of the
// machine that emulates it and says nothing about a real one. It starts reading
// standard input, so it is to be called once.
func New(name string, emulated bool) firmware.Board {
	p := newPort(os.Stdin, os.Stdout)
	return firmware.Board{
		Name:     name,
		Chip:     runtime.GOARCH,
		RAM:      memory(),
		Emulated: emulated,
		Port:     p,
		Clock:    newClock(),
		Wait:     func(ticks int64) { time.Sleep(time.Duration(ticks)) },
		Exit:     os.Exit,
		Settle:   func() { idle.Wait() },
		Platform: conformance.Platform{Goexit: true, RuntimePanics: true, Stacks: true, Goroutines: true, Heap: true},
	}
}

// clock counts nanoseconds since it was made.
type clock struct{ start time.Time }

func newClock() clock { return clock{time.Now()} }

// Now implements [measure.Clock].
func (c clock) Now() int64 { return int64(time.Since(c.start)) }

// Hz implements [measure.Clock].
func (c clock) Hz() float64 { return 1e9 }

// Unit implements [measure.Clock].
func (c clock) Unit() string { return "ns" }

// ahead is how many bytes of input are read before the firmware asks for them.
const ahead = 256

// port is a console of which reading does not block.
type port struct {
	in     chan byte // from the goroutine that reads; closed at the end of input
	out    io.Writer
	closed bool
}

// newPort returns a port and begins to read in.
func newPort(in io.Reader, out io.Writer) *port {
	p := &port{in: make(chan byte, ahead), out: out}
	go p.read(in)
	return p
}

// read hands on what comes, byte by byte: it then allocates nothing while
// something is measured.
func (p *port) read(in io.Reader) {
	defer close(p.in)
	buf := make([]byte, ahead)
	for {
		n, err := in.Read(buf)
		for _, b := range buf[:n] {
			p.in <- b
		}
		if err != nil {
			return // the end; whatever else it is, no more comes
		}
	}
}

// Poll implements [firmware.Port].
func (p *port) Poll() (b byte, ok bool) {
	select {
	case b, ok = <-p.in:
		p.closed = !ok
		return b, ok
	default:
		return 0, false
	}
}

// Closed implements [firmware.Port].
func (p *port) Closed() bool { return p.closed }

// Write implements [firmware.Port]. If it fails the host is gone, which the end of
// input says too.
func (p *port) Write(b []byte) { _, _ = p.out.Write(b) }

// memory returns the machine's memory in bytes, 0 if the system does not say.
func memory() int {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return parseMemory(string(data))
}

// parseMemory reads the total from the text of /proc/meminfo, 0 if it is not
// there. What an int does not hold on a 32-bit machine is as much as one holds.
func parseMemory(text string) int {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil && kb > 0 {
				return int(min(kb, math.MaxInt/1024) * 1024)
			}
		}
	}
	return 0
}
