package actorslog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actorslog"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/internal/patience"
)

var (
	errTest = errors.New("it broke")
	day     = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
)

// lines returns what a Logger for this level writes of what f publishes.
func lines(t *testing.T, level slog.Level, f func(e *actor.EventStream)) []string {
	t.Helper()
	var out bytes.Buffer // written by the Logger's goroutine, read after Close
	var e actor.EventStream
	l := actorslog.New(&e, actorslog.Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}))})
	f(&e)
	l.Close()
	l.Close()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

type custom struct{ N int }

func TestEveryEventIsWritten(t *testing.T) {
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: serial.NewDispatcher(),
		Guardian:   actor.Props{New: func() actor.Actor { return actor.ReceiveFunc(func(*actor.Context, any) error { return nil }) }},
	})
	must(t, err)
	defer func() { must(t, sys.Shutdown(context.Background())) }()
	r := sys.UserGuardian()
	got := lines(t, slog.LevelDebug, func(e *actor.EventStream) {
		for _, ev := range []any{
			actor.ActorStarted{Actor: r, Time: day},
			actor.ActorStopped{Actor: r, Time: day},
			actor.ActorRestarted{Actor: r, Cause: errTest, Restarts: 3, Time: day},
			actor.Supervised{Actor: r, Parent: r, Directive: actor.Restart, Cause: errTest, Restarts: 2, Delay: time.Second, Time: day},
			actor.Supervised{Actor: r, Parent: r, Directive: actor.Escalate, Cause: errTest, Time: day},
			actor.Supervised{Actor: r, Parent: r, Directive: actor.Stop, Cause: errTest, Exhausted: true, Restarts: 10, Time: day},
			actor.ActorSuspended{Actor: r, Suspension: actor.Suspension{Reason: "no room", After: time.Minute, Capacity: r}, Time: day},
			actor.ActorSuspended{Actor: r, Time: day},
			actor.ActorResumed{Actor: r, Latency: time.Millisecond, Time: day},
			actor.BehaviorChanged{Actor: r, Depth: 2, Time: day},
			actor.MailboxHigh{Actor: r, Len: 80, Time: day},
			actor.MailboxLow{Actor: r, Len: 20, Time: day},
			actor.Failure{Actor: r, Msg: custom{}, Err: errTest, Time: day},
			actor.Failure{Actor: r, Err: errTest, Time: day},
			actor.DeadLetter{Msg: 1, To: r, Reason: actor.ErrDropped, Time: day},
			actor.DeadLetter{Msg: 1, To: r, Reason: actor.ErrStopped, Cause: errTest, Time: day},
			actor.DeadLetter{Msg: 1, Reason: actor.ErrZeroRef, Returned: true, Time: day},
			actor.LogEvent{Level: actor.LevelWarn, Actor: r, Text: "careful", Time: day},
			actor.LogEvent{Level: actor.LevelError + 1, Text: "unnamed level", Time: day},
		} {
			e.Publish(ev)
		}
	})
	const at = "time=2024-05-06T07:08:09.000Z level="
	who := " actor=/user pid=" + r.PID().String()
	same(
		t, got,
		at+`DEBUG msg="actor started"`+who,
		at+`DEBUG msg="actor stopped"`+who,
		at+`WARN msg="actor restarted"`+who+` cause="it broke" restarts=3`,
		at+`WARN msg="supervisor decided"`+who+` parent=/user directive=restart cause="it broke" restarts=2 delay=1s`,
		at+`WARN msg="supervisor decided"`+who+` parent=/user directive=escalate cause="it broke"`,
		at+`ERROR msg="too many restarts"`+who+` parent=/user directive=stop cause="it broke"`,
		at+`DEBUG msg="actor suspended"`+who+` reason="no room" after=1m0s capacity=/user`,
		at+`DEBUG msg="actor suspended"`+who+` reason=""`,
		at+`DEBUG msg="actor resumed"`+who+` latency=1ms`,
		at+`DEBUG msg="behavior changed"`+who+` depth=2`,
		at+`WARN msg="mailbox high"`+who+` len=80`,
		at+`INFO msg="mailbox low"`+who+` len=20`,
		at+`ERROR msg="actor failed"`+who+` error="it broke" message=actorslog_test.custom`,
		at+`ERROR msg="actor failed"`+who+` error="it broke"`,
		at+`WARN msg="dead letter"`+who+` message=int reason="actor: dropped from a full mailbox"`,
		at+`WARN msg="dead letter"`+who+` message=int reason="actor: the actor has stopped" cause="it broke"`,
		at+`DEBUG msg="message returned" message=int reason="actor: the Ref is zero"`,
		at+`WARN msg=careful`+who,
		at+`ERROR+1 msg="unnamed level"`,
	)
}

func TestOwnEventsAreWritten(t *testing.T) {
	got := lines(t, slog.LevelDebug, func(e *actor.EventStream) { e.Publish(custom{7}) })
	if len(got) != 1 || !strings.HasSuffix(got[0], " level=INFO msg=event type=actorslog_test.custom event={N:7}") {
		t.Errorf("got %q", got)
	}
}

func TestLevelIsKept(t *testing.T) {
	got := lines(t, slog.LevelWarn, func(e *actor.EventStream) {
		e.Publish(actor.ActorStarted{Time: day})
		e.Publish(actor.LogEvent{Level: actor.LevelInfo, Text: "no", Time: day})
		e.Publish(actor.LogEvent{Level: actor.LevelWarn, Text: "yes", Time: day})
	})
	same(t, got, "time=2024-05-06T07:08:09.000Z level=WARN msg=yes")
}

// held is a handler that waits before its first record until it is let go.
type held struct {
	slog.Handler
	begun, let chan struct{}
	once       sync.Once
}

func (h *held) Handle(ctx context.Context, r slog.Record) error {
	h.once.Do(func() {
		close(h.begun)
		<-h.let
	})
	return h.Handler.Handle(ctx, r)
}

// TestSlowHandler: who publishes does not wait for a handler that is stuck, and
// the log says how much it has missed, even if it does not say what followed.
func TestSlowHandler(t *testing.T) {
	const at = "time=2024-05-06T07:08:09.000Z level="
	for level, want := range map[slog.Level][]string{
		slog.LevelInfo:  {at + "ERROR msg=a", at + `WARN msg="events lost" lost=2`, at + "ERROR msg=d"},
		slog.LevelError: {at + "ERROR msg=a", at + "ERROR msg=d"},
	} {
		var out bytes.Buffer
		h := &held{
			Handler: slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level}),
			begun:   make(chan struct{}), let: make(chan struct{}),
		}
		var e actor.EventStream
		l := actorslog.New(&e, actorslog.Config{Logger: slog.New(h), Capacity: 3})
		say := func(level actor.Level, text string) {
			e.Publish(actor.LogEvent{Level: level, Text: text, Time: day})
		}
		say(actor.LevelError, "a")
		<-h.begun
		for _, text := range []string{"b", "c", "d"} {
			say(actor.LevelError, text)
		}
		for _, text := range []string{"e", "f"} {
			say(actor.LevelDebug, text) // in the place of b and c
		}
		close(h.let)
		l.Close()
		same(t, strings.Split(strings.TrimSpace(out.String()), "\n"), want...)
	}
}

// TestSystemOver: a Logger that is not closed ends with its system, when it has
// written everything.
func TestSystemOver(t *testing.T) {
	before := goleak.IgnoreCurrent()
	defer patience.Until(t, func() error { return goleak.Find(before) })
	var out bytes.Buffer
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: lockbased.NewDispatcher(),
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(*actor.Context, any) error { return errTest })
		}},
	})
	must(t, err)
	l := actorslog.New(sys.Events(), actorslog.Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelError}))})
	must(t, sys.UserGuardian().Tell(1))
	<-l.Done()
	_, line, _ := strings.Cut(strings.TrimSpace(out.String()), " ") // without the time
	same(t, []string{line}, `level=ERROR msg="actor failed" actor=/user pid=`+sys.UserGuardian().PID().String()+` error="it broke" message=int`)
	l.Close()
}

func TestDefaultLogger(t *testing.T) {
	var out bytes.Buffer
	old := slog.Default()
	defer slog.SetDefault(old)
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	var e actor.EventStream
	l := actorslog.New(&e, actorslog.Config{})
	e.Publish(actor.LogEvent{Text: "x", Time: day})
	l.Close()
	same(t, strings.Split(strings.TrimSpace(out.String()), "\n"), "time=2024-05-06T07:08:09.000Z level=INFO msg=x")
}
