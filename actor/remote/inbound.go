package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/dynolab/dyno/actor"
)

// Why a message that came is a dead letter.
var (
	// ErrNoCodec: this node has no codec of the name that the sender has used.
	// The message is an [*Undecoded].
	ErrNoCodec = errors.New("remote: no codec of that name")

	// ErrUndecoded: the codec refused the bytes, or panicked. The message is an
	// [*Undecoded].
	ErrUndecoded = errors.New("remote: the codec cannot read the message")

	// ErrMailbox: a function of the actor's mailbox, as its Priority, has
	// panicked over the message.
	ErrMailbox = errors.New("remote: the actor's mailbox has panicked")
)

// Undecoded is a message that came and could not be read.
type Undecoded struct {
	Type  string // the name of its codec
	Bytes []byte
	Err   error // of the codec; nil if there is none
}

// inbound is what an association does with what comes. It hands messages over
// without waiting: if an actor's mailbox is full, or so long that a local sender
// would be told to mind it, the messages for that one wait in a lane of their
// own until a turn of it has made room (System.WhenBelow). Until they are in the
// mailbox their sender has no credit back for them: that is what bounds the
// lanes.
type inbound struct {
	a        *association
	observer *actor.Observer

	// The reader's.
	stash      map[uint64][]byte // frames that came before others
	stashBytes int
	guest      actor.Guest // as which it sends what is alone in its frame; nil: the dispatcher has none
	pause      int         // how many such messages it leaves to the workers all the same
	lends      bool        // the guest has sent

	mu      sync.Mutex // guards what follows, and the order of each actor's messages
	actors  []target
	paths   int // bytes of the paths in actors
	types   []typed
	lanes   map[actor.Ref]*lane
	waits   int      // messages in lanes
	waitsOf uint64   // and how many bytes
	later   []func() // what calls users' code, for when mu is not held any more
	frames  uint64   // handled, not booked yet
	msgs    uint64   // handed over, not booked yet
	bytes   uint64
	from    actor.Worker // the guest while its message is being offered, else nil

	watching sync.Mutex // guards what follows; taken after mu
	watched  map[actor.Ref]struct{}
}

// target is an actor in the table.
type target struct {
	ref actor.Ref // zero: there is none
	at  place
	err error // why not
	n   int   // messages since its backlog was looked at
}

// typed is a type in the table.
type typed struct {
	name  string
	codec Codec // nil: there is none
}

// lane is messages that wait for their actor's mailbox.
type lane struct {
	in    *inbound
	ref   actor.Ref
	queue []parcel
	taken int // how many of them the mailbox has, while it is being filled
}

type parcel struct {
	msg   any
	reply actor.ReplyTo
	size  uint64
}

const (
	// mostStash bounds the frames that wait for one that got lost.
	mostStash = 256
	// lookEvery is how many messages for an actor there are between two looks at
	// its backlog.
	lookEvery = 32
)

func (in *inbound) init(a *association) {
	in.a = a
	in.stash = map[uint64][]byte{}
	in.lanes = map[actor.Ref]*lane{}
	in.watched = map[actor.Ref]struct{}{}
	in.observer = a.node.sys.NewObserver(in.terminated)
}

// frame handles a frame. An error ends the association.
func (in *inbound) frame(b []byte) error {
	kind, p, err := parseFrame(b)
	if err != nil {
		return err
	}
	a := in.a
	if kind == frameHello {
		h, err := p.hello()
		if err != nil {
			return err
		}
		return a.hello(&h)
	}
	h, err := p.header(kind)
	if err != nil {
		return err
	}
	if h.tag != a.tag {
		return nil // none of ours
	}
	a.mu.Lock()
	if a.state != open {
		a.mu.Unlock()
		return nil // the peer is ahead; it will send it again
	}
	a.hears = true
	room, err := a.acknowledged(&h)
	next := a.received + 1
	if err == nil && kind == frameData {
		switch {
		case h.number < next:
			a.ackNow() // it has not heard that we have it
		case h.number > next:
			a.gap = true
			a.ackNow()
		}
	}
	a.mu.Unlock()
	for _, f := range room {
		f()
	}
	switch {
	case err != nil:
		return err
	case kind == frameBye:
		return ErrLeft
	case kind != frameData || h.number < next:
		return nil
	case h.number > next:
		in.keep(h.number, p.rest)
		return nil
	}
	return in.inOrder(p.rest)
}

// keep keeps the records of a frame that came too early, if there is room.
func (in *inbound) keep(number uint64, records []byte) {
	if _, ok := in.stash[number]; ok || len(in.stash) == mostStash || in.stashBytes+len(records) > 2*in.a.node.config.WindowBytes {
		return
	}
	in.stash[number] = bytes.Clone(records)
	in.stashBytes += len(records)
}

// inOrder handles the records of the next frame, and of those behind it that have
// come before. What it reads of the association without the lock no other goroutine
// writes.
func (in *inbound) inOrder(records []byte) error {
	a := in.a
	for ok := true; ok; {
		if err := in.records(records); err != nil {
			return err
		}
		next := a.received + 1
		if records, ok = in.stash[next]; ok {
			delete(in.stash, next)
			in.stashBytes -= len(records)
		}
	}
	if a.gap {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.gap = len(in.stash) > 0; a.gap {
			a.ackNow() // another one is missing
		}
	}
	return nil
}

// records handles the records of a frame.
func (in *inbound) records(b []byte) error {
	p := parser{rest: b}
	in.mu.Lock()
	defer in.settle() // also if a codec ends the goroutine
	var r record
	for first := true; len(p.rest) > 0 && !p.bad && in.paths <= maxPaths; first = false {
		p.record(&r, len(in.actors), len(in.types))
		if p.bad {
			break
		}
		if first && len(p.rest) == 0 && r.kind == recordMessage && r.reply == nil {
			in.alone() // see loan
		}
		in.record(&r)
		in.from = nil
	}
	// What waits the peer has no credit back for: it has no more than a window
	// there, and one message that was larger, or it does not keep to it.
	c := &in.a.node.config
	over := in.waits > c.Window || in.waitsOf > uint64(c.WindowBytes)+MaxFrame || in.paths > maxPaths
	if p.bad || over {
		return ErrProtocol
	}
	in.frames++
	return nil
}

// settle unlocks mu, books what was handed over, and does what was left for then.
func (in *inbound) settle() {
	later, frames, msgs, bytes := in.later, in.frames, in.msgs, in.bytes
	in.later, in.frames, in.msgs, in.bytes = nil, 0, 0, 0
	in.mu.Unlock()
	if frames > 0 || msgs > 0 {
		in.a.take(frames, msgs, bytes)
	}
	for _, f := range later {
		f()
	}
}

// record does what a record says. mu is held.
func (in *inbound) record(r *record) {
	a, sys := in.a, in.a.node.sys
	switch r.kind {
	case recordForget:
		clear(in.actors)
		in.actors, in.types, in.paths = in.actors[:0], in.types[:0], 0
	case recordMessage:
		in.message(r)
	case recordReply:
		t := in.typ(r)
		msg, err := decode(&t, r.payload, actor.ReplyTo{})
		to := in.local(r.at)
		in.later = append(in.later, func() {
			if err != nil || !to.IsReply() {
				sys.Undeliverable(to, msg, err)
			} else {
				_ = sys.Deliver(context.Background(), to, msg) // a Future is told, be it too late
			}
		})
	case recordFail:
		to, err := in.local(r.at), r.err
		if to.IsReply() && err != nil {
			in.later = append(in.later, func() { _ = sys.Deliver(context.Background(), to, actor.Failed{Err: err}) })
		}
	case recordStop:
		// A peer stops actors, not systems: a guardian has one name only.
		if ref, err := sys.ResolveAddress(in.local(r.at)); err == nil && strings.Count(r.at.path, "/") > 1 {
			sys.Stop(ref)
		}
	case recordWatch:
		in.watch(r.at)
	case recordUnwatch:
		if ref, err := sys.ResolveAddress(in.local(r.at)); err == nil {
			in.unwatched(ref)
			in.observer.Unwatch(ref)
		}
	case recordEnded:
		at, err := r.at, r.err
		in.later = append(in.later, func() { a.line.Load().Terminated(at.path, at.pid, err) })
	case recordFind:
		ref, ok := sys.Find(r.at.path)
		a.say(appendFound(r.number, ref, ok))
	case recordFound:
		a.node.found(a, r)
	}
}

// local returns the address of an actor of this system.
func (in *inbound) local(at place) actor.Address {
	sys := in.a.node.sys
	return actor.Address{System: sys.Name(), Boot: sys.Boot(), Path: at.path, PID: at.pid}
}

// typ returns the type of a record. mu is held.
func (in *inbound) typ(r *record) typed {
	if r.names {
		c, _ := in.a.node.codecs.named(r.name)
		in.types = append(in.types, typed{r.name, c})
	}
	return in.types[r.typ-1]
}

// decode has a codec read a message, whatever that does. If it cannot the message is
// an *Undecoded, and the error says why.
func decode(t *typed, b []byte, reply actor.ReplyTo) (msg any, err error) {
	if t.codec == nil {
		return &Undecoded{t.name, bytes.Clone(b), nil}, ErrNoCodec
	}
	returned := false
	defer func() {
		v := recover()
		if returned && err == nil {
			return
		}
		if e, ok := v.(error); ok {
			err = e
		}
		msg, err = &Undecoded{t.name, bytes.Clone(b), err}, ErrUndecoded
	}()
	msg, err = t.codec.Decode(b, reply)
	returned = true
	return msg, err
}

// message hands a message over. mu is held.
func (in *inbound) message(r *record) {
	sys := in.a.node.sys
	if r.defines {
		ref, err := sys.ResolveAddress(in.local(r.at))
		in.actors = append(in.actors, target{ref: ref, at: r.at, err: err})
		in.paths += len(r.at.path)
	}
	t := in.typ(r)
	to := &in.actors[r.actor-1]
	p := parcel{size: uint64(len(r.payload) + len(r.reply) + overhead)}
	if r.reply != nil {
		var addr actor.Address
		if addr.UnmarshalBinary(r.reply) == nil {
			p.reply, _ = sys.ResolveReply(addr) // if it waits no more the reply is a dead letter
		}
	}
	var err error
	if p.msg, err = decode(&t, r.payload, p.reply); err == nil {
		err = to.err
	}
	if err != nil {
		in.dead(to.ref, to.at, p, err)
		return
	}
	if l := in.lanes[to.ref]; l != nil {
		l.add(p)
		return
	}
	if to.n++; to.n%lookEvery == 0 && to.ref.Backlog() >= in.a.node.config.Backlog {
		in.park(to.ref, p)
		return
	}
	if !in.offer(to.ref, p) {
		in.park(to.ref, p)
	}
}

// offer hands a message to a mailbox, and reports false if it would have to wait.
// mu is held.
func (in *inbound) offer(to actor.Ref, p parcel) (done bool) {
	returned := false
	defer func() {
		if !returned {
			// A mailbox may call functions of the user's, and that they panic over what
			// came from outside is no reason to end the process. If they end the
			// goroutine this deferred function is the last that is done for the message.
			v := recover()
			if v == nil {
				v = errGoexit
			}
			in.dead(to, place{}, p, fmt.Errorf("%w: %v", ErrMailbox, v))
			done = true
		}
	}()
	res := to.Offer(p.msg, in.from)
	returned = true
	switch res {
	case actor.Sent:
		if in.from != nil {
			in.lends = true
		}
		in.msgs++
		in.bytes += p.size
	case actor.Full:
		in.dead(to, place{}, p, actor.ErrFull)
	case actor.Closed:
		in.dead(to, place{}, p, actor.ErrStopped)
	case actor.MustWait:
		return false
	}
	return true
}

// dead makes a dead letter of a message, and tells the Future that waits for its
// reply. mu is held.
func (in *inbound) dead(to actor.Ref, at place, p parcel, reason error) {
	in.msgs++
	in.bytes += p.size
	sys := in.a.node.sys
	in.later = append(in.later, func() {
		if to.IsZero() {
			sys.Undeliverable(in.local(at), p.msg, reason)
		} else {
			sys.UndeliverableTo(to, p.msg, reason)
		}
		if r, ok := p.msg.(actor.Requester); p.reply.Awaits() && (!ok || r.ReplyAddress() != p.reply) {
			_ = p.reply.Fail(reason) // of the others the dead letter does so
		}
	})
}

// park begins a lane. mu is held.
func (in *inbound) park(to actor.Ref, p parcel) {
	l := &lane{in: in, ref: to}
	in.lanes[to] = l
	l.add(p)
	l.wait()
}

// add puts a message into the lane. in.mu is held.
func (l *lane) add(p parcel) {
	l.queue = append(l.queue, p)
	l.in.waits++
	l.in.waitsOf += p.size
}

// wait has the lane go on when the mailbox is shorter than now, and half as long as
// it may be. in.mu is held.
func (l *lane) wait() {
	n := min(max(1, l.ref.Backlog()), max(1, l.in.a.node.config.Backlog/2))
	if !l.in.a.node.sys.WhenBelow(l.ref, n, l) {
		l.empty() // it has stopped
	}
}

// Drained implements [actor.Drainer]: it hands over what waits.
func (l *lane) Drained() {
	in := l.in
	in.mu.Lock()
	returned := false
	defer func() {
		if !returned {
			go l.Drained() // a function of the mailbox's ends this goroutine
		}
		in.settle()
	}()
	l.empty()
	returned = true
}

// empty hands over as much as the mailbox takes. in.mu is held.
func (l *lane) empty() {
	in := l.in
	for l.taken < len(l.queue) {
		if l.taken%lookEvery == lookEvery-1 && l.ref.Backlog() >= in.a.node.config.Backlog {
			l.keep(l.taken)
			return
		}
		p := l.queue[l.taken]
		// It is taken off before it is offered, which may end the goroutine.
		l.taken++
		in.waits--
		in.waitsOf -= p.size
		if !in.offer(l.ref, p) {
			in.waits++
			in.waitsOf += p.size
			l.keep(l.taken - 1)
			return
		}
	}
	delete(in.lanes, l.ref)
}

// keep keeps what the mailbox has not taken, for later. in.mu is held.
func (l *lane) keep(taken int) {
	n := copy(l.queue, l.queue[taken:])
	clear(l.queue[n:])
	l.queue, l.taken = l.queue[:n], 0
	l.wait()
}

// watch begins to watch for the peer. mu is held.
func (in *inbound) watch(at place) {
	ref, err := in.a.node.sys.ResolveAddress(in.local(at))
	if err != nil {
		in.a.say(appendEnded(at, nil))
		return
	}
	in.watching.Lock()
	in.watched[ref] = struct{}{}
	in.watching.Unlock()
	in.observer.Watch(ref) // before the messages that are behind it are handed over
}

// unwatched forgets that an actor is watched.
func (in *inbound) unwatched(r actor.Ref) {
	in.watching.Lock()
	defer in.watching.Unlock()
	delete(in.watched, r)
}

// terminated tells the peer of an actor's end: in its last turn, or in watch.
func (in *inbound) terminated(t actor.Terminated) {
	in.unwatched(t.Actor)
	in.a.say(appendEnded(place{t.Actor.Path(), t.Actor.PID()}, t.Err))
}

// end lets go of what is watched, when nothing is read any more. What waits in lanes is
// handed over all the same: it was acknowledged.
func (in *inbound) end() {
	in.watching.Lock()
	watched := in.watched
	in.watched = nil
	in.watching.Unlock()
	for ref := range watched {
		in.observer.Unwatch(ref)
	}
}

func appendEnded(at place, err error) []byte {
	b := appendText([]byte{recordEnded}, at.path)
	return appendError(appendText(b, at.pid.String()), err)
}

func appendFound(number uint64, r actor.Ref, ok bool) []byte {
	b := binary.AppendUvarint([]byte{recordFound}, number)
	if !ok {
		return append(b, 0)
	}
	return appendPlace(append(b, 1), r.Address())
}

func appendFind(number uint64) []byte {
	return binary.AppendUvarint([]byte{recordFind}, number)
}
