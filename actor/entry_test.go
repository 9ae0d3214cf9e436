package actor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
)

// TestDescribe: every event of the stream is an entry of a log, with its level, cause and time.
func TestDescribe(t *testing.T) {
	err, now := errors.New("why"), time.Unix(7, 0)
	for _, tt := range []struct {
		event any
		want  actor.Entry
	}{
		{actor.ActorStarted{Time: now}, actor.Entry{Level: actor.LevelDebug, Text: "actor started"}},
		{actor.ActorStopped{Time: now}, actor.Entry{Level: actor.LevelDebug, Text: "actor stopped"}},
		{actor.ActorRestarted{Time: now, Cause: err}, actor.Entry{Level: actor.LevelWarn, Text: "actor restarted", Cause: err}},
		{actor.Supervised{Time: now, Cause: err}, actor.Entry{Level: actor.LevelWarn, Text: "supervisor decided", Cause: err}},
		{actor.Supervised{Time: now, Cause: err, Exhausted: true}, actor.Entry{Level: actor.LevelError, Text: "too many restarts", Cause: err}},
		{actor.ActorSuspended{Time: now}, actor.Entry{Level: actor.LevelDebug, Text: "actor suspended"}},
		{actor.ActorResumed{Time: now}, actor.Entry{Level: actor.LevelDebug, Text: "actor resumed"}},
		{actor.BehaviorChanged{Time: now}, actor.Entry{Level: actor.LevelDebug, Text: "behavior changed"}},
		{actor.MailboxHigh{Time: now}, actor.Entry{Level: actor.LevelWarn, Text: "mailbox high"}},
		{actor.MailboxLow{Time: now}, actor.Entry{Level: actor.LevelInfo, Text: "mailbox low"}},
		{actor.Failure{Time: now, Err: err}, actor.Entry{Level: actor.LevelError, Text: "actor failed", Cause: err}},
		{actor.DeadLetter{Time: now, Reason: err}, actor.Entry{Level: actor.LevelWarn, Text: "dead letter", Cause: err}},
		{actor.DeadLetter{Time: now, Reason: err, Returned: true}, actor.Entry{Level: actor.LevelDebug, Text: "message returned", Cause: err}},
		{actor.LogEvent{Time: now, Level: actor.LevelInfo, Text: "hello"}, actor.Entry{Level: actor.LevelInfo, Text: "hello"}},
	} {
		tt.want.Time = now
		if got, ok := actor.Describe(tt.event); !ok || got != tt.want {
			t.Errorf("%T is %+v (%v), want %+v", tt.event, got, ok, tt.want)
		}
	}
	if got, ok := actor.Describe("no event"); ok {
		t.Errorf("a string is %+v", got)
	}
}
