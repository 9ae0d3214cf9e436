package actor

import "time"

// Entry is an event of an actor system as a log has it. What else the event says, a log
// takes from the event.
type Entry struct {
	Level Level
	Actor Ref // whom it is about; zero: none
	Text  string
	Cause error // why; nil: the event has no reason
	Time  time.Time
}

// Describe says what a log is to write of an event, of whatever kind of this package's. It
// reports false for events of the program's own. Levels:
//
//	Debug  actors start, stop, are suspended, resume and change behaviour;
//	       messages given back to their senders, who have an error for it
//	Info   mailboxes are low again
//	Warn   what supervisors decide, restarts, full mailboxes, messages that
//	       are not handled
//	Error  failures; a stop because there were too many restarts
//
// A [LogEvent] says its level itself.
func Describe(ev any) (Entry, bool) {
	switch ev := ev.(type) {
	case ActorStarted:
		return Entry{LevelDebug, ev.Actor, "actor started", nil, ev.Time}, true
	case ActorStopped:
		return Entry{LevelDebug, ev.Actor, "actor stopped", nil, ev.Time}, true
	case ActorRestarted:
		return Entry{LevelWarn, ev.Actor, "actor restarted", ev.Cause, ev.Time}, true
	case Supervised:
		if ev.Exhausted {
			return Entry{LevelError, ev.Actor, "too many restarts", ev.Cause, ev.Time}, true
		}
		return Entry{LevelWarn, ev.Actor, "supervisor decided", ev.Cause, ev.Time}, true
	case ActorSuspended:
		return Entry{LevelDebug, ev.Actor, "actor suspended", nil, ev.Time}, true
	case ActorResumed:
		return Entry{LevelDebug, ev.Actor, "actor resumed", nil, ev.Time}, true
	case BehaviorChanged:
		return Entry{LevelDebug, ev.Actor, "behavior changed", nil, ev.Time}, true
	case MailboxHigh:
		return Entry{LevelWarn, ev.Actor, "mailbox high", nil, ev.Time}, true
	case MailboxLow:
		return Entry{LevelInfo, ev.Actor, "mailbox low", nil, ev.Time}, true
	case Failure:
		return Entry{LevelError, ev.Actor, "actor failed", ev.Err, ev.Time}, true
	case DeadLetter:
		if ev.Returned {
			return Entry{LevelDebug, ev.To, "message returned", ev.Reason, ev.Time}, true
		}
		return Entry{LevelWarn, ev.To, "dead letter", ev.Reason, ev.Time}, true
	case LogEvent:
		return Entry{ev.Level, ev.Actor, ev.Text, nil, ev.Time}, true
	}
	return Entry{}, false
}
