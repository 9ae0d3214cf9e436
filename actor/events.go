package actor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrUnsubscribed is returned by [Subscription.Next] when no event is left and
// none will come: the subscription has been ended, or the system is over.
var ErrUnsubscribed = errors.New("actor: the subscription has ended")

// EventStream hands what is published to those who have subscribed to its
// type. Every system has one, [System.Events], on which it says what happens to
// its actors; programs may publish events of their own on it, or on another
// one. The zero value is an empty stream. All methods may be called by any
// number of goroutines at once.
//
// Publishing never waits for a subscriber. One that is too slow loses events,
// its own only, and they are counted. There are three ways to
// listen: [Subscribe] keeps events for a goroutine that fetches them,
// [SubscribeActor] sends them to an actor, and [SubscribeFunc] calls a function
// on the publisher's goroutine.
//
// What one goroutine publishes a subscriber gets in that order. Between
// goroutines there is no order, not even the same one for all subscribers.
type EventStream struct {
	// subs is nil if there are no subscribers, so that to see this is one load. A
	// list is never changed but replaced, so that to publish takes no lock.
	subs atomic.Pointer[[]subscriber]

	mu   sync.Mutex // guards over, and is held by who replaces the list
	over bool
}

// subscriber is one entry of a stream's list, a pointer.
type subscriber interface {
	// offer takes an event of any type. It does not wait, and any number of
	// goroutines call it at once, also a little while after the end.
	offer(ev any)
	// end says that there will be no more events. It may be called again.
	end()
}

// Publish hands ev to every subscriber of its type. It does not
// wait for them and, without subscribers, does nothing.
func (e *EventStream) Publish(ev any) {
	if list := e.subs.Load(); list != nil {
		publish(*list, ev)
	}
}

func publish(list []subscriber, ev any) {
	for _, s := range list {
		s.offer(ev)
	}
}

// active reports whether there is any subscriber. It is asked before an event is made, so
// that without one no clock is read and nothing is allocated.
func (e *EventStream) active() bool { return e.subs.Load() != nil }

// add puts s on the list, or ends it if the stream is over.
func (e *EventStream) add(s subscriber) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		s.end()
		return
	}
	var list []subscriber
	if old := e.subs.Load(); old != nil {
		list = append(make([]subscriber, 0, len(*old)+1), *old...)
	}
	list = append(list, s)
	e.subs.Store(&list)
}

// remove takes s off the list, if it is there.
func (e *EventStream) remove(s subscriber) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.subs.Load()
	if old == nil {
		return
	}
	var list []subscriber
	for _, o := range *old {
		if o != s {
			list = append(list, o)
		}
	}
	if list == nil {
		e.subs.Store(nil)
		return
	}
	e.subs.Store(&list)
}

// close ends the stream and all subscriptions: the system is over.
func (e *EventStream) close() {
	e.mu.Lock()
	e.over = true
	list := e.subs.Swap(nil)
	e.mu.Unlock()
	if list != nil {
		for _, s := range *list {
			s.end()
		}
	}
}

// Subscription keeps events until they are fetched with [Subscription.Next] or
// [Subscription.TryNext]. Make one with [Subscribe]. Several goroutines may
// share one: each event goes to one of them.
//
// Who keeps a Subscription keeps the events in it, and nothing else of the
// system.
type Subscription[E any] struct {
	stream *EventStream

	mu     sync.Mutex // held for a few instructions only: publishers take it
	ring   []E
	head   int // where the oldest event is
	n      int // how many there are
	lost   uint64
	ended  bool
	notify chan struct{} // holds a token whenever a waiter should look; closed at the end
}

// Subscribe subscribes to all events whose type is E or, if E is an interface
// type, implements it: Subscribe[any] gets everything. It takes the memory for
// capacity events at once. When that many have not been fetched a new one takes
// the place of the oldest, which is lost. Subscribe panics if capacity is below
// 1. If the system is over the subscription has ended already.
func Subscribe[E any](e *EventStream, capacity int) *Subscription[E] {
	if capacity < 1 {
		panic("actor: Subscribe with a capacity below 1")
	}
	s := &Subscription[E]{stream: e, ring: make([]E, capacity), notify: make(chan struct{}, 1)}
	e.add(s)
	return s
}

// Next waits for the next event and returns it. It returns ctx's error if ctx
// ends first, but an event that is there wins over a context that has ended. It
// returns [ErrUnsubscribed] if there is none and will be none. A nil ctx means
// context.Background.
//
// While an actor waits in Next it handles nothing, and a [Synchronous] system in
// which one waits does nothing at all: actors use [SubscribeActor].
func (s *Subscription[E]) Next(ctx context.Context) (E, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	for {
		ev, ok, ended := s.take()
		if ok {
			return ev, nil
		}
		if ended {
			return ev, ErrUnsubscribed
		}
		select {
		case <-s.notify:
		case <-ctx.Done():
			// The event may have come first, or with it: select does not say.
			ev, ok, _ := s.take()
			if ok {
				return ev, nil
			}
			return ev, ctx.Err()
		}
	}
}

// TryNext returns the next event if there is one now.
func (s *Subscription[E]) TryNext() (E, bool) {
	ev, ok, _ := s.take()
	return ev, ok
}

// take takes the oldest event, if there is one.
func (s *Subscription[E]) take() (ev E, ok, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == 0 {
		return ev, false, s.ended
	}
	var zero E
	ev, s.ring[s.head] = s.ring[s.head], zero
	s.head = (s.head + 1) % len(s.ring)
	s.n--
	if s.n > 0 {
		s.wake() // the token this call may have taken stood for these events, too
	}
	return ev, true, s.ended
}

// wake leaves a token for who waits. mu is held.
func (s *Subscription[E]) wake() {
	if s.ended {
		return // the channel is closed, which wakes all waiters
	}
	select {
	case s.notify <- struct{}{}:
	default: // there is one
	}
}

func (s *Subscription[E]) offer(ev any) {
	x, ok := ev.(E)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.n < len(s.ring) {
		s.ring[(s.head+s.n)%len(s.ring)] = x
		s.n++
	} else {
		s.ring[s.head] = x
		s.head = (s.head + 1) % len(s.ring)
		s.lost++
	}
	s.wake()
}

func (s *Subscription[E]) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.notify)
	}
}

// Lost returns how many events had to make room for newer ones. What was
// fetched, what is still there and what was lost is what has come.
func (s *Subscription[E]) Lost() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Unsubscribe ends the subscription. Events that have come can still be
// fetched. It may be called more than once, by any goroutine.
func (s *Subscription[E]) Unsubscribe() {
	s.stream.remove(s)
	s.end()
}

// Listener is a subscription whose events go straight to a function or an
// actor. Make one with [SubscribeFunc] or [SubscribeActor].
type Listener struct {
	stream *EventStream
	pass   func(l *Listener, ev any)
	lost   counter
	ended  atomic.Bool
}

func (l *Listener) offer(ev any) {
	if !l.ended.Load() {
		l.pass(l, ev)
	}
}

func (l *Listener) end() { l.ended.Store(true) }

// Lost returns how many events the function panicked on, or the actor's mailbox
// did not take.
func (l *Listener) Lost() uint64 { return l.lost.load() }

// Unsubscribe ends the subscription. An event that is being published meanwhile
// may still come. It may be called more than once, by any goroutine.
func (l *Listener) Unsubscribe() {
	l.stream.remove(l)
	l.end()
}

// SubscribeFunc has f called with every event that [Subscribe] would keep, on
// the goroutine that publishes it, which waits for it: the way to listen where
// goroutines are dear. As f is called by several goroutines at once, and as a
// rule in an actor's turn, it must be quick and must neither block nor call
// runtime.Goexit. It may send to actors, but what it publishes it will be called
// with. If it panics the publisher does not notice, and the event is counted as
// lost.
func SubscribeFunc[E any](e *EventStream, f func(E)) *Listener {
	if f == nil {
		panic("actor: SubscribeFunc(nil)")
	}
	l := &Listener{stream: e, pass: func(l *Listener, ev any) {
		x, ok := ev.(E)
		if !ok {
			return
		}
		returned := false
		defer func() {
			if !returned {
				l.lost.add(1)
				_ = recover()
			}
		}()
		f(x)
		returned = true
	}}
	e.add(l)
	return l
}

// SubscribeActor sends every event that [Subscribe] would keep to an actor, as a
// message, while fewer than backlog messages wait in its mailbox. Events that
// come when more do, or that the mailbox refuses, are lost. It never waits,
// whatever the mailbox's policy. It panics if to is zero or backlog below 1. When
// the actor has stopped, the subscription ends.
//
// Events that were sent and that the actor does not handle are dead letters. An
// actor is not told of its own dead letters: to each that its full mailbox drops
// for a message about the last one there would be a next one.
func SubscribeActor[E any](e *EventStream, to Ref, backlog int) *Listener {
	if to.cell == nil {
		panic("actor: SubscribeActor of the zero Ref")
	}
	if backlog < 1 {
		panic("actor: SubscribeActor with a backlog below 1")
	}
	l := &Listener{stream: e, pass: func(l *Listener, ev any) {
		if _, ok := ev.(E); !ok {
			return
		}
		if d, ok := ev.(DeadLetter); ok && d.To == to {
			return
		}
		// Straight to the port: what it refuses is lost here, and must not become
		// a dead letter, which is an event.
		res := Full
		if to.cell.port.Len() < backlog {
			res = to.cell.port.Send(ev, nil)
		}
		if res != Sent {
			l.lost.add(1)
		}
		if res == Closed {
			l.Unsubscribe()
		}
	}}
	e.add(l)
	return l
}

// What a system publishes, besides [DeadLetter] and [Failure]. Every event is
// published once, by value, and where the actor is concerned in its turn, so
// that one actor's events come in the order in which things happened to it.
type (
	// ActorStarted: the actor has been spawned and its PreStart, if it has one,
	// has succeeded.
	ActorStarted struct {
		Actor Ref
		Time  time.Time
	}

	// ActorStopped: nothing is left of the actor.
	ActorStopped struct {
		Actor Ref
		Time  time.Time
	}

	// ActorRestarted: the actor has been made anew after a failure, and handles
	// messages again.
	ActorRestarted struct {
		Actor    Ref
		Cause    error // what it had failed with
		Restarts int   // which restart it is of its supervisor's window, from 1
		Time     time.Time
	}

	// ActorResumed: the actor, which was suspended, handles messages again.
	ActorResumed struct {
		Actor   Ref
		Latency time.Duration // from what ended the suspension to this
		Time    time.Time
	}

	// BehaviorChanged: Become or Unbecome has changed who handles the actor's
	// messages.
	BehaviorChanged struct {
		Actor Ref
		Depth int // behaviours that Unbecome can undo now
		Time  time.Time
	}

	// MailboxHigh: the actor's mailbox has filled to its high watermark.
	MailboxHigh struct {
		Actor Ref
		Len   int // messages that wait
		Time  time.Time
	}

	// MailboxLow: the actor's mailbox, which had been high, has emptied to its
	// low watermark.
	MailboxLow struct {
		Actor Ref
		Len   int // messages that wait
		Time  time.Time
	}

	// LogEvent is a line for the log, from an actor or, if Actor is zero, from
	// another source.
	LogEvent struct {
		Level Level
		Actor Ref
		Text  string
		Time  time.Time
	}
)

// Level is how much a [LogEvent] matters. The numbers are those of log/slog,
// and like there others may be used between and beyond them.
type Level int

// The levels that have names.
const (
	LevelDebug Level = -4
	LevelInfo  Level = 0
	LevelWarn  Level = 4
	LevelError Level = 8
)

// String returns the level as log/slog does: "INFO", or "INFO+1" for one without
// a name.
func (l Level) String() string {
	name, base := "DEBUG", LevelDebug
	switch {
	case l >= LevelError:
		name, base = "ERROR", LevelError
	case l >= LevelWarn:
		name, base = "WARN", LevelWarn
	case l >= LevelInfo:
		name, base = "INFO", LevelInfo
	}
	switch d := int(l - base); {
	case d > 0:
		return name + "+" + itoa(d)
	case d < 0:
		return name + itoa(d)
	}
	return name
}
