package actor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Link is the way to another system: in another process, on another board, or
// in this one. dyno has none that leaves the process; this is what one has to
// be. [System.Connect] puts it to use.
//
// A link carries messages, and it is the link's business how: which ones it can
// carry, what their bytes are, and what becomes of the Refs in them (write
// Ref.Address, and have System.ResolveAddress of the other end read it). At the
// other end it hands them over with [System.Deliver].
type Link interface {
	// Send takes msg on its way to the actor at to. It returns nil if the
	// message is the link's now, and otherwise an error, which becomes the
	// reason of the [SendError] or [DeadLetter]. It must be as good as Tell:
	// messages that one goroutine sends to one actor arrive in this order, and
	// none arrives twice. It is called on the sender's goroutine, by several at
	// once, in an actor's turn as a rule: whoever waits in it keeps that actor,
	// and may keep a worker, from others. If it waits, it stops when ctx ends,
	// whose error it then returns.
	//
	// A link that finds out later that a message of which it has said nil does
	// not arrive reports it with [System.Undeliverable], to whichever of the two
	// systems it can still reach.
	Send(ctx context.Context, to Address, msg any) error
}

// LinkStopper is a Link that carries Stop, too: with others, stopping a remote
// actor does nothing.
type LinkStopper interface {
	Link

	// Stop has the actor at to stopped. It is called as Send is and must not wait.
	Stop(to Address)
}

// ErrNoLink: there is no link to the system of that address.
var ErrNoLink = errors.New("actor: no link to the actor's system")

// mostProxies bounds the Refs to actors of one other system that are kept for
// the sake of equality: half a generation. 16,384 of them are some 5 MB, on a
// host not much, and a board does not talk to as many.
const mostProxies = 1 << 14

// remote is what a system knows of others.
type remote struct {
	mu    sync.Mutex // guards what follows, and the maps of all peers
	peers map[string]*peer
}

// peer is another system. It is there from the first link on for ever, so that
// Refs live through a link's loss.
//
// A Ref is compared by its pointer, so equal addresses must have equal proxies.
// For that the proxies handed out are remembered – but an actor that has
// stopped elsewhere is never heard of again, so not for ever. There are two
// generations: who is asked for moves to the young one; when that is full it
// becomes the old one, and the old one is forgotten. Weak pointers would forget
// exactly those that nobody has. Boards have none, and a weak pointer made of a
// uintptr and a finalizer is wrong where finalizers do not run.
type peer struct {
	name       string
	link       atomic.Pointer[Link] // nil: none at present
	young, old map[proxyKey]*proxy
}

// proxyKey is an address within a system.
type proxyKey struct {
	path string
	pid  PID
}

// proxy stands for an actor in another system: a Cell without an actor whose
// mailbox is the link. Its Cell's name is the path of that actor.
type proxy struct {
	cell Cell
	peer *peer
}

// Connect makes l the link to the system of that name: Refs to its actors send
// over l from now on, also those that there are already. A nil l takes the link
// away; sending fails with [ErrNoLink] then. Connect panics if the name is
// empty or the system's own.
//
// Two Refs of the same address are equal (==), unless so many addresses of that
// system have been resolved in the time between that the first one is
// forgotten: 16,384 others at least. It goes on working, and who has to compare
// over such a time compares what [Ref.Address] returns.
//
// A remote Ref can be sent to, compared and passed on. What depends on what goes
// on at the other end has no answer here: Backlog is 0, Find and Lookup know
// local actors only, and Stop needs a link that is a [LinkStopper].
func (s *System) Connect(system string, l Link) {
	if system == "" || system == s.name {
		panic("actor: Connect to the system itself or to one without a name")
	}
	r := &s.remote
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[system]
	if p == nil {
		if l == nil {
			return
		}
		if r.peers == nil {
			r.peers = make(map[string]*peer)
		}
		p = &peer{name: system}
		r.peers[system] = p
	}
	if l == nil {
		p.link.Store(nil)
	} else {
		p.link.Store(&l)
	}
}

// Deliver hands over a message that has come over a link for a local actor. It
// returns nil if the mailbox has accepted it; [ErrUnknown] if the actor has
// stopped or never was; and else the reason of the [SendError] that
// [Ref.TellContext] would return. It counts and reports nothing: the link tells
// the sender, who gets the message back, or else calls Undeliverable.
func (s *System) Deliver(ctx context.Context, to Address, msg any) error {
	if to.System != s.name {
		return ErrUnknown // it does not go on from here: links are no routers
	}
	r, err := s.ResolveAddress(to)
	if err != nil {
		return err
	}
	if res := r.cell.port.Send(msg, nil); res != Sent {
		return insist(ctx, r.cell, msg, nil, res)
	}
	return nil
}

// Undeliverable makes a dead letter of a message that a link has accepted and
// not delivered. The dead letter's To has the address, also if that is nobody's.
func (s *System) Undeliverable(to Address, msg any, reason error) {
	r, err := s.ResolveAddress(to)
	if err != nil && to.valid() {
		// Nobody is there, but the letter is to say whom it was for.
		r = Ref{&newProxy(s, &peer{name: to.System}, to).cell}
	}
	s.deadLetter(DeadLetter{Msg: msg, To: r, Reason: reason})
}

// resolve returns the Ref for an address in another system.
func (r *remote) resolve(s *System, a Address) (Ref, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[a.System]
	if p == nil || p.link.Load() == nil {
		return Ref{}, ErrNoLink
	}
	k := proxyKey{a.Path, a.PID}
	if x := p.young[k]; x != nil {
		return Ref{&x.cell}, nil
	}
	x := p.old[k]
	if x == nil {
		x = newProxy(s, p, a)
	}
	if len(p.young) >= mostProxies {
		p.old, p.young = p.young, nil
	}
	if p.young == nil {
		p.young = make(map[proxyKey]*proxy)
	}
	// x may stay in the old generation as well, until that is forgotten.
	p.young[x.key()] = x
	return Ref{&x.cell}, nil
}

// newProxy makes a proxy for an actor of p. s is the local system.
func newProxy(s *System, p *peer, a Address) *proxy {
	x := &proxy{peer: p}
	x.cell.port = x
	x.cell.system = s
	x.cell.given = &a.Path
	x.cell.pid = a.PID
	x.cell.state.Store(uint32(StateRunning)) // as far as anybody here knows
	return x
}

func (x *proxy) key() proxyKey { return proxyKey{x.cell.name(), x.cell.pid} }

func (x *proxy) address() Address {
	return Address{System: x.peer.name, Path: x.cell.name(), PID: x.cell.pid}
}

// Cell implements Port.
func (x *proxy) Cell() *Cell { return &x.cell }

// Send implements Port. It leaves all to SendWait: a link may fail in more ways
// than a SendResult can tell, and a sender who has been told that it must wait
// comes with its context.
func (x *proxy) Send(any, Worker) SendResult { return MustWait }

// SendWait implements Port.
func (x *proxy) SendWait(ctx context.Context, msg any, _ Worker) error {
	l := x.peer.link.Load()
	switch {
	case l != nil:
	case x.peer.name == x.cell.system.name:
		return ErrUnknown // the To of a dead letter: see Undeliverable
	default:
		return ErrNoLink
	}
	if b, ok := msg.(Boxed); ok {
		msg = b.Unbox() // a box is a matter between two ends in one process
	}
	return (*l).Send(ctx, x.address(), msg)
}

// Wake implements Port: of the system messages that came the link is told what
// it can carry.
func (x *proxy) Wake(Worker) {
	stop := false
	for s := x.cell.signals.take(); s != nil; s = s.next {
		stop = stop || s.kind == sigStop
	}
	if l := x.peer.link.Load(); stop && l != nil {
		if l, ok := (*l).(LinkStopper); ok {
			l.Stop(x.address())
		}
	}
}

// Close implements Port. Nobody calls it: a proxy has no end.
func (x *proxy) Close() {}

// Len implements Port.
func (x *proxy) Len() int { return 0 }
