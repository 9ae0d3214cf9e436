package actor_test

import (
	"context"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// manual is the least dispatcher there can be: a turn runs when a test says so.
type manual struct {
	boxes []*manualBox
	ready func(*manualBox) // is called when a turn is due; may be nil
	tally actor.Tally
}

func (m *manual) Start() error                 { return nil }
func (m *manual) Stop(done func())             { done() }
func (m *manual) AddStats(s *actor.Stats)      { m.tally.Publish(); m.tally.AddTo(s) }
func (m *manual) Dispatcher() actor.Dispatcher { return m }
func (m *manual) Attach(actor.MailboxConfig) actor.Port {
	b := &manualBox{m: m}
	m.boxes = append(m.boxes, b)
	return b
}

type manualBox struct {
	cell  actor.Cell
	m     *manual
	queue []any
	wakes int
	shut  bool
	full  bool
	held  bool // it is suspended: only Wake makes a turn due
}

func (b *manualBox) due() {
	if b.m.ready != nil {
		b.m.ready(b)
	}
}

func (b *manualBox) Cell() *actor.Cell { return &b.cell }
func (b *manualBox) Wake(actor.Worker) { b.wakes++; b.due() }
func (b *manualBox) Len() int          { return len(b.queue) }
func (b *manualBox) Send(msg any, _ actor.Worker) actor.SendResult {
	if b.shut {
		return actor.Closed
	}
	if b.full {
		return actor.MustWait
	}
	b.queue = append(b.queue, msg)
	if !b.held {
		b.due()
	}
	return actor.Sent
}

func (b *manualBox) SendWait(ctx context.Context, msg any, w actor.Worker) error {
	b.full = false
	b.Send(msg, w)
	return ctx.Err()
}

func (b *manualBox) Close() {
	b.shut = true
	for _, msg := range b.queue {
		b.cell.Undelivered(msg, actor.ErrStopped)
	}
	b.queue = nil
}

// turn is the one that the comment in spi.go shows.
func (b *manualBox) turn() (v actor.Verdict) {
	var msg any
	returned := false
	defer func() {
		if !returned {
			v = b.cell.Caught(&b.m.tally, msg, recover())
		}
	}()
	if b.cell.BeginTurn(b.m) {
		for ok := len(b.queue) > 0; ok; ok = b.cell.Invoke(msg) && len(b.queue) > 0 {
			msg, b.queue = b.queue[0], b.queue[1:]
		}
	}
	v = b.cell.EndTurn(&b.m.tally)
	returned = true
	return v
}

// newManual makes a system on m and an actor in it, whose box it returns.
func newManual(t *testing.T, p actor.Props) (m *manual, sys *actor.System, r actor.Ref, b *manualBox) {
	t.Helper()
	return newManualWith(t, actor.Config{}, nil, p)
}

// newManualWith is newManual for a system as c says, with a supervisor of the actor.
func newManualWith(t *testing.T, c actor.Config, s *actor.Supervisor, p actor.Props) (m *manual, sys *actor.System, r actor.Ref, b *manualBox) {
	t.Helper()
	m = &manual{}
	c.Dispatcher = m
	c.Guardian = actortest.Func(func(ctx *actor.Context, _ any) (err error) {
		r, err = ctx.Spawn(p)
		return err
	})
	c.Guardian.Supervisor = s
	sys, err := actor.NewSystem(c)
	must(t, err)
	must(t, sys.UserGuardian().Tell(1))
	wantVerdict(t, m.boxes[2].turn(), actor.Continue)
	return m, sys, r, m.boxes[3]
}

func wantVerdict(t *testing.T, got, want actor.Verdict) {
	t.Helper()
	if got != want {
		t.Errorf("the verdict is %v, want %v", got, want)
	}
}

// TestVerdicts goes through a life, turn by turn: what the core says at the end
// of each, and whom it wakes.
func TestVerdicts(t *testing.T) {
	var got []any
	p := actortest.Func(func(ctx *actor.Context, msg any) error {
		got = append(got, msg)
		switch msg {
		case "fail":
			return errTest
		case "panic":
			panic(errTest)
		}
		return nil
	})
	p.Throughput, p.Priority = 2, actor.High
	m, sys, r, b := newManual(t, p)
	root, system, user := m.boxes[0], m.boxes[1], m.boxes[2]
	if b.wakes != 0 {
		t.Errorf("an actor without PreStart was woken %d times to start", b.wakes)
	}
	if got := b.cell.Priority(); got != actor.High {
		t.Errorf("the priority is %v, want High", got)
	}
	wantVerdict(t, b.turn(), actor.Continue) // nothing to do
	for _, msg := range []any{1, 2, 3} {
		must(t, r.Tell(msg))
	}
	wantVerdict(t, b.turn(), actor.Yield) // its throughput is used up
	wantAll(t, got, 1, 2)
	wantVerdict(t, b.turn(), actor.Continue)
	wantAll(t, got, 1, 2, 3)

	must(t, r.Tell("fail"))
	must(t, r.Tell(4))
	wantVerdict(t, b.turn(), actor.Suspended)
	if user.wakes != 1 {
		t.Errorf("the parent was woken %d times about the failure, want once", user.wakes)
	}
	wantVerdict(t, b.turn(), actor.Suspended) // until the parent has decided
	wantAll(t, got, 1, 2, 3, "fail")
	if len(b.queue) != 1 || b.cell.Pending() {
		t.Errorf("while it is suspended %v wait and system messages: %v", b.queue, b.cell.Pending())
	}
	wantVerdict(t, user.turn(), actor.Continue)
	if b.wakes != 1 || !b.cell.Pending() {
		t.Errorf("after the decision the actor was woken %d times, pending %v", b.wakes, b.cell.Pending())
	}
	wantVerdict(t, b.turn(), actor.Stopped)
	if st := sys.Stats(); !b.shut || st.DeadLetters != 2 || st.Actors != 3 || st.Messages != 5 || st.Turns != 8 {
		t.Errorf("at its end: %+v, shut %v", st, b.shut)
	}
	if user.wakes != 2 {
		t.Errorf("the parent was woken %d times in all, want a second time about the stop", user.wakes)
	}
	sys.Stop(r)
	if b.wakes != 1 {
		t.Error("an actor that has stopped was woken")
	}

	// The system: root asks the user guardian, then the system guardian.
	wakes := func() [3]int { return [3]int{root.wakes, system.wakes, user.wakes} }
	sys.Stop(sys.UserGuardian())
	wantVerdict(t, user.turn(), actor.Stopped)
	before := wakes()
	if before != [3]int{1, 0, 3} {
		t.Errorf("root, system and user were woken %v times", before)
	}
	wantVerdict(t, root.turn(), actor.Suspended)
	if got := wakes(); got != [3]int{1, 1, 3} {
		t.Errorf("root, system and user were woken %v times", got)
	}
	wantVerdict(t, system.turn(), actor.Stopped)
	select {
	case <-sys.Done():
		t.Error("Done before the root has stopped")
	default:
	}
	wantVerdict(t, root.turn(), actor.Stopped)
	<-sys.Done()
}

// A panic ends the turn like an error does, and counts the message.
func TestCaught(t *testing.T) {
	_, sys, r, b := newManual(t, actortest.Func(func(*actor.Context, any) error { panic(errTest) }))
	must(t, r.Tell(1))
	wantVerdict(t, b.turn(), actor.Suspended)
	if st := sys.Stats(); st.Messages != 2 || st.Turns != 2 || st.Failures != 1 {
		t.Errorf("%+v, want 2 messages in 2 turns and one failure", st)
	}
}

// A system message that comes while a user message is handled is handled next,
// in the same turn; the ones that wait are not. Its share of the turn is no other.
func TestSystemMessageInTurn(t *testing.T) {
	var sys *actor.System
	var r actor.Ref
	var n int
	p := actortest.Func(func(ctx *actor.Context, _ any) error {
		if n++; n == 4 {
			sys.Stop(r)
		} else {
			sys.Resume(r) // changes nothing
		}
		return nil
	})
	p.Throughput = 3
	_, sys, r, b := newManual(t, p)
	for i := range 7 {
		must(t, r.Tell(i))
	}
	wantVerdict(t, b.turn(), actor.Yield)
	if n != 3 {
		t.Errorf("%d messages were handled in a turn of 3", n)
	}
	wantVerdict(t, b.turn(), actor.Stopped)
	if st := sys.Stats(); n != 4 || st.DeadLetters != 3 {
		t.Errorf("%d messages were handled, and then %+v; want 4, and 3 dead letters", n, st)
	}
}

func TestStrings(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{actor.Continue.String(), "continue"},
		{actor.Yield.String(), "yield"},
		{actor.Suspended.String(), "suspended"},
		{actor.Stopped.String(), "stopped"},
		{actor.Verdict(9).String(), "Verdict(9)"},
		{actor.StateStarting.String(), "starting"},
		{actor.StateRunning.String(), "running"},
		{actor.StateSuspended.String(), "suspended"},
		{actor.StateStopping.String(), "stopping"},
		{actor.StateStopped.String(), "stopped"},
		{actor.State(9).String(), "State(9)"},
		{actor.Directive(9).String(), "Directive(9)"},
		{actor.AllForOne.String(), "all-for-one"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
