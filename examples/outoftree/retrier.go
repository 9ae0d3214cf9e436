package onemutex

import "github.com/dynolab/dyno/actor"

// Retrier is an invoker that calls an actor again, at once and in the same
// turn, if it returns an error that may pass. The actor has not failed then, and
// its supervisor is not asked. Panics are failures as ever.
//
// It goes into a Props with any dispatcher, and any number of actors may share
// one.
type Retrier struct {
	// Times is how often the actor is called at most with a message.
	Times int
	// Passing reports whether an error may pass.
	Passing func(error) bool
}

// Invoke implements [actor.Invoker].
func (r *Retrier) Invoke(ctx *actor.Context, a actor.Actor, msg any) error {
	for n := 1; ; n++ {
		err := a.Receive(ctx, msg)
		if err == nil || n >= r.Times || !r.Passing(err) {
			return err
		}
	}
}
