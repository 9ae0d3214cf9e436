package actor_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// stage is a system on a manual dispatcher, with an actor whose turns a test runs one by one.
type stage struct {
	m         *manual
	sys       *actor.System
	clock     *actor.ManualClock
	r, kid    actor.Ref // the actor and the child that it has had last
	b, parent *manualBox
	directive actor.Directive // of the parent
	log       []any           // what happened to the actor
	failed    []any           // the messages of failures
}

// lived is the actor of a stage.
type lived struct{ s *stage }

func (a lived) PostStop(ctx *actor.Context) error {
	a.s.log = append(a.s.log, "stop")
	ctx.StartTimer(time.Hour, "late")
	return errTest
}

func (a lived) Receive(ctx *actor.Context, msg any) error {
	switch msg {
	case "fail":
		return errTest
	case "exit":
		runtime.Goexit()
	case "child":
		r, err := ctx.Spawn(actortest.Func(func(*actor.Context, any) error { return errTest }))
		a.s.kid = r
		return err
	}
	a.s.log = append(a.s.log, msg)
	return nil
}

// boxed is a message with another one in it.
type boxed struct{}

func (boxed) Unbox() any { return "unboxed" }

// newStage makes a stage. The actor is of p, or a lived if that is zero.
func newStage(t *testing.T, super actor.Supervisor, p actor.Props) *stage {
	s := &stage{clock: actor.NewManualClock(time.Unix(0, 0))}
	super.Decide = func(actor.Failure) actor.Directive { return s.directive }
	if p.New == nil {
		p.New = func() actor.Actor {
			s.log = append(s.log, "new")
			return lived{s}
		}
		p.Supervisor = &actor.Supervisor{Decide: func(actor.Failure) actor.Directive {
			s.log = append(s.log, "decides")
			return actor.Restart
		}}
	}
	c := actor.Config{Clock: s.clock, Failures: func(f actor.Failure) { s.failed = append(s.failed, f.Msg) }}
	s.m, s.sys, s.r, s.b = newManualWith(t, c, &super, p)
	s.parent = s.m.boxes[2]
	return s
}

// tell has the actor handle a message, in a turn that may call Goexit.
func (s *stage) tell(t *testing.T, msgs ...any) {
	for _, msg := range msgs {
		must(t, s.r.Tell(msg))
	}
	exits(s.b)
}

// exits runs a turn that may call Goexit.
func exits(b *manualBox) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.turn()
	}()
	<-done
}

// TestStopWins has a stop and another system message come before the same turn: the actor
// handles no message more, is not replaced, decides about no child, and stops, once.
func TestStopWins(t *testing.T) {
	type step func(t *testing.T, s *stage)
	fails := func(d actor.Directive) step {
		return func(t *testing.T, s *stage) {
			s.directive = d
			s.tell(t, "fail")
		}
	}
	decided := func(_ *testing.T, s *stage) { s.parent.turn() }
	kid := func(s *stage) *manualBox { return s.m.boxes[4] }
	for name, tt := range map[string]struct{ before, then step }{
		"suspend": {
			func(*testing.T, *stage) {},
			func(_ *testing.T, s *stage) { s.sys.Suspend(s.r, actor.Suspension{After: time.Hour}) },
		},
		"resume": {
			func(_ *testing.T, s *stage) {
				s.sys.Suspend(s.r, actor.Suspension{After: time.Hour})
				s.b.turn()
			},
			func(_ *testing.T, s *stage) { s.sys.Resume(s.r) },
		},
		"decision to resume":  {fails(actor.Resume), decided},
		"decision to restart": {fails(actor.Restart), decided},
		"end of a backoff": {
			func(t *testing.T, s *stage) {
				fails(actor.Restart)(t, s)
				s.parent.turn()
				s.b.turn()
				if n := s.sys.PendingTimers(); n != 1 {
					t.Errorf("%d timers are running, want only that of the backoff", n)
				}
			},
			func(_ *testing.T, s *stage) { s.clock.Advance(time.Second) },
		},
		"last child of a restart": {
			func(t *testing.T, s *stage) {
				s.tell(t, "child")
				fails(actor.Restart)(t, s)
				s.parent.turn()
				s.b.turn()
			},
			func(t *testing.T, s *stage) { wantVerdict(t, kid(s).turn(), actor.Stopped) },
		},
		"failure of a child": {
			func(t *testing.T, s *stage) { s.tell(t, "child") },
			func(t *testing.T, s *stage) {
				must(t, s.kid.Tell(1))
				wantVerdict(t, kid(s).turn(), actor.Suspended)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var super actor.Supervisor
			if name == "end of a backoff" {
				super.Backoff.Min = time.Second
			}
			s := newStage(t, super, actor.Props{})
			tt.before(t, s)
			must(t, s.r.Tell("late"))
			s.sys.Stop(s.r)
			tt.then(t, s)
			v := s.b.turn()
			if name == "failure of a child" {
				wantVerdict(t, v, actor.Suspended)
				wantVerdict(t, kid(s).turn(), actor.Stopped)
				v = s.b.turn()
			}
			wantVerdict(t, v, actor.Stopped)
			wantAll(t, s.log, "new", "stop")
			if st := s.sys.Stats(); st.Failed > 1 || !s.r.IsShell() {
				t.Errorf("%+v, want no failure of a hook among the Failed; and of the actor to be left: nothing", st)
			}
			if n := s.sys.PendingTimers(); n != 0 {
				t.Errorf("%d timers are left", n)
			}
		})
	}
}

// exiting is an actor whose hook calls Goexit, and which does so on messages with "exit". Those
// with "later" it hands to itself once more, and then exits.
type exiting struct{ had map[any]bool }

func (*exiting) PostStop(ctx *actor.Context) error {
	ctx.StartTimer(time.Hour, "too late")
	runtime.Goexit()
	return nil
}

func (a *exiting) Receive(ctx *actor.Context, msg any) error {
	switch msg {
	case "later", "later exit":
		if !a.had[msg] {
			a.had[msg] = true
			ctx.Stash(msg)
			ctx.UnstashAll()
			return nil
		}
		if msg == "later" {
			return nil
		}
		fallthrough
	case "exit":
		runtime.Goexit()
	case "stop":
		ctx.StopSelf()
	}
	return nil
}

// TestExitsTellWhatFailed: the failure that is a Goexit has the message that was being handled,
// if there was one, and not one of before: neither after an exit nor after a message that was
// stashed. Nor does it keep a timer of a value that is gone.
func TestExitsTellWhatFailed(t *testing.T) {
	props := actor.Props{New: func() actor.Actor { return &exiting{had: map[any]bool{}} }}
	s := newStage(t, actor.Supervisor{}, props)
	for range 2 {
		s.tell(t, "exit") // in Receive
		s.parent.turn()
		exits(s.b) // in PostStop, which the restart calls
		s.parent.turn()
		s.b.turn()
		if n := s.sys.PendingTimers(); n != 0 {
			t.Errorf("%d timers survive a restart", n)
		}
	}
	s.directive = actor.Resume
	s.tell(t, "later exit")
	s.parent.turn()
	s.tell(t, "exit")
	s.parent.turn()
	s.tell(t, "later", "stop")
	wantAll(t, s.failed, "exit", nil, "exit", nil, "later exit", "exit", nil)
	if st := s.sys.Stats(); st.Failures != 7 || st.Failed != 4 || st.Restarts != 2 {
		t.Errorf("%+v, want seven failures, four of them with messages, and two restarts", st)
	}

	// An actor that has nothing but its function and its hook.
	var failed []any
	c := actor.Config{Failures: func(f actor.Failure) { failed = append(failed, f.Msg) }}
	_, _, r, b := newManualWith(t, c, nil, props)
	must(t, r.Tell("stop"))
	exits(b)
	wantAll(t, failed, nil)
}

// TestOneDecisionAtATime: an actor that has failed fails no more before its parent has decided,
// though the failure of a child becomes its own: that would lose the message it failed on.
func TestOneDecisionAtATime(t *testing.T) {
	var kid actor.Ref
	p := actortest.Func(func(ctx *actor.Context, msg any) (err error) {
		if msg == "child" {
			kid, err = ctx.Spawn(actortest.Func(func(*actor.Context, any) error { return errTest }))
			return err
		}
		return errTest
	})
	p.Supervisor = &actor.Supervisor{Decide: func(actor.Failure) actor.Directive { return actor.Escalate }}
	s := newStage(t, actor.Supervisor{}, p)
	s.tell(t, "child")
	s.tell(t, boxed{})
	must(t, kid.Tell(1))
	for _, b := range []*manualBox{s.m.boxes[4], s.b, s.parent, s.b, s.m.boxes[4], s.b} {
		b.turn()
	}
	wantAll(t, s.failed, "unboxed", 1, nil)
	if got, st := s.sys.DeadLetters(), s.sys.Stats(); len(got) != 2 || got[0].Msg != "unboxed" && got[1].Msg != "unboxed" || st.Restarts != 1 {
		t.Errorf("dead letters %v and %+v, want those two that were failed on, and one restart", got, st)
	}
}

// queue is a mailbox of an actor's own.
type queue []any

func (q *queue) Len() int { return len(*q) }

func (q *queue) Enqueue(msg any, _ func(any)) actor.SendResult {
	*q = append(*q, msg)
	return actor.Sent
}

func (q *queue) Dequeue() (msg any, ok bool) {
	if len(*q) == 0 {
		return nil, false
	}
	msg, *q = (*q)[0], (*q)[1:]
	return msg, true
}

// taking is an actor that has something to tell its senders.
type taking struct {
	actor.ReceiveFunc
	in *actor.Intake
}

func (a taking) Intake() *actor.Intake { return a.in }

// TestOwnMailboxGoesOn: an actor with a mailbox of its own that has had its share comes again for
// the last message as well. Its Ref has the Intake it was made with.
func TestOwnMailboxGoesOn(t *testing.T) {
	var in actor.Intake
	n := 0
	p := actor.Props{Throughput: 1, New: func() actor.Actor {
		return taking{func(*actor.Context, any) error { n++; return nil }, &in}
	}}
	p.Mailbox.New = func() actor.Mailbox { return &queue{} }
	_, _, r, b := newManual(t, p)
	if r.Intake() != &in {
		t.Errorf("the Intake is %v, want the actor's", r.Intake())
	}
	must(t, r.Tell(1))
	must(t, r.Tell(2))
	for want := 1; want <= 2; want++ {
		if !b.cell.Pending() {
			t.Fatalf("message %d waits, and the actor is to have no turn", want)
		}
		if b.turn(); n != want {
			t.Errorf("after turn %d of one message each the actor has had %d", want, n)
		}
	}
}
