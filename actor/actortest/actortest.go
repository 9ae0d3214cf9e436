// Package actortest is the system under test: an actor system whose user guardian carries
// out what it is sent, with the failures and dead letters that it has reported. The
// clauses, the tests of the actor core and of the dispatchers, the soaks and the workloads
// all use it; what they demand of it is theirs.
//
//	s := actortest.New(actor.Config{Dispatcher: d}, func(err error) { t.Fatal(err) })
//	r := s.Spawn(actortest.Func(receive))
//	s.Send(r, 1, 2)
//	s.End(r)
//
// It is board-safe: boards run clauses.
package actortest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

// System is a system under test. Its methods are for one goroutine, the test's, but for
// those of [actor.System] and where something else is said.
type System struct {
	*actor.System

	// Wait waits until cond holds, which it calls now and then; what says what for. New
	// sets one that lets actors run and does not give up.
	Wait func(what string, cond func() bool)
	// Idle lets everything run that can. That of New is Drive, which is all of it only if
	// actors do not run by themselves.
	Idle func()

	fail func(err error)

	mu       sync.Mutex // guards what follows
	letters  []actor.DeadLetter
	failures []actor.Failure
}

// New starts a system as c says. Its user guardian is scripted unless c has another one, and
// what c would have called with dead letters and failures is kept for [System.Letters] and
// [System.Failures] unless c has functions for that. fail is called, by the goroutine of the
// test, with what must not be: it ends the test. Where it does not, New returns nil if there
// is no system.
func New(c actor.Config, fail func(err error)) *System {
	s := &System{fail: fail}
	if c.Guardian.New == nil {
		c.Guardian.New = Scripted().New
	}
	if c.DeadLetters == nil {
		c.DeadLetters = s.bookLetter
	}
	if c.Failures == nil {
		c.Failures = s.bookFailure
	}
	sys, err := actor.NewSystem(c)
	if err != nil {
		fail(err)
		return nil
	}
	s.System, s.Idle = sys, s.Drive
	s.Wait = func(_ string, cond func() bool) {
		s.Drive()
		for tries := 1; !cond(); tries++ {
			if tries%16 == 0 {
				time.Sleep(time.Microsecond) // in a bubble time stands while anything can run
			} else {
				runtime.Gosched()
			}
			s.Drive()
		}
	}
	return s
}

func (s *System) bookLetter(l actor.DeadLetter) {
	if l.Returned {
		return // it is the sender's, who has an error to show for it
	}
	s.mu.Lock()
	s.letters = append(s.letters, l)
	s.mu.Unlock()
}

func (s *System) bookFailure(f actor.Failure) {
	s.mu.Lock()
	s.failures = append(s.failures, f)
	s.mu.Unlock()
}

// Letters returns the dead letters since it was called last, but for those that were given
// back to their senders.
func (s *System) Letters() []actor.DeadLetter {
	s.mu.Lock()
	defer s.mu.Unlock()
	letters := s.letters
	s.letters = nil
	return letters
}

// Failures returns the failures since it was called last.
func (s *System) Failures() []actor.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	failures := s.failures
	s.failures = nil
	return failures
}

// Order is a message that its receiver carries out. Unlike functions, orders can be
// compared, as a failure's message with what was sent.
type Order struct {
	Do func(ctx *actor.Context) error
}

// CarryOut is the behaviour of a scripted actor: what it is sent it calls, in its turn.
func CarryOut(ctx *actor.Context, msg any) error {
	switch do := msg.(type) {
	case *Order:
		return do.Do(ctx)
	case func(ctx *actor.Context):
		do(ctx)
		return nil
	}
	return errors.New(ctx.Self().Path() + " was sent something that cannot be carried out")
}

// Scripted returns the props of an actor that carries out what it is sent.
func Scripted() actor.Props { return Func(CarryOut) }

// Func returns the props of an actor that is only a function.
func Func(f actor.ReceiveFunc) actor.Props {
	return actor.Props{New: func() actor.Actor { return f }}
}

// Drive runs the actors of a system in which they do not run by themselves. They run on a
// goroutine of their own, which an actor that calls runtime.Goexit ends.
func (s *System) Drive() {
	if !s.Synchronous() {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.RunUntilIdle()
	}()
	<-done
}

// Send sends from outside. Every message must be accepted.
func (s *System) Send(to actor.Ref, msgs ...any) {
	for _, msg := range msgs {
		if err := to.Tell(msg); err != nil {
			s.fail(errors.New("Tell returned “" + err.Error() + "”, want nil"))
		}
	}
}

// In calls f in a turn of r, a scripted actor, and waits until it has returned.
func (s *System) In(r actor.Ref, f func(ctx *actor.Context)) {
	var done atomic.Bool
	s.Send(r, &Order{func(ctx *actor.Context) error {
		f(ctx)
		done.Store(true)
		return nil
	}})
	s.Wait("a turn of "+r.Path()+" to end", done.Load)
}

// Spawn makes a child of the user guardian, which is scripted.
func (s *System) Spawn(p actor.Props) actor.Ref {
	return s.made(s.UserGuardian(), func(ctx *actor.Context) (actor.Ref, error) { return ctx.Spawn(p) })
}

// SpawnNamed makes a child of the user guardian with that name.
func (s *System) SpawnNamed(name string, p actor.Props) actor.Ref {
	return s.SpawnUnder(s.UserGuardian(), name, p)
}

// SpawnUnder makes a child of a scripted actor with that name.
func (s *System) SpawnUnder(parent actor.Ref, name string, p actor.Props) actor.Ref {
	return s.made(parent, func(ctx *actor.Context) (actor.Ref, error) { return ctx.SpawnNamed(name, p) })
}

func (s *System) made(parent actor.Ref, spawn func(ctx *actor.Context) (actor.Ref, error)) (r actor.Ref) {
	var err error
	s.In(parent, func(ctx *actor.Context) { r, err = spawn(ctx) })
	switch {
	case err != nil:
		s.fail(errors.New("Spawn returned “" + err.Error() + "”, want nil"))
	case r.IsZero():
		s.fail(errors.New("Spawn returned the zero Ref and no error"))
	}
	return r
}

// Alive reports whether r has not stopped, or its name is not free yet.
func (s *System) Alive(r actor.Ref) bool {
	_, ok := s.Lookup(r.PID())
	named, taken := s.Find(r.Path())
	return ok || taken && named == r
}

// Gone waits until all of these have stopped, and their parents know it.
func (s *System) Gone(refs ...actor.Ref) {
	for _, r := range refs {
		s.Wait(r.Path()+" to stop", func() bool { return !s.Alive(r) })
	}
	s.Idle() // a name is free before the parent has been told
}

// End stops r and waits for that.
func (s *System) End(r actor.Ref) {
	s.Stop(r)
	s.Gone(r)
}

// Over reports whether the system is done.
func (s *System) Over() bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}
