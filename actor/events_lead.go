package actor

import "time"

// Supervised says what a supervisor has decided about a child that had failed.
type Supervised struct {
	Actor     Ref // the child
	Parent    Ref
	Directive Directive
	Cause     error         // what the child failed with
	Restarts  int           // of the window: with this one, if it is one; those before, if Exhausted; else 0
	Delay     time.Duration // before the restart
	Exhausted bool          // there would have been a restart, but there were too many: Stop
	Time      time.Time
}

// ActorSuspended says that an actor handles no user messages because a caller
// asked for that.
type ActorSuspended struct {
	Actor      Ref
	Suspension Suspension
	Time       time.Time
}
