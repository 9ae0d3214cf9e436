package firmware

import (
	"github.com/dynolab/dyno/actor"
)

// Log is the logger of a board: it sends what happens in an actor system to the host, a
// note for each event, as package actorslog writes it to log/slog on hosts.
//
//	note log WARN /user/pump: the pressure is high
//	note log ERROR /user/pump: actor failed: no pressure
//
// Actors do not wait for it: a port takes 87 µs a byte. Events wait in a ring of bounded
// memory until the case's goroutine has time for them and calls Send. If more come
// meanwhile than there is room for, the oldest are lost, and Send says how many.
// Make one with [Report.Log]. One goroutine uses it, that of the Report.
type Log struct {
	report *Report
	events *actor.Subscription[any]
	least  actor.Level
	lost   uint64 // events that Send has told of
}

// Log returns a Log of the events that e has from now on, of a level of least or
// above. capacity is how many may wait, at least 1; of any level, because they are looked
// at when they are sent.
func (r *Report) Log(e *actor.EventStream, capacity int, least actor.Level) *Log {
	return &Log{report: r, events: actor.Subscribe[any](e, capacity), least: least}
}

// Send sends what has come, and does not wait for more. The events of a system that has
// been shut down can still be sent.
func (l *Log) Send() {
	for {
		ev, ok := l.events.TryNext()
		if n := l.events.Lost(); n > l.lost {
			l.report.Note("log ", actor.LevelWarn, ": events lost: ", n-l.lost)
			l.lost = n
		}
		if !ok {
			return
		}
		l.one(ev)
	}
}

// Close ends the subscription, and sends what has come.
func (l *Log) Close() {
	l.events.Unsubscribe()
	l.Send()
}

// one sends an event, with the levels of package actorslog. What neither an operator nor a
// programmer looks for on a board, such as that behaviours have changed, is not sent.
func (l *Log) one(ev any) {
	switch ev := ev.(type) {
	case actor.LogEvent:
		l.note(ev.Level, ev.Actor, ev.Text, nil)
	case actor.ActorStarted:
		l.note(actor.LevelDebug, ev.Actor, "actor started", nil)
	case actor.ActorStopped:
		l.note(actor.LevelDebug, ev.Actor, "actor stopped", nil)
	case actor.ActorRestarted:
		l.note(actor.LevelWarn, ev.Actor, "actor restarted", ev.Cause)
	case actor.Supervised:
		if ev.Exhausted {
			l.note(actor.LevelError, ev.Actor, "too many restarts", ev.Cause)
			return
		}
		l.note(actor.LevelWarn, ev.Actor, "supervisor decided: "+ev.Directive.String(), ev.Cause)
	case actor.MailboxHigh:
		l.note(actor.LevelWarn, ev.Actor, "mailbox high", nil)
	case actor.MailboxLow:
		l.note(actor.LevelInfo, ev.Actor, "mailbox low", nil)
	case actor.Failure:
		l.note(actor.LevelError, ev.Actor, "actor failed", ev.Err)
	case actor.DeadLetter:
		if ev.Returned {
			l.note(actor.LevelDebug, ev.To, "message returned", ev.Reason)
			return
		}
		l.note(actor.LevelWarn, ev.To, "dead letter", ev.Reason)
	}
}

// note sends a line of the log.
func (l *Log) note(level actor.Level, who actor.Ref, text string, cause error) {
	switch {
	case level < l.least:
	case cause != nil:
		l.report.Note("log ", level, " ", who.Path(), ": ", text, ": ", cause)
	default:
		l.report.Note("log ", level, " ", who.Path(), ": ", text)
	}
}
