package workloads

import (
	"slices"
	"testing"

	"github.com/dynolab/dyno/impls/serial"
)

// fakeMeter is a Meter whose clock the test sets. A look at it makes a
// microsecond pass, so that waiting ends.
type fakeMeter struct {
	now       int64
	latencies []int64
	backlogs  []int
	timings   [][]int64
	shares    map[string][2]int64
}

func (m *fakeMeter) Now() int64 {
	m.now += 1000
	return m.now
}
func (m *fakeMeter) Latency(ns int64) { m.latencies = append(m.latencies, ns) }
func (m *fakeMeter) Backlog(n int)    { m.backlogs = append(m.backlogs, n) }
func (m *fakeMeter) Timing(i int, ns int64) {
	for len(m.timings) <= i {
		m.timings = append(m.timings, nil)
	}
	m.timings[i] = append(m.timings[i], ns)
}

func (m *fakeMeter) Share(name string, part, whole int64) {
	if m.shares == nil {
		m.shares = make(map[string][2]int64)
	}
	m.shares[name] = [2]int64{part, whole}
}
func (m *fakeMeter) Idle(_ int, stop func()) { stop() }
func (m *fakeMeter) Pause(f func())          { f() }

const millisecond = 1_000_000

// in returns times in whole milliseconds.
func in(ns []int64) []int64 {
	ms := make([]int64, len(ns))
	for i, t := range ns {
		ms[i] = t / millisecond
	}
	return ms
}

// Latency counts from the moment at which a message was due. If the sender is
// held up for five milliseconds, by a send that waits or by what else has the
// processor, all the messages that were due meanwhile are late, and not one of
// them only.
func TestOpenLoopDoesNotOmit(t *testing.T) {
	var s progress
	s.init()
	m := new(fakeMeter)
	l := newOpenLoop(&s, Setting{Meter: m}, pace{interval: millisecond})
	err := l.do(10, func(msg *timed) error {
		if msg.seq == 2 {
			m.now += 5 * millisecond
		}
		return l.take(msg)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := in(m.latencies), []int64{0, 0, 5, 4, 3, 2, 1, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("latencies of %v ms, want %v", got, want)
	}
	if err := l.check(); err != nil {
		t.Error(err)
	}
	// On time again, messages are a millisecond apart: nothing is sent early.
	if m.now < 9*millisecond || m.now > 10*millisecond {
		t.Errorf("ten messages a millisecond apart took %d ns", m.now)
	}
}

// The backlog is what has been sent before and not been handled.
func TestOpenLoopBacklog(t *testing.T) {
	var s progress
	s.init()
	m := new(fakeMeter)
	l := newOpenLoop(&s, Setting{Meter: m}, pace{interval: millisecond})
	var waiting []*timed
	err := l.do(7, func(msg *timed) error {
		waiting = append(waiting, msg)
		if msg.seq == 3 || msg.seq == 6 { // the receiver wakes up
			for _, w := range waiting {
				if err := l.take(w); err != nil {
					return err
				}
			}
			waiting = nil
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 2, 3, 0, 1, 2}; !slices.Equal(m.backlogs, want) {
		t.Errorf("backlogs %v, want %v", m.backlogs, want)
	}
	if got, want := in(m.latencies), []int64{3, 2, 1, 0, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("latencies of %v ms, want %v", got, want)
	}
}

// However many wait, none is overwritten.
func TestOpenLoopLongBacklog(t *testing.T) {
	var s progress
	s.init()
	l := newOpenLoop(&s, Setting{}, pace{interval: millisecond})
	const n = 3 * latencyRing
	var waiting []*timed
	err := l.do(n, func(msg *timed) error {
		waiting = append(waiting, msg)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, msg := range waiting {
		if err := l.take(msg); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.check(); err != nil {
		t.Error(err)
	}
}

// A short ring is as good as a long one, and so is none: what waits is not overwritten.
func TestOpenLoopRings(t *testing.T) {
	for _, size := range []int{1, 3, latencyRing} {
		var s progress
		s.init()
		l := newOpenLoop(&s, Setting{Ring: size}, pace{interval: millisecond})
		if len(l.ring) != size {
			t.Errorf("a ring of %d messages, want %d", len(l.ring), size)
		}
		var waiting []*timed
		err := l.do(20, func(msg *timed) error {
			waiting = append(waiting, msg)
			if len(waiting) < 5 {
				return nil
			}
			for _, w := range waiting {
				if err := l.take(w); err != nil {
					return err
				}
			}
			waiting = nil
			return nil
		})
		if err != nil {
			t.Fatalf("a ring of %d: %v", size, err)
		}
		if err := l.check(); err != nil {
			t.Errorf("a ring of %d: %v", size, err)
		}
	}
}

// Who waits is asked to let the time pass, once for each message that is not due yet; and
// if that returns early nothing is sent early.
func TestOpenLoopUntil(t *testing.T) {
	var s progress
	s.init()
	m := new(fakeMeter)
	var waits []int64
	l := newOpenLoop(&s, Setting{Meter: m, Until: func(ns int64) {
		waits = append(waits, ns/millisecond)
		if ns == 0 || len(waits)%2 == 0 {
			return
		}
		m.now = max(m.now, ns)
	}}, pace{interval: millisecond})
	if err := l.do(4, func(msg *timed) error {
		if m.now < msg.due {
			t.Errorf("message %d is sent %d ns early", msg.seq, msg.due-m.now)
		}
		return l.take(msg)
	}); err != nil {
		t.Fatal(err)
	}
	if want := []int64{0, 1, 2, 3}; !slices.Equal(waits, want) {
		t.Errorf("waits until %v ms, want %v", waits, want)
	}
}

// A ring's floor has no messages to lose, but a node could be left out.
func TestRingFloorIsChecked(t *testing.T) {
	for name, harm := range map[string]func(r *rings){
		"a node is left out":      func(r *rings) { r.node(3).next = r.node(5) },
		"a node is visited twice": func(r *rings) { r.node(3).visits++ },
		"a node is another's":     func(r *rings) { r.node(3).weight++ },
	} {
		var s progress
		s.init()
		r := newRings(&s, 1, 20, true)
		err := r.walk(20)
		harm(r)
		if err == nil {
			err = r.walk(100)
		}
		if err == nil {
			err = r.check()
		}
		if err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// Neighbours in a shuffled ring are none in memory, and all nodes are in it.
func TestShuffledRing(t *testing.T) {
	var s progress
	r := newRings(&s, 1, 1000, true)
	seen := make(map[int]bool)
	next := 0
	for n := r.node(0); !seen[n.index]; n = n.next {
		seen[n.index] = true
		if n.next.index == n.index+1 {
			next++
		}
	}
	if len(seen) != 1000 {
		t.Errorf("the ring has %d nodes of 1,000", len(seen))
	}
	if next > 10 { // one is expected
		t.Errorf("%d of 1,000 nodes are followed by their neighbours in memory", next)
	}
}

// The latency of a new actor ends when it handles its message, whenever that is
// booked, and none is lost that answers out of turn.
func TestSpawnLatencyIsBookedAsItWas(t *testing.T) {
	var s progress
	s.init()
	m := new(fakeMeter)
	l := newSpawnLoop(&s, Setting{Meter: m})
	var notes []*handledNote
	err := l.do(5, func(msg *timed) error {
		m.now += 2000
		n := new(handledNote)
		notes = append(notes, n)
		return n.take(m, msg)
	})
	if err != nil {
		t.Fatal(err)
	}
	m.now += 50 * millisecond
	slices.Reverse(notes)
	for i, n := range notes {
		if err := l.check(); err == nil {
			t.Errorf("%d of 5 are booked, and nothing is missing", i)
		}
		l.book(n)
	}
	for _, ns := range m.latencies {
		if ns < 2000 || ns > 10_000 {
			t.Errorf("latency of %d ns, want the 2,000 to the handling and a few looks at the clock", ns)
		}
	}
	if err := l.check(); err != nil || len(m.latencies) != 5 {
		t.Errorf("%d latencies, %v", len(m.latencies), err)
	}
	if err := notes[0].take(m, notes[0].msg); err == nil {
		t.Error("an actor took a second first message")
	}
}

// An actor that has had its message goes: a run among ever more of them would
// measure something else the longer it takes.
func TestSpawnedActorsDoNotPileUp(t *testing.T) {
	r := spawnRateOnActors(Setting{Impl: serial.Impl}).(*run)
	defer r.Close()
	sys := r.side.(*system).sys
	before := sys.Stats().Actors
	if err := r.Do(100); err != nil {
		t.Fatal(err)
	}
	if after := sys.Stats().Actors; after != before {
		t.Errorf("%d actors after the run, %d before", after, before)
	}
}
