package actor_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// A coordinator is the ready queue of the source document on suspension, in the place of a
// dispatcher's schedule: it registers and unregisters, and knows nothing of suspension.
type coordinator struct{ ready []*manualBox }

func (c *coordinator) registerReady(b *manualBox) {
	if !slices.Contains(c.ready, b) {
		c.ready = append(c.ready, b)
	}
}

func (c *coordinator) unregister(b *manualBox) {
	c.ready = slices.DeleteFunc(c.ready, func(o *manualBox) bool { return o == b })
}

// handleInvokeResult does what the end of a turn asks for.
func (c *coordinator) handleInvokeResult(b *manualBox, v actor.Verdict) {
	c.unregister(b)
	b.held = v == actor.Suspended
	if v == actor.Yield || v == actor.Continue && len(b.queue) > 0 || v != actor.Stopped && b.cell.Pending() {
		c.registerReady(b)
	}
}

// drainReadyCycle takes out those whose turn it is, so many at most.
func (c *coordinator) drainReadyCycle(most int) (out []*manualBox) {
	n := min(most, len(c.ready))
	out, c.ready = slices.Clone(c.ready[:n]), c.ready[n:]
	return out
}

// cycle runs a turn of each that is ready.
func (c *coordinator) cycle() {
	for _, b := range c.drainReadyCycle(10) {
		c.handleInvokeResult(b, b.turn())
	}
}

// TestCoordinator replaces the schedule by the document's coordinator, and has the document's
// tests: the invoker answers Suspended, with its reason and what resumes; the coordinator
// unregisters what is suspended; and a resume that races with a message registers it once.
func TestCoordinator(t *testing.T) {
	var got []any
	until := actor.Suspension{Reason: "backpressure", After: time.Hour}
	m, sys, r, b := newManual(t, actortest.Func(func(ctx *actor.Context, msg any) error {
		if got = append(got, msg); msg == "suspend" {
			ctx.Suspend(until)
		}
		return nil
	}))
	var c coordinator
	m.ready = c.registerReady

	must(t, r.Tell("suspend"))
	must(t, r.Tell(1))
	if out := c.drainReadyCycle(10); !slices.Equal(out, []*manualBox{b}) {
		t.Fatalf("with two messages %d are ready", len(out))
	}
	v := b.turn()
	wantVerdict(t, v, actor.Suspended)
	if s := b.cell.Suspension(); s != until {
		t.Errorf("it is suspended as %+v, want %+v", s, until)
	}

	c.registerReady(b)
	c.handleInvokeResult(b, v)
	must(t, r.Tell(2))
	if out := c.drainReadyCycle(10); len(out) != 0 {
		t.Errorf("%d are ready while it is suspended", len(out))
	}
	wantAll(t, got, "suspend")

	sys.Resume(r)
	must(t, r.Tell(3))
	if n := len(c.ready); n != 1 {
		t.Errorf("after its resume it is registered %d times", n)
	}
	c.cycle()
	wantAll(t, got, "suspend", 1, 2, 3)
	if c.cycle(); len(c.ready) != 0 {
		t.Error("it is ready without a message")
	}
}

// TestSuspensionSays: the reason of every verdict Suspended.
func TestSuspensionSays(t *testing.T) {
	m, sys, r, b := newManual(t, actortest.Func(func(ctx *actor.Context, msg any) error {
		if msg == "fail" {
			return errTest
		}
		_, err := ctx.Spawn(idler)
		return err
	}))
	must(t, r.Tell("spawn"))
	wantVerdict(t, b.turn(), actor.Continue)
	must(t, r.Tell("fail"))
	wantVerdict(t, b.turn(), actor.Suspended)
	if s := b.cell.Suspension(); s != (actor.Suspension{Reason: "failed: " + errTest.Error()}) {
		t.Errorf("a failed actor is suspended as %+v", s)
	}
	sys.Stop(r)
	wantVerdict(t, b.turn(), actor.Suspended) // its child is not gone
	if s := b.cell.Suspension(); s != (actor.Suspension{Reason: "stopping"}) {
		t.Errorf("one that waits for its child is suspended as %+v", s)
	}
	wantVerdict(t, m.boxes[4].turn(), actor.Stopped)
	wantVerdict(t, b.turn(), actor.Stopped)
}

// TestSuspensionOfARestart: one that waits for its restart says so.
func TestSuspensionOfARestart(t *testing.T) {
	m, _, r, b := newManualWith(t, actor.Config{}, &actor.Supervisor{Backoff: actor.Backoff{Min: time.Hour}}, actortest.Func(func(*actor.Context, any) error { return errTest }))
	must(t, r.Tell(1))
	wantVerdict(t, b.turn(), actor.Suspended)
	m.boxes[2].turn() // its parent decides
	wantVerdict(t, b.turn(), actor.Suspended)
	if s := b.cell.Suspension(); s != (actor.Suspension{Reason: "restart"}) {
		t.Errorf("it is suspended as %+v", s)
	}
}
