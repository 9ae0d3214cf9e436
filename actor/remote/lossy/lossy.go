// Package lossy has a wire in memory that does what wires do at their worst, on
// purpose: it drops, doubles, reorders and delays frames, and breaks. What
// ReadFrame has returned is overwritten by the next call. It is for tests.
package lossy

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor/remote"
)

// Faults says how often what goes wrong: each is a probability from 0 to 1, for
// each frame.
type Faults struct {
	Drop    float64 // it does not arrive
	Double  float64 // it arrives twice
	Reorder float64 // it arrives behind the one that is sent after it
	Delay   float64 // it arrives up to MaxDelay later, and perhaps behind others
	Cut     float64 // the wire breaks, for both ends

	MaxDelay time.Duration // 0 means 50 ms
}

// ErrCut: the wire broke, or was closed at one end.
var ErrCut = errors.New("lossy: the wire is cut")

// Pair returns the two ends of a wire. What happens to the n-th frame of a
// direction depends on seed and n alone.
func Pair(seed uint64, f Faults) (a, b remote.Wire) {
	if f.MaxDelay == 0 {
		f.MaxDelay = 50 * time.Millisecond
	}
	w := &wire{faults: f, cut: make(chan struct{})}
	there, back := newDirection(w, seed, 0), newDirection(w, seed, 1)
	return &end{wire: w, out: there, in: back}, &end{wire: w, out: back, in: there}
}

// wire is what both directions share.
type wire struct {
	faults Faults
	once   sync.Once
	cut    chan struct{}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.cut) })
	return nil
}

// end is one end.
type end struct {
	*wire
	out, in *direction
	read    []byte // what ReadFrame has returned
}

// direction is one way of a wire.
type direction struct {
	wire *wire
	some chan struct{} // one token: look at queue

	mu    sync.Mutex // guards what follows
	rng   *rand.Rand
	queue [][]byte // what has arrived
	held  []byte   // what is to arrive behind the next one; nil: nothing
}

func newDirection(w *wire, seed, which uint64) *direction {
	return &direction{wire: w, some: make(chan struct{}, 1), rng: rand.New(rand.NewPCG(seed, which))}
}

// WriteFrame implements [remote.Wire].
func (e *end) WriteFrame(b []byte) error {
	select {
	case <-e.cut:
		return ErrCut
	default:
	}
	d, f := e.out, &e.faults
	d.mu.Lock()
	defer d.mu.Unlock()
	// All are drawn for each frame, so that one fault does not shift the others.
	drop, double := d.rng.Float64() < f.Drop, d.rng.Float64() < f.Double
	reorder, delay := d.rng.Float64() < f.Reorder, d.rng.Float64() < f.Delay
	late := time.Duration(d.rng.Int64N(int64(f.MaxDelay)))
	if d.rng.Float64() < f.Cut {
		_ = e.Close()
		return ErrCut
	}
	if drop {
		return nil
	}
	b = bytes.Clone(b)
	switch {
	case delay:
		time.AfterFunc(late, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.arrive(b)
		})
	case reorder && d.held == nil:
		d.held = b
	default:
		d.arrive(b)
		if d.held != nil {
			d.arrive(d.held)
			d.held = nil
		}
	}
	if double {
		d.arrive(bytes.Clone(b)) // the other one is overwritten when it has been read
	}
	return nil
}

// arrive has the other end find b. mu is held.
func (d *direction) arrive(b []byte) {
	d.queue = append(d.queue, b)
	select {
	case d.some <- struct{}{}:
	default:
	}
}

// ReadFrame implements [remote.Wire].
func (e *end) ReadFrame() ([]byte, error) {
	d := e.in
	clear(e.read)
	for {
		d.mu.Lock()
		if len(d.queue) > 0 {
			b := d.queue[0]
			e.read = b
			d.queue[0] = nil
			if d.queue = d.queue[1:]; len(d.queue) == 0 {
				d.queue = nil
			}
			d.mu.Unlock()
			return b, nil
		}
		d.mu.Unlock()
		select {
		case <-d.some:
		case <-e.cut:
			return nil, ErrCut
		}
	}
}
