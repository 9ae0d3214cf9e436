package actor

import (
	"sync"
	"testing"
	"time"
)

// TestCounterLosesNothing has several goroutines count the same thing.
func TestCounterLosesNothing(t *testing.T) {
	const goroutines, each = 4, 500_000
	var c counter
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				c.add(1)
			}
		})
	}
	all.Wait()
	if n := c.load(); n != goroutines*each {
		t.Errorf("%d are counted, want %d", n, goroutines*each)
	}
}

// TestTallyIsPublished: what a worker counts is seen some hundred turns later at most, and all
// of it when it is published.
func TestTallyIsPublished(t *testing.T) {
	tally := Tally{Steals: 1, Parks: 2, Wakes: 4}
	for range 10 * publishEvery {
		tally.turn(2)
		var s Stats
		if tally.AddTo(&s); tally.Turns-s.Turns > publishEvery || s.Messages != 2*s.Turns {
			t.Fatalf("after %d turns with two messages %+v", tally.Turns, s)
		}
	}
	tally.turn(0)
	tally.Publish()
	s := Stats{Messages: 100, Turns: 100, Steals: 100, Parks: 100, Wakes: 100}
	tally.AddTo(&s)
	if want := (Stats{Messages: 100 + tally.Messages, Turns: 100 + tally.Turns, Steals: 101, Parks: 102, Wakes: 104}); s != want {
		t.Errorf("%+v is published, want %+v", s, want)
	}
}

// TestBackoffDiffersByIncarnation: of the actors that have had the same place each waits for a
// time of its own, as those in different places do, and after each failure.
func TestBackoffDiffersByIncarnation(t *testing.T) {
	b := Backoff{Min: 1 << 40, Max: 1 << 40, Jitter: 1}
	seen := map[int64]string{}
	note := func(what string, p PID, n int) {
		d := int64(b.delay(p, n))
		if other := seen[d]; other != "" {
			t.Errorf("%s waits as long as %s", what, other)
		}
		seen[d] = what
	}
	note("the first", PID{slot: 1, gen: 1}, 1)
	note("the second in its place", PID{slot: 1, gen: 2}, 1)
	note("one in another place", PID{slot: 2, gen: 1}, 1)
	note("the first at its second failure", PID{slot: 1, gen: 1}, 2)
}

// TestBackoffGrows: what has no Factor doubles from failure to failure, up to a minute if no Max
// is said, and Min is not cut.
func TestBackoffGrows(t *testing.T) {
	for _, tt := range []struct {
		b    Backoff
		want []time.Duration
	}{
		{Backoff{}, []time.Duration{0, 0}},
		{Backoff{Min: 20 * time.Second}, []time.Duration{20 * time.Second, 40 * time.Second, time.Minute, time.Minute}},
		{Backoff{Min: 2 * time.Minute}, []time.Duration{2 * time.Minute, 2 * time.Minute}},
		{Backoff{Min: 1, Max: 1}, []time.Duration{1, 1}},
		{Backoff{Min: 1, Max: 9, Factor: 3}, []time.Duration{1, 3, 9, 9}},
		{Backoff{Min: 1, Max: 9, Factor: 1}, []time.Duration{1, 1}},
	} {
		for i, want := range tt.want {
			if got := tt.b.delay(PID{}, i+1); got != want {
				t.Errorf("%+v: failure %d is followed by %v, want %v", tt.b, i+1, got, want)
			}
		}
	}
}

// TestBudget books restarts at some times, and has each return which one of its window it is, or
// the negative number of those before it if there may be no more.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		s    Supervisor
		at   []time.Duration
		want []int
	}{
		{Supervisor{MaxRestarts: 2, Window: 10}, []time.Duration{0, 10, 10, 11, 12}, []int{1, 2, -2, 2, -2}},
		{Supervisor{MaxRestarts: 1, Window: 1}, []time.Duration{0, 1, 2}, []int{1, -1, 1}},
		{Supervisor{MaxRestarts: 2, Window: -1}, []time.Duration{0, time.Hour, time.Hour}, []int{1, 2, -2}},
		{Supervisor{MaxRestarts: -1, Window: 10}, []time.Duration{0, 10, 20, 31}, []int{1, 2, 3, 1}},
		{Supervisor{MaxRestarts: -1, Window: 1}, []time.Duration{0, 1, 3}, []int{1, 2, 1}},
		{Supervisor{MaxRestarts: -1, Window: -1}, []time.Duration{0, time.Hour}, []int{1, 2}},
		{Supervisor{}, []time.Duration{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -10}},
		{Supervisor{}, []time.Duration{0, 10 * time.Second, 20*time.Second + 1}, []int{1, 2, 1}},
	} {
		var b budget
		for i, at := range tt.at {
			n, ok := b.spend(&tt.s, time.Unix(0, 0).Add(at))
			if !ok {
				n = -n
			}
			if n != tt.want[i] {
				t.Errorf("%+v: the restart at %v is %d, want %d", tt.s, at, n, tt.want[i])
			}
		}
	}
}

// TestCellForgets: what an actor no longer needs of others is gone: it does not grow with those
// that come and go.
func TestCellForgets(t *testing.T) {
	var p, a, b, c Cell
	for _, child := range []*Cell{&a, &b, &c} {
		p.link(child)
	}
	p.more = &more{ofFailures: ofFailures{budgets: map[*Cell]*budget{&b: {}}}}
	p.lost(&b)
	if b.older != nil || b.newer != nil || p.children != &c || c.older != &a || a.newer != &c || len(p.more.budgets) != 0 {
		t.Errorf("something is left of a child that has stopped: %+v", p.more)
	}

	var w watchers
	w.add(&a)
	w.add(&b)
	if w.remove(&c); len(w.list) != 2 {
		t.Error("a watcher is forgotten in another one's place")
	}

	var q noticeQueue
	for i := range 2 {
		q.push(notice{msg: i})
	}
	q.pop()
	if q.list[0].msg != nil {
		t.Error("a message that was handled is kept")
	}
	if q.pop(); q.list == nil {
		t.Error("room for a few messages is not kept")
	}
	for range 2000 {
		q.push(notice{})
	}
	for range 2000 {
		q.pop()
	}
	if q.list != nil {
		t.Error("room for a burst is kept")
	}
}

// TestEpochsAreNotZero: zero stands for any suspension, so none has it.
func TestEpochsAreNotZero(t *testing.T) {
	c := &Cell{system: &System{events: new(EventStream), clock: wallClock{}}, more: &more{ofSuspensions: ofSuspensions{epoch: 1<<32 - 2}}}
	for _, want := range []uint32{1<<32 - 1, 1, 2} {
		if c.suspended(&pause{cell: c}); c.more.epoch != want {
			t.Errorf("the suspension is number %d, want %d", c.more.epoch, want)
		}
	}
}

// unscheduled is the port of an actor that has no turns.
type unscheduled struct{ Port }

func (unscheduled) Wake(Worker) {}

// unscheduledCells returns a function that makes actors of one system, for tests of their parts.
func unscheduledCells() func() *Cell {
	s := &System{events: new(EventStream), clock: NewManualClock(time.Unix(0, 0))}
	s.timers.init(s.clock)
	return func() *Cell { return &Cell{system: s, port: unscheduled{}, more: &more{}} }
}

// TestDecisionsAreForgotten: a decision is about one failure, and what was noted for it is gone when it
// is carried out; a restart that another one follows has not begun before the children are gone.
func TestDecisionsAreForgotten(t *testing.T) {
	cell := unscheduledCells()
	c, kid := cell(), cell()
	m := c.more
	first, second := &Failure{}, &Failure{}
	m.broken, m.escalated, m.lastErr = second, []*Cell{kid}, ErrFailed
	c.suspend(holdFailed)
	if c.goOn(&goOnOrder{fail: first}); m.broken != second || m.hold != holdFailed {
		t.Error("a decision about an earlier failure is carried out")
	}
	c.goOn(&goOnOrder{fail: second})
	if m.hold != 0 || m.escalated != nil || m.lastErr != nil || !kid.signals.pending() {
		t.Errorf("after Resume there is %+v", m)
	}

	c.link(kid) // which the restart waits for
	m.escalated = []*Cell{kid}
	if c.restart(&restartOrder{}); m.escalated != nil {
		t.Error("a restarted actor keeps the escalated failures of its old children")
	}
	v := m.verdict
	v.timer.waiter = v
	c.system.timers.start(&v.timer, time.Hour)
	if c.restart(&restartOrder{}); m.verdict == v || m.verdict.clean || len(c.system.timers.heap) != 0 {
		t.Errorf("the second restart is %+v, and %d timers are left of the first", m.verdict, len(c.system.timers.heap))
	}
}

// TestSeekersAreToldApart: where nothing bounds the mailbox there is room; and who waits for it
// again, before it has said that it no longer waits, is there twice.
func TestSeekersAreToldApart(t *testing.T) {
	cell := unscheduledCells()
	from, to := cell(), cell()
	m := to.more
	to.seek(from, 1)
	if !from.signals.pending() || m.granted != 1 {
		t.Error("an unbounded mailbox has no room")
	}
	m.seekers = append(m.seekers, seeker{cell: from, epoch: 2})
	if to.unseek(from, 2); len(m.seekers) != 1 || m.seekers[0].epoch != 1 || m.granted != 1 {
		t.Errorf("when the second is gone there are %+v, %d of them resumed", m.seekers, m.granted)
	}
	if to.unseek(from, 1); len(m.seekers) != 0 || m.granted != 0 {
		t.Errorf("when both are gone there are %+v, %d of them resumed", m.seekers, m.granted)
	}

	from.more.sought = seeker{cell: to, epoch: 1}
	from.more.pause = &pause{Suspension: Suspension{Capacity: Ref{to}}, cell: from, epoch: 2}
	from.resumed(2, from.now())
	if s := to.signals.take(); s == nil || s.kind != sigUnseek || s.epoch != 1 || s.next != nil || from.more.sought.epoch != 2 {
		t.Errorf("resumed twice in a turn, it has said %+v, and is going to say %+v", s, from.more.sought)
	}
}
