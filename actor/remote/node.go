package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
)

// Config says how a node behaves. The zero value of everything but Codecs is the
// default.
type Config struct {
	// Codecs are the messages that can cross. It is required.
	Codecs *Codecs

	// Policy is what a send does when the window to its peer is used up: with
	// [actor.Block], the default, it waits, as long as its context allows; with
	// [actor.DropNewest] it fails with [actor.ErrFull].
	Policy actor.Policy

	// Window is how many messages each peer may have under way to this node: in
	// buffers, on the wire, or waiting for a mailbox that is full. 0 means 1,024:
	// with that many, a round trip of 100 µs, as within a machine room, allows ten
	// million messages a second. At most 1<<20.
	Window int

	// WindowBytes is the same in bytes, a message counting 32 more than it has.
	// 0 means 1 MiB, at most 1 GiB. It bounds what a peer can make this node keep, and
	// what this node keeps for a peer that is slow, twice over at most; replies and
	// what the runtime has to say, which take no credit, come on top with up to 9 MiB.
	// A single message may be larger; it goes alone.
	WindowBytes int

	// Backlog is how many messages may wait in the mailbox of one actor, of
	// whatever policy, before its peers get no credit for more. 0 means 4,096.
	Backlog int

	// Batch is how many bytes of messages are put into one frame while others are
	// being written. 0 means 64 KiB; 1 puts each message into a frame of its own.
	// At most MaxFrame.
	Batch int

	// Heartbeat is how often something is sent to a peer when there is nothing
	// to say; 0 means a second. Timeout is how long a peer may be silent before
	// it is lost; 0 means 5 s. It must be larger than Heartbeat. The time in which
	// this process stood still, so that its clock rang late, does not count.
	Heartbeat, Timeout time.Duration

	// MaxPeers is how many associations there may be at a time that other systems have
	// begun; 0 means 1,024. One more ends another one with [ErrCrowded]: of the address
	// that has the most of them, the oldest one over which nothing was ever sent, or else,
	// if the newer one's address has fewer, the oldest one. If there is none of these the
	// newer one is refused. The same holds for connections over which no system has
	// introduced itself yet, of which there may be 256.
	MaxPeers int
}

// Why an association was lost, in [Lost] and by [Peer.Err].
var (
	// ErrClosed: this node was closed, or has ended the association.
	ErrClosed = errors.New("remote: closed at this end")
	// ErrLeft: the other node was closed, or has ended the association.
	ErrLeft = errors.New("remote: closed at the other end")
	// ErrSilent: nothing has come for Config.Timeout.
	ErrSilent = errors.New("remote: the peer is silent")
	// ErrReplaced: there is a newer association with the system of that name.
	ErrReplaced = errors.New("remote: replaced by a newer association")
	// ErrCrowded: there are more associations than Config.MaxPeers, or more connections over
	// which nothing was said.
	ErrCrowded = errors.New("remote: too many peers: this one has given way")
	// ErrSelf: the other end has the same name.
	ErrSelf = errors.New("remote: the peer has this system's name")
)

// Lost is the event, on the system's event stream, that an association was lost.
type Lost struct {
	System      string
	Boot        uint64
	Unconfirmed int // messages that became dead letters with ErrUnreachable: they may have arrived
	Err         error
	Time        time.Time
}

// Joined is the event that an association was begun.
type Joined struct {
	System string
	Boot   uint64
	Time   time.Time
}

// Node is a system's place among others. All methods may be called by any number
// of goroutines at once.
type Node struct {
	sys    *actor.System
	config Config
	codecs *Codecs

	mu        sync.Mutex // guards what follows; taken before an association's
	closed    bool
	begun     uint64                    // associations so far
	all       map[*association]struct{} // those that are not lost
	peers     map[string]*association   // those that are open, by the system's name
	listeners map[net.Listener]struct{}
	finds     map[uint64]*find
	find      uint64
	serving   sync.WaitGroup
}

// find is a caller that waits in Peer.Find.
type find struct {
	a      *association
	result chan found
}

type found struct {
	at place
	ok bool
}

// NewNode makes a node of the system. It is to be closed before the system is
// shut down. It returns a [*actor.PropsError] if c cannot be used.
func NewNode(sys *actor.System, c Config) (*Node, error) {
	for _, d := range []struct {
		field   string
		value   *int
		preset  int
		largest int
	}{
		{"Config.Window", &c.Window, 1024, 1 << 20},
		{"Config.WindowBytes", &c.WindowBytes, 1 << 20, 1 << 30},
		{"Config.Backlog", &c.Backlog, 4096, 1 << 30},
		{"Config.Batch", &c.Batch, 64 << 10, MaxFrame},
		{"Config.MaxPeers", &c.MaxPeers, 1024, 1 << 20},
	} {
		if *d.value < 0 || *d.value > d.largest {
			return nil, &actor.PropsError{Field: d.field, Rule: fmt.Sprintf("must be from 0, which means %d, to %d", d.preset, d.largest)}
		}
		if *d.value == 0 {
			*d.value = d.preset
		}
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = time.Second
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Policy == actor.Unbounded {
		c.Policy = actor.Block
	}
	switch {
	case c.Codecs == nil:
		return nil, &actor.PropsError{Field: "Config.Codecs", Rule: "must not be nil"}
	case c.Heartbeat < 0 || c.Timeout <= c.Heartbeat:
		return nil, &actor.PropsError{Field: "Config.Timeout", Rule: "must be larger than Heartbeat, and that not negative"}
	case c.Policy != actor.Block && c.Policy != actor.DropNewest:
		return nil, &actor.PropsError{Field: "Config.Policy", Rule: "must be Block or DropNewest"}
	case len(sys.Name()) > maxName:
		return nil, &actor.PropsError{Field: "Config.Name", Rule: "of the system must not be longer than 255 bytes"}
	}
	return &Node{
		sys:       sys,
		config:    c,
		codecs:    c.Codecs,
		all:       map[*association]struct{}{},
		peers:     map[string]*association{},
		listeners: map[net.Listener]struct{}{},
		finds:     map[uint64]*find{},
	}, nil
}

// Dial connects over TCP and, if config is not nil, TLS. Without TLS any program that
// reaches the other end's port can send to its actors and stop them: that is for
// one machine, or a network of which the same is true.
func (n *Node) Dial(ctx context.Context, address string, config *tls.Config) (*Peer, error) {
	var conn net.Conn
	var err error
	if config == nil {
		var d net.Dialer
		conn, err = d.DialContext(ctx, "tcp", address)
	} else {
		d := tls.Dialer{Config: config}
		conn, err = d.DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return nil, err
	}
	return n.Connect(ctx, TCP(conn))
}

// mostGreeting bounds how many connections there may be over which no system has
// introduced itself.
const mostGreeting = 256

// Serve accepts connections until the listener or the node is closed, whose error
// it returns. With TLS the listener is one of tls.Listen, with a config that
// demands the other end's certificate, for which [TCP] says what it must be.
func (n *Node) Serve(l net.Listener) error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		_ = l.Close()
		return ErrClosed
	}
	n.listeners[l] = struct{}{}
	n.serving.Add(1)
	n.mu.Unlock()
	defer n.serving.Done()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, l)
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() {
				time.Sleep(10 * time.Millisecond) // too many open files, as a rule
				continue
			}
			return err
		}
		if _, err := n.begin(TCP(conn), false); err != nil {
			_ = conn.Close()
		}
	}
}

// Connect begins an association over a wire that this end has made, and waits for
// the other end. If there is one with the same system already that is kept
// and returned. If ctx ends first the wire is closed.
func (n *Node) Connect(ctx context.Context, w Wire) (*Peer, error) { return n.join(ctx, w, true) }

// Accept is Connect for the end to which the wire was made.
func (n *Node) Accept(ctx context.Context, w Wire) (*Peer, error) { return n.join(ctx, w, false) }

func (n *Node) join(ctx context.Context, w Wire, dialed bool) (*Peer, error) {
	a, err := n.begin(w, dialed)
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	select {
	case <-a.up:
		return &Peer{a}, nil
	case <-a.done:
		if p, ok := n.twin(a); ok {
			return p, nil
		}
		return nil, a.reason
	case <-ctx.Done():
		a.mu.Lock()
		a.fail(ctx.Err())
		a.mu.Unlock()
		return nil, ctx.Err()
	}
}

// begin starts an association over a wire.
func (n *Node) begin(w Wire, dialed bool) (*association, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, ErrClosed
	}
	a := newAssociation(n, w, dialed)
	if !dialed {
		n.makeRoom(a, mostGreeting) // nothing was ever sent over the others: one gives way
	}
	n.begun++
	a.begun = n.begun
	n.all[a] = struct{}{}
	a.start()
	return a, nil
}

// makeRoom has another association give way to a if there are most of its kind already,
// open or not. It returns false if a is to give way itself. mu is held.
func (n *Node) makeRoom(a *association, most int) bool {
	of := map[string]int{}
	total, largest := 0, 0
	for b := range n.all {
		if n.counts(b, a) {
			total++
			of[b.address]++
			largest = max(largest, of[b.address])
		}
	}
	if total < most {
		return true
	}
	var oldest *association
	oldestUsed := false
	for b := range n.all {
		if !n.counts(b, a) || of[b.address] < largest {
			continue
		}
		used := b.used()
		if oldest == nil || oldestUsed && !used || used == oldestUsed && b.begun < oldest.begun {
			oldest, oldestUsed = b, used
		}
	}
	if oldestUsed && of[a.address]+1 >= largest {
		return false // an address is not given room that others of it use
	}
	oldest.leaves = true
	oldest.mu.Lock()
	oldest.fail(ErrCrowded)
	oldest.mu.Unlock()
	return true
}

// counts reports whether b is one of those among which a needs room. mu is held.
func (n *Node) counts(b, a *association) bool {
	return b != a && !b.dialed && !b.leaves && b.opened == a.opened
}

// twin returns the association for which a was refused.
func (n *Node) twin(a *association) (*Peer, bool) {
	if !errors.Is(a.reason, errTwin) {
		return nil, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.peers[a.peer.name]
	return &Peer{b}, b != nil && b.peer.boot == a.peer.boot
}

var errTwin = fmt.Errorf("%w, which the other end has begun", ErrReplaced)

// hello handles the peer's hello. Only the reader calls it.
func (a *association) hello(h *hello) error {
	if v, ok := a.wire.(Verifier); ok {
		if err := v.Verify(h.name); err != nil {
			return err
		}
	}
	a.mu.Lock()
	if a.peer.tag == 0 {
		if h.name == a.node.sys.Name() {
			a.mu.Unlock()
			return ErrSelf
		}
		a.peer = *h
	}
	switch {
	case h.tag != a.peer.tag || h.yours != 0 && h.yours != a.tag:
		a.mu.Unlock()
		return nil // of another association over the same wire
	case !h.answer && !a.greet:
		a.greet, a.answer = true, true
		a.wake()
		// Else this end's own hello is not written yet. It will say that it has heard, and
		// stays one that is answered: as an answer it would have the peer open, and this end
		// wait until it greets again.
	}
	opens := a.state == greeting && h.yours == a.tag
	a.mu.Unlock()
	if opens {
		return a.node.open(a)
	}
	return nil
}

// open makes the association the one with its peer, unless there is one that is to
// be preferred. Of two that were begun from both ends at the same time both ends
// keep the one that the system with the smaller name has dialed; else the newer one
// is it, for a peer that dials again has lost the one before.
func (n *Node) open(a *association) error {
	name := a.peer.name
	n.mu.Lock()
	old := n.peers[name]
	if old != nil && old.peer.boot == a.peer.boot && old.dialed != a.dialed && old.dialed == (n.sys.Name() < name) {
		n.mu.Unlock()
		return errTwin
	}
	if n.closed {
		n.mu.Unlock()
		return ErrClosed
	}
	a.opened = true
	if !a.dialed && (old == nil || old.dialed) && !n.makeRoom(a, n.config.MaxPeers) {
		a.leaves = true
		n.mu.Unlock()
		return ErrCrowded
	}
	if old != nil {
		old.leaves = true
	}
	n.peers[name] = a
	// Under the lock, so that the system's link is that of n.peers.
	a.line.Store(n.sys.Connect(name, a.peer.boot, a))
	n.mu.Unlock()
	if old != nil {
		old.mu.Lock()
		old.fail(ErrReplaced)
		old.mu.Unlock()
	}
	a.mu.Lock()
	if a.state == greeting {
		a.state = open
		a.hears = true
		a.hurry()
		a.wake()
	}
	a.mu.Unlock()
	n.sys.Events().Publish(Joined{System: name, Boot: a.peer.boot, Time: n.sys.Clock().Now()})
	close(a.up)
	return nil
}

// forget takes a lost association out.
func (n *Node) forget(a *association) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.all, a)
	if n.peers[a.peer.name] == a {
		delete(n.peers, a.peer.name)
	}
	for id, f := range n.finds {
		if f.a == a {
			delete(n.finds, id)
			close(f.result)
		}
	}
}

// found hands the answer to who asked.
func (n *Node) found(a *association, r *record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if f := n.finds[r.number]; f != nil && f.a == a {
		delete(n.finds, r.number)
		f.result <- found{r.at, r.found} // has room for one, and this is it
	}
}

// Peer returns the association with the system of that name; false if there is none.
func (n *Node) Peer(system string) (*Peer, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.peers[system]
	return &Peer{a}, a != nil
}

// Close ends all associations, after what was sent over them has been confirmed if
// that takes no longer than some 200 ms, and waits for that. What the peers have
// not confirmed by then goes to the dead letters.
func (n *Node) Close() {
	n.mu.Lock()
	n.closed = true
	var all []*association
	for a := range n.all {
		all = append(all, a)
	}
	for l := range n.listeners {
		_ = l.Close()
	}
	n.mu.Unlock()
	for _, a := range all {
		a.leave()
	}
	for _, a := range all {
		a.ended.Wait()
	}
	n.serving.Wait()
}

// Peer is an association with another system, from both ends knowing each other
// until it is lost. All methods may be called by any number of goroutines at
// once.
type Peer struct {
	a *association
}

// System returns the name of the other system.
func (p *Peer) System() string { return p.a.peer.name }

// Boot returns the boot id of the other system.
func (p *Peer) Boot() uint64 { return p.a.peer.boot }

// Done is closed when the association is lost and everything is accounted for: who
// watches has been told, and what was not confirmed is in the dead letters.
func (p *Peer) Done() <-chan struct{} { return p.a.done }

// Err returns why the association was lost; nil while Done is not closed.
func (p *Peer) Err() error {
	select {
	case <-p.a.done:
		return p.a.reason
	default:
		return nil
	}
}

// Close ends the association, as [Node.Close] does.
func (p *Peer) Close() {
	p.a.leave()
	p.a.ended.Wait()
}

// ErrNotFound: the other system has no actor with that path.
var ErrNotFound = errors.New("remote: no actor with that path")

// Find asks the other system for the actor with that path, such as "/user/room". It
// returns [ErrNotFound] if there is none, [actor.ErrUnreachable] if the
// association is lost, or the error of ctx. An actor does not call it: it waits.
func (p *Peer) Find(ctx context.Context, path string) (actor.Ref, error) {
	if len(path) > maxPath {
		return actor.Ref{}, ErrNotFound
	}
	n, a := p.a.node, p.a
	f := &find{a, make(chan found, 1)}
	n.mu.Lock()
	if n.peers[a.peer.name] != a {
		n.mu.Unlock()
		return actor.Ref{}, actor.ErrUnreachable
	}
	n.find++
	id := n.find
	n.finds[id] = f
	n.mu.Unlock()
	a.say(appendText(appendFind(id), path))
	select {
	case r, ok := <-f.result:
		switch {
		case !ok:
			return actor.Ref{}, actor.ErrUnreachable
		case !r.ok:
			return actor.Ref{}, ErrNotFound
		}
		ref, err := n.sys.ResolveAddress(actor.Address{System: a.peer.name, Boot: a.peer.boot, Path: r.at.path, PID: r.at.pid})
		if err != nil {
			err = actor.ErrUnreachable
		}
		return ref, err
	case <-ctx.Done():
		n.mu.Lock()
		delete(n.finds, id)
		n.mu.Unlock()
		return actor.Ref{}, ctx.Err()
	}
}
