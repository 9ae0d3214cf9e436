// Package actortrace records who sent what to whom, how long it waited and how long it was
// handled, and draws it:
//
//	tr := actortrace.New(0)
//	sys := actor.NewSystem(actor.Config{Middleware: []actor.Middleware{tr.Middleware}})
//	ctx.Tell(to, tr.Mark(ctx, msg)) // in place of ctx.Tell(to, msg)
//	tr.WriteHTML(w)
//
// A message that was not marked is recorded too, but without its sender and its wait: messages
// carry no sender, so it has to travel with them. While runtime/trace is on, handling a
// message is a user region of the execution trace, named by the type of the message and the
// path of the actor.
package actortrace

import (
	"context"
	"errors"
	"fmt"
	"runtime/trace"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
)

// Message is a message that an actor was called with.
type Message struct {
	// ID numbers the messages from 1, in the order in which handling began. Parent is the one
	// that was being handled by who sent this one; 0 if it was sent from outside, by a timer,
	// or not marked.
	ID, Parent uint64

	// From and To are the paths of the actors. From is empty where Parent is 0.
	From, To string

	// Type is the Go type of the message. Its value is not kept: it is its owner's.
	Type string

	// Sent is zero if the message was not marked, Ended while it is being handled.
	Sent, Begun, Ended time.Time

	// Err is what Receive returned, or [ErrPanicked].
	Err error
}

// ErrPanicked is the error of a message whose handling has not returned: it panicked, or
// called runtime.Goexit.
var ErrPanicked = errors.New("panicked")

// Waited returns how long the message was in a mailbox; 0 if it was not marked.
func (m Message) Waited() time.Duration {
	if m.Sent.IsZero() {
		return 0
	}
	return m.Begun.Sub(m.Sent)
}

// Tracer keeps the last messages that its [Tracer.Middleware] has seen. Its methods may be called by
// any goroutine. Make one with [New].
type Tracer struct {
	mu      sync.Mutex
	last    []Message                 // the message with ID i is at (i-1) % cap
	seen    uint64                    // the ID of the newest
	current map[*actor.Context]uint64 // what an actor is handling
}

// New makes a Tracer that keeps the last n messages; 0 is 1024. It panics if n is negative.
func New(n int) *Tracer {
	if n == 0 {
		n = 1024
	}
	return &Tracer{last: make([]Message, 0, n), current: make(map[*actor.Context]uint64)}
}

// marked is a message with where it comes from.
type marked struct {
	msg    any
	parent uint64
	from   string
	sent   time.Time
}

// Unbox implements [actor.Boxed]: dead letters and failures show the message.
func (m marked) Unbox() any { return m.msg }

// Mark returns msg with its sender and the time, to be sent in its place; the actor that receives it
// gets msg. ctx is the sender's; nil is for who is no actor.
func (tr *Tracer) Mark(ctx *actor.Context, msg any) any {
	m := marked{msg: msg, sent: time.Now()}
	if ctx != nil {
		tr.mu.Lock()
		m.parent = tr.current[ctx]
		tr.mu.Unlock()
		m.from = ctx.Self().Path()
	}
	return m
}

// Middleware is for Config.Middleware, or for the Props of the actors that are to be traced. It comes
// first: what stands before it sees messages as [Tracer.Mark] made them.
func (tr *Tracer) Middleware(next actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx *actor.Context, msg any) error {
		var m Message
		if b, ok := msg.(marked); ok {
			msg = b.msg
			m = Message{Parent: b.parent, From: b.from, Sent: b.sent}
		}
		m.To, m.Type = ctx.Self().Path(), fmt.Sprintf("%T", msg)
		if trace.IsEnabled() {
			defer trace.StartRegion(context.Background(), m.Type+" "+m.To).End()
		}
		id, err := tr.begin(ctx, m), ErrPanicked
		defer func() { tr.end(ctx, id, err) }() // also if the actor panics
		err = next(ctx, msg)
		return err
	}
}

func (tr *Tracer) begin(ctx *actor.Context, m Message) uint64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.seen++
	m.ID, m.Begun = tr.seen, time.Now()
	if len(tr.last) < cap(tr.last) {
		tr.last = append(tr.last, m)
	} else {
		tr.last[tr.place(m.ID)] = m
	}
	tr.current[ctx] = m.ID
	return m.ID
}

func (tr *Tracer) end(ctx *actor.Context, id uint64, err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	delete(tr.current, ctx)
	if m := &tr.last[tr.place(id)]; m.ID == id { // else newer ones have taken its place
		m.Ended, m.Err = time.Now(), err
	}
}

func (tr *Tracer) place(id uint64) int { return int((id - 1) % uint64(cap(tr.last))) }

// Messages returns the messages that are kept, by ID.
func (tr *Tracer) Messages() []Message {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	oldest := 0
	if len(tr.last) == cap(tr.last) {
		oldest = tr.place(tr.seen + 1)
	}
	return append(append(make([]Message, 0, len(tr.last)), tr.last[oldest:]...), tr.last[:oldest]...)
}
