// Package porttest has a port and a clock for the tests of what boards run.
package porttest

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/measure"
)

// A Port is a port whose host has sent everything beforehand, and goes.
type Port struct {
	// In is what was not read yet. Each NUL is a moment in which nothing comes.
	In string
	// Out is what the board has said.
	Out strings.Builder
}

// Poll returns the next byte of In.
func (p *Port) Poll() (byte, bool) {
	if p.In == "" {
		return 0, false
	}
	b := p.In[0]
	p.In = p.In[1:]
	return b, b != 0
}

// Closed reports that In has been read.
func (p *Port) Closed() bool { return p.In == "" }

// Write adds to Out.
func (p *Port) Write(text []byte) { p.Out.Write(text) }

// A Clock is an emulator's: it counts instructions, some for each look at it, so that
// every wait for a time ends. Its goroutines may be many.
type Clock struct {
	// Look is how many instructions a look takes.
	Look int64

	now atomic.Int64
}

// Now returns the time, which passes by that.
func (c *Clock) Now() int64 { return c.now.Add(c.Look) }

// Pass lets ticks pass: it is a board's Wait.
func (c *Clock) Pass(ticks int64) { c.now.Add(ticks) }

// Hz returns that of an emulator whose instructions take 64 ns.
func (c *Clock) Hz() float64 { return 15_625_000 }

// Unit returns that of instructions.
func (c *Clock) Unit() string { return measure.Instructions }

// Texts returns what a board has said since its start, without frames. It fails the test
// unless all of it is whole.
func Texts(t testing.TB, said string) (all []string) {
	t.Helper()
	var events []line.Event
	var d line.Decoder
	emit := func(e line.Event) { events = append(events, e) }
	d.Feed([]byte(said), emit)
	d.Flush(emit)
	for i, e := range events {
		if e.Kind != line.Text || e.Lost > 0 || e.Repeated || e.Restart != (i == 0) {
			t.Fatalf("line %d: %+v", i+1, e)
		}
		all = append(all, e.Text)
	}
	return all
}
