package actortrace_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/actor/actortrace"
	"github.com/dynolab/dyno/impls"
)

var keep = flag.String("keep", "", "write the page of TestPage into this file")

var errBoom = errors.New("boom <b>")

// settle lets everything happen that can within a second of the bubble.
func settle(h *actortest.System) {
	h.Drive()
	time.Sleep(time.Second)
	synctest.Wait()
	h.Drive()
}

// system starts a system that tr traces, in a bubble.
func system(t *testing.T, impl dyno.Impl, tr *actortrace.Tracer, guardian actor.ReceiveFunc) *actortest.System {
	h := actortest.New(actor.Config{
		Dispatcher: impl.NewDispatcher(),
		Middleware: []actor.Middleware{tr.Middleware},
		Guardian:   actortest.Func(guardian),
	}, func(err error) { t.Fatal(err) })
	h.Idle = func() { settle(h) }
	t.Cleanup(func() {
		if err := h.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// chain has the guardian send to b while it handles "begin", for 1 ms, and b to c, which is busy
// for 3 ms and fails. A second later
// it has a timer's message, and sends to one that has stopped.
func chain(t *testing.T, impl dyno.Impl, tr *actortrace.Tracer) *actortest.System {
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	spawn := func(ctx *actor.Context, name string, f actor.ReceiveFunc) actor.Ref {
		r, err := ctx.SpawnNamed(name, actortest.Func(f))
		must(err)
		return r
	}
	var gone actor.Ref
	h := system(t, impl, tr, func(ctx *actor.Context, msg any) error {
		if msg == "tick" {
			if ctx.Tell(gone, tr.Mark(ctx, "lost")) == nil {
				t.Error("an actor that has stopped was sent a message")
			}
			return nil
		}
		last := spawn(ctx, "c", func(*actor.Context, any) error { time.Sleep(3 * time.Millisecond); return errBoom })
		b := spawn(ctx, "b", func(ctx *actor.Context, msg any) error { return ctx.Tell(last, tr.Mark(ctx, msg)) })
		gone = spawn(ctx, "gone", func(*actor.Context, any) error { return nil })
		ctx.Stop(gone)
		ctx.StartTimer(time.Second, "tick")
		must(ctx.Tell(b, tr.Mark(ctx, 7)))
		time.Sleep(time.Millisecond)
		return nil
	})
	h.Send(h.UserGuardian(), tr.Mark(nil, "begin"))
	settle(h)
	settle(h) // the timer is due
	return h
}

func named(t *testing.T, name string) dyno.Impl {
	all := impls.All()
	i := slices.IndexFunc(all, func(impl dyno.Impl) bool { return impl.Name == name })
	if i < 0 {
		t.Fatalf("there is no implementation %s", name)
	}
	return all[i]
}

// everywhere runs a test with each implementation, in a bubble.
func everywhere(t *testing.T, f func(*testing.T, dyno.Impl)) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, impl) })
		})
	}
}

// Who sent what to whom, and how long it waited and was handled.
func TestMessages(t *testing.T) {
	everywhere(t, func(t *testing.T, impl dyno.Impl) {
		tr := actortrace.New(0)
		h := chain(t, impl, tr)
		all := tr.Messages()
		want := []actortrace.Message{
			{ID: 1, To: "user", Type: "string"},
			{ID: 2, Parent: 1, From: "user", To: "b", Type: "int"},
			{ID: 3, Parent: 2, From: "b", To: "c", Type: "int", Err: errBoom},
			{ID: 4, To: "user", Type: "string"}, // a timer's
		}
		if n := tr.Handling(); n != 0 {
			t.Errorf("%d actors are kept, when all is handled", n)
		}
		if len(all) != len(want) {
			t.Fatalf("%d messages, want %d: %+v", len(all), len(want), all)
		}
		for i, want := range want {
			got := all[i]
			if path.Base(got.To) != want.To || want.From != "" && path.Base(got.From) != want.From || want.From == "" && got.From != "" {
				t.Errorf("message %d went from %q to %q, want %q to %q", i+1, got.From, got.To, want.From, want.To)
			}
			if got.ID != want.ID || got.Parent != want.Parent || got.Type != want.Type || got.Err != want.Err {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
		if took := all[2].Ended.Sub(all[2].Begun); took != 3*time.Millisecond {
			t.Errorf("c was busy for %v, want 3ms", took)
		}
		// b may have its turn while the guardian's goes on; in turns, when that is over.
		if got := all[1].Waited(); got < 0 || got > time.Millisecond || h.Synchronous() && got != time.Millisecond {
			t.Errorf("b's message waited for %v", got)
		}
		if !all[3].Sent.IsZero() || all[3].Waited() != 0 {
			t.Errorf("a timer's message is not marked, and is said to have waited: %+v", all[3])
		}
		var lost []any
		for _, l := range h.DeadLetters() {
			lost = append(lost, l.Msg)
		}
		if !slices.Equal(lost, []any{7, "lost"}) {
			t.Errorf("dead letters show %v, want what c failed on, and what was sent to one that had stopped", lost)
		}
	})
}

// A message whose handling panics has ended. The last n are kept.
func TestLast(t *testing.T) {
	everywhere(t, func(t *testing.T, impl dyno.Impl) {
		tr := actortrace.New(3)
		if got := tr.Messages(); len(got) != 0 {
			t.Fatalf("a new one has %v", got)
		}
		h := system(t, impl, tr, func(ctx *actor.Context, msg any) error {
			r, err := ctx.Spawn(actortest.Func(func(*actor.Context, any) error { panic("boom") }))
			if err != nil {
				return err
			}
			return ctx.Tell(r, msg)
		})
		for i := range 3 {
			h.Send(h.UserGuardian(), i)
			settle(h)
		}
		all := tr.Messages()
		if len(all) != 3 || all[0].ID != 4 || all[1].ID != 5 || all[2].ID != 6 {
			t.Fatalf("kept are %+v, want 4, 5, 6", all)
		}
		for i, want := range []error{actortrace.ErrPanicked, nil, actortrace.ErrPanicked} {
			if all[i].Err != want || all[i].Ended.IsZero() {
				t.Errorf("got %+v, want the error %v and an end", all[i], want)
			}
		}
	})
}

// What is still being handled when newer messages have taken its place does not end them.
func TestLateEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		impl := named(t, "lockbased")
		tr, hold := actortrace.New(1), make(chan struct{})
		h := system(t, impl, tr, func(ctx *actor.Context, msg any) error {
			if msg == "new" {
				return nil
			}
			r, err := ctx.Spawn(actortest.Func(func(*actor.Context, any) error { <-hold; return errBoom }))
			if err != nil {
				return err
			}
			return ctx.Tell(r, msg)
		})
		h.Send(h.UserGuardian(), "slow")
		settle(h)
		h.Send(h.UserGuardian(), "new")
		settle(h)
		before := tr.Messages()
		close(hold)
		settle(h)
		if after := tr.Messages(); !slices.Equal(before, after) || after[0].ID != 3 || after[0].Err != nil {
			t.Errorf("%+v became %+v", before, after)
		}
	})
}

// The page shows each message and actor, escaped, and says so if there is none.
func TestPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		impl := named(t, "serial")
		tr := actortrace.New(0)
		var empty, page bytes.Buffer
		if err := tr.WriteHTML(&empty); err != nil || !strings.Contains(empty.String(), "No message") {
			t.Errorf("without messages: %v\n%s", err, &empty)
		}
		chain(t, impl, tr)
		if err := tr.WriteHTML(&page); err != nil {
			t.Fatal(err)
		}
		if *keep != "" {
			if err := os.WriteFile(*keep, page.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{
			"4 messages of 3 actors", "/b from ", "waited 1ms, handled 0s", "handled 3ms, boom &lt;b&gt;",
		} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("the page does not say %q:\n%s", want, &page)
			}
		}
		if bars := strings.Count(page.String(), `class="bad"`); bars != 1 {
			t.Errorf("%d messages are shown as failed, want 1", bars)
		}
	})
}

// While runtime/trace is on, each message is a region of the execution trace.
func TestRegion(t *testing.T) {
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip(err) // the tests are traced themselves
	}
	synctest.Test(t, func(t *testing.T) {
		impl := named(t, "serial")
		chain(t, impl, actortrace.New(0))
	})
	trace.Stop()
	if !bytes.Contains(out.Bytes(), []byte("int dyno:/user/c")) && !bytes.Contains(out.Bytes(), []byte("int /user/c")) {
		t.Error("the trace has no region of what c handled")
	}
}
