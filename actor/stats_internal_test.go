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
	p.more = &more{budgets: map[*Cell]*budget{&b: {}}}
	p.lost(&b)
	if b.older != nil || b.newer != nil || p.children != &c || c.older != &a || a.newer != &c || len(p.more.budgets) != 0 {
		t.Errorf("something is left of a child that has stopped: %+v", p.more)
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
	c := &Cell{system: &System{events: new(EventStream), clock: wallClock{}}, more: &more{epoch: 1<<32 - 2}}
	for _, want := range []uint32{1<<32 - 1, 1, 2} {
		if c.suspended(&pause{cell: c}); c.more.epoch != want {
			t.Errorf("the suspension is number %d, want %d", c.more.epoch, want)
		}
	}
}
