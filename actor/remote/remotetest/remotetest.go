// Package remotetest has the clauses that nodes keep over any wire: who makes a
// wire runs them over it.
//
//	func TestClauses(t *testing.T) { remotetest.Run(t, remotetest.Link{Name: "tcp", Pair: pair}) }
package remotetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/impls"
)

// Link is a way to connect two nodes.
type Link struct {
	Name string
	// Pair returns the two ends of a new wire.
	Pair func(tb testing.TB) (dialed, accepted remote.Wire)
	// Bubble says that nothing of it waits outside the process, so that clauses
	// run in a testing/synctest bubble.
	Bubble bool
}

// Count is a message that is a number.
type Count uint64

// AppendBinary implements encoding.BinaryAppender.
func (c Count) AppendBinary(b []byte) ([]byte, error) { return binary.AppendUvarint(b, uint64(c)), nil }

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (c *Count) UnmarshalBinary(b []byte) error {
	n, size := binary.Uvarint(b)
	if size != len(b) {
		return errors.New("not a Count")
	}
	*c = Count(n)
	return nil
}

// Text is a message that is text.
type Text string

// Question asks for an answer.
type Question struct {
	N       uint64
	ReplyTo actor.ReplyTo
}

// AppendBinary implements encoding.BinaryAppender.
func (q Question) AppendBinary(b []byte) ([]byte, error) { return binary.AppendUvarint(b, q.N), nil }

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (q *Question) UnmarshalBinary(b []byte) error { return (*Count)(&q.N).UnmarshalBinary(b) }

// ReplyAddress implements actor.Requester.
func (q Question) ReplyAddress() actor.ReplyTo { return q.ReplyTo }

// SetReplyAddress implements remote.ReplySetter.
func (q *Question) SetReplyAddress(to actor.ReplyTo) { q.ReplyTo = to }

// Codecs returns the codecs of these messages.
func Codecs() *remote.Codecs {
	c := remote.NewCodecs()
	remote.Binary[Count](c, "test.Count")
	remote.Binary[Question](c, "test.Question")
	remote.String[Text](c, "test.Text")
	return c
}

// Host is a system with a node.
type Host struct {
	tb   testing.TB
	Sys  *actor.System
	Node *remote.Node

	mu      sync.Mutex
	letters []actor.DeadLetter
}

// NewHost makes a host whose actors d runs. It is shut down when the test ends.
func NewHost(tb testing.TB, name string, d actor.Dispatcher, c remote.Config) *Host {
	tb.Helper()
	h := &Host{tb: tb}
	events := new(actor.EventStream)
	sys, err := actor.NewSystem(actor.Config{
		Name: name, Dispatcher: d, Events: events, KeepDeadLetters: -1,
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				if f, ok := msg.(func(*actor.Context)); ok {
					f(ctx)
				}
				return nil
			})
		}},
		DeadLetters: func(l actor.DeadLetter) {
			if l.Returned {
				return
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.letters = append(h.letters, l)
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	h.Sys = sys
	if c.Codecs == nil {
		c.Codecs = Codecs()
	}
	if h.Node, err = remote.NewNode(sys, c); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		h.Node.Close()
		if err := sys.Shutdown(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return h
}

// Letters returns the dead letters so far, without those that went back to their
// senders, and forgets them.
func (h *Host) Letters() []actor.DeadLetter {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.letters
	h.letters = nil
	return l
}

// Spawn makes an actor.
func (h *Host) Spawn(name string, p actor.Props) (r actor.Ref) {
	h.tb.Helper()
	done := make(chan error, 1)
	h.must(h.Sys.UserGuardian().Tell(func(ctx *actor.Context) {
		var err error
		if name == "" {
			r, err = ctx.Spawn(p)
		} else {
			r, err = ctx.SpawnNamed(name, p)
		}
		done <- err
	}))
	h.must(<-done)
	return r
}

// SpawnFunc makes an actor that is a function.
func (h *Host) SpawnFunc(f actor.ReceiveFunc) actor.Ref {
	h.tb.Helper()
	return h.Spawn("", Func(f))
}

// Func returns the Props of an actor that is a function.
func Func(f actor.ReceiveFunc) actor.Props {
	return actor.Props{New: func() actor.Actor { return f }}
}

// Abroad returns this system's Ref for an actor of another one.
func (h *Host) Abroad(r actor.Ref) actor.Ref {
	h.tb.Helper()
	got, err := h.Sys.ResolveAddress(r.Address())
	h.must(err)
	return got
}

func (h *Host) must(err error) {
	h.tb.Helper()
	if err != nil {
		h.tb.Error(err)
	}
}

// Join connects two hosts over a new wire.
func Join(tb testing.TB, l Link, a, b *Host) (ab, ba *remote.Peer) {
	tb.Helper()
	ctx := tb.Context() // who waits in vain is told by the nodes' own limits
	wa, wb := l.Pair(tb)
	type result struct {
		p   *remote.Peer
		err error
	}
	accepted := make(chan result, 1)
	go func() {
		p, err := b.Node.Accept(ctx, wb)
		accepted <- result{p, err}
	}()
	ab, err := a.Node.Connect(ctx, wa)
	r := <-accepted
	if err != nil || r.err != nil {
		tb.Fatalf("the nodes do not come together: %v, %v", err, r.err)
	}
	return ab, r.p
}

// dispatcher returns the one that clauses run on: all implementations run all
// of the core's, and these are not about them.
func dispatcher(name string) actor.Dispatcher {
	for _, impl := range impls.All() {
		if impl.Name == name {
			return impl.NewDispatcher()
		}
	}
	panic(fmt.Sprint("remotetest: no implementation ", name))
}
