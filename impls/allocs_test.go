package impls_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/internal/invariants"
)

// allocates is what paths allocate, if anything: docs/semantics-actors.md says it to users. That
// of a single implementation, where it has another, is the path's with its name behind it.
var allocates = map[string]float64{
	"Spawn": 1, "Spawn/channel": 7,
	"Spawn, Watch, Stop, Terminated": 11, "Spawn, Watch, Stop, Terminated/channel": 18,
	"the same with a name": 12, "the same with a name/channel": 19,
	"Watch and Unwatch":                      2,
	"StartTimer and Stop":                    1,
	"StartTimer and its message":             1,
	"ten messages: Stash, UnstashAll":        6,
	"Suspend and Resume":                     4,
	"a failure, Resume":                      5,
	"a failure, Restart":                     6,
	"a message to an actor that has stopped": 1,
	"Log, with a Subscription":               1,
}

// TestAllocations counts what each path of actors allocates, on each implementation: one more
// fails, and so does one less, and a path that is not there.
func TestAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("builds that check allocate for that, and under -race sync.Pool drops at random")
	}
	unused := maps.Clone(allocates)
	for _, p := range allocationPaths {
		for _, impl := range runners() {
			t.Run(p.name+"/"+impl.Name, func(t *testing.T) {
				key := p.name + "/" + impl.Name
				if _, ok := allocates[key]; !ok {
					key = p.name
				}
				delete(unused, key)
				if got := p.count(t, impl); math.Abs(got-allocates[key]) > accuracy {
					t.Errorf("%.2f allocations, want %v", got, allocates[key])
				}
			})
		}
	}
	if len(unused) > 0 {
		t.Errorf("there are no such paths: %v", unused)
	}
}

// runners are the implementations that run actors.
func runners() []dyno.Impl {
	return slices.DeleteFunc(impls.All(), func(impl dyno.Impl) bool { return impl.NewDispatcher == nil })
}

// allocationPath is something that actors do.
type allocationPath struct {
	name string
	// prepare returns a function that does it n times.
	prepare func(h *stage) (do func(n int))
}

// count returns how many allocations it takes once, when everything has grown to its size.
// What others allocate meanwhile can only add to it: the least of some tries counts.
func (p allocationPath) count(t *testing.T, impl dyno.Impl) float64 {
	const n = 500
	h := newStage(t, impl)
	do := p.prepare(h)
	do(n)
	least := 0.0
	for try := range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do(n)
		runtime.ReadMemStats(&after)
		if got := float64(after.Mallocs-before.Mallocs) / n; try == 0 || got < least {
			least = got
		}
	}
	return least
}

// accuracy is how far a count may be from a whole number: a run has a few allocations of
// its own, such as the closure that begins it.
const accuracy = 0.1

// stage is a system, the user guardian of which does what it is told.
type stage struct {
	t     *testing.T
	sys   *actor.System
	clock *actor.ManualClock
	done  chan struct{} // what an actor tells the goroutine of the test
}

func newStage(t *testing.T, impl dyno.Impl) *stage {
	h := &stage{t: t, clock: actor.NewManualClock(time.Unix(0, 0)), done: make(chan struct{}, 1)}
	var err error
	h.sys, err = actor.NewSystem(actor.Config{
		Dispatcher:  impl.NewDispatcher(),
		Clock:       h.clock,
		DeadLetters: func(actor.DeadLetter) {},
		Failures:    func(actor.Failure) {},
		Guardian: plainActor(func(ctx *actor.Context, msg any) error {
			msg.(func(*actor.Context))(ctx)
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.sys.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// plainActor are the props of an actor without hooks, of which New allocates nothing.
func plainActor(f actor.ReceiveFunc) actor.Props {
	return actor.Props{New: func() actor.Actor { return f }}
}

// wait waits for what an actor says with finish.
func (h *stage) wait() {
	if h.sys.Synchronous() {
		h.sys.RunUntilIdle()
	}
	<-h.done
}

func (h *stage) finish() { h.done <- struct{}{} }

func (h *stage) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// in runs f in the guardian's turn.
func (h *stage) in(f func(ctx *actor.Context)) {
	h.must(h.sys.UserGuardian().Tell(func(ctx *actor.Context) {
		f(ctx)
		h.finish()
	}))
	h.wait()
}

// spawn makes a child of the guardian.
func (h *stage) spawn(p actor.Props) (r actor.Ref) {
	h.in(func(ctx *actor.Context) {
		var err error
		r, err = ctx.Spawn(p)
		h.must(err)
	})
	return r
}

// signals are messages that cost nothing to make.
var (
	ping any = new(int)
	end  any = new(int)
	fail any = new(int)
)

// bursts tells an actor of that mailbox bursts of messages.
func bursts(box actor.MailboxConfig) func(*stage) func(int) {
	return func(h *stage) func(int) {
		p := plainActor(func(_ *actor.Context, msg any) error {
			if msg == end {
				h.finish()
			}
			return nil
		})
		p.Mailbox = box
		r := h.spawn(p)
		return func(n int) {
			const burst = 50
			for range n / burst {
				for range burst - 1 {
					h.must(r.Tell(ping))
				}
				h.must(r.Tell(end))
				h.wait()
			}
		}
	}
}

// inTurn does f in a turn.
func inTurn(f func(h *stage, ctx *actor.Context)) func(*stage) func(int) {
	return func(h *stage) func(int) {
		return func(n int) {
			h.in(func(ctx *actor.Context) {
				for range n {
					f(h, ctx)
				}
			})
		}
	}
}

// born has actors spawned, watched and stopped, one behind the other.
func born(name string) func(*stage) func(int) {
	return func(h *stage) func(int) {
		left := 0
		child := plainActor(func(*actor.Context, any) error { return nil })
		next := func(ctx *actor.Context) {
			r, err := ctx.SpawnNamed(name, child)
			if name == "" {
				r, err = ctx.Spawn(child)
			}
			h.must(err)
			ctx.Watch(r)
			ctx.Stop(r)
		}
		parent := h.spawn(plainActor(func(ctx *actor.Context, _ any) error {
			if left--; left < 0 {
				h.finish()
				return nil
			}
			next(ctx)
			return nil
		}))
		return func(n int) {
			left = n
			h.must(parent.Tell(ping))
			h.wait()
		}
	}
}

// failing has an actor fail, and the supervisor do that.
func failing(d actor.Directive) func(*stage) func(int) {
	return func(h *stage) func(int) {
		why := errors.New("it has failed")
		parent := plainActor(func(ctx *actor.Context, msg any) error {
			msg.(func(*actor.Context))(ctx)
			return nil
		})
		parent.Supervisor = &actor.Supervisor{MaxRestarts: -1, Window: time.Nanosecond, Decide: func(actor.Failure) actor.Directive { return d }}
		var child actor.Ref
		h.must(h.spawn(parent).Tell(func(ctx *actor.Context) {
			var err error
			child, err = ctx.Spawn(plainActor(func(_ *actor.Context, msg any) error {
				if msg == fail {
					return why
				}
				h.finish()
				return nil
			}))
			h.must(err)
			h.finish()
		}))
		h.wait()
		return func(n int) {
			for range n {
				h.clock.Advance(time.Second) // so that no restart is within the window of another
				h.must(child.Tell(fail))
				h.must(child.Tell(ping))
				h.wait()
			}
		}
	}
}

// ticking has an actor that begin has begun something for get a message each second.
func ticking(begin func(ctx *actor.Context), again bool) func(*stage) func(int) {
	return func(h *stage) func(int) {
		h.spawn(actor.Props{New: func() actor.Actor {
			return &ticker{begin: begin, again: again, stage: h}
		}})
		return func(n int) {
			for range n {
				for ticked := false; !ticked; {
					h.clock.Advance(time.Second) // more than once if the actor has not begun yet
					if h.sys.Synchronous() {
						h.sys.RunUntilIdle()
					}
					select {
					case <-h.done:
						ticked = true
					default:
						runtime.Gosched()
					}
				}
			}
		}
	}
}

type ticker struct {
	begin func(ctx *actor.Context)
	again bool // begin is to be called after each tick
	stage *stage
}

func (x *ticker) PreStart(ctx *actor.Context) error {
	x.begin(ctx)
	return nil
}

func (x *ticker) Receive(ctx *actor.Context, _ any) error {
	if x.again {
		x.begin(ctx)
	}
	select {
	case x.stage.done <- struct{}{}:
	default: // it has not been looked at since the last tick
	}
	return nil
}

var allocationPaths = []allocationPath{
	{"a message to an idle actor", func(h *stage) func(int) {
		left := 0
		var other [2]actor.Ref
		for i := range other {
			other[1-i] = h.spawn(plainActor(func(ctx *actor.Context, msg any) error {
				if left--; left == 0 {
					h.finish()
					return nil
				}
				return ctx.Tell(other[i], msg)
			}))
		}
		return func(n int) {
			left = n
			h.must(other[0].Tell(ping))
			h.wait()
		}
	}},
	{"a message of a burst, unbounded mailbox", bursts(actor.MailboxConfig{})},
	{"the same, bounded mailbox with room", bursts(actor.MailboxConfig{Policy: actor.Block, Capacity: 64})},
	{"the same, mailbox that drops the oldest", bursts(actor.MailboxConfig{Policy: actor.DropOldest, Capacity: 64})},
	{"the same, mailbox by priority", bursts(actor.MailboxConfig{Policy: actor.Block, Capacity: 64, Priority: func(msg any) int {
		if msg == end {
			return 1
		}
		return 0
	}})},
	{"a message that is passed on by Forward", func(h *stage) func(int) {
		last := h.spawn(plainActor(func(*actor.Context, any) error { h.finish(); return nil }))
		first := h.spawn(plainActor(func(ctx *actor.Context, msg any) error { ctx.Forward(last, msg); return nil }))
		return func(n int) {
			for range n {
				h.must(first.Tell(ping))
				h.wait()
			}
		}
	}},
	{"Ask and its reply", func(h *stage) func(int) {
		q := new(struct{ to actor.ReplyTo })
		r := h.spawn(plainActor(func(ctx *actor.Context, msg any) error { return ctx.Reply(q.to, msg) }))
		ask := func(to actor.ReplyTo) any { q.to = to; return ping }
		return func(n int) {
			for range n {
				_, err := h.sys.Ask(r, time.Second, ask).Wait(context.Background())
				h.must(err)
			}
		}
	}},
	{"Spawn", inTurn(func(h *stage, ctx *actor.Context) {
		_, err := ctx.Spawn(idler)
		h.must(err)
	})},
	{"Spawn, Watch, Stop, Terminated", born("")},
	{"the same with a name", born("x")},
	{"Watch and Unwatch", func(h *stage) func(int) {
		r := h.spawn(idler)
		return inTurn(func(_ *stage, ctx *actor.Context) { ctx.Watch(r); ctx.Unwatch(r) })(h)
	}},
	{"StartTimer and Stop", inTurn(func(_ *stage, ctx *actor.Context) { ctx.StartTimer(time.Hour, ping).Stop() })},
	{"StartTimer and its message", ticking(func(ctx *actor.Context) { ctx.StartTimer(time.Second, ping) }, true)},
	{"a message of StartPeriodic", ticking(func(ctx *actor.Context) { ctx.StartPeriodic(time.Second, ping) }, false)},
	{"ReceiveTimeout", ticking(func(ctx *actor.Context) { ctx.SetReceiveTimeout(time.Second) }, false)},
	{"ten messages: Stash, UnstashAll", func(h *stage) func(int) {
		handles := 0
		r := h.spawn(plainActor(func(ctx *actor.Context, msg any) error {
			switch {
			case msg == end:
				handles = ctx.Stashed()
				ctx.UnstashAll()
			case handles == 0:
				ctx.Stash(msg)
			default:
				if handles--; handles == 0 {
					h.finish()
				}
			}
			return nil
		}))
		return func(n int) {
			for range n {
				for range 10 {
					h.must(r.Tell(ping))
				}
				h.must(r.Tell(end))
				h.wait()
			}
		}
	}},
	{"a message of 500 that wait together", func(h *stage) func(int) {
		left := 0
		r := h.spawn(plainActor(func(*actor.Context, any) error {
			if left--; left == 0 {
				h.finish()
			}
			return nil
		}))
		return func(n int) {
			left = n
			h.sys.Suspend(r, actor.Suspension{})
			for range n {
				h.must(r.Tell(ping))
			}
			h.sys.Resume(r)
			h.wait()
		}
	}},
	{"Become and Unbecome", inTurn(func(_ *stage, ctx *actor.Context) { ctx.Become(nothing); ctx.Unbecome() })},
	{"Suspend and Resume", func(h *stage) func(int) {
		r := h.spawn(plainActor(func(*actor.Context, any) error { h.finish(); return nil }))
		return func(n int) {
			for range n {
				h.sys.Suspend(r, actor.Suspension{})
				h.sys.Resume(r)
				h.must(r.Tell(ping))
				h.wait()
			}
		}
	}},
	{"a failure, Resume", failing(actor.Resume)},
	{"a failure, Restart", failing(actor.Restart)},
	{"a message to an actor that has stopped", func(h *stage) func(int) {
		r := h.spawn(plainActor(func(ctx *actor.Context, _ any) error { ctx.StopSelf(); return nil }))
		h.must(r.Tell(ping))
		for r.Tell(ping) == nil {
			if h.sys.Synchronous() {
				h.sys.RunUntilIdle()
			}
		}
		return func(n int) {
			for range n {
				if r.Tell(ping) == nil {
					h.t.Fatal("an actor that has stopped accepts a message")
				}
			}
		}
	}},
	{"Publish to a Subscription and a function", func(h *stage) func(int) {
		s := actor.Subscribe[*int](h.sys.Events(), 10)
		f := actor.SubscribeFunc(h.sys.Events(), func(*int) {})
		h.t.Cleanup(s.Unsubscribe)
		h.t.Cleanup(f.Unsubscribe)
		return func(n int) {
			for range n {
				h.sys.Events().Publish(ping)
			}
		}
	}},
	{"Log, without a Subscription", inTurn(func(_ *stage, ctx *actor.Context) { ctx.Log(actor.LevelWarn, "high") })},
	{"Log, with a Subscription", func(h *stage) func(int) {
		s := actor.Subscribe[actor.LogEvent](h.sys.Events(), 10)
		h.t.Cleanup(s.Unsubscribe)
		return inTurn(func(_ *stage, ctx *actor.Context) { ctx.Log(actor.LevelWarn, "high") })(h)
	}},
}

func nothing(*actor.Context, any) error { return nil }

// idler are the props of an actor that does nothing.
var idler = plainActor(nothing)

// TestIdleActorFitsInAKibibyte: an actor that has handled one message, or ten, or a thousand, one
// at a time, and then none for some seconds, with its share of the system's tables. (What a burst
// has made of a mailbox it keeps up to a bound of its own: that is larger.)
func TestIdleActorFitsInAKibibyte(t *testing.T) {
	if invariants.Enabled {
		t.Skip("under -race memory is larger")
	}
	for _, impl := range impls.All() {
		for _, c := range []struct{ messages, actors int }{{1, 20_000}, {10, 5000}, {1000, 1000}} {
			t.Run(fmt.Sprintf("%s/%d", impl.Name, c.messages), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { idleActorFits(t, impl, c.messages, c.actors) })
			})
		}
	}
}

func idleActorFits(t *testing.T, impl dyno.Impl, messages, actors int) {
	// A few at a time: goroutines that have ended leave something behind, 450 B, that
	// others use again, and it is no actor's.
	const some = 50
	h := newStage(t, impl)
	left := new(atomic.Int64)
	counting := plainActor(func(*actor.Context, any) error {
		if left.Add(-1) == 0 {
			h.finish()
		}
		return nil
	})
	all := make([]actor.Ref, some+actors)
	var before int64 // with the first few, and what all share
	for these := range slices.Chunk(all, some) {
		if before == 0 && &these[0] != &all[0] {
			before = inUse()
		}
		h.in(func(ctx *actor.Context) {
			for i := range these {
				var err error
				these[i], err = ctx.Spawn(counting)
				h.must(err)
			}
		})
		for range messages {
			left.Store(some)
			for _, r := range these {
				h.must(r.Tell(ping))
			}
			h.wait()
			synctest.Wait()
		}
		time.Sleep(5 * time.Second) // of the bubble
	}
	if took := float64(inUse()-before) / float64(actors); took > 1024 {
		t.Errorf("an idle actor takes %.0f B", took)
	} else {
		t.Logf("%.0f B", took)
	}
}

// inUse returns the bytes of heap and stacks in use, signed, as the difference of two may be
// negative where others' memory has become free.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what the first one finds finalized goes with the second
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapInuse + s.StackInuse)
}
