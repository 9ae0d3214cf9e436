package firmware

import "github.com/dynolab/dyno/actor"

// Log is the logger of a board: it sends what happens in an actor system to the host, a
// note for each event, with the level and words that package actorslog writes on hosts.
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

// one sends an event, if it is one of an actor system's and of a level that is asked for.
func (l *Log) one(ev any) {
	e, ok := actor.Describe(ev)
	if !ok || e.Level < l.least {
		return
	}
	text := e.Text
	if s, ok := ev.(actor.Supervised); ok {
		text += ": " + s.Directive.String()
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	l.report.Note("log ", e.Level, " ", e.Actor.Path(), ": ", text)
}
