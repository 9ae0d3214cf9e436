package workloads

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/task"
)

// patience is how long a run waits while no message at all is handled before
// it gives up. It is far more than the slowest machine needs, and no more than
// a person waits for a test that has lost a message.
const patience = 10 * time.Second

// parting is how long Close waits for what a run that has failed has left.
const parting = time.Second

// progress is what runs of actors and of references have in common: who waits for
// the end of a Do, and what was wrong first.
type progress struct {
	parts atomic.Int64  // parts of this Do that are not over
	over  chan struct{} // capacity 1: all parts are over, or something is wrong

	mu    sync.Mutex
	wrong error // what was wrong first
}

func (s *progress) init() { s.over = make(chan struct{}, 1) }

// fail books that something is wrong and ends the wait for the Do. Any
// goroutine may call it.
func (s *progress) fail(err error) {
	s.mu.Lock()
	if s.wrong == nil {
		s.wrong = err
	}
	s.mu.Unlock()
	s.end()
}

func (s *progress) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrong
}

// end ends the wait for the Do.
func (s *progress) end() {
	select {
	case s.over <- struct{}{}:
	default: // it has been ended
	}
}

// part books that a part of the Do is over.
func (s *progress) part() {
	if s.parts.Add(-1) == 0 {
		s.end()
	}
}

// begin begins a Do of n operations in the given number of parts.
func (s *progress) begin(n, parts int) {
	if n < 1 {
		panic("workloads: Do of fewer than one operation")
	}
	s.parts.Store(int64(parts))
}

// errLost is what a run ends with whose messages do not end.
var errLost = errors.New("workloads: nothing is left to do and the last message has not come: one was lost on the way")

// system is an actor system for one run.
type system struct {
	progress
	sys *actortest.System

	// What a workload wants otherwise than others. Nil is what others want.
	clock   actor.Clock
	letter  func(l actor.DeadLetter) bool // books a dead letter, if the workload has made it one; any goroutine calls it
	failure func(f actor.Failure) bool    // books a failure, if the workload has made an actor fail; any actor's turn calls it
	refused uint64                        // messages that the workload sent to be given back

	ex task.Executor // runs tasks when all actors are idle, where nothing runs by itself

	act   func(ctx *actor.Context) error // what the guardian is to do now
	timer *time.Timer
	seen  uint64 // progress when the timer fired last
}

// raise starts a system whose guardian does what it is told, and has it do setUp, which
// makes the actors. If that fails, Do will say so.
func (s *system) raise(st Setting, setUp func(s *system, ctx *actor.Context) error) {
	s.init()
	s.sys = actortest.New(actor.Config{
		Name:       "workload",
		Guardian:   actortest.Func(s.direct),
		Dispatcher: st.Impl.NewDispatcher(),
		Clock:      s.clock,
		Middleware: st.middleware,
		DeadLetters: func(l actor.DeadLetter) {
			if s.letter != nil && s.letter(l) {
				return
			}
			if l.Returned {
				return // its sender knows, and Stats counts it
			}
			s.fail(errors.New("workloads: a message became a dead letter: " + errText(l.Reason)))
		},
		Failures: func(f actor.Failure) {
			if s.failure == nil || !s.failure(f) {
				s.fail(f.Err)
			}
		},
	}, s.fail)
	if s.sys == nil {
		return
	}
	s.timer = time.AfterFunc(patience, s.look)
	s.timer.Stop()
	_ = s.play(func(ctx *actor.Context) error { return setUp(s, ctx) })
}

// direct is the guardian's behaviour.
func (s *system) direct(ctx *actor.Context, msg any) error {
	if msg != any(s) {
		return errors.New("workloads: the guardian received a message that was not sent to it")
	}
	if err := s.act(ctx); err != nil {
		return err
	}
	s.part()
	return nil
}

// play has the guardian do act, which is one more part of the Do, and waits
// until all parts are over.
func (s *system) play(act func(ctx *actor.Context) error) error {
	s.act = act
	s.parts.Add(1)
	if err := s.sys.UserGuardian().Tell(s); err != nil {
		s.fail(err)
	}
	return s.wait()
}

// wait waits until the Do is over.
func (s *system) wait() error {
	if s.sys.Synchronous() {
		s.sys.RunUntilIdle()
		for s.ex != nil && s.ex.Flush(0) > 0 {
			s.sys.RunUntilIdle()
		}
		select {
		case <-s.over:
		default:
			s.fail(errLost)
		}
		return s.err()
	}
	s.timer.Reset(patience)
	<-s.over
	s.timer.Stop()
	return s.err()
}

// look gives up the Do if no message was handled since it was called before.
func (s *system) look() {
	st := s.sys.Stats()
	now := st.Messages + st.Turns + st.Spawned
	if now == s.seen {
		s.fail(errLost)
		return
	}
	s.seen = now
	s.timer.Reset(patience)
}

// spawn makes an actor of the given value.
func (s *system) spawn(ctx *actor.Context, a actor.Actor) (actor.Ref, error) {
	return ctx.Spawn(actor.Props{New: func() actor.Actor { return a }})
}

// stop stops the system and looks for what it has not handled.
func (s *system) stop() error {
	if err := s.err(); err != nil {
		return err
	}
	if err := s.shutdown(6 * patience); err != nil {
		s.fail(err)
	}
	if st := s.sys.Stats(); st.Returned != s.refused || st.Actors > 0 {
		s.fail(errors.New("workloads: " + strconv.FormatUint(st.Returned, 10) + " messages were given back and " +
			strconv.Itoa(st.Actors) + " actors are left after the shutdown"))
	}
	return s.err() // also of dead letters
}

// finish stops the system and then checks what it was used for.
func (s *system) finish(check func() error) error {
	if err := s.stop(); err != nil {
		return err
	}
	return check()
}

// Close stops the system, if the run has failed and Check has not.
func (s *system) Close() {
	if s.sys == nil {
		return
	}
	s.timer.Stop()
	_ = s.shutdown(parting) // the run has said already what is wrong
	s.act = nil
}

// shutdown stops the system and waits for that, no longer than limit.
func (s *system) shutdown(limit time.Duration) error {
	if s.sys.Synchronous() {
		// On this goroutine, as everything before: the one that Shutdown starts, to be
		// able to give up, takes memory for its stack, and on a board has a small one.
		s.sys.Stop(s.sys.UserGuardian())
		s.sys.RunUntilIdle()
	}
	if s.sys.Over() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return s.sys.Shutdown(ctx)
}

// goroutines are those of a reference.
type goroutines struct {
	progress
	wg    sync.WaitGroup
	let   func() // lets the goroutines go, which have nothing to do
	ended bool
}

// also has f called when the goroutines are let go.
func (c *goroutines) also(f func()) {
	before := c.let
	c.let = func() {
		before()
		f()
	}
}

// launch starts a goroutine.
func (c *goroutines) launch(f func()) {
	c.wg.Add(1)
	go func() {
		defer c.wg.Done()
		f()
	}()
}

// wait waits until the Do is over.
func (c *goroutines) wait() error {
	<-c.over
	return c.err()
}

// stop ends the goroutines, unless the run has failed: then they may be where
// nothing reaches them.
func (c *goroutines) stop() error {
	if err := c.err(); err != nil {
		return err
	}
	if !c.ended {
		c.ended = true
		c.let()
		c.wg.Wait()
	}
	return c.err()
}

// finish ends the goroutines and then checks what they were used for.
func (c *goroutines) finish(check func() error) error {
	if err := c.stop(); err != nil {
		return err
	}
	return check()
}

// Close ends the goroutines if Check has not.
func (c *goroutines) Close() { _ = c.stop() }

// errStray says that an actor was sent what it never is.
func errStray() error {
	return errors.New("workloads: an actor received a message of a type that it is never sent")
}

// share returns how much of n the i-th of k gets.
func share(n, i, k int) int {
	if i < n%k {
		return n/k + 1
	}
	return n / k
}
