// Package actorslog writes what happens in an actor system to log/slog.
//
//	log := actorslog.New(sys.Events(), actorslog.Config{})
//	defer log.Close()
//
// Events are written by a goroutine of the Logger's own. Actors do not wait for
// it: if it falls too far behind, events are lost, and the log says how many.
//
// A record has the time of its event. Its attributes are "actor", the actor's
// path, "pid", and what else the event says; of a message only the type, since
// its owner may be writing to it. The levels are those of [actor.Describe]; events that
// programs publish are Info, lost events Warn.
package actorslog

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/dynolab/dyno/actor"
)

// Config says what is written where. Its zero value is the default.
type Config struct {
	// Logger is who writes; the default is slog.Default.
	Logger *slog.Logger

	// Capacity is how many events may wait to be written; 0 means 1024. More
	// that come meanwhile are lost, the oldest first.
	Capacity int
}

// Logger writes the events of one stream. Make one with [New].
type Logger struct {
	handler slog.Handler
	sub     *actor.Subscription[any]
	done    chan struct{}
}

// New makes a Logger that writes until [Logger.Close], or until the system is
// over and everything is written. It panics if c.Capacity is negative.
func New(e *actor.EventStream, c Config) *Logger {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Capacity == 0 {
		c.Capacity = 1024
	}
	l := &Logger{
		handler: c.Logger.Handler(),
		sub:     actor.Subscribe[any](e, c.Capacity),
		done:    make(chan struct{}),
	}
	go l.run()
	return l
}

// Close ends the subscription and waits until what has come is written. It may
// be called more than once, by any goroutine but the one that writes: not by
// the handler.
func (l *Logger) Close() {
	l.sub.Unsubscribe()
	<-l.done
}

// Done is closed when everything is written that is going to be, be it because
// of Close or because the system is over.
func (l *Logger) Done() <-chan struct{} { return l.done }

func (l *Logger) run() {
	defer close(l.done)
	var lost uint64
	for {
		ev, err := l.sub.Next(context.Background())
		if err != nil {
			return // it is over
		}
		r, ok := l.record(ev)
		// When events are lost there is one to fetch that came after them, so
		// that nothing is left to be said at the end.
		if n := l.sub.Lost(); n > lost {
			if l.handler.Enabled(context.Background(), slog.LevelWarn) {
				w := slog.NewRecord(r.Time, slog.LevelWarn, "events lost", 0)
				w.AddAttrs(slog.Uint64("lost", n-lost))
				l.handle(w)
			}
			lost = n
		}
		if ok {
			l.handle(r)
		}
	}
}

// handle has a record written. As for a slog.Logger, nothing is reported if
// it cannot be.
func (l *Logger) handle(r slog.Record) { _ = l.handler.Handle(context.Background(), r) }

// record makes a record of an event, and says whether it is to be written. The
// record has a time in any case.
func (l *Logger) record(ev any) (slog.Record, bool) {
	e, ours := actor.Describe(ev)
	if !ours { // a program's own
		e = actor.Entry{Level: actor.LevelInfo, Text: "event", Time: time.Now()}
	}
	r := slog.NewRecord(e.Time, slog.Level(e.Level), e.Text, 0)
	if !l.handler.Enabled(context.Background(), r.Level) {
		return r, false
	}
	if !e.Actor.IsZero() {
		r.AddAttrs(slog.String("actor", e.Actor.Path()), slog.String("pid", e.Actor.PID().String()))
	}
	r.AddAttrs(attrs(ev)...)
	return r, true
}

// attrs are what else an event says.
func attrs(ev any) (attrs []slog.Attr) {
	switch ev := ev.(type) {
	case actor.ActorStarted, actor.ActorStopped, actor.LogEvent:
	case actor.ActorRestarted:
		attrs = []slog.Attr{slog.Any("cause", ev.Cause), slog.Int("restarts", ev.Restarts)}
	case actor.Supervised:
		attrs = []slog.Attr{
			slog.String("parent", ev.Parent.Path()), slog.String("directive", ev.Directive.String()), slog.Any("cause", ev.Cause),
		}
		if ev.Directive == actor.Restart && !ev.Exhausted {
			attrs = append(attrs, slog.Int("restarts", ev.Restarts), slog.Duration("delay", ev.Delay))
		}
	case actor.ActorSuspended:
		attrs = []slog.Attr{slog.String("reason", ev.Suspension.Reason)}
		if d := ev.Suspension.After; d > 0 {
			attrs = append(attrs, slog.Duration("after", d))
		}
		if r := ev.Suspension.Capacity; !r.IsZero() {
			attrs = append(attrs, slog.String("capacity", r.Path()))
		}
	case actor.ActorResumed:
		attrs = []slog.Attr{slog.Duration("latency", ev.Latency)}
	case actor.BehaviorChanged:
		attrs = []slog.Attr{slog.Int("depth", ev.Depth)}
	case actor.MailboxHigh:
		attrs = []slog.Attr{slog.Int("len", ev.Len)}
	case actor.MailboxLow:
		attrs = []slog.Attr{slog.Int("len", ev.Len)}
	case actor.Failure:
		attrs = []slog.Attr{slog.Any("error", ev.Err)}
		if ev.Msg != nil {
			attrs = append(attrs, typeOf(ev.Msg))
		}
	case actor.DeadLetter:
		attrs = []slog.Attr{typeOf(ev.Msg), slog.Any("reason", ev.Reason)}
		if ev.Cause != nil {
			attrs = append(attrs, slog.Any("cause", ev.Cause))
		}
	default: // a program's own
		attrs = []slog.Attr{slog.String("type", fmt.Sprintf("%T", ev)), slog.Any("event", ev)}
	}
	return attrs
}

func typeOf(msg any) slog.Attr { return slog.String("message", fmt.Sprintf("%T", msg)) }
