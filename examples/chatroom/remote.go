package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
)

// The room of two and more processes. What they tell each other is registered
// with remote.Codecs; the actors do not know who is in which process.
type (
	// enter comes from a member: its name, and where it hears what is said.
	enter struct {
		Name string
		At   actor.Address
	}
	// spoken is a line that a member says to the hall, and the hall to all.
	spoken struct{ Name, Line string }
)

// jsonCodec carries messages of type M as JSON, which knows how to write an Address.
type jsonCodec[M any] struct{}

func (jsonCodec[M]) Append(dst []byte, msg any) ([]byte, error) {
	b, err := json.Marshal(msg)
	return append(dst, b...), err
}

func (jsonCodec[M]) Decode(src []byte, _ actor.ReplyTo) (any, error) {
	var m M
	err := json.Unmarshal(src, &m)
	return m, err
}

func codecs() *remote.Codecs {
	c := remote.NewCodecs()
	c.Register("chat.enter", enter{}, jsonCodec[enter]{})
	c.Register("chat.spoken", spoken{}, jsonCodec[spoken]{})
	return c
}

// hall knows who is there, wherever that is, and passes on what is said. Who
// stops, leaves or cannot be reached any more is no member any more: it is watched. A hall that
// is closing, which no client can join any more, stops when its last member has gone.
type hall struct {
	w       io.Writer
	members map[actor.Ref]string
	closing bool
}

func (h *hall) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case enter:
		r, err := ctx.System().ResolveAddress(msg.At)
		if err != nil {
			return nil // it is gone already
		}
		h.members[r] = msg.Name
		ctx.Watch(r)
		return h.say(ctx, spoken{msg.Name, "comes in"})
	case spoken:
		return h.say(ctx, msg)
	case actor.Terminated:
		name := h.members[msg.Actor]
		delete(h.members, msg.Actor)
		h.stopIfOver(ctx)
		if errors.Is(msg.Err, actor.ErrUnreachable) {
			return h.say(ctx, spoken{name, "cannot be reached any more"})
		}
		return h.say(ctx, spoken{name, "leaves"})
	case closing:
		h.closing = true
		h.stopIfOver(ctx)
		return nil
	}
	return fmt.Errorf("hall: unexpected message %T", msg)
}

func (h *hall) stopIfOver(ctx *actor.Context) {
	if h.closing && len(h.members) == 0 {
		ctx.StopSelf() // and with the guardian the system ends
	}
}

func (h *hall) say(ctx *actor.Context, s spoken) error {
	for r := range h.members {
		_ = ctx.Tell(r, s) // who cannot be told is gone, and the hall is going to be told
	}
	_, err := fmt.Fprintf(h.w, "%s: %s\n", s.Name, s.Line)
	return err
}

// listener is a member: it is told of its hall, and writes what it hears until that
// is gone.
type listener struct {
	w    io.Writer
	gone chan<- error
}

func (l *listener) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case actor.Ref:
		ctx.Watch(msg)
	case spoken:
		_, err := fmt.Fprintf(l.w, "%s: %s\n", msg.Name, msg.Line)
		return err
	case actor.Terminated:
		l.gone <- fmt.Errorf("the room is gone: %w", msg.Err)
	}
	return nil
}

// startNode starts a system and its node. end ends both.
func startNode(name string, d actor.Dispatcher, guardian actor.Props) (sys *actor.System, n *remote.Node, end func(), err error) {
	sys, err = actor.NewSystem(actor.Config{Name: name, Dispatcher: d, Guardian: guardian})
	if err != nil {
		return nil, nil, nil, err
	}
	if sys.Synchronous() {
		return nil, nil, nil, errors.Join(errors.New("this implementation runs actors only when it is told to"), sys.Shutdown(context.Background()))
	}
	if n, err = remote.NewNode(sys, remote.Config{Codecs: codecs()}); err != nil {
		return nil, nil, nil, errors.Join(err, sys.Shutdown(context.Background()))
	}
	return sys, n, func() {
		n.Close()
		_ = sys.Shutdown(context.Background()) // without a limit it has no error
	}, nil
}

// listen opens a room at address until ctx ends.
func listen(ctx context.Context, w io.Writer, d actor.Dispatcher, address string) error {
	sys, n, end, err := startNode("chatroom", d, actor.Props{New: func() actor.Actor { return &hall{w: w, members: map[actor.Ref]string{}} }})
	if err != nil {
		return err
	}
	defer func() {
		n.Close()
		// Shutdown alone would overtake what the hall is going to be told of its members.
		if sys.UserGuardian().Tell(closing{}) == nil {
			<-sys.Done()
		}
		end()
	}()
	// Without TLS: every client that reaches the port is let in. docs/remote.md says how to
	// choose who is.
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the room is open: go run ./examples/chatroom -join %s -name ann\n", l.Addr())
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	if err := n.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// joinRoom enters the room at address and says what is read from in, line by line,
// until that ends.
func joinRoom(ctx context.Context, in io.Reader, w io.Writer, d actor.Dispatcher, address, name string) error {
	gone := make(chan error, 1)
	sys, n, end, err := startNode("member-"+name, d, actor.Props{New: func() actor.Actor { return &listener{w: w, gone: gone} }})
	if err != nil {
		return err
	}
	defer end()
	peer, err := n.Dial(ctx, address, nil)
	if err != nil {
		return err
	}
	room, err := peer.Find(ctx, "/user")
	if err != nil {
		return err
	}
	me := sys.UserGuardian()
	if err := me.Tell(room); err != nil {
		return err
	}
	if err := room.Tell(enter{name, me.Address()}); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if err := room.TellContext(ctx, spoken{name, line}); err != nil {
				return err
			}
		case err := <-gone:
			return err
		}
	}
}
