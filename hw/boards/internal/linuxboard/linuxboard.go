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
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/internal/idle"
)

// New returns the board called name. If it is emulated, its time is that of the
// machine that emulates it and says nothing about a real one. It starts reading
// standard input, so it is to be called once.
func New(name string, emulated bool) firmware.Board {
	p := newPort(os.Stdout)
	p.abandoned = func() {
		_, _ = os.Stderr.WriteString("firmware: the input has ended, and a case went on for " + parting.String() + " after that: giving up\n")
		os.Exit(abandonedStatus)
	}
	p.begin(os.Stdin)
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

// parting is how long the firmware may go on with a case when the host has gone, who
// went because it hangs, or was interrupted. Over ssh nothing else ends it, and it would
// take its processor from the cases after it until it is killed by hand.
const parting = 10 * time.Second

// abandonedStatus is the exit status of a firmware that has given up.
const abandonedStatus = 3

// port is a console of which reading does not block.
type port struct {
	in     chan byte // from the goroutine that reads; closed at the end of input
	out    io.Writer
	closed bool

	// abandoned, if not nil, is called when the firmware has begun, and for the time
	// parting has not noticed the end of input.
	abandoned func()
	polled    atomic.Bool // the firmware has begun
	noticed   atomic.Bool // and has been told of the end of input
}

// newPort returns a port that writes to out, and reads when begin is called.
func newPort(out io.Writer) *port { return &port{in: make(chan byte, ahead), out: out} }

// begin begins to read in.
func (p *port) begin(in io.Reader) { go p.read(in) }

// read hands on what comes, byte by byte: it then allocates nothing while
// something is measured.
func (p *port) read(in io.Reader) {
	defer p.end()
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

// end is called when no more comes.
func (p *port) end() {
	close(p.in)
	if p.abandoned != nil {
		time.AfterFunc(parting, func() {
			if p.polled.Load() && !p.noticed.Load() {
				p.abandoned()
			}
		})
	}
}

// Poll implements [firmware.Port].
func (p *port) Poll() (b byte, ok bool) {
	p.polled.Store(true)
	select {
	case b, ok = <-p.in:
		if p.closed = !ok; p.closed {
			p.noticed.Store(true)
		}
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
