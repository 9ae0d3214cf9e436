// Chatroom shows how actors look after one another: a room that knows its
// members, keeps their names apart, survives that one of them fails, and is not
// held up by one that is slow.
//
//	/user (host)          goes through a script, a step for each notice
//	└── /user/room        knows who is there, and passes on what is said
//	    ├── …/ann         a member hears what is said
//	    ├── …/bob         fails at a certain word
//	    └── …/sam         has room for four lines and misses the oldest if more come
//
//	go run ./examples/chatroom
//	go run ./examples/chatroom -impl actorloop
//
// In two and more processes, one of which has the room, it is about people who
// type (remote.go):
//
//	go run ./examples/chatroom -listen 127.0.0.1:7000
//	go run ./examples/chatroom -join 127.0.0.1:7000 -name ann
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/examples/internal/cli"
)

// What the room understands.
type (
	// join asks for a new member.
	join struct {
		name  string
		props actor.Props
	}
	// leave asks a member to leave when it has heard what was said before.
	leave struct{ name string }
	// say is to be heard by all members.
	say struct {
		name  string
		lines []string
	}
	// left is the last that a member sends, whether it was asked to leave or
	// has failed.
	left struct {
		name  string
		heard []string
	}
	// closing has all members leave, and the room stop.
	closing struct{}
)

// What the room sends to its members.
type (
	line    string
	goodbye struct{}
)

// What the room sends to the host: one notice for each message that it was sent
// and for each member that is gone, and closed at the end.
type (
	notice string
	// closed counts lines over all members: those that their mailboxes accepted
	// and those that were handled.
	closed struct{ sent, heard int }
)

// member is an actor that remembers what it hears.
type member struct {
	heard []string
	fears string // a word, or ""
}

func (m *member) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case line:
		m.heard = append(m.heard, string(msg))
		if m.fears != "" && strings.Contains(string(msg), m.fears) {
			panic(m.fears) // as good as an error: the actor has failed, and its parent stops it
		}
	case goodbye:
		ctx.StopSelf()
	}
	return nil
}

// PostStop runs whatever the end has come of. So the room learns of it, and
// what the member has heard is not lost.
func (m *member) PostStop(ctx *actor.Context) error {
	return ctx.Tell(ctx.Parent(), left{ctx.Self().Name(), m.heard})
}

// samsRoom is how many lines may wait for the slow member.
const samsRoom = 4

var (
	patient = actor.Props{New: func() actor.Actor { return &member{} }}
	timid   = actor.Props{New: func() actor.Actor { return &member{fears: "Kraken"} }}
	slow    = actor.Props{
		New: func() actor.Actor { return &member{} },
		// Who cannot keep up misses lines, the oldest first. With Block the
		// room, and so all its members, would wait for the slowest.
		Mailbox: actor.MailboxConfig{Capacity: samsRoom, Policy: actor.DropOldest},
	}
)

// room passes on what is said. The members are its children, so their names are
// unique, a failure of one is no failure of another, and none outlives the room.
type room struct {
	members []actor.Ref // in the order of joining
	count   closed
}

func (r *room) Receive(ctx *actor.Context, msg any) error {
	host := ctx.Parent()
	switch msg := msg.(type) {
	case join:
		m, err := ctx.SpawnNamed(msg.name, msg.props)
		if err != nil {
			return ctx.Tell(host, notice(msg.name+" cannot join: "+err.Error()))
		}
		r.members = append(r.members, m)
		return ctx.Tell(host, notice(msg.name+" joins"))
	case say:
		for _, l := range msg.lines {
			r.broadcast(ctx, line(msg.name+": "+l))
		}
		return ctx.Tell(host, notice(fmt.Sprintf("%s says %q, members: %d", msg.name, abridged(msg.lines), len(r.members))))
	case leave:
		i := slices.IndexFunc(r.members, func(m actor.Ref) bool { return m.Name() == msg.name })
		if i < 0 {
			return ctx.Tell(host, notice(msg.name+" is not here"))
		}
		r.dismiss(ctx, i)
		return nil // the notice comes when it has left
	case left:
		return r.miss(ctx, msg)
	case closing:
		ctx.Become(r.close)
		return r.close(ctx, msg)
	}
	return fmt.Errorf("room: unexpected message %T", msg)
}

// close is the behaviour of a room that is closing: one member after the other
// leaves, and nothing is said any more.
func (r *room) close(ctx *actor.Context, msg any) error {
	if l, ok := msg.(left); ok {
		if err := r.miss(ctx, l); err != nil {
			return err
		}
	}
	for len(r.members) > 0 {
		if r.dismiss(ctx, 0) {
			return nil // until it has left
		}
	}
	ctx.StopSelf()
	return ctx.Tell(ctx.Parent(), r.count)
}

// broadcast sends a line to all members.
func (r *room) broadcast(ctx *actor.Context, l line) {
	r.members = slices.DeleteFunc(r.members, func(m actor.Ref) bool {
		// No member's mailbox refuses or waits. So an error means that the
		// member is no more, and that its left is on the way.
		err := ctx.Tell(m, l)
		if err == nil {
			r.count.sent++
		}
		return err != nil
	})
}

// dismiss takes a member off the list, asks it to leave, and reports whether it
// was there to be asked. The request waits its turn behind what was said before,
// as ctx.Stop would not; and as the member is off the list nothing comes
// after it that could push it out of a small mailbox.
func (r *room) dismiss(ctx *actor.Context, i int) bool {
	m := r.members[i]
	r.members = slices.Delete(r.members, i, i+1)
	return ctx.Tell(m, goodbye{}) == nil
}

// miss books that a member is gone.
func (r *room) miss(ctx *actor.Context, l left) error {
	r.members = slices.DeleteFunc(r.members, func(m actor.Ref) bool { return m.Name() == l.name })
	r.count.heard += len(l.heard)
	// So many even a slow member has heard; the goodbye took a place as well.
	newest := l.heard[max(0, len(l.heard)-(samsRoom-1)):]
	return ctx.Tell(ctx.Parent(), notice(fmt.Sprintf("%s has left; the last it heard is %q", l.name, newest)))
}

// abridged is the first and the last of many lines.
func abridged(lines []string) []string {
	if len(lines) < 3 {
		return lines
	}
	return []string{lines[0], "…", lines[len(lines)-1]}
}

// script is what the host sends to the room, each message when the notice of
// the one before has come. A nil stands for something that happens by itself.
func script() []any {
	numbers := make([]string, 100)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i + 1)
	}
	return []any{
		join{"ann", patient},
		join{"bob", timid},
		join{"bob", patient},
		say{"bob", []string{"hello"}},
		say{"ann", []string{"have you seen the Kraken?"}},
		nil, // bob fails
		say{"ann", []string{"bob?"}},
		join{"sam", slow},
		say{"ann", numbers},
		join{"eve", patient},
		leave{"eve"},
		leave{"eve"},
		closing{},
		nil, // sam leaves after ann
	}
}

// host is the guardian. It opens the room and goes through the script.
type host struct {
	w      io.Writer
	script []any
	result chan<- closed // for run
	room   actor.Ref
}

func (h *host) PreStart(ctx *actor.Context) (err error) {
	h.room, err = ctx.SpawnNamed("room", actor.Props{New: func() actor.Actor { return &room{} }})
	if err != nil {
		return err
	}
	return h.next(ctx)
}

func (h *host) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case notice:
		if _, err := fmt.Fprintln(h.w, string(msg)); err != nil {
			return err
		}
		return h.next(ctx)
	case closed:
		h.result <- msg
		ctx.StopSelf() // and with the guardian the system ends
		return nil
	}
	return fmt.Errorf("host: unexpected message %T", msg)
}

// next takes the next step of the script, if there is one.
func (h *host) next(ctx *actor.Context) error {
	if len(h.script) == 0 {
		return nil
	}
	step := h.script[0]
	h.script = h.script[1:]
	if step == nil {
		return nil
	}
	return ctx.Tell(h.room, step)
}

func main() {
	var address, at, name string
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cli.Main(func(w io.Writer, d actor.Dispatcher) error {
		switch {
		case address != "":
			return listen(ctx, w, d, address)
		case at != "":
			return joinRoom(ctx, os.Stdin, w, d, at, name)
		}
		return run(w, d)
	}, func(f *flag.FlagSet) {
		f.StringVar(&address, "listen", "", "open a room for other processes at this `address`")
		f.StringVar(&at, "join", "", "enter the room at this `address`, and say what is typed")
		f.StringVar(&name, "name", "guest", "under this `name`, which no other member of the room has")
	})
}

// run is the program, with the actors run by d.
func run(w io.Writer, d actor.Dispatcher) error {
	var dropped atomic.Int64
	result := make(chan closed, 1) // has room for what the host sends: its turn never waits
	failed := make(chan error, 1)
	sys, err := actor.NewSystem(actor.Config{
		Name:       "chatroom",
		Dispatcher: d,
		Guardian:   actor.Props{New: func() actor.Actor { return &host{w: w, script: script(), result: result} }},
		DeadLetters: func(l actor.DeadLetter) { // any number of goroutines call it
			if errors.Is(l.Reason, actor.ErrDropped) {
				dropped.Add(1)
			}
		},
		Failures: func(f actor.Failure) {
			var panicked *actor.PanicError
			if errors.As(f.Err, &panicked) && panicked.Value == "Kraken" {
				return // that is what bob is like
			}
			select {
			case failed <- fmt.Errorf("%s: %w", f.Actor.Path(), f.Err):
			default: // the first one is enough
			}
		},
	})
	if err != nil {
		return err
	}
	if sys.Synchronous() {
		sys.RunUntilIdle() // serial has no goroutine of its own; this one runs its actors
	}
	var c closed
	select {
	case c = <-result:
	case err := <-failed:
		return errors.Join(err, sys.Shutdown(context.Background()))
	}
	<-sys.Done() // the host has stopped itself

	// How many lines sam has missed depends on how quick it was. But nothing
	// gets lost: what was accepted and not handled is a dead letter.
	if int64(c.sent) != int64(c.heard)+dropped.Load() {
		return fmt.Errorf("%d lines sent, %d heard and %d dropped", c.sent, c.heard, dropped.Load())
	}
	_, err = fmt.Fprintf(w, "of %d lines each was heard or dropped\n", c.sent)
	return err
}
