package actor

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Link is the way to another system: in another process, on another board, or
// in this one. Package remote has links over TCP and whatever else carries
// frames; this is what one has to be. [System.Connect] puts it to use.
//
// A link carries messages, and it is the link's business how: which ones it can
// carry, what their bytes are, and what becomes of the Refs in them (write
// Ref.Address, and have System.ResolveAddress of the other end read it). At the
// other end it hands them over with [System.Deliver] or [Ref.Offer].
type Link interface {
	// Send takes msg on its way to the actor that to stands for. It returns nil
	// if the message is the link's now, and otherwise an error, which becomes the
	// reason of the [SendError] or [DeadLetter]. It must be as good as Tell:
	// messages that one goroutine sends to one actor arrive in this order, and
	// none arrives twice. It is called on the sender's goroutine, by several at
	// once, in an actor's turn as a rule: what waits in it keeps that actor,
	// and may keep a worker, from others. If it waits, it stops when ctx ends,
	// whose error it then returns.
	//
	// A link that finds out later that a message of which it has said nil does
	// not arrive reports it with [System.Undeliverable], to whichever of the two
	// systems it can still reach.
	Send(ctx context.Context, to Ref, msg any) error
}

// Controller is a Link that carries more than messages. With one that is none,
// stopping a remote actor does nothing, watching it ends at once with
// [ErrUnreachable], its Backlog is 0 and there is always room.
//
// Stop, Watch and Unwatch are called in the order in which they were asked for,
// with a lock held: they must not wait, and call nothing of this package but
// Ref.Address.
type Controller interface {
	Link

	// Stop has the actor stopped.
	Stop(to Ref)

	// Watch has the link call [Line.Terminated], once, when the actor has stopped
	// or if it has already. It is not called for an actor that is watched.
	Watch(to Ref)

	// Unwatch undoes Watch. A Terminated that is on its way does no harm.
	Unwatch(to Ref)

	// Backlog returns how many messages are under way: accepted by Send, and
	// not yet in a mailbox at the other end, as far as this end knows.
	Backlog() int

	// Room calls f, once, when a message could be sent without waiting, at once
	// if that is so now, or when the link is lost. f does not block.
	Room(f func())
}

var (
	// ErrNoLink: there is no link to the system of that address.
	ErrNoLink = errors.New("actor: no link to the actor's system")

	// ErrUnreachable: the link to the actor's system was lost. In a [Terminated] it says
	// that it is not known what has become of the actor; of a Future, whether
	// there was an answer; of a dead letter, that the message was
	// not confirmed: it may have arrived.
	ErrUnreachable = errors.New("actor: the link to the actor's system was lost")
)

// mostProxies bounds the Refs to actors of other systems that are kept for the sake of
// equality: half a generation. 16,384 of them are some 5 MB, on a host not much, and a
// board does not talk to as many. It is a bound for all systems together, as others may
// have this one make Refs, under any number of names.
const mostProxies = 1 << 14

// mostUnlinked bounds the systems without a link that are remembered because there may
// be Refs to their actors.
const mostUnlinked = 1 << 10

// remote is what a system knows of others.
type remote struct {
	mu    sync.Mutex // guards what follows, the maps of all peers and the watchers of their proxies
	peers map[string]*peer
	ended uint64 // links that have ended

	// Proxies that were handed out: see peer.
	young, old map[proxyKey]*proxy

	replies map[PID]exported // Futures whose ReplyTo has an address
	sweep   int              // the size of replies at which those that have ended are taken out
}

// peer is another system: one incarnation of it. It is there from the first link
// on, so that Refs live through a link's loss, until another incarnation has
// its name. If no Ref to its actors was made it ends with its link, and if more than
// mostUnlinked others have lost theirs since it is forgotten: Refs to it then fail with
// ErrNoLink for good.
//
// A Ref is compared by its pointer, so equal addresses must have equal proxies.
// For that the proxies handed out are remembered – but an actor that has
// stopped elsewhere is never heard of again, so not for ever. There are two
// generations: who is asked for moves to the young one; when that is full it
// becomes the old one, and the old one is forgotten. Weak pointers would forget
// exactly those that are not referred to. Boards have none, and a weak pointer made of a
// uintptr and a finalizer is wrong where finalizers do not run. Those that are
// watched stay until they are not.
type peer struct {
	name    string
	boot    uint64
	line    atomic.Pointer[Line] // nil: none at present; written with remote.mu
	gone    atomic.Bool          // another incarnation has the name
	before  []uint64             // the boots of the last few that had it before
	known   bool                 // a Ref to an actor of it was made
	ended   uint64               // which of the links that have ended was its last
	watched map[proxyKey]*proxy
}

// mostBefore bounds peer.before: a system that restarts more often than that
// while an address is kept answers ErrNoLink for it, and not ErrStopped.
const mostBefore = 16

// proxyKey is an address.
type proxyKey struct {
	peer *peer
	path string
	pid  PID
}

// proxy stands for an actor in another system: a Cell without an actor whose
// mailbox is the link. Its Cell's name is the path of that actor.
type proxy struct {
	cell     Cell
	peer     *peer
	watchers watchers // guarded by remote.mu
}

// Line is a system's end of a link, from Connect until End. Only
// the caller of Connect has it, so no other code can tell the system what it tells. Any goroutine may
// use it.
type Line struct {
	system *System
	peer   *peer
	link   Link
}

// Connect makes l the link to the incarnation boot of the system of that name
// ([System.Boot] is its boot id): Refs to its actors send over l from now on, also
// those that there are already. A link that the system had before is ended
// (see [Line.End]). If another incarnation had the name it is taken to be gone:
// what is sent to its actors fails with [ErrStopped]. Connect panics if l is nil,
// boot is 0, or the name is empty or the system's own.
//
// Two Refs of the same address are equal (==), unless so many addresses of other
// systems have been resolved in the time between that the first one is
// forgotten: 16,384 at least. It goes on working, and who has to compare
// over such a time compares what [Ref.Address] returns.
//
// A remote Ref can be sent to, compared, passed on and, over a [Controller],
// watched and stopped. Find and Lookup know local actors only, and Suspend and
// Resume do nothing.
func (s *System) Connect(name string, boot uint64, l Link) *Line {
	if name == "" || name == s.name || boot == 0 || l == nil {
		panic("actor: Connect without a link, to the system itself, or to one without a name or boot id")
	}
	r := &s.remote
	r.mu.Lock()
	p := r.peers[name]
	var lost []*Cell
	var before *Line
	switch {
	case p == nil:
		p = &peer{name: name, boot: boot}
	case p.boot != boot:
		p.gone.Store(true)
		before = p.line.Load()
		lost = p.cut()
		next := &peer{name: name, boot: boot, before: p.before}
		if p.known { // else no address of that boot was of use here
			next.before = append(p.before[max(0, len(p.before)-mostBefore+1):], p.boot)
		}
		p = next
	default:
		before = p.line.Load()
		lost = p.cut()
	}
	if r.peers == nil {
		r.peers = make(map[string]*peer)
	}
	r.peers[name] = p
	line := &Line{system: s, peer: p, link: l}
	p.line.Store(line)
	r.mu.Unlock()
	s.lost(before, lost)
	return line
}

// cut takes the link away, and returns whom to tell that what they watch cannot be
// reached any more: the watcher and the proxy in turn. remote.mu is held.
func (p *peer) cut() (lost []*Cell) {
	p.line.Store(nil)
	for _, x := range p.watched {
		for _, w := range x.watchers.list {
			lost = append(lost, w, &x.cell)
		}
		x.watchers = watchers{}
	}
	p.watched = nil
	return lost
}

// lost tells those who watch and those who wait for a reply that a line has ended.
func (s *System) lost(l *Line, watching []*Cell) {
	for i := 0; i < len(watching); i += 2 {
		watching[i].post(&signal{kind: sigTerminated, arg: &Terminated{Ref{watching[i+1]}, ErrUnreachable}}, nil)
	}
	if l == nil {
		return
	}
	r := &s.remote
	r.mu.Lock()
	var waiting []exported
	for id, e := range r.replies {
		if e.line == l {
			waiting = append(waiting, e)
			delete(r.replies, id)
		}
	}
	r.mu.Unlock()
	for _, e := range waiting {
		e.promise.complete(e.ticket, ErrUnreachable)
	}
}

// End takes the link away: sending fails with [ErrNoLink] from now on. Who watches
// an actor there is told so, by a Terminated with [ErrUnreachable], and Futures
// whose requests went over the link end with that error. Where another link has
// been connected since, End does nothing.
func (l *Line) End() {
	r := &l.system.remote
	r.mu.Lock()
	if l.peer.line.Load() != l {
		r.mu.Unlock()
		return
	}
	lost := l.peer.cut()
	r.unlinked(l.peer)
	r.mu.Unlock()
	l.system.lost(l, lost)
}

// unlinked forgets p, which has no link any more, or whichever is without one for longest
// if there are too many. mu is held.
func (r *remote) unlinked(p *peer) {
	if !p.known && len(p.before) == 0 {
		delete(r.peers, p.name)
		return
	}
	r.ended++
	p.ended = r.ended
	n := 0
	for _, q := range r.peers {
		if q.line.Load() == nil {
			n++
			if q.ended < p.ended {
				p = q
			}
		}
	}
	if n > mostUnlinked {
		delete(r.peers, p.name)
	}
}

// Terminated says that the actor of the peer with that path and PID has stopped:
// for the failure err, if that is not nil. Who watches it is told.
func (l *Line) Terminated(path string, pid PID, err error) {
	r := &l.system.remote
	r.mu.Lock()
	k := proxyKey{l.peer, path, pid}
	x := l.peer.watched[k]
	if x == nil || l.peer.line.Load() != l {
		r.mu.Unlock()
		return // it is not watched any more
	}
	list := x.watchers.list
	x.watchers = watchers{}
	delete(l.peer.watched, k)
	r.mu.Unlock()
	for _, w := range list {
		w.post(&signal{kind: sigTerminated, arg: &Terminated{Ref{&x.cell}, err}}, nil)
	}
}

// Deliver hands over a message that has come over a link for a local actor, or
// for a Future by the address that [Line.ReplyAddress] gave it. It returns nil if
// the mailbox has accepted it, or the Future has been told, be it too late
// ([ErrLate]); [ErrStopped] if the address is of an earlier incarnation of the
// system; [ErrUnknown] if the actor has stopped or never was; and else the
// reason of the [SendError] that [Ref.TellContext] would return. For an actor it
// counts and reports nothing: the link tells the sender, who gets the message
// back, or else calls Undeliverable.
func (s *System) Deliver(ctx context.Context, to Address, msg any) error {
	if to.System != s.name {
		return ErrUnknown // it does not go on from here: links are no routers
	}
	if to.Path == replyPath && to.Boot == s.boot {
		s.replied(to.PID, msg)
		return nil
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

// Offer sends msg if that takes no waiting, and says what has become of it: of
// Full, Closed and MustWait nothing. It counts and reports nothing, and is for
// links, which must not wait with what has come for one actor while there is
// something for another. To the zero Ref it answers Closed, to an actor in
// another system MustWait. from is nil, or a [Guest] of the actor's system.
func (r Ref) Offer(msg any, from Worker) SendResult {
	if r.cell == nil {
		return Closed
	}
	return r.cell.port.Send(msg, from)
}

// NewGuest returns a [Guest] of the system's dispatcher, or nil if that is no [Host]. It
// is for links.
func (s *System) NewGuest(l Lender) Guest {
	if h, ok := s.dispatcher.(Host); ok {
		return h.NewGuest(l)
	}
	return nil
}

// Drainer is who waits for a mailbox to become shorter.
type Drainer interface {
	// Drained is called in the actor's turn and must not wait.
	Drained()
}

// WhenBelow has d told, once, at the end of a turn of the actor after which fewer
// than n messages wait in its mailbox, or when it is stopping: soon, if that is
// so now. It returns false, and d is not told, if the actor has stopped. It is for
// links.
func (s *System) WhenBelow(r Ref, n int, d Drainer) bool {
	return r.cell != nil && r.cell.post(&signal{kind: sigDrain, arg: &drain{n, d}}, nil)
}

// drain is a caller that waits for an actor's mailbox to become shorter.
type drain struct {
	below int
	who   Drainer
}

// drained tells those whose wait is over at the end of a turn; all of them if the
// actor is stopping. left is what it had left of its share.
func (c *Cell) drained(left int32) {
	m := c.more
	list := m.drains
	m.drains = nil
	state := State(c.state.Load())
	waiting := 0
	if state != StateRunning || left <= 0 {
		waiting = c.port.Len()
	} // else the mailbox was found empty. Its length may be that before the turn: it is
	// counted when the turn is over, and there need not be another one
	for _, d := range list {
		if state >= StateStopping || waiting < d.below {
			d.who.Drained()
		} else {
			m.drains = append(m.drains, d)
		}
	}
}

// Undeliverable makes a dead letter of a message that a link has accepted and
// not delivered. The dead letter's To has the address, also if it is no actor's.
func (s *System) Undeliverable(to Address, msg any, reason error) {
	r, err := s.ResolveAddress(to)
	if err != nil && to.valid() {
		// There is no such actor, but the letter is to say whom it was for.
		r = Ref{&newProxy(s, &peer{name: to.System, boot: to.Boot}, to).cell}
	}
	s.deadLetter(DeadLetter{Msg: msg, To: r, Reason: reason})
}

// UndeliverableTo is Undeliverable for who has the Ref.
func (s *System) UndeliverableTo(to Ref, msg any, reason error) {
	s.deadLetter(DeadLetter{Msg: msg, To: to, Reason: reason})
}

// resolve returns the Ref for an address in another system.
func (r *remote) resolve(s *System, a Address) (Ref, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[a.System]
	if p == nil {
		return Ref{}, ErrNoLink
	}
	if p.boot != a.Boot {
		for _, b := range p.before {
			if b == a.Boot {
				return Ref{}, ErrStopped
			}
		}
		return Ref{}, ErrNoLink
	}
	if p.line.Load() == nil {
		return Ref{}, ErrNoLink
	}
	return Ref{&r.proxy(s, p, a).cell}, nil
}

// proxy returns the one that stands for a, an address of p's. mu is held.
func (r *remote) proxy(s *System, p *peer, a Address) *proxy {
	p.known = true
	if a.Path == replyPath {
		return newProxy(s, p, a) // used once, as a rule
	}
	k := proxyKey{p, a.Path, a.PID}
	x := r.young[k]
	if x != nil {
		return x
	}
	if x = r.old[k]; x == nil {
		x = p.watched[k]
	}
	if x == nil {
		x = newProxy(s, p, a)
	}
	if len(r.young) >= mostProxies {
		r.old, r.young = r.young, nil
	}
	if r.young == nil {
		r.young = make(map[proxyKey]*proxy)
	}
	// x may stay in the old generation as well, until that is forgotten.
	r.young[x.key()] = x
	return x
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

func (x *proxy) key() proxyKey { return proxyKey{x.peer, x.cell.name(), x.cell.pid} }

func (x *proxy) address() Address {
	return Address{System: x.peer.name, Boot: x.peer.boot, Path: x.cell.name(), PID: x.cell.pid}
}

// Cell implements Port.
func (x *proxy) Cell() *Cell { return &x.cell }

// Send implements Port. It leaves all to SendWait: a link may fail in more ways
// than a SendResult can tell, and a sender who has been told that it must wait
// comes with its context.
func (x *proxy) Send(any, Worker) SendResult { return MustWait }

// SendWait implements Port.
func (x *proxy) SendWait(ctx context.Context, msg any, _ Worker) error {
	l := x.peer.line.Load()
	switch {
	case l != nil:
	case x.peer.gone.Load():
		return ErrStopped
	case x.peer.name == x.cell.system.name:
		return ErrUnknown // the To of a dead letter: see Undeliverable
	default:
		return ErrNoLink
	}
	if b, ok := msg.(Boxed); ok {
		msg = b.Unbox() // a box is a matter between two ends in one process
	}
	return l.link.Send(ctx, Ref{&x.cell}, msg)
}

// controller returns the link if it is there and carries more than messages.
func (x *proxy) controller() Controller {
	l := x.peer.line.Load()
	if l == nil {
		return nil
	}
	c, _ := l.link.(Controller)
	return c
}

// Wake implements Port: of the system messages that came the link is told what
// it can carry. The lock keeps those of several Wakes in the order in which they
// came.
func (x *proxy) Wake(Worker) {
	r := &x.cell.system.remote
	var told, room []*signal
	r.mu.Lock()
	link := x.controller()
	for s := x.cell.signals.take(); s != nil; s = s.next {
		switch s.kind {
		case sigStop:
			if link != nil {
				link.Stop(Ref{&x.cell})
			}
		case sigWatch:
			if link == nil {
				told = append(told, s)
				continue
			}
			x.watch(s.arg.(*Cell), link)
		case sigUnwatch:
			x.unwatch(s.arg.(*Cell), link)
		case sigSeek:
			room = append(room, s)
		}
	}
	r.mu.Unlock()
	for _, s := range told {
		s.arg.(*Cell).post(&signal{kind: sigTerminated, arg: &Terminated{Ref{&x.cell}, ErrUnreachable}}, nil)
	}
	for _, s := range room {
		goOn := func() { resume(s.arg.(*Cell), s.epoch, nil) }
		if link == nil {
			goOn()
		} else {
			link.Room(goOn)
		}
	}
}

// watch adds a watcher. remote.mu is held.
func (x *proxy) watch(w *Cell, link Controller) {
	first := len(x.watchers.list) == 0
	x.watchers.add(w)
	if first {
		if x.peer.watched == nil {
			x.peer.watched = make(map[proxyKey]*proxy)
		}
		x.peer.watched[x.key()] = x
		link.Watch(Ref{&x.cell})
	}
}

// unwatch takes a watcher out. remote.mu is held.
func (x *proxy) unwatch(w *Cell, link Controller) {
	if len(x.watchers.list) == 0 {
		return
	}
	x.watchers.remove(w)
	if len(x.watchers.list) == 0 {
		delete(x.peer.watched, x.key())
		if link != nil {
			link.Unwatch(Ref{&x.cell})
		}
	}
}

// Close implements Port. It is never called: a proxy has no end.
func (x *proxy) Close() {}

// Len implements Port.
func (x *proxy) Len() int {
	if c := x.controller(); c != nil {
		return c.Backlog()
	}
	return 0
}

// replyPath is the path of the addresses of Futures. No actor has it: all but
// the root are below one of the two guardians.
const replyPath = "/reply"

// exported is a Future whose ReplyTo was given an address.
type exported struct {
	promise *promise
	ticket  uint64
	line    *Line // over which the request goes; nil: another system's
}

// Failed is what [ReplyTo.Fail] sends over a link. Where it arrives, by
// [System.Deliver], the Future ends with Err.
type Failed struct {
	Err error
}

// ReplyAddress returns the address of r, for a request that goes over the link: of
// an actor it is that of the Ref; a Future gets one that is good for one reply,
// until the Future or the Line ends.
func (l *Line) ReplyAddress(r ReplyTo) Address {
	if r.promise == nil {
		return r.ref.Address()
	}
	s := r.promise.system
	e := exported{promise: r.promise, ticket: r.ticket}
	if s == l.system {
		e.line = l
	}
	return Address{System: s.name, Boot: s.boot, Path: replyPath, PID: s.remote.export(e)}
}

// export gives e a number. It is a random one, so that no system can answer a
// request that it has not seen.
func (r *remote) export(e exported) PID {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replies == nil {
		r.replies = make(map[PID]exported)
	}
	if len(r.replies) >= max(r.sweep, 64) {
		// A Future that timed out or was answered another way does not say so
		// here, and may never be asked for again: they are looked for each time
		// there are twice as many as were left.
		for id, e := range r.replies {
			if w := e.promise.state.Load(); w&useTickets != e.ticket || w&usePhases > useWriting {
				delete(r.replies, id)
			}
		}
		r.sweep = 2 * len(r.replies)
	}
	for {
		n := rand.Uint64()
		id := PID{slot: uint32(n), gen: uint32(n >> 32)}
		if _, taken := r.replies[id]; id.slot != 0 && !taken {
			r.replies[id] = e
			return id
		}
	}
}

// replied hands a Future its reply.
func (s *System) replied(id PID, msg any) {
	r := &s.remote
	r.mu.Lock()
	e, ok := r.replies[id]
	delete(r.replies, id)
	r.mu.Unlock()
	f, failed := msg.(Failed)
	switch {
	case !ok && failed:
		_ = s.late(f.Err)
	case !ok:
		_ = s.late(msg)
	case failed && f.Err != nil:
		_ = e.promise.reply(e.ticket, nil, f.Err)
	default:
		_ = e.promise.reply(e.ticket, msg, nil)
	}
}

// ResolveReply returns the ReplyTo that has the address: that of an actor, as
// [System.ResolveAddress] finds it, or of a Future, here or in another system.
func (s *System) ResolveReply(a Address) (ReplyTo, error) {
	if a.Path == replyPath && a.System == s.name {
		s.remote.mu.Lock()
		defer s.remote.mu.Unlock()
		e, ok := s.remote.replies[a.PID]
		if !ok || a.Boot != s.boot {
			return ReplyTo{}, ErrUnknown
		}
		return ReplyTo{promise: e.promise, ticket: e.ticket}, nil
	}
	r, err := s.ResolveAddress(a)
	return r.ReplyTo(), err
}

// Awaits reports whether r is a Future's, here or in another system.
func (r ReplyTo) Awaits() bool {
	return r.promise != nil || r.ref.cell != nil && r.ref.cell.away() && r.ref.cell.name() == replyPath
}

// IsReply reports whether a is the address of a Future.
func (a Address) IsReply() bool { return a.Path == replyPath }

// Observer watches actors for what is none, such as a link. Make one with
// [System.NewObserver]. Its methods may be called by any number of goroutines.
type Observer struct {
	cell Cell
	f    func(Terminated)
}

// NewObserver returns an Observer that calls f, once for each actor that is being
// watched, when it has stopped or if it had already. f is called by several
// goroutines at once, in the turn of the actor that has stopped or by the one
// that calls Watch, and must not block.
func (s *System) NewObserver(f func(Terminated)) *Observer {
	o := &Observer{f: f}
	o.cell.port = o
	o.cell.system = s
	return o
}

// Watch has the Observer be told of r's end. To watch an actor that is being
// watched changes nothing.
func (o *Observer) Watch(r Ref) {
	if r.cell != nil && !r.cell.post(&signal{kind: sigWatch, arg: &o.cell}, nil) {
		o.f(Terminated{Actor: r})
	}
}

// Unwatch undoes Watch. A call of f may be on its way.
func (o *Observer) Unwatch(r Ref) {
	if r.cell != nil {
		r.cell.post(&signal{kind: sigUnwatch, arg: &o.cell}, nil)
	}
}

// Cell implements Port.
func (o *Observer) Cell() *Cell { return &o.cell }

// Send implements Port: there is no actor to send to.
func (o *Observer) Send(any, Worker) SendResult { return Closed }

// SendWait implements Port.
func (o *Observer) SendWait(context.Context, any, Worker) error { return ErrStopped }

// Wake implements Port. Who takes the system messages out tells what they say.
func (o *Observer) Wake(Worker) {
	for s := o.cell.signals.take(); s != nil; s = s.next {
		if s.kind == sigTerminated {
			o.f(*s.arg.(*Terminated))
		}
	}
}

// Close implements Port.
func (o *Observer) Close() {}

// Len implements Port.
func (o *Observer) Len() int { return 0 }
