package remote

import (
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
// Sending. A sender encodes the message, waits for credit if need be, and
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
	lent   loan

	kick  chan struct{} // one token: there is something to write
	up    chan struct{} // closed when both know each other
	done  chan struct{} // closed when it is lost and all is accounted for
	ended sync.WaitGroup

	address string // of the other end; "" if the wire does not know
	begun   uint64 // which of the node's it is
	opened  bool   // guarded by node.mu: it knows its peer
	leaves  bool   // guarded by node.mu: it has given way to another one

	peer hello                      // written by the reader, before up is closed
	line atomic.Pointer[actor.Line] // stored before up is closed

	mu      sync.Mutex // guards what follows
	state   state
	reason  error          // why it was lost, or is going to be
	busy    bool           // a goroutine writes frames: the one that has set it
	kicked  bool           // a token is in kick, or its taker has not looked yet
	greet   bool           // a hello is due
	answer  bool           // it is to be an answer
	leaving bool           // a bye is due, when everything is acknowledged
	departs int            // ticks since leaving
	small   [maxHello]byte // of the goroutine that is busy: a frame that is not of data

	filling    *frame   // being filled; nil: nothing is
	sent       []*frame // in order: written or to be written, and not acknowledged
	written    int      // how many of them have been written
	again      int      // sent[again:until] are to be written again
	until      int
	resent     uint64 // the frame that was resent because the peer misses it, since the last tick
	writing    *frame
	numbered   uint64
	spare      []*frame // that are used again; their buffers have spareBytes
	spareBytes int
	actors     map[actor.Ref]uint64
	paths      int // bytes of the paths in actors
	types      map[string]uint64
	actor      actor.Ref // of the last message, and its number in actors; 0: none
	lastActor  uint64
	typ        string // likewise
	lastType   uint64
	system     uncredited // what is not acknowledged

	// Credit. All four only grow; what is under way is sent less taken.
	sentMsgs, sentBytes   uint64
	takenMsgs, takenBytes uint64
	room                  chan struct{} // closed when there may be room again; nil if no sender waits
	callbacks             []func()      // of Room

	// What the next frame says of what came in.
	received  uint64 // written by the reader
	gap       bool   // likewise
	ackDue    bool   // now
	ackLater  bool   // with the next tick
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
	if w, ok := w.(Addressed); ok {
		a.address = w.Address()
	}
	for a.tag == 0 {
		a.tag = rand.Uint64()
	}
	a.in.init(a)
	clock := n.sys.Clock()
	a.now = clock.Now()
	a.due, a.heard, a.wrote, a.greeted = a.now, a.now, a.now, a.now
	a.alarm = clock.NewAlarm(a.tick)
	a.lent.guard = time.AfterFunc(time.Hour, a.checkLoan)
	a.lent.guard.Stop()
	return a
}

// used reports whether anything was sent over the association beyond greetings and
// heartbeats.
func (a *association) used() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.received > 0 || a.numbered > 0 || a.filling != nil
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

// read is the reader, and what becomes of the association when it is lost. It ends
// before that if another goroutine has taken its place.
func (a *association) read() {
	reader := true
	err := errGoexit
	defer func() {
		if v := recover(); v != nil {
			panic(v) // a defect, which is not to be hidden by waiting for a lock that it has left
		}
		if reader {
			a.lose(err)
			a.ended.Done()
		}
	}()
	if a.in.guest == nil {
		a.in.guest = a.node.sys.NewGuest(a)
	}
	for reader {
		b, bad := a.wire.ReadFrame()
		if bad == nil {
			bad = a.in.frame(b)
		}
		if bad != nil {
			err = bad
			return
		}
		reader = false // if the turn ends this goroutine
		reader = a.lend()
	}
}

// errGoexit: a function of the user's that the reader calls has ended its goroutine.
var errGoexit = errors.New("remote: a codec, or a function of a mailbox, has called runtime.Goexit")

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

	if g := a.in.guest; g != nil {
		g.Leave()
	}
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
