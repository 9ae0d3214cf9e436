package workloads

import (
	"errors"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

// actorLatency is what a quiet system's user feels: between two of a thousand messages a second
// all but one processor are asleep; with latency100k the system is never quiet, and far from
// busy.
//
// Messages are due at times that are fixed beforehand, and latency counts from then, not from the
// moment at which the sender got round to it: a stall delays all messages that are due meanwhile,
// and a sender that waited with them would see it once. The sender is a goroutine that yields
// until the next message is due, since timers are too coarse, by a factor of a thousand. Latency
// is up to the moment at which the actor begins to handle the message.
//
// With idlewake latency counts from the moment at which the sender wakes up and sends, for when
// that is the system's timers decide.
func actorLatency() []Workload {
	fast := pace{"latency100k", "100,000 messages a second come from outside, due at fixed times: how long until an actor handles them", 10_000, false}.workload()
	fast.TooBig = "a message every 10 µs is more than a processor of some megahertz can handle, so the backlog would grow"
	idle := pace{"idlewake", "a message is sent to an actor when everything has slept for 2 ms: how long until it is handled", 2_000_000, true}.workload()
	idle.TooBig = "nothing is woken where one goroutine does everything; latency1k has the same way without it"
	return []Workload{idle, latency1k.workload(), fast}
}

var latency1k = pace{"latency1k", "1,000 messages a second come from outside, due at fixed times: how long until an actor handles them", 1_000_000, false}

// A pace is a workload with a message every so many nanoseconds.
type pace struct {
	name, doc string
	interval  int64
	asleep    bool // the sender sleeps meanwhile
}

func (p pace) workload() Workload {
	a := p.bare()
	a.Checked = "messages in order, none missing, none twice; their sum"
	a.On = p.onFramework
	a.Refs = []Ref{
		{refBuffered, "a goroutine and a buffered channel", func(st Setting) Run { return p.byHand(st, channelsOf[*timed](window)) }},
		{refUnbuffered, "a goroutine and an unbuffered channel", func(st Setting) Run { return p.byHand(st, channelsOf[*timed](0)) }},
		{refMutexCond, "a goroutine and a slice behind a mutex and a condition variable", func(st Setting) Run { return p.byHand(st, boxesOf[*timed](0)) }},
	}
	return a
}

// bare is workload without references.
func (p pace) bare() Workload {
	return Workload{
		Name:    p.name,
		Doc:     p.doc,
		Open:    true,
		Slicing: Slicing{Whole: byTheClock},
		Prepare: p.onActor,
	}
}

// byTheClock is the Slicing of open loops. A slice of a few milliseconds has a few
// messages of a thousand a second, and each begins with a system that was not let
// run and has no message behind it; what these workloads are about, how long a
// message waits now and then, is only seen in a time without a break.
const byTheClock = "it sends at fixed times, and how long a message waits now and then takes a long time without a break to see"

// latencyRing is how many messages are made beforehand, if the Setting does not say
// otherwise. If more than these wait at once, further ones are allocated.
const latencyRing = 1 << 12

// A timed message says when it was due.
type timed struct {
	seq int64
	due int64
}

// openLoop is what runs in all ways have in common.
type openLoop struct {
	*progress
	meter    Meter // nil: messages are sent without regard to time
	interval int64
	until    func(ns int64) // see Setting
	asleep   bool           // the sender sleeps for the interval; a message is due when it wakes
	beside   func() error   // begins what goes on beside the messages of a Do; or nil

	_ [64]byte // both read what is in front, and each writes its own

	// The sender's.
	ring []timed // nil: every message is a new one
	sent int64

	_ [64]byte

	// The receiver's, but for handled, which the sender reads.
	handled atomic.Int64
	sum     int64
	last    atomic.Int64 // the number of messages that ends the Do
}

func newOpenLoop(s *progress, st Setting, p pace) *openLoop {
	l := newRinglessLoop(s, st, p.interval)
	l.asleep = p.asleep
	size := latencyRing
	if st.Ring > 0 {
		size = st.Ring
	}
	l.ring = make([]timed, size)
	return l
}

// newRinglessLoop makes a loop whose messages are all new ones.
func newRinglessLoop(s *progress, st Setting, interval int64) *openLoop {
	return &openLoop{progress: s, meter: st.Meter, interval: interval, until: st.Until}
}

// do sends n messages when they are due.
func (l *openLoop) do(n int, send func(m *timed) error) error {
	l.begin(n, 1)
	l.last.Store(l.sent + int64(n))
	if l.beside != nil {
		if err := l.beside(); err != nil {
			return err
		}
	}
	var due int64
	if l.meter != nil {
		due = l.meter.Now()
	}
	for range n {
		var m *timed
		if len(l.ring) == 0 || l.sent-l.handled.Load() >= int64(len(l.ring)) {
			m = new(timed)
		} else {
			m = &l.ring[l.sent%int64(len(l.ring))]
		}
		if l.meter != nil {
			if l.asleep {
				time.Sleep(time.Duration(l.interval))
				due = l.meter.Now()
			} else {
				l.await(due)
			}
			l.meter.Backlog(int(l.sent - l.handled.Load()))
		}
		m.seq, m.due = l.sent, due
		due += l.interval
		l.sent++
		if err := send(m); err != nil {
			return err
		}
	}
	return nil
}

// await lets time pass until due.
func (l *openLoop) await(due int64) {
	if l.until != nil {
		l.until(due)
	}
	for l.meter.Now() < due {
		runtime.Gosched()
	}
}

// take books a message, which is the next one, as handled now.
func (l *openLoop) take(m *timed) error {
	if l.meter != nil {
		l.meter.Latency(l.meter.Now() - m.due)
	}
	if seq := l.handled.Load(); m.seq != seq {
		return errors.New("workloads: message " + strconv.FormatInt(m.seq, 10) + " came instead of message " + strconv.FormatInt(seq, 10))
	}
	l.count(m)
	return nil
}

// count books a message without regard to time and order.
func (l *openLoop) count(m *timed) {
	l.sum += m.seq
	last := l.last.Load()
	handled := l.handled.Load() + 1
	l.handled.Store(handled) // from now on the message may be used again
	if handled == last {
		l.part()
	}
}

func (l *openLoop) check() error {
	if err := countCheck(l.sent, l.handled.Load()); err != nil {
		return err
	}
	if l.sum != l.sent*(l.sent-1)/2 {
		return errors.New("workloads: the messages were not those that were sent")
	}
	return nil
}

func (l *openLoop) Receive(_ *actor.Context, msg any) error {
	m, ok := msg.(*timed)
	if !ok {
		return errStray()
	}
	return l.take(m)
}

func (p pace) onActor(st Setting) Run {
	s := new(system)
	l := newOpenLoop(&s.progress, st, p)
	return l.onActor(st, s, l, new(actor.Ref))
}

// onActor is a loop run by an implementation, in the system s: its messages go to the actor a.
func (l *openLoop) onActor(st Setting, s *system, a actor.Actor, to *actor.Ref) Run {
	s.raise(st, func(s *system, ctx *actor.Context) (err error) {
		*to, err = s.spawn(ctx, a)
		return err
	})
	send := func(m *timed) error { return to.Tell(m) }
	if s.err() == nil && s.sys.Synchronous() {
		send = func(m *timed) error {
			err := to.Tell(m)
			s.sys.RunUntilIdle()
			return err
		}
	}
	return &run{s, func(n int) error {
		if err := l.do(n, send); err != nil {
			s.fail(err)
			return s.err() // why the actor has stopped, if that is why
		}
		return s.wait()
	}, l.check}
}

// byHand is a loop run by a reference. Send returns no errors.
func (l *openLoop) byHand(g *goroutines, send func(m *timed) error) Run {
	return &run{g, func(n int) error {
		_ = l.do(n, send)
		return g.wait()
	}, l.check}
}

func (p pace) byHand(st Setting, carry carrying[*timed]) Run {
	g := newGoroutines()
	l := newOpenLoop(&g.progress, st, p)
	send := carry(g, 1, func(_ int, m *timed) error { return l.take(m) })
	return l.byHand(g, func(m *timed) error {
		send(0, m)
		return nil
	})
}
