package bench

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/internal/measure"
)

// A question is what only boards are asked. Its figures are bytes: of the heap in use,
// after collections, with something there and without it. Those collections are in its
// time, which says what the question takes and nothing of an actor.
type question struct {
	name string
	ops  int  // things that the figures are of
	fine bool // it needs a heap that is counted in bytes, or a few
	ask  func(r *firmware.Report, name string, n int, impl dyno.Impl) error
}

var questions = [...]question{
	{"actor-memory", 32, true, actorMemory},
	{"slot-memory", fullActors * 64, true, slotMemory},
	{"32-actors", 32 * slots * rounds, false, manyActors},
	{"log", 8, false, logEvents},
}

func (q question) of(impl dyno.Impl) firmware.Case {
	name := "Board/case=" + q.name + "/impl=" + impl.Name
	return firmware.Case{
		Part: part, Name: name, Ops: q.ops,
		Skip: func(b *firmware.Board) string {
			if q.fine && b.Platform.Heap {
				return "needs a small heap: this platform's is counted in pages of 8 KiB, of which a few actors fill none; B/actor of spawn is of many"
			}
			return ""
		},
		Run: func(r *firmware.Report) error { return q.ask(r, name, q.ops, impl) },
	}
}

// actorMemory finds what an actor takes that has had a message and has nothing to do:
// the difference between 8, 16 and 32 of them, with their share of the system's
// tables and, with an implementation that has any, their goroutines.
func actorMemory(r *firmware.Report, name string, n int, impl dyno.Impl) error {
	f := measure.Figure{Ops: n}
	before := measure.HeapInUse()
	h, err := newHall(r.Board, impl)
	if err != nil {
		return err
	}
	var c counter
	var all [32]actor.Ref
	var used [4]uint64
	f.Memory.Begin()
	begun := r.Board.Clock.Now()
	have := 0
	for i, want := range [...]int{0, n / 4, n / 2, n} {
		for ; have < want && err == nil; have++ {
			err = h.in(func(ctx *actor.Context) (err error) {
				if all[have], err = ctx.Spawn(c.props(actor.MailboxConfig{})); err != nil {
					return err
				}
				return ctx.Tell(all[have], &c)
			})
		}
		if err == nil {
			err = h.until(func() bool { return c.handled.Load() == int64(want) })
		}
		if err != nil {
			return h.abandon(err)
		}
		used[i] = measure.HeapInUse()
	}
	f.Ticks = r.Board.Clock.Now() - begun
	f.Memory.End()
	for _, a := range all[:n] { // all of them are there, and work
		if err := a.Tell(&c); err != nil {
			return h.abandon(err)
		}
	}
	if err := h.until(func() bool { return c.handled.Load() == int64(2*n) }); err != nil {
		return h.abandon(err)
	}
	if err := h.end(); err != nil {
		return err
	}
	r.Note("heap in use: ", before, " B before, ", used[0], " B with a system, ", used[1], ", ", used[2], " and ", used[3], " B with ", n/4, ", ", n/2, " and ", n, " actors")
	f.Add(
		measure.Metric{Value: difference(used[1], used[3], n-n/4), Unit: "B/actor", Better: measure.Lower},
		measure.Metric{Value: difference(before, used[0], 1), Unit: "B/system", Better: measure.Lower},
	)
	r.Result(name, f)
	return nil
}

// difference is what each of n things takes.
func difference(without, with uint64, n int) float64 {
	return float64(int64(with-without)) / float64(n)
}

// slotMemory finds what a place in a bounded mailbox takes: the difference between
// mailboxes for 8 and for 64 messages, with all places taken.
func slotMemory(r *firmware.Report, name string, n int, impl dyno.Impl) error {
	const few = 8
	many := n / fullActors
	f := measure.Figure{Ops: n}
	// A board's collector may keep what a first run has left, and not what a second one
	// leaves in the same places. So the first one does not count.
	if _, err := fullMailboxes(r, few, impl); err != nil {
		return err
	}
	f.Memory.Begin()
	begun := r.Board.Clock.Now()
	less, err := fullMailboxes(r, few, impl)
	if err != nil {
		return err
	}
	more, err := fullMailboxes(r, many, impl)
	if err != nil {
		return err
	}
	f.Ticks = r.Board.Clock.Now() - begun
	f.Memory.End()
	f.Add(measure.Metric{Value: difference(less, more, fullActors*(many-few)), Unit: "B/slot", Better: measure.Lower})
	r.Result(name, f)
	return nil
}

// fullActors is how many actors have full mailboxes.
const fullActors = 8

// fullMailboxes returns the bytes of heap in use with actors whose mailboxes have that
// capacity and are full, less what is in use without them.
func fullMailboxes(r *firmware.Report, capacity int, impl dyno.Impl) (uint64, error) {
	h, err := newHall(r.Board, impl)
	if err != nil {
		return 0, err
	}
	var c counter
	var all [fullActors]actor.Ref
	empty := measure.HeapInUse()
	err = h.in(func(ctx *actor.Context) error {
		for k := range all {
			ref, err := ctx.Spawn(c.props(actor.MailboxConfig{Policy: actor.DropNewest, Capacity: capacity}))
			if err != nil {
				return err
			}
			// It sees this before any message, and so leaves all of them waiting.
			ctx.System().Suspend(ref, actor.Suspension{Reason: "its mailbox is measured"})
			for range capacity {
				if err := ctx.Tell(ref, &c); err != nil {
					return err
				}
			}
			all[k] = ref
		}
		return nil
	})
	if err != nil {
		return 0, h.abandon(err)
	}
	if all[0].Tell(&c) == nil {
		return 0, h.abandon(errors.New("a mailbox for " + itoa(capacity) + " messages took one more"))
	}
	h.refused++
	used := measure.HeapInUse() - empty
	for _, ref := range all {
		h.sys.Resume(ref)
	}
	if err := h.until(func() bool { return c.handled.Load() == int64(fullActors*capacity) }); err != nil {
		return 0, h.abandon(err)
	}
	r.Note(fullActors, " actors with mailboxes for ", capacity, ", full: ", int64(used), " B")
	return used, h.end()
}

const (
	slots  = 8 // messages that may wait for each of the 32 actors
	rounds = 4 // times that all of them are sent
)

// manyActors has 32 actors with bounded mailboxes, fills all of these and has all
// messages handled, several times, and says what memory is used and free meanwhile. An
// operation is a message.
func manyActors(r *firmware.Report, name string, n int, impl dyno.Impl) error {
	const actors = 32
	h, err := newHall(r.Board, impl)
	if err != nil {
		return err
	}
	var c counter
	var all [actors]actor.Ref
	err = h.in(func(ctx *actor.Context) (err error) {
		for k := 0; k < actors && err == nil; k++ {
			all[k], err = ctx.Spawn(c.props(actor.MailboxConfig{Policy: actor.DropNewest, Capacity: slots}))
		}
		return err
	})
	if err != nil {
		return h.abandon(err)
	}
	// Made once: each round is in the loop that is measured.
	send := func(ctx *actor.Context) error {
		for range slots {
			for k := range all {
				if err := ctx.Tell(all[k], &c); err != nil {
					return err
				}
			}
		}
		return nil
	}
	sent := int64(0)
	over := func() bool { return c.handled.Load() == sent }
	round := func() error {
		sent += actors * slots
		if err := h.in(send); err != nil {
			return err
		}
		return h.until(over)
	}
	if err := round(); err != nil { // the mailboxes have grown then
		return h.abandon(err)
	}
	free := measure.HeapFree()
	used := measure.HeapInUse()
	f := measure.Figure{Ops: n, Overhead: measure.Overhead(r.Board.Clock)}
	f.Memory.Begin()
	begun := r.Board.Clock.Now()
	for range n / (actors * slots) {
		if err := round(); err != nil {
			return h.abandon(err)
		}
	}
	ended := r.Board.Clock.Now()
	f.Memory.End()
	f.Ticks = max(0, ended-begun-f.Overhead)
	if err := h.end(); err != nil {
		return err
	}
	f.Add(f.Memory.Per(n, "msg")...)
	f.Add(
		measure.Metric{Value: float64(used), Unit: "heap-used-B", Better: measure.Lower},
		measure.Metric{Value: float64(free), Unit: "heap-free-B", Better: measure.Higher},
	)
	r.Result(name, f)
	return nil
}

// logEvents has an actor write to the log, and sends that to the host. An operation is an
// entry: the message that asks for it, the event, and the line that is sent.
func logEvents(r *firmware.Report, name string, n int, impl dyno.Impl) error {
	h, err := newHall(r.Board, impl)
	if err != nil {
		return err
	}
	log := r.Log(h.sys.Events(), n, actor.LevelWarn)
	say := func(ctx *actor.Context) error {
		ctx.Log(actor.LevelWarn, "the pressure is high")
		return nil
	}
	f := measure.Figure{Ops: n, Overhead: measure.Overhead(r.Board.Clock)}
	f.Memory.Begin()
	begun := r.Board.Clock.Now()
	for range n {
		if err := h.in(say); err != nil {
			return h.abandon(err)
		}
	}
	log.Send()
	ended := r.Board.Clock.Now()
	f.Memory.End()
	f.Ticks = max(0, ended-begun-f.Overhead)
	if err := h.end(); err != nil {
		return err
	}
	log.Close()
	r.Result(name, f)
	return nil
}

// counter is what all actors of a question have in common, and the message that they
// are sent.
type counter struct{ handled atomic.Int64 }

func (c *counter) props(m actor.MailboxConfig) actor.Props {
	return actor.Props{New: func() actor.Actor { return &counting{c} }, Mailbox: m}
}

// A counting actor counts messages. It is as small as an actor can be.
type counting struct{ *counter }

// Receive implements [actor.Actor].
func (a *counting) Receive(_ *actor.Context, msg any) error {
	if msg != any(a.counter) {
		return errors.New("an actor received a message that was not sent to it")
	}
	a.handled.Add(1)
	return nil
}

// hall is a system whose guardian does what it is told.
type hall struct {
	board   *firmware.Board
	sys     *actor.System
	refused uint64 // messages that the question sent to be given back

	act  func(ctx *actor.Context) error // what the guardian is to do
	done atomic.Int64                   // times that it has
	asks int64                          // times that it was asked

	letters atomic.Int64
	failure atomic.Pointer[actor.Failure] // the first one
}

func newHall(b *firmware.Board, impl dyno.Impl) (*hall, error) {
	h := &hall{board: b}
	var err error
	h.sys, err = actor.NewSystem(actor.Config{
		Guardian:        actor.Props{New: func() actor.Actor { return h }},
		Dispatcher:      impl.NewDispatcher(),
		KeepDeadLetters: -1,
		DeadLetters: func(l actor.DeadLetter) {
			if !l.Returned { // of those their sender knows
				h.letters.Add(1)
			}
		},
		Failures: func(f actor.Failure) { h.failure.CompareAndSwap(nil, &f) },
	})
	return h, err
}

// Receive implements [actor.Actor].
func (h *hall) Receive(ctx *actor.Context, msg any) error {
	if msg != any(h) {
		return errors.New("the guardian received a message that was not sent to it")
	}
	err := h.act(ctx)
	h.done.Add(1)
	return err
}

// in has the guardian do act and waits for that.
func (h *hall) in(act func(ctx *actor.Context) error) error {
	h.act = act
	h.asks++
	if err := h.sys.UserGuardian().Tell(h); err != nil {
		return err
	}
	return h.until(func() bool { return h.done.Load() == h.asks })
}

// patience is how many seconds of the board's clock are waited for something that
// takes some thousand instructions.
const patience = 10

// errLost is for what does not come.
var errLost = errors.New("not all messages were handled: one was lost on the way")

// until waits until cond.
func (h *hall) until(cond func() bool) error {
	clock := h.board.Clock
	end := clock.Now() + patience*int64(clock.Hz())
	for {
		if h.sys.Synchronous() {
			h.sys.RunUntilIdle()
		}
		if f := h.failure.Load(); f != nil {
			return errors.New("an actor failed: " + f.Err.Error())
		}
		switch {
		case h.letters.Load() > 0:
			return errors.New("a message became a dead letter")
		case cond():
			return nil
		case h.sys.Synchronous() || clock.Now() > end:
			return errLost
		}
		runtime.Gosched()
	}
}

// abandon ends what can be ended of a system in which something was wrong, and returns
// what that was.
func (h *hall) abandon(err error) error {
	h.sys.Stop(h.sys.UserGuardian())
	if h.sys.Synchronous() {
		h.sys.RunUntilIdle()
	}
	return err
}

// end shuts the system down and looks for what it has left.
func (h *hall) end() error {
	if err := h.sys.Shutdown(context.Background()); err != nil {
		return err
	}
	st := h.sys.Stats()
	switch {
	case st.Actors > 0:
		return errors.New(itoa(st.Actors) + " actors are left after the shutdown")
	case st.Returned != h.refused || h.letters.Load() > 0 || h.failure.Load() != nil:
		return errors.New("a message was given back, lost or failed on")
	}
	return nil
}
