package conformtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/conformance"
)

// actorHostClauses are the clauses of package actor that need a host, in the
// order in which they run.
var actorHostClauses = []hostClause{
	{conformance.Clause{
		Name: "actor/context-outside-turn", Rule: "FR-002",
		Why: "builds with -race panic when a Context is used outside its actor's turn: there it has no owner, and what it says may be wrong",
	}, checkContextOutside},
	{conformance.Clause{
		Name: "actor/system-collected", Rule: "FR-016",
		Why: "nothing keeps a system that is done alive, nor its actors, however it was used and whatever ended it",
	}, checkSystemCollected},
	{conformance.Clause{
		Name: "actor/stopped-collected", Rule: "FR-016",
		Why: "of an actor that has stopped its system keeps nothing, and a Ref to it only a shell: not the actor, its behaviours, nor what was in its mailbox",
	}, checkStoppedCollected},
	{conformance.Clause{
		Name: "actor/messages-collected", Rule: "FR-016",
		Why: "a message that was handled, dropped or given back is not kept: an idle mailbox keeps none alive",
	}, checkMessagesCollected},
	{conformance.Clause{
		Name: "actor/blocked-for-real", Rule: "V4", Needs: dyno.Promises{Overlap: true, Eager: true},
		Why: "handlers that sleep, lock, wait or sit in a system call, more of them than there are workers, do not stop the others",
	}, checkBlockedForReal},
	{conformance.Clause{
		Name: "actor/overlap-for-real", Rule: "V4", Needs: dyno.Promises{Overlap: true, Eager: true},
		Why: "of actors that are told something together each has its turn, also if the handlers before it compute or sit in a system call until then",
	}, checkOverlapForReal},
	{conformance.Clause{
		Name: "actor/waits-are-idle", Rule: "FR-020", Needs: dyno.Promises{Overlap: true, Eager: true},
		Why: "who waits for room, and a worker without work, is parked: it neither spins nor polls, and the processor is free for others",
	}, checkWaitsAreIdle},
	{conformance.Clause{
		Name: "actor/flood-of-a-million", Rule: "V5",
		Why: "a flood from outside is handled to the last message, and a quiet actor has its turns meanwhile; how long they take is reported",
	}, checkFloodOfAMillion},
	{conformance.Clause{
		Name: "actor/floods-in-turn", Rule: "FR-009",
		Why: "a message goes to its own actor in its place, also if another one was flooded before and has gone idle: the memory of a large mailbox belongs to one actor at a time",
	}, checkFloodsInTurn},
	{conformance.Clause{
		Name: "actor/guest", Rule: "FR-034",
		Why: "what a guest's first send makes ready Run runs on the caller's goroutine, and the rest is for the workers, also after a panic, a Goexit and the guest's end; it is counted, and the lender is told when a turn is about to wait for room",
	}, checkGuests},
	{conformance.Clause{
		Name: "actor/model", Rule: "FR-009", Kind: conformance.Stochastic,
		Why: "mailbox, stash, timers, suspension and supervision of an actor together do what a sequential model of them does, in the same order",
	}, checkActorModel},
	{conformance.Clause{
		Name: "actor/cycles-leak-nothing", Rule: "S5", On: conformance.Platform{Heap: true},
		Why: "suspensions, asks, timers, restarts, watches, stashes and subscriptions leave nothing behind when they end: no memory, no goroutine",
	}, checkCycles},
}

// hosted returns a system of a host clause, and ends it by ending the check if anything is
// not as it must be.
func (s *suite) hosted(e *conformance.Env, c actor.Config) *actortest.System {
	c.Dispatcher = s.impl.NewDispatcher()
	c.KeepDeadLetters = -1                    // clauses ask what else keeps a message alive
	c.DeadLetters = func(actor.DeadLetter) {} // and so does the system under test
	c.Failures = func(actor.Failure) {}
	h := actortest.New(c, func(err error) { panic(err) })
	h.Wait = func(_ string, cond func() bool) {
		for h.Drive(); !cond(); h.Drive() {
			e.Settle()
		}
	}
	return h
}

// checkContextOutside keeps a Context and uses it when its actor has gone idle.
func checkContextOutside(t *testing.T, s *suite) outcome {
	if !raceEnabled {
		return outcome{skip: "needs a build with -race, in which this is checked"}
	}
	err := s.try(t, func(e *conformance.Env) error {
		h := s.hosted(e, actor.Config{})
		var kept *actor.Context
		h.In(h.UserGuardian(), func(ctx *actor.Context) {
			kept = ctx
			_ = ctx.Self() // inside it may be used
		})
		// Its last turn is over, and that is visible here, when Done is closed.
		if err := h.Shutdown(context.Background()); err != nil {
			return err
		}
		for name, use := range map[string]func(){
			"Self":        func() { kept.Self() },
			"Parent":      func() { kept.Parent() },
			"Children":    func() { kept.Children() },
			"Child":       func() { kept.Child("x") },
			"System":      func() { kept.System() },
			"Tell":        func() { _ = kept.Tell(actor.Ref{}, 1) },
			"TellContext": func() { _ = kept.TellContext(context.Background(), actor.Ref{}, 1) },
			"Forward":     func() { kept.Forward(actor.Ref{}, 1) },
			"Spawn":       func() { _, _ = kept.Spawn(actor.Props{}) },
			"SpawnNamed":  func() { _, _ = kept.SpawnNamed("x", actor.Props{}) },
			"Stop":        func() { kept.Stop(actor.Ref{}) },
			"StopSelf":    func() { kept.StopSelf() },
			"Become":      func() { kept.Become(actortest.CarryOut) },
			"Unbecome":    func() { kept.Unbecome() },
		} {
			if !panics(use) {
				return fmt.Errorf("Context.%s outside the actor's turn did not panic", name)
			}
		}
		return nil
	}, s.set.seed)
	return outcome{err: err, seed: s.set.seed}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// collected returns the index of an object that is still there after many
// collections, or -1. An object is collected when nothing reaches it, which may
// take some collections to show, as finalizers and the stacks of goroutines
// that are about to end keep a little.
func collected[T any](e *conformance.Env, objects ...weak.Pointer[T]) (left int) {
	for range 50 {
		runtime.GC()
		left = slices.IndexFunc(objects, func(p weak.Pointer[T]) bool { return p.Value() != nil })
		if left < 0 {
			break
		}
		e.Settle()
	}
	return left
}

// witness is an object of which it is watched whether it is collected. The
// pointer keeps it out of the tiny allocator, which would tie it to others.
type witness struct {
	self *witness
	_    [64]byte
}

func newWitness() (*witness, weak.Pointer[witness]) {
	w := &witness{}
	w.self = w
	return w, weak.Make(w)
}

func checkSystemCollected(_ *testing.T, s *suite) outcome {
	return s.outside(s.limit, func(e *conformance.Env) error {
		for name, end := range map[string]func(h *actortest.System) error{
			"Shutdown": func(h *actortest.System) error { return h.Shutdown(context.Background()) },
			"a guardian that stopped": func(h *actortest.System) error {
				h.Stop(h.UserGuardian())
				h.Wait("the system to be over", h.Over)
				return nil
			},
			"a guardian that failed": func(h *actortest.System) error {
				err := h.UserGuardian().Tell(func(*actor.Context) { panic("x") })
				h.Wait("the system to be over", h.Over)
				return err
			},
		} {
			system, state, message, kept, err := s.useSystem(e, end)
			if err != nil {
				return fmt.Errorf("ended by %s: %w", name, err)
			}
			switch {
			case collected(e, system) >= 0:
				return fmt.Errorf("a system ended by %s is still reachable", name)
			case collected(e, state) >= 0:
				return fmt.Errorf("an actor of a system ended by %s is still reachable", name)
			case collected(e, message) >= 0:
				return fmt.Errorf("a message that waited when %s ended the system is still reachable", name)
			}
			runtime.KeepAlive(kept)
		}
		return nil
	})
}

// useSystem makes a system with some life in it, ends it, and returns what must
// be collectable when it returns, and what a program may keep without keeping that.
func (s *suite) useSystem(e *conformance.Env, end func(h *actortest.System) error) (system weak.Pointer[actor.System], state, message weak.Pointer[witness], kept []any, err error) {
	h := s.hosted(e, actor.Config{})
	events := actor.Subscribe[any](h.Events(), 10)
	listener := actor.SubscribeFunc(h.Events(), func(actor.LogEvent) {})
	inside, state := newWitness()
	waits, message := newWitness()
	h.In(h.UserGuardian(), func(ctx *actor.Context) {
		for i := range 20 {
			r, spawnErr := ctx.SpawnNamed(fmt.Sprint("child ", i), actor.Props{New: func() actor.Actor {
				return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					runtime.KeepAlive(inside)
					if i%4 == 0 {
						return errors.New("a failure")
					}
					return nil
				})
			}})
			err = errors.Join(err, spawnErr, ctx.Tell(r, i))
		}
		r, spawnErr := ctx.Spawn(actortest.Scripted())
		err = errors.Join(err, spawnErr, ctx.Tell(r, func(ctx *actor.Context) {
			_ = ctx.Tell(ctx.Self(), waits)
			ctx.StopSelf()
		}))
	})
	// One answer that is waited for in vain, and one deadline that nothing waits for.
	h.Ask(h.Spawn(actortest.Func(func(*actor.Context, any) error { return nil })), time.Hour, func(to actor.ReplyTo) any { return to })
	h.NewFuture(time.Hour)
	if err == nil {
		err = end(h)
	}
	for left := true; left; { // what the end has published has Refs
		_, left = events.TryNext()
	}
	return weak.Make(h.System), state, message, []any{h.Events(), events, listener}, err
}

func checkStoppedCollected(_ *testing.T, s *suite) outcome {
	return s.outside(s.limit, func(e *conformance.Env) error {
		h := s.hosted(e, actor.Config{})
		refs := make([]actor.Ref, 2)
		states, behaviours, messages := make([]weak.Pointer[witness], 2), make([]weak.Pointer[witness], 2), make([]weak.Pointer[witness], 2)
		for i := range refs {
			useActor(h, i == 1, &refs[i], &states[i], &behaviours[i], &messages[i])
		}
		switch {
		case collected(e, states...) >= 0:
			return errors.New("an actor that has stopped is still reachable")
		case collected(e, behaviours...) >= 0:
			return errors.New("what an actor that has stopped had become is still reachable")
		case collected(e, messages...) >= 0:
			return errors.New("a message that waited for an actor that has stopped is still reachable")
		}
		runtime.KeepAlive(refs) // the Refs are held all the while
		return h.Shutdown(context.Background())
	})
}

// useActor lets an actor live and stop, by itself or by failing.
func useActor(h *actortest.System, fail bool, ref *actor.Ref, state, behaviour, message *weak.Pointer[witness]) {
	inside, w1 := newWitness()
	become, w2 := newWitness()
	waits, w3 := newWitness()
	*state, *behaviour, *message = w1, w2, w3
	*ref = h.Spawn(actor.Props{New: func() actor.Actor {
		return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
			runtime.KeepAlive(inside)
			return actortest.CarryOut(ctx, msg)
		})
	}})
	h.In(*ref, func(ctx *actor.Context) {
		ctx.Become(func(ctx *actor.Context, msg any) error {
			runtime.KeepAlive(become)
			return actortest.CarryOut(ctx, msg)
		})
	})
	h.Send(*ref, func(ctx *actor.Context) {
		_ = ctx.Tell(ctx.Self(), waits)
		if fail {
			panic("x")
		}
		ctx.StopSelf()
	})
	h.End(*ref)
}

func checkMessagesCollected(_ *testing.T, s *suite) outcome {
	return s.outside(s.limit, func(e *conformance.Env) error {
		h := s.hosted(e, actor.Config{})
		var all []actor.MailboxConfig
		for _, policy := range actor.Policies() {
			m := actor.MailboxConfig{Policy: policy}
			if policy != actor.Unbounded {
				m.Capacity = 4
			}
			ordered := m
			ordered.Priority = func(any) int { return 0 }
			all = append(all, m, ordered)
		}
		for _, m := range all {
			r, messages := useMailbox(h, m)
			if i := collected(e, messages...); i >= 0 {
				how := ""
				if m.Priority != nil {
					how = " with priorities"
				}
				return fmt.Errorf("message %d of %d to an actor that is idle now is still reachable (mailbox: %v%s)", i+1, len(messages), m.Policy, how)
			}
			runtime.KeepAlive(r)
		}
		return h.Shutdown(context.Background())
	})
}

// useMailbox has an actor with such a mailbox send itself messages, more than
// there is room for, and handle them.
func useMailbox(h *actortest.System, m actor.MailboxConfig) (r actor.Ref, messages []weak.Pointer[witness]) {
	r = h.Spawn(actor.Props{Mailbox: m, New: actortest.Func(func(ctx *actor.Context, msg any) error {
		if _, is := msg.(*witness); is {
			return nil
		}
		return actortest.CarryOut(ctx, msg)
	}).New})
	h.In(r, func(ctx *actor.Context) {
		for range 10 {
			w, p := newWitness()
			messages = append(messages, p)
			_ = ctx.Tell(ctx.Self(), w) // it may come back
		}
	})
	h.In(r, func(*actor.Context) {})
	return r, messages
}
