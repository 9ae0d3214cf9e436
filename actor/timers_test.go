package actor

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"
)

// told is a waiter that is a function.
type told func(tag uint64)

func (f told) due(tag uint64) { f(tag) }

var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// StartTimer starts a timer of s for the tests outside the package.
func StartTimer(s *System, d time.Duration, f func()) (stop func() bool) {
	x := &timer{waiter: told(func(uint64) { f() })}
	s.timers.start(x, d)
	return func() bool { return s.timers.stop(x) }
}

// check fails the test if the heap is not one, or larger than it may be.
func (t *timers) check(tb testing.TB) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.heap)
	for i, e := range t.heap {
		if e.x.pos != i+1 {
			tb.Fatalf("the timer at %d of the heap believes to be at %d", i, e.x.pos-1)
		}
		if i > 0 && e.before(t.heap[(i-1)/children]) {
			tb.Fatalf("the timer at %d of the heap is due before its parent", i)
		}
	}
	if c := cap(t.heap); c > max(minTimers, 4*n) {
		tb.Fatalf("the heap has room for %d timers, and there are %d", c, n)
	}
	for _, e := range t.heap[n:cap(t.heap)] {
		if e.x != nil {
			tb.Fatal("the heap holds on to a timer that has left it")
		}
	}
	if !t.ringing && n > 0 && t.armed > t.heap[0].when {
		tb.Fatalf("the alarm is set for %d, and the first timer is due at %d", t.armed, t.heap[0].when)
	}
}

// TestTimersModel does random things to timers and to a sorted list, also in
// the calls of due, and expects the same of both.
func TestTimersModel(t *testing.T) {
	for range 500 {
		seed := rand.Uint64()
		if !t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) { timersModel(t, seed) }) {
			break
		}
	}
}

func timersModel(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	clock := NewManualClock(midnight)
	var ts timers
	ts.init(clock)

	type start struct {
		at    time.Duration // since midnight
		order uint64        // of starts
		id    int
	}
	var (
		list    []start // the model: what is started, the next first
		started uint64
		all     = make([]timer, 1+rng.IntN(1<<rng.IntN(11)))
		spread  = 1 + rng.IntN(50) // small: many are due at the same time
		step    func(inside bool)
	)
	now := func() time.Duration { return clock.Now().Sub(midnight) }
	forget := func(id int) bool {
		n := len(list)
		list = slices.DeleteFunc(list, func(s start) bool { return s.id == id })
		return len(list) < n
	}
	for id := range all {
		all[id].waiter = told(func(tag uint64) {
			if len(list) == 0 {
				t.Fatalf("at %v timer %d is due, which was not started", now(), id)
			}
			if s := list[0]; s.id != id || s.order != tag || s.at != now() {
				t.Fatalf("at %v timer %d of start %d is due, want timer %d of start %d at %v", now(), id, tag, s.id, s.order, s.at)
			}
			list = list[1:]
			for rng.IntN(3) == 0 {
				step(true)
			}
		})
	}
	step = func(inside bool) {
		id := rng.IntN(len(all))
		switch k := rng.IntN(10); {
		case k < 5:
			d := time.Duration(rng.IntN(spread))
			switch rng.IntN(20) {
			case 0:
				d = -d
			case 1:
				d = math.MaxInt64 - d // later than anything can be
			case 2:
				d *= 1000
			}
			forget(id)
			started++
			s := start{now() + min(max(d, 0), math.MaxInt64-1-now()), started, id}
			i, _ := slices.BinarySearchFunc(list, s, func(a, b start) int {
				return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
			})
			list = slices.Insert(list, i, s)
			ts.startAs(&all[id], d, started)
		case k < 8:
			want := forget(id)
			if got := ts.stop(&all[id]); got != want {
				t.Fatalf("stop of timer %d returns %v, want %v", id, got, want)
			}
		case !inside:
			d := time.Duration(rng.IntN(2 * spread))
			end := now() + d
			clock.Advance(d)
			if now() != end {
				t.Fatalf("the clock stands at %v, want %v", now(), end)
			}
			if len(list) > 0 && list[0].at <= end {
				t.Fatalf("at %v timer %d was not due, but should at %v", now(), list[0].id, list[0].at)
			}
		}
		if len(ts.heap) != len(list) {
			t.Fatalf("there are %d timers, want %d", len(ts.heap), len(list))
		}
		if rng.IntN(8) == 0 {
			ts.check(t)
		}
	}
	for range 500 + 2*len(all) {
		step(false)
	}
	for id := range all {
		if got, want := ts.stop(&all[id]), forget(id); got != want {
			t.Fatalf("at the end, stop of timer %d returns %v, want %v", id, got, want)
		}
		ts.check(t)
	}
	clock.Advance(math.MaxInt64 / 2)
}

// counted is a clock that counts what is done with its alarms.
type counted struct {
	*ManualClock
	sets, stops int
}

type countedAlarm struct {
	Alarm
	c *counted
}

func (c *counted) NewAlarm(f func()) Alarm { return countedAlarm{c.ManualClock.NewAlarm(f), c} }

func (a countedAlarm) Set(d time.Duration) { a.c.sets++; a.Alarm.Set(d) }
func (a countedAlarm) Stop()               { a.c.stops++; a.Alarm.Stop() }

// TestTimersAlarm: the alarm is set when a timer becomes the first, and for
// nothing else.
func TestTimersAlarm(t *testing.T) {
	c := &counted{ManualClock: NewManualClock(midnight)}
	var ts timers
	ts.init(c)
	calls := 0
	x := make([]timer, 100)
	for i := range x {
		x[i].waiter = told(func(uint64) { calls++ })
	}
	sets := func(want int, why string) {
		t.Helper()
		if c.sets != want {
			t.Errorf("the alarm was set %d times, want %d: %s", c.sets, want, why)
		}
		c.sets = 0
	}
	sets(0, "there is no timer")
	for i := range x {
		ts.start(&x[i], time.Hour+time.Duration(i))
	}
	sets(1, "100 timers, the first one being due first")
	for i := range x[50:] {
		ts.start(&x[50+i], 2*time.Hour)
		ts.start(&x[50+i], 3*time.Hour)
	}
	sets(0, "timers behind the first were started again")
	ts.start(&x[99], time.Minute)
	sets(1, "a timer became the first")
	for range 1000 {
		ts.stop(&x[99])
		ts.start(&x[99], time.Minute)
	}
	sets(0, "the first was stopped, and started for the same time")
	ts.stop(&x[99])
	c.Advance(time.Minute)
	sets(1, "it rang for a timer that was stopped, and there are others")
	if calls != 0 {
		t.Error("a timer that was stopped is due")
	}
	c.Advance(time.Hour)
	sets(50, "each of the first 50 is followed by another")
	for i := range x {
		ts.stop(&x[i])
	}
	c.Advance(24 * time.Hour)
	sets(0, "there is no timer left")
	if calls != 50 {
		t.Errorf("%d timers were due, want 50", calls)
	}
	c.Advance(24 * time.Hour)
	if len(c.alarms) != 0 {
		t.Error("without timers an alarm is set")
	}
	ts.start(&x[0], 1)
	sets(1, "there is a timer again")
}

// TestTimersInDue: many timers that are due at once have the alarm set once, for
// what comes after, whatever they start meanwhile.
func TestTimersInDue(t *testing.T) {
	c := &counted{ManualClock: NewManualClock(midnight)}
	var ts timers
	ts.init(c)
	x := make([]timer, 100)
	for i := range x {
		x[i].waiter = told(func(tag uint64) {
			if tag == 0 {
				ts.startAs(&x[i], time.Duration(len(x)-i), 1) // each one becomes the first
			}
		})
		ts.start(&x[i], 1)
	}
	c.sets = 0
	c.Advance(1)
	if c.sets != 1 {
		t.Errorf("the alarm was set %d times, want once", c.sets)
	}
	c.Advance(100)
	if len(ts.heap) != 0 {
		t.Errorf("%d timers are left", len(ts.heap))
	}
}

// overtaken is a clock of which a goroutine reads the time and, before it goes on,
// is overtaken by others.
type overtaken struct {
	*ManualClock
	by func() // what they do; nil when done
}

func (c *overtaken) Now() time.Time {
	now := c.ManualClock.Now()
	if by := c.by; by != nil {
		c.by = nil
		by()
	}
	return now
}

// TestTimersStartedFirstTogether: of two timers that are the first to be started
// at the same time, the one that was started second may have read the clock
// first. Entries count from the other one's time, which is after that; the timer
// is due all the same.
func TestTimersStartedFirstTogether(t *testing.T) {
	var ts timers
	var due []string
	x := timer{waiter: told(func(uint64) { due = append(due, "x") })}
	y := timer{waiter: told(func(uint64) { due = append(due, "y") })}
	c := &overtaken{ManualClock: NewManualClock(midnight)}
	c.by = func() {
		c.Advance(5)
		ts.start(&y, 20)
	}
	ts.init(c)
	ts.start(&x, 10)
	c.Advance(10)
	if !slices.Equal(due, []string{"x"}) {
		t.Errorf("10 ns after a timer of 10 ns and one of 20 ns were started, %v are due", due)
	}
	c.Advance(10)
	if !slices.Equal(due, []string{"x", "y"}) {
		t.Errorf("10 ns later, %v are due", due)
	}
}

// early is a clock whose alarm rings too early, and in between for no reason.
type early struct{ *ManualClock }

func (c early) NewAlarm(f func()) Alarm {
	return earlyAlarm{c.ManualClock.NewAlarm(f)}
}

type earlyAlarm struct{ Alarm }

func (a earlyAlarm) Set(d time.Duration) { a.Alarm.Set(d - d/3) }

// TestTimersOfACoarseClock: an alarm that rings early, or without being set,
// makes no timer early, and none is forgotten.
func TestTimersOfACoarseClock(t *testing.T) {
	c := early{NewManualClock(midnight)}
	var ts timers
	ts.init(c)
	var at []time.Duration
	var x timer
	x.waiter = told(func(uint64) { at = append(at, c.Now().Sub(midnight)) })
	ts.ring()
	ts.start(&x, 1000)
	ts.ring()
	c.Advance(999)
	ts.ring()
	if len(at) != 0 {
		t.Fatalf("a timer of 1000 ns is due after %d", at[0])
	}
	c.Advance(1)
	if !slices.Equal(at, []time.Duration{1000}) {
		t.Fatalf("a timer of 1000 ns is due after %d", at)
	}
}

// TestTimersClose: nothing is due after close, whether started before or
// after, and nothing is held on to.
func TestTimersClose(t *testing.T) {
	c := NewManualClock(midnight)
	var ts timers
	ts.init(c)
	calls := 0
	x := make([]timer, 10)
	for i := range x {
		x[i].waiter = told(func(uint64) {
			if calls++; i == 2 {
				ts.close()
			}
		})
		ts.start(&x[i], time.Duration(i/5))
	}
	c.Advance(0)
	if calls != 3 {
		t.Errorf("%d timers were due, want 3: the third closed them all", calls)
	}
	if ts.heap != nil || len(c.alarms) != 0 {
		t.Error("after close there are timers, or the alarm is set")
	}
	ts.close() // again
	ts.start(&x[0], 0)
	ts.ring()
	c.Advance(time.Hour)
	if calls != 3 || len(c.alarms) != 0 {
		t.Error("a timer was due after close, or has set the alarm")
	}
	for i, want := range []bool{true, false, false, true, true} {
		if got := ts.stop(&x[i]); got != want {
			t.Errorf("after close, stop of timer %d returns %v, want %v", i, got, want)
		}
		if ts.stop(&x[i]) {
			t.Errorf("a second stop of timer %d returns true", i)
		}
	}

	var idle timers
	idle.init(c)
	idle.start(&timer{waiter: told(func(uint64) {})}, time.Hour)
	idle.close()
	if len(c.alarms) != 0 {
		t.Error("close leaves the alarm set")
	}
}

// TestTimersInBubble: with package time's clock, in a synctest bubble, timers
// are due to the nanosecond, and leave no goroutine and no timer behind: the
// bubble would not end with the one, and the hour would not pass undisturbed
// with the other.
func TestTimersInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var ts timers
		ts.init(wallClock{})
		const n = 1000
		type call struct {
			id int
			at time.Duration
		}
		calls := make(chan call, 2*n)
		x := make([]timer, n)
		for i := range x {
			x[i].waiter = told(func(uint64) { calls <- call{i, time.Since(begin)} })
			ts.start(&x[i], time.Duration(i*7919%n)*time.Millisecond)
		}
		for i := range n {
			got := <-calls
			if want := time.Duration(i) * time.Millisecond; got.at != want || got.id*7919%n != i {
				t.Fatalf("call %d is of timer %d, %v after the start; want one of %v", i, got.id, got.at, want)
			}
		}
		for i := range x {
			ts.start(&x[i], time.Duration(i)*time.Second)
		}
		<-calls // what is due at once is called by another goroutine
		ts.close()
		<-time.After(time.Hour)
		if len(calls) != 0 {
			t.Error("a timer is due after close")
		}
	})
}

// TestWallAlarm: the last Set counts, and none before a Stop.
func TestWallAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		rings := make(chan time.Duration, 10)
		a := wallClock{}.NewAlarm(func() { rings <- time.Since(begin) })
		a.Stop()
		a.Set(time.Hour)
		a.Set(3 * time.Hour)
		a.Set(2 * time.Hour)
		if at := <-rings; at != 2*time.Hour {
			t.Errorf("an alarm that was set for 2 hours last rings after %v", at)
		}
		a.Set(time.Hour)
		a.Stop()
		<-time.After(24 * time.Hour)
		if len(rings) != 0 {
			t.Errorf("after Stop, or a second time, it rings after %v", <-rings)
		}
		begin = time.Now()
		a.Set(-1)
		if at := <-rings; at != 0 {
			t.Errorf("an alarm that was set for now rings after %v", at)
		}
	})
}

// TestTimersStopOrDue: of every start comes exactly one of a stop that returned
// true and a call of due, however many stop it while it rings. Starts that are
// replaced have one call or none.
func TestTimersStopOrDue(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	var ts timers
	ts.init(wallClock{})
	defer ts.close()
	var wg sync.WaitGroup
	var late atomic.Int32 // starts that were due before they could be stopped
	seed := rand.Uint64()
	t.Logf("seed=%d", seed)
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			calls := make(chan uint64, 2)
			x := timer{waiter: told(func(tag uint64) { calls <- tag })}
			ask := make(chan struct{})
			answer := make(chan bool)
			go func() { // the other one who stops
				defer close(answer)
				for range ask {
					answer <- ts.stop(&x)
				}
			}()
			defer close(ask)
			for i := uint64(1); i <= uint64(rounds); i++ {
				first := uint64(0) // the start that is replaced, if there is one
				if rng.IntN(4) == 0 {
					first = i
					ts.startAs(&x, time.Duration(rng.IntN(4000)), i)
					i++
				}
				ts.startAs(&x, time.Duration(rng.IntN(20_000)-1000), i)
				for range rng.IntN(4) {
					runtime.Gosched()
				}
				outcomes := 0
				ask <- struct{}{}
				if ts.stop(&x) {
					outcomes++
				}
				if <-answer {
					outcomes++
				}
				if outcomes > 1 {
					t.Errorf("start %d was stopped twice", i)
				}
				if outcomes == 0 {
					late.Add(1)
				}
				for outcomes == 0 {
					select {
					case tag := <-calls:
						if tag == first {
							first = 0
						} else if tag == i {
							outcomes++
						} else {
							t.Errorf("start %d was due once more, after start %d", tag, i)
							return
						}
					case <-time.After(time.Minute):
						t.Errorf("start %d was neither stopped nor due in a minute", i)
						return
					}
				}
				// A call for the replaced start may be on its way: it is let
				// through by what is started next, for calls come in order.
				if first != 0 {
					ts.startAs(&x, 0, i+1)
					for tag := range calls {
						if tag == i+1 {
							break
						} else if tag != first {
							t.Errorf("start %d was due, and is not %d or %d", tag, first, i+1)
							return
						}
						first = 0
					}
					i++
				}
			}
			if len(calls) != 0 {
				t.Errorf("start %d was due once more", <-calls)
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d starts were due", late.Load(), 4*rounds)
	ts.check(t)
	if len(ts.heap) != 0 {
		t.Errorf("%d timers are left", len(ts.heap))
	}
}

// TestTimersTag: due is called with the tag of the start that it is for, and not
// with that of a later one that comes while the call is on its way.
func TestTimersTag(t *testing.T) {
	const n = 50_000
	var ts timers
	ts.init(NewManualClock(midnight))
	last := uint64(0)
	x := timer{waiter: told(func(tag uint64) {
		if tag <= last {
			t.Errorf("start %d is due after start %d", tag, last)
		}
		last = tag
	})}
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			ts.ring()
			runtime.Gosched()
		}
	})
	for i := range uint64(n) {
		ts.startAs(&x, 0, i+1)
		runtime.Gosched()
	}
	done.Store(true)
	wg.Wait()
	ts.ring()
	if last != n {
		t.Errorf("start %d was the last to be due, want %d", last, n)
	}
}

// TestTimersRingAtOnce: alarms that ring while one is ringing change nothing:
// no call is lost, none is made twice, and no two at the same time.
func TestTimersRingAtOnce(t *testing.T) {
	const n = 5000
	c := NewManualClock(midnight)
	var ts timers
	ts.init(c)
	var inside, calls atomic.Int32
	x := make([]timer, n)
	for i := range x {
		x[i].waiter = told(func(uint64) {
			if inside.Add(1) != 1 {
				t.Error("two calls at the same time")
			}
			runtime.Gosched()
			inside.Add(-1)
			calls.Add(1)
		})
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < n; i += 4 {
				ts.start(&x[i], time.Duration(i%10))
				if i%3 == 0 {
					ts.ring()
				} else {
					c.Advance(1)
				}
			}
		})
	}
	wg.Wait()
	c.Advance(10)
	ts.ring() // a timer may be late whose start looked at the clock before it was moved
	if got := calls.Load(); got != n {
		t.Errorf("%d timers were due, want %d", got, n)
	}
}

// TestTimersAllocateNothing: starting, stopping and being due, with a hundred
// thousand others.
func TestTimersAllocateNothing(t *testing.T) {
	const crowd = 100_000
	c := NewManualClock(midnight)
	var ts timers
	ts.init(c)
	x := make([]timer, crowd)
	w := told(func(uint64) {})
	for i := range x {
		x[i].waiter = w
		ts.start(&x[i], time.Hour+time.Duration(i))
	}
	var one timer
	one.waiter = w
	for name, f := range map[string]func(){
		"start and stop": func() { ts.start(&one, time.Minute); ts.stop(&one) },
		"start again":    func() { ts.start(&x[crowd/2], time.Minute); ts.start(&x[crowd/2], 2*time.Hour) },
		"due":            func() { ts.start(&one, time.Nanosecond); c.Advance(time.Nanosecond) },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	// Nor is memory kept for timers that are gone.
	for i := range x {
		ts.stop(&x[i])
	}
	ts.check(t)
}

// TestStoppedAlarmKeepsNothing: package time keeps a timer that is stopped while there are
// others. What the alarm would have called is not kept.
func TestStoppedAlarmKeepsNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // all timers are in one heap
	for range 16 {
		defer time.AfterFunc(time.Hour, func() {}).Stop()
	}
	stopped := func() weak.Pointer[[64]*int] {
		held := new([64]*int)
		alarm := wallClock{}.NewAlarm(func() { runtime.KeepAlive(held) })
		for range 2 { // the second time its timer is there already
			alarm.Set(time.Hour)
			alarm.Stop()
		}
		return weak.Make(held)
	}()
	for range 10 {
		if runtime.GC(); stopped.Value() == nil {
			return
		}
	}
	t.Error("what an alarm would have called is kept after the alarm was stopped")
}
