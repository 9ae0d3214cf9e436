package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
)

// association is two nodes with a wire between them, from the first hello until it
// is lost. It is the [actor.Controller] over which the system's Refs to the peer
// send.
//
// Sending. Whoever sends encodes the message, waits for credit if need be, and
// puts it into the frame that is being filled. If nothing is under way it
// writes that frame itself, without waking anybody: a message on an idle wire
// costs one system call and no switch. Else the writer takes what has gathered
// meanwhile as soon as it has written what it was writing: the busier the wire,
// the larger the frames, and no timer.
//
// What was written stays until it is acknowledged, the messages as well: it is
// resent if it got lost, and if the association is lost the messages are the dead
// letters.
//
// Rejected: to answer the loss of a frame with the loss of the association, as TCP
// never loses one (over NATS a burst would end it); to send what the runtime says
// apart from messages and ahead of them (an actor's end could overtake its last
// words); a goroutine that owns all of this instead of a mutex (two switches more
// for each message).
type association struct {
	node   *Node
	wire   Wire
	dialed bool   // this end has made the wire
	tag    uint64 // what the peer's frames carry
	alarm  actor.Alarm
	in     inbound

	kick  chan struct{} // one token: there is something to write
	up    chan struct{} // closed when both know each other
	done  chan struct{} // closed when it is lost and all is accounted for
	ended sync.WaitGroup

	peer hello                      // written by the reader, before up is closed
	line atomic.Pointer[actor.Line] // stored before up is closed

	mu      sync.Mutex // guards what follows
	state   state
	reason  error          // why it was lost, or is going to be
	busy    bool           // somebody writes frames: who has set it, and nobody else
	kicked  bool           // a token is in kick, or its taker has not looked yet
	greet   bool           // a hello is due
	answer  bool           // it is to be an answer
	leaving bool           // a bye is due, when everything is acknowledged
	departs int            // ticks since leaving
	small   [maxHello]byte // of whoever is busy: a frame that is not of data

	filling  *frame   // being filled; nil: nothing is
	sent     []*frame // in order: written or to be written, and not acknowledged
	written  int      // how many of them have been written
	again    int      // sent[again:until] are to be written again
	until    int
	resent   uint64 // the frame that was resent because the peer misses it, since the last tick
	writing  *frame
	numbered uint64
	spare    []*frame
	actors   map[actor.Ref]uint64
	types    map[string]uint64
	system   int // records of the runtime's that are not acknowledged

	// Credit. All four only grow; what is under way is sent less taken.
	sentMsgs, sentBytes   uint64
	takenMsgs, takenBytes uint64
	room                  chan struct{} // closed when there may be room again; nil if nobody waits
	callbacks             []func()      // of Room

	// What the next frame says of what came in.
	received  uint64
	gap       bool
	ackDue    bool // now
	ackLater  bool // with the next tick
	inMsgs    uint64
	inBytes   uint64
	saidMsgs  uint64
	saidBytes uint64

	// Time, as of the last tick.
	now     time.Time
	due     time.Time // when the next tick is to be
	heard   time.Time // and later by what ticks were late: see look
	hears   bool      // a frame came since the last tick
	wrote   time.Time
	writes  bool // a frame was written since the last tick
	greeted time.Time
	quick   bool // the alarm is set for the next quick tick
}

type state uint8

const (
	greeting state = iota
	open
	lost
)

// frame is a frame of data on its way out.
type frame struct {
	buf     []byte // with room for the header
	number  uint64
	records int
	system  int    // of the runtime's
	items   []item // the messages in it
	at      time.Time
}

// item is a message that is a dead letter if the frame is not acknowledged.
type item struct {
	to  actor.Ref
	msg any
}

// overhead is what a message counts in bytes beyond its own.
const overhead = 32

const (
	tickQuick = 20 * time.Millisecond // while something is not acknowledged
	resendOf  = 200 * time.Millisecond
)

func newAssociation(n *Node, w Wire, dialed bool) *association {
	a := &association{
		node:   n,
		wire:   w,
		dialed: dialed,
		kick:   make(chan struct{}, 1),
		up:     make(chan struct{}),
		done:   make(chan struct{}),
		greet:  true,
		actors: map[actor.Ref]uint64{},
		types:  map[string]uint64{},
	}
	for a.tag == 0 {
		a.tag = rand.Uint64()
	}
	a.in.init(a)
	clock := n.sys.Clock()
	a.now = clock.Now()
	a.due, a.heard, a.wrote, a.greeted = a.now, a.now, a.now, a.now
	a.alarm = clock.NewAlarm(a.tick)
	return a
}

// start begins to read and to write.
func (a *association) start() {
	a.ended.Add(2)
	go a.write()
	go a.read()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hurry()
	a.wake()
}

// Send implements [actor.Link].
func (a *association) Send(ctx context.Context, to actor.Ref, msg any) error {
	e := encoders.Get().(*encoder)
	defer e.free()
	if err := e.encode(a, to, msg); err != nil {
		return err
	}
	a.mu.Lock()
	if e.reply {
		if a.state == lost {
			a.mu.Unlock()
			return actor.ErrUnreachable
		}
		if a.system >= maxSystem {
			a.mu.Unlock()
			return actor.ErrFull
		}
	} else if err := a.reserve(ctx, uint64(len(e.payload)+len(e.address)+overhead)); err != nil {
		a.mu.Unlock()
		return err
	}
	a.put(e, to, msg)
	if a.busy || len(a.sent) > 0 || a.state != open {
		a.wake()
		a.mu.Unlock()
		return nil
	}
	a.busy = true
	a.flush(1) // unlocks
	return nil
}

// reserve takes credit for a message of so many bytes. If there is none it does
// what the outbox's policy says. mu is held, but not while it waits.
func (a *association) reserve(ctx context.Context, size uint64) error {
	for {
		if a.state == lost {
			return actor.ErrUnreachable
		}
		if a.hasRoom(size) {
			a.sentMsgs++
			a.sentBytes += size
			return nil
		}
		if a.node.config.Policy == actor.DropNewest {
			return actor.ErrFull
		}
		if a.room == nil {
			a.room = make(chan struct{})
		}
		room := a.room
		a.mu.Unlock()
		select {
		case <-room:
			a.mu.Lock()
		case <-ctx.Done():
			a.mu.Lock()
			return ctx.Err()
		}
	}
}

// hasRoom reports whether there is credit. A message that is larger than all of it
// goes alone. mu is held.
func (a *association) hasRoom(size uint64) bool {
	msgs, bytes := a.sentMsgs-a.takenMsgs, a.sentBytes-a.takenBytes
	return msgs < uint64(a.peer.msgs) && (bytes == 0 || bytes+size <= uint64(a.peer.bytes))
}

// frame returns the frame to put n bytes into. mu is held.
func (a *association) frame(n int) *frame {
	f := a.filling
	if f != nil && len(f.buf)+n > max(a.node.config.Batch, headerSize+n) {
		a.seal()
		f = nil
	}
	if f == nil {
		if last := len(a.spare) - 1; last >= 0 {
			f = a.spare[last]
			a.spare = a.spare[:last]
		} else {
			f = &frame{}
		}
		if cap(f.buf) < headerSize {
			f.buf = make([]byte, headerSize, 512)
		}
		f.buf = f.buf[:headerSize]
		a.filling = f
	}
	f.records++
	return f
}

// seal ends the frame that is being filled. mu is held.
func (a *association) seal() {
	if f := a.filling; f != nil {
		a.hurry()
		a.numbered++
		f.number = a.numbered
		f.at = a.now
		a.sent = append(a.sent, f)
		a.filling = nil
	}
}

// put adds what e has encoded to a frame. mu is held.
func (a *association) put(e *encoder, to actor.Ref, msg any) {
	if len(a.actors) == maxActors || len(a.types) == maxTypes {
		clear(a.actors)
		clear(a.types)
		f := a.frame(1)
		f.buf = append(f.buf, recordForget)
	}
	f := a.frame(e.size())
	b := f.buf
	switch {
	case e.fails:
		b = appendPlace(append(b, recordFail), e.to)
		b = append(b, e.payload...)
	case e.reply:
		b = appendPlace(append(b, recordReply), e.to)
		b = a.appendType(b, e.name)
		b = appendBytes(b, e.payload)
	default:
		b = a.appendActor(append(b, recordMessage), to)
		b = a.appendType(b, e.name)
		if e.address == nil {
			b = appendBytes(append(b, 0), e.payload)
		} else {
			b = appendBytes(append(b, flagReply), e.payload)
			b = appendBytes(b, e.address)
		}
	}
	f.buf = b
	f.items = append(f.items, item{to, msg})
	if e.reply {
		f.system++
		a.system++
	}
}

func (a *association) appendActor(b []byte, r actor.Ref) []byte {
	n, ok := a.actors[r]
	if ok {
		return binary.AppendUvarint(b, n)
	}
	n = uint64(len(a.actors) + 1)
	a.actors[r] = n
	return appendPlace(binary.AppendUvarint(b, n), r.Address())
}

func (a *association) appendType(b []byte, name string) []byte {
	n, ok := a.types[name]
	if ok {
		return binary.AppendUvarint(b, n)
	}
	n = uint64(len(a.types) + 1)
	a.types[name] = n
	return appendText(binary.AppendUvarint(b, n), name)
}

func appendBytes(b, x []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(x))), x...)
}

// say sends a record of the runtime's, which takes no credit. Any goroutine may
// call it; it does not wait.
func (a *association) say(record []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == lost {
		return
	}
	if a.system >= 2*maxSystem { // replies end at half of that
		a.fail(errSystem)
		return
	}
	f := a.frame(len(record))
	f.buf = append(f.buf, record...)
	f.system++
	a.system++
	a.wake()
}

var errSystem = errors.New("remote: the peer confirms nothing any more")

// Stop implements [actor.Controller].
func (a *association) Stop(to actor.Ref) { a.about(recordStop, to) }

// Watch implements [actor.Controller].
func (a *association) Watch(to actor.Ref) { a.about(recordWatch, to) }

// Unwatch implements [actor.Controller].
func (a *association) Unwatch(to actor.Ref) { a.about(recordUnwatch, to) }

func (a *association) about(kind byte, to actor.Ref) {
	at := to.Address()
	if len(at.Path) <= maxPath {
		a.say(appendPlace([]byte{kind}, at))
		return
	}
	// The peer would end the association for it. Who made up the address may have
	// been a third one.
	if kind == recordWatch {
		go func() { // the caller has the lock that Terminated takes
			<-a.up
			a.line.Load().Terminated(at.Path, at.PID, ErrTooLarge)
		}()
	}
}

// Backlog implements [actor.Controller].
func (a *association) Backlog() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return int(a.sentMsgs - a.takenMsgs)
}

// Room implements [actor.Controller].
func (a *association) Room(f func()) {
	a.mu.Lock()
	if a.state != lost && !a.hasRoom(1) {
		a.callbacks = append(a.callbacks, f)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	f()
}

// wake has the writer look. mu is held.
func (a *association) wake() {
	if a.busy || a.kicked || a.state == lost {
		return // who is busy looks again before it leaves
	}
	a.kicked = true
	a.kick <- struct{}{} // has room: kicked says so
}

// write is the writer.
func (a *association) write() {
	defer a.ended.Done()
	for range a.kick {
		a.mu.Lock()
		a.kicked = false
		if a.state == lost {
			a.mu.Unlock()
			return
		}
		if a.busy {
			a.mu.Unlock()
			continue
		}
		a.busy = true
		a.flush(-1)
	}
}

// flush writes what there is to write, at most most frames if that is not
// negative. It is called with mu held and busy set, and ends with neither.
func (a *association) flush(most int) {
	defer a.mu.Unlock()
	defer func() { a.busy = false }()
	for ; most != 0; most-- {
		b := a.next()
		if b == nil {
			return
		}
		a.mu.Unlock()
		err := a.wire.WriteFrame(b)
		a.mu.Lock()
		a.writing = nil
		a.writes = true
		if a.leaving && b[lengthSize] == frameBye {
			err = ErrClosed
		}
		if err != nil {
			a.fail(err)
			return
		}
	}
	if a.pending() {
		a.busy = false
		a.wake()
	}
}

// pending reports whether next has something. mu is held.
func (a *association) pending() bool {
	return a.greet || a.departing() || a.state == open && (a.ackDue || a.filling != nil || a.written < len(a.sent) || a.again < a.until)
}

// next returns the frame to write next, nil if there is none. mu is held; the
// frame is left alone until writing is nil again.
func (a *association) next() []byte {
	switch {
	case a.state == lost:
		return nil
	case a.greet:
		a.greet = false
		h := hello{
			tag: a.tag, yours: a.peer.tag, boot: a.node.sys.Boot(), answer: a.answer, name: a.node.sys.Name(),
			msgs: uint32(a.node.config.Window), bytes: uint32(a.node.config.WindowBytes),
		}
		a.answer = false
		return h.append(a.small[:0])
	case a.state != open:
		return nil
	case a.again < a.until:
		f := a.sent[a.again]
		a.again++
		return a.outgoing(f)
	case a.written == len(a.sent) && a.filling != nil:
		a.seal()
		fallthrough
	case a.written < len(a.sent):
		f := a.sent[a.written]
		a.written++
		return a.outgoing(f)
	case a.ackDue:
		h := a.header(frameAck)
		if a.gap {
			h.number = 1
		}
		b := a.small[:headerSize]
		h.put(b)
		return b
	case a.departing():
		h := a.header(frameBye)
		b := a.small[:headerSize]
		h.put(b)
		return b
	}
	return nil
}

// departing reports whether a bye is due: what was sent is acknowledged, or has had
// its time. mu is held.
func (a *association) departing() bool {
	return a.leaving && a.state == open && (len(a.sent) == 0 && a.filling == nil || a.departs >= patience)
}

// patience is how many ticks what was sent has to be acknowledged when a node is
// closed. Two more, and it is not waited for the bye either.
const patience = 10

// outgoing gives f a header. mu is held.
func (a *association) outgoing(f *frame) []byte {
	a.writing = f
	h := a.header(frameData)
	h.number = f.number
	h.put(f.buf)
	return f.buf
}

// header says what has come in. mu is held.
func (a *association) header(kind byte) header {
	a.ackDue, a.ackLater = false, false
	a.saidMsgs, a.saidBytes = a.inMsgs, a.inBytes
	return header{kind: kind, tag: a.peer.tag, received: a.received, msgs: a.inMsgs, bytes: a.inBytes}
}

// acknowledged takes in what the peer says it has got. It returns the callbacks
// for whom there is room now. mu is held.
func (a *association) acknowledged(h *header) (room []func(), err error) {
	if h.received > a.numbered || h.msgs > a.sentMsgs || h.bytes > a.sentBytes {
		return nil, ErrProtocol // of what was never sent
	}
	n := 0
	for n < len(a.sent) && a.sent[n].number <= h.received {
		if n >= a.written {
			return nil, ErrProtocol
		}
		a.system -= a.sent[n].system
		a.recycle(a.sent[n])
		n++
	}
	if n > 0 {
		left := copy(a.sent, a.sent[n:])
		clear(a.sent[left:])
		a.sent = a.sent[:left]
		a.written -= n
		a.again, a.until = max(0, a.again-n), max(0, a.until-n)
		if a.departing() {
			a.wake()
		}
	}
	if h.kind == frameAck && h.number == 1 && a.written > 0 && a.sent[0].number != a.resent {
		a.resent = a.sent[0].number
		a.again, a.until = 0, max(1, a.until)
		a.wake()
	}
	if h.msgs <= a.takenMsgs && h.bytes <= a.takenBytes {
		return nil, nil
	}
	a.takenMsgs, a.takenBytes = max(a.takenMsgs, h.msgs), max(a.takenBytes, h.bytes)
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
	if len(a.callbacks) > 0 && a.hasRoom(1) {
		room, a.callbacks = a.callbacks, nil
	}
	return room, nil
}

// recycle keeps a frame for later. mu is held.
func (a *association) recycle(f *frame) {
	clear(f.items)
	if f == a.writing || len(a.spare) == 4 || cap(f.buf) > 2*a.node.config.Batch {
		return // the collector's: somebody still writes it, or it is not worth keeping
	}
	*f = frame{buf: f.buf, items: f.items[:0]}
	a.spare = append(a.spare, f)
}

// take books messages that came in and are a mailbox's or a dead letter now.
func (a *association) take(msgs, bytes uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inMsgs += msgs
	a.inBytes += bytes
	c := a.node.config
	if a.inMsgs-a.saidMsgs >= uint64(c.Window)/4 || a.inBytes-a.saidBytes >= uint64(c.WindowBytes)/4 {
		a.ackNow()
	} else {
		a.ackSoon()
	}
}

// ackNow has an acknowledgement sent. mu is held.
func (a *association) ackNow() {
	a.ackDue = true
	a.wake()
}

// ackSoon has one sent with the next frame, or the next tick. mu is held.
func (a *association) ackSoon() {
	a.ackLater = true
	a.hurry()
}

// hurry has the next tick come soon. mu is held.
func (a *association) hurry() {
	if !a.quick && a.state != lost {
		a.quick = true
		a.look()
		a.ring(tickQuick)
	}
}

// look takes the time. If a tick is late this process stood still, or its machine
// did, and what the peer has sent meanwhile nobody has read: that time is no
// silence. mu is held.
func (a *association) look() {
	a.now = a.node.sys.Clock().Now()
	if late := a.now.Sub(a.due); late > 0 {
		a.heard = a.heard.Add(late)
		a.due = a.now
	}
}

// ring has the next tick come in d. mu is held.
func (a *association) ring(d time.Duration) {
	a.due = a.now.Add(d)
	a.alarm.Set(d)
}

// tick is called by the alarm: each 20 ms while something is under way, and else
// a few times in a heartbeat.
func (a *association) tick() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state == lost {
		return
	}
	c := a.node.config
	a.look()
	if a.hears {
		a.hears, a.heard = false, a.now
	}
	if a.writes {
		a.writes, a.wrote = false, a.now
	}
	switch {
	case a.now.Sub(a.heard) >= c.Timeout:
		a.fail(ErrSilent)
		return
	case a.departs >= patience+2:
		a.fail(ErrClosed)
		return
	case a.state == greeting:
		if a.now.Sub(a.greeted) >= resendOf {
			a.greeted, a.greet = a.now, true
		}
	default:
		a.resent = 0
		if a.written > 0 && a.now.Sub(a.sent[0].at) >= resendOf {
			a.again, a.until = 0, min(a.written, mostAgain)
			for _, f := range a.sent[:a.until] {
				f.at = a.now
			}
		}
		if a.ackLater || a.gap || a.now.Sub(a.wrote) >= c.Heartbeat {
			a.ackDue = true
		}
	}
	if a.leaving {
		a.departs++
	}
	if a.pending() {
		a.wake()
	}
	a.quick = a.state == greeting || a.leaving || a.gap || len(a.sent) > 0 || a.filling != nil || a.ackLater
	if a.quick {
		a.ring(tickQuick)
	} else {
		a.ring(min(c.Heartbeat, c.Timeout) / 2)
	}
}

// mostAgain bounds how many frames are resent at once.
const mostAgain = 64

// fail ends the association: the wire is broken, and who reads it does the rest. mu
// is held.
func (a *association) fail(reason error) {
	if a.reason == nil {
		a.reason = reason
		go func() { _ = a.wire.Close() }() // it may take a while
	}
}

// leave ends the association in order: what was sent before is written, and the
// peer is told.
func (a *association) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != open {
		a.fail(ErrClosed)
		return
	}
	a.leaving = true
	a.hurry()
	a.wake()
}

// read is the reader, and what becomes of the association when it is lost.
func (a *association) read() {
	defer a.ended.Done()
	for {
		b, err := a.wire.ReadFrame()
		if err == nil {
			err = a.in.frame(b)
		}
		if err != nil {
			a.lose(err)
			return
		}
	}
}

// lose accounts for everything.
func (a *association) lose(reason error) {
	a.mu.Lock()
	switch {
	case a.reason != nil:
		reason = a.reason // the wire was broken for it
	case a.leaving:
		reason = ErrClosed // the peer was quicker to break it than this end
	}
	a.reason = reason
	wasOpen := a.state == open
	a.state = lost
	a.alarm.Stop()
	if a.filling != nil {
		a.sent = append(a.sent, a.filling)
		a.filling = nil
	}
	var items []item
	for _, f := range a.sent {
		items = append(items, f.items...)
	}
	a.sent, a.spare, a.written = nil, nil, 0
	callbacks := a.callbacks
	a.callbacks = nil
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
	close(a.kick)
	a.mu.Unlock()

	_ = a.wire.Close()
	a.node.forget(a)
	if l := a.line.Load(); l != nil {
		l.End()
	}
	sys := a.node.sys
	for _, it := range items {
		sys.UndeliverableTo(it.to, it.msg, actor.ErrUnreachable)
	}
	for _, f := range callbacks {
		f()
	}
	a.in.end()
	if wasOpen {
		sys.Events().Publish(Lost{System: a.peer.name, Boot: a.peer.boot, Unconfirmed: len(items), Err: reason, Time: sys.Clock().Now()})
	}
	close(a.done)
}
