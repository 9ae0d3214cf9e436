package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/dynolab/dyno/actor"
)

// frame is a frame of data on its way out.
type frame struct {
	buf       []byte // with room for the header
	number    uint64
	records   int
	system    uncredited
	items     []item // the messages in it
	at        time.Time
	confirmed bool // while it was being written
}

// uncredited is what took no credit: replies, and what the runtime has to say.
type uncredited struct{ records, bytes int }

// add adds a record of so many bytes to what is under way and to the frame it is in.
func (a *association) addSystem(f *frame, size int) {
	f.system.records++
	f.system.bytes += size
	a.system.records++
	a.system.bytes += size
}

// item is a message that is a dead letter if the frame is not acknowledged.
type item struct {
	to  actor.Ref
	msg any
}

// overhead is what a message counts in bytes beyond its own.
const overhead = 32

// Send implements [actor.Link].
func (a *association) Send(ctx context.Context, to actor.Ref, msg any) error {
	e := encoders.Get().(*encoder)
	defer e.free()
	if err := e.encode(a, to, msg); err != nil {
		return err
	}
	a.mu.Lock()
	if err := a.reserve(ctx, e); err != nil {
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

// reserve takes credit for a message. If there is none it does
// what the node's policy says. mu is held, but not while it waits.
//
// A reply takes none, or two actors that ask each other could wait for ever. What it may
// wait for is the acknowledgement of others, and the peer's reader never waits. That
// a Future fails is said by this end's reader too, so that does not wait at all.
func (a *association) reserve(ctx context.Context, e *encoder) error {
	size := uint64(len(e.payload) + len(e.address) + overhead)
	for {
		switch {
		case a.state == lost:
			return actor.ErrUnreachable
		case e.reply && a.hasSystemRoom(len(e.payload)):
			return nil
		case !e.reply && a.hasRoom(size):
			a.sentMsgs++
			a.sentBytes += size
			return nil
		case e.fails || a.node.config.Policy == actor.DropNewest:
			return actor.ErrFull
		}
		if a.room == nil {
			a.room = make(chan struct{})
		}
		room := a.room
		a.mu.Unlock()
		a.TurnWaits() // if this is the reader's goroutine no other goroutine would hear of room
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

// hasSystemRoom reports whether there is room for a reply of so many bytes. mu is held.
func (a *association) hasSystemRoom(size int) bool {
	return a.system.records < maxSystem && a.system.bytes+size <= maxSystemBytes
}

// frame returns the frame to put n bytes into. mu is held.
func (a *association) frame(n int) *frame {
	f := a.filling
	if f != nil && len(f.buf)+n > a.node.config.Batch {
		a.seal()
		f = nil
	}
	if f == nil {
		if last := len(a.spare) - 1; last >= 0 {
			f = a.spare[last]
			a.spare = a.spare[:last]
			a.spareBytes -= cap(f.buf)
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
	if len(a.actors) == maxActors || len(a.types) == maxTypes || a.paths+len(e.to.Path) > maxPaths {
		clear(a.actors)
		clear(a.types)
		a.paths, a.lastActor, a.lastType = 0, 0, 0
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
		b = a.appendType(b, e.named.name)
		b = appendBytes(b, e.payload)
	default:
		b = a.appendActor(append(b, recordMessage), to)
		b = a.appendType(b, e.named.name)
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
		a.addSystem(f, len(e.payload))
	}
}

func (a *association) appendActor(b []byte, r actor.Ref) []byte {
	if a.lastActor != 0 && r == a.actor {
		return binary.AppendUvarint(b, a.lastActor)
	}
	n, ok := a.actors[r]
	if !ok {
		n = uint64(len(a.actors) + 1)
		a.actors[r] = n
	}
	a.actor, a.lastActor = r, n
	if ok {
		return binary.AppendUvarint(b, n)
	}
	at := r.Address()
	a.paths += len(at.Path)
	return appendPlace(binary.AppendUvarint(b, n), at)
}

func (a *association) appendType(b []byte, name string) []byte {
	if a.lastType != 0 && name == a.typ {
		return binary.AppendUvarint(b, a.lastType)
	}
	n, ok := a.types[name]
	if !ok {
		n = uint64(len(a.types) + 1)
		a.types[name] = n
	}
	a.typ, a.lastType = name, n
	if ok {
		return binary.AppendUvarint(b, n)
	}
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
	if a.system.records >= 2*maxSystem || a.system.bytes >= 2*maxSystemBytes {
		a.fail(errSystem)
		return
	}
	f := a.frame(len(record))
	f.buf = append(f.buf, record...)
	a.addSystem(f, len(record))
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
