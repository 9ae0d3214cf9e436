package actor_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

var noon = time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)

// idler is an actor that does nothing.
var idler = actortest.Func(func(*actor.Context, any) error { return nil })

// TestManualClockOrder: alarms ring in order of time, those of the same time in
// the order in which they were set, each with the clock at its time.
func TestManualClockOrder(t *testing.T) {
	c := actor.NewManualClock(noon)
	var got []string
	alarm := map[string]actor.Alarm{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		alarm[name] = c.NewAlarm(func() {
			got = append(got, name+" "+c.Now().Sub(noon).String())
			switch name {
			case "b":
				if c.Now().Sub(noon) > 3*time.Second {
					return
				}
				alarm["b"].Set(2 * time.Second) // rings again on the way
				alarm["e"].Set(-1)              // at once
				alarm["f"].Stop()               // would ring later on the way
			case "d":
				alarm["a"].Set(time.Hour) // rings not on the way
			}
		})
	}
	alarm["a"].Set(5 * time.Second)
	alarm["d"].Set(4 * time.Second)
	alarm["c"].Set(4 * time.Second)
	alarm["b"].Set(3 * time.Second)
	alarm["a"].Set(4 * time.Second) // after d and c now
	alarm["f"].Set(3 * time.Second)
	alarm["e"].Set(time.Second)
	alarm["e"].Stop()
	rang := func(d time.Duration, want ...string) {
		t.Helper()
		got = nil
		before := c.Now()
		c.Advance(d)
		if !slices.Equal(got, want) {
			t.Errorf("in %v rang %q, want %q", d, got, want)
		}
		if now := c.Now(); !now.Equal(before.Add(d)) {
			t.Errorf("after %v the clock stands at %v, %v before", d, now, before)
		}
	}
	rang(0)
	rang(3*time.Second - 1)
	rang(1, "b 3s", "e 3s")
	rang(time.Second, "d 4s", "c 4s") // not a: d has set it for later
	rang(time.Minute, "b 5s")
	alarm["c"].Set(0)
	if len(got) != 1 {
		t.Error("Set rings")
	}
	alarm["e"].Set(-time.Hour) // now, which is when c rings
	rang(0, "c 1m4s", "e 1m4s")
	rang(time.Hour, "a 1h0m4s")
	rang(time.Hour)
}

// TestManualClockAtOnce: calls of Advance at the same time move the clock by
// their sum, never back, and no alarm rings twice or never.
func TestManualClockAtOnce(t *testing.T) {
	const goroutines, steps = 4, 2000
	c := actor.NewManualClock(noon)
	var rang atomic.Int32
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			a := c.NewAlarm(func() { rang.Add(1) })
			last := c.Now()
			for range steps {
				a.Set(0)
				c.Advance(1)
				now := c.Now()
				if !now.After(last) {
					t.Errorf("the clock went from %v to %v", last, now)
				}
				last = now
			}
		})
	}
	wg.Wait()
	if got := c.Now().Sub(noon); got != goroutines*steps {
		t.Errorf("the clock was moved by %d ns, want %d", got, goroutines*steps)
	}
	if got := rang.Load(); got != goroutines*steps {
		t.Errorf("%d alarms rang, want %d", got, goroutines*steps)
	}
}

// TestManualClockStart: a clock stands where it was told to, and keeps nothing
// of the clock that this was read from.
func TestManualClockStart(t *testing.T) {
	now := time.Now()
	if got := actor.NewManualClock(now).Now(); got != now.Round(0) {
		t.Errorf("a clock that starts at %v stands at %v", now.Round(0), got)
	}
}

func TestManualClockRefuses(t *testing.T) {
	c := actor.NewManualClock(noon)
	defer func() {
		if recover() == nil {
			t.Error("Advance(-1) does not panic")
		}
		c.Advance(1) // and has left no lock behind
	}()
	c.Advance(-1)
}

// TestSystemEndsItsTimers: on the clock it was given, a system's timers are due
// until it is over, and then it has no alarm set.
func TestSystemEndsItsTimers(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		c := actor.NewManualClock(noon)
		h := newHostWith(t, actor.Config{Clock: c, Dispatcher: impl.NewDispatcher()})
		s := h.System.System
		calls := 0
		count := func() { calls++ }
		actor.StartTimer(s, time.Second, count)
		stop := actor.StartTimer(s, time.Second, count)
		late := actor.StartTimer(s, time.Hour, count)
		if !stop() {
			t.Error("a timer cannot be stopped")
		}
		c.Advance(time.Minute)
		if calls != 1 {
			t.Errorf("%d timers were due, want 1", calls)
		}
		must(t, s.Shutdown(context.Background()))
		<-s.Done()
		actor.StartTimer(s, 0, count)
		c.Advance(24 * time.Hour)
		if calls != 1 || !late() {
			t.Error("a timer is due after its system is over")
		}
	})
}

// TestSystemTimersInBubble: the default clock is package time's.
func TestSystemTimersInBubble(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			h := newHost(t, impl)
			s := h.System.System
			due := make(chan time.Duration)
			actor.StartTimer(s, time.Hour, func() { due <- time.Since(begin) })
			actor.StartTimer(s, 2*time.Hour, func() { due <- time.Since(begin) })
			actor.StartTimer(s, 48*time.Hour, func() { t.Error("a timer is due after its system is over") })
			for i := range 2 {
				if got, want := <-due, time.Duration(i+1)*time.Hour; got != want {
					t.Errorf("a timer of %v is due after %v", want, got)
				}
			}
			must(t, s.Shutdown(context.Background()))
			<-s.Done()
			<-time.After(72 * time.Hour)
		})
	})
}

// TestManualClockForgetsItsProcess: a clock that begins now stands at a time that others can
// compare, without the reading of the process's own clock.
func TestManualClockForgetsItsProcess(t *testing.T) {
	now := time.Now()
	if got := actor.NewManualClock(now).Now(); got != now.Round(0) {
		t.Errorf("the clock stands at %v", got)
	}
}
